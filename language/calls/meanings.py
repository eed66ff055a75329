"""What the parameters of any tool mean, and values of that meaning: by the table of language/meanings.yaml, else by kind.

A parameter gets a value only where something fits it: examples or choices of its schema, a row of the table, a pattern, or a
kind whose phrases suit whatever has a name of that kind. `value_gap` says of all others that nobody here knows a value.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from callwright.language.calls.codes import PHRASED, phrase, shaped
from callwright.language.calls.parameters import CLOCKED, CODED, NUMERIC, meaning_by_words, meaning_of, without_links
from callwright.language.names import split_name, topic_of
from callwright.language.packs import of, packaged
from callwright.language.schemas import json_type
from callwright.warehouse.records import JsonSchema, Language

if TYPE_CHECKING:
    from faker import Faker

_TABLE = ("callwright.language", "meanings.yaml")
_LOCALE = "en_US"
_NAMED = ("en_US", "en_GB", "en_IN", "es_ES", "es_MX", "fr_FR", "de_DE", "it_IT", "pt_BR", "nl_NL", "pl_PL")
_CHINESE = ("zh_CN", "zh_TW")
_SHORTEST_NAME = 3
_SEED_BITS = 48
_LONGEST_HEAD = 60
_BOUNDS = ("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")
# kinds whose phrases suit any parameter that is called so; of the others only those of a topic do
_SUITED = CLOCKED | CODED | {"code", "pattern", "person", "place", "origin", "destination", "country", "address",
    "company", "language", "job", "title", "task", "product", "food", "music", "film", "book", "message", "reason",
    "problem"}  # fmt: skip
# kinds that a description alone tells; a "to" or a "file" in a sentence tells none
_DESCRIBED = CLOCKED | {"email", "phone", "link", "currency", "language", "airport", "country", "address", "company", "person",
    "code"}  # fmt: skip
_DEEPEST = 2
ASKED_OF = (
    "x-asked-of"  # a schema's note of the tool whose parameter it is, for parameters that say little by themselves
)
_LONGEST_EXAMPLE, _TELLING_EXAMPLES = 80, 2
_STATED = r"[`'\"]?[A-Za-z][\w-]*[`'\"]?"
_CHOICES = re.compile(
    rf"\b(?:can be|one of|either|must be|values(?: are)?):\s*((?:{_STATED}, )*{_STATED},? (?:or|and) {_STATED})(?=[.,;]|$)",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\benum\b\]?:?\s*\[([^\]]+)\]", re.IGNORECASE)
_JOINT = re.compile(r",? (?:or|and) |, ")
_SYNTAX = re.compile(r"%[0-9A-F]{2}|[{}<>|]|\w\(|\)\)")
_MANY_CODES = re.compile(r"[^,\s]{12,}(?:,\s?[^,\s]{12,})+")


class Meaning(NamedTuple):
    """A row of the table: how a parameter is known, and where its values come from."""

    name: re.Pattern[str]
    about: re.Pattern[str] | None
    where: re.Pattern[str] | None
    give: dict[str, Any]  # what the YAML file holds

    @property
    def is_unknown(self) -> bool:
        """Whether nobody can say a value of this meaning."""
        return bool(self.give.get("unknown"))


def meaning_row(name: str, schema: JsonSchema, table: str = "texts") -> Meaning | None:
    """The row of the table that holds for a parameter, None where none does."""
    described = f"{without_links(schema.get('description') or '')} {schema.get(ASKED_OF, '')}"
    return _row(table, " ".join(split_name(name)), described.strip().lower())


@lru_cache(16384)
def _row(table: str, words: str, description: str) -> Meaning | None:
    rows, head = _rows()[table], description[:_LONGEST_HEAD]
    for row in rows:
        if row.name.search(words) and (row.where is None or row.where.search(description)):
            return row
    return next((row for row in rows if row.about and row.about.search(head)), None)


@cache
def _rows() -> dict[str, tuple[Meaning, ...]]:
    return {table: tuple(map(_meaning, rows)) for table, rows in packaged(*_TABLE).items()}


def _meaning(row: dict[str, Any]) -> Meaning:
    about, where = row.get("about"), row.get("where")
    give = {key: value for key, value in row.items() if key not in ("name", "about", "where")}
    return Meaning(
        re.compile(row["name"]), re.compile(about) if about else None, re.compile(where) if where else None, give
    )


def text_of(meaning: Meaning, language: Language, rng: Random) -> str:
    """A value of a meaning; "" where the language has no words for it."""
    give = meaning.give
    if "faker" in give:
        return fake(give["faker"], rng)
    if "pick" in give:
        return str(rng.choice(give["pick"]))
    if "shape" in give:
        return shaped(give["shape"], rng)
    return phrase(give["kind"], language, rng) if _has_phrases(give.get("kind", ""), language) else ""


def value_gap(name: str, schema: JsonSchema, language: Language, *, depth: int = 0) -> str:
    """Why no value is known for a parameter, "" where one is."""
    table = "numbers" if json_type(schema) in ("integer", "number") else "texts"
    row = meaning_row(name, schema, table)
    if row and row.is_unknown and not schema.get("enum") and len(schema.get("examples") or ()) < _TELLING_EXAMPLES:
        return f"what {name!r} takes is nothing that people say"
    if any(_is_code(one) for one in schema.get("examples") or () if isinstance(one, str)):
        return f"the examples of {name!r} are nothing that people say"
    if "const" in schema or schema.get("enum") or schema.get("examples") or stated_choices(schema):
        return ""
    match json_type(schema):
        case "boolean":
            return ""
        case "integer" | "number":
            return _number_gap(name, schema)
        case "array":
            return _list_gap(name, schema, language, depth)
        case "object":
            return _object_gap(name, schema, language, depth)
    return _text_gap(name, schema, language)


def stated_choices(schema: JsonSchema) -> list[str]:
    """The choices that only the description of a text names: "Can be: inbound, outbound or both."."""
    if json_type(schema) != "string" or schema.get("enum"):
        return []
    description = str(schema.get("description") or "")
    found = _LISTED.search(description) or _CHOICES.search(description)
    return [choice.strip("`'\" ") for choice in _JOINT.split(found[1])] if found else []


def _is_code(example: str) -> bool:
    """Whether an example is a list of codes, or code of another kind, which nobody says."""
    return len(example) > _LONGEST_EXAMPLE or bool(_MANY_CODES.fullmatch(example) or _SYNTAX.search(example))


def in_context(properties: Mapping[str, JsonSchema], tool: str, description: str) -> dict[str, JsonSchema]:
    """The schemas of a tool's parameters, each with a note of what the tool does: a "path" is a folder's where folders are made."""
    note = f"{tool} {description.partition('. ')[0]}"
    return {name: {**schema, ASKED_OF: note} for name, schema in properties.items()}


def _text_gap(name: str, schema: JsonSchema, language: Language) -> str:
    row = meaning_row(name, schema)
    if row is not None:
        known = not row.is_unknown and ("kind" not in row.give or _has_phrases(row.give["kind"], language))
        return "" if known else f"no value of the meaning of {name!r} is known"
    if schema.get("pattern"):
        return ""
    kind = meaning_of(name, schema)
    named = (meaning_by_words(name, "") != "text" and name.lower() != "name") or schema.get("format")
    if kind in NUMERIC or (named and (kind in _SUITED or _has_phrases(topic_of(name, kind), language))):
        return ""
    stated = meaning_by_words("", str(schema.get("description") or ""))
    return (
        ""
        if stated == kind and kind in _DESCRIBED
        else f"what values {name!r} takes is not known from its name, description or schema"
    )


def _has_phrases(kind: str, language: Language) -> bool:
    return kind in PHRASED or kind in CODED or (kind != "text" and kind in of(language).data["values"]["templates"])


def _number_gap(name: str, schema: JsonSchema) -> str:
    bounded = all(any(word in schema for word in words) for words in _BOUNDS)
    if bounded or meaning_row(name, schema, "numbers") or meaning_of(name, schema) != "number":
        return ""
    return f"which numbers {name!r} takes is not known from its name, description or schema"


def _list_gap(name: str, schema: JsonSchema, language: Language, depth: int) -> str:
    items = schema.get("items")
    if not isinstance(items, dict) or not items:
        return _text_gap(name, schema, language)
    inner = {**items, "description": items.get("description") or schema.get("description", "")}
    return value_gap(name, inner, language, depth=depth + 1)


def _object_gap(name: str, schema: JsonSchema, language: Language, depth: int) -> str:
    members = schema.get("properties") or {}
    if depth >= _DEEPEST or (not members and "address" not in split_name(name)):
        return f"what {name!r} holds is not known from its schema"
    needed: Sequence[str] = [one for one in schema.get("required") or () if one in members]
    gaps = [gap for one in needed if (gap := value_gap(one, members[one], language, depth=depth + 1))]
    if (
        not needed
        and members
        and all(value_gap(one, of_it, language, depth=depth + 1) for one, of_it in members.items())
    ):
        return f"no member of {name!r} has a known value"
    return next(iter(gaps), "")


def number_range(name: str, schema: JsonSchema) -> dict[str, Any]:  # what the YAML file holds
    """The range or the list of numbers that the table gives for a parameter, {} where it gives none."""
    row = meaning_row(name, schema, "numbers")
    return dict(row.give) if row else {}


def fake(provider: str, rng: Random) -> str:
    """A value of one of Faker's providers, by its name; the same generator, the same value."""
    faker = _faker()
    faker.seed_instance(rng.getrandbits(_SEED_BITS))
    return str(faker.format(provider))


@cache
def first_names() -> frozenset[str]:
    """The first names that Faker has in languages written in Latin letters that people here meet most."""
    return frozenset(name for name in _names_of(_NAMED, "first_names") if len(name) >= _SHORTEST_NAME)


@cache
def chinese_names() -> tuple[frozenset[str], frozenset[str]]:
    """The family names and the given names that Faker has in Chinese letters."""
    families, given = (frozenset(_names_of(_CHINESE, field)) for field in ("last_names", "first_names"))
    return families, given


def _names_of(locales: Iterable[str], field: str) -> Iterator[str]:
    from importlib import import_module

    for locale in locales:
        provider = import_module(f"faker.providers.person.{locale}").Provider
        for listed in (field, f"{field}_male", f"{field}_female"):
            yield from getattr(provider, listed, ())


@cache
def _faker() -> "Faker":
    from faker import Faker  # half a second that only those pay who draw such a value

    return Faker(_LOCALE)
