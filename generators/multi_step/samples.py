"""Build a path's sample: request, calls, responses, evidence for each argument, and an answer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.episodes import world_of
from callwright.generators.environments.protocol import Environment
from callwright.generators.multi_step import ONE_DOMAIN, SEVERAL_DOMAINS, TASKS
from callwright.generators.multi_step.answers import RESULT_PLACE, with_worded_answer
from callwright.generators.multi_step.resolving import (
    RememberedEnvironment,
    Resolved,
    SourceLeaf,
    leaves_of,
    resolve,
    sources_in,
)
from callwright.generators.multi_step.tasks import environment_of, find_changes, validate_path
from callwright.generators.stages import StageContext
from callwright.generators.stated_values import found_evidence
from callwright.generators.transcripts import walk
from callwright.language.text import Found
from callwright.language.values import locate
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    AskedField,
    CallPlace,
    CallTurn,
    Evidence,
    Goal,
    GoalPath,
    GoldCall,
    JsonSchema,
    Origin,
    Picked,
    ResultTurn,
    Sample,
    SampleFacts,
    StatedValue,
    Tool,
    Turn,
    UserTurn,
)

STAGE = "generalisation"
CROSS = "Cross"
TURNS_A_STEP = 2  # a turn with the calls, and one with their results; the request is turn 0
# the response has a number where the argument has its text, or the other way round
AS_TEXT = "text"


def kind_of_domain(domain: str) -> str:
    """Return the kind of a domain's samples."""
    return SEVERAL_DOMAINS if domain == CROSS else ONE_DOMAIN


async def write_sample(path: GoalPath, context: StageContext, template: GoalPath) -> Sample:
    """Write the sample of a disambiguated path, either the template or a variant of it.

    Raises RecordError if the goal leads to other calls than the path has.
    """
    goal = path.traced.worded.goal
    environment = environment_of(goal, context)
    recorded = [
        pair
        for exchange in path.path
        for pair in zip(exchange.calls, exchange.responses, strict=True)
    ]
    resolved = await resolve(goal, RememberedEnvironment(environment, recorded))
    if [exchange.calls for exchange in resolved.path] != [exchange.calls for exchange in path.path]:
        problem = "The goal leads to other calls than the path has, so that no evidence fits them."
        raise RecordError(problem)
    world = world_of(environment) if goal.kind in TASKS else None
    if world is None:
        validate_path(path.path, path.strikes, environment)
    calls = [
        (planned, resolved.positions[at]) for at, planned in enumerate(goal.calls) if planned.wanted
    ]
    sample = Sample(
        kind=goal.kind or kind_of_domain(goal.domain),
        language=goal.language,
        category=goal.domain,
        candidates=tuple(key for key in goal.candidates if key not in path.removed),
        turns=_turns(path, resolved, environment),
        facts=SampleFacts(
            environment=goal.environment,
            template=template.traced.worded.goal.key,
            simulation=world.seed if world else None,
            wanted=tuple(CallPlace(*place) for place in sorted({place for _, place in calls})),
            asked=tuple(
                AskedField(*place, field) for planned, place in calls for field in planned.asked
            ),
        ),
        origin=Origin(
            stage=STAGE, parents=(template.key,), seed=goal.seed, model=context.chat.name
        ),
        changes=find_changes(path.path, path.strikes, world) if world else (),
    )
    return await with_worded_answer(sample, context)


def _turns(path: GoalPath, resolved: Resolved, environment: Environment) -> tuple[Turn, ...]:
    goal = path.traced.worded.goal
    tools = {tool.name: tool for tool in environment.tools}
    turns: list[Turn] = [UserTurn(text=path.request)]
    for step, exchange in enumerate(path.path):
        calls: list[GoldCall] = []
        for position, call in enumerate(exchange.calls):
            index, tool = resolved.positions.index((step, position)), tools[call.tool]
            evidence = evidence_of(index, goal, resolved, path.request, tool)
            gold = GoldCall(
                tool=call.tool,
                arguments=call.arguments,
                evidence=evidence,
                constants=tool.constants,
            )
            calls.append(gold)
        turns += [
            CallTurn(calls=tuple(calls), executed=True),
            ResultTurn(results=exchange.responses),
        ]
    return tuple(turns)


