"""Text of others on a terminal: what would move the cursor, set a title or turn the writing
direction is shown, not obeyed.
"""

import re

# Control characters but for newline and tab, marks that turn the writing direction, and halves of
# characters.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_BYTE = 0x100


def visible(text: str) -> str:
    r"""Return the text with escapes such as `\x1b` and `\u202e` in the place of what would not
    be seen but obeyed.
    """
    return _UNSEEN.sub(_escape, text)


def visible_json(document: str) -> str:
    r"""The same for JSON, which stays JSON of the same value: all of them are written as
    `\u001b`.
    """
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def _escape(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < _BYTE else f"\\u{number:04x}"
