"""Whether a request asks for a tool of a whole catalog, and for no other one: by the words of the tools' descriptions."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from generators.candidates import are_redundant
from generators.routing.unknowns import returned_fields
from language.names import humanise
from language.thesaurus import english_groups
from language.vocabulary import deep_stem
from validators.toolset.actions import READ, doing_of
from warehouse.records import Tool

LEAST_ASKED = 0.5
_WORD = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")
_EMPTY = frozenset(
    {"a", "an", "the", "of", "for", "by", "to", "from", "in", "on", "at", "with", "and", "or", "it", "its", "up", "out"}
)


@lru_cache(8192)
def words_of(text: str) -> frozenset[str]:
    """What a text speaks of: its words by their stems, those of one meaning as one."""
    return frozenset(_meaning(word) for word in _WORD.findall(text.lower()) if word not in _EMPTY)


@lru_cache(8192)
def things_of(description: str) -> frozenset[str]:
    """What a description speaks of besides its verb."""
    head, _, rest = description.partition(" ")
    return words_of(rest or head)


def share_asked(tool: Tool, request: str) -> float:
    """The share of what a tool is about that the request speaks of."""
    things = things_of(_told(tool))
    return len(things & words_of(request)) / len(things) if things else 1.0


def closer_rivals(gold: Sequence[Tool], catalog: Sequence[Tool], request: str) -> Iterator[tuple[Tool, Tool]]:
    """Other tools that fit the request's words better: all of theirs are said, those of a due tool and more."""
    said = words_of(request)
    due = [things_of(_told(tool)) for tool in gold]
    asked = frozenset[str]().union(*due)
    names = {tool.name for tool in gold}
    for rival in catalog:
        things = things_of(_told(rival))
        if rival.name not in names and things <= said and not things <= asked:
            yield from (
                (one, rival)
                for one, own in zip(gold, due, strict=True)
                if own < things and _may_be_asked(rival, one, said)
            )


def does_the_same(one: Tool, other: Tool) -> bool:
    """Whether two tools would serve the same request: by nearly the same words, or by the same deed on the same input."""
    if are_redundant(one, other):
        return True
    if set(one.required) != set(other.required) or set(returned_fields(one)) != set(returned_fields(other)):
        return False
    doing, others = doing_of(one.name, one.description), doing_of(other.name, other.description)
    return (
        bool(doing.kinds & others.kinds) and set(doing.resource) == set(others.resource) and doing.verb == others.verb
    )


def _may_be_asked(rival: Tool, gold: Tool, said: frozenset[str]) -> bool:
    """Whether the request has a verb for the rival in the tool's place: any where both only look up, else its own."""
    both = doing_of(rival.name, rival.description).kinds & doing_of(gold.name, gold.description).kinds
    return READ in both or (bool(both) and _meaning(_told(rival).split()[0].lower()) in said)


def _told(tool: Tool) -> str:
    return tool.description.strip() or humanise(tool.name)


def _meaning(word: str) -> str:
    root = deep_stem(word)
    group = english_groups().get(root)
    return root if group is None else str(group)
