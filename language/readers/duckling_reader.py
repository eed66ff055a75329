"""Values in text as Facebook's Duckling reads them: the only adapter of the wrapper package.

If no wheel exists for the machine, `is_available` is False and only the languages' own rules are
used.
"""

import ctypes
import re
import signal
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple

from callwright.language.packs import LanguagePattern

ZONES = "/usr/share/zoneinfo"
# Amounts are asked for too, though units are read by the languages' own tables: else Duckling takes
# them for times of day.
_DIMENSIONS = frozenset(
    {"time", "duration", "number", "phone-number", "email", "url", "amount-of-money"}
    | {"distance", "quantity", "temperature"}
)
# Any other code it would take for English.
_CODES = """
    af ar bg bn ca cs da de el en es et fa fi fr ga he hi hr hu id is it ja ka km kn ko lo ml mn my nb ne nl pl pt ro ru
    sk sv sw ta te th tr uk vi zh
"""  # noqa: E501
LANGUAGES = frozenset(_CODES.split())
_LONGEST = 4000  # characters; Duckling's time grows faster than the text
_CACHED = 4096
_SIGACTION = 256  # bytes that are enough for what an operating system keeps of a signal
# A Chinese month with a day that no month has, the 34th: Duckling looks for one for ever, and takes
# all memory.
_DAY_OF_MONTH = LanguagePattern("@{month_and_day}")
_DAY = LanguagePattern("@{possible_day}")
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff]")


class DucklingEntity(NamedTuple):
    """One entity that Duckling found: its dimension, position, and value as Duckling gives it."""

    dimension: str
    start: int
    end: int
    value: dict[str, Any]


def is_available() -> bool:
    """Whether Duckling is installed."""
    return find_spec("duckling") is not None


@lru_cache(_CACHED)
def read(text: str, language: str, now: datetime) -> tuple[DucklingEntity, ...]:
    """Return what Duckling finds in `text`, relative to `now` and without guesses.

    Empty if Duckling does not know the language or can't read the text.
    """
    is_endless = any(
        not _DAY.everywhere.fullmatch(day[1]) for day in _DAY_OF_MONTH.everywhere.finditer(text)
    )
    if not is_available() or not text or len(text) > _LONGEST or is_endless:
        return ()
    context = _context(language, now)
    if context is None:
        return ()
    duckling = _duckling()
    plain = _NOT_TEXT.sub(" ", text)  # what its C strings can't hold
    found: Sequence[dict[str, Any]] = duckling.parse(plain, context, _dimensions(), False)  # noqa: FBT003 - no guesses
    kept = (one for one in found if one["dim"] != "time" or _is_of_our_era(one["value"]))
    return tuple(DucklingEntity(one["dim"], one["start"], one["end"], one["value"]) for one in kept)


def _is_of_our_era(value: dict[str, Any]) -> bool:
    """Whether a moment can be a date: Duckling reads years BC in the letters of a hash."""
    edges = [value.get("value"), *((value.get(edge) or {}).get("value") for edge in ("from", "to"))]
    return not any(str(edge).startswith("-") for edge in edges)


@lru_cache(1)
def _duckling() -> Any:  # noqa: ANN401 - the library has no types
    """Return the library.

    Its Haskell runtime takes over Ctrl-C when it is loaded; this function restores the previous
    handler.
    """
    libc, before = ctypes.CDLL(None), ctypes.create_string_buffer(_SIGACTION)
    # not by `signal.signal`, which only the main thread may call
    libc.sigaction(signal.SIGINT, None, before)
    import duckling

    libc.sigaction(signal.SIGINT, before, None)
    return duckling


@lru_cache(64)
def _context(language: str, now: datetime) -> Any:  # noqa: ANN401 - the library has no types
    if language not in LANGUAGES:
        return None
    duckling = _duckling()
    locale = duckling.default_locale_lang(duckling.parse_lang(language.upper()))
    return duckling.Context(duckling.parse_ref_time(_zones(), "UTC", int(now.timestamp())), locale)


@lru_cache(1)
def _zones() -> Any:  # noqa: ANN401 - the library has no types
    return _duckling().load_time_zones(ZONES)


@lru_cache(1)
def _dimensions() -> Any:  # noqa: ANN401 - the library has no types
    return _duckling().parse_dimensions(list(_DIMENSIONS))
