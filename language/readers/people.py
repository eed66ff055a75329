"""How many people a text names together: "my wife, our two kids and me" are four, two of them children.

Each language words the members of such a list in its quantities.yaml, under `people`: `ours` (the one who speaks with others, and
their number), `party` (grown-ups and children at once), `group` (people with a number, or without one), `pair` (two that are named
together), `one`, `speaker`; `joint` is what stands between two of them, `young` which of them are children.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from callwright.language.readers.quantities import find_quantities
from callwright.language.readers.units import quantity_words

_MEMBERS = ("ours", "party", "pair", "group", "one", "speaker")
_PAIR = 2
_NEVER = re.compile("(?!)")


class PeopleListed(NamedTuple):
    """People that a text names together: how many and where, the children and the others; None where a number is not told."""

    total: int | None
    children: int | None
    start: int
    end: int
    young: tuple[tuple[int, int], ...]
    grown: tuple[tuple[int, int], ...]


def find_people(text: str, language: str) -> PeopleListed | None:
    """The first list of two members or more, or group that the speaker counts as one of."""
    patterns = _patterns(language)
    runs: list[list[re.Match[str]]] = []
    for match in patterns["member"].finditer(text.lower()):
        if runs and patterns["joint"].fullmatch(text.lower()[runs[-1][-1].end() : match.start()]):
            runs[-1].append(match)
        else:
            runs.append([match])
    return next((_counted(run, language) for run in runs if len(run) > 1 or run[0]["ours"] or run[0]["party"]), None)


def _counted(run: Sequence[re.Match[str]], language: str) -> PeopleListed:
    counts = [_count(match, language) for match in run]
    young = [bool(_patterns(language)["young"].search(match[0])) for match in run]
    children = sum(count or 0 for count, is_young in zip(counts, young, strict=True) if is_young)
    return PeopleListed(
        total=None if None in counts else sum(filter(None, counts)),
        children=None if any(match["party"] for match in run) else children,
        start=run[0].start(),
        end=run[-1].end(),
        young=tuple(match.span() for match, is_young in zip(run, young, strict=True) if is_young),
        grown=tuple(match.span() for match, is_young in zip(run, young, strict=True) if not is_young),
    )


def _count(match: re.Match[str], language: str) -> int | None:
    """How many people one member of the list is; None where it is a group whose size nothing says."""
    if match["pair"]:
        return _PAIR
    if match["one"] or match["speaker"]:
        return 1
    numbers = [one for one in find_quantities(match[0], language) if one.unit is None and not one.is_estimate]
    numbers = numbers[-1:] if match["ours"] else numbers  # "one family, four heads" are four
    is_whole = all(one.value == int(one.value) for one in numbers)
    return int(sum(one.value for one in numbers)) if numbers and is_whole else None


@lru_cache(16)
def _patterns(language: str) -> dict[str, re.Pattern[str]]:
    listed = quantity_words(language).people
    if not listed:
        return dict.fromkeys(("member", "joint", "young"), _NEVER)
    member = "|".join(f"(?P<{name}>{listed[name]})" for name in _MEMBERS)
    return {"member": re.compile(member), "joint": re.compile(listed["joint"]), "young": re.compile(listed["young"])}
