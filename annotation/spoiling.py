"""Samples that are wrong in one known way, to see whether reviewers find it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from annotation.calls import is_same
from annotation.edits import is_part_of
from generators.kinds import traits_of
from generators.single_turn import PERFECT
from generators.tools import argument_problems
from language.calls.defects import (
    EXTRA_ARGUMENT,
    MISSING_ARGUMENT,
    NEEDLESS_CALL,
    WRONG_ARGUMENT,
    WRONG_TOOL,
    Proposal,
    spoil_call,
)
from language.calls.sampling import fill_in
from language.calls.tools import ToolView, view_of
from language.text import fold
from warehouse.errors import ReplyError
from warehouse.records import CallTurn, Evidence, GoldCall, Language, Sample, Tool

_OF_CALLS = (WRONG_ARGUMENT, MISSING_ARGUMENT, EXTRA_ARGUMENT, WRONG_TOOL)
_ENOUGH = 2  # arguments of an invented call whose tool requires none


class Spoiled(NamedTuple):
    """A sample with one defect in its last calls, and the name of it."""

    sample: Sample
    defect: str


def can_be_spoiled(sample: Sample) -> bool:
    """Whether calls are due in the sample's last call turn, or none, that nothing after it rests on."""
    return not any(turn.executed for turn in sample.turns if isinstance(turn, CallTurn))


def spoil_sample(sample: Sample, tools: Sequence[Tool], fits: Callable[[Sample], bool], rng: Random) -> Spoiled | None:
    """The sample with one defect in the calls due last; where none is due, with a call. None where nothing can be made wrong.

    `tools` are its candidates; `fits` says whether a sample is well-formed, as those are that people see: only who reads the
    request finds what is wrong.
    """
    if not can_be_spoiled(sample):
        return None
    for defect in rng.sample(_OF_CALLS, len(_OF_CALLS)) if sample.gold else (NEEDLESS_CALL,):
        spoiled = _with_defect(defect, sample, tools, rng)
        if spoiled is not None and fits(spoiled):
            return Spoiled(spoiled, defect)
    return None


def _with_defect(defect: str, sample: Sample, tools: Sequence[Tool], rng: Random) -> Sample | None:
    if defect == NEEDLESS_CALL:
        invented = _invented(tools, sample.language, rng)
        # As if its maker had taken the request for one that a tool fits.
        kind = PERFECT if traits_of(sample.kind).is_idle else sample.kind
        return None if invented is None else with_last_calls(sample, (invented,)).with_changes(kind=kind)
    place = rng.randrange(len(sample.gold))
    call = sample.gold[place]
    spoiled = _spoiled(defect, call, tools, sample.language, rng)
    if spoiled is None or not _is_wrong(call, spoiled, tools, _stated(sample)):
        return None
    return with_last_calls(sample, (*sample.gold[:place], spoiled, *sample.gold[place + 1 :]))


def with_last_calls(sample: Sample, calls: Sequence[GoldCall]) -> Sample:
    """The sample with these calls due at its last call turn."""
    last = max(index for index, turn in enumerate(sample.turns) if isinstance(turn, CallTurn))
    turns = [
        turn.with_changes(calls=tuple(calls)) if index == last else turn for index, turn in enumerate(sample.turns)
    ]
    return sample.with_changes(turns=tuple(turns))


def _stated(sample: Sample) -> str:
    """All that the user says, folded."""
    return fold(" ".join(turn.text for turn in sample.turns if turn.kind == "user"))


def _spoiled(defect: str, call: GoldCall, tools: Sequence[Tool], language: Language, rng: Random) -> GoldCall | None:
    views = [_view(tool) for tool in (_likely(call, tools, rng) if defect == WRONG_TOOL else tools)]
    proposal = spoil_call(defect, Proposal(call.tool, dict(call.arguments)), views, language, rng)
    if proposal is None or proposal.tool is None:
        return None
    arguments = proposal.arguments
    if defect == WRONG_TOOL:
        tool = next(tool for tool in tools if tool.name == proposal.tool)
        filled = _fitting(tool, arguments, language, rng)
        if filled is None:
            return None
        arguments = filled
    return GoldCall(tool=proposal.tool, arguments=arguments, evidence=tuple(_evidence(call, arguments)))


def _likely(call: GoldCall, tools: Sequence[Tool], rng: Random) -> list[Tool]:
    """The other tool that one would sooner take for the right one: it takes the most of the arguments, and at least one."""
    others = [tool for tool in tools if tool.name != call.tool]
    shared = {tool.key: len(tool.properties.keys() & call.arguments.keys()) for tool in others}
    likely = [tool for tool in rng.sample(others, len(others)) if shared[tool.key] or not call.arguments]
    return sorted(likely, key=lambda tool: -shared[tool.key])[:1]


def _fitting(
    tool: Tool, arguments: Mapping[str, JsonValue], language: Language, rng: Random
) -> dict[str, JsonValue] | None:
    """The arguments that another tool takes as well, and a value for what it requires besides."""
    kept = {
        name: value for name, value in arguments.items() if not argument_problems(tool, {name: value}, partial=True)
    }
    missing = [name for name in tool.required if name not in kept]
    try:
        return kept | fill_in(missing, _view(tool).properties, language, rng, kept)
    except ReplyError:
        return None


def _invented(tools: Sequence[Tool], language: Language, rng: Random) -> GoldCall | None:
    """A call that nobody asked for."""
    for tool in rng.sample(list(tools), len(tools)):
        names = list(tool.required) or list(tool.properties)[:_ENOUGH]
        try:
            arguments = fill_in(names, _view(tool).properties, language, rng)
        except ReplyError:
            continue
        if not argument_problems(tool, arguments, partial=True):
            evidence = [Evidence(argument=name, kind="default") for name in arguments]
            return GoldCall(tool=tool.name, arguments=arguments, evidence=tuple(evidence))
    return None


def _evidence(before: GoldCall, arguments: Mapping[str, JsonValue]) -> Iterator[Evidence]:
    """What seems to prove the arguments: mixed up values bring their words along, a new one claims to be a default."""
    proofs = {item.argument: item for item in before.evidence}
    for name, value in arguments.items():
        same = [other for other, known in before.arguments.items() if is_same(known, value)]
        if name in same:
            yield from (item for item in before.evidence if is_part_of(item.argument, name))
            continue
        proof = proofs.get(same[0] if same else name) or Evidence(argument=name, kind="default")
        yield proof.with_changes(argument=name)


def _is_wrong(before: GoldCall, after: GoldCall, tools: Sequence[Tool], stated: str) -> bool:
    """Whether the defect can't be argued away: it fits the schemas, and no default or word of the user's stands behind it."""
    by_name = {tool.name: tool for tool in tools}
    tool = by_name[after.tool]
    if argument_problems(tool, after.arguments, partial=True):
        return False
    if before.tool != after.tool:
        return True
    gone = {name: value for name, value in before.arguments.items() if name not in after.arguments}
    new = {name: value for name, value in after.arguments.items() if name not in before.arguments}
    changed = [
        name
        for name, value in after.arguments.items()
        if name in before.arguments and not is_same(value, before.arguments[name])
    ]
    if any(_is_default(tool, name, value) for name, value in (gone | new).items()):
        return False
    return bool(gone or changed) or not any(fold(str(value)) in stated for value in new.values())


def _is_default(tool: Tool, name: str, value: JsonValue) -> bool:
    schema = tool.properties.get(name, {})
    return "default" in schema and is_same(schema["default"], value)


def _view(tool: Tool) -> ToolView:
    return view_of(tool.signature)
