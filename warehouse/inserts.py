"""What landing does where a row is there already under the same key: one statement for each table."""

from warehouse.tables import TABLES

# What a second row under the same key does: most facts are kept as they first were, these take the newer value.
_CONFLICT = {
    "stages": ("name", "position stage_group source"),
    "scores": (
        "release, model, strategy, tools_shown, run, judge, snapshots, metric, slice_by, slice_value",
        "value count",
    ),
    "review_cursors": ("server, kind", "pulled_until"),
    "responses": ("environment, key, version", "seen_at"),
    "lapses": ("environment, key, problem", "times last_at"),
    "agreement": ("kind, measure, slice_by, slice_value", "value items reviewers computed_at"),
    "task_states": ("server, task_id", "annotations skipped drafts seen_at deleted_at"),
}
# And these only where the caller means to replace them.
_REPLACED = {
    "review_requests": (
        "subject, kind",
        "build cause reason requested_at pushed_at server reviewers overlap priority",
    ),
    "review_rounds": ("subject, kind, version", "pushed_at server priority"),
}
_KEYLESS = {"llm_calls"}
# There are many rows of these for each sample, and DuckDB would hold an index of theirs in memory whenever it writes (and in
# the file). So they have none, and each landing compares the keys instead. Of rows that come together the first in the
# order counts.
_MERGED = {
    "build_samples": ("build sample", "draft"),
    "drafts": ("key", ""),
    "samples": ("key", ""),
    "outcomes": ("build stage subject", "made_at desc"),
    "verdicts": ("key", "made_at"),
    "acceptances": ("subject", "accepted_at"),
}
_UPDATED = {"outcomes": "outcome reason_code reason decided_by decided_who carried_from made_at"}
_UPDATED_IF_REPLACING = {"acceptances": "proved accepted_by decided_by vouched accepted_at withdrawn_at"}


def insert(table: str, source: str, *, replacing: bool = False) -> str:
    """The statement that lands the rows of a source; what is there under a row's key stays unless told otherwise above."""
    columns = ", ".join(TABLES[table])
    if table in _MERGED:
        return _merge(table, columns, source, replacing=replacing)
    statement = f"insert into {table} ({columns}) select {columns} from {source}"  # noqa: S608 - our own names
    if table in _KEYLESS:
        return statement
    conflict = _CONFLICT.get(table) or (_REPLACED.get(table) if replacing else None)
    if conflict is None:
        return f"{statement} on conflict do nothing"
    key, changed = conflict
    updates = ", ".join(f"{name} = excluded.{name}" for name in changed.split())
    return f"{statement} on conflict ({key}) do update set {updates}"


def _merge(table: str, columns: str, source: str, *, replacing: bool) -> str:
    key, order = _MERGED[table]
    names = key.split()
    first = f"partition by {', '.join(names)}" + (f" order by {order}" if order else "")
    changed = _UPDATED.get(table) or (_UPDATED_IF_REPLACING.get(table) if replacing else None)
    updates = ", ".join(f"{name} = news.{name}" for name in (changed or "").split())
    return f"""
        merge into {table} using (
            select {columns} from {source} qualify row_number() over ({first}) = 1
        ) news on ({" and ".join(f"{table}.{name} = news.{name}" for name in names)})
        {f"when matched then update set {updates}" if updates else ""}
        when not matched then insert ({columns}) values ({", ".join(f"news.{name}" for name in TABLES[table])})
    """  # noqa: S608 - our own names
