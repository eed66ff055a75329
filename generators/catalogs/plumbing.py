"""Which parameters of an API are plumbing: formatting, paging, field masks and what every request carries, which nobody says.

A parameter is known by where it goes and what its schema allows: headers and cookies; lists of choices that are fields of the
response; a choice of serialisations; a size beside a position to go on from; what nearly all operations take in one place.
Names count only for the few ways in which paging and masks are written.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from callwright.generators.catalogs.rewriting import parts_of
from callwright.language.names import split_name
from callwright.language.schemas import choices_of, json_type
from callwright.warehouse.records import JsonSchema

_MASKS = frozenset({"fields", "expand", "select", "embed", "pretty"})  # a name of this word alone
_ARRANGING = frozenset({"sort", "order", "group"})  # people say by which fields
_POSITIONS = frozenset({"cursor", "offset", "page", "skip", "marker", "after", "before", "token", "continue"})
_SIZES = frozenset({"limit", "size", "count", "max", "top", "first", "last", "results", "items", "page"})
_OF_A_TOKEN = frozenset({"page", "next", "continuation", "pagination"})
_SERIALISATIONS = frozenset({"json", "xml"})
_UNSEEN = frozenset({"header", "cookie"})
_SHARE, _FEWEST = 0.75, 12  # of the operations that could take it
_SHARE_OF_BODIES, _FEWEST_BODIES = 0.9, 20
_HALF = 0.5
_FEWEST_FIELDS = 3  # of a thing; fewer are an envelope
_NUMBERS = frozenset({"integer", "number"})
_BETWEEN = re.compile(r"\W+")
_MOST_RETURNED = 2_000


class PlacedParameter(NamedTuple):
    """A parameter as plumbing is known by: its name in the tool, where it goes under which name, and its schema."""

    parameter: str
    part: str
    name: str
    schema: JsonSchema


class PlacedParameters(NamedTuple):
    """The parameters of an operation, and what it returns."""

    method: str
    parameters: tuple[PlacedParameter, ...]
    returns: JsonSchema | None


def find_plumbing(operations: Sequence[PlacedParameters]) -> list[tuple[str, ...]]:
    """The plumbing among the parameters of each operation of a document, in their order."""
    shared = _shared(operations)
    sent = {placed.name.lower() for one in operations for placed in one.parameters if placed.part in _UNSEEN}
    return [
        tuple(
            one.parameter
            for one in operation.parameters
            if (operation.method, one.part, one.name) in shared
            or (one.part != "path" and one.name.lower() in sent)  # a token is one wherever it is sent
            or _is_plumbing(one, operation)
        )
        for operation in operations
    ]


def _shared(operations: Sequence[PlacedParameters]) -> set[tuple[str, str, str]]:
    """What nearly all operations of a method that take anything in one place take there."""
    takers: Counter[tuple[str, str]] = Counter()
    taken: Counter[tuple[str, str, str]] = Counter()
    for one in operations:
        takers.update({(one.method, placed.part) for placed in one.parameters})
        taken.update({(one.method, placed.part, placed.name) for placed in one.parameters if placed.part != "path"})
    return {
        place
        for place, count in taken.items()
        if count >= (_FEWEST_BODIES if place[1] == "body" else _FEWEST)
        and count / takers[place[:2]] >= (_SHARE_OF_BODIES if place[1] == "body" else _SHARE)
    }


def _is_plumbing(one: PlacedParameter, operation: PlacedParameters) -> bool:
    return one.part == "query" and (_is_mask(one, operation.returns) or _formats(one) or _pages(one, operation))


def _is_mask(one: PlacedParameter, returns: JsonSchema | None) -> bool:
    words = _words(one)
    kind = json_type(one.schema)
    if len(words) == 1 and words[0] in _MASKS:
        return kind in ("string", "array") or words[0] == "pretty"
    if kind != "array" or returns is None or _ARRANGING & set(words):
        return False
    choices = {str(choice) for choice in choices_of(_held(one.schema))}
    things = _returned(returns)
    whole = set().union(*things)
    named = {choice for choice in choices if set(choice.replace("/", ".").split(".")) <= whole}
    is_of_fields = bool(choices) and len(named) >= _HALF * len(choices)
    return is_of_fields and any(len(named & one) >= _HALF * len(one) for one in things if len(one) >= _FEWEST_FIELDS)


def _words(one: PlacedParameter) -> tuple[str, ...]:
    return split_name(_BETWEEN.sub("_", one.name))


def _held(schema: JsonSchema) -> JsonSchema:
    items = schema.get("items")
    return items if isinstance(items, dict) else {}


def _returned(returns: JsonSchema) -> list[set[str]]:
    """The names of the fields of each object that a response holds."""
    things: list[set[str]] = []
    layer, met = [returns], 0
    while layer and met < _MOST_RETURNED:
        met += len(layer)
        things += [set(schema.get("properties") or ()) for schema in layer]
        layer = [part for schema in layer for part in parts_of(schema)]
    return things


def _formats(one: PlacedParameter) -> bool:
    return bool(_SERIALISATIONS & {str(choice).lower() for choice in choices_of(one.schema)})


def _pages(one: PlacedParameter, operation: PlacedParameters) -> bool:
    """Whether it is the place to go on from, or the size of a page beside such a place."""
    others = [other for other in operation.parameters if other.part == "query" and other.parameter != one.parameter]
    sizes, positions = any(map(_is_size, others)), any(map(_is_position, others))
    if _is_position(one):
        return sizes or (json_type(one.schema) in _NUMBERS and _words(one)[-1] not in ("after", "before"))
    return _is_size(one) and positions


def _is_position(one: PlacedParameter) -> bool:
    words = _words(one)
    last = words[-1] if words else ""
    is_plain = json_type(one.schema) in ("string", *_NUMBERS) and not choices_of(one.schema)
    is_moment = str(one.schema.get("format", "")).startswith(("date", "time"))
    return last in _POSITIONS and is_plain and not is_moment and (last != "token" or bool(_OF_A_TOKEN & set(words)))


def _is_size(one: PlacedParameter) -> bool:
    words = _words(one)
    return bool(words) and words[-1] in _SIZES and json_type(one.schema) in _NUMBERS
