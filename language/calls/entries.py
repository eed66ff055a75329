"""How people refer to an entry of a list: by its name, or by its rank, as the cheapest or the
one that leaves first.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.parameters import meaning_by_words
from callwright.language.names import split_name
from callwright.language.text import fold
from callwright.warehouse.records import JsonSchema

_NAMES = frozenset({"name", "title", "label", "header", "subtitle"})
_OTHER_NAMES = frozenset({"summary", "subject", "email", "username", "login", "hostname", "domain"})


def name_paths(entries: Sequence[JsonValue]) -> list[str]:
    """Where the entries have their names, the likeliest place first; of those without one, what
    people call them by.
    """
    texts = [
        path for entry in entries[:1] for path, value in leaves(entry) if isinstance(value, str)
    ]
    last = {path: {*split_name(path.rpartition(".")[2])[-1:]} for path in texts}
    found = dict.fromkeys(path for path in texts if _NAMES & last[path])
    found = found or dict.fromkeys(
        path for path in texts if _OTHER_NAMES & last[path] and "." not in path
    )
    return sorted(found, key=lambda path: (path.count("."), path.rpartition(".")[2] not in _NAMES))


def named(entries: Sequence[JsonValue], query: str) -> tuple[int, str, str] | None:
    """The entry that `query` names: its index, the path of the name, and how well: "equals",
    "contains", "within".
    """
    wanted = fold(query)
    names = [
        [(path, fold(text_at(entry, path))) for path in name_paths(entries)] for entry in entries
    ]
    for matching in ("equals", "contains", "within"):
        for at in range(len(names[0]) if names else 0):
            for index, row in enumerate(names):
                path, name = row[at]
                fits = {
                    "equals": name == wanted,
                    "contains": wanted in name,
                    "within": name in wanted,
                }
                if name and fits[matching]:
                    return index, path, matching
    return None


def text_at(entry: JsonValue, path: str) -> str:
    """The text at a path of an entry, "" where there is none."""
    value = value_in(entry, path)
    return value if isinstance(value, str) else ""


def value_in(value: JsonValue, path: str) -> JsonValue:
    """The value at a dotted path ("a.b[0].c"), None where there is none."""
    held = value
    for piece in path.replace("[", ".").replace("]", "").split("."):
        if not piece:
            continue
        if isinstance(held, dict):
            held = held.get(piece)
        elif isinstance(held, list) and piece.isdecimal() and int(piece) < len(held):
            held = held[int(piece)]
        else:
            return None
    return held


_USUAL = frozenset(
    {"search", "get", "find", "list", "location", "to", "by", "of", "and", "read", "show"}
)
_NUMBERED = (("id",), ("ids",), ("uid",), ("uuid",), ("guid",), ("gid",), ("oid",), ("sid",))
_QUERIES = frozenset({"query", "name", "keyword", "keywords", "q", "search", "term"})


def is_query(name: str, schema: JsonSchema, *, linked: bool) -> bool:
    """Whether a parameter takes what people type to find a thing; one that responses give too
    has to be called so.
    """
    is_text = schema.get("type") == "string" and not schema.get("enum") and not schema.get("format")
    if (
        meaning_by_words("", str(schema.get("description", ""))) == "code"
        and split_name(name)[-1] not in _QUERIES
    ):
        return False  # what the description calls an identifier has no name for a value
    return is_text and (not linked or split_name(name)[-1] in _QUERIES)


def is_number_of_thing(name: str) -> bool:
    """Whether a parameter takes what one thing among others is known by, and nobody says."""
    return split_name(name)[-1:] in _NUMBERED


def affinity(tool: str, source: str) -> int:
    """How many telling words the names of two tools share."""
    return len((set(split_name(tool)) & set(split_name(source))) - _USUAL)


_DEPTH = 5
_MOMENT = re.compile(r"^(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?$")
_MONEY = frozenset({"price", "cost", "fare", "amount", "rate"})
_COUNTS = frozenset({"count", "number", "nr", "num", "votes"})
_NO_MEASURE = frozenset({"id", "ids", "exchange", "currency", "index", "version"})


class RankingField(NamedTuple):
    """A kind of field that people rank by; `words` name it, `low` and `high` say its least and
    greatest.
    """

    name: str
    words: frozenset[str]
    low: str
    high: str
    is_time: bool = False


# {} stands for the noun; where a word of two families is in a path, the first counts
FAMILIES = tuple(
    RankingField(
        name, frozenset(words.split()), low, high, is_time=name in ("departure", "arrival")
    )
    for name, words, low, high in (
        ("reviews", "reviews votes", "{} with the fewest reviews", "{} with the most reviews"),
        ("rating", "rating score average", "worst rated {}", "best rated {}"),
        ("stars", "stars", "{} with the fewest stars", "{} with the most stars"),
        ("departure", "departure depart departs", "{} that leaves first", "{} that leaves last"),
        ("arrival", "arrival arrive arrives", "{} that arrives first", "{} that arrives last"),
        ("duration", "duration minutes time", "shortest {}", "longest {}"),
        ("price", "price cost fare total amount rate", "cheapest {}", "most expensive {}"),
        ("distance", "distance km", "nearest {}", "farthest {}"),
        ("seats", "seats", "{} with the fewest seats", "{} with the most seats"),
    )
)
_LOW = frozenset({"lowest", "earliest"})


def rank_words(test: str, path: str) -> str | None:
    """What ranks by the field at `path`, with {} for the noun; None where people have no word
    for it.
    """
    family = _family_of_words(path)
    return family and (family.low if test in _LOW else family.high)


def read_rank(phrase: str, entry: JsonValue) -> tuple[str, str] | None:
    """The test and the path that `phrase` (with {} for the noun) ranks the entries of this shape
    by, None if none.
    """
    for family in FAMILIES:
        for words, tests in (
            (family.low, ("lowest", "earliest")),
            (family.high, ("highest", "latest")),
        ):
            if words == phrase:
                path = rank_fields(entry).get(family.name)
                return None if path is None else (tests[family.is_time], path)
    return None


def rank_fields(entry: JsonValue) -> dict[str, str]:
    """The fields that an entry can be ranked by: for each family the first there is."""
    found: dict[str, str] = {}
    for path, value in leaves(entry):
        family = _family_of_words(path)
        is_moment = isinstance(value, str) and _MOMENT.fullmatch(value)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if family and (is_moment if family.is_time else is_number):
            found.setdefault(family.name, path)
    return found


def leaves(entry: JsonValue, path: str = "", depth: int = 0) -> Iterator[tuple[str, JsonValue]]:
    """The plain values of an entry with their paths; of a list within it only what stands first."""
    if depth > _DEPTH:
        return
    if isinstance(entry, dict):
        for name, value in entry.items():
            yield from leaves(value, f"{path}.{name}" if path else name, depth + 1)
    elif isinstance(entry, list):
        if entry and isinstance(entry[0], dict):
            yield from leaves(entry[0], f"{path}[0]", depth + 1)
    else:
        yield path, entry


def _family_of_words(path: str) -> RankingField | None:
    pieces = [piece for piece in re.split(r"[.\[\]\d]+", path) if piece]
    words = {word for piece in pieces[-2:] for word in split_name(piece)}
    if words & _NO_MEASURE:
        return None
    last = set(split_name(pieces[-1])) if pieces else set()
    # a total of episodes is no price
    if "total" in last and len(last) > 1 and not last & (_MONEY | _COUNTS):
        return None
    if words & _COUNTS:
        return FAMILIES[0] if words & {"review", "reviews", "rating", "ratings", "votes"} else None
    return next((family for family in FAMILIES if words & family.words), None)
