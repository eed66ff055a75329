"""Words of closed classes by language: what turns a value, what names a period, and what schemas call things (marks.yaml)."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from callwright.language.packs import known, packaged, read_as


@cache
def mark_words(language: str) -> Mapping[str, re.Pattern[str]]:
    """The closed classes of a language, as patterns by name; `articles` are several of them."""
    data = _data(language)
    data = {**data, "articles": rf"(?:{data['article']}\s*)+"}
    return {name: re.compile(words, re.IGNORECASE) for name, words in data.items() if isinstance(words, str)}


def digit_words(language: str) -> Mapping[str, str]:
    """The words for single digits."""
    digits: Mapping[str, str] = _data(language)["digits"]
    return digits


def measure_words(language: str) -> Mapping[str, str]:
    """What is said of a measure, wide, with what schemas call it, width."""
    measures: Mapping[str, str] = _data(language)["measures"]
    return measures


@cache
def schema_words(name: str) -> re.Pattern[str]:
    """A class of words that schemas have, in all languages: whatever people speak, theirs is another one often."""
    return re.compile("|".join(mark_words(code)[name].pattern for code in known()), re.IGNORECASE)


def _data(language: str) -> Any:  # noqa: ANN401 - parsed YAML
    return packaged(f"callwright.language.{read_as(language)}", "marks.yaml")
