"""A world made of a document's own schemas: things with ids of their own, which its tools list, find, read, make and change.

What things are there at first is the population's (population.py); what tools do to them is told by effects (effects.py); what
calls have made of them is a state (episodes.py). A world answers in two ways: an episode, which `begin` starts, sees what was
written and refuses what can't be; `answer` is for builds, where the same call is always answered alike: changes leave the world
as it is, and what a call makes can be read by its id from then on.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from random import Random
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.generators.environments.effects import find_effects
from callwright.generators.environments.endpoints import SAFE, Endpoint
from callwright.generators.environments.episodes import START, Overlaid, RefusalError, ThingKey, WorldState
from callwright.generators.environments.linking import (
    IDENTIFYING,
    is_opaque,
    is_wrapping,
    plain,
    thing_of_title,
    words_of,
)
from callwright.generators.environments.population import (
    FEWEST_PARTS,
    NAMING,
    Population,
    Thing,
    Told,
    made,
    number_of_made,
)
from callwright.generators.environments.protocol import CallResponse, Effect
from callwright.generators.environments.rules import MADE_FROM, CompiledRules, RuleScope
from callwright.generators.environments.things import Kinds, Reference
from callwright.generators.environments.trips import ruled_vocabulary
from callwright.generators.environments.vocabularies import Vocabulary
from callwright.generators.tools import argument_problems
from callwright.language.calls.entries import is_query
from callwright.language.calls.sampling import make_value
from callwright.language.schemas import fits, json_type
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Arguments, Call, ErrorCode, JsonSchema, Language, Link, Tool, content_key

MOST_ENTRIES = 8
FEWEST_ENTRIES = 5
SAYABLE = 10  # calls of each tool whose values people can say
STATUSES: Mapping[ErrorCode, tuple[int, ...]] = {
    "not_found": (404, 410), "conflict": (409, 422, 400), "invalid_value": (422, 400, 405),
}  # fmt: skip
_DEEPEST = 4
_TRIES = 40
_POPULATIONS = 8  # that are kept at hand, of as many seeds
_LONGEST_LIST = frozenset({"limit", "size", "count", "top", "max", "take", "results"})
_COUNTING = frozenset({"total", "count", "hits", "totalcount"})
_ALONE: JsonSchema = {"type": "object", "properties": {"success": {"const": True}}}
_TOKEN = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])[A-Za-z0-9_-]{12,}(,\S*)?")  # what nobody says
_TEXT: JsonSchema = {"type": "string"}
_STATED = ("string", "integer", "number", "boolean")


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
        self._references: dict[str, tuple[Reference, ...]] = {}
        self._standing = START
        self.rules = rules
        self._scopes: dict[int, RuleScope] = {}

    def begin(self, seed: int | None = None) -> "DocumentEpisode":
        """A new episode in the world of this seed, the world's own unless stated."""
        return DocumentEpisode(self, self.seed if seed is None else seed)

    def writes(self, tool: str) -> bool:
        """Whether a call of the tool changes the world, as far as that is known."""
        return tool in self.effects and self.effects[tool].deed != "reads"

    @property
    def unclear(self) -> tuple[str, ...]:
        """The tools whose effect neither the document nor the recipe tells: they change nothing."""
        return tuple(name for name in self.endpoints if name not in self.effects)

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
                asked = _Asked(self, endpoint, call, self.population(seed), is_standing=is_standing)
                response, after = asked.answered(state)
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

    def references(self, endpoint: Endpoint) -> tuple[Reference, ...]:
        """The parameters of a tool that name things."""
        if endpoint.tool.name not in self._references:
            self._references[endpoint.tool.name] = self.kinds.references(endpoint)
        return self._references[endpoint.tool.name]

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


