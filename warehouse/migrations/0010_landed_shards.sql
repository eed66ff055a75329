-- The results of workers elsewhere that have landed, by the name of what they were handed: one that is delivered again, or that
-- a writer finds after it was cut off, lands no second time. Its row goes in with its facts, in one transaction.
create table landed_shards (name varchar primary key, build varchar not null, landed_at timestamptz not null);
