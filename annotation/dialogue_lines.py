"""A conversation as lines for editing: who says what, and under each user turn what its snapshot adds or changes.

    User 1: A table in Rome, please.
    -> book_table
    + city = Rome
    Assistant: For when?
    User 2: For the day that Ann names.
    [Mail] Let us meet on the 3rd of May.
    + date = 2026-05-03

Where the sample has dialogue acts, what the assistant says begins with them: `Assistant: [seek] For when?`.
A text goes on in lines that begin with two spaces. `edited_dialogue` reads these lines back.
"""

from collections.abc import Iterator
from typing import assert_never

from annotation.acts import has_acts, write_acts
from annotation.call_changes import changes, goes_on, same_calls
from annotation.typed_values import write_name, write_value
from annotation.words import Words
from warehouse.records import CallTurn, GoldCall, Message, ReplyTurn, ResultTurn, Sample, UserTurn

CALL, NOTE, RESULT, GOES_ON = "->", "--", "<-", "  "
_RESULT_SHOWN = 80


def is_dialogue(sample: Sample) -> bool:
    """Whether there is more to a sample than one request and the calls due after it."""
    return [turn.kind for turn in sample.turns] != ["user", "calls"]


def write_dialogue(sample: Sample, words: Words) -> str:
    """The conversation of `sample` as lines that people read and edit."""
    return "\n".join(_lines(sample, words))


def write_result(turn: ResultTurn) -> str:
    """What stands for the results in the lines; they can't be edited there."""
    shown = write_value(list(turn.results))
    return shown if len(shown) <= _RESULT_SHOWN else f"{shown[:_RESULT_SHOWN]}…"


def plain_lines(text: str) -> str:
    """The text as a text box gives it back: with one kind of line end, and nothing at its ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _lines(sample: Sample, words: Words) -> Iterator[str]:
    users = 0
    labelled = has_acts(sample)
    before: CallTurn | None = None
    for index, turn in enumerate(sample.turns):
        match turn:
            case UserTurn(text=text, external=external):
                users += 1
                yield _text(f"{words.user} {users}: ", text)
                if external is not None:
                    yield _message(external)
            case CallTurn():
                if index and sample.turns[index - 1].kind == "calls":
                    yield NOTE
                yield from _snapshot(before, turn, words)
                before = turn
            case ResultTurn():
                yield f"{RESULT} {write_result(turn)}"
            case ReplyTurn(text=text, acts=acts):
                yield _text(f"{words.assistant}: {write_acts(acts, words) if labelled else ''}", text)
            case _:
                assert_never(turn)


def _text(start: str, text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return start + f"\n{GOES_ON}".join(lines)


def _message(message: Message) -> str:
    app = write_name(message.app) if message.app else ""
    return _text(f"[{app}] ", message.text)


def _snapshot(before: CallTurn | None, turn: CallTurn, words: Words) -> Iterator[str]:
    if not turn.calls:
        yield f"{NOTE} {words.no_call}"
    elif before is not None and goes_on(before, turn) and same_calls(before.calls, turn.calls):
        yield f"{NOTE} {words.no_change}"
    elif before is not None and goes_on(before, turn) and len(turn.calls) == 1:
        for change in changes(before.calls[0], turn.calls[0]):
            value = "" if change.sign == "-" else f" = {write_value(change.new)}"
            yield f"{change.sign} {write_name(change.name)}{value}"
    else:
        for call in turn.calls:
            yield from _whole(call)


def _whole(call: GoldCall) -> Iterator[str]:
    yield f"{CALL} {write_name(call.tool)}"
    for name, value in call.arguments.items():
        yield f"+ {write_name(name)} = {write_value(value)}"
