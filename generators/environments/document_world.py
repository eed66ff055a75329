"""A world made of a document's own schemas: things with ids of their own, which its tools list, find, read and make.

Each kind of thing that the document names ("pet", "order") has a population. What a thing is like depends on the seed, its
kind and its number alone, so that a thing that a list has is the same when it is read by its id, whichever tool is asked first.
What a call makes is known by its new id from then on.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.endpoints import SAFE, Endpoint
from callwright.generators.environments.linking import (
    IDENTIFYING,
    SchemaLeaf,
    entry_schemas,
    is_opaque,
    is_wrapping,
    leaves_of,
    plain,
    subject_of_parameter,
    thing_at,
    thing_of_title,
    words_of,
)
from callwright.generators.environments.protocol import CallResponse
from callwright.generators.tools import argument_problems
from callwright.language.calls.entries import is_query
from callwright.language.calls.meanings import meaning_row
from callwright.language.calls.sampling import make_value
from callwright.language.schemas import json_type
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE, Arguments, Call, JsonSchema, Language, Link, Tool

POPULATION = 24
REFERRED = 12  # of a population, as many are referred to by things of other kinds
MOST_ENTRIES = 8
FEWEST_ENTRIES = 5
FEWEST_PARTS = 3  # of a thing
SAYABLE = 10  # calls of each tool whose values people can say
_DEEPEST = 4
_TRIES = 40
_LONGEST_LIST = frozenset({"limit", "size", "count", "top", "max", "take", "results"})
_COUNTING = frozenset({"total", "count", "hits", "totalcount"})
_ALONE: JsonSchema = {"type": "object", "properties": {"success": {"const": True}}}
_SOMETHING = "value"
_LARGE = 20
_TOKEN = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])[A-Za-z0-9_-]{12,}(,\S*)?")  # what nobody says
_MAKING = "POST"
_NAMING = ("name", "title")
_STATED = ("string", "integer", "number", "boolean")


class Thing(NamedTuple):
    """A thing of the world: its kind, its number, and what the call that made it gave it."""

    kind: str
    number: int
    given: Mapping[str, JsonValue]


class _Answering(NamedTuple):
    """A call that is being answered."""

    endpoint: Endpoint
    arguments: Arguments
    rng: Random


class _Listing(NamedTuple):
    """A list that is being made: the schema of its entries, and how deep in the answer it stands."""

    item: JsonSchema
    answering: _Answering
    depth: int


class DocumentWorld:
    """Answers the calls of a document's tools, with nobody behind them; a pure function of its seed and what was made before."""

    def __init__(self, name: str, endpoints: Sequence[Endpoint], links: Sequence[Link], *, seed: int = 0) -> None:
        """`links` say which parameters a response gives."""
        self.name, self.links, self._seed = name, tuple(links), seed
        self._endpoints = {endpoint.tool.name: endpoint for endpoint in endpoints}
        self.tools = tuple(endpoint.tool for endpoint in self._endpoints.values())
        self._identities: dict[tuple[str, str, str], list[JsonValue]] = {}
        self._made: dict[tuple[str, str], Thing] = {}

    async def answer(self, call: Call) -> CallResponse:
        """What the tool's schema of results allows; a call that its parameters do not allow is stated as a problem."""
        endpoint = self._endpoints.get(call.tool)
        if endpoint is None:
            return CallResponse(problem=f"{self.name} has no tool {call.tool!r}.")
        call = _without_constants(call, endpoint.tool)
        problems = argument_problems(endpoint.tool, call.arguments, partial=False)
        if problems:
            return CallResponse(problem=" ".join(problems))
        try:
            return CallResponse(response=self._result(endpoint, call))
        except ReplyError as error:
            return CallResponse(problem=f"What {call.tool!r} returns can't be simulated: {error}")

    def remember(self, call: Call) -> None:
        """Take note of a call that is answered elsewhere: what it makes, or lists of one thing, can be read here as well."""
        endpoint = self._endpoints.get(call.tool)
        if endpoint is not None and (_makes(endpoint) or any(is_opaque(name) for name in call.arguments)):
            with suppress(ReplyError):
                self._result(endpoint, _without_constants(call, endpoint.tool))

    @cached_property
    def _example_ids(self) -> Mapping[str, list[JsonValue]]:
        """Ids of each kind of thing, as the parameters that take them have examples."""
        found: dict[str, list[JsonValue]] = {}
        for endpoint in self._endpoints.values():
            for leaf in leaves_of(endpoint.tool.parameters, through_lists=False):
                subject = subject_of_parameter(endpoint, leaf)
                if subject is not None and is_opaque(subject.attribute) and leaf.schema.get("examples"):
                    found.setdefault(_last(subject.thing), list(leaf.schema["examples"]))
        return found

    @cached_property
    def sayable_calls(self) -> tuple[Call, ...]:
        """Calls whose values people can say: of things that there are, by their names and what they are like."""
        return tuple(call for endpoint in self._endpoints.values() for call in self._sayable(endpoint))

    @cached_property
    def _linked(self) -> Mapping[str, set[str]]:
        """The parameters of each tool that a response gives."""
        found: dict[str, set[str]] = {}
        for link in self.links:
            found.setdefault(link.tool, set()).add(link.parameter.partition(".")[0].removesuffix("[]"))
        return found

    def _sayable(self, endpoint: Endpoint) -> Iterator[Call]:
        tool = endpoint.tool
        linked = self._linked.get(tool.name, set())
        entries = _returned(tool)
        for number in range(SAYABLE):
            rng = Random(f"{self._seed}:{tool.name}:{number}")
            most = POPULATION * 2 if _makes(endpoint) else POPULATION  # what is made is not one of those that are there
            thing = Thing(_kind(endpoint, *entries), rng.randrange(most), {}) if entries else None
            values: Arguments = {}
            for name in tool.choosable:
                schema = tool.properties[name]
                if name not in linked and not (is_opaque(name) and not schema.get("enum")):
                    values |= self._stated_value(
                        endpoint, name, (thing, entries[1]) if thing and entries else None, rng
                    )
            yield Call(tool=tool.name, arguments=values)

    def _stated_value(
        self, endpoint: Endpoint, name: str, entry: tuple[Thing, JsonSchema] | None, rng: Random
    ) -> Arguments:
        """The value that is said for a parameter: that of a thing which a list has, else what its schema allows."""
        schema = plain(endpoint.tool.properties[name])
        if entry is not None and (
            field := _field_for(name, schema, entry[1], is_required=name in endpoint.tool.required)
        ):
            answering = _Answering(endpoint, {}, rng)
            value = self._member(entry[0], field, plain(entry[1]["properties"][field]), answering, 0)
            if isinstance(value, list) and schema.get("type") != "array":
                value = value[0] if value else None
            if value not in (None, "", []):
                return {name: value}
        try:
            value = make_value(name, schema, endpoint.tool.language, rng)
        except ReplyError:
            return {}
        return {} if isinstance(value, str) and _TOKEN.fullmatch(value) else {name: value}

    def _result(self, endpoint: Endpoint, call: Call) -> JsonValue:
        schema = plain(endpoint.tool.returns or _ALONE)
        answering = _Answering(endpoint, call.arguments, Random(f"{self._seed}:{call.key}"))
        if schema.get("type") == "array" or isinstance(schema.get("items"), dict):
            return self._list("", schema, answering, 0)
        if not isinstance(schema.get("properties"), dict):
            return _made("result", schema, endpoint.tool.language, answering.rng)
        thing = self._meant(endpoint, schema, call)
        return self._object(thing, schema, answering, 0)

    def _meant(self, endpoint: Endpoint, schema: JsonSchema, call: Call) -> Thing:
        """The thing that a call is about: the one whose id it gives, the one that it makes, else one of its own."""
        kind = _kind(endpoint, "", schema)
        for leaf in leaves_of(endpoint.tool.parameters, through_lists=False):
            subject = subject_of_parameter(endpoint, leaf)
            value = call.arguments.get(leaf.names[0]) if len(leaf.names) == 1 else None
            if value is None or subject is None or _last(subject.thing) != kind:
                continue
            if not _makes(endpoint) or f"{{{leaf.names[0]}}}" in endpoint.path:
                field = next((one for one in (leaf.names[0], subject.attribute) if one in schema["properties"]), "")
                stated = plain(schema["properties"].get(field, leaf.schema))
                return self._known(kind, field or subject.attribute, stated, value)
        number = POPULATION + Random(f"{self._seed}:{call.key}:thing").randrange(10**6)
        if not _makes(endpoint):
            return Thing(kind, number, {})
        given = {_own_name(endpoint, name, kind, schema): value for name, value in call.arguments.items()}
        return self._remember(Thing(kind, number, given), schema)

    def _known(self, kind: str, attribute: str, schema: JsonSchema, value: JsonValue) -> Thing:
        made = self._made.get((kind, str(value)))
        if made is not None:
            return made._replace(given={**made.given, attribute: value})
        known = self._population(kind, attribute, schema)
        number = known.index(value) if value in known else POPULATION + Random(f"{kind}:{value}").randrange(10**6)
        return Thing(kind, number, {attribute: value})

    def _remember(self, thing: Thing, schema: JsonSchema) -> Thing:
        """Keep what a call makes under each id that it has."""
        for name, member in schema["properties"].items():
            if is_opaque(name) or name in thing.given:
                self._made[thing.kind, str(self._identity(thing, name, plain(member)))] = thing
        return thing

    def _object(self, thing: Thing, schema: JsonSchema, answering: _Answering, depth: int) -> dict[str, JsonValue]:
        found: dict[str, JsonValue] = {}
        required = schema.get("required") or ()
        for name, stated in schema["properties"].items():
            member = plain(stated)
            if depth == 0 and (echo := _echo(name, member, thing, answering)) is not None:
                found[name] = echo
                continue
            try:
                value = self._member(thing, name, member, answering, depth)
            except ReplyError:
                if name in required:
                    raise
                continue
            if value is not None or name in required:
                found[name] = value
        return _counted(found, schema)

    def _member(self, thing: Thing, name: str, schema: JsonSchema, answering: _Answering, depth: int) -> JsonValue:
        if name in thing.given:
            return thing.given[name]
        if depth == 0 and schema.get("type") == "boolean" and answering.endpoint.method.upper() not in SAFE:
            return True  # what was to be done went well
        rng = Random(f"{self._seed}:{thing.kind}:{thing.number}:{name}")
        if isinstance(schema.get("properties"), dict):
            if depth >= _DEEPEST:
                return None
            inner = thing if is_wrapping(name) else self._referred(name, schema, rng)
            return self._object(inner, schema, answering, depth + 1)
        if isinstance(schema.get("items"), dict) and isinstance(plain(schema["items"]).get("properties"), dict):
            if depth == 0 or (depth == 1 and thing.number >= POPULATION):
                return self._list(name, schema, answering, depth + 1)
            return self._parts(name, schema, answering, rng, depth)
        return self._leaf(thing, name, schema, answering, rng)

    def _leaf(self, thing: Thing, name: str, schema: JsonSchema, answering: _Answering, rng: Random) -> JsonValue:
        words = words_of(name)
        if words and words[-1] in IDENTIFYING and _identifies(name, schema):
            if len(words) > 1 and words[-2] != thing.kind and is_opaque(name):  # the id of a thing of another kind
                return self._identity(Thing(words[-2], rng.randrange(REFERRED), {}), words[-1], schema)
            return self._identity(thing, name, schema)
        try:
            value = make_value(name, _varied(schema, rng), answering.endpoint.tool.language, rng)
            return value.strip() if isinstance(value, str) else value
        except ReplyError:  # nobody would say it, yet a response can hold it
            kept = {key: value for key, value in schema.items() if key != "description"}
            return _made(_SOMETHING, kept, answering.endpoint.tool.language, rng)

    def _referred(self, name: str, schema: JsonSchema, rng: Random) -> Thing:
        return Thing(
            _last(thing_of_title(schema.get("title")) or " ".join(words_of(name))), rng.randrange(REFERRED), {}
        )

    def _parts(self, name: str, schema: JsonSchema, answering: _Answering, rng: Random, depth: int) -> JsonValue:
        """The things that a thing has: one or two, each once."""
        if depth >= _DEEPEST:
            return []
        item = plain(schema["items"])
        things = {one.number: one for one in (self._referred(name, item, rng) for _ in range(rng.randint(1, 2)))}
        return [self._object(one, item, answering, depth + 1) for one in things.values()]

    def _list(self, name: str, schema: JsonSchema, answering: _Answering, depth: int) -> JsonValue:
        item = plain(schema["items"])
        if not isinstance(item.get("properties"), dict):
            return _made(name or "results", schema, answering.endpoint.tool.language, answering.rng)
        kind = _kind(answering.endpoint, name, item)
        everything = [Thing(kind, number, {}) for number in range(POPULATION)]
        listing = _Listing(item, answering, depth)
        things = self._parts_of(everything, listing) or everything
        is_narrowed = things is not everything
        for argument, value in answering.arguments.items():
            field = _narrowing(answering.endpoint, argument, kind, item)
            if field:
                is_narrowed = True
                things = self._with(things, field, value, listing)
        if not is_narrowed:
            things = sorted(answering.rng.sample(things, answering.rng.randint(FEWEST_ENTRIES, MOST_ENTRIES)))
        return [self._object(one, item, answering, depth + 1) for one in things[: _most(answering.arguments)]]

    def _with(self, things: list[Thing], field: str, value: JsonValue, listing: _Listing) -> list[Thing]:
        """Those of the things that have this value."""
        schema = plain(listing.item["properties"][field])
        return [
            one for one in things if _agree(self._member(one, field, schema, listing.answering, listing.depth), value)
        ]

    def _parts_of(self, things: list[Thing], listing: _Listing) -> list[Thing]:
        """Things of the one whose id the call gives, unless enough of all are its own; each is known by its id from then on."""
        kind, (item, answering, _) = things[0].kind, listing
        for argument, value in answering.arguments.items():
            owner = _other_thing(answering.endpoint, argument, kind)
            if not owner:
                continue
            name = _own_name(answering.endpoint, argument, kind, item)
            if name in item["properties"] and len(self._with(things, name, value, listing)) >= FEWEST_PARTS:
                return []
            rng = Random(f"{self._seed}:{kind} of {owner} {value}")
            numbers = [POPULATION + rng.randrange(10**6) for _ in range(rng.randint(FEWEST_PARTS, FEWEST_ENTRIES))]
            return [self._remember(Thing(kind, number, {name: value}), item) for number in numbers]
        return []

    def _identity(self, thing: Thing, attribute: str, schema: JsonSchema) -> JsonValue:
        """What the thing is known by; no two of a population share it."""
        if attribute in thing.given:
            return thing.given[attribute]
        if thing.number < POPULATION:
            return self._population(thing.kind, attribute, schema)[thing.number]
        return self._new_identity(thing.kind, attribute, schema, Random(f"{self._seed}:{thing.kind}:{thing.number}:id"))

    def _population(self, kind: str, attribute: str, schema: JsonSchema) -> list[JsonValue]:
        last = (words_of(attribute) or [attribute])[-1]
        place = (kind, last, str(schema.get("type")))
        if place not in self._identities:
            rng = Random(f"{self._seed}:{place}")
            found: dict[str, JsonValue] = {}
            for _ in range(_TRIES * POPULATION):
                value = self._new_identity(kind, attribute, schema, rng)
                found.setdefault(str(value), value)
                if len(found) == POPULATION:
                    break
            values = list(found.values())
            self._identities[place] = [values[number % len(values)] for number in range(POPULATION)]
        return self._identities[place]

    def _new_identity(self, kind: str, attribute: str, schema: JsonSchema, rng: Random) -> JsonValue:
        known: Sequence[JsonValue] = schema.get("examples") or self._example_ids.get(kind) or ()
        examples = [one for one in known if isinstance(one, str)]
        is_text = schema.get("type") == "string"
        if is_text and is_opaque(attribute) and examples and "pattern" not in schema and schema.get("format") != "uuid":
            return "".join(_like(character, rng) for character in examples[0])
        few = {key: value for key, value in schema.items() if key not in ("examples", "default")}
        if attribute in _NAMING and schema.get("type") == "string" and "pattern" not in schema:
            return _new_name(kind, attribute, few, rng)
        return _made(attribute, few if is_opaque(attribute) else schema, DEFAULT_LANGUAGE, rng)


