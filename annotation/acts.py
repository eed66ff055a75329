"""Dialogue acts of the assistant's turns, as annotators read and correct them: `[inform, seek] text` (CONFETTI 3.1).

In the box for correcting them each turn is one line: `3 [inform, seek] Your table is booked. For when?`. Only what stands in
the brackets can be changed; the text, cut to a line, shows which turn it is.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple
from unicodedata import east_asian_width

from callwright.annotation.calls import check_storable, plain_lines
from callwright.annotation.screens import SampleScreenWords, interface_languages, words_in
from callwright.language.packs import plain_signs, widened
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import DialogueAct, ReplyTurn, Sample, Turn

_OF_REPLIES: tuple[DialogueAct, ...] = ("seek", "inform", "reject", "other")  # a call is a turn of its own
_OPENING = re.compile(widened(r"\s*@[\[](@[^\]\n]*)@[\]] ?"))
_BETWEEN = ", "
_SHOWN = 60


_MOST = 60  # columns of a text; a wide letter, as Chinese has them, takes two
_NUMBERED = re.compile(r"\s*(\d{1,6})\s*(.*)")
_FIXED = "Each line keeps its number and its text; only what stands in the brackets is changed."


class TypedReply(NamedTuple):
    """What stands in the line of a reply: its acts, and its text."""

    acts: tuple[DialogueAct, ...]
    text: str


def has_acts(sample: Sample) -> bool:
    """Whether the assistant's turns of a sample are labelled."""
    return any(isinstance(turn, ReplyTurn) and turn.acts for turn in sample.turns)


def render_reply(turn: ReplyTurn, words: SampleScreenWords) -> str:
    """What the assistant says, after what this does where that is known.

    The author stays the same, for the style of the screen knows the assistant by its name.
    """
    return f"{write_acts(turn.acts, words)}{turn.text}" if turn.acts else turn.text


def write_acts(acts: Sequence[DialogueAct], words: SampleScreenWords) -> str:
    """The acts as they stand before the text of a reply."""
    return f"[{_BETWEEN.join(_named(acts, words))}] "


def read_acts(typed: str, was: ReplyTurn) -> TypedReply:
    """The acts before a reply's text, and the text; RecordError says what can't be used. `was` is the turn before."""
    found = _OPENING.match(typed)
    if found is None:
        raise RecordError(f"what the assistant says begins with its dialogue acts: {_example()}.")
    names = [name.strip() for name in found[1].translate(plain_signs()).split(",")] if found[1].strip() else []
    acts = [_act(name) for name in names]
    if set(acts) == set(was.acts) and len(acts) == len(was.acts):
        return TypedReply(was.acts, typed[found.end() :])
    _check(acts)
    return TypedReply(tuple(act for act in _OF_REPLIES if act in acts), typed[found.end() :])


def _named(acts: Sequence[DialogueAct], words: SampleScreenWords) -> list[str]:
    return [words.act[act] for act in acts]


def _act(name: str) -> DialogueAct:
    """The act that is called so in any interface language."""
    known = {word.casefold(): act for language in interface_languages() for act, word in words_in(language).act.items()}
    act = known.get(name.casefold())
    if act is None:
        raise RecordError(f"there is no dialogue act {name[:_SHOWN]!r}; write {_example()}.")
    return act


def _check(acts: Sequence[DialogueAct]) -> None:
    if not acts:
        raise RecordError(f"what the assistant says has one dialogue act at least: {_example()}.")
    doubled = next((act for act in acts if acts.count(act) > 1), None)
    if doubled is not None:
        raise RecordError(f"the dialogue act {doubled!r} is given twice.")
    if "call" in acts:
        raise RecordError("a call is a turn of its own, so what the assistant says can't be labelled 'call'.")
    if "other" in acts and len(acts) > 1:
        raise RecordError("'other' stands alone: it says that none of the other dialogue acts is there.")


def _example() -> str:
    return f"[inform], [inform, seek] or another choice of {', '.join(_OF_REPLIES)}"


class _Reply(NamedTuple):
    """A turn of the assistant: its place among all turns, and its number among those of the assistant."""

    place: int
    number: int
    turn: ReplyTurn


def write_act_lines(sample: Sample, words: SampleScreenWords) -> str:
    """A line for each turn of the assistant."""
    return "\n".join(
        f"{one.number} {write_acts(one.turn.acts, words)}{_short(one.turn.text)}" for one in _replies(sample)
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
        turns[reply.place] = _read_line(at, line, reply)
    if len(lines) < len(replies):
        raise RecordError(f"The lines end before turn {len(lines) + 1} of {len(replies)}. {_FIXED}")
    return tuple(turns)


def _replies(sample: Sample) -> Iterator[_Reply]:
    replies = [(place, turn) for place, turn in enumerate(sample.turns) if isinstance(turn, ReplyTurn)]
    return (_Reply(place, number, turn) for number, (place, turn) in enumerate(replies, 1))


def _read_line(at: int, line: str, reply: _Reply) -> ReplyTurn:
    found = _NUMBERED.match(line)
    if found is None or int(found[1]) != reply.number:
        raise RecordError(f"Line {at} must begin with the number {reply.number}: {line[:_SHOWN]!r}. {_FIXED}")
    try:
        acts, text = read_acts(found[2], reply.turn)
    except RecordError as error:
        raise RecordError(f"Line {at}: {error}") from error
    if text.split() != _short(reply.turn.text).split():
        raise RecordError(f"Line {at} has another text than turn {reply.number}: {text[:_SHOWN]!r}. {_FIXED}")
    return reply.turn if acts == reply.turn.acts else reply.turn.with_changes(acts=acts)


def _short(text: str) -> str:
    line = " ".join(text.split())
    ends = list(accumulate(2 if east_asian_width(letter) in "WF" else 1 for letter in line))
    most = bisect_right(ends, _MOST)
    return line if most == len(line) else f"{line[:most].rstrip()}…"
