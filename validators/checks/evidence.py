"""Where a conversation says an argument: the one way in which checks look for evidence."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.kinds import traits_of
from callwright.generators.routing.tool_graph import UNKNOWN, feeds, unknown_arguments
from callwright.generators.stated_values import found_evidence
from callwright.generators.transcripts import walk
from callwright.language.dates import HALF_DAY
from callwright.language.text import Found
from callwright.language.values import ANSWERED, is_about, locate
from callwright.warehouse.records import (
    Arguments,
    Evidence,
    GoldCall,
    JsonSchema,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

TOO_WEAK = frozenset({HALF_DAY})  # these may mean two values: good enough to point at, not to prove


class Claim(NamedTuple):
    """An argument of a gold call, what its schema says, and where the generator says it was worded."""

    name: str
    value: JsonValue
    schema: JsonSchema
    hint: Evidence | None
    call: GoldCall


class UserText(NamedTuple):
    """A text of the user's: a turn's own words, or the external message that comes with it."""

    turn: int
    text: str
    in_message: bool
    question: str


def find_evidence(claim: Claim, stated: Sequence[UserText], prefix: Sequence[Turn]) -> Evidence | None:
    """Why the claim holds: said in one of these texts, by default, or in a result of `prefix`; it may be too weak."""
    return find_spoken(claim, stated) or find_elsewhere(claim, prefix)


def find_elsewhere(claim: Claim, prefix: Sequence[Turn]) -> Evidence | None:
    """Why the claim holds though nobody said it: by default, or in a result of `prefix`."""
    return _by_default(claim) or _in_results(claim, prefix)


def stated_in(prefix: Sequence[Turn]) -> list[UserText]:
    """All that the user said or handed over, the latest first."""
    texts: list[UserText] = []
    question = ""
    for index, turn in enumerate(prefix):
        if isinstance(turn, ReplyTurn):
            question = turn.text
        elif isinstance(turn, UserTurn):
            texts.append(UserText(index, turn.text, in_message=False, question=question))
            if turn.external:
                texts.append(UserText(index, turn.external.text, in_message=True, question=""))
    return texts[::-1]


def find_spoken(claim: Claim, stated: Sequence[UserText]) -> Evidence | None:
    """Where one of these texts says the claim, the first text that proves it before any that only points."""
    weak: Evidence | None = None
    for one in stated:
        found = _locate(claim, one)
        if found is None:
            continue
        evidence = _evidence(claim, one, found)
        if found.rule not in TOO_WEAK:
            return evidence
        weak = weak or evidence
    return weak or _spoken_in_parts(claim, stated)


def _locate(claim: Claim, stated: UserText) -> Found | None:
    found = locate(claim.value, claim.schema, stated.text)
    if found is None or (found.rule == ANSWERED and not is_about(claim.schema, stated.question)):
        return None
    return _hinted(claim, stated) or found


def _hinted(claim: Claim, stated: UserText) -> Found | None:
    """The place that the generator names, where the text says the value there too."""
    hint = claim.hint
    if hint is None or hint.start is None or hint.end is None:
        return None
    if (hint.turn, hint.in_message) != (stated.turn, stated.in_message) or not 0 <= hint.start < hint.end <= len(
        stated.text
    ):
        return None
    found = locate(claim.value, claim.schema, stated.text[hint.start : hint.end])
    return found and found._replace(start=found.start + hint.start, end=found.end + hint.start)


def _spoken_in_parts(claim: Claim, stated: Sequence[UserText]) -> Evidence | None:
    """A list whose members were stated in several turns: evidence for the last said stands for all."""
    if not isinstance(claim.value, list) or len(claim.value) < 2:  # noqa: PLR2004
        return None
    items = claim.schema.get("items") or {}
    places = [
        next(((one, found) for one in stated if (found := locate(item, items, one.text))), None) for item in claim.value
    ]
    if None in places or not places[-1]:
        return None
    return _evidence(claim, *places[-1]).with_changes(rule="list over several turns")


def _evidence(claim: Claim, stated: UserText, found: Found) -> Evidence:
    return found_evidence(claim.name, found, stated.text, stated.turn, in_message=stated.in_message)


def _by_default(claim: Claim) -> Evidence | None:
    for keyword in ("default", "const"):
        if keyword in claim.schema and _same(claim.schema[keyword], claim.value):
            return Evidence(argument=claim.name, kind="default", rule=keyword)
    return None


def _same(one: JsonValue, other: JsonValue) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _in_results(claim: Claim, prefix: Sequence[Turn]) -> Evidence | None:
    place = find_in_results(claim.value, prefix)
    return place and Evidence(argument=claim.name, kind="response", turn=place.turn, path=place.path)


def is_routed(sample: Sample) -> bool:
    """Whether the sample's calls are to be chosen out of a whole catalog."""
    traits = traits_of(sample.kind)
    return traits.has_catalog and not traits.is_changed


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


class ResultValue(NamedTuple):
    """A value inside a result turn, by its path."""

    turn: int
    path: str


def find_in_results(value: JsonValue, prefix: Sequence[Turn]) -> ResultValue | None:
    """The latest place where a result of `prefix` holds `value`; what is empty, or only true or false, is no proof."""
    if value in (None, "", [], {}) or isinstance(value, bool):
        return None
    for index in range(len(prefix) - 1, -1, -1):
        turn = prefix[index]
        if isinstance(turn, ResultTurn):
            for number, result in enumerate(turn.results):
                for path, held in walk(result, f"turns[{index}].results[{number}]"):
                    if held == value and not isinstance(held, bool):
                        return ResultValue(index, path)
    return None
