"""One answer to one sample: whether it is right, how, and what is wrong with it."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

import orjson

from callwright.flows.evaluation.predictions import parse_completion, storable
from callwright.llm.function_model import read_given
from callwright.validators.accepted import AcceptedAnswers
from callwright.validators.metrics.mistakes import ErrorType, mistakes_of
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import AnswerSort, Call, Prediction, Sample, Tool
from callwright.warehouse.wire_names import WireNames

_ANSWERER = "The function"


class AnswerVerdict(NamedTuple):
    """How an answer is right, or what its gravest mistake is, with a sentence for people.

    `matched` is "gold" for the calls that are due, else what is accepted besides them: "order",
    "default", "equal_tool" or "question"; "" for a wrong answer, whose `mistake` is named as in
    evaluations.
    """

    matched: AnswerSort | Literal[""]
    mistake: ErrorType
    reason: str

    @property
    def is_right(self) -> bool:
        """Whether the answer is one of those accepted."""
        return self.matched != ""


def last_due(sample: Sample) -> int:
    """Return the index of the turn at which the last calls are due, or else the end."""
    return sample.call_turns[-1][0] if sample.call_turns else len(sample.turns)


def compare_answer(
    sample: Sample, tools: Mapping[str, Tool], answer: object, names: WireNames
) -> AnswerVerdict:
    """Compare what a function answers with all that is accepted where the last calls are due.

    `names` are those that the answer may use for tools and parameters. Raises RecordError for a
    sample in which no call is asked for.
    """
    try:
        completion = read_given(answer, _ANSWERER)
    except ReplyError as error:
        return AnswerVerdict("", "unparseable", str(error))
    parsed = parse_completion(completion._replace(names=names))
    if parsed.calls is None:
        return AnswerVerdict("", "unparseable", parsed.problem)
    calls = tuple(Call(tool=str(one.tool), arguments=one.arguments) for one in parsed.calls)
    given = Prediction(
        release="",
        subject=sample.key,
        turn=last_due(sample),
        candidate=_ANSWERER,
        text=storable(completion.text),
        calls=calls,
    )
    read = AcceptedAnswers(sample, tools).read(given)
    [mistake] = mistakes_of([read.prediction], {sample.key: sample})
    if mistake is None:
        raise RecordError(f"The sample {sample.key} asks for no call that could be compared.")
    if calls and len(calls) > len(sample.gold):
        mistake = mistake or "wrong_tool"  # evaluations follow HammerBench, where the first counts
    due = [one.bare.model_dump() for one in sample.gold]
    made = [one.model_dump() for one in calls] or completion.text
    reason = f"Due: {_json(due)}. Given: {_json(made)}."
    if mistake:
        return AnswerVerdict("", mistake, f"The answer is wrong ({mistake}). {reason}")
    return AnswerVerdict(read.sort, "", f"The answer is right ({read.sort}). {reason}")


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
