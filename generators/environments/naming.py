"""What the names in an OpenAPI document speak of: "flow_id", "/flows/{id}" and "flows.id.any_" are all the id of a flow."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from generators.environments.endpoints import Endpoint
from warehouse.records import JsonSchema

IDENTIFYING = frozenset(
    {"id", "uid", "uuid", "guid", "key", "name", "slug", "code", "token", "handle", "reference", "ref", "number"}
    | {"checksum", "tag", "sku", "isbn", "iata", "iso", "username", "email"}
)
DEEPEST = 4  # levels of objects that are looked into, for parameters and for entries
_LISTS = frozenset({"any", "in", "eq", "equals", "is", "one"})  # "id.any_" compares with what stands before it
_WRAPPING = frozenset(
    {"response", "result", "model", "schema", "dto", "read", "out", "detail", "details", "item", "entry", "object"}
    | {"data", "info", "record", "records", "items", "results", "output", "summary", "value", "values", "content"}
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_GAP = re.compile(r"[^A-Za-z0-9]+")
_HISSING = ("sses", "xes", "ches", "shes", "zes")


class Subject(NamedTuple):
    """What a value is: the `attribute` of a thing, whose name is words in the singular ("flow run"); "" where unknown."""

    thing: str
    attribute: str


class Leaf(NamedTuple):
    """A place for a value that is no object: its path ("legs[].fromId"), names on the way, schema, and whose it is."""

    path: str
    names: tuple[str, ...]
    schema: JsonSchema


def words_of(name: str) -> list[str]:
    """The words of a name in the singular, whatever case it is written in."""
    return [_singular(word.lower()) for word in _GAP.split(_HUMP.sub(" ", name)) if word]


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004 - "series" is rare, "ties" rarer
        return f"{word[:-3]}y"
    if word.endswith(_HISSING):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 2 else word  # noqa: PLR2004


def leaves_of(schema: JsonSchema, *, through_lists: bool) -> Iterator[Leaf]:
    """The places of a schema that hold plain values, down to DEEPEST; lists are entered only where it is asked for."""
    yield from _leaves(schema, "", (), through_lists=through_lists)


def _leaves(schema: JsonSchema, path: str, names: tuple[str, ...], *, through_lists: bool) -> Iterator[Leaf]:
    schema = plain(schema)
    if len(names) <= DEEPEST and isinstance(schema.get("properties"), dict):
        for name, member in schema["properties"].items():
            inner = f"{path}.{name}" if path else name
            if isinstance(member, dict):
                yield from _leaves(member, inner, (*names, name), through_lists=through_lists)
    elif schema.get("type") == "array":
        if through_lists and isinstance(schema.get("items"), dict):
            yield from _leaves(schema["items"], f"{path}[]", names, through_lists=through_lists)
    elif schema.get("type") != "object":
        yield Leaf(path, names, schema)


def plain(schema: JsonSchema) -> JsonSchema:
    """What a schema says of a value that is not null: its type as one word, its alternatives but the null."""
    for key in ("anyOf", "oneOf"):
        choices = [one for one in schema.get(key) or () if isinstance(one, dict) and one.get("type") != "null"]
        if len(choices) == 1:
            return plain({**{name: value for name, value in schema.items() if name != key}, **choices[0]})
    kind = schema.get("type")
    if isinstance(kind, list):
        kinds = [one for one in kind if one != "null"]
        return {**schema, "type": kinds[0]} if len(kinds) == 1 else schema
    return schema


def subject_of_parameter(endpoint: Endpoint, leaf: Leaf) -> Subject | None:
    """What a parameter's value identifies; None where its name says nothing of the kind."""
    names = list(leaf.names)
    if len(names) > 1 and set(words_of(names[-1])) <= _LISTS:
        names.pop()
    place = next((place for place in endpoint.places if place.parameter == leaf.names[0]), None)
    if place is not None and place.part == "path":
        around = _before(endpoint.path, place.name)
    else:
        around = " ".join(words_of(names[-2])) if len(names) > 1 else thing_of_path(endpoint.path)
    return subject_of_name(names[-1], around)


def subject_of_name(name: str, around: str) -> Subject | None:
    """What a name identifies that stands within `around`; None where it identifies nothing."""
    words = words_of(name)
    if not words or words[-1] not in IDENTIFYING:
        return None
    return Subject(" ".join(words[:-1]) or around, words[-1])


def thing_of_path(path: str) -> str:
    """What an address speaks of: the last of its fixed segments that is a plural, else the first."""
    fixed = [segment for segment in path.split("/") if segment and not segment.startswith("{")]
    plurals = [segment for segment in fixed if words_of(segment) and words_of(segment)[-1] != _last_word(segment)]
    return " ".join(words_of((plurals or fixed[:1] or [""])[-1]))


def thing_of_title(title: object) -> str:
    """The thing that a schema's title names, without the words that say it is a response."""
    words = words_of(title) if isinstance(title, str) else []
    if not words or words[0] == "response":  # a title made of the operation's name says nothing of the thing
        return ""
    while words and words[-1] in _WRAPPING:
        words.pop()
    return " ".join(words)


def is_wrapping(name: str) -> bool:
    """Whether a name says only that something is within."""
    return set(words_of(name)) <= {*_WRAPPING, *map(_singular, _WRAPPING)}


def same_thing(one: str, other: str) -> bool:
    """Whether two names are of one thing: the same words, or the end of the longer is the shorter ("parent flow run")."""
    longer, shorter = sorted((one.split(), other.split()), key=len, reverse=True)
    return bool(shorter) and longer[len(longer) - len(shorter) :] == shorter


def _last_word(segment: str) -> str:
    words: Sequence[str] = [word.lower() for word in _GAP.split(_HUMP.sub(" ", segment)) if word]
    return words[-1] if words else ""


def _before(path: str, name: str) -> str:
    """The thing that the segments before a path's parameter name; "/flows/name/{name}" names a flow."""
    head = path.split(f"{{{name}}}", maxsplit=1)[0]
    fixed = [segment for segment in head.split("/") if segment and not segment.startswith("{")]
    while len(fixed) > 1 and words_of(fixed[-1]) == words_of(name):
        fixed.pop()
    return " ".join(words_of(fixed[-1])) if fixed else ""
