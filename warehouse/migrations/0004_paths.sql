-- What environments answered: the same call has a further version where it was asked again and answered otherwise.
create table responses (
    environment varchar not null, key varchar not null, version integer not null, tool varchar not null, call json not null,
    response json, problem varchar not null, recorded_at timestamptz not null, seen_at timestamptz not null,
    primary key (environment, key, version)
);

-- Calls that got no answer of their own: no connection, no time, a page in place of JSON, too much of it.
create table lapses (
    environment varchar not null, key varchar not null, problem varchar not null, call json not null, times integer not null,
    last_at timestamptz not null, primary key (environment, key, problem)
);
