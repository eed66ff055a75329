"""The tables: columns, keys, and what a second row under a key does. Bulk inserts and rows ask here alone; migrations make them."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import orjson

from callwright.warehouse.rows import Row

Column = Literal["text", "whole", "real", "flag", "texts", "moment", "json"]
_TYPES: dict[Column, str] = {
    "text": "varchar",
    "json": "varchar",
    "whole": "bigint",
    "real": "double",
    "flag": "boolean",
    "texts": "varchar[]",
    "moment": "timestamptz",
}
_LONGEST_ROW = 1 << 24  # bytes; DuckDB's own limit, and it sets aside twice as much
_PIECE = 1 << 23  # bytes of long rows that DuckDB takes at once within its memory limit


class Table(NamedTuple):
    """One table; column order is the reader's, a bulk insert goes by name.

    Of two rows under the same `key` the first is kept, but its columns `updated` take the newer value, and `replaced` do so where
    the caller means to replace. Without a key each row is a new one. `is_compared`: there are many rows of these for each sample,
    and DuckDB would hold an index of theirs in memory whenever it writes (docs/decisions/0012). So they have none, each landing
    compares the keys instead, and of rows that come together the first in the `order` counts.
    """

    columns: dict[str, Column]
    key: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    is_compared: bool = False
    order: str = ""


TABLES: dict[str, Table] = {
    "stages": Table(
        {
            "name": "text", "position": "whole", "stage_group": "text", "source": "text", "role": "text", "settles": "texts",
            "is_left_to_readers": "flag",
        },
        key=("name",), updated=("position", "stage_group", "source", "role", "settles", "is_left_to_readers"),
    ),
    "kinds": Table(
        {
            "name": "text", "family": "text", "paper": "text", "paper_count": "whole", "calls": "text", "asked": "text",
            "has_results": "flag", "is_long": "flag", "has_catalog": "flag", "has_acts": "flag", "difficulty": "text",
            "shift": "text", "reviews": "texts",
        },
        key=("name",), updated=("family", "paper", "paper_count", "calls", "asked", "has_results", "is_long",
        "has_catalog", "has_acts", "difficulty", "shift", "reviews"),
    ),
    "prompts": Table(
        {"version": "text", "package": "text", "name": "text", "text": "text", "used_at": "moment"}, key=("version",),
    ),
    "builds": Table(
        {
            "key": "text", "recipe": "text", "body": "json", "started_at": "moment", "finished_at": "moment",
            "is_trial": "flag", "sequence": "whole",
        },
        key=("key",),
    ),
    "tools": Table(
        {
            "key": "text", "name": "text", "category": "text", "language": "text", "source": "text", "description": "text",
            "parameters": "json", "returns": "json", "constants": "json",
        },
        key=("key",),
    ),
    "catalogs": Table(
        {
            "key": "text", "format": "text", "path": "text", "files": "json", "selection": "json", "entries": "whole",
            "distinct_names": "whole", "imported_at": "moment",
        },
        key=("key",),
    ),
    "catalog_tools": Table(
        {
            "catalog": "text", "position": "whole", "tool": "text", "method": "text", "path": "text", "tags": "texts",
            "links": "json",
        },
        key=("catalog", "position"),
    ),
    "catalog_problems": Table(
        {
            "catalog": "text", "position": "whole", "place": "text", "tool": "text", "kind": "text", "message": "text",
        },
        key=("catalog", "position"),
    ),
    "catalog_names": Table(
        {
            "name": "text", "catalog": "text", "named_at": "moment",
        },
        key=("name",), updated=("catalog", "named_at"),
    ),
    "build_tools": Table(
        {
            "build": "text", "tool": "text",
        },
        key=("build", "tool"),
    ),
    "toolsets": Table(
        {
            "key": "text", "body": "json", "started_at": "moment", "finished_at": "moment",
        },
        key=("key",),
    ),
    "made_tools": Table(
        {
            "toolset": "text", "tool": "text", "draft": "text",
        },
        key=("toolset", "tool"),
    ),
    "build_checks": Table(
        {
            "build": "text", "check_name": "text", "version": "text", "met_at": "moment",
        },
        key=("build", "check_name"),
    ),
    "build_samples": Table(
        {
            "build": "text", "sample": "text", "draft": "text",
        },
        key=("build", "sample"), is_compared=True, order="draft",
    ),
    "drafts": Table(
        {
            "key": "text", "type": "text", "body": "json", "stage": "text", "parents": "texts", "model": "text",
            "prompt_version": "text", "planted": "text",
        },
        key=("key",), is_compared=True,
    ),
    "samples": Table(
        {
            "key": "text", "kind": "text", "language": "text", "category": "text", "request": "text", "gold": "json",
            "body": "json", "call_turns": "whole", "calls": "whole", "stage": "text", "parents": "texts", "seed": "whole",
            "model": "text", "prompt_version": "text", "planted": "text",
        },
        key=("key",), is_compared=True,
    ),
    "outcomes": Table(
        {
            "build": "text", "stage": "text", "subject": "text", "outcome": "text", "reason_code": "text", "reason": "text",
            "decided_by": "text", "decided_who": "text", "carried_from": "text", "made_at": "moment",
        },
        key=("build", "stage", "subject"), is_compared=True, order="made_at desc", updated=("outcome", "reason_code",
        "reason", "decided_by", "decided_who", "carried_from", "made_at"),
    ),
    "verdicts": Table(
        {
            "key": "text", "subject": "text", "check_name": "text", "decision": "text", "score": "real", "reason": "text",
            "evidence": "json", "open_arguments": "texts", "doubts": "json", "version": "text", "grade": "text", "model": "text",
            "made_at": "moment",
        },
        key=("key",), is_compared=True, order="made_at",
    ),
    "failures": Table(
        {
            "key": "text", "build": "text", "stage": "text", "subject": "text", "error": "text", "reason": "text",
            "made_at": "moment",
        },
        key=("key",),
    ),
    "review_requests": Table(
        {
            "build": "text", "subject": "text", "kind": "text", "cause": "text", "reason": "text", "requested_at": "moment",
            "pushed_at": "moment", "server": "text", "reviewers": "whole", "overlap": "whole", "priority": "real",
            "against": "text",
        },
        key=("subject", "kind"), replaced=("build", "cause", "reason", "requested_at", "pushed_at", "server",
        "reviewers", "overlap", "priority"),
    ),
    "reviews": Table(
        {
            "key": "text", "subject": "text", "kind": "text", "decision": "text", "reviewer": "text", "reviewed_at":
            "moment", "reasons": "texts", "comment": "text", "seconds": "real", "result": "text", "annotation_id": "whole",
            "task_id": "whole", "server": "text", "carried_from": "text", "withdrawn_at": "moment", "answer": "text",
        },
        key=("key",),
    ),
    "review_rounds": Table(
        {
            "subject": "text", "kind": "text", "version": "whole", "cause": "text", "request": "text", "calls": "text",
            "problem": "text", "reviewer": "text", "made_at": "moment", "pushed_at": "moment", "server": "text", "priority":
            "real", "against": "text",
        },
        key=("subject", "kind", "version"), replaced=("pushed_at", "server", "priority"),
    ),
    "task_states": Table(
        {
            "server": "text", "task_id": "whole", "kind": "text", "subject": "text", "version": "whole", "annotations":
            "whole", "skipped": "whole", "drafts": "whole", "seen_at": "moment", "deleted_at": "moment",
        },
        key=("server", "task_id"), updated=("annotations", "skipped", "drafts", "seen_at", "deleted_at"),
    ),
    "gold_items": Table(
        {
            "subject": "text", "kind": "text", "expected": "text", "defect": "text", "made_of": "text", "made_at": "moment",
            "answer": "text",
        },
        key=("subject", "kind"),
    ),
    "agreement": Table(
        {
            "kind": "text", "measure": "text", "slice_by": "text", "slice_value": "text", "value": "real", "items": "whole",
            "reviewers": "whole", "computed_at": "moment",
        },
        key=("kind", "measure", "slice_by", "slice_value"), updated=("value", "items", "reviewers", "computed_at"),
    ),
    "audit_draws": Table(
        {
            "prediction": "text", "release": "text", "candidate": "text", "error_type": "text", "drawn_at": "moment",
        },
        key=("prediction",),
    ),
    "audits": Table(
        {
            "key": "text", "source": "text", "model": "text", "seed": "whole", "per_kind": "whole", "made_at": "moment",
        },
        key=("key",),
    ),
    "audit_cases": Table(
        {
            "audit": "text", "subject": "text", "defect": "text", "is_broken": "flag", "kind": "text", "language": "text",
            "decision": "text",
        },
        key=("audit", "subject", "defect"),
    ),
    "audit_verdicts": Table(
        {
            "audit": "text", "subject": "text", "defect": "text", "check_name": "text", "decision": "text", "grade": "text",
            "reason": "text",
        },
        key=("audit", "subject", "defect", "check_name"),
    ),
    "audit_arguments": Table(
        {
            "audit": "text", "subject": "text", "defect": "text", "argument": "text", "is_wrong": "flag", "grade": "text",
        },
        key=("audit", "subject", "defect", "argument"),
    ),
    "review_cursors": Table(
        {
            "server": "text", "kind": "text", "pulled_until": "moment",
        },
        key=("server", "kind"), updated=("pulled_until",),
    ),
    "acceptances": Table(
        {
            "subject": "text", "build": "text", "recipe": "text", "grade": "text", "judged_by": "texts", "accepted_by": "text",
            "decided_by": "text", "accepted_at": "moment", "withdrawn_at": "moment",
        },
        key=("subject",), is_compared=True, order="accepted_at", replaced=("grade", "judged_by", "accepted_by",
        "decided_by", "accepted_at", "withdrawn_at"),
    ),
    "releases": Table(
        {
            "name": "text", "key": "text", "content_hash": "text", "samples": "whole", "created_at": "moment", "note": "text",
            "version": "text", "follows": "text", "selection": "json", "splits": "json", "manifest_hash": "text",
            "manifest_made": "text",
        },
        key=("name",),
    ),
    "release_samples": Table(
        {
            "release": "text", "subject": "text", "split": "text", "split_group": "text", "row_hash": "text",
        },
        key=("release", "subject"), is_compared=True,
    ),
    "release_tools": Table(
        {
            "release": "text", "tool": "text", "row_hash": "text",
        },
        key=("release", "tool"), is_compared=True,
    ),
    "release_duplicates": Table(
        {
            "release": "text", "subject": "text", "split": "text", "other": "text", "other_split": "text", "likeness": "real",
        },
        key=("release", "subject", "other"), is_compared=True,
    ),
    "candidate_settings": Table(
        {
            "release": "text", "candidate": "text", "label": "text", "settings": "text", "model": "text", "options": "json",
            "prompts": "text", "conditions": "json", "code_version": "text", "first_asked_at": "moment",
        },
        key=("release", "candidate"),
    ),
    "evaluations": Table(
        {
            "key": "text", "release": "text", "candidates": "json", "conditions": "json", "started_at": "moment", "finished_at":
            "moment",
        },
        key=("key",), updated=("started_at", "finished_at"),
    ),
    "predictions": Table(
        {
            "key": "text", "release": "text", "subject": "text", "turn": "whole", "candidate": "text", "strategy": "text",
            "tools_shown": "text", "run": "whole", "text": "text", "calls": "json", "problem": "text", "settings": "text",
            "error_type": "text", "made_at": "moment",
        },
        key=("key",),
    ),
    "judge_verdicts": Table(
        {
            "key": "text", "prediction": "text", "judge": "text", "agree": "flag", "reason": "text", "version": "text",
            "made_at": "moment",
        },
        key=("key",),
    ),
    "grades": Table(
        {
            "key": "text", "prediction": "text", "judge": "text", "metric": "text", "value": "real", "count": "whole",
            "reason": "text", "version": "text", "made_at": "moment",
        },
        key=("key",),
    ),
    "multi_step_runs": Table(
        {
            "key": "text", "release": "text", "subject": "text", "candidate": "text", "strategy": "text", "mode": "text", "run":
            "whole", "judge": "text", "settings": "text", "success": "flag", "correct_calls": "whole", "total_calls":
            "whole", "steps": "whole", "shortest": "whole", "turns": "whole", "error_type": "text", "error_parameter":
            "text", "parameter_type": "text", "completeness": "whole", "correctness": "whole", "messages": "json",
            "made_at": "moment",
        },
        key=("key",),
    ),
    "call_errors": Table(
        {
            "key": "text", "run": "text", "turn": "whole", "call": "whole", "tool": "text", "error_type": "text",
            "parameter": "text", "parameter_type": "text", "reason": "text",
        },
        key=("key",),
    ),
    "parameter_counts": Table(
        {
            "run": "text", "parameter_type": "text", "due": "whole", "wrong": "whole",
        },
        key=("run", "parameter_type"),
    ),
    "scores": Table(
        {
            "release": "text", "split": "text", "candidate": "text", "strategy": "text", "tools_shown": "text", "run": "whole",
            "judge": "text", "snapshots": "text", "metric": "text", "slice_by": "text", "slice_value": "text", "value": "real",
            "count": "whole", "low": "real", "high": "real",
        },
        key=("release", "split", "candidate", "strategy", "tools_shown", "run", "judge", "snapshots", "metric",
        "slice_by", "slice_value"), updated=("value", "count", "low", "high"),
    ),
    "responses": Table(
        {
            "environment": "text", "key": "text", "version": "whole", "tool": "text", "call": "json", "response": "json",
            "problem": "text", "recorded_at": "moment", "seen_at": "moment",
        },
        key=("environment", "key", "version"), updated=("seen_at",),
    ),
    "lapses": Table(
        {
            "environment": "text", "key": "text", "problem": "text", "call": "json", "times": "whole", "last_at": "moment",
        },
        key=("environment", "key", "problem"), updated=("times", "last_at"),
    ),
    "llm_calls": Table(
        {
            "id": "text", "request": "text", "build": "text", "stage": "text", "model": "text", "prompt_version": "text",
            "sample_index": "whole", "prompt_tokens": "whole", "completion_tokens": "whole", "cost": "real",
            "latency": "real", "cached": "flag", "planted": "text", "error": "text", "subject": "text", "release": "text",
            "candidate": "text", "strategy": "text", "made_at": "moment",
        },
        key=("id",), is_compared=True,
    ),
}  # fmt: skip


def write_batch(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as a batch: a file of JSON lines, which DuckDB reads in bulk by itself.

    No Arrow and no data frame on the way: pyarrow would bring pandas into every worker, 100 MB for nothing.
    """
    with path.open("wb") as file:
        for row in rows:
            file.write(orjson.dumps(row) + b"\n")


