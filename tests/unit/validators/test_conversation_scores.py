"""Scores of our own predictions over conversations: the paper's metrics, snapshot choices, and
its own numbers again.
"""

from pathlib import Path

import pytest

from callwright.validators.metrics.hammerbench import logs
from callwright.validators.metrics.hammerbench.scores import (
    Conversation,
    parse_reply,
    per_func_acc,
    score_conversations,
)
from callwright.validators.metrics.hammerbench.snapshots import needs_judge
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    Prediction,
    Sample,
    SampleFacts,
    Score,
    Tool,
    UserTurn,
)
from tests.support.validators.conversations import RUN, STEPS, answers, conversation, intent_shift
from tests.support.validators.scoring_at_once import score_predictions

TAXI = Call(tool="order_taxi")


def figures(
    scores: list[Score], snapshots: str = "all", slice_by: str = "all", value: str = ""
) -> dict[str, tuple]:
    wanted = (snapshots, slice_by, value)
    return {
        one.metric: (one.value, one.count)
        for one in scores
        if (one.snapshots, one.slice_by, one.slice_value) == wanted
    }


def test_a_conversation_counts_by_its_first_tool_and_its_progress(
    table: Tool, taxi: Tool, tools
) -> None:
    samples = [conversation([table, taxi], category=name) for name in ("a", "b", "c")]
    wrong_size = {**STEPS[1], "party_size": 5}
    predictions = [
        *answers(samples[0], *STEPS),
        *answers(samples[1], STEPS[0], wrong_size, {**STEPS[2], "seatingArea": "inside"}),
        *answers(samples[2], TAXI, STEPS[1], STEPS[2]),
    ]
    found = figures(score_predictions(predictions, samples, tools))
    assert found == {
        "func_acc": (pytest.approx(2 / 3), 3),
        "args_acc": (pytest.approx(4 / 9), 9),
        "args_acc_exact": (pytest.approx(4 / 9), 9),
        "pr": (pytest.approx((1 + 1 / 3) / 3), 3),
        "sr": (pytest.approx(1 / 3), 3),
        "pn_hr": (pytest.approx(1 / 6), 6),
        "pn_hr_definition": (0.0, 6),
        "pn_mr": (0.0, 6),
        "args_acc/func_acc": (pytest.approx(2 / 3), 9),
        "pr/func_acc": (pytest.approx(2 / 3), 3),
        "sr/func_acc": (pytest.approx(1 / 2), 3),
    }


def test_first_last_and_shift_are_scored_apart(table: Tool) -> None:
    shifted = conversation([table], kind="SO_case1", facts=SampleFacts(shifts=(1,)))
    plain = conversation([table], turns=conversation([table]).turns[:5])
    predictions = [
        *answers(shifted, STEPS[0], {"restaurant": "Lindenhof"}, STEPS[2]),
        *answers(plain, STEPS[0], TAXI),
    ]
    scores = score_predictions(predictions, [shifted, plain])
    assert figures(scores, "first")["args_acc"] == (1.0, 2)
    assert figures(scores, "last")["args_acc"] == (0.5, 2)
    assert figures(scores, "shift")["args_acc"] == (0.0, 1)
    assert figures(scores, "shift")["pn_mr"] == (1.0, 1)
    assert figures(scores, "all")["sr"] == (0.0, 2)
    assert figures(scores, "shift", "kind", "sQsA") == {}
    assert figures(scores, "shift", "kind", "SO_case1")["pr"] == (0.0, 1)


def test_an_intent_shift_wants_a_sorry_and_leaves_the_calls_before_it(
    table: Tool, irrelevant: Sample
) -> None:
    shift = intent_shift([table])
    predictions = [*answers(shift, STEPS[0], "Sorry, that I can't."), *answers(irrelevant, "No.")]
    scores = score_predictions(predictions, [shift, irrelevant])
    found = figures(scores)
    assert found["intent_shift"] == (1.0, 1)
    assert found["irrelevant"] == (0.0, 1)
    assert found["no_call"] == (1.0, 2)
    assert found["sr"] == (1.0, 1)
    assert "intent_shift" not in figures(scores, "shift", "kind", "IS")


