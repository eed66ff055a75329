"""What a language gives: typed data from its YAML files, and the class `Rules` of its module `rules`."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

NUMBER = "number"
WORDS = "number word"
ORDINAL = "ordinal"
PERCENT = "percent"
MOST_DIGITS = 40  # of a number that people write


class ClockReading(NamedTuple):
    """A time of day at `start`..`end` of folded text; `part` is the part of the day stated with it, "" for none."""

    start: int
    end: int
    hour: int
    minute: int
    part: str


class Number(NamedTuple):
    """A number at `start`..`end` of folded text."""

    value: float
    start: int
    end: int
    rule: str


class LanguageRules(ABC):
    """What a language computes: everything that no list of words can state. What it has no use for it leaves as it is here."""

    # regular expressions of absolute dates in folded text, with the groups d, m and y (y may be missing)
    DATE_PATTERNS: tuple[str, ...]
    JOINS_NUMBERS = True  # whether the word between the items of a list may join two numbers to one

    @abstractmethod
    def clock_readings(self, text: str) -> Iterator[ClockReading]:
        """The times of day in folded `text`."""

    @abstractmethod
    def number_words(self, text: str) -> Iterator[Number]:
        """The numbers that folded `text` has in words."""

    @abstractmethod
    def day_of_month(self, words: str) -> int | None:
        """The day that an ordinal or a numeral states, None where it states none."""

    @abstractmethod
    def month_number(self, words: str) -> int | None:
        """The month that a name or a numeral states, None where it states none."""

    def year_number(self, words: str) -> int | None:
        """The year that words state, None where they state none: years are written in digits."""
        return None

    @abstractmethod
    def date_forms(self, year: int, month: int, day: int) -> tuple[str, ...]:
        """The ways in which a person states this date, each with its year."""

    @abstractmethod
    def write_clock(self, hour: int, minute: int, rng: Random) -> str:
        """One way in which a person states this time, in words that can mean no other."""

    @abstractmethod
    def moment_forms(self, day: str, clock: str) -> tuple[str, ...]:
        """The ways to state a day and a time together."""

    @abstractmethod
    def number_forms(self, number: int) -> tuple[str, ...]:
        """The ways besides digits to state a whole number that is not negative."""

    def find_month(self, phrase: str, text: str) -> tuple[int, int] | None:
        """Where `text` states a date in the month of a relative year that `phrase` states; else its words are compared."""
        return None

    def respellings(self) -> Mapping[str, str]:
        """Folded words, and the words that they are compared as."""
        return {}

    def is_place_ending(self, character: str, before: str) -> bool:
        """Whether a character behind `before` ends the name of a place that is the same without it."""
        return False

    @abstractmethod
    def counted(self, called: str, name: str) -> tuple[str, str] | None:
        """What a number counts, as it is asked for and as it stands behind the number, by what its parameter is called."""

    def is_plural(self, called: str) -> bool:
        """Whether what a parameter is called stands in the plural."""
        return False

    def agreed(self, shape: str, called: str) -> str:
        """A shape that agrees with what the parameter is called, where `{c}` stands in it."""
        return self.in_number(shape, called)

    def counted_argument(self, called: str) -> str:
        """The unit in which a request may state a number without more words, "for 3 guests"; "" where it needs them."""
        return ""

    def in_number(self, shape: str, called: str) -> str:
        """The shape of a sentence, in the number of what its parameter is called."""
        return shape

    @abstractmethod
    def point(self, before: str, phrase: str, after: str, cue: str, *, is_typed: bool) -> str:
        """A turn with a phrase that points at a message between `before` and `after`, where words for a value stood.

        `cue` is what the parameter is called; `is_typed` tells a date or a time.
        """

    def smooth(self, request: str) -> str:
        """A request in which clauses that were put together are joined as people join them."""
        return request

    def is_for_speaker(self, action: str) -> bool:
        """Whether an action is something that its speaker would not do himself: "show me the list"."""
        return False

    @abstractmethod
    def action_of(self, name: str, description: str) -> str:
        """What a description says that the tool does, as one asks for it; "" where it says nothing short."""

    def action_of_name(self, name: str) -> str:
        """What the name of a tool says that it does; "" where names in code are never in the language."""
        return ""

    @abstractmethod
    def other_actions(self, phrase: str) -> tuple[str, ...]:
        """The same action with other verbs."""

    @abstractmethod
    def cue_of(self, description: str) -> str:
        """What people call a parameter that is described so, "" where the description names nothing short."""


@dataclass(frozen=True, eq=False)
class LanguagePack:
    """One language: its name in prompts, its script, its words by name, its shapes and its rules."""

    code: str
    name: str  # as prompts name it
    script: str
    letters: str  # what stands in a character class of the letters that only this script has, "" for the common one
    marks: frozenset[str]  # words by which a text is known for this language among those of its script
    space: str  # between words and sentences
    comma: str  # between the items of a list
    last: str  # before its last item
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
    rules: LanguageRules
    fallback: bool = False  # it stands for every text of its script that shows no language
