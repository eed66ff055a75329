"""Samples that are wrong in one known way, to see whether reviewers find it."""

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.annotation.calls import is_same
from callwright.annotation.edits import is_part_of
from callwright.generators.kinds import traits_of
from callwright.generators.single_turn import PERFECT
from callwright.generators.tools import argument_problems
from callwright.language.calls.defects import (
    EXTRA_ARGUMENT,
    MISSING_ARGUMENT,
    NEEDLESS_CALL,
    WRONG_ARGUMENT,
    WRONG_TOOL,
    Proposal,
    spoil_call,
)
from callwright.language.calls.tools import ToolView, view_of
from callwright.language.packs import widened
from callwright.language.schemas import kind_of
from callwright.language.text import fold
from callwright.language.values import locate, read_value
from callwright.warehouse.records import CallTurn, Evidence, GoldCall, Sample, Tool, UserTurn
from callwright.warehouse.records.samples import EvidenceKind

_OF_CALLS = (WRONG_ARGUMENT, MISSING_ARGUMENT, EXTRA_ARGUMENT, WRONG_TOOL)
_ENOUGH = 2  # arguments of an invented call whose tool requires none
_TRIES = 4  # at each call, for values that have words

# Names in the middle of a text, and what stands in quotation marks.
_NAMED = re.compile(
    widened(r"""(?<=[\w,] )[A-Z][\w'-]*(?: [A-Z][\w'-]*)*|(?<=@["“{open}])@[^"”{close}]+(?=@["”{close}])""")
)


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
        invented = _invented(tools, sample, rng)
        # As if its maker had taken the request for one that a tool fits.
        kind = PERFECT if traits_of(sample.kind).is_idle else sample.kind
        return None if invented is None else with_last_calls(sample, (invented,)).with_changes(kind=kind)
    for place in rng.sample(range(len(sample.gold)), len(sample.gold)) * _TRIES:
        call = sample.gold[place]
        spoiled = _spoiled(defect, call, tools, sample, rng)
        if spoiled is not None and _is_wrong(call, spoiled, tools, _stated(sample)):
            return with_last_calls(sample, (*sample.gold[:place], spoiled, *sample.gold[place + 1 :]))
    return None


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


def _spoiled(defect: str, call: GoldCall, tools: Sequence[Tool], sample: Sample, rng: Random) -> GoldCall | None:
    language = sample.language
    views = [_view(tool) for tool in (_likely(call, tools, rng) if defect == WRONG_TOOL else tools)]
    proposal = spoil_call(defect, Proposal(call.tool, dict(call.arguments)), views, language, rng)
    if proposal is None or proposal.tool is None:
        return None
    arguments = proposal.arguments
    if defect == WRONG_TOOL:
        tool = next(tool for tool in tools if tool.name == proposal.tool)
        filled = _fitting(tool, arguments, sample)
        if filled is None:
            return None
        arguments = filled
    tool = next(tool for tool in tools if tool.name == proposal.tool)
    return _with_honest_evidence(GoldCall(tool=tool.name, arguments=arguments), tool, call, sample)


def _likely(call: GoldCall, tools: Sequence[Tool], rng: Random) -> list[Tool]:
    """The other tool that one would sooner take for the right one: it takes the most of the arguments, and at least one."""
    others = [tool for tool in tools if tool.name != call.tool]
    shared = {tool.key: len(tool.properties.keys() & call.arguments.keys()) for tool in others}
    likely = [tool for tool in rng.sample(others, len(others)) if shared[tool.key] or not call.arguments]
    return sorted(likely, key=lambda tool: -shared[tool.key])[:1]


def _fitting(tool: Tool, arguments: Mapping[str, JsonValue], sample: Sample) -> dict[str, JsonValue] | None:
    """The arguments that another tool takes as well, and words of the user's for what it requires besides."""
    kept = {
        name: value for name, value in arguments.items() if not argument_problems(tool, {name: value}, partial=True)
    }
    missing = [name for name in tool.required if name not in kept]
    filled = kept | _read(tool, missing, sample, list(kept.values()))
    return filled if set(tool.required) <= filled.keys() else None


def _invented(tools: Sequence[Tool], sample: Sample, rng: Random) -> GoldCall | None:
    """A call that nobody asked for, of what the user's words may be taken for."""
    for tool in rng.sample(list(tools), len(tools)):
        arguments = _read(tool, tool.required or list(tool.properties)[:_ENOUGH], sample)
        if not set(tool.required) <= arguments.keys() or argument_problems(tool, arguments, partial=False):
            continue
        call = GoldCall(tool=tool.name, arguments=arguments)
        honest = _with_honest_evidence(call, tool, GoldCall(tool=tool.name), sample)
        if honest is not None:
            return honest
    return None


def _read(tool: Tool, names: Sequence[str], sample: Sample, taken: Sequence[JsonValue] = ()) -> dict[str, JsonValue]:
    """What the user's last words may be taken to say for parameters, each value once: of free text a name or what is quoted."""
    text = next(turn.text for turn in reversed(sample.turns) if isinstance(turn, UserTurn))
    found: dict[str, JsonValue] = {}
    for name in names:
        schema = {"title": name, **tool.properties[name]}
        is_text = kind_of(schema) == "text"
        values = _NAMED.findall(text) if is_text else [read_value(text, schema)]
        value = next((one for one in values if one is not None and one not in (*taken, *found.values())), None)
        found |= {} if value is None else {name: value}
    return found


def _with_honest_evidence(call: GoldCall, tool: Tool, before: GoldCall, sample: Sample) -> GoldCall | None:
    """The call with evidence that looks like that of a right one; None where there is none for one of its values.

    A mixed up value brings its words along, another one has its own words in what the user says, and one that is said
    otherwise ("tomorrow") may seem to be read out of the words that were there. Nothing claims to be a default.
    """
    evidence: list[Evidence] = []
    for name, value in call.arguments.items():
        same = [other for other, known in before.arguments.items() if is_same(known, value)]
        source = name if name in same else same[0] if same else ""
        own = [item for item in before.evidence if is_part_of(item.argument, source)] if source else []
        if source and source != name:
            own = [item.with_changes(argument=name) for item in own if item.argument == source]
        if source == name:
            evidence += own  # as it was, also where nothing proved it
            continue
        if name not in tool.properties:
            return None
        found = own or _quoted(name, value, tool, sample) or _read_otherwise(name, before)
        if not found:
            return None
        evidence += found
    return call.with_changes(evidence=tuple(evidence))


def _quoted(name: str, value: JsonValue, tool: Tool, sample: Sample) -> list[Evidence]:
    """Where the user says the value, the latest turn first."""
    schema = {"title": name, **tool.properties[name]}
    for at, turn in reversed([*enumerate(sample.turns)]):
        found = locate(value, schema, turn.text) if isinstance(turn, UserTurn) else None
        if found and isinstance(turn, UserTurn) and found.start < found.end:
            kind: EvidenceKind = "normalised" if found.rule else "span"
            quote = turn.text[found.start : found.end]
            return [
                Evidence(
                    argument=name, kind=kind, turn=at, start=found.start, end=found.end, quote=quote, rule=found.rule
                )
            ]
    return []


def _read_otherwise(name: str, before: GoldCall) -> list[Evidence]:
    """The words for the value that was there, where they are not its letters and a rule reads them."""
    return [item for item in before.evidence if item.argument == name and item.rule and item.kind == "normalised"]


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
