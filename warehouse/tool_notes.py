"""Notes at the end of descriptions: in which tool's response a parameter's value stands.

callwright writes them for models that make and read samples. No agent sees them: what is exported
or shown to candidates describes a tool as its document does.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_NOTE = re.compile(
    r"\(`(?P<field>[^`]*)`(?P<listed> of an entry(?: of `(?P<entries>[^`]*)`)?)? in the response of"
    r" (?P<source>[^\s()]+)\)"
)
_NOTES_AT_END = re.compile(rf"(?:\s*{re.sub(r'[?]P<[a-z]+>', '?:', _NOTE.pattern)})+\Z")


class ToolNote(NamedTuple):
    """The `field` of an entry of `entries` in the response of tool `source`.

    If not `listed`, it is a field of the response itself.
    """

    source: str
    entries: str
    field: str
    listed: bool = True

    def __str__(self) -> str:
        """Return the note as descriptions have it."""
        beneath = f" of `{self.entries}`" if self.entries else ""
        place = f" of an entry{beneath}" if self.listed else ""
        return f"(`{self.field}`{place} in the response of {self.source})"


def notes_in(description: str) -> Iterator[ToolNote]:
    """Yield the notes of a description."""
    for one in _NOTE.finditer(description):
        yield ToolNote(one["source"], one["entries"] or "", one["field"], bool(one["listed"]))


def without_notes(description: str) -> str:
    """Return a description without the notes at its end."""
    return _NOTES_AT_END.sub("", description)
