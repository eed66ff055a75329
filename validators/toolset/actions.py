"""What a tool does and to what, known by its name: `createAlarm` creates an alarm, `searchFlights` reads flights."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from callwright.language.names import split_name
from callwright.language.packs import language_of, of, packaged
from callwright.language.vocabulary import deep_stem, stem, stem_groups
from callwright.warehouse.records import Language, Tool

READ, CREATE, CHANGE, DELETE, START, STOP, OTHER = "read", "create", "change", "delete", "start", "stop", "other"


class Doing(NamedTuple):
    """What a tool does: `kinds` of action (a verb like `set` has two), its verb, and the words of what it does it to.

    `head` is the one word of these for the thing itself: an article, of `saveArticleForLater`; "" where there is none.
    """

    kinds: frozenset[str]
    verb: str
    resource: tuple[str, ...]
    head: str = ""


_NONE: Mapping[str, Any] = MappingProxyType(
    {"verbs": {}, "opposites": ()}
)  # of a language whose descriptions need none
_WORDS = re.compile(r"[a-z]+")


@cache
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = packaged("callwright.validators.toolset", "actions.yaml")
    return table


@cache
def _kinds() -> Mapping[str, frozenset[str]]:
    return {verb: frozenset(row["kinds"]) for row in _table()["verbs"] for verb in row["words"].split()}


@cache
def _small_words(name: str) -> frozenset[str]:
    return frozenset(_table()[name].split())


@lru_cache(8192)
def doing_of(name: str, description: str) -> Doing:
    """What the tool of this name and description does; an unknown verb is an action of the kind "other"."""
    named = split_name(name.rsplit(".", 1)[-1])
    verb = next((word for word in named if word in _kinds()), "")
    rest = tuple(stem(word) for word in named if word != verb and word not in _small_words("aside"))
    if not verb:
        verb = next((word for word in _WORDS.findall(description.lower())[:1] if word in _kinds()), "")
    kinds = _kinds().get(verb) or _stated_kinds(description)
    if {"turn", "switch"} & set(named) and {"on", "off"} & set(named):
        kinds = frozenset({START if "on" in named else STOP})
    return Doing(kinds, verb, rest, _head(named[named.index(verb) + 1 :] if verb in named else named))


def _head(after: Sequence[str]) -> str:
    """The last word before a preposition, else the last one of all."""
    end = next(
        (place for place, word in enumerate(after) if word in _small_words("prepositions") and place), len(after)
    )
    small = _small_words("aside") | _small_words("prepositions")
    kept = [word for word in after[:end] if word not in small] or [word for word in after if word not in small]
    return kept[-1] if kept else ""


def yields(doing: Doing) -> str:
    """What comes of the action: booking a room yields a booking; "" where it yields its object."""
    return str(_table()["yields"].get(doing.verb, ""))


def are_opposed(one: Tool, other: Tool) -> bool:
    """Whether two tools do different or opposite things, however alike the words about them are."""
    doing, others = doing_of(one.name, one.description), doing_of(other.name, other.description)
    if not doing.kinds & others.kinds:
        return True
    if _do_differently(doing, others):
        return True
    return any(_differ(one, other))


def _do_differently(doing: Doing, others: Doing) -> bool:
    """Whether the verbs are opposites, or of no kind but their own and no synonyms: who replies does not forward."""
    verb, other = doing.verb, others.verb
    if not verb or not other or verb == other:
        return False
    if verb == f"un{other}" or other == f"un{verb}":
        return True
    groups = stem_groups()
    mine, theirs = groups.get(deep_stem(verb), verb), groups.get(deep_stem(other), other)
    return doing.kinds == others.kinds == {OTHER} and mine != theirs


def _differ(one: Tool, other: Tool) -> Iterator[bool]:
    own, others = _all_words(one), _all_words(other)
    for first, second in map(str.split, _table()["opposites"]):
        yield first in own and second in others and second not in own and first not in others
        yield second in own and first in others and first not in own and second not in others
    for left, right in _listed(one.language, "opposites"):
        sides = _side(one.description, left, right), _side(other.description, left, right)
        yield set(sides) == {1, -1}


def _listed(language: Language, name: str) -> Any:  # noqa: ANN401 - parsed YAML
    return of(language).data.get("actions", _NONE)[name]


def _side(text: str, left: str, right: str) -> int:
    """1 for a text on the left side of a pair of opposites, -1 on the right, 0 on neither; the right may hold the left."""
    if re.search(right, text):
        return -1
    return 1 if re.search(left, text) else 0


def _all_words(tool: Tool) -> frozenset[str]:
    name = split_name(tool.name.rsplit(".", 1)[-1])
    return frozenset((*name, *_WORDS.findall(tool.description.lower())))


def _stated_kinds(description: str) -> frozenset[str]:
    """The kinds of the first verb that the description has in a language that lists them."""
    verbs = _listed(language_of(description), "verbs").items()
    found = [(match.start(), kind) for kind, verb in verbs if (match := re.search(verb, description))]
    kind = min(found, default=(0, OTHER))[1]
    return frozenset({kind, OTHER} if kind in {CREATE, START} else {kind})