def test_a_conversation_with_a_gap_is_an_error(table: Tool) -> None:
    sample = conversation([table])
    with pytest.raises(RecordError, match="was not predicted, but others are"):
        score_predictions(answers(sample, *STEPS)[1:], [sample])


def test_contexts_and_runs_are_never_mixed(table: Tool) -> None:
    sample = conversation([table])
    always = RUN._replace(tools_shown="always")
    scores = score_predictions(
        [*answers(sample, *STEPS), *answers(sample, TAXI, TAXI, TAXI, run=always)], [sample]
    )
    found = {
        one.tools_shown: one.value
        for one in scores
        if (one.metric, one.slice_by, one.snapshots) == ("sr", "all", "all")
    }
    assert found == {"first": 1.0, "always": 0.0}


def test_a_judge_decides_only_what_names_leave_open(table: Tool) -> None:
    sample = conversation([table])
    otherwise = {**STEPS[1], "restaurant": "the Lindenhof down the road, you know"}
    predictions = answers(sample, STEPS[0], otherwise, {**STEPS[2], "seatingArea": "inside"})
    assert [needs_judge(one, sample) for one in predictions] == [False, True, False]
    with pytest.raises(RecordError, match="judge has not been asked"):
        score_predictions(predictions, [sample], judge="j", agreements={})
    by_rule = figures(score_predictions(predictions, [sample]))
    agreeing = score_predictions(
        predictions, [sample], judge="j", agreements={predictions[1].key: True}
    )
    assert by_rule["args_acc"] == (pytest.approx(1 / 3), 3)
    assert figures(agreeing)["args_acc"] == (pytest.approx(2 / 3), 3)
    assert figures(agreeing)["pr"] == (pytest.approx(2 / 3), 1)
    assert {one.judge for one in agreeing} == {"j"}


def of_log(rows: Conversation, number: int) -> tuple[Sample, list[Prediction]]:
    """A conversation of a log as a sample and our predictions."""
    turns = []
    for index, row in enumerate(rows):
        assert isinstance(row.label, dict)
        call = GoldCall(tool=row.label["name"], arguments=row.label["arguments"])
        turns += [UserTurn(text=f"{number}.{index}"), CallTurn(calls=(call,))]
    sample = Sample(kind="sQsA", language="en", category="x", candidates=(), turns=tuple(turns))
    predictions = []
    for index, row in enumerate(rows):
        text = str(row.predict).encode(errors="replace").decode()
        parsed = parse_reply(text, "default")
        calls = (
            None
            if parsed.calls is None
            else tuple(Call(tool=str(one.tool), arguments=one.arguments) for one in parsed.calls)
        )
        told = {
            "subject": sample.key,
            "turn": 2 * index + 1,
            "text": text,
            "calls": calls,
            "problem": parsed.problem,
        }
        predictions.append(Prediction(**RUN._asdict(), **told))
    return sample, predictions


@pytest.mark.parametrize("name", ["mQmA", "mQmA/MT0", "External"])
def test_our_way_over_the_papers_answers_gives_the_papers_numbers(shared: Path, name: str) -> None:
    folder = shared / "data" / "hammerbench" / "gpt4o_logs" / name
    conversations, flags = logs.read_log(folder).conversations, logs.read_flags(folder)
    pairs = [of_log(rows, number) for number, rows in enumerate(conversations)]
    agreements = {
        one.key: flag
        for (sample, predictions), judged in zip(pairs, flags, strict=True)
        for one, flag in zip(predictions, judged, strict=True)
        if needs_judge(one, sample)
    }
    scores = score_predictions(
        [one for _, predictions in pairs for one in predictions],
        [sample for sample, _ in pairs],
        judge="theirs",
        agreements=agreements,
    )
    for mode in ("all", "first", "last"):
        official = score_conversations(conversations, choice=mode, flags=flags)
        wanted = {**official._asdict(), **per_func_acc(official)}
        ours = figures(scores, mode)
        assert len(ours) == 9
        assert {metric: value for metric, (value, _) in ours.items()} == {
            metric: pytest.approx(wanted[metric], abs=1e-8) for metric in ours
        }
