"""How many people a list of them is: "my wife, our two kids and me" are four, two of them children."""

import re
from typing import NamedTuple

from language.readers.quantities import find_quantities
from language.readers.units import quantity_words
from validators.readings.request_text import Span

_FEWEST = 2  # of the members of a list


class PeopleListed(NamedTuple):
    """People that a text lists: how many, how many of them children, and where; `is_known` is False where one has no number."""

    total: int
    children: int
    span: Span
    is_known: bool
    young: tuple[Span, ...]
    grown: tuple[Span, ...]


def find_people(text: str, language: str) -> PeopleListed | None:
    """The first list of two people or more, or of groups of them, in which the speaker may be one."""
    patterns = quantity_words(language).patterns
    if "person" not in patterns:
        return None
    runs: list[list[re.Match[str]]] = []
    for match in patterns["person"].finditer(text.lower()):
        is_next = bool(runs) and patterns["person_joint"].fullmatch(text.lower()[runs[-1][-1].end() : match.start()])
        if is_next:
            runs[-1].append(match)
        else:
            runs.append([match])
    return next((_counted(run, language) for run in runs if len(run) >= _FEWEST), None)


def _counted(run: list[re.Match[str]], language: str) -> PeopleListed:
    counts = [_count(match, language) for match in run]
    children = quantity_words(language).patterns["person_young"]
    young = sum(count or 0 for count, match in zip(counts, run, strict=True) if children.search(match.group()))
    return PeopleListed(
        total=sum(filter(None, counts)),
        children=young,
        span=Span(run[0].start(), run[-1].end()),
        is_known=None not in counts,
        young=tuple(Span(*match.span()) for match in run if children.search(match.group())),
        grown=tuple(Span(*match.span()) for match in run if not children.search(match.group())),
    )


def _count(match: re.Match[str], language: str) -> int | None:
    """How many people one member of the list is; None where it is a group whose size nothing says."""
    if match["pair"]:
        return _FEWEST
    if match["group"]:
        numbers = [one for one in find_quantities(match["group"], language) if one.unit is None]
        return int(numbers[0].value) if len(numbers) == 1 else None
    return 1
