"""Languages are folders: each gives what the protocol asks for, and what it writes it reads."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from callwright.language.packs import (
    has_folder,
    known,
    language_of,
    of,
    plain_signs,
    signs,
    widened,
    writes,
)
from callwright.warehouse.errors import ConfigurationError

TOP = Path(__file__).parents[3]
PACKAGES = (
    "annotation",
    "bench",
    "flows",
    "generators",
    "language",
    "llm",
    "validators",
    "warehouse",
)
# a code in quotes decides nothing about a language there
NAMING_CODES = {
    "warehouse/records/base.py": "the one default language",
    "bench/review_day.py": "a recipe",
    "bench/scoring_answers.py": "a recipe",
    "bench/throughput_real.py": "a recipe",
    "bench/warehouse_size.py": "a column of generated rows",
    "bench/worlds.py": "a sample",
    "flows/api/building.py": "an example in a docstring",
    "flows/refreshed_tools.py": "an example in a docstring",
    "flows/scaffolds/kind.py": "an example to begin with",
    "flows/scaffolds/check.py": "an example to begin with",
    "warehouse/answers.py": "the one language whose yes and no are read in answers",
}
# texts of an interface, a file a language, and strings to measure by
WRITING_SCRIPTS = {
    "bench/scoring_answers.py": "strings to compare",
    "language/mentions.yaml": "closed classes of languages that may have no folder",
    "language/personal.yaml": "closed classes of languages that may have no folder",
    "warehouse/said.py": "signs that end sentences, in all scripts",
}
_CODE = re.compile(
    rf"""(?<![\w.])["'](?:{"|".join(known())})["']|\blanguage\.(?:{"|".join(known())})\b"""
)
_SCRIPT = re.compile(
    r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]|\\u(?:3[4-9a-f]|[4-9][0-9a-f])[0-9a-f]{2}",
    re.IGNORECASE,
)


def test_a_language_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(ConfigurationError, match=r"no language 'xx'; the languages are .*en.*zh"):
        of("xx")


def test_a_language_without_a_folder_has_its_name_and_is_known_by_what_is_not_in_another() -> None:
    assert (of("fr").name, of("pt").name, of("ja").name) == ("French", "Portuguese", "Japanese")
    assert not has_folder("fr")
    assert writes("fr", "Réserve une table pour deux à Rome demain")
    assert not writes("fr", "Book a table for two in Rome tomorrow")
    assert writes("fr", "Lima"), "nobody can tell"
    assert not writes("ja", "Book a table for two in Rome tomorrow")
    assert "fr" not in known()


@pytest.mark.parametrize("code", known())
def test_a_request_is_known_for_its_language(code: str) -> None:
    shape = of(code).data["requests"]["openers"][0]
    assert writes(code, shape)
    assert language_of(shape) == code


@pytest.mark.parametrize("code", ["756f969c-0519-45de-a858-43de5214740c", "LA-8-EL-77", "y2k_con"])
def test_the_letters_of_codes_tell_no_language(code: str) -> None:
    assert language_of(f"It's {code}.") == "en"
    assert language_of(f"Es {code}, por favor.") == "es"


def _lines(*suffixes: str) -> Iterator[tuple[str, str]]:
    """Each line outside the languages' own folders and files, with its file."""
    own = tuple(f"language/{code}/" for code in known())
    named = tuple(f"{sign}{code}.yaml" for code in known() for sign in "/.")
    for package in PACKAGES:
        for file in sorted((TOP / package).rglob("*")):
            place = file.relative_to(TOP).as_posix()
            if file.suffix in suffixes and not (place.startswith(own) or place.endswith(named)):
                yield from ((place, line) for line in file.read_text(encoding="utf-8").splitlines())


def test_no_other_file_names_a_language() -> None:
    found = {place for place, line in _lines(".py") if _CODE.search(line)}
    assert found == set(NAMING_CODES)


def test_no_other_file_writes_a_script() -> None:
    found = {
        place
        for place, line in _lines(".py", ".yaml", ".j2", ".json", ".xml")
        if _SCRIPT.search(line)
    }
    assert {place for place in found if not place.startswith(tuple(WRITING_SCRIPTS))} == set()


def test_signs_stand_with_the_forms_of_other_scripts() -> None:
    assert set("。？!") <= set(signs(".?!"))
    assert signs("{.}") == "。"
    pattern = re.compile(widened(r"@[,{list}]\s*"))
    assert pattern.split("a, b，c、d") == ["a", "b", "c", "d"]
    assert "［＝，、".translate(plain_signs()) == "[=,,"
