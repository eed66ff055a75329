"""Tools of a category that do the same (HammerBench 4.2: distinct functions within a category).

Three signs are added up: the words of the names, the embeddings of the descriptions, and the
words of the parameters. Embeddings alone treat "mute" and "unmute" as the same and weigh most
otherwise, so tools that do opposite things, or other kinds of things, are separated before
anything is added up (docs/decisions/0007-tools-that-do-the-same.md has the figures).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, reduce
from types import MappingProxyType
from typing import Any, NamedTuple

from callwright.generators.tools import are_redundant
from callwright.language.names import humanise, split_name
from callwright.language.packs import language_of, of, packaged
from callwright.language.schemas import json_type
from callwright.language.text import deep_stem, stem
from callwright.validators.embeddings import near_pairs
from callwright.warehouse.records import DoubtedFact, Evidence, Language, Tool, Verdict

READ, CREATE, CHANGE, DELETE, START, STOP, OTHER = (
    "read",
    "create",
    "change",
    "delete",
    "start",
    "stop",
    "other",
)


class Doing(NamedTuple):
    """What a tool does: its `kinds` of action, its verb, and the words for the object.

    A verb such as `set` has two kinds. `head` is the one word for the object itself: article in
    `saveArticleForLater`; "" if there is none.
    """

    kinds: frozenset[str]
    verb: str
    resource: tuple[str, ...]
    head: str = ""


# of a language whose descriptions need none
_NONE: Mapping[str, Any] = MappingProxyType({"verbs": {}, "opposites": ()})
_WORDS = re.compile(r"[a-z]+")


@cache
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = packaged("callwright.validators.toolset", "actions.yaml")
    return table


@cache
def _kinds() -> Mapping[str, frozenset[str]]:
    return {
        verb: frozenset(row["kinds"]) for row in _table()["verbs"] for verb in row["words"].split()
    }


@cache
def _small_words(name: str) -> frozenset[str]:
    return frozenset(_table()[name].split())


@lru_cache(8192)
def doing_of(name: str, description: str) -> Doing:
    """Return what a tool does, by name and description; unknown verbs are of kind "other"."""
    named = split_name(name.rsplit(".", 1)[-1])
    verb = next((word for word in named if word in _kinds()), "")
    rest = tuple(stem(word) for word in named if word != verb and word not in _small_words("aside"))
    if not verb:
        verb = next(
            (word for word in _WORDS.findall(description.lower())[:1] if word in _kinds()), ""
        )
    kinds = _kinds().get(verb) or _stated_kinds(description)
    if {"turn", "switch"} & set(named) and {"on", "off"} & set(named):
        kinds = frozenset({START if "on" in named else STOP})
    return Doing(
        kinds, verb, rest, _head(named[named.index(verb) + 1 :] if verb in named else named)
    )


def _head(after: Sequence[str]) -> str:
    """Return the last word before a preposition, else the last word of all."""
    end = next(
        (
            place
            for place, word in enumerate(after)
            if word in _small_words("prepositions") and place
        ),
        len(after),
    )
    small = _small_words("aside") | _small_words("prepositions")
    kept = [word for word in after[:end] if word not in small] or [
        word for word in after if word not in small
    ]
    return kept[-1] if kept else ""


def yields(doing: Doing) -> str:
    """Return what the action produces: booking a room gives a booking; "" if just its object."""
    return str(_table()["yields"].get(doing.verb, ""))


def are_opposed(one: Tool, other: Tool) -> bool:
    """Whether two tools do different or opposite things, however similar their words are."""
    doing, others = doing_of(one.name, one.description), doing_of(other.name, other.description)
    return (
        not doing.kinds & others.kinds or _do_differently(doing, others) or any(_differ(one, other))
    )


def _do_differently(doing: Doing, others: Doing) -> bool:
    """Whether the verbs are opposites, or differ and are of kind "other": reply, forward."""
    verb, other_verb = doing.verb, others.verb
    if not verb or not other_verb or verb == other_verb:
        return False
    if verb == f"un{other_verb}" or other_verb == f"un{verb}":
        return True
    return doing.kinds == others.kinds == {OTHER} and deep_stem(verb) != deep_stem(other_verb)


def _differ(one: Tool, other: Tool) -> Iterator[bool]:
    own, others = (
        {
            *split_name(_renamed(tool.name.rsplit(".", 1)[-1])),
            *_WORDS.findall(_renamed(tool.description).lower()),
        }
        for tool in (one, other)
    )
    for first, second in map(str.split, _table()["opposites"]):
        yield first in own and second in others and second not in own and first not in others
        yield second in own and first in others and first not in own and second not in others
    texts = (one.description, other.description)
    for left, right in _listed(one.language, "opposites"):
        # the right may hold the left
        sides = [-1 if re.search(right, one) else int(bool(re.search(left, one))) for one in texts]
        yield set(sides) == {1, -1}


def _listed(language: Language, name: str) -> Any:  # noqa: ANN401 - parsed YAML
    return of(language).data.get("actions", _NONE)[name]


def _stated_kinds(description: str) -> frozenset[str]:
    """Return the kinds of the description's first verb, in a language that lists them."""
    verbs = _listed(language_of(description), "verbs").items()
    found = [
        (match.start(), kind) for kind, verb in verbs if (match := re.search(verb, description))
    ]
    kind = min(found, default=(0, OTHER))[1]
    return frozenset({kind, OTHER} if kind in {CREATE, START} else {kind})


