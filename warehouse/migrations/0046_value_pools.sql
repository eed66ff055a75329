-- What a model has thought up that people would give for parameters of which nothing tells the values.
create table value_pools (
    tool varchar not null, parameter varchar not null, model varchar not null, pool json not null,
    primary key (tool, parameter, model)
);
