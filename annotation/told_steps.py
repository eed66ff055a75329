"""A multi-step sample as annotators read it: the calls of each step, and of each response what matters (ComplexFuncBench 2)."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from annotation.acts import tell_reply
from annotation.conversation import SNAPSHOT, Line
from annotation.excerpts import tell_result, without_long_words
from annotation.picks import Contest, contests_of
from annotation.typed_values import write_name, write_value
from annotation.words import Words
from warehouse.records import CallTurn, GoldCall, ReplyTurn, ResultTurn, Sample, UserTurn

_VALUE = 80


def tell_steps(sample: Sample, words: Words) -> Iterator[Line]:
    """The request, a line for the calls of each step and one for what came back, and the answer."""
    contests = contests_of(sample)
    steps = 0
    for index, turn in enumerate(sample.turns):
        match turn:
            case UserTurn(text=text):
                yield Line(author=words.user, text=text)
            case CallTurn():
                steps += 1
                yield Line(author=SNAPSHOT, text=tell_step(steps, turn, words))
            case ResultTurn():
                yield Line(author=words.result, text=_told_results(index, turn, contests, words))
            case ReplyTurn():
                yield Line(author=words.assistant, text=tell_reply(turn, words))
            case _:
                assert_never(turn)


def tell_step(number: int, turn: CallTurn, words: Words) -> str:
    """The calls of one step; several have a line each."""
    step = f"{words.step.format(number=number)}:"
    calls = [f"{write_name(call.tool)}({_arguments(call)})" for call in turn.calls]
    return f"{step} {calls[0]}" if len(calls) == 1 else "\n".join([step, *calls])


def _arguments(call: GoldCall) -> str:
    told = (
        f"{write_name(name)} = {_cut(without_long_words(write_value(value)))}" for name, value in call.arguments.items()
    )
    return ", ".join(told)


def _cut(text: str) -> str:
    return text if len(text) <= _VALUE else f"{text[:_VALUE]}…"


def _told_results(index: int, turn: ResultTurn, contests: Sequence[Contest], words: Words) -> str:
    """The responses of one step in short, with a number where there are several."""
    told = [
        tell_result(response, [one for one in contests if (one.turn, one.result) == (index, number)], words)
        for number, response in enumerate(turn.results)
    ]
    return told[0] if len(told) == 1 else "\n".join(f"({number}) {text}" for number, text in enumerate(told, 1))