def _without_constants(call: Call, tool: Tool) -> Call:
    """The call without what its catalog has fixed, which is the same for all."""
    stated = {name: value for name, value in call.arguments.items() if name not in tool.constants}
    return call if len(stated) == len(call.arguments) else call.with_changes(arguments=stated)


def _new_name(kind: str, attribute: str, schema: JsonSchema, rng: Random) -> JsonValue:
    """What a thing of a kind is called: by the meaning of its kind's name where there is one."""
    described = {**schema, "description": f"The {attribute} of the {kind}."}
    if meaning_row(attribute, described) is not None:
        return _made(attribute, described, DEFAULT_LANGUAGE, rng)
    return _made(f"{kind} {attribute}", schema, DEFAULT_LANGUAGE, rng)


def _identifies(name: str, schema: JsonSchema) -> bool:
    """Whether a value tells one thing from another: a text, or a number that is called an id."""
    kind = schema.get("type")
    return not schema.get("enum") and (kind == "string" or (kind == "integer" and is_opaque(name)))


def _varied(schema: JsonSchema, rng: Random) -> JsonSchema:
    """The schema of a number with an example of its own: one number for all things sets none of them apart."""
    numbers = [one for one in schema.get("examples") or () if isinstance(one, int) and one >= _LARGE]
    if schema.get("type") != "integer" or not numbers or schema.keys() & {"minimum", "maximum", "enum"}:
        return schema
    return {**schema, "examples": [round(numbers[0] * rng.uniform(0.5, 1.5))]}


