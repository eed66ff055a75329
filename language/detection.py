"""Which language a text is written in, found by the library pycld2 (Chromium's detector): offline, in milliseconds.

It also knows the names of languages that have no folder here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from callwright.warehouse.records import Language

ENOUGH = 20_000  # characters tell as much as the whole document
_FEWEST = 60  # of a few words nobody can tell
_SURE = 80  # per cent of the text
_CODE = re.compile(r"[a-z]{2,3}")
# Languages so alike that a sentence may be taken for one of the others.
_ALIKE = (
    frozenset({"no", "nb", "nn", "da", "sv"}), frozenset({"hr", "sr", "bs", "sl"}), frozenset({"id", "ms", "su", "jv"}),
    frozenset({"cs", "sk"}), frozenset({"gl", "pt"}), frozenset({"ca", "oc"}), frozenset({"af", "nl", "fy"}),
    frozenset({"ru", "uk", "be", "bg"}),
    frozenset({"hi", "mr", "ne", "bh"}), frozenset({"fi", "et"}), frozenset({"de", "lb"}),
)  # fmt: skip
_OTHER_CODES = {"iw": "he", "jw": "jv", "in": "id"}  # the detector has the old codes of these


@cache
def language_names() -> Mapping[str, str]:
    """The English names of the languages that the detector knows, by their ISO 639 codes."""
    import pycld2  # not above: only importing asks

    named = {_OTHER_CODES.get(code, code): name for name, code in pycld2.LANGUAGES}
    found = {code: name.replace("_", " ").title() for code, name in named.items() if _CODE.fullmatch(code)}
    kept = {code: name for code, name in found.items() if code not in ("un", "xxx") and not name.startswith("X ")}
    return MappingProxyType({**kept, "nb": "Norwegian", "nn": "Norwegian Nynorsk"})


@lru_cache(4096)
def is_in_another(text: str, language: Language) -> bool:
    """Whether the detector is sure that a text is in another language, and in none that is taken for this one."""
    import pycld2  # not above: only few texts ask

    is_reliable, _, details = pycld2.detect(_printable(text))
    codes = [_plain_code(code) for _, code, *_ in details]
    alike = next((group for group in _ALIKE if language in group), frozenset({language}))
    return bool(is_reliable and details[0][2] >= _SURE and codes[0] != "un" and alike.isdisjoint(codes))


def detected(texts: Iterable[str]) -> Language:
    """The code of the language of most of the text, "" where the detector is not sure."""
    import pycld2  # not above: only importing asks

    gathered: list[str] = []
    length = 0
    for text in texts:
        gathered.append(text)
        length += len(text)
        if length > ENOUGH:
            break
    if length < _FEWEST:
        return ""
    is_reliable, _, details = pycld2.detect(_printable(" . ".join(gathered)))
    _, code, share, _ = details[0]
    return _plain_code(str(code)) if is_reliable and share >= _SURE and code != "un" else ""


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _plain_code(code: str) -> str:
    code = code.partition("-")[0]
    return _OTHER_CODES.get(code, code)
