"""The assistant's turns as lines for correcting their acts: `3 [inform, seek] Your table is booked. For when?` (CONFETTI 3.1).

Only what stands in the brackets can be changed; the text, cut to a line, tells which turn it is.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from annotation.acts import read_acts, write_acts
from annotation.dialogue_lines import plain_lines
from annotation.typed_values import check_storable
from annotation.words import Words
from warehouse.errors import RecordError
from warehouse.records import Language, ReplyTurn, Sample, Turn

_MOST: Mapping[Language, int] = {"en": 60, "zh": 30}  # letters of a text: those of Chinese are twice as wide
_NUMBERED = re.compile(r"\s*(\d{1,6})\s*(.*)")
_SHOWN = 60
_FIXED = "Each line keeps its number and its text; only what stands in the brackets is changed."


class _Reply(NamedTuple):
    """A turn of the assistant: its place among all turns, and its number among those of the assistant."""

    place: int
    number: int
    turn: ReplyTurn


def write_act_lines(sample: Sample, words: Words) -> str:
    """A line for each turn of the assistant."""
    return "\n".join(
        f"{one.number} {write_acts(one.turn.acts, words)}{_short(one.turn.text, sample.language)}"
        for one in _replies(sample)
    )


def read_act_lines(typed: str, sample: Sample) -> tuple[Turn, ...]:
    """The turns of `sample` with the acts that were typed; RecordError names the line that can't be used."""
    check_storable(typed, "The box")
    replies = list(_replies(sample))
    lines = [(at, line) for at, line in enumerate(plain_lines(typed).split("\n"), 1) if line.strip()]
    if len(lines) > len(replies):
        raise RecordError(f"Line {lines[len(replies)][0]} is one too many: there are {len(replies)} turns. {_FIXED}")
    turns = list(sample.turns)
    for (at, line), reply in zip(lines, replies, strict=False):
        turns[reply.place] = _read_line(at, line, reply, sample.language)
    if len(lines) < len(replies):
        raise RecordError(f"The lines end before turn {len(lines) + 1} of {len(replies)}. {_FIXED}")
    return tuple(turns)


def _replies(sample: Sample) -> Iterator[_Reply]:
    said = [(place, turn) for place, turn in enumerate(sample.turns) if isinstance(turn, ReplyTurn)]
    return (_Reply(place, number, turn) for number, (place, turn) in enumerate(said, 1))


def _read_line(at: int, line: str, reply: _Reply, language: Language) -> ReplyTurn:
    found = _NUMBERED.match(line)
    if found is None or int(found[1]) != reply.number:
        raise RecordError(f"Line {at} must begin with the number {reply.number}: {line[:_SHOWN]!r}. {_FIXED}")
    try:
        acts, text = read_acts(found[2], reply.turn)
    except RecordError as error:
        raise RecordError(f"Line {at}: {error}") from error
    if text.split() != _short(reply.turn.text, language).split():
        raise RecordError(f"Line {at} has another text than turn {reply.number}: {text[:_SHOWN]!r}. {_FIXED}")
    return reply.turn if acts == reply.turn.acts else reply.turn.with_changes(acts=acts)


def _short(text: str, language: Language) -> str:
    line, most = " ".join(text.split()), _MOST[language]
    return line if len(line) <= most else f"{line[:most].rstrip()}…"