def _like(character: str, rng: Random) -> str:
    if character.isdecimal():
        return rng.choice("0123456789")
    if character.isalpha() and character.isascii():
        return rng.choice("abcdefghijkmnpqrstuvwxyz" if character.islower() else "ABCDEFGHJKLMNPQRSTUVWXYZ")
    return character


def _makes(endpoint: Endpoint) -> bool:
    """Whether a call makes a thing; what is posted to the place of one thing changes that."""
    return endpoint.method.upper() == _MAKING and not endpoint.path.endswith("}")


def _kind(endpoint: Endpoint, entries: str, schema: JsonSchema) -> str:
    """The kind of the thing that a schema describes, in one word."""
    named = entries.rpartition(".")[2]
    titled = thing_of_title(schema.get("title"))
    if titled or not named or is_wrapping(named):
        return _last(titled or thing_at(endpoint) or " ".join(words_of(endpoint.tool.name)))
    return _last(" ".join(words_of(named)))


def _last(thing: str) -> str:
    return thing.rpartition(" ")[2]


def _returned(tool: Tool) -> tuple[str, JsonSchema] | None:
    """What a tool returns: the thing itself where it has an id of its own, else the first list of objects."""
    returns = plain(tool.returns or {})
    members = returns.get("properties")
    if isinstance(members, dict) and any(is_opaque(name) for name in members):
        return "", returns
    for entries, schema in entry_schemas(returns):
        if entries or returns.get("type") == "array":
            return entries, schema
    return ("", returns) if isinstance(members, dict) else None


