"""Training examples from answers: a candidate's own right ones, and worse ones beside them.

An answer is right or wrong by rule, as evaluations score it. Where the assistant should speak,
nobody judges the words of candidates, and a call with what is known so far counts as right; so
only wrong calls are taken there.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import orjson

from callwright.warehouse.exports.examples import (
    Message,
    Teach,
    TrainingExample,
    is_allowed,
    tool_calls,
)
from callwright.warehouse.exports.writing import LeftOutRow, json_text
from callwright.warehouse.records import Sample
from callwright.warehouse.releases import GivenAnswer, SampleAnswers
from callwright.warehouse.releases.answers import WRONG

NO_RIGHT = "no candidate's answer is right here"
NO_WRONG = "nothing wrong was answered here, and no defect fits"


class _AnswerMessage(NamedTuple):
    given: GivenAnswer
    message: Message


def right_answers(
    example: TrainingExample, answers: SampleAnswers
) -> Iterator[TrainingExample | LeftOutRow]:
    """Yield the example with each right answer in place of the gold; equal ones are taken once."""
    found = _once(_right(example, answers))
    for given, message in found:
        yield example._replace(last=message, given_by=given.given_by, pass_rate=answers.pass_rate)
    if not found and not answers.runs:
        yield LeftOutRow(example.sample.kind, NO_RIGHT)


def right_runs(
    sample: Sample, answers: SampleAnswers, teach: Teach
) -> Iterator[TrainingExample | LeftOutRow]:
    """Yield what each right run over a multi-step sample teaches, and a row for each that can't."""
    for run in answers.runs:
        if run.problem or not run.is_right:
            yield LeftOutRow(sample.kind, run.problem if run.is_right else WRONG)
        told = sample.with_changes(turns=run.turns, facts=sample.facts.with_changes(asked=()))
        for taught in teach(told) if run.turns else ():
            if isinstance(taught, TrainingExample):
                yield taught._replace(
                    sample=sample, given_by=run.given_by, pass_rate=answers.pass_rate
                )
            else:
                yield taught


def unproved_runs(sample: Sample, answers: SampleAnswers, _teach: Teach) -> Iterator[LeftOutRow]:
    """Yield the wrong runs that give no pair, since none of their steps is provably wrong."""
    unproved = (run for run in answers.runs if run.problem and not run.is_right)
    yield from (LeftOutRow(sample.kind, run.problem) for run in unproved)


def rated(example: TrainingExample, answers: SampleAnswers) -> Iterator[TrainingExample]:
    """Yield the example with its gold and its pass rate."""
    yield example._replace(pass_rate=answers.pass_rate)


def pairs(
    example: TrainingExample, answers: SampleAnswers
) -> Iterator[TrainingExample | LeftOutRow]:
    """Yield the example with each worse answer, paired with a right one.

    The right one is the same candidate's, or the gold if it has none.
    """
    own = {one.given.given_by: one.message for one in reversed(list(_right(example, answers)))}
    wrong_answers = list(_wrong(example, answers))
    for answer, message in wrong_answers:
        chosen = own.get(answer.given_by)
        worse = example._replace(rejected=message, rejected_by=_name(answer))
        by = answer.given_by if chosen else ""
        better = worse._replace(last=chosen or example.last, given_by=by)
        yield better._replace(pass_rate=answers.pass_rate)
    if not wrong_answers:
        yield LeftOutRow(example.sample.kind, NO_WRONG)


def labelled(example: TrainingExample, answers: SampleAnswers) -> Iterator[TrainingExample]:
    """Yield the example with each right answer, with its gold, and with each wrong answer.

    Wrong answers are marked as not to be learned.
    """
    right = [one for one in right_answers(example, answers) if isinstance(one, TrainingExample)]
    yield from right
    if _said(example.last) not in [_said(one.last) for one in right]:
        yield example._replace(pass_rate=answers.pass_rate)
    for given, message in _wrong(example, answers):
        yield example._replace(
            last=message, given_by=_name(given), pass_rate=answers.pass_rate, is_wrong=True
        )


def _name(given: GivenAnswer) -> str:
    return given.given_by if given.source == "candidate" else f"{given.source}: {given.given_by}"


def _right(example: TrainingExample, answers: SampleAnswers) -> Iterator[_AnswerMessage]:
    """Yield the right answers that speak or call as the gold does, if the tools accept them."""
    speaks = "tool_calls" not in example.last
    for answer in (one for one in _stated(example, answers) if one.given.is_right):
        if speaks != bool(answer.given.calls) and _is_taken(example, answer.message):
            yield answer


def _once(found: Iterable[_AnswerMessage]) -> list[_AnswerMessage]:
    """Return the first of the answers that say the same."""
    distinct: dict[tuple[str, bytes], _AnswerMessage] = {}
    for one in found:
        distinct.setdefault(_said(one.message), one)
    return [*distinct.values()]


def _said(message: Message) -> tuple[str, bytes]:
    """Return what a message says and calls, without thoughts and whatever the argument order."""
    made = [one["function"] for one in message.get("tool_calls", ())]
    calls = [[one["name"], orjson.loads(one["arguments"])] for one in made]
    return message.get("content", ""), orjson.dumps(calls, option=orjson.OPT_SORT_KEYS)


def _is_taken(example: TrainingExample, message: Message) -> bool:
    schemas = {tool["name"]: tool["parameters"] for tool in example.tools}
    called = [call["function"] for call in message.get("tool_calls", ())]
    return all(
        call["name"] in schemas and is_allowed(json_text(schemas[call["name"]]), call["arguments"])
        for call in called
    )


def _wrong(example: TrainingExample, answers: SampleAnswers) -> list[_AnswerMessage]:
    """Return the wrong answers, and a planted defect only if nobody has answered wrongly."""
    speaks = "tool_calls" not in example.last
    wrong = (one for one in _stated(example, answers) if not one.given.is_right)
    wrong_answers = _once(one for one in wrong if one.given.calls or not speaks)
    seen = [one for one in wrong_answers if one.given.source != "planted"]
    return seen or wrong_answers[:1]


def _stated(example: TrainingExample, answers: SampleAnswers) -> Iterator[_AnswerMessage]:
    """Yield what was answered at the example's turn, as messages, without empty answers."""
    for answer in answers.given:
        if answer.turn == example.turn and (answer.calls or answer.words.strip()):
            message: Message = {"role": "assistant"}
            if answer.calls:
                message["tool_calls"] = tool_calls(answer.calls, example.names, answer.turn)
            else:
                message["content"] = answer.words
            thought = {"reasoning_content": answer.reasoning} if answer.reasoning else {}
            yield _AnswerMessage(answer, message | thought)
