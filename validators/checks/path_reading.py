"""A sample's gold calls read back as a goal: each argument by what its evidence says, held against what is recorded."""

import re
from collections.abc import Mapping
from typing import NamedTuple, assert_never

from pydantic import JsonValue

from generators.multi_step.picking import read_rule, value_at
from generators.multi_step.samples import WANTED_TAG, schema_of
from generators.multi_step.sources import JOINT, as_text, shifted
from language.values import locate
from validators.checks.executed import ENVIRONMENT_TAG, tag_of
from validators.checks.findings import Finding, contradicted, unproved
from validators.checks.grounding_parts import origin_of
from warehouse.errors import RecordError
from warehouse.records import (
    CallTurn,
    Composed,
    Default,
    Evidence,
    Goal,
    GoldCall,
    PlannedCall,
    ResultTurn,
    Said,
    Sample,
    Tool,
    UserTurn,
    ValueSource,
)

_PLACE = re.compile(r"\d+\.\d+")


class ReadGoal(NamedTuple):
    """What a sample's gold says that the user wants; no goal where some finding contradicts it or leaves it open."""

    goal: Goal | None
    findings: list[Finding]


def read_goal(sample: Sample, tools: Mapping[str, Tool]) -> ReadGoal:
    """The goal that the gold calls of a sample follow; `tools` are its candidates by name."""
    reading = _Reading(sample, tools)
    wanted = reading.wanted()
    calls = [
        reading.planned(turn, call, wanted=(step, position) in wanted)
        for step, turn in enumerate(reading.call_turns)
        for position, call in enumerate(calls_at(sample, turn))
    ]
    if reading.findings:
        return ReadGoal(None, reading.findings)
    goal = Goal(
        environment=tag_of(sample, ENVIRONMENT_TAG),
        language=sample.language,
        domain=sample.category,
        calls=tuple(calls),
        candidates=sample.candidates,
    )
    return ReadGoal(goal, [])


class _Due(NamedTuple):
    """A gold call, the turn at which it is due, its tool, and its evidence by argument or part of one."""

    turn: int
    tool: Tool
    evidence: Mapping[str, Evidence]


