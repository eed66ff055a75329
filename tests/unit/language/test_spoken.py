"""A page of YAML is all that a language needs for its days, times and numbers: what it writes it
reads.
"""

from datetime import date
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.language.packs import known, of
from callwright.language.spoken import SpokenForms
from callwright.language.text import folded
from callwright.warehouse.yaml_text import read_yaml

GERMAN = r"""
dates:
  say: ["'am' d. MMMM y", "'am' EEEE, d. MMMM y", "'den' d. MMMM y"]
  read: ['(?:(?:am|den)\s+)?(?:{weekday},\s+)?{day}\s+{month}(?:\s+(?P<y>\d{4}))?']
  ending: '\.'
clocks:
  say:
    any: ["H:mm 'Uhr'"]
    late: ["H:mm 'Uhr'"]
    0: ["'{hour} Uhr' B"]
    15: ["'Viertel nach {hour}' B"]
    30: ["'halb {next}' B"]
  hours: [eins, zwei, drei, vier, fünf, sechs, sieben, acht, neun, zehn, elf, zwölf]
  minutes: {viertel: 15, halb: 30}
  parts: {'nachts': [22, 29], 'morgens|vormittags|vorm\.': [4, 12], 'mittags': [11, 14], 'nachm\.': [12, 19], 'abends': [17, 24]}
  read:
    - '(?P<hour>\d{1,2}):(?P<minute>\d\d)(?P<sure>\s+uhr)?'
    - '{minute}\s+nach\s+{hour}(?:\s+{part})?'
    - '{less}\s+{hour}(?:\s+{part})?'
    - '{hour}\s+uhr(?:\s+{part})?'
numbers: {words_below: 1000, never: [1]}
"""
PAGES = {code: of(code).data["spoken"] for code in known()} | {"de": read_yaml(GERMAN)}
FORMS = {code: SpokenForms(code, page) for code, page in PAGES.items()}
each_language = pytest.mark.parametrize("code", sorted(FORMS))


@each_language
@given(day=st.dates(date(1990, 1, 1), date(2090, 12, 31)), seed=st.integers(0, 999))
def test_a_day_is_read_as_it_was_written(code: str, day: date, seed: int) -> None:
    words = FORMS[code].write_date(day, Random(seed))
    [found] = FORMS[code].date_readings(folded(words).text)
    assert (found.year, found.month, found.day) == (day.year, day.month, day.day), words
    assert (found.start, found.end) == (0, len(words))


@each_language
@given(minute=st.integers(0, 24 * 60 - 1), seed=st.integers(0, 999))
def test_a_time_is_read_as_it_was_written_and_can_mean_no_other(
    code: str, minute: int, seed: int
) -> None:
    words = FORMS[code].write_clock(*divmod(minute, 60), Random(seed))
    found = [*FORMS[code].clock_readings(folded(words).text)]
    if (
        found or not words[0].isdecimal()
    ):  # the digits of another language's clock are read with all languages
        assert [(one.hour, one.minute, one.is_open) for one in found] == [
            (*divmod(minute, 60), False)
        ], words


@each_language
@given(number=st.integers(2, 999_999))
def test_a_number_in_words_is_read_as_it_was_written(code: str, number: int) -> None:
    words = [one for one in FORMS[code].number_forms(number) if not one[0].isdecimal()]
    assert [
        [found.value for found in FORMS[code].number_words(folded(one).text)] for one in words
    ] == [[number] for one in words]


def test_german_needs_a_page_and_no_code() -> None:
    german = FORMS["de"]
    assert {german.write_clock(19, 30, Random(seed)) for seed in range(20)} == {
        "19:30 Uhr",
        "halb acht abends",
    }
    assert {german.write_date(date(2027, 3, 5), Random(seed)) for seed in range(20)} == {
        "am 5. März 2027",
        "am Freitag, 5. März 2027",
        "den 5. März 2027",
    }
    assert german.number_forms(23) == ("dreiundzwanzig",)