def pieces(path: Path) -> Iterator[Path]:
    """A batch in files that are small enough to be inserted one after the other; each is gone when the next one comes."""
    if path.stat().st_size <= _PIECE:
        yield path
        return
    piece = path.with_suffix(".piece")
    with path.open("rb") as batch:
        while lines := batch.readlines(_PIECE):
            piece.write_bytes(b"".join(lines))
            yield piece
    piece.unlink(missing_ok=True)


def batch_source(name: str, path: Path) -> str:
    """A batch of a table's rows as what an insert selects from."""
    columns = ", ".join(f"{column}: '{_TYPES[type_]}'" for column, type_ in TABLES[name].columns.items())
    file = str(path).replace("'", "''")
    return f"read_json('{file}', format = 'newline_delimited', columns = {{{columns}}}, maximum_object_size = {_LONGEST_ROW})"


def insert_statement(name: str, source: str, *, replacing: bool = False) -> str:
    """The statement that lands the rows of a source in a table, by the table's rules."""
    table = TABLES[name]
    columns = ", ".join(table.columns)
    changed = (*table.updated, *(table.replaced if replacing else ()))
    if table.is_compared:
        return _merge(name, table, source, changed)
    statement = f"insert into {name} ({columns}) select {columns} from {source}"  # noqa: S608 - our own names
    if not table.key:
        return statement
    if not changed:
        return f"{statement} on conflict do nothing"
    updates = ", ".join(f"{column} = excluded.{column}" for column in changed)
    return f"{statement} on conflict ({', '.join(table.key)}) do update set {updates}"


def _merge(name: str, table: Table, source: str, changed: tuple[str, ...]) -> str:
    columns = ", ".join(table.columns)
    first = f"partition by {', '.join(table.key)}" + (f" order by {table.order}" if table.order else "")
    updates = ", ".join(f"{column} = fresh.{column}" for column in changed)
    return f"""
        merge into {name} using (
            select {columns} from {source} qualify row_number() over ({first}) = 1
        ) fresh on ({" and ".join(f"{name}.{column} = fresh.{column}" for column in table.key)})
        {f"when matched then update set {updates}" if updates else ""}
        when not matched then insert ({columns}) values ({", ".join(f"fresh.{column}" for column in table.columns)})
    """  # noqa: S608
