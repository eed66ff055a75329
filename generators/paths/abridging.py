"""Long responses made short enough to show: prose and what stands deep inside go first, identifiers stay whole."""

import orjson
from pydantic import JsonValue

MOST_CHARACTERS = 24_000
_PROSE = 160
_INNER = (4, 1)  # how many entries of lists within entries are kept, the second time fewer


def abridged(response: JsonValue, most: int = MOST_CHARACTERS) -> JsonValue:
    """The response, shortened where its JSON is longer than `most`; every entry of the outer lists stays."""
    if len(orjson.dumps(response)) <= most:
        return response
    shown = response
    for kept in _INNER:
        shown = _shorter(response, kept, 0)
        if len(orjson.dumps(shown)) <= most:
            break
    return shown


def _shorter(value: JsonValue, kept: int, lists: int) -> JsonValue:
    if isinstance(value, str):
        return value[:_PROSE] + "…" if len(value) > _PROSE and " " in value else value
    if isinstance(value, list):
        members = value if lists < 1 else value[:kept]
        return [_shorter(member, kept, lists + 1) for member in members]
    if isinstance(value, dict):
        return {name: _shorter(member, kept, lists) for name, member in value.items()}
    return value
