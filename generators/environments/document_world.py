"""A world made of a document's own schemas: things with ids of their own, which its tools list, find, read, make and change.

What things are there at first is the population's (population.py), and what calls have made of them is a state (episodes.py). What
tools do to them is told by effects (effects.py) and done in deeds.py; what they are answered stands in results.py.

A world answers in two ways: an episode, which `begin` starts, sees what was written and refuses what can't be; `answer` is for
builds, where the same call is always answered alike: changes leave the world as it is, and what a call makes can be read by its
id from then on.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.deeds import answer_in
from callwright.generators.environments.effects import find_effects
from callwright.generators.environments.endpoints import Endpoint
from callwright.generators.environments.episodes import START, RefusalError, WorldState
from callwright.generators.environments.linking import is_opaque, plain
from callwright.generators.environments.population import Population, Thing, made
from callwright.generators.environments.protocol import CallResponse, Effect
from callwright.generators.environments.results import AskedCall
from callwright.generators.environments.rules import CompiledRules, RuleScope
from callwright.generators.environments.things import Kinds
from callwright.generators.environments.trips import ruled_vocabulary
from callwright.generators.environments.vocabularies import Vocabulary
from callwright.generators.tools import argument_problems
from callwright.language.schemas import fits
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Arguments, Call, ErrorCode, JsonSchema, Language, Link, Tool

SAYABLE = 10  # calls of each tool whose values people can say
STATUSES: Mapping[ErrorCode, tuple[int, ...]] = {
    "not_found": (404, 410), "conflict": (409, 422, 400), "invalid_value": (422, 400, 405),
}  # fmt: skip
_POPULATIONS = 8  # that are kept at hand, of as many seeds


class _Answered(NamedTuple):
    response: CallResponse
    state: WorldState


class DocumentWorld:
    """Answers the calls of a document's tools, with nobody behind them: a pure function of its seed and the calls so far."""

    def __init__(
        self,
        name: str,
        endpoints: Sequence[Endpoint],
        links: Sequence[Link],
        *,
        seed: int = 0,
        effects: Mapping[str, Effect] | None = None,
        rules: CompiledRules | None = None,
    ) -> None:
        """`links` say which parameters a response gives; `effects` and `rules` what the document does not tell of tools.

        Raises ConfigurationError where what is said of effects contradicts the document.
        """
        self.name, self.links, self.seed = name, tuple(links), seed
        self.endpoints = {endpoint.tool.name: endpoint for endpoint in endpoints}
        self.tools = tuple(endpoint.tool for endpoint in self.endpoints.values())
        self.kinds = Kinds(tuple(self.endpoints.values()))
        self.effects = find_effects(tuple(self.endpoints.values()), self.kinds, effects)
        self._populations: dict[int, Population] = {}
        self._standing = START
        self.rules = rules
        self._scopes: dict[int, RuleScope] = {}

    def begin(self, seed: int | None = None) -> "DocumentEpisode":
        """A new episode in the world of this seed, the world's own unless stated."""
        return DocumentEpisode(self, self.seed if seed is None else seed)

    def writes(self, tool: str) -> bool:
        """Whether a call of the tool changes the world, as far as that is known."""
        effect = self.effects.by_tool.get(tool)
        return effect is not None and effect.deed != "reads"

    @property
    def unclear(self) -> tuple[str, ...]:
        """The tools whose effect neither the document nor the recipe tells: they change nothing."""
        return tuple(name for name in self.endpoints if name not in self.effects.by_tool)

    async def answer(self, call: Call) -> CallResponse:
        """The response to a call for itself: the same call is answered alike, whatever was changed, and any id is known."""
        response, self._standing = self.respond(self._standing, call, self.seed, is_standing=True)
        return response

    def remember(self, call: Call) -> None:
        """Take note of a call that is answered elsewhere: what it makes can be read here as well."""
        if self.writes(call.tool):
            self._standing = self.respond(self._standing, call, self.seed, is_standing=True).state

    def respond(self, state: WorldState, call: Call, seed: int, *, is_standing: bool = False) -> _Answered:
        """What a call is answered in a state, and the state that it leads to: the same state where it is refused."""
        endpoint = self.endpoints.get(call.tool)
        if endpoint is None:
            return _Answered(CallResponse(problem=f"{self.name} has no tool {call.tool!r}.", error="not_found"), state)
        call = _without_constants(call, endpoint.tool)
        try:
            problems = argument_problems(endpoint.tool, call.arguments, partial=False)
            if problems:
                raise RefusalError("invalid_value", " ".join(problems))
            scope = self.scope(seed, START if is_standing else state)
            if scope is not None and scope.answers(call.tool):
                response, after = scope.answer(endpoint.tool, call.arguments), state
            else:
                population = self.population(seed)
                asked = AskedCall(self.effects, endpoint, call, population, is_standing=is_standing)
                response, after = answer_in(asked, state)
        except RefusalError as error:
            return _Answered(self._refusal(endpoint, error, is_standing=is_standing), state)
        except ReplyError as error:
            return _Answered(CallResponse(problem=f"What {call.tool!r} returns can't be simulated: {error}"), state)
        return _Answered(CallResponse(response), after._replace(clock=after.clock + 1))

    def _refusal(self, endpoint: Endpoint, error: RefusalError, *, is_standing: bool) -> CallResponse:
        if is_standing:
            return CallResponse(problem=str(error), error=error.error)
        status, schema = _declared(endpoint, error.error)
        body: JsonValue = {"error": {"code": error.error, "status": status, "message": str(error)}}
        if schema is not None:
            body = _error_body(schema, status, str(error), endpoint.tool.language)
        return CallResponse(body, problem=f"{status}: {error}", error=error.error)

    def population(self, seed: int) -> Population:
        """What the world of a seed holds at first; that of a few seeds is kept at hand."""
        if seed not in self._populations:
            if len(self._populations) >= _POPULATIONS:
                self._populations.pop(next(iter(self._populations)))
            self._populations[seed] = Population(self.kinds, seed, self.scope(seed))
        return self._populations[seed]

    def scope(self, seed: int, state: WorldState = START) -> RuleScope | None:
        """The rules in the world of a seed, None where there are none; those of a few seeds are kept at hand."""
        if self.rules is None:
            return None
        changed = {key: one for key, one in state.things.items() if key.kind in self.rules.rows}
        if changed:
            return RuleScope(self.rules, seed, changed)
        if seed not in self._scopes:
            if len(self._scopes) >= _POPULATIONS:
                self._scopes.pop(next(iter(self._scopes)))
            self._scopes[seed] = RuleScope(self.rules, seed)
        return self._scopes[seed]

    @cached_property
    def vocabulary(self) -> Vocabulary | None:
        """What people say in it, as its rules tell; None where they don't."""
        scope = self.scope(self.seed)
        return ruled_vocabulary(scope, self.tools) if scope is not None and scope.rules.stated.parameters else None

    @cached_property
    def sayable_calls(self) -> tuple[Call, ...]:
        """Calls whose values people can say: of things that there are, by their names and what they are like."""
        return tuple(call for endpoint in self.endpoints.values() for call in _sayable(self, endpoint))