def place_of(evidence: Evidence) -> tuple[int, int] | None:
    """Return step and place of the call whose response gave a value; None for other evidence."""
    found = RESULT_PLACE.match(evidence.path) if evidence.kind == "response" else None
    return (int(found[1]) // TURNS_A_STEP - 1, int(found[2])) if found else None


def moved_facts(
    source: Sample, steps: Sequence[Sequence[GoldCall]], failed: int | None = None
) -> SampleFacts:
    """Return the source's facts, with wanted calls and asked fields where these calls stand now.

    The step `failed` does nothing that is wanted.
    """
    stands = {key: place for place, key in _places(steps) if place[0] != failed}
    own = _places([turn.calls for _, turn in source.call_turns])
    places = {place: stands[key] for place, key in own if key in stands}
    wanted = sorted(places[place] for place in source.facts.wanted if place in places)
    asked = [one for one in source.facts.asked if (one.step, one.place) in places]
    return source.facts.with_changes(
        wanted=tuple(CallPlace(*place) for place in wanted),
        asked=tuple(AskedField(*places[one.step, one.place], one.path) for one in asked),
    )


def _places(steps: Sequence[Sequence[GoldCall]]) -> Iterator[tuple[tuple[int, int], str]]:
    for step, calls in enumerate(steps):
        yield from (((step, place), call.bare.key) for place, call in enumerate(calls))


def schema_of(tool: Tool, argument: str) -> JsonSchema:
    """Return the schema of an argument or part of it ("legs[0].fromId"), empty if unknown."""
    pieces = argument.replace("]", "").replace("[", ".").split(".")
    schema: JsonSchema = {**tool.properties.get(pieces[0], {}), "title": pieces[0]}
    for piece in pieces[1:]:
        if piece.isdecimal():
            inner = schema.get("items")
        else:
            inner = (schema.get("properties") or {}).get(piece)
        schema = {
            **(inner or {}),
            "title": piece if not piece.isdecimal() else schema.get("title", ""),
        }
    return schema


def find_stated(argument: str, value: JsonValue, tool: Tool, request: str) -> Found | None:
    """Find where a request states the value of an argument or of a part of one."""
    return locate(value, schema_of(tool, argument), request)


def unstated(
    goal: Goal, request: str, tools: Mapping[str, Tool]
) -> list[tuple[SourceLeaf, StatedValue]]:
    """Return what the user must state for the goal but the request does not; `tools` by name."""
    return [
        (leaf, stated)
        for leaf, stated in sources_in(goal, StatedValue)
        if find_stated(leaf.argument, stated.value, tools[goal.calls[leaf.call].tool], request)
        is None
    ]


def evidence_of(
    call: int, goal: Goal, resolved: Resolved, request: str, tool: Tool
) -> tuple[Evidence, ...]:
    """Return the evidence for each part of a goal call's arguments; unsaid values have none."""
    places = {place.leaf.argument: place for place in resolved.places if place.leaf.call == call}
    evidence: list[Evidence] = []
    for leaf in leaves_of(call, goal.calls[call].arguments):
        if isinstance(leaf.source, Picked):
            place = places[leaf.argument]
            turn = TURNS_A_STEP * (place.step + 1)
            dot = "" if place.path.startswith("[") or not place.path else "."
            evidence.append(
                Evidence(
                    argument=leaf.argument,
                    kind="response",
                    turn=turn,
                    path=f"turns[{turn}].results[{place.call}]{dot}{place.path}",
                    rule=leaf.source.rule,
                )
            )
        elif isinstance(leaf.source, StatedValue):
            span = find_stated(leaf.argument, leaf.source.value, tool, request)
            evidence += [found_evidence(leaf.argument, span, request, 0)] if span else []
        else:
            evidence.append(Evidence(argument=leaf.argument, kind="default"))
    return tuple(evidence)


class _GoalPlace(NamedTuple):
    turn: int
    path: str
    rule: str = ""


class _Leaf(NamedTuple):
    argument: str
    value: JsonValue
    schema: JsonSchema


def add_evidence(turns: Sequence[Turn], tools: Mapping[str, Tool]) -> tuple[Turn, ...]:
    """Add evidence to every gold call where it can be found, one for each part of an argument."""
    responses = _Responses()
    user_texts: list[tuple[int, str]] = []
    new_turns: list[Turn] = []
    for index, turn in enumerate(turns):
        if isinstance(turn, UserTurn):
            user_texts.append((index, turn.text))
        elif isinstance(turn, ResultTurn):
            responses.add(index, turn)
        elif isinstance(turn, CallTurn):
            calls: list[GoldCall] = []
            for call in turn.calls:
                properties = tools[call.tool].properties if call.tool in tools else {}
                leaves = (
                    _Leaf(name, value, properties.get(name) or {})
                    for name, value in call.arguments.items()
                )
                proofs = [
                    _evidence(part, user_texts, responses)
                    for leaf in leaves
                    for part in _parts(leaf, responses)
                ]
                calls.append(
                    call.with_changes(evidence=tuple(one for one in proofs if one is not None))
                )
            new_turns.append(turn.with_changes(calls=tuple(calls)))
            continue
        new_turns.append(turn)
    return tuple(new_turns)


class _Responses:
    """The last place of every value of the responses so far, by type and value and by text."""

    def __init__(self) -> None:
        self._places: dict[tuple[bool, JsonValue], _GoalPlace] = {}  # text or number, and which
        self._texts: dict[str, _GoalPlace] = {}

    def add(self, turn: int, results: ResultTurn) -> None:
        """Add the responses of a turn; within one turn, the first place of a value counts."""
        places: dict[tuple[bool, JsonValue], _GoalPlace] = {}
        texts: dict[str, _GoalPlace] = {}
        for number, result in enumerate(results.results):
            for path, value in walk(result, f"turns[{turn}].results[{number}]"):
                if value not in (None, "") and not isinstance(value, bool | dict | list):
                    places.setdefault((isinstance(value, str), value), _GoalPlace(turn, path))
                    texts.setdefault(str(value), _GoalPlace(turn, path, AS_TEXT))
        self._places |= places
        self._texts |= texts

    def find(self, value: JsonValue) -> _GoalPlace | None:
        """Return where a response has this value; empty values and booleans prove nothing."""
        if value in (None, "", [], {}) or isinstance(value, bool | list | dict):
            return None
        return self._places.get((isinstance(value, str), value)) or self._texts.get(str(value))


def _parts(leaf: _Leaf, responses: _Responses) -> Iterator[_Leaf]:
    """Yield the single values of an argument: members, items, or comma-separated parts."""
    name, value, schema = leaf
    if isinstance(value, list) and value:
        for at, item in enumerate(value):
            yield from _parts(_Leaf(f"{name}[{at}]", item, schema.get("items") or {}), responses)
        return
    if isinstance(value, dict) and value:
        members = schema.get("properties") or {}
        for key, member in value.items():
            yield from _parts(
                _Leaf(f"{name}.{key}", member, {"title": key, **(members.get(key) or {})}),
                responses,
            )
        return
    is_list = isinstance(value, str) and "," in value and responses.find(value) is None
    parts = [part.strip() for part in str(value).split(",")] if is_list else []
    if any(responses.find(part) is not None for part in parts):
        yield from (_Leaf(f"{name}[{at}]", part, schema) for at, part in enumerate(parts))
    else:
        yield leaf


def _evidence(
    leaf: _Leaf, stated: Sequence[tuple[int, str]], responses: _Responses
) -> Evidence | None:
    """Return evidence from verbatim words, else a response, other words, or the default."""
    spans = [
        (turn, text, found)
        for turn, text in stated
        if (found := locate(leaf.value, leaf.schema, text)) is not None
    ]
    exact = next((span for span in spans if not span[2].rule), None)
    place = responses.find(leaf.value)
    if exact is None and place is not None:
        return Evidence(
            argument=leaf.argument,
            kind="response",
            turn=place.turn,
            path=place.path,
            rule=place.rule,
        )
    if spans:
        turn, text, value_span = exact or spans[0]
        return found_evidence(leaf.argument, value_span, text, turn)
    if "default" in leaf.schema and leaf.schema["default"] == leaf.value:
        return Evidence(argument=leaf.argument, kind="default")
    return None
