"""Answer calls in a state of a document's world, describing its things by its schemas.

The population says which things exist at first (population.py), and a state (episodes.py) how
they differ by now. What calls do to things is in deeds.py.

A world is asked in two ways. In an episode, reads see what calls have written, and an unknown id
is refused. A standing world is asked by builds: no call changes it, the same call always gets the
same answer, and any id is known.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from random import Random

import orjson
from pydantic import JsonValue

from callwright.generators.environments.effects import Effects, Ownership
from callwright.generators.environments.endpoints import SAFE, Endpoint
from callwright.generators.environments.episodes import (
    START,
    Overlaid,
    RefusalError,
    ThingKey,
    WorldState,
)
from callwright.generators.environments.linking import (
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
    thing_made,
)
from callwright.generators.environments.rules import MADE_FROM
from callwright.generators.environments.simulated import is_switched_off, tells_an_end
from callwright.generators.environments.things import Reference, last_words
from callwright.language.calls.entries import is_query
from callwright.language.calls.sampling import make_value
from callwright.language.schemas import json_type
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Arguments, Call, JsonSchema

MOST_ENTRIES = 8
FEWEST_ENTRIES = 5
_DEEPEST_NESTING = 4
_LIMITING_WORDS = frozenset({"limit", "size", "count", "top", "max", "take", "results"})
_COUNTING_WORDS = frozenset({"total", "count", "hits", "totalcount"})
_ALONE: JsonSchema = {"type": "object", "properties": {"success": {"const": True}}}
# A long mix of letters and digits, such as a page token, which nobody would say in a request.
_TOKEN = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])[A-Za-z0-9_-]{12,}(,\S*)?")
_TEXT: JsonSchema = {"type": "string"}
_SCALAR_TYPES = ("string", "integer", "number", "boolean")


class AskedCall:
    """A call that is being answered in a state."""

    def __init__(
        self,
        effects: Effects,
        endpoint: Endpoint,
        call: Call,
        population: Population,
        *,
        is_standing: bool,
    ) -> None:
        """Set up the answer to a call; in a standing world the same call gets the same answer."""
        self.effects, self.kinds = effects, effects.kinds
        self.population, self.is_standing = population, is_standing
        self.endpoint, self.arguments, self.call = endpoint, call.arguments, call
        self.effect = effects.by_tool.get(call.tool)
        self.references = effects.kinds.references(endpoint)
        self.subjects: list[Thing] = []  # the things that the call writes
        self._seen: set[str] = set()  # the kinds of the things that an answer describes
        self.state = START
        self._touched: frozenset[str] = frozenset()  # the kinds that calls have written
        self._listed: int | None = None  # how many things a list has in all, before paging
        self._invented: list[Thing] = []  # made up for a list, in a standing world

    @cached_property
    def _rng(self) -> Random:
        """The random generator for what depends on the call alone."""
        return Random(f"{self.population.seed}:{self.call.key}")

    def see(self, state: WorldState) -> None:
        """Answer from this state onwards."""
        self.state, self._touched = state, frozenset(key.kind for key in state.things)

    def noted(self, state: WorldState) -> WorldState:
        """Return the state plus the things that a list generated, for later calls to read."""
        for thing in self._invented:
            state = state.with_thing(ThingKey(thing.kind, thing.id), Overlaid(None, thing.given))
        return state

    def key(self, thing: Thing) -> ThingKey:
        """Return the key of a thing in states."""
        if thing.id:
            return ThingKey(thing.kind, thing.id)
        field = self.kinds.identities.get(thing.kind, "")
        schema = self.field_schema(thing.kind, field)
        # By the first state: an id that a call has overwritten still names the same thing.
        identity: JsonValue = thing.number
        if field:
            identity = self.population.identity(thing._replace(given={}), field, schema)
        return ThingKey(thing.kind, str(identity))

    def field_schema(self, kind: str, field: str) -> JsonSchema:
        """Return the schema of a kind's field."""
        return self.kinds.fields.get(kind, {}).get(field) or _TEXT

    def current(self, thing: Thing) -> Thing | None:
        """Return a thing as calls have left it, or None if it is gone."""
        if thing.kind not in self._touched:
            return thing
        overlaid = self.state.things.get(self.key(thing))
        if overlaid is None:
            return thing
        if overlaid.after is None:
            return None
        return thing._replace(given={**thing.given, **overlaid.after})

    def created(self, kind: str) -> list[Thing]:
        """List a kind's things that calls created, by id, so that their order has no effect."""
        if kind not in self._touched:
            return []
        return sorted(
            thing_made(kind, key.id, one.after)
            for key, one in self.state.things.items()
            if key.kind == kind and one.before is None and one.after is not None
        )

    def _created_in_lists(self, kind: str) -> list[Thing]:
        """List the created things that lists include: none in a standing world.

        There the same call is always answered the same.
        """
        return [] if self.is_standing else self.created(kind)

    def find(self, kind: str, field: str, schema: JsonSchema, value: JsonValue) -> Thing | None:
        """Return the thing of a kind with this value as calls have left it, or None.

        Created things come first, then those whose number follows from the value, then those to
        which a call has given it.
        """
        made_now = self.state.things.get(ThingKey(kind, str(value)))
        if made_now is not None and made_now.before is None and made_now.after is not None:
            known = thing_made(kind, value, made_now.after)
            return known if str(known.given.get(field, value)) == str(value) else None
        number = self.population.number_of(kind, field, schema, value)
        if number is not None:
            thing = self.current(Thing(kind, number, {}))
            return (
                thing if thing is None or str(thing.given.get(field, value)) == str(value) else None
            )
        at_first = self.population.everything(kind) if kind in self._touched else ()
        written = (*self.created(kind), *filter(None, map(self.current, at_first)))
        return next(
            (one for one in written if field in one.given and str(one.given[field]) == str(value)),
            None,
        )

    def known(self, key: ThingKey) -> Thing | None:
        """Return the thing with this key, or None if there is none or it is gone."""
        field = self.kinds.identities.get(key.kind) or "id"
        return self.find(key.kind, field, self.field_schema(key.kind, field), key.id)

    def belonging(
        self, kind: str, field: str, owner: Thing, *, is_whole: bool = True
    ) -> list[Thing]:
        """Return the things of a kind whose field holds the owner's id; in full if `is_whole`.

        Otherwise those that lists show.
        """
        own = self.key(owner).id
        mine = [
            one
            for one in map(self.current, self.population.everything(kind))
            if one and self._has_value(one, field, own)
        ]
        if is_whole or len(mine) < FEWEST_PARTS:
            parts = filter(None, map(self.current, self.population.parts(kind, owner)))
            mine += [one for one in parts if self._has_value(one, field, own, unless_said=own)]
        if kind in self._touched:
            written = filter(
                None, map(self.known, sorted(key for key in self.state.things if key.kind == kind))
            )
            there = {self.key(one) for one in mine}
            mine += [
                one
                for one in written
                if self.key(one) not in there and self._has_value(one, field, own)
            ]
        return mine

    def _has_value(
        self, thing: Thing, field: str, value: str, *, unless_said: JsonValue = None
    ) -> bool:
        held = self.value(thing, field) if field else None
        return str(unless_said if held is None else held) == value

    def links(self, relation: Ownership, owner: Thing) -> tuple[set[str], list[str]]:
        """Return the ids that calls have unlinked from an owner, and those linked to it."""
        if relation.kind not in self._touched:
            return set(), []
        own = self.key(owner)
        links = [one for key, one in self.state.things.items() if key.kind == relation.kind]
        ends = [(*relation.ends(one.after or one.before or {}), one.after is None) for one in links]
        gone = {which.id for whose, which, is_gone in ends if whose == own and is_gone}
        return gone, sorted(
            which.id for whose, which, is_gone in ends if whose == own and not is_gone
        )

    def held_ids(self, owner: Thing, relation: Ownership) -> set[str]:
        """Return the ids that an owner's own fields hold for the things of a relation."""
        names, relations = self.kinds.fields.get(owner.kind, {}), self.effects.relations
        own = [
            name
            for name in names
            if relations.get((owner.kind, " ".join(words_of(name)))) == relation
        ]
        held = [self.value(owner, name) for name in own]
        field = self.kinds.identities.get(relation.target) or "id"
        entries = [one for value in held if isinstance(value, list) for one in value]
        return {str(one.get(field) if isinstance(one, dict) else one) for one in entries}

    def _with_links(
        self, relation: Ownership | None, owner: Thing | None, things: list[Thing]
    ) -> list[Thing]:
        """Return an owner's things with those that calls linked and without those unlinked."""
        if relation is None or owner is None:
            return things
        gone, come = self.links(relation, owner)
        kept = [one for one in things if self.key(one).id not in gone] if gone else things
        there = {self.key(one).id for one in kept} if come else set()
        more = (self.known(ThingKey(relation.target, id_)) for id_ in come if id_ not in there)
        return [*kept, *filter(None, more)]

    def field(self, reference: Reference) -> tuple[str, JsonSchema]:
        """Return the field that a reference's value belongs to, and its schema."""
        field = self.kinds.own_field(reference)
        return (
            (field, self.field_schema(reference.kind, field))
            if field
            else (reference.attribute, reference.schema)
        )

    def stated_value(
        self, name: str, entry: tuple[Thing, JsonSchema] | None, rng: Random
    ) -> Arguments:
        """Return a value for a parameter, from a thing in a list or else from its schema."""
        tool = self.endpoint.tool
        schema = plain(tool.properties[name])
        if entry is not None and (
            field := _field_for(name, schema, entry[1], is_required=name in tool.required)
        ):
            known = entry[1]["properties"][field]
            # at depth 0 a switch would say that the call succeeded
            value = self._member(entry[0], field, known, int(known.get("type") == "boolean"))
            if isinstance(value, list) and schema.get("type") != "array":
                value = value[0] if value else None
            if value not in (None, "", []):
                return {name: value}
        try:
            value = make_value(name, schema, tool.language, rng)
        except ReplyError:
            return {}
        return {} if isinstance(value, str) and _TOKEN.fullmatch(value) else {name: value}

    def result(self) -> JsonValue:
        """Return the response that the tool's schema describes."""
        schema = self.kinds.returned(self.endpoint.tool) or _ALONE
        if schema.get("type") == "array" or isinstance(schema.get("items"), dict):
            return self._list("", schema, 0)
        if not isinstance(schema.get("properties"), dict):
            return made("result", schema, self.endpoint.tool.language, self._rng)
        return self._object(self._about(schema), schema, 0)

    def _about(self, schema: JsonSchema) -> Thing:
        """Return the thing that a result is about: written by the call, named by its id, or new.

        Raises RefusalError if an episode has no thing of that id.
        """
        kind = self.kinds.of_schema(self.endpoint, "", schema)
        if self.subjects and self.subjects[0].kind == kind:
            return self.subjects[0]
        for reference in self.references:
            value = self.arguments.get(reference.parameter)
            if reference.kind == kind and value is not None:
                field, known = self.field(reference)
                thing = self.find(kind, field, known, value)
                if thing is not None:
                    return thing
                # in the body of a call that writes, the id may be that of a new thing
                must_exist = reference.in_path or self.endpoint.method.upper() in (*SAFE, "")
                if must_exist and not self.is_standing:
                    raise RefusalError("not_found", f"There is no {kind} {value!r}.")
                return thing_made(kind, value, {field: value})
        return Thing(kind, number_of_made(str(self.population.seed), self.call.key), {})

    def _object(self, thing: Thing, schema: JsonSchema, depth: int) -> dict[str, JsonValue]:
        """Return a thing as a schema describes it.

        Its first state is generated once and cached, because most things never change.
        """
        if thing.given or thing.number >= MADE_FROM or (depth == 0 and self._writes):
            return self._describe(thing, schema, depth)
        place = (thing.kind, thing.number, id(schema), depth, self.endpoint.tool.language)
        kept = self.population.told.get(place)
        if kept is not None and self._touched.isdisjoint(kept.kinds):
            self._seen |= kept.kinds
            described_thing: dict[str, JsonValue] = orjson.loads(kept.body)
            return described_thing
        around, self._seen = self._seen, {thing.kind}
        described_thing = self._describe(thing, schema, depth)
        if self._touched.isdisjoint(self._seen):
            self.population.keep(place, Told(orjson.dumps(described_thing), frozenset(self._seen)))
        self._seen |= around
        return described_thing

    def _describe(self, thing: Thing, schema: JsonSchema, depth: int) -> dict[str, JsonValue]:
        """Return the fields of a schema for a thing; optional ones without a value are left out."""
        field_values: dict[str, JsonValue] = {}
        required = schema.get("required") or ()
        for name, member in schema["properties"].items():
            if tells_an_end(name, schema, self.endpoint.tool):
                continue
            if depth == 0 and (echo := self._echo(name, member, thing)) is not None:
                field_values[name] = echo
                continue
            try:
                value = self._member(thing, name, member, depth)
            except ReplyError:
                if name in required:
                    raise
                continue
            if value is not None or name in required:
                field_values[name] = value
        lists = sum(isinstance(value, list) for value in field_values.values())
        if self._listed is not None and lists == 1 and not self._is_known(thing):
            for name in field_values:  # a `total` counts the only list
                is_integer = schema["properties"][name].get("type") == "integer"
                if is_integer and _COUNTING_WORDS & set(words_of(name)):
                    field_values[name] = self._listed
        return field_values

    def _echo(self, name: str, schema: JsonSchema, thing: Thing) -> JsonValue:
        """Return the call's argument of that name, or None.

        None if it is missing, of another type or another thing's id, and for known things, which
        are described as they are.
        """
        if name not in self.arguments or (
            self._is_known(thing) and not (self.is_standing and self._writes)
        ):
            return None
        own = plain(self.endpoint.tool.properties.get(name, {}))
        fits = own.get("type") == schema.get("type") and not self.kinds.other(
            self.endpoint, name, thing.kind
        )
        return self.arguments[name] if fits else None

    @property
    def _writes(self) -> bool:
        if self.effect is not None:
            return self.effect.deed != "reads"
        return self.endpoint.method.upper() not in SAFE

    def _member(self, thing: Thing, name: str, schema: JsonSchema, depth: int) -> JsonValue:
        """Return a field of a thing: written by a call, a thing or list within, or generated."""
        if name in thing.given:
            return thing.given[name]
        if (
            depth == 0
            and schema.get("type") == "boolean"
            and self._writes
            and not self._describes_thing(thing)
        ):
            # such as `success`: the call has done its work
            return not is_switched_off(name, self.endpoint.tool)
        is_made = schema.get("type") == "boolean" and thing.number >= MADE_FROM
        if is_made and is_switched_off(name, self.endpoint.tool):
            return False  # what calls made is in use
        if isinstance(schema.get("properties"), dict):
            inner_thing = self._thing_within(thing, name, schema, depth)
            return (
                None if depth >= _DEEPEST_NESTING else self._object(inner_thing, schema, depth + 1)
            )
        if isinstance(schema.get("items"), dict) and isinstance(
            schema["items"].get("properties"), dict
        ):
            if (depth == 0 or (depth == 1 and thing.number >= MADE_FROM)) and not self._is_known(
                thing
            ):
                return self._list(name, schema, depth + 1)
            return self._parts(thing, name, schema, depth)
        value = self.population.value(thing, name, schema, self.endpoint.tool.language)
        if isinstance(value, list) and (relation := self._relation_of(thing, name)) is not None:
            gone, come = self.links(relation, thing)
            return [
                *(one for one in value if str(one) not in gone),
                *(one for one in come if one not in value),
            ]
        return value

    def _relation_of(self, thing: Thing, name: str) -> Ownership | None:
        """Return the relation that a field of a thing shows."""
        relations = self.effects.relations
        if not relations or not self._is_known(thing):
            return None
        relation = relations.get((thing.kind, " ".join(words_of(name))))
        if relation is not None:
            self._seen.add(relation.kind)
        return relation

    def _describes_thing(self, thing: Thing) -> bool:
        """Whether the response has an id, so that its booleans belong to a thing."""
        returned = self.kinds.entry_of(self.endpoint.tool) if self._is_known(thing) else None
        return returned is not None and any(map(is_opaque, returned[1]["properties"]))

    def _is_known(self, thing: Thing) -> bool:
        """Whether it is a thing with an id, not just a result of a call."""
        return thing.number < MADE_FROM or bool(thing.id)

    def _thing_within(self, thing: Thing, name: str, schema: JsonSchema, depth: int) -> Thing:
        """Return the thing under a name: the same if it is only wrapped, else one it refers to."""
        if is_wrapping(name):
            return thing
        kind = self._kind_within(name, schema)
        if depth == 0 and kind == thing.kind:
            return thing
        return self._referred(kind, self.population.chance(thing, name))

    def _kind_within(self, name: str, schema: JsonSchema) -> str:
        return self.kinds.named(thing_of_title(schema.get("title")) or " ".join(words_of(name)))

    def _referred(self, kind: str, rng: Random) -> Thing:
        thing = self.population.referred(kind, rng)
        self._seen.add(kind)
        return self.current(thing) or thing

    def _parts(self, thing: Thing, name: str, schema: JsonSchema, depth: int) -> JsonValue:
        """Return the things that a thing's field lists: one or two at first, without repeats."""
        if depth >= _DEEPEST_NESTING:
            return []
        item, rng = schema["items"], self.population.chance(thing, name)
        kind = self._kind_within(name, item)
        things = {
            one.number: one for one in (self._referred(kind, rng) for _ in range(rng.randint(1, 2)))
        }
        relation = self._relation_of(thing, name)
        shown = (
            self._with_links(relation, thing, list(things.values()))
            if relation is not None
            else things.values()
        )
        return [self._object(one, item, depth + 1) for one in shown]

    def _list(self, name: str, schema: JsonSchema, depth: int) -> JsonValue:
        """Return the things of a kind that the call selects, paged as it asks."""
        item = schema["items"]
        if not isinstance(item.get("properties"), dict):
            return made(name or "results", schema, self.endpoint.tool.language, self._rng)
        kind = self.kinds.of_schema(self.endpoint, name, item)
        if (
            self.effect is not None
            and self.effect.each
            and kind == self.effect.kind
            and self.subjects
        ):
            return [self._object(one, item, depth + 1) for one in self.subjects]
        everything = self.population.everything(kind)
        owned = self._owned_things(kind, item)
        things = list(everything if owned is None else owned)
        narrowing = {
            field: value
            for argument, value in self.arguments.items()
            if (field := self._narrowing(argument, kind, item, is_owned=owned is not None))
        }
        if owned is None and not narrowing and self.is_standing:
            things = sorted(
                self._rng.sample(
                    things, min(len(things), self._rng.randint(FEWEST_ENTRIES, MOST_ENTRIES))
                )
            )
        if owned is None:
            things = [*self._created_in_lists(kind), *filter(None, map(self.current, things))]
        for field, value in narrowing.items():
            things = self._having(things, field, value, item)
        things = self._with_links(*self._listed_by(kind), things)
        self._listed = len(things)
        return [self._object(one, item, depth + 1) for one in self._page(things)]

    def _listed_by(self, kind: str) -> tuple[Ownership | None, Thing | None]:
        """Return the relation that a list shows, and the thing that owns it."""
        owner_reference = self.kinds.owner(self.endpoint) if self.effects.relations else None
        relation = (
            self.effects.relations.get((owner_reference.kind, last_words(self.endpoint)))
            if owner_reference is not None
            else None
        )
        if owner_reference is None or relation is None or relation.target != kind:
            return None, None
        return relation, self.find(
            owner_reference.kind,
            *self.field(owner_reference),
            self.arguments.get(owner_reference.parameter),
        )

    def _page(self, things: Sequence[Thing]) -> Sequence[Thing]:
        """Return the part of a list to show: in an episode everything, unless the call pages it."""
        counts = [
            (name, one) for name, one in self.arguments.items() if isinstance(one, int) and one >= 0
        ]
        counts_by_word = {
            word: one
            for name, one in counts
            if not isinstance(one, bool)
            for word in words_of(name)
        }
        limit = next(
            (count for word, count in counts_by_word.items() if word in _LIMITING_WORDS), 0
        )
        if self.is_standing:
            return things[: min(limit or MOST_ENTRIES, MOST_ENTRIES)]
        start = counts_by_word.get("offset", max(0, counts_by_word.get("page", 1) - 1) * limit)
        return things[start : start + limit] if limit else things[start:]

    def _narrowing(self, argument: str, kind: str, item: JsonSchema, *, is_owned: bool) -> str:
        """Return the entry field by which an argument filters a list of this kind, or ""."""
        if self.kinds.other(self.endpoint, argument, kind):
            field = self.kinds.field_of(self.endpoint, argument, kind, item["properties"])
            return field if field in item["properties"] and not is_owned else ""
        wanted = plain(self.endpoint.tool.properties[argument])
        return _field_for(
            argument, wanted, item, is_required=argument in self.endpoint.tool.required
        )

    def _having(
        self, things: Sequence[Thing], field: str, value: JsonValue, item: JsonSchema
    ) -> list[Thing]:
        """Return the things whose field has this value."""
        schema = item["properties"][field]
        exact = bool(schema.get("enum")) or is_opaque(field)
        return [
            one
            for one in things
            if _matches(self._member(one, field, schema, 1), value, exact=exact)
        ]

    def _owned_things(self, kind: str, item: JsonSchema) -> list[Thing] | None:
        """Return the things of the owner that the call names, or None if it names none.

        None also if at least FEWEST_PARTS of all things of the kind already belong to it.
        """
        for argument, value in self.arguments.items():
            owner_kind = self.kinds.other(self.endpoint, argument, kind)
            if not owner_kind:
                continue
            field = self.kinds.field_of(self.endpoint, argument, kind, item["properties"])
            everything = self.population.everything(kind)
            own = (
                self._having(everything, field, value, item) if field in item["properties"] else []
            )
            if len(own) >= FEWEST_PARTS:
                return None
            others = [one for one in everything if one not in own] if kind in self._touched else []
            now = filter(
                None,
                map(self.current, (*own, *self._more_parts(kind, argument, owner_kind, field))),
            )
            kept = [one for one in now if str(one.given.get(field, value)) == str(value)]
            came = [*self._created_in_lists(kind), *filter(None, map(self.current, others))]
            return [*(one for one in came if str(one.given.get(field)) == str(value)), *kept]
        return None

    def _more_parts(self, kind: str, argument: str, other: str, field: str) -> list[Thing]:
        """Return the parts of the thing with this id; in a standing world, any id has some."""
        value = self.arguments[argument]
        one = self.kinds.reference(self.endpoint, argument)
        owner = self.find(other, *self.field(one), value) if one is not None else None
        parts = self.population.parts(kind, owner) if owner is not None else []
        if parts or not self.is_standing or self.population.is_stated(kind):
            return parts
        rng = Random(f"{self.population.seed}:{kind} of {other} {value}")
        own = self.kinds.identities.get(kind) or "id"
        for at in range(rng.randint(FEWEST_PARTS, FEWEST_ENTRIES)):
            id_ = self.population.new_identity(
                kind, own, self.field_schema(kind, own), after=f"{other} {value} {at}"
            )
            self._invented.append(thing_made(kind, id_, {field: value, own: id_}))
        return self._invented

    def value(self, thing: Thing, name: str) -> JsonValue:
        """Return a thing's field, in its original state if never written; null if it has none."""
        if name in thing.given:
            return thing.given[name]
        schema = self.kinds.fields.get(thing.kind, {}).get(name)
        if schema is None:
            return None
        state, touched = self.state, self._touched
        self.state, self._touched = START, frozenset()  # things within as they were at first, too
        try:
            return self._member(thing, name, schema, 1)
        except ReplyError:
            return None
        finally:
            self.state, self._touched = state, touched


def _field_for(argument: str, wanted: JsonSchema, entry: JsonSchema, *, is_required: bool) -> str:
    """Return the field of an entry by which an argument filters a list, or "" if none."""
    words = words_of(argument)
    for field, stated in entry.get("properties", {}).items():
        known = plain(stated)
        held = plain(known["items"]) if isinstance(known.get("items"), dict) else known
        if words_of(field) == words and "type" in held and json_type(held) in _SCALAR_TYPES:
            return str(field)
    if is_query(argument, wanted, linked=False) and is_required:
        return next((name for name in NAMING if name in entry.get("properties", {})), "")
    return ""


def _matches(held: JsonValue, wanted: JsonValue, *, exact: bool) -> bool:
    """Whether a value is as wanted: equal, one of several or, unless `exact`, containing it."""
    if isinstance(held, list):
        return any(_matches(one, wanted, exact=exact) for one in held)
    if isinstance(wanted, list):
        return held in wanted
    if exact:
        return str(held) == str(wanted)
    if isinstance(held, str) and isinstance(wanted, str):
        return wanted.casefold() in held.casefold()
    return held == wanted
