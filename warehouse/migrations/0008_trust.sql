-- Several people may be asked about one thing: `reviewers` are how many shall speak before it is settled, `overlap` how many
-- Label Studio has been told. `priority` (0 to 1, the worthiest first) says where in the queue it stands.
create table earlier_requests as select * from review_requests;
drop table review_requests;
create table review_requests (
    build varchar not null, subject varchar not null, kind varchar not null,
    cause varchar not null check (cause in ('doubtful', 'spot check', 'gold item', 'suspect', 'second look', 'audit')),
    reason varchar not null, requested_at timestamptz not null, pushed_at timestamptz, server varchar,
    reviewers integer not null default 1, overlap integer not null default 1, priority double not null default 0.5,
    primary key (subject, kind)
);
insert into review_requests by name select * from earlier_requests;
drop table earlier_requests;

-- What people are asked again, as the next version of the task: an edit that could not be used goes back with what was typed
-- and the problem with it; a suspect and a second look of something asked about before have the reason there.
create table review_rounds (
    subject varchar not null, kind varchar not null, version integer not null,
    cause varchar not null check (cause in ('returned edit', 'suspect', 'second look')),
    request varchar not null, calls varchar not null, problem varchar not null, reviewer varchar not null,
    made_at timestamptz not null, pushed_at timestamptz, server varchar, priority double not null default 0.9,
    primary key (subject, kind, version)
);
insert into review_rounds by name select * replace (version + 1 as version), 'returned edit' as cause from returned_edits;
drop table returned_edits;

-- A review is withdrawn when its annotation was deleted, or changed into a skip.
alter table reviews add column withdrawn_at timestamptz;

-- Each task of ours as Label Studio had it when it was last looked at. `deleted_at`: it is not there any more.
create table task_states (
    server varchar not null, task_id bigint not null, kind varchar not null, subject varchar not null, version integer not null,
    annotations integer not null, skipped integer not null, drafts integer not null, seen_at timestamptz not null,
    deleted_at timestamptz, primary key (server, task_id)
);

-- Items whose right answer is known, to see how well people review; `defect` is what was broken on purpose, '' where nothing.
create table gold_items (
    subject varchar not null, kind varchar not null, expected varchar not null check (expected in ('accept', 'reject')),
    defect varchar not null, made_of varchar not null, made_at timestamptz not null, primary key (subject, kind)
);

-- How far reviewers agree, as last computed; `value` is missing where a measure is not defined.
create table agreement (
    kind varchar not null, measure varchar not null, slice_by varchar not null, slice_value varchar not null, value double,
    items bigint not null, reviewers bigint not null, computed_at timestamptz not null,
    primary key (kind, measure, slice_by, slice_value)
);
