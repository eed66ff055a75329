-- What the checks decide about samples that were broken on purpose, each beside itself as it was ('' for the defect), and about
-- wordings that are labelled right or wrong. One row an audit; a case of it for each sample and defect; a verdict for each check.
create table audits (
    key varchar primary key, source varchar not null, model varchar not null, seed bigint not null, per_kind bigint not null,
    made_at timestamptz not null
);
create table audit_cases (
    audit varchar not null, subject varchar not null, defect varchar not null, is_broken boolean not null, kind varchar not null,
    language varchar not null, decision varchar not null, primary key (audit, subject, defect)
);
create table audit_verdicts (
    audit varchar not null, subject varchar not null, defect varchar not null, check_name varchar not null,
    decision varchar not null, grade varchar not null, reason varchar not null,
    primary key (audit, subject, defect, check_name)
);
