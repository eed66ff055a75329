"""Findings: what speaks against the gold of a record, where it stands, and what it should be.

Code alone looks here: a finding is an `error` where the words or the tool's document contradict
every value that the data set accepts, and a `note` where another accepted value is right. Readers
add their own (`reading_differs`, callwright.flows.data_audit.readers).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.generators.imports.reading import AcceptedValues, ImportedRecord
from callwright.generators.tools import argument_problems
from callwright.validators.evidence import find_in_calls, scene_of
from callwright.warehouse.records import GoldCall, Sample, Snapshot, Tool, content_key

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
FindingSort = Literal[
    "unreadable",
    "schema",
    "type",
    "enum",
    "undeclared",
    "required",
    "unit",
    "day",
    "time",
    "amount",
    "not_said",
    "duplicate",
    "wrong_tool",
    "reading_differs",
]


class Finding(NamedTuple):
    """What speaks against one gold value, call or record.

    `where` is the place ("file:line" or "file#/row"), `line` its line (0: unknown). `turn` and
    `call` say which gold call (-1: the whole record). `words` are the user's, `document` the
    words of the tool's document that the gold breaks, `expected` what the gold should be (None:
    code cannot say). `key` stays the same as long as the record does. `verdict` is what people
    said of it last: confirmed, refused or noted; "" if nothing.
    """

    key: str
    item: str
    where: str
    line: int
    severity: Severity
    sort: FindingSort
    reason: str
    turn: int = -1
    call: int = -1
    tool: str = ""
    argument: str = ""
    words: str = ""
    document: str = ""
    gold: JsonValue = None
    expected: JsonValue = None
    verdict: str = ""


def find_in_record(record: ImportedRecord) -> Iterator[Finding]:
    """Yield the findings of a record, by code alone.

    An unreadable record is a finding too, and a note where its data set has no gold for it.
    """
    if record.sample is None:
        severity: Severity = "error" if record.is_unreadable else "note"
        for problem in record.problems:
            yield _finding(record, severity, "unreadable", problem.message)
        return
    for snapshot in record.sample.snapshots():
        yield from _find_at(record, record.sample, snapshot)


def _find_at(record: ImportedRecord, sample: Sample, snapshot: Snapshot) -> Iterator[Finding]:
    """Yield the findings of the calls that are due at a snapshot."""
    tools = {tool.name: tool for tool in record.tools}
    for place, call in enumerate(snapshot.calls):
        tool = tools.get(call.tool)
        if tool is None:
            reason = f"No tool of the record is named {call.tool!r}."
            yield _finding(
                record, "error", "undeclared", reason, snapshot.turn, place, call, gold=call.tool
            )
            continue
        accepted = {
            one.argument: one
            for one in record.accepted
            if (one.turn, one.call) == (snapshot.turn, place)
        }
        yield from _of_document(record, snapshot, place, call, tool, accepted)
    yield from _of_words(record, sample, snapshot)


def _of_document(
    record: ImportedRecord,
    snapshot: Snapshot,
    place: int,
    call: GoldCall,
    tool: Tool,
    accepted: Mapping[str, AcceptedValues],
) -> Iterator[Finding]:
    """Yield where a call breaks its tool's document."""
    for reason in argument_problems(tool, call.arguments, partial=False):
        yield _finding(record, "error", "schema", reason, snapshot.turn, place, call)


def _of_words(record: ImportedRecord, sample: Sample, snapshot: Snapshot) -> Iterator[Finding]:
    """Yield where the words contradict the values of calls."""
    scene = scene_of(sample, record.tools)._replace(turns=snapshot.prefix, calls=snapshot.calls)
    for found in find_in_calls(scene):
        if found.standing == "contradicted" and not found.is_undeclared:
            call = found.claim.call
            place = next((at for at, one in enumerate(snapshot.calls) if one is call), -1)
            yield _finding(
                record,
                "error",
                "amount",
                found.reason,
                snapshot.turn,
                place,
                call,
                argument=found.claim.name,
                gold=found.claim.value,
            )


def _finding(  # noqa: PLR0913 - the parts of a finding
    record: ImportedRecord,
    severity: Severity,
    sort: FindingSort,
    reason: str,
    turn: int = -1,
    place: int = -1,
    call: GoldCall | None = None,
    argument: str = "",
    gold: JsonValue = None,
) -> Finding:
    item = record.item or record.where
    key = content_key([item, sort, turn, place, argument, gold])[:16]
    tool = call.tool if call else ""
    where, line = record.where, record.line
    return Finding(
        key, item, where, line, severity, sort, reason, turn, place, tool, argument, gold=gold
    )


def gravest(findings: Sequence[Finding]) -> Severity | None:
    """Return the gravest severity of findings; None if there are none."""
    return next((one for one in SEVERITIES if any(f.severity == one for f in findings)), None)
