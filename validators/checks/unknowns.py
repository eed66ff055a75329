"""Values that nobody can know yet: an argument with the sign of the unknown, and the earlier call that will return it."""

from collections.abc import Mapping, Sequence

from generators.kinds import KINDS, ROUTING
from generators.routing.unknowns import UNKNOWN, feeds, unknown_arguments
from validators.checks.evidence import Claim
from warehouse.records import Arguments, Evidence, GoldCall, Sample, Tool


def is_routed(sample: Sample) -> bool:
    """Whether the sample's calls are to be chosen out of a whole catalog."""
    kind = KINDS.get(sample.kind)
    return kind is not None and kind.group == ROUTING


def known_arguments(call: GoldCall) -> Arguments:
    """The arguments of a call that have a value; those with the sign and no evidence of a source count among them."""
    unknown = unknown_arguments(call)
    return {name: value for name, value in call.arguments.items() if name not in unknown}


def by_earlier_call(claim: Claim, calls: Sequence[GoldCall], tools: Mapping[str, Tool]) -> Evidence | None:
    """The claim's own evidence where its value is unknown and an earlier call of the same turn returns it."""
    if claim.value != UNKNOWN or claim.hint is None or claim.hint.argument != claim.name:
        return None
    return None if feed_problem(claim.name, claim.call, calls, tools) else claim.hint


def feed_problem(argument: str, call: GoldCall, calls: Sequence[GoldCall], tools: Mapping[str, Tool]) -> str:
    """Why nothing can feed an unknown argument, "" where a call before it does."""
    feed = unknown_arguments(call).get(argument)
    if feed is None:
        return f"{argument!r} of {call.tool} is {UNKNOWN!r}, and its evidence names no call that returns it."
    place = next(index for index, one in enumerate(calls) if one is call)
    if feed.call >= place:
        return f"{argument!r} of {call.tool} shall come of call {feed.call}, which is not made before call {place}."
    source, target = tools.get(calls[feed.call].tool), tools.get(call.tool)
    if source is None or target is None or not feeds(feed.field, source, argument, target):
        return f"{calls[feed.call].tool} returns no {feed.field!r} that {call.tool} takes as {argument!r}."
    return ""
