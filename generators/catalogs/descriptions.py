"""Turn descriptions into plain text without Markdown and HTML, and join them with summaries."""

import re
from functools import cache, lru_cache
from html import unescape
from typing import TYPE_CHECKING

from pydantic import JsonValue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MARKUP = re.compile(
    r"""[*`] | \]\( | \]\[ | </?[a-z!] | <https?: | &(?:[a-z]+|\#\d+); | ~~ | (?<!\w)_\w | \\[_*`\[\]<>\#]
    | ^\ {0,3}\#{1,6}\s | ^\ *\|.*\|\ *$""",  # noqa: E501
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_TAG = re.compile(r"<!--.*?-->|<!\w[^<>]*>|</?([A-Za-z][\w-]*)[^<>]*>", re.DOTALL)
# With the blocks that CommonMark knows; "<environment>" is no tag but a place to fill.
_INLINE = re.compile(
    r"abbr?|a|b|bd[io]|br|button|cite|code|del|dfn|em|font|i|img|input|ins|kbd|label|mark|q|s|samp|small|span|strike|strong|"
    r"su[bp]|time|tt|u|var|wbr"
)
_BREAK = re.compile(r"<(?:br|/p|/li|/tr|/h\d|/div)\b[^<>]*>", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]")
_NOT_LETTERS = re.compile(r"[\W_]+")
_ITEM, _CELL = "- ", " | "
_MARKERS = {"list_item_open": _ITEM, "tr_open": _ITEM, "td_open": _CELL, "th_open": _CELL}
_BEFORE_CHOICES = " \t\n,;|/*'\"`•()[]-"
_BETWEEN_CHOICES = f"{_BEFORE_CHOICES}."
_JOINT = re.compile(r"(?<![^\s,;])[^\W\d_]{1,4}$")
_LONGEST_LEAD = 6  # words
_MOST_PASSES = 4  # what comes out may be markup again: "&lt;b&gt;"
_LONGEST = 20_000  # characters of markup that are worth reading


def described(summary: JsonValue, description: JsonValue) -> JsonValue:
    """Return the summary as first sentence, then the description if it says something else."""
    first = plain_text(summary).strip() if isinstance(summary, str) else ""
    if not isinstance(description, str) or not description.strip():
        return first or description
    text = plain_text(description)
    if not first or _letters(text).startswith(_letters(first)):
        return text
    return f"{first.rstrip('.')}. {text}"


def without_choices(text: str, choices: list[JsonValue]) -> str:
    """Remove a trailing list of all choices and its lead-in, which the schema repeats anyway."""
    names = sorted({str(one) for one in choices if one not in (None, "")}, key=len, reverse=True)
    head, met = text, set[str]()
    while len(met) < len(names) > 1:
        shorter = head.rstrip(_BETWEEN_CHOICES)
        named = next(
            (one for one in names if shorter.endswith(one) and not _is_inside(shorter, one)), None
        )
        joint = _JOINT.search(shorter) if met and named is None else None  # "and", "or", "oder"
        if named is None and joint is None:
            break
        met |= {named} if named is not None else set()
        head = shorter[: joint.start()] if joint else shorter.removesuffix(named or "")
    if len(names) < 2 or len(met) < len(names):  # noqa: PLR2004 - one choice is no list
        return text
    lead_text = head.rstrip(_BEFORE_CHOICES)
    start = max(lead_text.rfind(end) + 1 for end in (". ", "? ", "! ", ".\n", "\n"))
    led = lead_text[start:].split()
    if start and len(led) <= _LONGEST_LEAD:
        short_text = lead_text[:start]
    else:
        is_apart = head.rstrip(" \n'\"`[").endswith((":", "-", "(", ".", "?", "!"))
        short_text = lead_text if is_apart else text  # there the list is a part of the sentence
    if short_text.strip() and short_text != text:
        return short_text.rstrip(f"{_BEFORE_CHOICES}:")
    return text


def _is_inside(text: str, name: str) -> bool:
    """Whether the name at a text's end is the end of a longer word."""
    before = text[: -len(name)][-1:]
    return bool(name) and name[0].isalnum() and (before.isalnum() or before == "_")


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", text).lower()


@lru_cache(2**14)
def plain_text(text: str) -> str:
    """Strip Markdown and HTML; plain text stays unchanged, so a second pass changes nothing."""
    for _ in range(_MOST_PASSES):
        if not _MARKUP.search(text):
            break
        plain = _without_markup(text[:_LONGEST])
        if plain == text:
            break
        text = plain
    return text


def _without_markup(text: str) -> str:
    blocks: list[str] = []
    marker = ""
    for token in _parser().parse(text):
        marker = marker or _MARKERS.get(token.type, "")
        words = (
            _untagged(token.content) if token.type == "html_block" else _words(token.children or ())
        )
        if words:
            blocks.append(f"{marker}{words}")
        if token.type == "inline":
            marker = ""
    return _joined(blocks)


def _joined(blocks: list[str]) -> str:
    """Join paragraphs with an empty line between them, but list items and table rows without."""
    text = ""
    for block in blocks:
        between = "" if block.startswith(_CELL) else "\n" if block.startswith(_ITEM) else "\n\n"
        text += between * bool(text) + block
    return text


def _words(tokens: "Sequence[Token]") -> str:
    """Return a paragraph's text, without pictures and link addresses."""
    words = ""
    for token in tokens:
        match token.type:
            case "code_inline" if not _WORD.search(token.content):
                words += f"'{token.content}'"  # a sign by itself is lost among words
            case "text" | "code_inline" | "text_special":
                words += token.content
            case "softbreak" | "hardbreak":
                words += "\n"
            case "html_inline" if _BREAK.match(token.content):
                words += "\n"
            case "html_inline" if (tag := _TAG.match(token.content)) and not _is_tag(tag):
                words += token.content
    return words.strip()


def _untagged(html: str) -> str:
    text = unescape(
        _TAG.sub(lambda tag: "" if _is_tag(tag) else tag.group(), _BREAK.sub("\n", html))
    )
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def _is_tag(found: re.Match[str]) -> bool:
    from markdown_it.common.html_blocks import block_names

    name = (found[1] or "").lower()
    return not name or _INLINE.fullmatch(name) is not None or name in block_names


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # not above: few commands read documents

    # Indented text is no code here: documents are written inside of other files, by indenting.
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable(["code"])
