"""The things a world holds at first; each depends only on the seed, its kind and its number.

Each kind has POPULATION things, numbered from 0, unless rules list them. A kind listed by things
of another kind (the loans of a book) has some more for each of them, so that none is without.
Things created later get a number from their id.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import cycle
from math import log2
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.linking import IDENTIFYING, is_opaque, words_of
from callwright.generators.environments.rules import MADE_FROM, Row, RuleScope
from callwright.generators.environments.things import Kinds, place_of
from callwright.language.calls.codes import is_uuid, phrase, prefix_of
from callwright.language.calls.examples import ticks_in_a_second
from callwright.language.calls.parameters import meaning_of, meaning_row
from callwright.language.calls.sampling import make_value, type_within
from callwright.language.schemas import fits, json_type
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema, Language

POPULATION = 24
REFERRED = 12  # of a population, as many are referred to by things of other kinds
FEWEST_PARTS = 3  # of a thing
MOST_PARTS = 5
_PARTS_FROM = 1_000
_TRIES = 40
_LARGE = 20
_KEPT = 1 << 15  # values that are kept at hand
_FEWEST_BITS = 40  # of chance in an id
_LARGEST_ID = 10**13  # as a number that JSON readers keep exactly
_DRAWS = 8
_SET = frozenset({"enum", "const", "examples", "multipleOf"})
COUNTED = 100  # whole numbers below it count things, or number them
_DIGITS, _LOWER = "0123456789", "abcdefghijkmnpqrstuvwxyz"
_SOMETHING = "value"
NAMING = ("name", "title")
HEADING = ("summary", "subject")  # what things without a name are called by


class Thing(NamedTuple):
    """A thing: its kind, its number, the fields set by calls, and the `id` given at creation."""

    kind: str
    number: int
    given: Mapping[str, JsonValue]
    id: str = ""


def thing_made(kind: str, id_: JsonValue, given: Mapping[str, JsonValue]) -> Thing:
    """Return a thing outside the population; its id determines its number."""
    return Thing(kind, number_of_made(kind, str(id_)), given, str(id_))


class Told(NamedTuple):
    """A thing's first state as JSON, and the kinds of all things in it."""

    body: bytes
    kinds: frozenset[str]


