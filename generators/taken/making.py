"""Turn external records, read before the build, into the samples that they hold, if any."""

from collections.abc import Iterator
from dataclasses import replace

from callwright.generators.families import Family, Kind, Order, Traits
from callwright.generators.multi_step.samples import add_evidence
from callwright.generators.stages import StageContext, Step, in_a_row
from callwright.generators.taken import CALL, CALLS, CONVERSATION, GROUP, STAGE
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.records import Origin, Sample, TakenRecord


async def take_record(record: TakenRecord, context: StageContext) -> list[Sample]:
    """The sample of a record.

    Raises RecordError, with file and line, where it has none or the build lacks its tools.
    """
    sample = record.sample
    if sample is None:
        raise RecordError(f"{record.where}: {' '.join(record.problems)}")
    context.toolset((*sample.candidates, *sample.withheld))
    if not any(call.evidence for call in sample.all_calls):
        tools = {tool.name: tool for tool in context.toolset(sample.candidates)}
        sample = sample.with_changes(turns=add_evidence(sample.turns, tools))
    origin = sample.origin or Origin(stage=STAGE)
    parents = tuple(dict.fromkeys((record.key, *origin.parents)))
    return [sample.with_changes(origin=origin.with_changes(parents=parents))]


def _plan(order: Order) -> Iterator[TakenRecord]:
    raise ConfigurationError(
        f"Samples of the kind {order.kind.name!r} are not made: name their file under samples."
    )


_CALL = Traits(is_taken=True)
_CALLS = replace(_CALL, calls="set", asked="plan")
_WHOLE = replace(_CALLS, asked="conversation", is_executed=True, is_long=True)
_KINDS = (
    (CALL, "one call at most at a time, without results", _CALL),
    (CALLS, "several calls at once, without results", _CALLS),
    (CONVERSATION, "calls and what they returned", _WHOLE),
)
_TAKE = "Take a record of others as the sample that it holds, or say why it holds none."
_STEP = Step(STAGE, _TAKE, "Sample", "docs/sources.md", take_record)

FAMILY = Family(
    "taken",
    tuple(
        Kind(name, f"a conversation with {what}", GROUP, traits) for name, what, traits in _KINDS
    ),
    stages=in_a_row(GROUP, "TakenRecord", _STEP),
    drafts=TakenRecord,
    plan=_plan,
)
