"""What is due at each snapshot stands beside what was answered there, with a verdict that is
true, false or not there.
"""

from callwright.warehouse.browsing import read_samples
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    JudgeVerdict,
    MultiStepRun,
    Prediction,
    ReplyTurn,
    ResultTurn,
    Sample,
    UserTurn,
)
from callwright.warehouse.store import Warehouse


def called(**arguments: str) -> CallTurn:
    return CallTurn(calls=(GoldCall(tool="taxi", arguments=arguments),))


def of_kind(kind: str, *turns: object) -> Sample:
    return Sample(kind=kind, language="en", category="Travel", candidates=("k",), turns=turns)


TWO_SNAPSHOTS = of_kind(
    "sQsA",
    UserTurn(text="A taxi."),
    called(),
    ReplyTurn(text="Where to?"),
    UserTurn(text="Voss."),
    called(place="Voss"),
)


def answer(sample: Sample, turn: int, **arguments: str) -> Prediction:
    calls = (Call(tool="taxi", arguments=arguments),)
    return Prediction(
        release="v1", subject=sample.key, turn=turn, candidate="m", text=f"{turn}", calls=calls
    )


def test_each_answer_stands_beside_what_was_due_at_its_own_snapshot(warehouse: Warehouse) -> None:
    first, last = answer(TWO_SNAPSHOTS, 1), answer(TWO_SNAPSHOTS, 4, place="Bergen")
    warehouse.put([TWO_SNAPSHOTS, first, last])
    warehouse.mark_errors({first.key: "", last.key: "wrong_value"})
    rows = warehouse.rows(
        "select turn, snapshot, n_snapshots, due, calls, is_right, error_type from prediction_items"
        " order by turn"
    )
    nowhere, voss, bergen = (
        f'[{{"tool":"taxi","arguments":{{{given}}}}}]'
        for given in ("", '"place":"Voss"', '"place":"Bergen"')
    )
    assert [tuple(row.values()) for row in rows] == [
        (1, 1, 2, nowhere, nowhere, True, None),
        (4, 2, 2, voss, bergen, False, "wrong_value"),
    ]


def test_an_answer_is_shown_with_what_the_user_said_last_before_it(warehouse: Warehouse) -> None:
    warehouse.put(
        [TWO_SNAPSHOTS, answer(TWO_SNAPSHOTS, 1), answer(TWO_SNAPSHOTS, 4, place="Bergen")]
    )
    shown = {
        row["turn"]: row["request"]
        for row in read_samples(warehouse, [TWO_SNAPSHOTS.key])[TWO_SNAPSHOTS.key].answers
    }
    assert shown == {1: "A taxi.", 4: "Voss."}


def test_a_judge_who_agrees_is_shown_beside_the_rule(warehouse: Warehouse) -> None:
    one = answer(TWO_SNAPSHOTS, 4, place="voss town")
    warehouse.put(
        [
            TWO_SNAPSHOTS,
            one,
            JudgeVerdict(prediction=one.key, judge="j", agree=True, reason="", version="1"),
        ]
    )
    warehouse.mark_errors({one.key: "wrong_value"})
    [row] = warehouse.rows("select is_right, is_right_by_judge from prediction_items")
    assert tuple(row.values()) == (False, True)


def test_a_run_over_a_multi_step_sample_is_one_item(warehouse: Warehouse) -> None:
    steps = (called(place="Voss"), ResultTurn(results=({"taxi": 7},)), called(taxi="7"))
    sample = of_kind("multi_step", UserTurn(text="A taxi to Voss."), *steps)
    run = MultiStepRun(
        release="v1",
        subject=sample.key,
        candidate="m",
        mode="as_paper",
        success=False,
        correct_calls=0,
        total_calls=1,
        steps=0,
        shortest=1,
        turns=1,
        error_type="early_stop",
    )
    warehouse.put([sample, run])
    [row] = warehouse.rows(
        "select mode, turn, due, calls, is_right, error_type from prediction_items"
    )
    due = '[{"tool":"taxi","arguments":{"place":"Voss"}},{"tool":"taxi","arguments":{"taxi":"7"}}]'
    assert tuple(row.values()) == ("as_paper", None, due, "[]", False, "early_stop")
