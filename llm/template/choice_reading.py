"""Options of a choice in a text, in any of their spellings."""

from functools import lru_cache

import orjson
from pydantic import JsonValue

from llm.language.reading import read_value
from llm.template.hearing import Hearing, Reading
from llm.template.names import humanise
from llm.template.views import ParameterView


def find_choice(parameter: ParameterView, heard: Hearing, start: int, end: int) -> Reading | None:
    """The option that is said first between `start` and `end`, the longer of two that begin there."""
    hits = []
    for spelling, option in options_of(orjson.dumps(parameter.schema.get("enum") or [parameter.schema.get("const")])):
        at = heard.lower.find(spelling, start, end)
        if at >= 0 and not _cuts_word(heard.lower, at, at + len(spelling)):
            hits.append((at, -len(spelling), at + len(spelling), option))
    if not hits:
        value = read_value(heard.text[start:end][:60], parameter.schema)
        return None if value is None else Reading(value, start, end)
    at, _, stop, option = min(hits, key=lambda hit: hit[:2])
    return Reading(option, at, stop)


def _cuts_word(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    left = before.isalnum() and before.isascii() and text[start].isascii() and start > 0
    return left or (after.isalnum() and after.isascii() and text[end - 1].isascii())


@lru_cache(4096)
def options_of(choices: bytes) -> tuple[tuple[str, JsonValue], ...]:
    """The ways to write each option of a choice, lower case."""
    options = [option for option in orjson.loads(choices) if option is not None]
    spellings = [(str(option).lower(), option) for option in options]
    spellings += [(humanise(option).lower(), option) for option in options if isinstance(option, str)]
    return tuple({spelling: option for spelling, option in spellings if spelling}.items())
