"""How people refer to an entry of a list: by name or by rank ("the cheapest")."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.parameters import meaning_by_words
from callwright.language.names import humanise, split_name
from callwright.language.text import fold
from callwright.warehouse.records import JsonSchema

_NAMES = frozenset({"name", "title", "label", "header", "subtitle"})
_OTHER_NAMES = frozenset({"summary", "subject", "email", "username", "login", "hostname", "domain"})


def name_paths(entries: Sequence[JsonValue]) -> list[str]:
    """Return the paths at which the entries have their names, the likeliest first.

    Where entries have no name, return the paths of what people call them by instead.
    """
    first = (one for entry in entries[:1] for one in leaves(entry))
    texts = [path for path, value in first if isinstance(value, str)]
    last = {path: {*split_name(path.rpartition(".")[2])[-1:]} for path in texts}
    top = (path for path in texts if _OTHER_NAMES & last[path] and "." not in path)
    name_fields = dict.fromkeys(path for path in texts if _NAMES & last[path]) or dict.fromkeys(top)
    return sorted(
        name_fields, key=lambda path: (path.count("."), path.rpartition(".")[2] not in _NAMES)
    )


def named(entries: Sequence[JsonValue], query: str) -> tuple[int, str, str] | None:
    """Return the index of the entry that `query` names, the path of the name, and the match.

    The match is "equals", "contains" (the name contains the query) or "within" (the query
    contains the name). None if no entry matches.
    """
    wanted = fold(query)
    paths = name_paths(entries)
    names = {path: [fold(text_at(entry, path)) for entry in entries] for path in paths}
    fits: dict[str, Callable[[str], bool]] = {
        "equals": wanted.__eq__,
        "contains": lambda name: wanted in name,
        "within": lambda name: name in wanted,
    }
    for (matching, is_fit), (path, row) in product(fits.items(), names.items()):
        for index, name in enumerate(row):
            if name and is_fit(name):
                return index, path, matching
    return None


def text_at(entry: JsonValue, path: str) -> str:
    """Return the text at a path of an entry, or "" if there is none."""
    value = value_in(entry, path)
    return value if isinstance(value, str) else ""


def value_in(value: JsonValue, path: str) -> JsonValue:
    """Return the value at a dotted path ("a.b[0].c"), or None if there is none."""
    inner = value
    for piece in path.replace("[", ".").replace("]", "").split("."):
        if not piece:
            continue
        if isinstance(inner, dict):
            inner = inner.get(piece)
        elif isinstance(inner, list) and piece.isdecimal() and int(piece) < len(inner):
            inner = inner[int(piece)]
        else:
            return None
    return inner


_PLAIN_NAMES = frozenset({"data", "results", "items", "entries", "list", "response", ""})
_MARKS = re.compile(r"[\[\](){}<>|:;\\]")


def noun_for(entries: str, tool: str) -> str:
    """Return a default name for one of `entries` in the response of `tool`."""
    pieces = [
        humanise(piece) for piece in reversed(entries.split(".")) if piece not in _PLAIN_NAMES
    ]
    words = " ".join(split_name(tool)).partition(" by ")[0].split()
    word = _MARKS.sub("", pieces[0] if pieces else humanise(words[-1]))
    for end, singular in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if word.endswith(end) and not word.endswith(("ss", "us", "is")):
            return word[: -len(end)] + singular
    return word


_USUAL = frozenset(
    {"search", "get", "find", "list", "location", "to", "by", "of", "and", "read", "show"}
)
_NUMBERED = (("id",), ("ids",), ("uid",), ("uuid",), ("guid",), ("gid",), ("oid",), ("sid",))
_QUERIES = frozenset({"query", "name", "keyword", "keywords", "q", "search", "term"})


def is_query(name: str, schema: JsonSchema, *, linked: bool) -> bool:
    """Whether a parameter takes what people type to find a thing.

    A parameter whose values responses also give (`linked`) must have a name that says so, such
    as "query".
    """
    is_text = schema.get("type") == "string" and not schema.get("enum") and not schema.get("format")
    if split_name(name)[-1] in _QUERIES:
        return is_text
    # what the description calls an identifier has no name for a value
    is_code = meaning_by_words("", str(schema.get("description", ""))) == "code"
    return is_text and not linked and not is_code


def is_number_of_thing(name: str) -> bool:
    """Whether a parameter takes an identifier that people do not say, such as an ID."""
    return split_name(name)[-1:] in _NUMBERED


def affinity(tool: str, source: str) -> int:
    """Return how many distinctive words the names of two tools share."""
    return len((set(split_name(tool)) & set(split_name(source))) - _USUAL)


_DEPTH = 5
_DAY = r"\d{4}-\d\d-\d\d"
_CLOCK = r"\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?"
_MOMENT = re.compile(rf"^(?:{_DAY}|(?:{_DAY}[T ])?{_CLOCK})$")
_MONEY = frozenset({"price", "cost", "fare", "amount", "rate"})
_COUNTS = frozenset({"count", "number", "nr", "num", "votes"})
_NO_MEASURE = frozenset({"id", "ids", "exchange", "currency", "index", "version"})


class RankingField(NamedTuple):
    """A kind of field that people rank by, with the words for its ends.

    `words` name the field; `low` and `high` are the phrases for its lowest and its highest
    value.
    """

    name: str
    words: frozenset[str]
    low: str
    high: str
    is_time: bool = False


_TIMES = frozenset({"created", "updated", "departure", "arrival"})
# {} stands for the noun; where a word of two families is in a path, the first counts
FAMILIES = tuple(
    RankingField(name, frozenset(words.split()), low, high, is_time=name in _TIMES)
    for name, words, low, high in (
        ("reviews", "reviews votes", "{} with the fewest reviews", "{} with the most reviews"),
        ("created", "created creation", "oldest {}", "newest {}"),
        ("updated", "updated modified", "{} changed longest ago", "{} changed last"),
        ("rating", "rating score average", "worst rated {}", "best rated {}"),
        ("stars", "stars", "{} with the fewest stars", "{} with the most stars"),
        ("departure", "departure depart departs", "{} that leaves first", "{} that leaves last"),
        ("arrival", "arrival arrive arrives", "{} that arrives first", "{} that arrives last"),
        ("duration", "duration minutes time", "shortest {}", "longest {}"),
        ("price", "price cost fare total amount rate", "cheapest {}", "most expensive {}"),
        ("distance", "distance km", "nearest {}", "farthest {}"),
        ("seats", "seats", "{} with the fewest seats", "{} with the most seats"),
        ("size", "size bytes", "smallest {}", "largest {}"),
    )
)
_LOW = frozenset({"lowest", "earliest"})


def rank_words(test: str, path: str) -> str | None:
    """Return the phrase, with {} for the noun, that ranks by the field at `path`, or None."""
    family = _family_of_words(path)
    return family and (family.low if test in _LOW else family.high)


def read_rank(phrase: str, entry: JsonValue) -> tuple[str, str] | None:
    """Return the test and the path by which `phrase` ranks entries shaped like `entry`.

    `phrase` has {} where the noun goes. None if it ranks them by nothing.
    """
    family = next((one for one in FAMILIES if phrase in (one.low, one.high)), None)
    path = rank_fields(entry).get(family.name) if family else None
    if family is None or path is None:
        return None
    tests = ("lowest", "earliest") if phrase == family.low else ("highest", "latest")
    return tests[family.is_time], path


def rank_fields(entry: JsonValue) -> dict[str, str]:
    """Return the fields by which an entry can be ranked: the first field of each family."""
    fields_by_family: dict[str, str] = {}
    for path, value in leaves(entry):
        family = _family_of_words(path)
        is_moment = isinstance(value, str) and _MOMENT.fullmatch(value)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if family and (is_moment if family.is_time else is_number):
            fields_by_family.setdefault(family.name, path)
    return fields_by_family


def leaves(entry: JsonValue, path: str = "", depth: int = 0) -> Iterator[tuple[str, JsonValue]]:
    """Yield an entry's scalar values with their paths; only the first item of a nested list."""
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