class _Reading:
    """What is found on the way through the calls."""

    def __init__(self, sample: Sample, tools: Mapping[str, Tool]) -> None:
        self.sample, self.tools = sample, tools
        self.findings: list[Finding] = []
        self.call_turns = [index for index, turn in enumerate(sample.turns) if isinstance(turn, CallTurn)]
        self.places = [(turn, at) for turn in self.call_turns for at in range(len(calls_at(sample, turn)))]

    def wanted(self) -> set[tuple[int, int]]:
        """The calls that the user asks for, by step and place; none where the sample does not tell."""
        found: set[tuple[int, int]] = set()
        for word in _PLACE.findall(tag_of(self.sample, WANTED_TAG)):
            step, position = (int(piece) for piece in word.split("."))
            found.add((step, position))
            if step >= len(self.call_turns) or (self.call_turns[step], position) not in self.places:
                self._contradict(f"The user asks for call {word}, which is missing.")
        return found

    def planned(self, turn: int, call: GoldCall, *, wanted: bool) -> PlannedCall:
        """The call with the source of each of its arguments."""
        tool = self.tools.get(call.tool)
        if tool is None:
            self._contradict(f"The tool {call.tool!r} is not among the candidates.")
            return PlannedCall(tool=call.tool, arguments={}, wanted=wanted)
        due = _Due(turn, tool, {one.argument: one for one in call.evidence})
        arguments = {name: self._source(due, name, value) for name, value in call.arguments.items()}
        return PlannedCall(tool=call.tool, arguments=arguments, wanted=wanted)

    def _source(self, due: _Due, argument: str, value: JsonValue) -> ValueSource:
        if argument in due.evidence:
            return self._leaf(due, due.evidence[argument], value)
        if isinstance(value, dict) and value:
            members = [self._source(due, f"{argument}.{name}", part) for name, part in value.items()]
            return Composed(shape="object", names=tuple(value), parts=tuple(members))
        if isinstance(value, list) and value:
            items = [self._source(due, f"{argument}[{index}]", part) for index, part in enumerate(value)]
            return Composed(shape="list", parts=tuple(items))
        pieces = str(value).split(JOINT)
        names = [f"{argument}[{index}]" for index in range(len(pieces))]
        if isinstance(value, str) and all(name in due.evidence for name in names):
            joined = [self._source(due, name, piece) for name, piece in zip(names, pieces, strict=True)]
            return Composed(shape="joined", parts=tuple(joined))
        self._doubt(f"There is no evidence for {argument!r} = {value!r} of {due.tool.name}.")
        return Default(value=value)

    def _leaf(self, due: _Due, evidence: Evidence, value: JsonValue) -> ValueSource:
        match evidence.kind:
            case "span" | "normalised":
                self._check_said(due, evidence, value)
                return Said(value=value, element="text")
            case "default":
                self._check_default(due, evidence, value)
                return Default(value=value)
            case "response":
                return self._picked(due, evidence, value)
            case "person":
                self._doubt(f"A person gave {evidence.argument!r} = {value!r} of {due.tool.name}; no rule tells it.")
                return Default(value=value)
            case _:
                assert_never(evidence.kind)

    def _check_said(self, due: _Due, evidence: Evidence, value: JsonValue) -> None:
        spoken = -1 if evidence.turn is None else evidence.turn
        turn = self.sample.turns[spoken] if 0 <= spoken < due.turn else None
        quote = turn.text[evidence.start : evidence.end] if isinstance(turn, UserTurn) else ""
        if not quote or quote != evidence.quote:
            self._contradict(f"The words {evidence.quote!r} for {evidence.argument!r} do not stand where they should.")
        elif locate(value, schema_of(due.tool, evidence.argument), quote) is None:
            self._contradict(f"The words {quote!r} do not say {value!r} for {evidence.argument!r} of {due.tool.name}.")

    def _check_default(self, due: _Due, evidence: Evidence, value: JsonValue) -> None:
        schema = schema_of(due.tool, evidence.argument)
        declared = [schema[keyword] for keyword in ("default", "const") if keyword in schema]
        if any(one == value and isinstance(one, bool) == isinstance(value, bool) for one in declared):
            return
        told = f"{due.tool.description} {schema.get('description', '')}"
        if declared or not re.search(rf"(?<!\w){re.escape(as_text(value))}(?!\w)", told):
            self._doubt(f"Nothing gives {value!r} as the default of {evidence.argument!r} of {due.tool.name}.")

    def _picked(self, due: _Due, evidence: Evidence, value: JsonValue) -> ValueSource:
        where = f"{evidence.argument!r} of {due.tool.name}"
        origin = origin_of(evidence.path)
        if origin is None or not evidence.rule:
            self._doubt(f"The evidence for {where} names no place in a response, or no rule.")
            return Default(value=value)
        turn, position, path = origin
        results = self.sample.turns[turn] if turn < len(self.sample.turns) else None
        if turn >= due.turn:
            self._contradict(f"{where} takes a value from turn {turn}, which comes later than turn {due.turn}.")
        elif not isinstance(results, ResultTurn) or position >= len(results.results):
            self._contradict(f"{where} takes a value from {evidence.path}, where there is no response.")
        else:
            return self._read_rule(evidence, (turn, position), _Held(results.results[position], path, value), where)
        return Default(value=value)

    def _read_rule(self, evidence: Evidence, place: tuple[int, int], held: "_Held", where: str) -> ValueSource:
        try:
            picked = read_rule(evidence.rule, self.places.index((place[0] - 1, place[1])))
            value = shifted(value_at(held.response, held.path), picked.later_by)
        except RecordError as error:
            self._contradict(f"The evidence for {where} leads nowhere: {error}")
            return Default(value=held.value)
        if value != held.value and as_text(value) != held.value:
            self._contradict(f"{where} is {held.value!r}, but {evidence.path} holds {value!r}.")
        return picked

    def _contradict(self, reason: str) -> None:
        self.findings.append(contradicted(reason))

    def _doubt(self, reason: str) -> None:
        self.findings.append(unproved(reason))


class _Held(NamedTuple):
    """A response, a path in it, and the value that an argument has from there."""

    response: JsonValue
    path: str
    value: JsonValue


def calls_at(sample: Sample, turn: int) -> tuple[GoldCall, ...]:
    """The calls that are due at a turn."""
    due = sample.turns[turn]
    return due.calls if isinstance(due, CallTurn) else ()
