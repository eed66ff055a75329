"""Find where a model's wording states a value: by its quote, repaired if mangled, or by search.

Generation is lenient and checks are strict: a value that no rule reads is accepted, and a
wording is asked for again only if it says another value, or if nothing at all says this one.
"""

from collections.abc import Mapping
from math import isclose
from typing import Any, NamedTuple

from pydantic import BaseModel, JsonValue
from rapidfuzz import fuzz

from callwright.generators.stages import StageContext
from callwright.language.packs import has_folder, signs
from callwright.language.readers.mentions import Amount, Moment, find_amounts, find_moments, unit_of
from callwright.language.schemas import kind_of
from callwright.language.text import VERBATIM, Found
from callwright.language.values import locate
from callwright.llm.prompts import render
from callwright.warehouse.records import Evidence, JsonSchema, Language

_TYPED = frozenset({"integer", "number", "date", "time", "date-time"})
_ALIKE = 85.0  # of 100: a quote with a word changed or left out is still the quote
_SHORTEST = 4  # characters: anything shorter is like too much
_UNLIKE = 65.0  # of 100: a name is not said by words none of which is as like one of its own


class Place(NamedTuple):
    """A span of a text."""

    start: int
    end: int


class Stated(NamedTuple):
    """Where a text states a value, or None, and what speaks against it, or ""."""

    place: Place | None
    problem: str = ""


QUOTES_PROMPTS, QUOTES_TEMPLATE = "callwright.generators.single_turn.prompts", "quote_values"
QUOTES_PATH = "single_turn/prompts/quote_values"
Spot = tuple[int, str]  # the number of a call or of a part of a turn, and the parameter
Expected = Mapping[Spot, tuple[JsonValue, JsonSchema]]


class CallMention(BaseModel):
    """Where a wording of several calls states a value: call number, parameter, and exact words."""

    call: int
    parameter: str
    words: str


class QuotedValues(BaseModel):
    """The words of a text that state values, as far as any do."""

    quotes: list[CallMention]


async def ask_for_quotes(
    context: StageContext, text: str, expected: Expected, quotes: dict[Spot, str]
) -> None:
    """Ask a model for the words that state values no reader finds, and put them into `quotes`."""
    quotes.clear()
    lacking = [
        {
            "call": number,
            "parameter": name,
            "description": schema.get("description", ""),
            "value": value,
        }
        for (number, name), (value, schema) in expected.items()
        if locate(value, schema, text) is None
    ]
    if lacking and text.strip():
        answer = await context.chat.ask(
            render(QUOTES_PROMPTS, QUOTES_TEMPLATE, text=text, values=lacking), QuotedValues
        )
        quotes |= {(one.call, one.parameter): one.words for one in answer.quotes}


def find_values(
    expected: Expected, quotes: Mapping[Spot, str], text: str, language: Language
) -> dict[Spot, Stated]:
    """Return where `text` states each expected value, in the order of the quotes.

    Quotes for anything else are skipped.
    """
    given_quotes: dict[Spot, str] = {}
    for spot, words in quotes.items():
        meant = spot if spot in expected else _meant(spot, expected)
        if meant is not None:
            given_quotes.setdefault(meant, words)
    return {
        spot: find_value(
            (spot[1], expected[spot][0]),
            expected[spot][1],
            given_quotes.get(spot, ""),
            text,
            language,
        )
        for spot in dict.fromkeys((*given_quotes, *expected))
    }


def _meant(spot: Spot, expected: Expected) -> Spot | None:
    """Return the only value of a parameter of this name, if the call's number is wrong; or None."""
    named = [one for one in expected if one[1] == spot[1]]
    return named[0] if len(named) == 1 else None


def value_evidence(  # noqa: PLR0917 - what is said, and where
    argument: str, value: JsonValue, schema: JsonSchema, place: Place, text: str, turn: int = 0
) -> Evidence:
    """Return evidence that a span of a turn states a value, with a rule if one reads it."""
    found = locate(value, schema, text[place.start : place.end])
    if found is None:
        return span_evidence(argument, turn, place, text)
    exact = found._replace(start=place.start + found.start, end=place.start + found.end)
    return found_evidence(argument, exact, text, turn)


