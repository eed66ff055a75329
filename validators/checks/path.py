"""Whether a multi-step sample has exactly one shortest path, its own (ComplexFuncBench 2.1.2).

The proof uses the sample: its request, its candidates, the recorded responses, and the rules of
its evidence. The environment gives its links, and answers the calls that other paths would make.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, assert_never

from pydantic import JsonValue

from callwright.generators.environments.picking import entries_of, has, rivals, value_at
from callwright.generators.environments.protocol import Environment
from callwright.generators.kinds import traits_of
from callwright.generators.multi_step.disambiguation import strike_rivals
from callwright.generators.multi_step.resolving import (
    JOINT,
    PickedPlace,
    RememberedEnvironment,
    Resolved,
    as_text,
    resolve,
    shifted,
)
from callwright.generators.multi_step.samples import schema_of
from callwright.generators.multi_step.search import ShortestPath, find_plans
from callwright.generators.multi_step.tasks import BegunWorld
from callwright.generators.shifts.turns import is_path
from callwright.generators.stages import StageContext
from callwright.generators.transcripts import user_texts
from callwright.language.dates import DATE, find_dates
from callwright.language.schemas import kind_of
from callwright.language.text import VERBATIM
from callwright.language.values import locate, read_value
from callwright.validators.checks.declaring import ARGUMENTS, rule
from callwright.validators.checks.verdicts import Answer, Finding, answer_of, contradicted, unproved
from callwright.validators.origins import origin_of
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Composed,
    Default,
    DoubtedFact,
    EntryRule,
    Evidence,
    Goal,
    GoldCall,
    JsonSchema,
    Picked,
    PlannedCall,
    ResultTurn,
    Sample,
    StatedValue,
    Tool,
    UserTurn,
    ValueSource,
)

_PATH_AMISS = DoubtedFact(kind="path_amiss")
_NOT_SEARCHED = DoubtedFact(kind="not_searched")
CallKeys = list[frozenset[str]]


@rule(
    "path",
    "3",
    "Is each value where its evidence says, and no other path as short?",
    source="ComplexFuncBench 2.1.2",
    applies=is_path,
    settles=ARGUMENTS,
    doubts={
        "other_path": "Another path is as short: {other}.",
        "shorter_path": "A shorter path does it: {other}.",
        "entries_compete": "For {name} another entry of what {tool} returns fits as well.",
        "path_amiss": "A value on the path does not come from where it should{argument}.",
        "not_searched": "No search could show that there is no other path.",
    },
)
async def check_path(sample: Sample, context: StageContext) -> Answer:
    """Prove each value by its evidence, and by search that no other path is as short."""
    name, calls = sample.facts.environment, [len(snapshot.calls) for snapshot in sample.snapshots()]
    proof = f"No other path has {len(calls)} steps and {sum(calls)} calls or fewer."
    if name not in context.environments:
        return answer_of(
            [unproved(f"There is no environment {name!r} to search in.", _NOT_SEARCHED)], proof
        )
    world, tools = context.environments[name], context.toolset(sample.candidates)
    if traits_of(sample.kind).is_task:
        world = BegunWorld(world, sample.simulation_seed)
    return answer_of(await _find_in_path(sample, world, tools), proof)


async def _find_in_path(
    sample: Sample, environment: Environment, tools: Sequence[Tool]
) -> list[Finding]:
    """Return what speaks against the sample's path being the only shortest one, if anything."""
    reading = _PathFindings(sample, {tool.name: tool for tool in tools})
    goal = reading.goal()
    if goal is None:
        return reading.findings
    # every call of the sample with the response that it records
    recorded = [
        (call.bare, result)
        for index, turn in enumerate(sample.turns)
        if isinstance(turn, ResultTurn)
        for call, result in zip(sample.calls_at(index - 1), turn.results, strict=False)
    ]
    remembered = RememberedEnvironment(environment, recorded)
    try:
        resolved = await resolve(goal, remembered)
    except RecordError as error:
        return [contradicted(str(error), _PATH_AMISS)]
    choices = [finding for place in resolved.places if (finding := _choice(resolved, place))]
    findings = [*_differences(sample, resolved), *choices, *_unused(sample, goal)]
    if not findings:
        findings += _others(await find_plans(goal, remembered, tools), _keys(resolved))
    if not findings:
        findings += await _replayed(goal, resolved, environment)
    return findings