class DocumentEpisode:
    """One run in a document's world (`WorldEpisode`); nothing of it is kept but its state."""

    __slots__ = ("_seed", "_world", "state")

    def __init__(self, world: DocumentWorld, seed: int) -> None:
        """Begin as the world is at first."""
        self._world, self._seed = world, seed
        self.state = START

    def answer(self, call: Call) -> CallResponse:
        """The response to a call; what it writes is in `state` from then on."""
        response, self.state = self._world.respond(self.state, call, self._seed)
        return response

    def snapshot(self) -> WorldState:
        """The state, to go back to."""
        return self.state

    def restore(self, snapshot: WorldState) -> None:
        """Go back to a state of this world."""
        self.state = snapshot


def _declared(endpoint: Endpoint, error: ErrorCode) -> tuple[int, JsonSchema | None]:
    """The status by which an endpoint tells an error, and the schema of its body; None where the document declares none."""
    declared = {one.status.upper(): one.returns for one in endpoint.errors}
    for status in STATUSES[error]:
        if str(status) in declared:
            return status, plain(declared[str(status)])
    return STATUSES[error][0], next((plain(declared[one]) for one in ("4XX", "DEFAULT") if one in declared), None)


def _error_body(schema: JsonSchema, status: int, message: str, language: Language) -> JsonValue:
    """The body of an error as its schema has it: the status where a number stands, the message where a text does."""
    rng = Random(message)
    match schema:
        case {"properties": dict(members)}:
            required = schema.get("required") or ()
            told = {name: _error_body(plain(one), status, message, language) for name, one in members.items()}
            return {name: value for name, value in told.items() if value is not None or name in required}
        case {"items": dict(item)}:
            return [_error_body(plain(item), status, message, language)]
        case {"type": "integer" | "number"}:
            return status if fits(status, schema) else made("status", schema, language, rng)
        case {"enum": _} | {"const": _} | {"format": _} | {"pattern": _}:
            return made("code", schema, language, rng)
        case {"type": "string"}:
            return message if fits(message, schema) else made("message", schema, language, rng)
    return made("error", schema, language, rng) if schema.get("type") != "object" else {}


def _sayable(world: DocumentWorld, endpoint: Endpoint) -> Iterator[Call]:
    """Calls of a tool whose values people can say."""
    tool, population = endpoint.tool, world.population(world.seed)
    linked = {link.parameter.partition(".")[0].removesuffix("[]") for link in world.links if link.tool == tool.name}
    entries = world.kinds.entry_of(tool)
    asked = AskedCall(world.effects, endpoint, Call(tool=tool.name), population, is_standing=True)
    makes = asked.effect is not None and asked.effect.deed == "creates"
    for number in range(SAYABLE):
        rng = Random(f"{population.seed}:{tool.name}:{number}")
        kind = world.kinds.of_schema(endpoint, *entries) if entries else ""
        at = rng.randrange(
            max(1, population.size(kind)) * (2 if makes else 1)
        )  # what is made is not one of those that are there
        thing = Thing(kind, at, {}) if entries else None
        values: Arguments = {}
        for name in tool.choosable:
            if name not in linked and not (is_opaque(name) and not tool.properties[name].get("enum")):
                values |= asked.stated_value(name, (thing, entries[1]) if thing and entries else None, rng)
        yield Call(tool=tool.name, arguments=values)


def _without_constants(call: Call, tool: Tool) -> Call:
    """The call without what its catalog has fixed, which is the same for all."""
    stated = {name: value for name, value in call.arguments.items() if name not in tool.constants}
    return call if len(stated) == len(call.arguments) else call.with_changes(arguments=stated)
