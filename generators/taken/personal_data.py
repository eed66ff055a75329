"""Conversations without personal data: each value is another one of its sort, everywhere the same.

Values are found by personal_values.py and written by personal_replacements.py.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from callwright.generators.taken import CONVERSATION
from callwright.generators.taken.chinese_names import is_chinese
from callwright.generators.taken.personal_replacements import PersonalReplacements
from callwright.generators.taken.personal_values import (
    PersonalKind,
    PersonalValue,
    find_personal_values,
    texts_of,
)
from callwright.language.packs import fallback
from callwright.warehouse.errors import RecordError
from callwright.warehouse.extras import require_extra
from callwright.warehouse.records import Sample, Tool, UserTurn

MOST_VALUES = 1000  # of a conversation: each is looked for at each place


class Replaced(NamedTuple):
    """A conversation without personal data, with counts by kind and the replacements."""

    sample: Sample
    counts: dict[str, int]
    values: dict[str, str]
    notes: tuple[str, ...] = ()  # those that were given, with the replacements made


def without_personal_data(
    sample: Sample, tools: Iterable[Tool], seed: str, notes: tuple[str, ...] = ()
) -> Replaced:
    """Replace each personal value of a sample throughout, with values drawn by the seed.

    Raises ConfigurationError if the libraries for phone numbers and secrets are not installed,
    RecordError if there is more than can be replaced, or what can't be replaced consistently.
    """
    require_extra("traffic")
    found = [*_distinct(find_personal_values(sample, {tool.name: tool for tool in tools}))]
    if len(found) > MOST_VALUES:
        message = f"It holds more than {MOST_VALUES} values of personal data, too many to replace."
        raise RecordError(message)
    if not found:
        return Replaced(sample, {}, {}, notes)
    replacements = PersonalReplacements(found, sample.language, seed)
    replaced = replacements.sample(sample)
    if replacements.is_left_in(texts_of(replaced)):
        raise RecordError(
            "Its personal data can't be replaced consistently: a name stands in it once more, with"
            " an ending."
        )
    counts: dict[str, int] = dict(Counter(one.kind for one in found))
    values = {one.value: str(replacements.value(one.value)) for one in found}
    return Replaced(replaced, counts, values, tuple(map(replacements.text, notes)))


def without_personal_notes(notes: tuple[str, ...], seed: str) -> tuple[str, ...]:
    """Return notes on a conversation that can't be read, with what they quote of it replaced.

    Of one whose values can't be replaced the note is empty.
    """
    require_extra("traffic")
    turns = tuple(UserTurn(text=note) for note in notes)
    sample = Sample(kind=CONVERSATION, language=fallback(), category="", candidates=(), turns=turns)
    try:
        found = [*_distinct(find_personal_values(sample, {}))]
        replacements = PersonalReplacements(found, fallback(), seed) if found else None
    except RecordError:
        return tuple("" for _ in notes)
    return tuple(map(replacements.text, notes)) if replacements else notes


def _distinct(values: Iterable[PersonalValue]) -> Iterator[PersonalValue]:
    """Yield each value once, without the signs around it; names as the surest source has them."""
    stripped = [one._replace(value=one.value.strip(" \n\t.,;:!?\"'()")) for one in values]
    by_plain: dict[tuple[PersonalKind, str], PersonalValue] = {}
    for one in stripped:
        if one.value:
            by_plain.setdefault((one.kind, one.value.casefold()), one)
    kept = [*by_plain.values()]
    names = [one.value for one in kept if one.kind == "name"]
    of_fields = [one.value for one in kept if one.kind == "name" and one.is_of_field]
    for one in kept:
        if one.kind == "name" and not one.is_of_field:
            is_more = any(f" {name} " in f" {one.value} " for name in of_fields if " " in name)
            # in Chinese what goes on behind a name was taken for the rest of it
            goes_on = is_chinese(one.value) and any(
                one.value != name and one.value.startswith(name) for name in names
            )
            if (is_more and one.value not in of_fields) or goes_on:
                continue
        yield one