async def _replayed(goal: Goal, resolved: Resolved, environment: Environment) -> list[Finding]:
    """Return where the environment's answers differ from the record, after striking rivals.

    Rivals are the entries that leave a choice.
    """
    try:
        struck = await strike_rivals(goal, RememberedEnvironment(environment))
    except RecordError as error:
        return [
            contradicted(
                f"The calls can't be made again in the environment: {error}", _NOT_SEARCHED
            )
        ]
    answers = _responses(struck.resolved)
    changed_key = next(
        (key for key, response in _responses(resolved).items() if answers.get(key) != response),
        None,
    )
    if changed_key is None:
        return []
    call = next(
        call for exchange in resolved.path for call in exchange.calls if call.key == changed_key
    )
    reason = (
        f"The environment answers {call.tool} with {call.arguments!r} otherwise than is recorded."
    )
    return [contradicted(reason, DoubtedFact(kind="result_amiss", tool=call.tool))]


def _responses(resolved: Resolved) -> dict[str, JsonValue]:
    return {
        call.key: response
        for exchange in resolved.path
        for call, response in zip(exchange.calls, exchange.responses, strict=True)
    }


def _differences(sample: Sample, resolved: Resolved) -> list[Finding]:
    """Return where the evidence leads to other calls than the gold, or to another step."""
    gold: CallKeys = [
        frozenset(call.bare.key for call in snapshot.calls) for snapshot in sample.snapshots()
    ]
    repeated = [
        call.tool
        for one in sample.snapshots()
        for at, call in enumerate(one.calls)
        if call in one.calls[:at]
    ]
    if repeated:
        fact = DoubtedFact(kind="call_repeated", tool=repeated[0])
        return [contradicted(f"The same call of {repeated[0]} is made twice in one step.", fact)]
    if gold == _keys(resolved):
        return []
    if frozenset().union(*gold) == frozenset().union(*_keys(resolved)):
        if traits_of(sample.kind).is_live:  # calls wait for what the user says on the way
            return []
        reason = (
            "The calls can be made at other steps than they are: the order is not the shortest."
        )
        return [contradicted(reason, DoubtedFact(kind="order_amiss"))]
    led = {call.key: call for exchange in resolved.path for call in exchange.calls}
    extra_call = next(
        (call for key, call in led.items() if key not in frozenset().union(*gold)), None
    )
    if extra_call is None:
        return [contradicted("The gold makes calls that no rule leads to.", _PATH_AMISS)]
    reason = (
        f"The rules lead to {extra_call.tool} with {extra_call.arguments!r}, which is not among the"
        " gold calls."
    )
    return [contradicted(reason, DoubtedFact(kind="asked_not_made", tool=extra_call.tool))]


def _keys(resolved: Resolved) -> CallKeys:
    return [frozenset(call.key for call in exchange.calls) for exchange in resolved.path]


def _choice(resolved: Resolved, place: PickedPlace) -> Finding | None:
    """Return a finding if another entry fits a pick as well and has another value."""
    source = place.source
    entries = entries_of(resolved.path[place.step].responses[place.call], source.entries)
    value = value_at(entries[place.entry].value, source.field)
    others = [
        entry.index
        for entry in rivals(entries, source.where, place.entry)
        if has(entry.value, source.field) and value_at(entry.value, source.field) != value
    ]
    if not others:
        return None
    call = resolved.path[place.step].calls[place.call]
    what = (
        f"entry {others[0]} of {source.entries or 'the response'!r} of {call.tool} fits as well as"
        f" entry {place.entry}"
    )
    reason = f"For {place.leaf.argument!r} of {resolved.call(place.leaf.call).tool}, {what}."
    return unproved(
        reason, DoubtedFact(kind="entries_compete", tool=call.tool, argument=place.leaf.argument)
    )


def _unused(sample: Sample, goal: Goal) -> list[Finding]:
    """Return a finding for dates that the user says and no call takes: a call may be missing."""
    argument_text = repr([planned.arguments for planned in goal.calls])
    texts = user_texts(sample.turns) if traits_of(sample.kind).is_live else [sample.request]
    dates = [
        (text, one) for text in texts for one in find_dates(text) if one.rule in (DATE, VERBATIM)
    ]
    unused = [
        text[found.start : found.end]
        for text, found in dates
        if str(found.value) not in argument_text
    ]
    told = {words: DoubtedFact(kind="words_left", quote=words) for words in unused}
    return [
        unproved(f"The user says {words!r}, which no call takes.", told[words]) for words in unused
    ]


