"""Others' text on a terminal: control characters are shown and not obeyed.

These move the cursor, set a title or turn the writing direction.
"""

import re

# Control characters but for newline and tab, marks that turn the writing direction, and halves of
# characters.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_BYTE = 0x100


def visible(text: str) -> str:
    """Return the text with control and invisible characters replaced by visible escapes."""
    return _UNSEEN.sub(_escape, text)


def visible_json(document: str) -> str:
    """Return the JSON document with such characters as JSON escapes; its value is the same."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def _escape(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < _BYTE else f"\\u{number:04x}"