def located_evidence(
    argument: str, value: JsonValue, schema: JsonSchema, text: str, turn: int | None = None
) -> Evidence | None:
    """Return evidence that a text, such as a turn's, says an argument's value, or None."""
    found = locate(value, schema, text)
    return None if found is None else found_evidence(argument, found, text, turn)


def found_evidence(
    argument: str,
    found: Found,
    text: str,
    turn: int | None = None,
    **more: Any,  # noqa: ANN401
) -> Evidence:
    """Return evidence that the `found` words of a text, or of a turn, state an argument."""
    return Evidence(
        argument=argument,
        kind="span" if found.rule == VERBATIM else "normalised",
        turn=turn,
        start=found.start,
        end=found.end,
        quote=text[found.start : found.end],
        rule=found.rule,
        **more,
    )


def span_evidence(argument: str, turn: int, place: Place, text: str) -> Evidence:
    """Return evidence that a span of a turn states an argument."""
    quote = text[place.start : place.end]
    return Evidence(
        argument=argument, kind="span", turn=turn, start=place.start, end=place.end, quote=quote
    )


def find_value(
    named: tuple[str, JsonValue], schema: JsonSchema, words: str, text: str, language: Language
) -> Stated:
    """Find where `text` states the value, by the quote `words` or by readers.

    A quote must not say another value. Only its own words say a name, and others are another name.
    """
    (name, value), quoted = named, find_quote(words, text)
    if not has_folder(language):
        return _find_unruled(named, schema, quoted, text, language)
    mention = locate(value, schema, text)
    if quoted is not None:
        quoted_text = text[quoted.start : quoted.end]
        is_read = locate(value, schema, quoted_text) is not None
        if (
            not is_read
            and mention is not None
            and kind_of(schema) == "text"
            and not _is_name(quoted_text)
        ):
            # the words stand in the text, only the quote missed them
            return Stated(Place(mention.start, mention.end))
        other_reading = "" if is_read else other_value(named, schema, quoted_text, language)
        if not is_read and kind_of(schema) == "text" and _is_other_name(str(value), quoted_text):
            other_reading = repr(quoted_text)
        return Stated(
            quoted,
            other_reading
            and f"the words {quoted_text!r} say {other_reading} for {name!r}, not {value!r}.",
        )
    if mention is not None:
        return Stated(Place(mention.start, mention.end))
    place = _read_place(value, schema, text, language)
    return Stated(place) if place else Stated(None, f"nothing in it says {value!r} for {name!r}.")


def _find_unruled(
    named: tuple[str, JsonValue],
    schema: JsonSchema,
    quoted: Place | None,
    text: str,
    language: Language,
) -> Stated:
    """Find a value in a language without rules: by quote, literally, or as Duckling reads it."""
    name, value = named
    statement = text[quoted.start : quoted.end] if quoted else text
    typed = _readings(statement, language) if kind_of(schema) in _TYPED else []
    if quoted is not None:
        is_other = (
            len(typed) == 1 and not _may_mean(typed[0], value) and str(value) not in statement
        )
        return Stated(
            quoted,
            (
                f"the words {statement!r} say another value for {name!r}, not {value!r}."
                if is_other
                else ""
            ),
        )
    at = text.casefold().find(str(value).casefold()) if isinstance(value, str | int | float) else -1
    if at >= 0 and len(text.casefold()) == len(text):
        return Stated(Place(at, at + len(str(value))))
    found = next((Place(one.start, one.end) for one in typed if _may_mean(one, value)), None)
    return Stated(found, "" if found else f"nothing in it says {value!r} for {name!r}.")


def _readings(text: str, language: Language) -> list[Moment | Amount]:
    """Return a text's amounts, and its moments whose day does not depend on today."""
    moments = [one for one in find_moments(text, language, None) if one.days or one.clocks]
    amounts = [
        one
        for one in find_amounts(text, language)
        if not any(_overlap(one, other) for other in moments)
    ]
    return sorted([*moments, *amounts], key=lambda one: one.start)


def _overlap(one: Amount, other: Moment) -> bool:
    return one.start < other.end and other.start < one.end