def _others(plans: Sequence[ShortestPath], own: CallKeys) -> list[Finding]:
    if not plans:
        return [unproved("The search found no path at all with these candidates.", _NOT_SEARCHED)]
    sets = [
        [frozenset(call.key for call in exchange.calls) for exchange in plan.path] for plan in plans
    ]
    if own not in sets:
        shorter = [call.tool for exchange in plans[0].path for call in exchange.calls]
        fact = DoubtedFact(kind="shorter_path", other=", ".join(shorter))
        return [contradicted(f"A shorter path meets the request: {', '.join(shorter)}.", fact)]
    if len(plans) > 1:
        other = next(plan for plan, names in zip(plans, sets, strict=True) if names != own)
        known = frozenset().union(*own)
        calls = [
            call for exchange in other.path for call in exchange.calls if call.key not in known
        ]
        rendered = "; ".join(f"{call.tool} with {call.arguments!r}" for call in calls)
        return [
            unproved(
                f"Another path is as short: {rendered}.",
                DoubtedFact(kind="other_path", other=rendered),
            )
        ]
    return []


class _Due(NamedTuple):
    """A gold call's due turn, its tool, and its evidence by argument or part of one."""

    turn: int
    tool: Tool
    evidence: Mapping[str, Evidence]


class _PathFindings:
    """What is found while reading the calls."""

    def __init__(self, sample: Sample, tools: Mapping[str, Tool]) -> None:
        self._sample, self._tools = sample, tools
        self.findings: list[Finding] = []
        self._call_turns = [index for index, _ in sample.call_turns]
        self._places = [
            (turn, at) for turn in self._call_turns for at in range(len(sample.calls_at(turn)))
        ]

    def goal(self) -> Goal | None:
        """Return what the gold calls say that the user wants, None if a finding doubts it."""
        sample = self._sample
        for step, position in sample.facts.wanted:
            if (
                step >= len(self._call_turns)
                or (self._call_turns[step], position) not in self._places
            ):
                self._contradict(f"The user asks for call {step}.{position}, which is missing.")
        calls = [
            self._planned(turn, call, wanted=(step, position) in sample.facts.wanted)
            for step, turn in enumerate(self._call_turns)
            for position, call in enumerate(sample.calls_at(turn))
        ]
        if self.findings:
            return None
        return Goal(
            environment=sample.facts.environment,
            language=sample.language,
            domain=sample.category,
            calls=tuple(calls),
            candidates=sample.candidates,
        )

    def _planned(self, turn: int, call: GoldCall, *, wanted: bool) -> PlannedCall:
        """Return the call with the source of each of its arguments."""
        tool = self._tools.get(call.tool)
        if tool is None:
            self._contradict(f"The tool {call.tool!r} is not among the offered tools.")
            return PlannedCall(tool=call.tool, arguments={}, wanted=wanted)
        due = _Due(turn, tool, {one.argument: one for one in call.evidence})
        arguments = {name: self._source(due, name, value) for name, value in call.arguments.items()}
        return PlannedCall(tool=call.tool, arguments=arguments, wanted=wanted)

    def _source(self, due: _Due, argument: str, value: JsonValue) -> ValueSource:
        if argument in due.evidence:
            return self._leaf(due, due.evidence[argument], value)
        if isinstance(value, dict) and value:
            members = [
                self._source(due, f"{argument}.{name}", part) for name, part in value.items()
            ]
            return Composed(shape="object", names=tuple(value), parts=tuple(members))
        if isinstance(value, list) and value:
            items = [
                self._source(due, f"{argument}[{index}]", part) for index, part in enumerate(value)
            ]
            return Composed(shape="list", parts=tuple(items))
        pieces = str(value).split(JOINT)
        names = [f"{argument}[{index}]" for index in range(len(pieces))]
        if isinstance(value, str) and all(name in due.evidence for name in names):
            joined = [
                self._source(due, name, piece) for name, piece in zip(names, pieces, strict=True)
            ]
            return Composed(shape="joined", parts=tuple(joined))
        self._doubt(
            f"There is no evidence for {argument!r} = {value!r} of {due.tool.name}.", argument
        )
        return Default(value=value)

    def _leaf(self, due: _Due, evidence: Evidence, value: JsonValue) -> ValueSource:
        match evidence.kind:
            case "span" | "normalised":
                self._check_stated(due, evidence, value)
                return StatedValue(value=value, element="text")
            case "default":
                self._check_default(due, evidence, value)
                return Default(value=value)
            case "response":
                return self._picked(due, evidence, value)
            case "person" | "context":
                whence = "A person gave" if evidence.kind == "person" else "The system message says"
                reason = (
                    f"{whence} {evidence.argument!r} = {value!r} of {due.tool.name}; no rule"
                    " tells it."
                )
                self._doubt(reason, evidence.argument)
                return Default(value=value)
            case _:
                assert_never(evidence.kind)

    def _check_stated(self, due: _Due, evidence: Evidence, value: JsonValue) -> None:
        spoken = -1 if evidence.turn is None else evidence.turn
        turn = self._sample.turns[spoken] if 0 <= spoken < due.turn else None
        quote = turn.text[evidence.start : evidence.end] if isinstance(turn, UserTurn) else ""
        if not quote or quote != evidence.quote:
            reason = (
                f"The words {evidence.quote!r} for {evidence.argument!r} do not stand where they"
                " should."
            )
            self._contradict(reason, evidence.argument)
        elif _says_another(value, schema_of(due.tool, evidence.argument), quote):
            reason = (
                f"The words {quote!r} do not say {value!r} for {evidence.argument!r} of"
                f" {due.tool.name}."
            )
            self._contradict(reason, evidence.argument)

    def _check_default(self, due: _Due, evidence: Evidence, value: JsonValue) -> None:
        schema = schema_of(due.tool, evidence.argument)
        declared = [schema[keyword] for keyword in ("default", "const") if keyword in schema]
        if any(
            one == value and isinstance(one, bool) == isinstance(value, bool) for one in declared
        ):
            return
        described = f"{due.tool.description} {schema.get('description', '')}"
        if declared or not re.search(rf"(?<!\w){re.escape(as_text(value))}(?!\w)", described):
            reason = (
                f"Nothing gives {value!r} as the default of {evidence.argument!r} of"
                f" {due.tool.name}."
            )
            self._doubt(reason, evidence.argument)

    def _picked(self, due: _Due, evidence: Evidence, value: JsonValue) -> ValueSource:
        where = f"{evidence.argument!r} of {due.tool.name}"
        origin = origin_of(evidence.path)
        if origin is None or not evidence.rule:
            self._doubt(
                f"The evidence for {where} names no place in a response, or no rule.",
                evidence.argument,
            )
            return Default(value=value)
        turn, position, path = origin
        results = self._sample.turns[turn] if turn < len(self._sample.turns) else None
        taken, problem = f"{where} takes a value from", ""
        if turn >= due.turn:
            problem = f"{taken} turn {turn}, which comes later than turn {due.turn}."
        elif (turn - 1, position) not in self._places:
            problem = f"{taken} {evidence.path}, which answers no call."
        elif not isinstance(results, ResultTurn) or position >= len(results.results):
            problem = f"{taken} {evidence.path}, where there is no response."
        elif not isinstance(rule := evidence.rule, EntryRule):
            problem = f"The evidence for {where} leads nowhere: its rule tells no entry."
        else:
            try:
                response_value = shifted(value_at(results.results[position], path), rule.later_by)
            except RecordError as error:
                problem = f"The evidence for {where} leads nowhere: {error}"
            else:
                if response_value != value and as_text(response_value) != value:
                    self._contradict(
                        f"{where} is {value!r}, but {evidence.path} holds {response_value!r}.",
                        evidence.argument,
                    )
                call = self._places.index((turn - 1, position))
                return Picked(
                    call=call,
                    entries=rule.entries,
                    field=rule.field,
                    where=rule.where,
                    later_by=rule.later_by,
                )
        self._contradict(problem, evidence.argument)
        return Default(value=value)

    def _contradict(self, reason: str, argument: str = "") -> None:
        self.findings.append(
            contradicted(reason, DoubtedFact(kind="path_amiss", argument=argument))
        )

    def _doubt(self, reason: str, argument: str = "") -> None:
        self.findings.append(unproved(reason, DoubtedFact(kind="path_amiss", argument=argument)))


def _says_another(value: JsonValue, schema: JsonSchema, quote: str) -> bool:
    """Whether the words state another value of this type.

    Grounding leaves to readers what no rule reads, and other names of things.
    """
    if kind_of(schema) == "text" and not find_dates(str(value)):
        return False
    return locate(value, schema, quote) is None and read_value(quote, schema) is not None
