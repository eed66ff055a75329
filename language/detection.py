"""Which language a document is written in, found by the library pycld2 (Chromium's detector): offline, in milliseconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from language.packs import COMMON_SCRIPT, fallback, known, of

if TYPE_CHECKING:
    from warehouse.records import Language

ENOUGH = 20_000  # characters tell as much as the whole document
_FEWEST = 60  # of a few words nobody can tell
_SURE = 80  # per cent of the text
_OTHER_CODES = {"iw": "he", "jw": "jv", "in": "id"}  # the detector has the old codes of these


def document_language(texts: Iterable[str]) -> Language | None:
    """The language of all these texts together, where it is not for each of them to tell; None where it is.

    Each tells for itself where nobody can be sure, where they are in the language that stands for the common script, and where
    they are in one that is known by letters of its own: there some of them may be in another.
    """
    found = _detected(texts)
    if not found or found == fallback() or (found in known() and of(found).script != COMMON_SCRIPT):
        return None
    return found


def _detected(texts: Iterable[str]) -> Language:
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
    printable = "".join(letter if letter.isprintable() else " " for letter in " . ".join(gathered))
    is_reliable, _, details = pycld2.detect(printable)
    _, code, share, _ = details[0]
    code = str(code).partition("-")[0]
    return _OTHER_CODES.get(code, code) if is_reliable and share >= _SURE and code != "un" else ""