def _may_mean(found: Moment | Amount, value: JsonValue) -> bool:
    """Whether a reading may mean `value`; without a year or half of the day, it may be any."""
    if isinstance(found, Amount):
        return isinstance(value, int | float) and isclose(found.value, value)
    stated = str(value)
    is_day = not found.days or "-" not in stated or found.may_be_day(stated[:10])
    return is_day and (
        not found.clocks or ":" not in stated or any(clock in stated for clock in found.clocks)
    )


def _read_place(
    value: JsonValue, schema: JsonSchema, text: str, language: Language
) -> Place | None:
    """Return where Duckling finds a value that our own rules miss."""
    if kind_of(schema) not in _TYPED:
        return None
    return next(
        (Place(one.start, one.end) for one in _readings(text, language) if _may_mean(one, value)),
        None,
    )


def find_quote(words: str, text: str) -> Place | None:
    """Return a quote's place in a text, or None."""
    words = words.strip()
    at = text.find(words) if words else -1
    if at >= 0:
        return Place(at, at + len(words))
    bare = words.strip(signs(" \t\n.,;:!?\"'()[]“”‘’{open}{close}"))
    at = text.casefold().find(bare.casefold()) if bare and len(text.casefold()) == len(text) else -1
    if at >= 0:
        return Place(at, at + len(bare))
    if not _SHORTEST <= len(bare) <= len(text):
        return None
    alike = fuzz.partial_ratio_alignment(bare.casefold(), text.casefold(), score_cutoff=_ALIKE)
    if (
        alike is None
        or len(text.casefold()) != len(text)
        or _numerals(bare) != _numerals(text[alike.dest_start : alike.dest_end])
    ):
        return None
    return _whole_words(text, alike.dest_start, alike.dest_end)


def _numerals(text: str) -> list[str]:
    """Return the digits of a text; a quote with other digits is another value."""
    return [character for character in text if character.isdecimal()]


def _whole_words(text: str, start: int, end: int) -> Place:
    while start < end and not text[start].isalnum():
        start += 1
    while start and _is_of_word(text, start - 1) and _is_of_word(text, start):
        start -= 1
    while end < len(text) and _is_of_word(text, end) and _is_of_word(text, end - 1):
        end += 1
    return Place(start, end)


def _is_of_word(text: str, at: int) -> bool:
    return text[at].isascii() and text[at].isalnum()


def other_value(
    named: tuple[str, JsonValue], schema: JsonSchema, words: str, language: Language
) -> str:
    """Return the one other number, day or time that a quote clearly says, or "".

    It is "" if the words may mean the value.
    """
    (name, value), kind = named, kind_of(schema)
    if kind in ("integer", "number") and isinstance(value, int | float):
        if unit_of(name, str(schema.get("description", "")), language):
            return ""  # the words may count in another unit
        return _other_number(float(value), words, language)
    if kind in ("date", "time") and isinstance(value, str):
        return _other_moment(value, words, language)
    return ""


def _is_other_name(value: str, words: str) -> bool:
    """Whether a value is a name or code, each word with a capital or digit, unlike all `words`."""
    own, others = value.split(), words.split()
    if not _is_name(value) or not words.isascii():
        return False
    initials = "".join(one[0] for one in own)
    alike = (
        fuzz.ratio(one.casefold(), other.casefold()) for one in (*own, initials) for other in others
    )
    return all(likeness < _UNLIKE for likeness in alike)


def _is_name(words: str) -> bool:
    return all(one[0].isupper() or any(map(str.isdecimal, one)) for one in words.split())


def _other_number(value: float, words: str, language: Language) -> str:
    amounts = find_amounts(words, language)
    if len(amounts) != 1 or amounts[0].unit or not amounts[0].is_sure:
        return ""
    # "eleven and a quarter" is read as eleven
    is_all = words[amounts[0].start : amounts[0].end].strip() == words.strip()
    return "" if not is_all or isclose(amounts[0].value, value) else f"{amounts[0].value:g}"


def _other_moment(value: str, words: str, language: Language) -> str:
    stated = find_moments(words, language, None)
    if len(stated) != 1 or stated[0].is_range or _may_mean(stated[0], value):
        return ""
    [one] = stated
    if one.sort == "dated" and "-" in value and not one.may_be_day(value[:10]):
        return min(one.days)
    return " or ".join(sorted(one.clocks)) if ":" in value else ""
