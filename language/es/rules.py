"""The rules of Spanish: dates, times of day, numbers, and the agreement of gender and number."""

import re
from collections.abc import Mapping
from datetime import date

from callwright.language.es import actions, agreement, clock, numerals

_MONTHS = (
    "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre",
    "diciembre",
)  # fmt: skip
_WEEKDAYS = ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo")
_MONTH_NUMBERS = {**{name: number for number, name in enumerate(_MONTHS, 1)}, "setiembre": 9}
_DAYS = {**{word: number for word, number in numerals.small_numbers().items() if number <= 31}, "primero": 1}  # noqa: PLR2004 - days of a month
_DAY = "|".join(sorted(_DAYS, key=len, reverse=True))
_WEEKDAY = "lunes|martes|miercoles|jueves|viernes|sabado|domingo"
DATE_PATTERNS = (
    rf"(?<![\w.:/\-])(?:el\s+)?(?:(?:{_WEEKDAY}),?\s+)?(?:el\s+)?(?:dia\s+)?(?P<d>\d{{1,2}}|{_DAY})\s+de\s+"
    rf"(?P<m>{'|'.join(_MONTH_NUMBERS)})(?![a-z])(?:\s*,?\s*(?:del?\s+)?(?:ano\s+)?(?P<y>(?:19|20)\d\d)(?![\w:]))?",
)
JOINS_NUMBERS = True
_PEOPLE = frozenset({"comensales", "pasajeros", "personas", "invitados", "huéspedes", "adultos", "niños"})
_CON_CON = re.compile(r"( como [^\"“«,]{1,40}?) con ")
_ARTICLE = re.compile(r"\b(?:el|la|los|las|mi|un|una)\s+$", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+)$")
_NUMBER_OF = "número de "


def day_of_month(words: str) -> int | None:
    """The day that a numeral states."""
    return _DAYS.get(re.sub(r"\s+", " ", words))


def year_number(words: str) -> int | None:
    """No year: years of dates are written in digits."""
    return None


def date_forms(year: int, month: int, day: int) -> tuple[str, ...]:
    """The ways in which a person states this date, each with its year."""
    name = _MONTHS[month - 1]
    weekday = _WEEKDAYS[date(year, month, day).weekday()]
    return (
        f"el {day} de {name} de {year}",
        f"el {weekday} {day} de {name} de {year}",
        f"el {day} de {name} del {year}",
    )


def moment_forms(day: str, clock: str) -> tuple[str, ...]:
    """The one way to state a day and a time together."""
    return (f"{day} a {clock}",)


def find_month(phrase: str, text: str) -> tuple[int, int] | None:
    """Nowhere: a month of a relative year is compared word by word."""
    return None


def respellings() -> Mapping[str, str]:
    """No words: Spanish words are compared as they are."""
    return {}


def is_place_ending(character: str, before: str) -> bool:
    """No: Spanish names of places end in words."""
    return False


def counted(called: str, name: str) -> tuple[str, str] | None:
    """What a number counts, as it is asked for ("cuántas estrellas") and as it stands behind the number."""
    what = called.removeprefix(_NUMBER_OF)
    if what == called or not agreement.is_plural(what):
        return None
    return f"{'cuántas' if agreement.is_feminine(what) else 'cuántos'} {what}", what


def counted_argument(called: str) -> str:
    """The people that a request may state a number of without more words, "para 4 comensales"; "" for all else."""
    what = called.removeprefix(_NUMBER_OF)
    return what if what != called and what in _PEOPLE else ""


def point(before: str, phrase: str, after: str, cue: str, *, is_typed: bool) -> str:
    """The phrase brings its article, follows a name behind a colon, and takes the preposition that a value needs."""
    if before.lower().endswith(f" {cue.lower()} ") or before.lower() == f"{cue.lower()} ":
        before = f"{before.rstrip()}: "
    before = _ARTICLE.sub("", before)
    phrase = phrase[:1].upper() + phrase[1:] if _SENTENCE_START.search(before) else phrase
    return f"{before}{phrase}{after}"


def action_of_name(name: str) -> str:
    """Nothing: names in code are in English."""
    return ""


def smooth(request: str) -> str:
    """A request in which a second "con" is joined to the first, and "de" to its article."""
    return _CON_CON.sub(r"\1 y con ", request).replace(" de el ", " del ")


def is_for_speaker(action: str) -> bool:
    """No: an infinitive fits all shapes."""
    return False


clock_readings, write_clock = clock.spanish_readings, clock.write_clock
number_words, number_forms = numerals.spanish_numbers, numerals.number_forms
month_number = _MONTH_NUMBERS.get
agreed = in_number = agreement.agree
is_plural = agreement.is_plural
action_of, other_actions, cue_of = actions.action_of, actions.other_actions, actions.cue_of
