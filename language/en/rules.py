"""The rules of English: dates, times of day, months, numbers and the words that stand for others."""

import re
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from random import Random

from callwright.language.en import actions, clock, numerals
from callwright.language.names import humanise, words

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH_NUMBERS = {
    **{name.lower(): number for number, name in enumerate(MONTHS, 1)},
    **{name.lower()[:3]: number for number, name in enumerate(MONTHS, 1)},
    "sept": 9,
}
MONTH_PATTERN = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
WEEKDAY_PATTERN = "|".join(f"{name.lower()}|{name.lower()[:3]}" for name in WEEKDAYS)
WEEKDAY_SHORT = {
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "thu": "thursday", "thur": "thursday",
    "thurs": "thursday", "fri": "friday",
}  # fmt: skip
_MONTH_OF_YEAR = re.compile(
    rf"\s*(?P<month>{MONTH_PATTERN})\s+(?:of\s+)?(?P<year>this|last|next)\s+year\s*", re.IGNORECASE
)
_MONTH_STATED = re.compile(
    rf"\b(?:(?P<month>{MONTH_PATTERN})\.?(?:\s+\d{{1,2}}(?:st|nd|rd|th)?)?,?\s+(?:of\s+)?(?P<year>this|last|next)\s+year"
    rf"|(?P<before>this|last|next)\s+(?P<after>{MONTH_PATTERN}))\b",
    re.IGNORECASE,
)


def find_month(phrase: str, text: str) -> tuple[int, int] | None:
    """Where `text` states a date in the month of `phrase`: "December of last year" in "December 25 of last year"."""
    wanted = _MONTH_OF_YEAR.fullmatch(phrase)
    if not wanted:
        return None
    month, year = MONTH_NUMBERS[wanted["month"].lower()], wanted["year"].lower()
    for match in _MONTH_STATED.finditer(text):
        stated = MONTH_NUMBERS[(match["month"] or match["after"]).lower()], (match["year"] or match["before"]).lower()
        if stated == (month, year):
            return match.span()
    return None


# ruff: noqa: PLR2004 - days, hours and minutes are what this file is about

_LONGEST_IN_WORDS = 100
_THOUSAND = 1000
_AMBIGUOUS_ORDINALS = 2  # "first" and "second" are adverbs and seconds as well
_DAY = (
    r"(?P<d>\d{1,2}(?:\s?(?:st|nd|rd|th))?|"
    + "|".join(word.replace(" ", r"\s") for word in sorted(numerals.ordinal_words(), key=len, reverse=True))
    + r")(?![\w:])"
)
_YEAR = r"(?:\s*,?\s*(?:of\s+|in\s+)?(?P<y>(?:19|20)\d\d)(?![\w:]))?"
_MONTH = rf"(?P<m>{MONTH_PATTERN})(?![a-z])\.?"
_LEAD = rf"(?<![\w.:/\-])(?:(?:{WEEKDAY_PATTERN})\b\.?,?\s+)?"
DATE_PATTERNS = (
    rf"{_LEAD}(?:the\s+)?{_DAY}[\s\-/]*(?:of\s+)?{_MONTH}[\-,/]?{_YEAR}",
    rf"{_LEAD}{_MONTH}\s*(?:the\s+)?{_DAY}{_YEAR}",
)
_UNITS = frozenset("hours minutes days nights weeks months guests people seats tickets points cards bags".split())  # noqa: SIM905
_WITH_WITH = re.compile(r"(\swith(?:out)? [^,]{1,80}?) with ")
_WITH_CUE = re.compile(r"\bwith (?:the )?$", re.IGNORECASE)
_CLAUSE_START = re.compile(r"(?:^|[,.;:!?]\s+|\band )(?:the |my )?$", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(?:the|my|an?)\s+$", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+)$")
_FOR_ME = re.compile(r"^\w+ me\b|\bfor me$")
_PLURAL = re.compile(r"(?<!speci)(?<!seri)(?<!\bne)[^sui]s$")
_IS = re.compile(r"(?<=\}) is (?=\{)")
_NOON = 12
_HOURS_IN_WORDS = (
    "twelve", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
)  # fmt: skip
_PAST = {0: "{0} o'clock", 15: "quarter past {0}", 30: "half past {0}", 45: "quarter to {1}"}
_SPOKEN = {0: "{0}", 15: "{0} fifteen", 30: "{0} thirty", 45: "{0} forty-five"}
_EARLIEST_NIGHT = 21
JOINS_NUMBERS = True


def day_of_month(words: str) -> int | None:
    """The day that an ordinal states."""
    return numerals.ordinal_words().get(re.sub(r"\s+", " ", words))


def year_number(words: str) -> int | None:
    """No year: English years are written in digits."""
    return None


def date_forms(year: int, month: int, day: int) -> tuple[str, ...]:
    """The ways in which a person states this date, each with its year."""
    name, ordinal = MONTHS[month - 1], _ordinal(day)
    weekday = WEEKDAYS[date(year, month, day).weekday()]
    return (
        f"{name} {day}, {year}",
        f"{day} {name} {year}",
        f"{name} {ordinal}, {year}",
        f"the {ordinal} of {name} {year}",
        f"{weekday}, {name} {day}, {year}",
    )


def _ordinal(day: int) -> str:
    suffix = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{suffix}"