CHECK = "tool_redundancy"
TWIN_DOUBTS = {
    "tools_alike": "{tool} does the same as {other}.",
    "tools_near": "{tool} may do the same as {other}.",
}
VERSION = "2"
NAME, DESCRIPTION, PARAMETERS = 0.15, 0.7, 0.15
ALIKE = 0.88  # from here on a tool is its neighbour again
IN_DOUBT = 0.66  # from here on people are asked
_NO_PARAMETERS = 0.5  # two tools without any are neither alike nor apart in them


class DuplicateTools(NamedTuple):
    """Two tools that may do the same, the earlier first, and their likeness by sign, in 0..1."""

    one: Tool
    other: Tool
    name: float
    description: float
    parameters: float

    @property
    def likeness(self) -> float:
        """The sum of the signs."""
        return round(
            NAME * self.name + DESCRIPTION * self.description + PARAMETERS * self.parameters, 3
        )

    @property
    def are_alike(self) -> bool:
        """Whether they certainly do the same."""
        return self.likeness >= ALIKE or are_redundant(self.one, self.other)


def check_redundancy(tools: Sequence[Tool]) -> list[Verdict]:
    """Return verdicts on whether each tool does something new; the first of a kind does."""
    nearest: dict[str, DuplicateTools] = {}
    for duplicates in find_duplicate_tools(tools):
        known = nearest.get(duplicates.other.key)
        if known is None or (duplicates.are_alike, duplicates.likeness) > (
            known.are_alike,
            known.likeness,
        ):
            nearest[duplicates.other.key] = duplicates
    return [_verdict(tool, nearest.get(tool.key)) for tool in tools]


@lru_cache(8192)
def are_equal_tools(one: Tool, other: Tool) -> bool:
    """Whether either of two tools may be called for the other, with the same arguments."""
    takes_same = (
        one.properties.keys() == other.properties.keys()
        and {*one.required} == {*other.required}
        and all(
            json_type(schema) == json_type(other.properties[name])
            for name, schema in one.properties.items()
        )
    )
    if not takes_same or one.name == other.name or are_opposed(one, other):
        return False
    return any(duplicates.are_alike for duplicates in find_duplicate_tools((one, other)))


def find_duplicate_tools(tools: Sequence[Tool]) -> Iterator[DuplicateTools]:
    """Yield the pairs of a category and language that do the same or might."""
    groups: dict[tuple[str, str], dict[str, Tool]] = defaultdict(dict)
    for tool in tools:
        groups[tool.category, tool.language][tool.key] = tool
    for group in groups.values():
        yield from _duplicates(list(group.values()))


def _duplicates(tools: list[Tool]) -> Iterator[DuplicateTools]:
    least = (IN_DOUBT - NAME - PARAMETERS) / DESCRIPTION
    texts = [
        _renamed(tool.description.strip() or humanise(tool.name.rsplit(".", 1)[-1]))
        for tool in tools
    ]
    near_by_pair = {(one, other): near for one, other, near in near_pairs(texts, least)}
    named: dict[str, int] = {}
    for place, tool in enumerate(tools):
        if tool.name in named:
            near_by_pair.setdefault((named[tool.name], place), 0.0)
        named.setdefault(tool.name, place)
    for (first, second), near in sorted(near_by_pair.items()):
        first_tool, second_tool = tools[first], tools[second]
        names = [
            map(_renamed, doing_of(tool.name, tool.description).resource)
            for tool in (first_tool, second_tool)
        ]
        parameters = [
            [word for name in tool.properties for word in split_name(name) if word != "name"]
            for tool in (first_tool, second_tool)
        ]
        alike = (
            _same_words(names, without=0.0),
            near,
            _same_words(parameters, without=_NO_PARAMETERS),
        )
        duplicates = DuplicateTools(first_tool, second_tool, *alike)
        is_doubtful = duplicates.likeness >= IN_DOUBT or duplicates.are_alike
        if first_tool.name == second_tool.name or (
            is_doubtful and not are_opposed(first_tool, second_tool)
        ):
            yield duplicates


def _renamed(text: str) -> str:
    """Return a text with the newer of two names of the trade, in small letters if it has one."""
    newer = _table()["renamed"]
    found = (word for word in newer if word in text.lower())
    return reduce(lambda said, word: said.lower().replace(word, newer[word]), found, text)


def _same_words(sides: Iterable[Iterable[str]], *, without: float) -> float:
    """Return the share of words that two sides have in common, or `without` if neither has any."""
    own, their = (frozenset(map(deep_stem, words)) for words in sides)
    return len(own & their) / len(own | their) if own or their else without


def _verdict(tool: Tool, duplicates: DuplicateTools | None) -> Verdict:
    if duplicates is None:
        return Verdict(subject=tool.key, check=CHECK, decision="proved", version=VERSION)
    twin, are_alike = duplicates.one, duplicates.are_alike
    reason = (
        f"{'Does' if are_alike else 'May do'} the same as {twin.name!r}"
        f" ({twin.description.strip()}): names {duplicates.name:.0%} alike, descriptions"
        f" {duplicates.description:.0%}, parameters {duplicates.parameters:.0%}."
    )
    duplicate = Evidence(
        argument="twin", kind="normalised", quote=twin.name, path=twin.key, rule="twin"
    )
    fact = DoubtedFact(
        kind="tools_alike" if are_alike else "tools_near", tool=tool.name, other=twin.name
    )
    decision = "contradicted" if are_alike else "unproved"
    return Verdict(
        subject=tool.key,
        check=CHECK,
        decision=decision,
        score=duplicates.likeness,
        reason=reason,
        evidence=(duplicate,),
        doubts=(fact,),
        version=VERSION,
    )