def _narrowing(endpoint: Endpoint, argument: str, kind: str, entry: JsonSchema) -> str:
    """The field of an entry that an argument narrows a list of things of this kind by, "" where it narrows by none."""
    if _other_thing(endpoint, argument, kind):
        field = _own_name(endpoint, argument, kind, entry)
        return field if field in entry["properties"] else ""
    wanted = plain(endpoint.tool.properties[argument])
    return _field_for(argument, wanted, entry, is_required=argument in endpoint.tool.required)


def _other_thing(endpoint: Endpoint, argument: str, kind: str) -> str:
    """The thing of another kind whose id an argument is, in one word; "" where it is none."""
    if argument not in endpoint.tool.properties or not is_opaque(argument):
        return ""
    leaf = SchemaLeaf(argument, (argument,), plain(endpoint.tool.properties[argument]))
    subject = subject_of_parameter(endpoint, leaf)
    thing = _last(subject.thing) if subject is not None else ""
    return thing if thing != kind else ""


def _own_name(endpoint: Endpoint, argument: str, kind: str, schema: JsonSchema) -> str:
    """Under which name a thing of this kind has what an argument gives: another thing's id as "book_id", all else as it is."""
    thing = _other_thing(endpoint, argument, kind)
    if not thing:
        return argument
    own = [thing, words_of(argument)[-1]]
    return next((str(field) for field in schema["properties"] if words_of(field)[-2:] == own), " ".join(own))


