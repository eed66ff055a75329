"""Resources that a category lets people create but not manage (HammerBench 4.2, D.1: completeness).

What is missing can't be seen on any one tool, so it is told to people as a finding about the category.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from generators.catalogs import Problem
from language.names import split_name, words
from language.vocabulary import stem
from validators.toolset.actions import CHANGE, DELETE, READ, Doing, doing_of, yields
from warehouse.records import Tool

_MANAGED = ((READ, "shown"), (CHANGE, "changed"), (DELETE, "deleted"))
# Not every verb that makes something makes a thing to be kept.
_CREATORS = frozenset(
    words(
        "create add make new write record log schedule book reserve order save register insert draft post publish upload"
        " bookmark favorite favourite collect subscribe set"
    )
)
_BOOKED = frozenset(map(stem, ("booking", "reservation", "order")))
_ONTO = frozenset({"to", "into", "on"})


def find_gaps(tools: Sequence[Tool]) -> list[Problem]:
    """For each category, what can be created but not shown, changed or deleted; one finding a resource."""
    groups: dict[tuple[str, str], list[Tool]] = defaultdict(list)
    for tool in tools:
        groups[tool.category, tool.language].append(tool)
    found = [problem for group in groups.values() for problem in _gaps(group)]
    return list({problem.key: problem for problem in found}.values())  # said once, whatever the languages


def _gaps(group: Sequence[Tool]) -> Iterator[Problem]:
    doings = [doing_of(tool.name, tool.description) for tool in group]
    known: set[frozenset[str]] = set()
    for tool, doing in zip(group, doings, strict=True):
        made = _created(tool, doing, doings)
        if not made or made in known:
            continue
        known.add(made)
        missing = [word for kind, word in _MANAGED if not any(_manages(other, kind, made, doing) for other in doings)]
        if missing:
            thing = yields(doing) or doing.head
            message = f"What {tool.name!r} creates ({thing}) can't be {_listed(missing)} by any tool of the category."
            yield Problem(where=tool.category, tool=tool.name, kind="crud_gap", message=message)


def _created(tool: Tool, doing: Doing, doings: Sequence[Doing]) -> frozenset[str]:
    """The words for what the tool creates, none where it creates nothing to be kept."""
    if doing.verb not in _CREATORS or not doing.head:
        return frozenset()
    if doing.verb in {"add", "save"} and _ONTO & set(split_name(tool.name.rsplit(".", 1)[-1])):
        return frozenset()  # a song into a playlist changes the playlist
    made = frozenset({stem(yields(doing) or doing.head)})
    if doing.verb == "set" and not any(DELETE in other.kinds and made & set(other.resource) for other in doings):
        return frozenset()  # the volume is set; an alarm is set, and deleted
    return _BOOKED if made & _BOOKED else made


def _manages(other: Doing, kind: str, made: frozenset[str], creating: Doing) -> bool:
    if kind not in other.kinds or other.verb == "set":
        return False
    things = made if kind == READ else made | {stem(creating.head)}  # who shows rooms need not show bookings
    return bool(things & set(other.resource)) or (kind != READ and other.verb == "rebook" and bool(made & _BOOKED))


def _listed(missing: Sequence[str]) -> str:
    return " or ".join(missing)