class Population:
    """A world's first things under one seed."""

    def __init__(self, kinds: Kinds, seed: int, stated: RuleScope | None = None) -> None:
        """Generate things only on demand; `stated` are the things that rules define."""
        self.seed, self._stated, self._kinds = seed, stated, kinds
        self._identities: dict[tuple[str, str, str], list[JsonValue]] = {}
        self._forms: dict[tuple[str, str, str], IdForm | None] = {}
        self._numbers: dict[tuple[str, str, str], dict[str, int]] = {}
        self._leaves: dict[tuple[str, int, str, int, str], JsonValue] = {}
        self.told: dict[tuple[str, int, int, int, str], Told] = {}

    def keep(self, place: tuple[str, int, int, int, str], told: Told) -> None:
        """Cache a thing's values by kind, number, schema, depth and language."""
        if len(self.told) >= _KEPT:
            self.told.clear()
        self.told[place] = told

    def everything(self, kind: str) -> list[Thing]:
        """Return all of a kind except those that only things of another kind list."""
        return [Thing(kind, number, {}) for number in range(self.size(kind))]

    def size(self, kind: str) -> int:
        """Return how many `everything` returns: all but those that only other things list."""
        return POPULATION if (rows := self._rows(kind)) is None else len(rows)

    def is_stated(self, kind: str) -> bool:
        """Whether rules define the things of a kind."""
        return self._rows(kind) is not None

    def referred(self, kind: str, rng: Random) -> Thing:
        """Return a thing of a kind that a thing of another kind refers to."""
        return Thing(kind, rng.randrange(max(1, min(REFERRED, self.size(kind)))), {})

    def _rows(self, kind: str) -> Sequence[Row] | None:
        if self._stated is not None and kind in self._stated.rules.rows:
            return self._stated.rows(kind)
        return None

    def parts(self, kind: str, owner: Thing) -> list[Thing]:
        """Return a thing's parts of a kind; a part of a part has none."""
        owners = self._kinds.owners.get(kind, ())
        if (
            owner.kind not in owners
            or owner.number >= MADE_FROM
            or self.is_stated(kind)
            or self._depth(owner) > 1
        ):
            return []
        at, rng = (
            owners.index(owner.kind),
            Random(f"{self.seed}:{kind} of {owner.kind} {owner.number}"),
        )
        return [
            Thing(kind, _PARTS_FROM + (owner.number * MOST_PARTS + one) * len(owners) + at, {})
            for one in range(rng.randint(FEWEST_PARTS, MOST_PARTS))
        ]

    def owner(self, thing: Thing) -> Thing | None:
        """Return the thing that a part belongs to, or None if it is not a part."""
        owners = self._kinds.owners.get(thing.kind, ())
        if not _PARTS_FROM <= thing.number < MADE_FROM or not owners or self.is_stated(thing.kind):
            return None
        number, at = divmod(thing.number - _PARTS_FROM, len(owners))
        return Thing(owners[at], number // MOST_PARTS, {})

    def _depth(self, thing: Thing) -> int:
        owner = self.owner(thing)
        return 0 if owner is None else 1 + self._depth(owner)

    def number_of(
        self, kind: str, attribute: str, schema: JsonSchema, value: JsonValue
    ) -> int | None:
        """Return the number of the thing that a value identifies; None if none exists at first."""
        place = place_of(kind, attribute, schema)
        if place not in self._numbers:
            numbers_by_identity = self._numbers[place] = {}
            for number, known in enumerate(self._population(kind, attribute, schema)):
                numbers_by_identity.setdefault(str(known), number)
            for part in self._parts_of_all(kind):
                numbers_by_identity.setdefault(
                    str(self.identity(part, attribute, schema)), part.number
                )
        return self._numbers[place].get(str(value))

    def _parts_of_all(self, kind: str) -> Iterator[Thing]:
        """Yield the things of a kind that only other things list, which may be parts themselves."""
        for owner_kind in self._kinds.owners.get(kind, ()):
            above = [
                one
                for other in self._kinds.owners.get(owner_kind, ())
                for one in self.everything(other)
            ]
            further = [part for one in above for part in self.parts(owner_kind, one)]
            for owner in (*self.everything(owner_kind), *further):
                yield from self.parts(kind, owner)

    def identity(self, thing: Thing, attribute: str, schema: JsonSchema) -> JsonValue:
        """Return the value that identifies the thing; no two of a population share it."""
        if attribute in thing.given:
            return thing.given[attribute]
        own = self._kinds.identities.get(thing.kind, "")
        if own in thing.given and place_of(thing.kind, own, schema) == place_of(
            thing.kind, attribute, schema
        ):
            return thing.given[own]
        population = self._population(thing.kind, attribute, schema)
        if thing.number < len(population):
            return population[thing.number]
        numbers = [one for one in population if isinstance(one, int)]
        is_counted = "maximum" not in schema and not is_opaque(attribute)
        if numbers and thing.number < MADE_FROM and is_counted:
            return max(numbers) + thing.number
        rng = Random(f"{self.seed}:{thing.kind}:{thing.number}:id")
        return self._new_identity(
            thing.kind, attribute, self._own_schema(thing.kind, attribute, schema), rng
        )

    def new_identity(
        self, kind: str, attribute: str, schema: JsonSchema, *, after: str
    ) -> JsonValue:
        """Return an id for a new thing, which depends on `after` alone."""
        rng = Random(f"{self.seed}:{kind}:{after}")
        return self._new_identity(kind, attribute, self._own_schema(kind, attribute, schema), rng)

    def _population(self, kind: str, attribute: str, schema: JsonSchema) -> list[JsonValue]:
        place = place_of(kind, attribute, schema)
        if place not in self._identities:
            rng, own = Random(f"{self.seed}:{place}"), self._own_schema(kind, attribute, schema)
            distinct_values, size = dict[str, JsonValue](), self.size(kind)
            for at in range(_TRIES * size):
                # what a kind is called by may be few words: then some of its things have names that
                # anything may have
                usual = "thing" if is_called(attribute, own) and at >= _TRIES * size // 2 else kind
                value = self._new_identity(usual, attribute, own, rng)
                distinct_values.setdefault(str(value), value)
                if len(distinct_values) == size:
                    break
            values = list(distinct_values.values())
            rows: Sequence[Row | dict[str, JsonValue]] = self._rows(kind) or [{}] * size
            self._identities[place] = [
                row[attribute] if attribute in row else values[at % len(values)]
                for at, row in enumerate(rows)
            ]
        return self._identities[place]

    def _own_schema(self, kind: str, attribute: str, schema: JsonSchema) -> JsonSchema:
        """Return the document's schema of an identifying attribute, the same for all references."""
        return self._kinds.identifying.get(place_of(kind, attribute, schema), schema)

    def _new_identity(
        self, kind: str, attribute: str, schema: JsonSchema, rng: Random
    ) -> JsonValue:
        known: Sequence[JsonValue] = (
            schema.get("examples") or self._kinds.example_ids.get(kind) or ()
        )
        few = {key: value for key, value in schema.items() if key not in ("examples", "default")}
        if is_opaque(attribute) and not few.keys() & {"enum", "const"}:
            return self._new_id(place_of(kind, attribute, schema), attribute, few, known, rng)
        if not is_called(attribute, schema):
            return made(attribute, few if is_opaque(attribute) else schema, DEFAULT_LANGUAGE, rng)
        return _new_name(kind, "name" if attribute.lower() in HEADING else attribute, few, rng)

    def _new_id(
        self,
        place: tuple[str, str, str],
        attribute: str,
        schema: JsonSchema,
        examples: Sequence[JsonValue],
        rng: Random,
    ) -> JsonValue:
        """Return an id of the schema's form that nobody can guess, or null if none can be made."""
        if json_type(schema) == "integer":
            return _whole_id(schema, rng)
        if place not in self._forms:
            self._forms[place] = id_form(attribute, schema, examples)
        form = self._forms[place]
        return _set_id(attribute, schema, rng) if form is None else form.draw(rng)

    def value(self, thing: Thing, name: str, schema: JsonSchema, language: Language) -> JsonValue:
        """Return a thing's value under a name, which is no object and no list of objects.

        Raises ReplyError if that can't be generated.

        `schema` has to outlive the population, because generated values are cached.
        """
        if name in thing.given:
            return thing.given[name]
        if thing.number >= MADE_FROM:  # there is no end to what calls make
            return self._leaf(thing, name, schema, language)
        place = (thing.kind, thing.number, name, id(schema), language)
        if place not in self._leaves:
            if len(self._leaves) >= _KEPT:
                self._leaves.clear()
            self._leaves[place] = self._leaf(thing, name, schema, language)
        leaf_value = self._leaves[place]
        if isinstance(leaf_value, list):
            return list(leaf_value)
        return dict(leaf_value) if isinstance(leaf_value, dict) else leaf_value

    def _leaf(self, thing: Thing, name: str, schema: JsonSchema, language: Language) -> JsonValue:
        rows = self._rows(thing.kind) or ()
        if thing.number < len(rows) and name in rows[thing.number]:
            return rows[thing.number][name]  # type: ignore[no-any-return]
        rng, words = self.chance(thing, name), words_of(name)
        told_apart = schema.get("type") == "string" or (
            schema.get("type") == "integer" and is_opaque(name)
        )
        if self._is_heading(thing.kind, name) and is_called(name, schema):
            return self.identity(thing, name, schema)
        if known := type_within(thing.kind, name, {"id": {}, name: schema}):
            return known
        if IDENTIFYING & set(words[-1:]) and told_apart and not schema.get("enum"):
            named_kind = thing.kind
            if len(words) > 1 and is_opaque(name):
                named_kind = self._kinds.named(" ".join(words[:-1]))
            if named_kind == thing.kind:
                return self.identity(thing, name, schema)
            owner = self.owner(thing)
            if owner is not None and owner.kind == named_kind:
                one = owner
            else:
                one = self.referred(named_kind, rng)
            return self.identity(one, words[-1], schema)
        try:
            value = make_value(name, _varied(name, schema, rng), language, rng)
            return value.strip() if isinstance(value, str) else _unrounded(value, name, schema, rng)
        except ReplyError:  # nobody would say it, yet a response can hold it
            kept = {key: value for key, value in schema.items() if key != "description"}
            return made(_SOMETHING, kept, language, rng)

    def _is_heading(self, kind: str, name: str) -> bool:
        """Whether a field is a title, for things of a kind that have no name field."""
        others = (words_of(one)[-1:] for one in self._kinds.fields.get(kind, ()))
        return name in HEADING and not any(set(NAMING) & set(words) for words in others)

    def chance(self, thing: Thing, name: str) -> Random:
        """Return the random generator for a thing's value under a name."""
        return Random(f"{self.seed}:{thing.kind}:{thing.number}:{name}")


def is_called(attribute: str, schema: JsonSchema) -> bool:
    """Whether a field holds the name of a thing in free words."""
    is_free = schema.get("type") == "string" and not {"pattern", "enum", "const"} & schema.keys()
    return is_free and attribute.lower() in (*NAMING, *HEADING)


def number_of_made(*told: str) -> int:
    """Return the number of a thing outside the population, from the texts that identify it."""
    return MADE_FROM + int.from_bytes(blake2b("\0".join(told).encode(), digest_size=6).digest())


def made(name: str, schema: JsonSchema, language: Language, rng: Random) -> JsonValue:
    """Return a value for a response's field, or null if none can be made for its schema."""
    try:
        return make_value(name, schema, language, rng)
    except ReplyError:
        return None


class IdForm(NamedTuple):
    """What ids of a kind look like: a prefix, and the characters to draw from at each place."""

    prefix: str
    among: tuple[str, ...]

    def draw(self, rng: Random) -> str:
        """Return an id of this form."""
        chance = rng.random
        return self.prefix + "".join([one[int(chance() * len(one))] for one in self.among])


_UUID_FORM = IdForm(
    "",
    tuple(
        "0123456789abcdef" if one == "x" else one for one in "xxxxxxxx-xxxx-4xxx-axxx-xxxxxxxxxxxx"
    ),
)


def id_form(
    attribute: str, schema: JsonSchema, examples: Sequence[JsonValue] = ()
) -> IdForm | None:
    """Return the form of ids of a text schema, or None if it is set by a pattern or format.

    It is that of the first example, or else of what such an id usually is: "cus_81b" gives "cus_"
    and letters and digits. It is as long as `_FEWEST_BITS` take, where the schema allows it.
    """
    if json_type(schema) != "string" or schema.keys() & {"pattern", "format"}:
        return None
    usual = made(attribute, schema, DEFAULT_LANGUAGE, Random(attribute))
    model = next((one for one in examples if isinstance(one, str) and one), usual)
    if not isinstance(model, str):
        return None
    prefix, among = _form_of(model)
    forms = (IdForm(prefix, among[:end]) for end in range(len(among), 0, -1))
    return next((one for one in forms if fits(one.draw(Random(attribute)), schema)), None)


def _form_of(model: str) -> IdForm:
    """Return the form of an id, lengthened until chance makes it hard to guess."""
    if is_uuid(model):
        return _UUID_FORM
    prefix = prefix_of(model)
    among = [_characters_like(one) or one for one in model[len(prefix) :]]
    lively = [one for one in among if len(one) > 1] or [_DIGITS]
    bits = sum(log2(len(one)) for one in among)
    for one in cycle(lively):
        if bits >= _FEWEST_BITS:
            break
        among.append(one)
        bits += log2(len(one))
    return IdForm(prefix, tuple(among))


def _set_id(attribute: str, schema: JsonSchema, rng: Random) -> JsonValue:
    """Return an id of a pattern or format, lengthened where the pattern allows it."""
    model = made(attribute, schema, DEFAULT_LANGUAGE, rng)
    if not isinstance(model, str) or "pattern" not in schema:
        return model
    longer = model + _form_of(model).draw(rng)[len(model) :]
    return next(
        (longer[:end] for end in range(len(longer), 0, -1) if fits(longer[:end], schema)), model
    )


def _whole_id(schema: JsonSchema, rng: Random) -> JsonValue:
    low, high = schema.get("minimum"), schema.get("maximum")
    most = 2**31 - 1 if schema.get("format") == "int32" else _LARGEST_ID
    highest = int(min(high, most)) if isinstance(high, int | float) else most
    lowest = int(low) if isinstance(low, int | float) else 1
    drawn = (rng.randint(max(lowest, highest // 10), highest) for _ in range(_DRAWS))
    try:
        return next((one for one in drawn if fits(one, schema)), None) or made(
            "id", schema, DEFAULT_LANGUAGE, rng
        )
    except ValueError:  # the range is empty
        return None


def _new_name(kind: str, attribute: str, schema: JsonSchema, rng: Random) -> JsonValue:
    """Return what a thing of a kind is called, from so many names that worlds seldom share one."""
    described = {**schema, "description": f"The {attribute.lower()} of the {kind}."}
    row = meaning_row(attribute.lower(), described)
    if row is None:
        name: JsonValue = phrase("thing name", DEFAULT_LANGUAGE, rng)
    else:
        name = made(attribute.lower(), described, DEFAULT_LANGUAGE, rng)
        if isinstance(name, str) and (row.give.get("kind", "person") != "person"):
            name = _with_emblem(name, rng)
    fitting = isinstance(name, str) and fits(name, schema)
    return name if fitting else made(f"{kind} {attribute}", schema, DEFAULT_LANGUAGE, rng)


def _with_emblem(name: str, rng: Random) -> str:
    """Return a name of few ("Luna", "bug") with a word that sets it apart ("Luna Heron")."""
    emblem = phrase("emblem", DEFAULT_LANGUAGE, rng)
    return f"{name} {emblem}" if name[:1].isupper() else f"{name}-{emblem.lower()}"


def _unrounded(value: JsonValue, name: str, schema: JsonSchema, rng: Random) -> JsonValue:
    """Return an amount near a round one, so that few things have the same; others unchanged."""
    is_amount = isinstance(value, int | float) and not isinstance(value, bool)
    is_amount = is_amount and not ticks_in_a_second(name, schema)
    if not is_amount or schema.keys() & _SET or meaning_of(name, schema) == "year":
        return value
    near = float(str(value)) * rng.uniform(0.9, 1.1)
    new: JsonValue = round(near, 2) if json_type(schema) == "number" else value
    if json_type(schema) == "integer" and near >= COUNTED:
        new = round(near)
    return new if fits(new, schema) else value


def _varied(name: str, schema: JsonSchema, rng: Random) -> JsonSchema:
    """Return an integer schema with an example of its own, so that things get distinct numbers."""
    numbers = [
        one for one in schema.get("examples") or () if isinstance(one, int) and one >= _LARGE
    ]
    if (
        schema.get("type") != "integer"
        or not numbers
        or ticks_in_a_second(name, schema)
        or schema.keys() & {"minimum", "maximum", "enum"}
    ):
        return schema
    return {**schema, "examples": [round(numbers[0] * rng.uniform(0.5, 1.5))]}


def _characters_like(character: str) -> str:
    """Return the characters that may stand in for one: digits for a digit; "" for none."""
    if character.isdecimal():
        return _DIGITS
    if character.isalpha() and character.isascii():
        return _LOWER if character.islower() else _LOWER.upper()
    return ""
