-- What an audit of a data set found against its gold, one row a finding, and what people said of it. An audit that has not ended goes on
-- after its `n_records`; `contents` is the same where the same files are audited in the same way.
create table data_audits (
    key varchar primary key, contents varchar not null, name varchar not null, source varchar not null, format varchar not null,
    model varchar not null, started_at timestamptz not null, ended_at timestamptz, n_records bigint not null, n_unreadable bigint not null
);
create table findings (
    audit varchar not null, position bigint not null, key varchar not null, item varchar not null, place varchar not null, line bigint not null,
    severity varchar not null, sort varchar not null, reason varchar not null, turn bigint not null, call bigint not null,
    tool varchar not null, argument varchar not null, request varchar not null, words varchar not null, document varchar not null, gold json,
    expected json, support bigint not null
);
create table finding_judgements (
    audit varchar not null, finding varchar not null, verdict varchar not null, person varchar not null, note varchar not null,
    judged_at timestamptz not null, primary key (audit, finding, person, judged_at)
);
