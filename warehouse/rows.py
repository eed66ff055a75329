"""Records as rows of their tables."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import singledispatch
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel

from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    CallError,
    Draft,
    Failure,
    Grade,
    JudgeVerdict,
    LlmCall,
    MultiStepRun,
    Origin,
    ParameterCount,
    PlantedReading,
    Prediction,
    Record,
    Release,
    Review,
    Sample,
    Score,
    Tool,
    Verdict,
)

# bytes of JSON; DuckDB's own limit, and each of its threads sets aside twice as much
LONGEST_ROW = 1 << 24
_BYTES_A_LETTER, _MIB = 6, 1 << 20
Row = dict[str, Any]  # one value a column; the table's schema gives the types


class RowPage(NamedTuple):
    """One page of the rows found, and the number of rows on all pages."""

    rows: list[Row]
    total: int


def rows_of(records: Iterable[Record], made_at: datetime) -> Iterator[tuple[str, Row]]:
    """Yield the table and the row of each record, made at this moment.

    A row may hold more than its table has columns for. Raises TypeError for a type without
    table, and RecordError for a record whose row DuckDB would refuse together with the rows
    beside it.
    """
    for record in records:
        table, row = _row(record, made_at)
        _require_size(record, table, row)
        yield table, row


def _require_size(record: Record, table: str, row: Row) -> None:
    letters = sum(len(value) for value in row.values() if isinstance(value, str))
    if letters * _BYTES_A_LETTER > LONGEST_ROW and (size := len(orjson.dumps(row))) >= LONGEST_ROW:
        raise RecordError(
            f"A {type(record).__name__} takes {size / _MIB:.1f} MiB in the table {table}, which"
            f" takes {LONGEST_ROW // _MIB} MiB at most. Shorten its longest text."
        )


def body_of(record: BaseModel) -> str:
    """Return a record as the JSON text that `parse` of its class reads back."""
    return record.model_dump_json()


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _short_json(records: Iterable[Record]) -> str:
    return _json([one.model_dump(mode="json", exclude_defaults=True) for one in records])


_PLAIN: dict[type[Record], str] = {
    Failure: "failures",
    Review: "reviews",
    JudgeVerdict: "judge_verdicts",
    Grade: "grades",
    CallError: "call_errors",
    ParameterCount: "parameter_counts",
    Score: "scores",
}


@singledispatch
def _row(record: Record, made_at: datetime) -> tuple[str, Row]:
    if type(record) not in _PLAIN:
        raise TypeError(f"{type(record).__name__} has no table")
    return _PLAIN[type(record)], _fields(record, made_at)


def _fields(record: Record, made_at: datetime) -> Row:
    return {**vars(record), "key": record.key, "made_at": made_at}


@_row.register
def _(record: Tool, made_at: datetime) -> tuple[str, Row]:
    return "tools", _fields(record, made_at) | {
        "parameters": _json(record.parameters),
        "returns": None if record.returns is None else _json(record.returns),
        "constants": _json(record.constants) if record.constants else None,
        "plumbing": list(record.plumbing) or None,
        "original": record.original.model_dump_json() if record.original else None,
    }


def _made_by(origin: Origin | None) -> Row:
    origin = origin or Origin(stage="import")
    return {
        "stage": origin.stage,
        "parents": list(origin.parents),
        "model": origin.model,
        "prompt_version": origin.prompt_version,
        "planted": origin.planted,
    }


@_row.register
def _(record: Draft, _made_at: datetime) -> tuple[str, Row]:
    row = {"key": record.key, "type": type(record).__name__, "body": record.stored_body()}
    return "drafts", row | _made_by(record.origin)


@_row.register
def _(record: Sample, _made_at: datetime) -> tuple[str, Row]:
    gold = ((call, call.arguments | call.constants) for call in record.gold)
    return "samples", _made_by(record.origin) | {
        "key": record.key,
        "kind": record.kind,
        "language": record.language,
        "category": record.category,
        "request": record.request,
        "gold": _json([{"tool": call.tool, "arguments": given} for call, given in gold]),
        "body": body_of(record),
        "call_turns": sum(1 for _ in record.snapshots()),
        "calls": sum(len(snapshot.calls) for snapshot in record.snapshots()),
        "seed": record.origin.seed if record.origin else 0,
    }


@_row.register
def _(record: Verdict, made_at: datetime) -> tuple[str, Row]:
    return "verdicts", _fields(record, made_at) | {
        "check_name": record.check,
        "grade": record.grade,
        "evidence": _json([proof.model_dump(mode="json") for proof in record.evidence]),
        "doubts": _short_json(record.doubts),
        "readings": _short_json(record.readings),
    }


@_row.register
def _(record: PlantedReading, made_at: datetime) -> tuple[str, Row]:
    return "planted_readings", _fields(record, made_at) | {"check_name": record.check}


@_row.register
def _(record: LlmCall, made_at: datetime) -> tuple[str, Row]:
    return "llm_calls", {**vars(record), "made_at": made_at}


@_row.register
def _(record: Release, _made_at: datetime) -> tuple[str, Row]:
    return "releases", dict(record) | {
        "key": record.key,
        "selection": _json(record.selection),
        "splits": _json(record.splits),
    }


@_row.register
def _(record: Prediction, made_at: datetime) -> tuple[str, Row]:
    calls = None
    if record.calls is not None:
        calls = _json([call.model_dump(mode="json") for call in record.calls])
    return "predictions", _fields(record, made_at) | {
        "calls": calls,
        "error_type": None,
        "matched": None,
    }


@_row.register
def _(record: MultiStepRun, made_at: datetime) -> tuple[str, Row]:
    messages = _short_json(record.messages)
    return "multi_step_runs", _fields(record, made_at) | {"messages": messages}
