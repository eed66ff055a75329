"""How many people words name one by one: "we two with two children, and my mother" are five."""

import re
from functools import lru_cache
from typing import NamedTuple

from language.readers.quantities import find_quantities
from language.readers.units import quantity_words


class Heads(NamedTuple):
    """People whom the text names together with the one who speaks, and where."""

    people: int
    start: int
    end: int


def find_heads(text: str, language: str) -> Heads | None:
    """The people of the first list that the speaker is one of; None where no list names at least two of them."""
    for chain in _chains(language).finditer(text):
        terms = list(_terms(language).finditer(chain[0]))
        counts = [_count(match, language) for match in terms]
        is_ours = any(match["ours"] or match["speaker"] for match in terms)
        if is_ours and len(counts) > 1 and all(counts):
            return Heads(sum(counts), *chain.span())
    return None


def _count(match: re.Match[str], language: str) -> int:
    """The heads of one term; 0 where its number can't be read."""
    if match["speaker"] or match["person"]:
        return 1
    if match["pair"]:
        return 2
    found = [one.value for one in find_quantities(match[0], language) if not one.is_estimate]
    return int(found[0]) if len(found) == 1 and float(found[0]).is_integer() else 0


@lru_cache(16)
def _terms(language: str) -> re.Pattern[str]:
    patterns = quantity_words(language).heads
    named = (f"(?P<{name}>{patterns[name]})" for name in ("ours", "pair", "counted", "person", "speaker"))
    return re.compile("|".join(named)) if patterns else re.compile("(?!)")


@lru_cache(16)
def _chains(language: str) -> re.Pattern[str]:
    patterns = quantity_words(language).heads
    term = re.sub(r"\?P<\w+>", "?:", _terms(language).pattern)
    return re.compile(rf"(?:{term})(?:(?:{patterns['joint']})(?:{term}))+") if patterns else re.compile("(?!)")
