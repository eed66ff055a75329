-- Imported catalogs: what was read of which files under which selection, and the names by which recipes use them.
create table catalogs (
    key varchar primary key, format varchar not null, path varchar not null, files json not null, selection json not null,
    entries bigint not null, distinct_names bigint not null, imported_at timestamptz not null
);
create table catalog_tools (
    catalog varchar not null, position bigint not null, tool varchar not null, method varchar not null, path varchar not null,
    tags varchar[] not null, primary key (catalog, position)
);
create table catalog_problems (
    catalog varchar not null, position bigint not null, place varchar not null, tool varchar not null, kind varchar not null,
    message varchar not null, primary key (catalog, position)
);
create table catalog_names (name varchar primary key, catalog varchar not null, named_at timestamptz not null);

-- Parameters that a catalog has fixed: no model sees them, and each gold call carries them.
alter table tools add column constants json;
