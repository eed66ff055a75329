"""A world made from a document's schemas: tools list, find, read, create and change its things.

population.py says which things exist at first, and a state (episodes.py) what calls have made of
them. effects.py says what tools do, deeds.py does it, and results.py builds the responses.

A world answers in two ways. An episode, which `begin` starts, sees earlier changes and refuses
what is impossible. `answer` is for builds: the same call always gets the same response, changes
leave the world as it is, and what a call creates can be read by its id from then on.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache, partial
from random import Random

from pydantic import JsonValue

from callwright.generators.environments.deeds import answer_in
from callwright.generators.environments.effects import Effects
from callwright.generators.environments.endpoints import Endpoint
from callwright.generators.environments.episodes import START, RefusalError, WorldState
from callwright.generators.environments.linking import is_opaque, is_told, plain
from callwright.generators.environments.population import Population, Thing, made
from callwright.generators.environments.protocol import CallResponse, Effect, without_tool
from callwright.generators.environments.results import AskedCall
from callwright.generators.environments.rules import CompiledRules, RuleScope
from callwright.generators.environments.things import Kinds
from callwright.generators.environments.vocabularies import (
    Vocabulary,
    WorldTrip,
    ruled_vocabulary,
    vocabulary_of_calls,
)
from callwright.generators.tools import argument_problems
from callwright.language.calls.sampling import put_in_order
from callwright.language.schemas import fits
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Arguments, Call, ErrorCode, JsonSchema, Language, Link

SAYABLE = 10  # calls of each tool whose values people can say
STATUSES: Mapping[ErrorCode, tuple[int, ...]] = {
    "not_found": (404, 410),
    "conflict": (409, 422, 400),
    "invalid_value": (422, 400, 405),
}
_SEEDS = 128


class DocumentWorld:
    """A document's tools simulated: answers are a pure function of the seed and the past calls."""

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
        """Create a world from endpoints and from `links`, the parameters that responses supply.

        `effects` and `rules` add what the document doesn't say about its tools. Raises
        ConfigurationError if the effects contradict the document.
        """
        self.name, self.links, self.seed = name, tuple(links), seed
        self.endpoints = {endpoint.tool.name: endpoint for endpoint in endpoints}
        self.tools = tuple(endpoint.tool for endpoint in self.endpoints.values())
        self.kinds = Kinds(tuple(self.endpoints.values()))
        self.effects = Effects(self.kinds, effects or {})
        self.rules, self._standing = rules, START
        # what a world holds at first, and its rules, are kept at hand of the last seeds
        self.population = lru_cache(_SEEDS)(
            lambda seed: Population(self.kinds, seed, self.scope(seed))
        )
        self._scope_at_first = lru_cache(_SEEDS)(RuleScope)

    def begin(self, seed: int | None = None) -> "DocumentEpisode":
        """Begin an episode in the world of this seed, by default the world's own."""
        return DocumentEpisode(self, self.seed if seed is None else seed)

    def writes(self, tool: str) -> bool:
        """Whether a call of the tool is known to change the world."""
        effect = self.effects.by_tool.get(tool)
        return effect is not None and effect.deed != "reads"

    @property
    def unclear(self) -> tuple[str, ...]:
        """The tools whose effect nobody states; they are taken to change nothing."""
        return tuple(name for name in self.endpoints if name not in self.effects.by_tool)

    async def answer(self, call: Call) -> CallResponse:
        """Answer a call on its own: always the same response, and every id is known."""
        response, self._standing = self.respond(self._standing, call, self.seed, is_standing=True)
        return response

    def remember(self, call: Call) -> None:
        """Note a call that was answered elsewhere, so that what it creates can be read here."""
        if self.writes(call.tool):
            _, self._standing = self.respond(self._standing, call, self.seed, is_standing=True)

    def respond(
        self, state: WorldState, call: Call, seed: int, *, is_standing: bool = False
    ) -> tuple[CallResponse, WorldState]:
        """Return the response to a call and the state after it (unchanged if it is refused)."""
        endpoint = self.endpoints.get(call.tool)
        if endpoint is None:
            return without_tool(self.name, call), state
        # what its catalog has fixed is the same for all
        if not endpoint.tool.constants.keys().isdisjoint(call.arguments):
            spoken_arguments = {
                name: one
                for name, one in call.arguments.items()
                if name not in endpoint.tool.constants
            }
            call = call.with_changes(arguments=spoken_arguments)
        try:
            problems = argument_problems(endpoint.tool, call.arguments, partial=False)
            if problems:
                raise RefusalError("invalid_value", " ".join(problems))
            scope = self.scope(seed, START if is_standing else state)
            if scope is not None and call.tool in scope.rules.tools:
                response, after = scope.answer(endpoint.tool, call.arguments), state
            else:
                population = self.population(seed)
                asked = AskedCall(self.effects, endpoint, call, population, is_standing=is_standing)
                response, after = answer_in(asked, state)
        except RefusalError as error:
            return (
                CallResponse(problem=str(error), error=error.error)
                if is_standing
                else _refusal(endpoint, error)
            ), state
        except ReplyError as error:
            return (
                CallResponse(problem=f"What {call.tool!r} returns can't be simulated: {error}"),
                state,
            )
        return CallResponse(response), after._replace(clock=after.clock + 1)

    def scope(self, seed: int, state: WorldState = START) -> RuleScope | None:
        """Return the rules in the world of a seed, or None if there are none."""
        if self.rules is None:
            return None
        changed = {key: one for key, one in state.things.items() if key.kind in self.rules.rows}
        if changed:
            return RuleScope(self.rules, seed, changed)
        return self._scope_at_first(self.rules, seed)

    @cached_property
    def vocabulary(self) -> Vocabulary | None:
        """What people say in this world according to its rules; None without such rules."""
        return self._ruled_vocabulary(self.seed)

    def vocabulary_at(self, seed: int) -> Vocabulary:
        """Return what people say in the world of a seed: by its rules, or of its things."""
        return self._ruled_vocabulary(seed) or self._spoken._replace(
            trip=lambda rng: WorldTrip(partial(self._sayable_call, seed), rng)
        )

    @cached_property
    def _spoken(self) -> Vocabulary:
        return vocabulary_of_calls(self.tools, self.links, ())

    def _sayable_call(self, seed: int, tool: str, rng: Random) -> Call | None:
        endpoint = self.endpoints.get(tool)
        if endpoint is None:
            return None
        return _sayable(self, endpoint, seed, rng.randrange(SAYABLE))

    def _ruled_vocabulary(self, seed: int) -> Vocabulary | None:
        scope = self.scope(seed)
        if scope is not None and scope.rules.stated.parameters:
            return ruled_vocabulary(scope, self.tools)
        return None

    def sayable_calls(self, seed: int) -> tuple[Call, ...]:
        """Return calls with values that users can say: names and properties of existing things."""
        return tuple(
            _sayable(self, endpoint, seed, number)
            for endpoint in self.endpoints.values()
            for number in range(SAYABLE)
        )


