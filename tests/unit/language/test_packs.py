"""Languages are folders: each gives what the protocol asks for, and what it writes it reads."""

import re
from datetime import date
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from language.packs import known, language_of, of, writes
from language.protocol import LanguageRules
from language.values import locate, write_value
from warehouse.errors import ConfigurationError

TOP = Path(__file__).parents[3]
DATE = {"type": "string", "format": "date"}
CLOCK = {"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$"}
NUMBER = {"type": "integer"}
# what still compares codes; nothing may be added
COMPARING = {
    "annotation/dialogue_acts.py", "annotation/prediction_audit.py", "bench/paths.py", "bench/warehouse_size.py",
    "flows/cli/scoring.py",
    "flows/recipe.py", "flows/settings.py", "generators/catalogs/builder.py", "generators/catalogs/callnavi.py",
    "generators/multi_step/goals.py", "language/calls/messages.py", "language/cues.py", "language/units.py",
    "llm/template/conversing.py", "llm/template/parallel.py", "llm/template/drafting_tools.py", "llm/template/external.py",
    "llm/template/routing.py", "llm/template/steps_calling.py", "llm/template/steps_wording.py",
    "validators/matching/hammerbench.py", "validators/metrics/hammerbench_logs.py", "warehouse/exports/openai.py",
}  # fmt: skip
_CODE = re.compile(r"""(?<![\w.])["'](?:en|zh)["'](?!\s*\)?\s*#)""")
_DEFAULT = re.compile(r"language: Language = \"en\"|\"languages\": \[|review_language=\"en\"")


def test_a_language_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(ConfigurationError, match=r"no language 'xx'; the languages are .*en.*zh"):
        of("xx")


@pytest.mark.parametrize("code", known())
def test_every_language_gives_what_the_protocol_asks_for(code: str) -> None:
    wanted = {name for name in vars(LanguageRules) if not name.startswith("_")} | set(LanguageRules.__annotations__)
    assert not [name for name in wanted if not hasattr(of(code).rules, name)]


@pytest.mark.parametrize("code", known())
@given(day=st.dates(min_value=date(2020, 1, 1)), seed=st.integers(0, 99))
def test_a_date_that_is_written_is_found_again(code: str, day: date, seed: int) -> None:
    words = write_value(str(day), DATE, code, Random(seed))
    assert locate(str(day), DATE, words) is not None, words


@pytest.mark.parametrize("code", known())
@given(hour=st.integers(0, 23), minute=st.integers(0, 59), seed=st.integers(0, 99))
def test_a_time_that_is_written_is_found_again(code: str, hour: int, minute: int, seed: int) -> None:
    value = f"{hour:02}:{minute:02}"
    words = write_value(value, CLOCK, code, Random(seed))
    assert locate(value, CLOCK, words) is not None, words


@pytest.mark.parametrize("code", known())
@given(number=st.integers(2, 10**9), seed=st.integers(0, 99))
def test_a_number_that_is_written_is_found_again(code: str, number: int, seed: int) -> None:
    words = write_value(number, NUMBER, code, Random(seed))
    assert locate(number, NUMBER, words) is not None, words


@pytest.mark.parametrize("code", known())
def test_a_request_is_known_for_its_language(code: str) -> None:
    shape = of(code).data["requests"]["openers"][0]
    assert writes(code, shape)
    assert language_of(shape) == code


def test_no_other_file_compares_the_code_of_a_language() -> None:
    found = set()
    for package in ("annotation", "bench", "flows", "generators", "language", "llm", "validators", "warehouse"):
        for file in (TOP / package).rglob("*.py"):
            place = file.relative_to(TOP).as_posix()
            lines = file.read_text(encoding="utf-8").splitlines()
            own = place.startswith(tuple(f"language/{code}/" for code in known()))
            if not own and any(_CODE.search(line) and not _DEFAULT.search(line) for line in lines):
                found.add(place)
    assert found - COMPARING == set()
