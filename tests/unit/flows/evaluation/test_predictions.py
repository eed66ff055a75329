"""Candidates' predictions, their scores and their mistakes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.flows.evaluation.predictions import PromptingStrategy, predict
from callwright.llm.chat import Completion
from callwright.testing import ScriptedModel, context_of
from callwright.validators.metrics.mistakes import error_type
from callwright.validators.metrics.ratios import CandidateRun
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    Prediction,
    Sample,
    Tool,
    UserTurn,
)
from tests.support.validators.scoring_at_once import score_predictions

RUN = CandidateRun(release="v1", candidate="scripted")
GOLD = {"restaurant": "Lindenhof", "party_size": 4, "time": "19:30"}
RIGHT = (
    '{"name": "book_table", "arguments": {"restaurant": "Lindenhof", "party_size": 4, "time":'
    ' "19:30"}}'
)


def predicted(sample: Sample, *calls: Call, text: str = "") -> Prediction:
    return Prediction(**RUN._asdict(), subject=sample.key, turn=1, text=text, calls=calls)


def book(**arguments) -> Call:
    return Call(tool="book_table", arguments=arguments)


async def test_a_reply_becomes_a_prediction(perfect: Sample, tools: dict[str, Tool]) -> None:
    chat = ScriptedModel({"answer_as_candidate": [RIGHT]})
    [prediction] = await predict(perfect, context_of(tools, chat), run=RUN)
    assert prediction.calls == (Call(tool="book_table", arguments=GOLD),)
    assert (prediction.release, prediction.candidate, prediction.turn, prediction.problem) == (
        "v1",
        "scripted",
        1,
        "",
    )
    assert "order_taxi" in chat.asked[0].messages[0].content


async def test_an_unreadable_reply_is_kept_with_its_problem(
    perfect: Sample, tools: dict[str, Tool]
) -> None:
    chat = ScriptedModel({"answer_as_candidate": ['{"name": "book_table", "argum \ud83d']})
    [prediction] = await predict(perfect, context_of(tools, chat), run=RUN)
    assert prediction.calls is None
    assert "not valid JSON" in prediction.problem
    assert prediction.key
    assert prediction.text.endswith("argum ?")


@pytest.mark.parametrize("strategy", ["direct", "native"])
async def test_what_a_candidate_thought_is_kept_and_is_no_part_of_its_answer(
    perfect: Sample, tools: dict[str, Tool], strategy: str
) -> None:
    said = Completion("", (Call(tool="order_taxi"),), "A taxi, then.")
    asked = {"answer_as_candidate": [said], "answer_natively": [said]}
    prompting = PromptingStrategy(strategy)
    [prediction] = await predict(
        perfect, context_of(tools, ScriptedModel(asked)), run=RUN, prompting=prompting
    )
    assert prediction.reasoning == "A taxi, then."
    assert prediction.key == prediction.with_changes(reasoning="").key


@pytest.mark.parametrize(
    ("calls", "mistake"),
    [
        ((book(**GOLD),), ""),
        ((book(**{**GOLD, "seatingArea": ""}),), ""),
        ((), "refused"),
        ((Call(tool="order_taxi"),), "wrong_tool"),
        ((book(restaurant="Lindenhof", time="19:30"),), "missing_argument"),
        ((book(**GOLD, seatingArea="inside"),), "hallucinated_argument"),
        ((book(**{**GOLD, "party_size": 5}),), "wrong_value"),
    ],
)
def test_each_mistake_has_a_name(perfect: Sample, calls: tuple, mistake: str) -> None:
    assert error_type(predicted(perfect, *calls), perfect) == mistake


BOOKING, OTHER = book(**GOLD), book(**{**GOLD, "party_size": 2})
TAXI = Call(tool="order_taxi", arguments={"destination": "Lindenhof"})


@pytest.mark.parametrize(
    ("calls", "mistake"),
    [
        ((BOOKING, TAXI), ""),
        ((TAXI, BOOKING), ""),  # they do not depend on each other
        ((BOOKING,), "wrong_tool"),
        ((BOOKING, BOOKING), "wrong_tool"),
        ((BOOKING, TAXI, TAXI), "wrong_tool"),
        ((TAXI, OTHER), "wrong_value"),
        ((Call(tool="order_taxi"), OTHER), "missing_argument"),
        ((), "refused"),
    ],
)
def test_calls_that_are_due_at_once_are_compared_as_a_set(
    perfect: Sample, calls: tuple, mistake: str
) -> None:
    """The gravest mistake of any of them counts, wherever it stands."""
    both = due_at_once(perfect, BOOKING, TAXI)
    assert error_type(predicted(both, *calls), both) == mistake
    values = {
        (score.metric, score.snapshots): score.value
        for score in score_predictions([predicted(both, *calls)], [both])
    }
    assert values["args_acc", "all"] == (mistake == "")
    assert values["func_acc", "all"] == (mistake not in {"wrong_tool", "refused"})


def due_at_once(sample: Sample, *calls: Call) -> Sample:
    gold = tuple(GoldCall(tool=call.tool, arguments=call.arguments) for call in calls)
    return sample.with_changes(turns=(sample.turns[0], CallTurn(calls=gold)))


def test_a_prediction_for_another_sample_is_an_error(perfect: Sample, irrelevant: Sample) -> None:
    with pytest.raises(RecordError, match="has no call turn there"):
        error_type(predicted(irrelevant), perfect)
    with pytest.raises(RecordError, match="has no sample in this release"):
        score_predictions([predicted(irrelevant)], [perfect])


def scores_of(
    predictions: list[Prediction], samples: list[Sample], tools: dict[str, Tool]
) -> dict[tuple, tuple]:
    found = score_predictions(predictions, samples, tools)
    return {
        (score.metric, score.slice_by, score.slice_value): (score.value, score.count)
        for score in found
    }


def test_scores_are_means_over_what_they_can_be_asked_of(
    perfect: Sample, irrelevant: Sample, tools
) -> None:
    other = perfect.with_changes(category="Travel")
    predictions = [
        predicted(perfect, book(**GOLD, seatingArea="inside")),
        predicted(other, Call(tool="order_taxi")),
        predicted(irrelevant, text="Sorry, no."),
    ]
    scores = scores_of(predictions, [perfect, other, irrelevant], tools)
    assert scores["func_acc", "all", ""] == (0.5, 2)
    assert scores["args_acc", "all", ""] == (0.0, 2)
    assert scores["pn_hr", "all", ""] == (1.0, 1)
    assert scores["pn_hr_definition", "all", ""] == (0.0, 1)
    assert scores["pn_mr", "category", "Food"] == (0.0, 1)
    assert scores["irrelevant", "kind", "irrelevant"] == (1.0, 1)
    assert scores["no_call", "language", "en"] == (1.0, 1)
    assert ("pn_mr", "category", "Travel") not in scores


@given(order=st.permutations(range(4)))
def test_the_order_of_predictions_is_free(order: list[int]) -> None:
    base = Sample(kind="perfect", language="zh", category="餐饮", candidates=(), turns=())
    samples = [
        base.with_changes(
            turns=(
                UserTurn(text=str(at)),
                CallTurn(calls=(GoldCall(tool="f", arguments={"n": at}),)),
            )
        )
        for at in range(4)
    ]
    predictions = [
        predicted(one, Call(tool="f", arguments={"n": at % 2})) for at, one in enumerate(samples)
    ]
    shuffled = score_predictions([predictions[at] for at in order], samples)
    assert shuffled == score_predictions(predictions, samples)
    assert {score.value for score in shuffled if score.metric == "args_acc"} == {0.5}


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "", "parameters": {}}',
        '{"name": null, "parameters": {}}',
        '{"name": "f", "parameters": {"a": "\\ud83d"}}',
        "[f(a=99999999999999999999999999)]",
    ],
)
async def test_a_call_that_no_store_takes_is_unparseable(
    perfect: Sample, tools: dict[str, Tool], text: str
) -> None:
    chat = ScriptedModel({"answer_as_candidate": [text]})
    [prediction] = await predict(perfect, context_of(tools, chat), run=RUN)
    assert (prediction.calls, bool(prediction.problem)) == (None, True)
    assert prediction.key
    assert error_type(prediction, perfect) == "unparseable"


async def test_a_candidate_is_told_first_what_the_samples_system_message_says(
    perfect: Sample, tools: dict[str, Tool]
) -> None:
    chat = ScriptedModel({"answer_as_candidate": [RIGHT, RIGHT]})
    await predict(perfect, context_of(tools, chat), run=RUN)
    await predict(
        perfect.with_changes(system_message="You work for Acme."), context_of(tools, chat), run=RUN
    )
    usual, led = (prompt.messages for prompt in chat.asked)
    assert led[0].content == f"You work for Acme.\n\n{usual[0].content}"
    assert led[1:] == usual[1:]
