"""Dialogue acts of the assistant's turns, as annotators read and correct them: `[inform, seek] text` (CONFETTI 3.1)."""

import re
from collections.abc import Sequence
from typing import NamedTuple, get_args

from annotation.words import Words, words_in
from warehouse.errors import RecordError
from warehouse.records import DialogueAct, Language, ReplyTurn, Sample

_OF_REPLIES: tuple[DialogueAct, ...] = ("seek", "inform", "reject", "other")  # a call is a turn of its own
_WIDE = str.maketrans("［］，、", "[],,")  # what a Chinese keyboard makes of the marks
_BETWEEN = ", "
_SHOWN = 60


class ToldReply(NamedTuple):
    """What stands in the line of a reply: its acts, and its text."""

    acts: tuple[DialogueAct, ...]
    text: str


def has_acts(sample: Sample) -> bool:
    """Whether the assistant's turns of a sample are labelled."""
    return any(isinstance(turn, ReplyTurn) and turn.acts for turn in sample.turns)


def tell_reply(turn: ReplyTurn, words: Words) -> str:
    """What the assistant says, after what this does where that is known.

    The author stays the same, for the style of the screen knows the assistant by its name.
    """
    return f"{write_acts(turn.acts, words)}{turn.text}" if turn.acts else turn.text


def write_acts(acts: Sequence[DialogueAct], words: Words) -> str:
    """The acts as they stand before the text of a reply."""
    return f"[{_BETWEEN.join(_named(acts, words))}] "


def read_acts(typed: str, was: ReplyTurn) -> ToldReply:
    """The acts before a reply's text, and the text; RecordError says what can't be used. `was` is the turn before."""
    found = re.match(r"\s*[\[［]([^\]］\n]*)[\]］] ?", typed)
    if found is None:
        raise RecordError(f"what the assistant says begins with its dialogue acts: {_example()}.")
    names = [name.strip() for name in found[1].translate(_WIDE).split(",")] if found[1].strip() else []
    acts = [_act(name) for name in names]
    if set(acts) == set(was.acts) and len(acts) == len(was.acts):
        return ToldReply(was.acts, typed[found.end() :])
    _check(acts)
    return ToldReply(tuple(act for act in _OF_REPLIES if act in acts), typed[found.end() :])


def _named(acts: Sequence[DialogueAct], words: Words) -> list[str]:
    return [words.act[act] for act in acts]


def _act(name: str) -> DialogueAct:
    """The act that is called so in any interface language."""
    known = {word.casefold(): act for language in get_args(Language) for act, word in words_in(language).act.items()}
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
