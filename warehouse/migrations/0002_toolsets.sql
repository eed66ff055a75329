-- A toolset: what a recipe's `generate` line made, named by what went into it. Its fates stand under its key in `fates`.
create table toolsets (key varchar primary key, body json not null, started_at timestamptz not null, finished_at timestamptz);

-- Which tools a toolset made, each of which draft: the same tool may come of another draft in another toolset.
create table made_tools (toolset varchar not null, tool varchar not null, draft varchar not null, primary key (toolset, tool));
