"""Lines that a person typed, sorted into turns: strict, and refused with the number of the line that is wrong."""

import re
from typing import Literal, NamedTuple, get_args

from annotation.dialogue_lines import GOES_ON, NOTE, RESULT, plain_lines
from annotation.typed_values import check_storable, read_name
from annotation.words import words_in
from warehouse.errors import RecordError
from warehouse.records import Language

BlockKind = Literal["user", "reply", "calls", "result"]
Mark = Literal["->", "--", "+", "~", "-"]
_MARKS: tuple[Mark, ...] = ("->", "--", "+", "~", "-")  # the longer ones first
_WIDE = str.maketrans("＋－～〜［：＝＞", "+-~~[:=>")  # what a Chinese or Japanese keyboard makes of the marks
_LONGEST_MARK = 2
_KNOWN = "User:, Assistant:, [app], ->, +, ~, - or --"
_SHOWN = 60
_MOST_LINES = 3000


class Entry(NamedTuple):
    """A line about the calls due: its number, its mark and what comes after it."""

    line: int
    mark: Mark
    rest: str


class Message(NamedTuple):
    """A message outside the conversation, with the app in which it stands."""

    app: str
    text: str


class Block(NamedTuple):
    """The lines of one turn: what is said, the message that comes with it, or the entries about the calls due."""

    kind: BlockKind
    line: int
    text: str = ""
    message: Message | None = None
    entries: tuple[Entry, ...] = ()


def read_blocks(typed: str) -> list[Block]:
    """The turns that the lines hold; RecordError names the first line that fits nowhere."""
    check_storable(typed, "The conversation")
    lines = plain_lines(typed).split("\n")
    if len(lines) > _MOST_LINES:
        raise RecordError(f"The conversation has {len(lines)} lines; {_MOST_LINES} is the most that can be read.")
    blocks: list[Block] = []
    for number, line in enumerate(lines, 1):
        open_text = bool(blocks) and blocks[-1].kind in ("user", "reply")
        if line.startswith(GOES_ON) and open_text:
            blocks[-1] = _longer(blocks[-1], line.removeprefix(GOES_ON))
        elif line.strip():
            _read_line(number, line, blocks)
    return blocks


def _longer(block: Block, text: str) -> Block:
    if block.message is None:
        return block._replace(text=f"{block.text}\n{text}")
    return block._replace(message=block.message._replace(text=f"{block.message.text}\n{text}"))


def _read_line(number: int, line: str, blocks: list[Block]) -> None:
    said = _said(number, line)
    start = line[:_LONGEST_MARK].translate(_WIDE)
    mark = next((mark for mark in _MARKS if start.startswith(mark)), None)
    if said is not None:
        blocks.append(said)
    elif start.startswith("["):
        _add_message(number, line, blocks)
    elif start == RESULT:
        blocks.append(Block("result", number, line[len(RESULT) :].strip()))
    elif mark is not None:
        _add_entry(Entry(number, mark, line[len(mark) :].strip()), blocks)
    else:
        raise RecordError(
            f"Line {number} is not understood: {line[:_SHOWN]!r}. A line begins with {_KNOWN}; a text that goes on in "
            "a new line is indented by two spaces there."
        )


def _said(number: int, line: str) -> Block | None:
    for language in get_args(Language):
        words = words_in(language)
        for kind, author in (("user", words.user), ("reply", words.assistant)):
            found = re.match(rf"{re.escape(author)} ?\d*[:：] ?", line, re.IGNORECASE)
            if found:
                return Block("user" if kind == "user" else "reply", number, line[found.end() :])
    return None


def _add_message(number: int, line: str, blocks: list[Block]) -> None:
    try:
        app, rest = read_name(line[1:])
    except RecordError as error:
        raise RecordError(f"Line {number}: {error}") from error
    if not blocks or blocks[-1].kind != "user" or blocks[-1].message is not None:
        raise RecordError(f"Line {number}: a message in [{app}] can only stand under what the user says.")
    if not rest.startswith(("]", "］")):
        raise RecordError(f"Line {number}: the name of the app is not closed by ].")
    text = rest[1:].removeprefix(" ")
    blocks[-1] = blocks[-1]._replace(message=Message(app, text))


def _add_entry(entry: Entry, blocks: list[Block]) -> None:
    is_separator = entry.mark == NOTE and not entry.rest
    if is_separator:
        blocks.append(Block("calls", entry.line))
    elif blocks and blocks[-1].kind == "calls":
        blocks[-1] = blocks[-1]._replace(entries=(*blocks[-1].entries, entry))
    else:
        blocks.append(Block("calls", entry.line, entries=(entry,)))
