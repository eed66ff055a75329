"""A conversation as annotators read it: who says what, and after each user turn one line about the calls due."""

import json
from collections.abc import Iterator
from typing import assert_never

from pydantic import JsonValue

from annotation.acts import tell_reply
from annotation.call_changes import shift_turn, tell_snapshot
from annotation.dialogue_lines import is_dialogue
from annotation.words import Words
from warehouse.records import CallTurn, Message, Record, ReplyTurn, ResultTurn, Sample, UserTurn

SNAPSHOT, MESSAGE = "→", "✉"  # the authors of what is due and of a message; the style of the screen knows them


class Line(Record):
    """One line of the dialogue shown: who says what."""

    author: str
    text: str


def tell_conversation(sample: Sample, words: Words) -> Iterator[Line]:
    """The lines of the conversation; the calls after a single request are told elsewhere."""
    alone = not is_dialogue(sample)
    shift = shift_turn(sample)
    users = 0
    before: CallTurn | None = None
    for index, turn in enumerate(sample.turns):
        match turn:
            case UserTurn(text=text, external=external):
                users += 1
                yield Line(author=words.user if alone else user_name(users, words), text=text)
                if external is not None:
                    yield Line(author=MESSAGE, text=_message(external))
            case CallTurn():
                if not alone:
                    mark = f"⚑ {words.shift}:   " if index == shift else ""
                    yield Line(author=SNAPSHOT, text=mark + tell_snapshot(before, turn, words))
                before = turn
            case ResultTurn(results=results):
                yield Line(author=words.result, text="\n".join(map(_indented, results)))
            case ReplyTurn():
                yield Line(author=words.assistant, text=tell_reply(turn, words))
            case _:
                assert_never(turn)


def user_name(number: int, words: Words) -> str:
    """What the n-th user turn of a conversation is called."""
    return f"{words.user} {number}"


def _message(message: Message) -> str:
    return f"[{message.app}] {message.text}" if message.app else message.text


def _indented(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