def _field_for(argument: str, wanted: JsonSchema, entry: JsonSchema, *, is_required: bool) -> str:
    """The field of an entry that an argument narrows a list by, "" where it narrows by none."""
    words = words_of(argument)
    for field, stated in entry.get("properties", {}).items():
        if words_of(field) == words and _is_stated(plain(stated)):
            return str(field)
    if is_query(argument, wanted, linked=False) and is_required:
        return next((name for name in _NAMING if name in entry.get("properties", {})), "")
    return ""


def _is_stated(schema: JsonSchema) -> bool:
    held = plain(schema["items"]) if isinstance(schema.get("items"), dict) else schema
    return "type" in held and json_type(held) in _STATED


def _agree(held: JsonValue, wanted: JsonValue) -> bool:
    """Whether what a thing is like is what was asked for: equal, one of several, or a part of its name."""
    if isinstance(held, list):
        return any(_agree(one, wanted) for one in held)
    if isinstance(wanted, list):
        return held in wanted
    if isinstance(held, str) and isinstance(wanted, str):
        return wanted.casefold() in held.casefold()
    return held == wanted


def _echo(name: str, schema: JsonSchema, thing: Thing, answering: _Answering) -> JsonValue:
    """What the call has given under the same name, None where it has given nothing of the kind, or another thing's id."""
    own = plain(answering.endpoint.tool.properties.get(name, {}))
    fits = name in answering.arguments and own.get("type") == schema.get("type")
    fits = fits and not _other_thing(answering.endpoint, name, thing.kind)
    return answering.arguments[name] if fits else None


def _most(arguments: Arguments) -> int:
    """How long a list may be at most."""
    for name, value in arguments.items():
        if _LONGEST_LIST & set(words_of(name)) and isinstance(value, int) and not isinstance(value, bool):
            return max(1, min(value, MOST_ENTRIES))
    return MOST_ENTRIES


def _counted(found: dict[str, JsonValue], schema: JsonSchema) -> dict[str, JsonValue]:
    """The object, with the length of its only list where it says how many there are."""
    lists = [value for value in found.values() if isinstance(value, list)]
    if len(lists) == 1:
        for name in found:
            if _COUNTING & set(words_of(name)) and plain(schema["properties"][name]).get("type") == "integer":
                found[name] = len(lists[0])
    return found


def _made(name: str, schema: JsonSchema, language: Language, rng: Random) -> JsonValue:
    """A value that a response has under a name, null where its schema takes none that can be made."""
    try:
        return make_value(name, schema, language, rng)
    except ReplyError:
        return None
