"""Readers of a data set: models that do not know the gold write the calls from the words alone.

The reader is that of the check `reading`, with its settling. A record is read only if code does
not contradict its gold; values that the data set accepts count as the gold.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from callwright.flows.data_audit.differences import (
    are_alike,
    finding_of_difference,
    finding_of_record,
    with_gold,
)
from callwright.flows.data_audit.replies import find_in_replies
from callwright.flows.data_audit.running import AuditedData, Look
from callwright.flows.data_checks import context_for, opened_chats
from callwright.flows.run.work import task_group
from callwright.flows.settings import Settings, open_warehouse
from callwright.flows.stages import stage_named
from callwright.generators.imports.reading import ImportedRecord
from callwright.generators.stages import StageContext
from callwright.validators.audit.findings import Finding, find_in_record
from callwright.validators.reading.points import DuePoint, due_points
from callwright.validators.reading.writing import (
    MODEL,
    BlindReader,
    agrees,
    read_point,
    write_calls,
)
from callwright.warehouse.batches import grouped
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Reading, Sample

_AT_ONCE = 64  # records that are read at the same time
_READING = "reading"


@asynccontextmanager
async def opened_look(
    data: AuditedData, replies: Sequence[Path], settings: Settings
) -> AsyncIterator[Look]:
    """Yield what finds all that code, published replies and the data's models say.

    What a model has answered before is in the ledger. Raises ConfigurationError for an unknown
    model.
    """
    stage = stage_named(_READING)
    settings.home.mkdir(parents=True, exist_ok=True)  # else answers would be in no ledger
    async with AsyncExitStack() as opened:
        chats = [
            await opened.enter_async_context(opened_chats(one, settings))
            for one in dict.fromkeys(data.models)
        ]
        places = asyncio.Semaphore(_AT_ONCE)

        @cache
        def differing() -> dict[str, list[Finding]]:  # read only once there is something to audit
            found = find_in_replies(data.read(), replies) if replies else ()
            return grouped(found, attrgetter("where"))

        async def find(record: ImportedRecord) -> list[Finding]:
            findings = [*find_in_record(record), *differing().get(record.where, ())]
            sample = record.sample
            is_wrong = any(one.severity == "error" for one in findings)
            # what calls return is part of what the gold rests on, and a reader would not see it
            if sample is None or is_wrong or record.lacks_results:
                return findings
            async with places:
                tools = {tool.key: tool for tool in record.tools}
                contexts = [context_for(stage, sample, tools, one) for one in chats]
                return [*findings, *await read_record(record, contexts)]

        async def look(records: Sequence[ImportedRecord]) -> Iterable[Finding]:
            async with task_group() as tasks:
                found = [tasks.create_task(find(record)) for record in records]
            return chain.from_iterable(one.result() for one in found)

        try:
            yield look
        finally:  # what was asked is paid, whatever came of it
            open_warehouse(settings).put(call for one in chats if one for call in one.calls)


class _Differing(NamedTuple):
    """What readers write otherwise than the gold at a point, and who they are."""

    point: DuePoint
    reading: Reading
    readers: list[str]


async def read_record(record: ImportedRecord, readers: Sequence[StageContext]) -> list[Finding]:
    """Return what models write otherwise than a record's gold, each way once.

    A model without a usable answer is a note.
    """
    sample = record.sample
    if sample is None:
        return []
    differing, unread = list[_Differing](), list[Finding]()
    for context in readers:
        name = context.chat.name
        for point in due_points(sample, context.toolset(sample.candidates)):
            try:
                reading = await _read(point, record, sample, context)
            except ReplyError as error:
                unread.append(finding_of_record(record, "unread", f"{name} can't be read: {error}"))
                break  # what can't be read once is not paid for again and again
            if agrees(reading, point, context.rouge_l):
                continue
            known = (one for one in differing if one.point.turn == point.turn)
            same = (one for one in known if are_alike(one.reading.calls, reading.calls, point))
            if (found := next(same, None)) is not None:
                found.readers.append(name)
            else:
                differing.append(_Differing(point, reading, [name]))
    return [*(_finding(record, one) for one in differing), *unread]


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