class _Asked:
    """A call that is being answered in a state."""

    def __init__(
        self, world: DocumentWorld, endpoint: Endpoint, call: Call, population: Population, *, is_standing: bool
    ) -> None:
        self._world, self._kinds, self._population = world, world.kinds, population
        self._endpoint, self._arguments, self._call = endpoint, call.arguments, call
        self._effect = world.effects.get(call.tool)
        self._is_standing = is_standing
        self._seen: set[str] = set()  # the kinds of the things in what is being told
        self._state = START
        self._touched: frozenset[str] = frozenset()
        self._subject: Thing | None = None  # the thing that the call writes
        self._listed: int | None = None  # how many things there were to be listed
        self._found: list[Thing] = []  # made up for a list, in a standing world

    @cached_property
    def _rng(self) -> Random:
        """Chance for what the call alone brings."""
        return Random(f"{self._population.seed}:{self._call.key}")

    def answered(self, state: WorldState) -> tuple[JsonValue, WorldState]:
        """The response and the state after it. Raises RefusalError where the call can't be done."""
        self._see(state)
        effect = self._effect
        if not self._is_standing:
            self._validate_references()
        if effect is None or effect.deed == "reads":
            response = self._result()
            return response, self._noted(state)
        if effect.deed == "creates":
            self._subject, state = self._create(effect, state)
            self._see(state)
            return self._result(), state
        self._subject = thing = self._meant_by(effect.kind, effect.id)
        if self._is_standing:
            return self._result(), state
        if effect.deed == "deletes":
            return self._result(), self._delete(thing, state)
        state = self._update(effect, thing, state)
        self._see(state)
        self._subject = self._current(thing._replace(given={} if not thing.id else thing.given))
        return self._result(), state

    def _noted(self, state: WorldState) -> WorldState:
        """The state with things that a list has made up, which can be read from then on."""
        for thing in self._found:
            state = state.with_thing(ThingKey(thing.kind, thing.id), Overlaid(None, thing.given))
        return state

    def _see(self, state: WorldState) -> None:
        self._state, self._touched = state, frozenset(key.kind for key in state.things)

    # What things there are

    def _key(self, thing: Thing) -> ThingKey:
        if thing.id:
            return ThingKey(thing.kind, thing.id)
        field = self._kinds.identities.get(thing.kind, "")
        schema = self._field_schema(thing.kind, field)
        known = self._population.identity(thing._replace(given={}), field, schema) if field else thing.number
        return ThingKey(thing.kind, str(known))

    def _field_schema(self, kind: str, field: str) -> JsonSchema:
        known = self._kinds.fields.get(kind, {}).get("properties", {})
        return known.get(field) or _TEXT

    def _current(self, thing: Thing) -> Thing | None:
        """A thing as calls have left it, None where it is gone."""
        if thing.kind not in self._touched:
            return thing
        overlaid = self._state.things.get(self._key(thing))
        if overlaid is None:
            return thing
        return None if overlaid.after is None else thing._replace(given={**thing.given, **overlaid.after})

    def _created(self, kind: str) -> list[Thing]:
        """The things of a kind that calls have made, in the order of their ids: when they were made changes nothing."""
        if kind not in self._touched:
            return []
        return sorted(
            Thing(kind, number_of_made(*key), one.after, key.id)
            for key, one in self._state.things.items()
            if key.kind == kind and one.before is None and one.after is not None
        )

    def _new(self, kind: str) -> list[Thing]:
        """What lists have besides what there was at first: in a standing world nothing, for the same call is answered alike."""
        return [] if self._is_standing else self._created(kind)

    def _find(self, kind: str, field: str, schema: JsonSchema, value: JsonValue) -> Thing | None:
        """The thing of a kind that is known by a value, as calls have left it; None where there is none."""
        made_now = self._state.things.get(ThingKey(kind, str(value)))
        if made_now is not None and made_now.before is None and made_now.after is not None:
            known = Thing(kind, number_of_made(kind, str(value)), made_now.after, str(value))
            return known if str(known.given.get(field, value)) == str(value) else None
        number = self._population.number_of(kind, field, schema, value)
        if number is not None:
            thing = self._current(Thing(kind, number, {}))
            return thing if thing is None or str(thing.given.get(field, value)) == str(value) else None
        renamed = [
            thing
            for thing in (*self._created(kind), *self._changed(kind))
            if field in thing.given and str(thing.given[field]) == str(value)
        ]
        return renamed[0] if renamed else None

    def _changed(self, kind: str) -> Iterator[Thing]:
        if kind in self._touched:
            for thing in self._population.everything(kind):
                now = self._current(thing)
                if now is not None and now.given:
                    yield now

    def _invented(self, kind: str, field: str, value: JsonValue) -> Thing:
        """The thing of an id that nothing has given out: for builds any id is known."""
        return Thing(kind, number_of_made(kind, str(value)), {field: value}, str(value))

    def _field(self, reference: Reference) -> tuple[str, JsonSchema]:
        """The field that a reference gives the value of, and its schema."""
        field = self._kinds.own_field(reference)
        return (field, self._field_schema(reference.kind, field)) if field else (reference.attribute, reference.schema)

    def _validate_references(self) -> None:
        """Refuse what names a thing that is not there: in the path it is not found, in what is written it is not valid."""
        writes = self._effect is not None and self._effect.deed != "reads"
        for one in self._world.references(self._endpoint):
            value = self._arguments.get(one.parameter)
            if value is None or one.kind not in self._kinds.fields or not self._names_another(one, writes=writes):
                continue
            if self._find(one.kind, *self._field(one), value) is None:
                message = f"There is no {one.kind} {value!r}."
                raise RefusalError("not_found" if one.in_path else "invalid_value", message)

    def _names_another(self, one: Reference, *, writes: bool) -> bool:
        if one.in_path:
            return True
        return writes and is_opaque(one.parameter) and (self._effect is None or one.parameter != self._effect.id)

    def _meant_by(self, kind: str, parameter: str) -> Thing:
        reference = next((one for one in self._world.references(self._endpoint) if one.parameter == parameter), None)
        value = self._arguments.get(parameter)
        if reference is not None and reference.kind == kind:
            field, schema = self._field(reference)
        else:
            field = self._kinds.identities.get(kind, parameter)
            schema = self._field_schema(kind, field)
        found = self._find(kind, field, schema, value)
        if value is None and not self._is_standing:
            raise RefusalError("invalid_value", f"Which {kind} is meant is not said; {parameter!r} is needed.")
        if found is None and self._is_standing:
            return self._invented(kind, field, self._call.key if value is None else value)
        if found is None:
            raise RefusalError("not_found", f"There is no {kind} {value!r}.")
        return found

    # What a call does

    def _create(self, effect: Effect, state: WorldState) -> tuple[Thing, WorldState]:
        kind, field = effect.kind, self._kinds.identities.get(effect.kind) or "id"
        given = self._written(effect)
        if effect.id and effect.id in self._arguments:
            given[field] = self._arguments[effect.id]
        self._validate_unique(kind, given, None)
        told = content_key(given)
        counter = f"{kind} {told}"
        if field not in given:
            given[field] = self._new_id(kind, field, f"{told}:{state.counters.get(counter, 0)}")
        if not self._is_standing:
            state = state.counted(counter)
            given = {**self._first_choices(kind, given), **given}
        key = ThingKey(kind, str(given[field]))
        return Thing(kind, number_of_made(*key), given, key.id), state.with_thing(key, Overlaid(None, given))

    def _new_id(self, kind: str, field: str, told: str) -> JsonValue:
        schema = self._field_schema(kind, field)
        for attempt in range(_TRIES):
            value = self._population.new_identity(kind, field, schema, after=f"{told}:{attempt}")
            if self._is_standing or not self._was_given(kind, field, schema, value):
                return value
        raise RefusalError("conflict", f"There is no id left for another {kind}.")

    def _was_given(self, kind: str, field: str, schema: JsonSchema, value: JsonValue) -> bool:
        """Whether a thing has or had an id."""
        at_first = self._population.number_of(kind, field, schema, value) is not None
        return at_first or ThingKey(kind, str(value)) in self._state.things

    def _first_choices(self, kind: str, given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """What a new thing has where nothing is said: the default, or the first of a few choices ("open", not "delivered")."""
        fields = self._kinds.fields.get(kind, {}).get("properties", {})
        return {
            name: schema.get("default", (schema.get("enum") or [None])[0])
            for name, schema in fields.items()
            if name not in given and ("default" in schema or schema.get("enum"))
        }

    def _update(self, effect: Effect, thing: Thing, state: WorldState) -> WorldState:
        written = self._written(effect)
        self._validate_unique(thing.kind, written, thing)
        key = self._key(thing)
        overlaid = state.things.get(key, Overlaid({}, {}))
        after = dict(overlaid.after or {})
        if overlaid.before is None:
            after |= {name: _merged(self._value(thing, name), value) for name, value in written.items()}
            return state.with_thing(key, Overlaid(None, after))
        before = dict(overlaid.before)
        for name, value in written.items():
            first = before[name] if name in before else self._value(thing._replace(given={}), name)
            before[name], after[name] = first, _merged(after.get(name, first), value)
            if after[name] == first:
                del before[name], after[name]
        return state.with_thing(key, Overlaid(before, after))

    def _delete(self, thing: Thing, state: WorldState) -> WorldState:
        key = self._key(thing)
        overlaid = state.things.get(key)
        if overlaid is not None and overlaid.before is None:
            return state.with_thing(key, Overlaid(None, None))
        return state.with_thing(key, Overlaid({self._kinds.identities.get(key.kind) or "id": key.id}, None))

    def _written(self, effect: Effect) -> dict[str, JsonValue]:
        """The fields that the call gives a thing."""
        given = {field: self._arguments[name] for name, field in effect.fields.items() if name in self._arguments}
        return {**given, **effect.sets}

    def _value(self, thing: Thing, name: str) -> JsonValue:
        if name in thing.given:
            return thing.given[name]
        schema = self._kinds.fields.get(thing.kind, {}).get("properties", {}).get(name)
        if schema is None:
            return None
        state, self._state, touched, self._touched = self._state, START, self._touched, frozenset()
        try:
            return self._member(thing, name, schema, 1)
        except ReplyError:
            return None
        finally:
            self._state, self._touched = state, touched

    def _validate_unique(self, kind: str, given: Mapping[str, JsonValue], own: Thing | None) -> None:
        """Refuse what another thing of the kind has: ids that paths name one by, and what the effect says is unique."""
        if self._is_standing:
            return
        stated = self._effect.unique if self._effect is not None else ()
        for name in dict.fromkeys((*self._kinds.unique.get(kind, ()), *stated)):
            if name in given and self._is_taken(kind, name, given[name], own, is_listed=name in stated):
                raise RefusalError("conflict", f"There is a {kind} with the {name} {given[name]!r} already.")

    def _is_taken(self, kind: str, name: str, value: JsonValue, own: Thing | None, *, is_listed: bool) -> bool:
        schema = self._field_schema(kind, name)
        if is_listed and not IDENTIFYING & set(words_of(name)[-1:]):
            others = [*self._created(kind), *filter(None, map(self._current, self._population.everything(kind)))]
            return any(self._value(one, name) == value for one in others if own is None or one.number != own.number)
        other = self._find(kind, name, schema, value)
        was_deleted = (
            own is None and name == self._kinds.identities.get(kind) and self._was_given(kind, name, schema, value)
        )
        return was_deleted or (other is not None and (own is None or other.number != own.number))

    # What it answers

    def stated_value(self, name: str, entry: tuple[Thing, JsonSchema] | None, rng: Random) -> Arguments:
        """The value that is said for a parameter: that of a thing which a list has, else what its schema allows."""
        tool = self._endpoint.tool
        schema = plain(tool.properties[name])
        if entry is not None and (field := _field_for(name, schema, entry[1], is_required=name in tool.required)):
            known = entry[1]["properties"][field]
            value = self._member(entry[0], field, known, 0 if known.get("type") != "boolean" else 1)
            if isinstance(value, list) and schema.get("type") != "array":
                value = value[0] if value else None
            if value not in (None, "", []):
                return {name: value}
        try:
            value = make_value(name, schema, tool.language, rng)
        except ReplyError:
            return {}
        return {} if isinstance(value, str) and _TOKEN.fullmatch(value) else {name: value}

    def _result(self) -> JsonValue:
        schema = self._kinds.returned(self._endpoint.tool) or _ALONE
        if schema.get("type") == "array" or isinstance(schema.get("items"), dict):
            return self._list("", schema, 0)
        if not isinstance(schema.get("properties"), dict):
            return made("result", schema, self._endpoint.tool.language, self._rng)
        return self._object(self._about(schema), schema, 0)

    def _about(self, schema: JsonSchema) -> Thing:
        """The thing that a result describes: the one that the call writes, the one whose id it gives, else one of its own."""
        kind = self._kinds.of_schema(self._endpoint, "", schema)
        if self._subject is not None and self._subject.kind == kind:
            return self._subject
        for one in self._world.references(self._endpoint):
            value = self._arguments.get(one.parameter)
            if one.kind == kind and value is not None:
                field, known = self._field(one)
                found = self._find(kind, field, known, value)
                if found is None and not self._is_standing:
                    raise RefusalError("not_found", f"There is no {kind} {value!r}.")
                return self._invented(kind, field, value) if found is None else found
        return Thing(kind, number_of_made(str(self._population.seed), self._call.key), {})

    def _object(self, thing: Thing, schema: JsonSchema, depth: int) -> dict[str, JsonValue]:
        """A thing as a schema describes it. As it was at first it is made up once: most that is told is never changed."""
        if thing.given or thing.number >= MADE_FROM or (depth == 0 and self._writes):
            return self._told(thing, schema, depth)
        place = (thing.kind, thing.number, id(schema), depth, self._endpoint.tool.language)
        kept = self._population.told.get(place)
        if kept is not None and self._touched.isdisjoint(kept.kinds):
            self._seen |= kept.kinds
            found: dict[str, JsonValue] = orjson.loads(kept.body)
            return found
        around, self._seen = self._seen, {thing.kind}
        found = self._told(thing, schema, depth)
        if self._touched.isdisjoint(self._seen):
            self._population.keep(place, Told(orjson.dumps(found), frozenset(self._seen)))
        self._seen |= around
        return found

    def _told(self, thing: Thing, schema: JsonSchema, depth: int) -> dict[str, JsonValue]:
        found: dict[str, JsonValue] = {}
        required = schema.get("required") or ()
        for name, member in schema["properties"].items():
            if depth == 0 and (echo := self._echo(name, member, thing)) is not None:
                found[name] = echo
                continue
            try:
                value = self._member(thing, name, member, depth)
            except ReplyError:
                if name in required:
                    raise
                continue
            if value is not None or name in required:
                found[name] = value
        return found if self._is_known(thing) else self._counted(found, schema)

    def _counted(self, found: dict[str, JsonValue], schema: JsonSchema) -> dict[str, JsonValue]:
        """A response with how many its only list has in all, where it says how many there are."""
        if self._listed is not None and sum(isinstance(value, list) for value in found.values()) == 1:
            for name in found:
                if _COUNTING & set(words_of(name)) and schema["properties"][name].get("type") == "integer":
                    found[name] = self._listed
        return found

    def _echo(self, name: str, schema: JsonSchema, thing: Thing) -> JsonValue:
        """What the call has given under the same name, None where it has given nothing of the kind, or another thing's id."""
        if name not in self._arguments or (self._is_known(thing) and not (self._is_standing and self._writes)):
            return None  # a thing is told as it is
        own = plain(self._endpoint.tool.properties.get(name, {}))
        fits = own.get("type") == schema.get("type") and not self._kinds.other(self._endpoint, name, thing.kind)
        return self._arguments[name] if fits else None

    @property
    def _writes(self) -> bool:
        if self._effect is not None:
            return self._effect.deed != "reads"
        return self._endpoint.method.upper() not in SAFE

    def _member(self, thing: Thing, name: str, schema: JsonSchema, depth: int) -> JsonValue:
        if name in thing.given:
            return thing.given[name]
        is_told = self._is_known(thing) and self._tells_a_thing
        if depth == 0 and schema.get("type") == "boolean" and self._writes and not is_told:
            return True  # what was to be done went well
        if isinstance(schema.get("properties"), dict):
            if depth >= _DEEPEST:
                return None
            return self._object(self._within(thing, name, schema, depth), schema, depth + 1)
        if isinstance(schema.get("items"), dict) and isinstance(schema["items"].get("properties"), dict):
            if (depth == 0 or (depth == 1 and thing.number >= MADE_FROM)) and not self._is_known(thing):
                return self._list(name, schema, depth + 1)
            return self._parts(thing, name, schema, depth)
        return self._population.value(thing, name, schema, self._endpoint.tool.language)

    @property
    def _tells_a_thing(self) -> bool:
        """Whether what comes back has an id, so that its switches are those of a thing."""
        returned = self._kinds.entry_of(self._endpoint.tool)
        return returned is not None and any(is_opaque(name) for name in returned[1]["properties"])

    def _is_known(self, thing: Thing) -> bool:
        """Whether it is a thing with an id, not just what a call brings."""
        return thing.number < MADE_FROM or bool(thing.id)

    def _within(self, thing: Thing, name: str, schema: JsonSchema, depth: int) -> Thing:
        """The thing that stands under a name: the very thing where it is only wrapped, else one that it refers to."""
        if is_wrapping(name):
            return thing
        kind = self._kind_within(name, schema)
        if depth == 0 and kind == thing.kind:
            return thing
        return self._referred(kind, self._population.chance(thing, name))

    def _kind_within(self, name: str, schema: JsonSchema) -> str:
        return self._kinds.named(thing_of_title(schema.get("title")) or " ".join(words_of(name)))

    def _referred(self, kind: str, rng: Random) -> Thing:
        thing = self._population.referred(kind, rng)
        self._seen.add(kind)
        return self._current(thing) or thing

    def _parts(self, thing: Thing, name: str, schema: JsonSchema, depth: int) -> JsonValue:
        """The things that a thing has: one or two, each once."""
        if depth >= _DEEPEST:
            return []
        item, rng = schema["items"], self._population.chance(thing, name)
        kind = self._kind_within(name, item)
        things = {one.number: one for one in (self._referred(kind, rng) for _ in range(rng.randint(1, 2)))}
        return [self._object(one, item, depth + 1) for one in things.values()]

    def _list(self, name: str, schema: JsonSchema, depth: int) -> JsonValue:
        item = schema["items"]
        if not isinstance(item.get("properties"), dict):
            return made(name or "results", schema, self._endpoint.tool.language, self._rng)
        kind = self._kinds.of_schema(self._endpoint, name, item)
        everything = self._population.everything(kind)
        owned = self._owned(kind, item)
        things = everything if owned is None else owned
        narrowing = {
            field: value
            for argument, value in self._arguments.items()
            if (field := self._narrowing(argument, kind, item, is_owned=owned is not None))
        }
        if owned is None and not narrowing and self._is_standing:
            things = sorted(self._rng.sample(things, min(len(things), self._rng.randint(FEWEST_ENTRIES, MOST_ENTRIES))))
        if owned is None:
            things = [*self._new(kind), *filter(None, map(self._current, things))]
        for field, value in narrowing.items():
            things = self._with(things, field, value, item)
        self._listed = len(things)
        return [self._object(one, item, depth + 1) for one in self._page(things)]

    def _page(self, things: Sequence[Thing]) -> Sequence[Thing]:
        """What is shown of a list: in an episode all that there is, unless the call says how much and from where."""
        stated = {word: count for name, count in _counts(self._arguments) for word in words_of(name)}
        limit = next((count for word, count in stated.items() if word in _LONGEST_LIST), 0)
        if self._is_standing:
            return things[: min(limit or MOST_ENTRIES, MOST_ENTRIES)]
        start = stated.get("offset", max(0, stated.get("page", 1) - 1) * limit)
        return things[start : start + limit] if limit else things[start:]

    def _narrowing(self, argument: str, kind: str, item: JsonSchema, *, is_owned: bool) -> str:
        """The field of an entry that an argument narrows a list of things of this kind by, "" where it narrows by none."""
        if self._kinds.other(self._endpoint, argument, kind):
            field = self._kinds.field_of(self._endpoint, argument, kind, item)
            return field if field in item["properties"] and not is_owned else ""
        wanted = plain(self._endpoint.tool.properties[argument])
        return _field_for(argument, wanted, item, is_required=argument in self._endpoint.tool.required)

    def _with(self, things: Sequence[Thing], field: str, value: JsonValue, item: JsonSchema) -> list[Thing]:
        """Those of the things that have this value."""
        schema = item["properties"][field]
        exact = bool(schema.get("enum")) or is_opaque(field)
        return [one for one in things if _agree(self._member(one, field, schema, 1), value, exact=exact)]

    def _owned(self, kind: str, item: JsonSchema) -> list[Thing] | None:
        """The things of the one whose id the call gives; None where it gives none, or so many of all are its own."""
        for argument, value in self._arguments.items():
            other = self._kinds.other(self._endpoint, argument, kind)
            if not other:
                continue
            field = self._kinds.field_of(self._endpoint, argument, kind, item)
            everything = self._population.everything(kind)
            own = self._with(everything, field, value, item) if field in item["properties"] else []
            if len(own) >= FEWEST_PARTS:
                return None
            others = [one for one in everything if one not in own] if kind in self._touched else []
            now = filter(None, map(self._current, (*own, *self._further(kind, argument, other, field))))
            kept = [one for one in now if str(one.given.get(field, value)) == str(value)]
            came = [*self._new(kind), *filter(None, map(self._current, others))]
            return [*(one for one in came if str(one.given.get(field)) == str(value)), *kept]
        return None

    def _further(self, kind: str, argument: str, other: str, field: str) -> list[Thing]:
        """The parts of the one whose id an argument is; in a standing world any id has some."""
        value = self._arguments[argument]
        one = next((one for one in self._world.references(self._endpoint) if one.parameter == argument), None)
        owner = self._find(other, *self._field(one), value) if one is not None else None
        parts = self._population.parts(kind, owner) if owner is not None else []
        if parts or not self._is_standing or self._population.is_stated(kind):
            return parts
        rng = Random(f"{self._population.seed}:{kind} of {other} {value}")
        own = self._kinds.identities.get(kind) or "id"
        for at in range(rng.randint(FEWEST_PARTS, FEWEST_ENTRIES)):
            id_ = self._population.new_identity(kind, own, self._field_schema(kind, own), after=f"{other} {value} {at}")
            number = number_of_made(kind, str(id_))
            self._found.append(Thing(kind, number, {field: value, own: id_}, str(id_)))
        return self._found


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
    asked = _Asked(world, endpoint, Call(tool=tool.name), population, is_standing=True)
    makes = tool.name in world.effects and world.effects[tool.name].deed == "creates"
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


def _merged(held: JsonValue, given: JsonValue) -> JsonValue:
    """What a field holds after a part of it was given: of objects, member by member."""
    if isinstance(held, dict) and isinstance(given, dict):
        return {**held, **{name: _merged(held.get(name), value) for name, value in given.items()}}
    return given


def _without_constants(call: Call, tool: Tool) -> Call:
    """The call without what its catalog has fixed, which is the same for all."""
    stated = {name: value for name, value in call.arguments.items() if name not in tool.constants}
    return call if len(stated) == len(call.arguments) else call.with_changes(arguments=stated)


def _field_for(argument: str, wanted: JsonSchema, entry: JsonSchema, *, is_required: bool) -> str:
    """The field of an entry that an argument narrows a list by, "" where it narrows by none."""
    words = words_of(argument)
    for field, stated in entry.get("properties", {}).items():
        if words_of(field) == words and _is_stated(plain(stated)):
            return str(field)
    if is_query(argument, wanted, linked=False) and is_required:
        return next((name for name in NAMING if name in entry.get("properties", {})), "")
    return ""


def _is_stated(schema: JsonSchema) -> bool:
    held = plain(schema["items"]) if isinstance(schema.get("items"), dict) else schema
    return "type" in held and json_type(held) in _STATED


def _agree(held: JsonValue, wanted: JsonValue, *, exact: bool) -> bool:
    """Whether what a thing is like is what was asked for: equal, one of several, or unless `exact` a part of its name."""
    if isinstance(held, list):
        return any(_agree(one, wanted, exact=exact) for one in held)
    if isinstance(wanted, list):
        return held in wanted
    if exact:
        return str(held) == str(wanted)
    if isinstance(held, str) and isinstance(wanted, str):
        return wanted.casefold() in held.casefold()
    return held == wanted


def _counts(arguments: Arguments) -> Iterator[tuple[str, int]]:
    """The arguments that are whole numbers."""
    for name, value in arguments.items():
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            yield name, value