def write_clock(hour: int, minute: int, rng: Random) -> str:
    """One way in which a person states this time, in words that can mean no other."""
    if (hour, minute) in ((_NOON, 0), (0, 0)) and rng.randrange(2):
        return "noon" if hour else "midnight"
    half_day = "am" if hour < _NOON else "pm"
    on_clock = hour % _NOON or _NOON
    digits = (
        f"{on_clock}:{minute:02} {half_day}",
        f"{hour:02}:{minute:02}" if hour > _NOON else f"{on_clock}:{minute:02}{half_day}",
    )
    spoken = [f"{on_clock} {half_day}"] if minute == 0 else []
    names = _HOURS_IN_WORDS[hour % _NOON], _HOURS_IN_WORDS[(hour + 1) % _NOON]
    if minute in _SPOKEN and on_clock != _NOON:
        spoken.append(_SPOKEN[minute].format(*names) + f" {half_day}")
    if minute in _PAST and on_clock not in (_NOON, _NOON - 1):
        spoken.append(f"{_PAST[minute].format(*names)} {_part_of_day(hour)}")
    return rng.choice((*digits, *spoken))


def _part_of_day(hour: int) -> str:
    if hour < _NOON:
        return "in the morning"
    if hour < 18:
        return "in the afternoon" if hour != 17 else "in the evening"
    return "in the evening" if hour < _EARLIEST_NIGHT else "at night"


def moment_forms(day: str, clock: str) -> tuple[str, ...]:
    """The ways to state a day and a time together."""
    return (f"{day} at {clock}", f"{clock} on {day}")


def number_forms(number: int) -> tuple[str, ...]:
    """The ways besides digits to state a whole number that is not negative."""
    if number >= _THOUSAND:
        return (f"{number:,}",)
    if 1 < number <= _LONGEST_IN_WORDS or (number and number % _LONGEST_IN_WORDS == 0):
        return (_in_words(number),)
    return ()


@lru_cache(1024)
def _in_words(number: int) -> str:
    from num2words import num2words

    return str(num2words(number))


def is_place_ending(character: str, before: str) -> bool:
    """No: English names of places end in words."""
    return False


def counted(called: str, name: str) -> tuple[str, str] | None:
    """What a number counts, as it is asked for and as it stands behind the number, by what its parameter is called."""
    what = called.removeprefix("number of ")
    words = what.split()
    unit = next((word for word in words if word in _UNITS), "")
    if unit and unit in (words[0], words[-1]):
        return what, unit
    if what != called and what.endswith("s") and len(words) == 1:
        return what, what
    last = (humanise(name).split() or [""])[-1]
    return (last, last) if last in _UNITS else None


_LISTED = frozenset(
    words("items results rows lines records entries messages commits channels users pages elements objects")
)


def counted_argument(called: str) -> str:
    """The unit in which a request may state a number without more words, "for 3 guests"; "" where it needs them."""
    _, number_of, unit = called.partition("umber of ")
    is_counted = number_of and unit.endswith("s") and " " not in unit and unit not in _LISTED
    return unit if is_counted else ""


def in_number(shape: str, called: str) -> str:
    """The shape of a sentence, in the number of what its parameter is called."""
    return (
        _IS.sub(" are ", shape) if _PLURAL.search(called) and called.isascii() and "umber of" not in called else shape
    )


def point(before: str, phrase: str, after: str, cue: str, *, is_typed: bool) -> str:
    """The phrase brings its article, begins a sentence with a capital, and is joined to a name right before it."""
    link = ""
    if f" {before.lower()}".endswith(f" {cue.lower()} "):
        lead = before[: -len(cue) - 1]
        link = "being " if _WITH_CUE.search(lead) else ": " if _CLAUSE_START.search(lead) else ""
    before = _ARTICLE.sub("", before)
    phrase = phrase[:1].upper() + phrase[1:] if _SENTENCE_START.search(before) else phrase
    return f"{before.rstrip() if link == ': ' else before}{link}{phrase}{after}"


def smooth(request: str) -> str:
    """A request in which a second "with" is joined to the first."""
    return _WITH_WITH.sub(r"\1 and with ", request)


def is_for_speaker(action: str) -> bool:
    """Whether an action is something that its speaker would not do himself: "show me the list"."""
    return _FOR_ME.search(action) is not None


def is_plural(called: str) -> bool:
    """Whether what a parameter is called stands in the plural: "hours of parking", "workout minutes"."""
    head = called.partition(" of ")[0].split()
    return bool(head) and head[-1] in _UNITS


def agreed(shape: str, called: str) -> str:
    """A shape in the plural where the parameter is called so."""
    return shape.replace("{c} is ", "{c} are ") if is_plural(called) else shape


def respellings() -> Mapping[str, str]:
    """Folded words, and the words that they are compared as: numbers, ordinals, months and weekdays."""
    weekdays = {word: name for word, name in WEEKDAY_SHORT.items() if word != "mon"}
    ordinals = {word: str(number) for word, number in numerals.ordinal_words().items() if number > _AMBIGUOUS_ORDINALS}
    units = {word: str(number) for word, number in numerals.unit_words().items()}
    months = {word: MONTHS[number - 1].lower() for word, number in MONTH_NUMBERS.items() if word != "may"}
    return {**weekdays, **ordinals, **units, **months}


__all__ = ["find_month"]
clock_readings, number_words = clock.english_readings, numerals.english_numbers
month_number = MONTH_NUMBERS.get
action_of, action_of_name = actions.action_of, actions.action_of_name
other_actions, cue_of = actions.other_actions, actions.cue_of
