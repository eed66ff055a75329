"""What a language gives: typed data from its YAML files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

NUMBER = "number"
WORDS = "number word"
ORDINAL = "ordinal"
PERCENT = "percent"
MOST_DIGITS = 40  # of a number that people write


class Number(NamedTuple):
    """A number at `start`..`end` of folded text."""

    value: float
    start: int
    end: int
    rule: str


@dataclass(frozen=True, eq=False)
class LanguagePack:
    """One language: its name in prompts, its script, its named word lists and its templates."""

    code: str
    name: str  # as prompts name it
    script: str
    # what stands in a character class of the letters that only this script has, "" for the common
    # one
    letters: str
    # words by which a text is known for this language among those of its script
    marks: frozenset[str]
    space: str  # between words and sentences
    comma: str  # between the items of a list
    last: str  # before its last item
    clause: str  # between the clauses of a sentence
    semicolon: str
    colon: str
    quotes: tuple[tuple[str, str], ...]  # pairs of quotation marks, the usual ones first
    stop: str
    question: str
    ends: str  # the signs that HammerBench's scoring takes off both ends of a value
    nothing: str  # how an empty list is stated
    answers: tuple[str, str]  # no and yes
    minus: str
    frames: tuple[str, str]  # without and with a thing, `{t}`
    words: Mapping[str, frozenset[str]]  # sets of folded words by name
    lengths: Mapping[str, int]  # of texts, in characters, by what they are
    cues: Mapping[str, str]  # alternatives of regular expressions by name
    data: Mapping[str, Any]  # everything else, by the name of its file; typed by who reads it
    fallback: bool = False  # it stands for every text of its script that shows no language

    def listed(self, items: Sequence[str]) -> str:
        """Join the items as a list in a sentence: "one, two and three"."""
        return self.last.join(filter(None, (self.comma.join(items[:-1]), *items[-1:])))
