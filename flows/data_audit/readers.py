"""Readers of a data set: models that do not know the gold write the calls from the words alone.

The reader is that of the check `reading`, with its settling. A record is read only if code does
not contradict its gold; values that the data set accepts count as the gold.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import NamedTuple

from callwright.flows.data_audit.differences import are_alike, finding_of_difference, with_gold
from callwright.flows.data_checks import context_for, opened_chats
from callwright.flows.settings import Settings
from callwright.flows.stages import stage_named
from callwright.generators.imports.reading import ImportedRecord
from callwright.generators.stages import StageContext
from callwright.validators.audit.findings import Finding
from callwright.validators.reading.points import DuePoint, due_points
from callwright.validators.reading.writing import (
    MODEL,
    BlindReader,
    agrees,
    read_point,
    write_calls,
)
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Reading, Sample

_AT_ONCE = 64  # records that are read at the same time
_READING = "reading"


class AuditedRecord(NamedTuple):
    """A record with all findings so far; `unread` names the models that gave no usable answer."""

    record: ImportedRecord
    findings: list[Finding]
    unread: tuple[str, ...] = ()


async def read_audited(
    records: Iterable[AuditedRecord], models: Sequence[str], settings: Settings
) -> AsyncIterator[AuditedRecord]:
    """Yield the records in their order, each with what the readers find besides.

    Records are taken only as far as answers are asked for, and what a model has answered before is
    in the ledger. Raises ConfigurationError for an unknown model.
    """
    stage = stage_named(_READING)
    waiting: deque[asyncio.Task[AuditedRecord]] = deque()
    async with AsyncExitStack() as opened:
        chats = [await opened.enter_async_context(opened_chats(one, settings)) for one in models]

        async def read(audited: AuditedRecord) -> AuditedRecord:
            sample, record = audited.record.sample, audited.record
            if sample is None or any(one.severity == "error" for one in audited.findings):
                return audited
            tools = {tool.key: tool for tool in record.tools}
            contexts = [context_for(stage, sample, tools, one) for one in chats]
            return await read_record(audited, {one.chat.name: one for one in contexts})

        try:
            for audited in records:
                waiting.append(asyncio.create_task(read(audited)))
                if len(waiting) == _AT_ONCE:
                    yield await waiting.popleft()
            while waiting:
                yield await waiting.popleft()
        finally:
            for task in waiting:
                task.cancel()


class _Differing(NamedTuple):
    """What readers write otherwise than the gold at a point, and who they are."""

    point: DuePoint
    reading: Reading
    readers: list[str]


async def read_record(audited: AuditedRecord, readers: Mapping[str, StageContext]) -> AuditedRecord:
    """Return a record with what models, by name, write otherwise than its gold.

    Readers that write the same make one finding.
    """
    record, sample = audited.record, audited.record.sample
    if sample is None:
        return audited
    differing, unread = list[_Differing](), list[str]()
    for name, context in readers.items():
        for point in due_points(sample, context.toolset(sample.candidates)):
            try:
                reading = await _read(point, record, sample, context)
            except ReplyError:
                unread.append(name)
                break  # what can't be read once is not paid for again and again
            if agrees(reading, point, context.rouge_l):
                continue
            known = (one for one in differing if one.point.turn == point.turn)
            same = (one for one in known if are_alike(one.reading.calls, reading.calls, point))
            if (found := next(same, None)) is not None:
                found.readers.append(name)
            else:
                differing.append(_Differing(point, reading, [name]))
    findings = [*audited.findings, *(_finding(record, one) for one in differing)]
    return AuditedRecord(record, findings, (*audited.unread, *unread))


async def _read(
    point: DuePoint, record: ImportedRecord, sample: Sample, context: StageContext
) -> Reading:
    """Return a model's reading of a point, in which accepted values are the gold's."""

    async def write(due: DuePoint, _sample: Sample, _context: StageContext) -> Reading:
        written = await write_calls(due, _sample, _context)
        return written.with_changes(calls=with_gold(written.calls, due, record.accepted))

    return await read_point(point, sample, context, reader=BlindReader(write, MODEL.settle))


def _finding(record: ImportedRecord, differing: _Differing) -> Finding:
    """Return the finding; it is a note where a single reader finds both ways right."""
    point, reading, readers = differing
    is_either = {*reading.votes} == {"both"} and len(readers) == 1
    votes = " and ".join(reading.votes)
    said = f"From the words alone {' and '.join(readers)} wrote (settled in both orders: {votes})"
    return finding_of_difference(
        record,
        point,
        reading.calls,
        said,
        sort="reading_differs",
        severity="note" if is_either else "warning",
        support=len(readers),
    )
