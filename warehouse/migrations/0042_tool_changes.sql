-- Tools that were shown to candidates under other names or words than the release has.
create table tool_changes (
    release varchar not null, strategy varchar not null, plain_strategy varchar not null, tool_key varchar not null, tool varchar not null,
    language varchar not null, shown_name varchar not null, changed varchar[] not null, words json not null,
    shown json not null, changes varchar not null, name varchar not null, first_asked_at timestamptz not null, primary key (release, strategy, tool_key)
);

-- Between what the difference that they make to a metric lies.
create table tool_change_intervals (
    release varchar not null, split varchar not null, candidate varchar not null, strategy varchar not null, tools_shown varchar not null,
    metric varchar not null, low double not null, high double not null,
    primary key (release, split, candidate, strategy, tools_shown, metric)
);
