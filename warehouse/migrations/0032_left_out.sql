-- What could not be planned of what a recipe asks for: so many samples of a kind, or a tool for a kind, each with the reason.
create table left_out (
    build varchar not null, kind varchar not null, language varchar not null, place varchar not null, tool varchar not null,
    samples integer not null, reason varchar not null, primary key (build, kind, language, place, tool)
);
