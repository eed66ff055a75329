"""Records as rows of their tables."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import singledispatch
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel

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
    Prediction,
    Record,
    Release,
    Review,
    Sample,
    Score,
    Tool,
    Verdict,
)

Row = dict[str, Any]  # one value a column; the table's schema gives the types


class RowPage(NamedTuple):
    """One page of the rows that were looked for, and how many there are on all pages."""

    rows: list[Row]
    total: int


class Stamp(NamedTuple):
    """What a row says beyond its record: the moment it was made."""

    made_at: datetime


def rows_of(records: Iterable[Record], stamp: Stamp) -> Iterator[tuple[str, Row]]:
    """The table and the row of each record; TypeError for a type that has no table."""
    for record in records:
        yield _row(record, stamp)


def body_of(record: BaseModel) -> str:
    """A record as the JSON text that `parse` of its class reads back."""
    return record.model_dump_json()


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


@singledispatch
def _row(record: Record, stamp: Stamp) -> tuple[str, Row]:
    raise TypeError(f"{type(record).__name__} has no table")


@_row.register
def _(record: Tool, _stamp: Stamp) -> tuple[str, Row]:
    return "tools", {
        "key": record.key,
        "name": record.name,
        "category": record.category,
        "language": record.language,
        "source": record.source,
        "description": record.description,
        "parameters": _json(record.parameters),
        "returns": None if record.returns is None else _json(record.returns),
        "constants": _json(record.constants) if record.constants else None,
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
def _(record: Draft, _stamp: Stamp) -> tuple[str, Row]:
    row = {"key": record.key, "type": type(record).__name__, "body": record.stored_body()}
    return "drafts", row | _made_by(record.origin)


@_row.register
def _(record: Sample, _stamp: Stamp) -> tuple[str, Row]:
    return "samples", _made_by(record.origin) | {
        "key": record.key,
        "kind": record.kind,
        "language": record.language,
        "category": record.category,
        "request": record.request,
        "gold": _json([{"tool": call.tool, "arguments": call.arguments | call.constants} for call in record.gold]),
        "body": body_of(record),
        "call_turns": sum(1 for _ in record.snapshots()),
        "calls": sum(len(snapshot.calls) for snapshot in record.snapshots()),
        "seed": record.origin.seed if record.origin else 0,
    }


@_row.register
def _(record: Verdict, stamp: Stamp) -> tuple[str, Row]:
    return "verdicts", {
        "key": record.key,
        "subject": record.subject,
        "check_name": record.check,
        "decision": record.decision,
        "score": record.score,
        "reason": record.reason,
        "evidence": _json([proof.model_dump(mode="json") for proof in record.evidence]),
        "open_arguments": list(record.open_arguments),
        "doubts": _json([doubt.model_dump(mode="json", exclude_defaults=True) for doubt in record.doubts]),
        "version": record.version,
        "grade": record.grade,
        "model": record.model,
        "made_at": stamp.made_at,
    }


@_row.register
def _(record: Failure, stamp: Stamp) -> tuple[str, Row]:
    return "failures", {"key": record.key, "made_at": stamp.made_at} | record.model_dump()


@_row.register
def _(record: LlmCall, stamp: Stamp) -> tuple[str, Row]:
    return "llm_calls", dict(record) | {"made_at": stamp.made_at}


@_row.register
def _(record: Review, _stamp: Stamp) -> tuple[str, Row]:
    return "reviews", dict(record) | {"key": record.key, "reasons": list(record.reasons)}


@_row.register
def _(record: Release, _stamp: Stamp) -> tuple[str, Row]:
    return "releases", dict(record) | {
        "key": record.key,
        "selection": _json(record.selection),
        "splits": _json(record.splits),
    }


@_row.register
def _(record: Prediction, stamp: Stamp) -> tuple[str, Row]:
    calls = None if record.calls is None else _json([call.model_dump(mode="json") for call in record.calls])
    return "predictions", dict(record) | {
        "key": record.key,
        "calls": calls,
        "error_type": None,
        "made_at": stamp.made_at,
    }


@_row.register
def _(record: JudgeVerdict, stamp: Stamp) -> tuple[str, Row]:
    return "judge_verdicts", dict(record) | {"key": record.key, "made_at": stamp.made_at}


@_row.register
def _(record: Grade, stamp: Stamp) -> tuple[str, Row]:
    return "grades", dict(record) | {"key": record.key, "made_at": stamp.made_at}


@_row.register
def _(record: MultiStepRun, stamp: Stamp) -> tuple[str, Row]:
    messages = _json([turn.model_dump(mode="json", exclude_defaults=True) for turn in record.messages])
    return "multi_step_runs", dict(record) | {"key": record.key, "messages": messages, "made_at": stamp.made_at}


@_row.register
def _(record: CallError, _stamp: Stamp) -> tuple[str, Row]:
    return "call_errors", dict(record) | {"key": record.key}


@_row.register
def _(record: ParameterCount, _stamp: Stamp) -> tuple[str, Row]:
    return "parameter_counts", dict(record)


@_row.register
def _(record: Score, _stamp: Stamp) -> tuple[str, Row]:
    return "scores", dict(record)