class DocumentEpisode:
    """One run in a document's world (`WorldEpisode`); only its state is kept."""

    __slots__ = ("_seed", "_world", "state")

    def __init__(self, world: DocumentWorld, seed: int) -> None:
        self._world, self._seed, self.state = world, seed, START

    def answer(self, call: Call) -> CallResponse:
        """Return the response to a call, and apply what it writes to `state`."""
        response, self.state = self._world.respond(self.state, call, self._seed)
        return response

    def snapshot(self) -> WorldState:
        """Return the current state, which `restore` accepts."""
        return self.state

    def restore(self, snapshot: WorldState) -> None:
        """Return to an earlier state of this world."""
        self.state = snapshot


def _refusal(endpoint: Endpoint, error: RefusalError) -> CallResponse:
    """Return an error response with the status and body that the document declares, if any."""
    declared = {one.status.upper(): one.returns for one in endpoint.errors}
    statuses = STATUSES[error.error]
    status = next((one for one in statuses if str(one) in declared), statuses[0])
    schema = next(
        (declared[one] for one in (str(status), "4XX", "DEFAULT") if one in declared), None
    )
    body: JsonValue = {"error": {"code": error.error, "status": status, "message": str(error)}}
    if schema is not None:
        body = _error_body(plain(schema), status, str(error), endpoint.tool.language)
    return CallResponse(body, problem=f"{status}: {error}", error=error.error)


def _error_body(schema: JsonSchema, status: int, message: str, language: Language) -> JsonValue:
    """Return an error body for its schema: numbers hold the status, texts the message."""
    rng = Random(message)
    match schema:
        case {"properties": dict(members)}:
            required = schema.get("required") or ()
            body_members = {
                name: _error_body(plain(one), status, message, language)
                for name, one in members.items()
            }
            return {
                name: value
                for name, value in body_members.items()
                if value is not None or name in required
            }
        case {"items": dict(item)}:
            return [_error_body(plain(item), status, message, language)]
        case {"type": "integer" | "number"}:
            return status if fits(status, schema) else made("status", schema, language, rng)
        case {"enum": _} | {"const": _} | {"format": _} | {"pattern": _}:
            return made("code", schema, language, rng)
        case {"type": "string"}:
            return message if fits(message, schema) else made("message", schema, language, rng)
    return made("error", schema, language, rng) if schema.get("type") != "object" else {}


def _sayable(world: DocumentWorld, endpoint: Endpoint, seed: int, number: int) -> Call:
    """Return a call of a tool whose values people can say; `number` tells it from others."""
    tool, population = endpoint.tool, world.population(seed)
    linked = {
        link.parameter.partition(".")[0].removesuffix("[]")
        for link in world.links
        if link.tool == tool.name
    }
    entries = world.kinds.entry_of(tool)
    asked_call = AskedCall(
        world.effects, endpoint, Call(tool=tool.name), population, is_standing=True
    )
    makes = asked_call.effect is not None and asked_call.effect.deed == "creates"
    rng = Random(f"{population.seed}:{tool.name}:{number}")
    kind = world.kinds.of_schema(endpoint, *entries) if entries else ""
    # what is made is not one of those that are there
    among = max(1, population.size(kind)) * (2 if makes else 1)
    thing = Thing(kind, rng.randrange(among), {})
    values: Arguments = {}
    for name in tool.choosable:
        if name not in linked and not (is_opaque(name) and not tool.properties[name].get("enum")):
            values |= asked_call.stated_value(name, (thing, entries[1]) if entries else None, rng)
    # people have ids from elsewhere, of things that are there
    for reference in asked_call.references:
        name = reference.parameter
        if name in tool.required and name not in values and is_told(name) and reference.kind:
            field, schema = asked_call.field(reference)
            known = Thing(
                reference.kind, rng.randrange(max(1, population.size(reference.kind))), {}
            )
            values[name] = population.identity(known, field, schema)
    # an end comes after its start, whichever of them a goal states
    put_in_order(values, tool.properties)
    return Call(tool=tool.name, arguments=values)
