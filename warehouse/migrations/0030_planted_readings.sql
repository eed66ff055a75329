-- What readers made of places that were planted to measure them: defects, and golds as they are (the defect is '').
create table planted_readings (
    subject varchar not null, check_name varchar not null, reader varchar not null, turn integer not null, defect varchar not null,
    outcome varchar not null check (outcome in ('caught', 'missed', 'passed', 'falsely_doubted')), reason varchar not null,
    version varchar not null, made_at timestamptz not null, primary key (subject, check_name, reader)
);
