"""The words that tell of people, and their patterns (language/personal.yaml)."""

from functools import cache
from typing import Any

import regex

from callwright.language.packs import packaged


@cache
def words_of_people(name: str) -> Any:  # noqa: ANN401 - parsed YAML, typed by who asks for it
    """Return an entry of language/personal.yaml."""
    return packaged("callwright.language", "personal.yaml")[name]


@cache
def pattern_of(name: str, template: str = "(?:{0})") -> regex.Pattern[str]:
    """Return a pattern of an entry's alternatives, in the place of `{0}` in the template."""
    stated = words_of_people(name)
    listed = stated if isinstance(stated, list) else [stated]
    return regex.compile(template.replace("{0}", "|".join(listed)), regex.IGNORECASE)
