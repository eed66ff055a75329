"""Scores of plans and conversations: order, placeholders, chains, acts, stability and slices, on
answers made by hand.
"""

import orjson
import pytest

from callwright.validators.metrics.callnavi.plans import score_plan
from callwright.validators.metrics.mistakes import plan_error
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    Prediction,
    ResultTurn,
    Sample,
    Score,
    UserTurn,
)
from tests.support.flows.plan_release import EASY, HARD, MEDIUM, PLANS, TALK, TOOLS
from tests.support.validators.scoring_at_once import score_answers

BY_KEY = {tool.key: tool for tool in TOOLS}


def answer(
    sample: Sample,
    *calls: Call | GoldCall,
    turn: int | None = None,
    run: int = 0,
    text: str | None = None,
):
    made = tuple(Call(tool=one.tool, arguments=one.arguments) for one in calls)
    written = orjson.dumps(
        [{"name": one.tool, "arguments": one.arguments} for one in made]
    ).decode()
    place = len(sample.turns) - 1 if turn is None else turn
    return Prediction(
        release="v1",
        subject=sample.key,
        turn=place,
        candidate="m",
        run=run,
        calls=made,
        text=written if text is None else text,
    )


def scored(
    predictions: list[Prediction], samples: tuple[Sample, ...]
) -> dict[tuple[str, str, str], Score]:
    found = score_answers(predictions, samples, BY_KEY, lambda one, other: 0.5)
    return {(one.metric, one.slice_by, one.slice_value): one for one in found if one.run == 0}


def test_a_plan_is_right_by_names_by_parameters_and_by_values() -> None:
    find, sauna = HARD.gold
    told = sauna.with_changes(arguments={**sauna.arguments, "guest_id": "G001"})
    verdicts = score_plan(answer(HARD, find, told), HARD.gold)
    assert all(verdicts.values()), "a placeholder stands for any value"
    wrong = sauna.with_changes(arguments={**sauna.arguments, "hour": 3})
    verdicts = score_plan(answer(HARD, find, wrong), HARD.gold)
    assert (verdicts["routing"], verdicts["structure"], verdicts["ast"]) == (True, True, False)
    bare = sauna.with_changes(arguments={"hour": 9})
    verdicts = score_plan(answer(HARD, find, bare), HARD.gold)
    assert (verdicts["routing"], verdicts["structure"], verdicts["ast"]) == (True, False, False)
    verdicts = score_plan(answer(HARD, sauna, find), HARD.gold)
    assert (verdicts["routing"], verdicts["ast"]) == (False, False), "the order counts"


@pytest.mark.parametrize(
    ("calls", "mistake"),
    [
        (HARD.gold, ""),
        ((), "refused"),
        (HARD.gold[:1], "wrong_tool"),
        ((HARD.gold[0], Call(tool="book_sauna", arguments={"hour": 9})), "missing_argument"),
        (
            (HARD.gold[0], Call(tool="book_sauna", arguments={"guest_id": "G1", "hour": 8})),
            "wrong_value",
        ),
        (
            (
                HARD.gold[0],
                Call(tool="book_sauna", arguments={"guest_id": "G1", "hour": 9, "x": 1}),
            ),
            "hallucinated_argument",
        ),
    ],
)
def test_the_mistake_of_a_plan_has_a_name(calls: tuple[Call | GoldCall, ...], mistake: str) -> None:
    assert plan_error(answer(HARD, *calls), HARD.gold, "en") == mistake


def test_scores_are_told_by_difficulty_and_as_their_mean() -> None:
    found = scored(
        [answer(EASY, *EASY.gold), answer(MEDIUM, *MEDIUM.gold[:1]), answer(HARD)], PLANS
    )
    assert found["ast", "difficulty", "easy"].value == 1
    assert found["ast", "difficulty", "hard"].value == 0
    assert found["ast_macro", "all", ""].value == pytest.approx(1 / 3)
    assert found["invented", "all", ""].value == 0
    assert ("election_stability", "all", "") not in found, "one run can't differ from itself"


def test_a_turn_of_several_calls_is_right_in_any_order_and_wrong_with_one_too_many() -> None:
    calls = (
        GoldCall(tool="close_pool", arguments={"reason": "storm"}),
        *EASY.gold[:0],
        *HARD.gold[:1],
    )
    turns = (
        UserTurn(text="Both."),
        CallTurn(calls=calls, executed=True),
        ResultTurn(results=(1, 2)),
    )
    sample = TALK.with_changes(turns=turns)
    assert (
        scored([answer(sample, *calls[::-1], turn=1)], (sample,))["ast_strict", "all", ""].value
        == 1
    )
    assert (
        scored([answer(sample, *calls, calls[0], turn=1)], (sample,))["ast_soft", "all", ""].value
        == 0
    )


def test_a_chain_is_worth_the_product_of_its_turns() -> None:
    find = Call(tool="find_guest", arguments={"name": "Ida"})
    sauna = GoldCall(tool="book_sauna", arguments={"guest_id": "G777", "hour": 9})
    spoken = [
        answer(TALK, turn=1, text='{"say": "Who?", "acts": ["seek"]}'),
        answer(TALK, turn=7, text="Hm."),
    ]
    found = scored([*spoken, answer(TALK, find, turn=3), answer(TALK, sauna, turn=5)], (TALK,))
    assert (found["ast_soft", "all", ""].value, found["ast_strict", "all", ""].value) == (0.75, 0.5)
    assert (
        found["ast_soft_chains", "all", ""].value,
        found["ast_soft_chains", "all", ""].count,
    ) == (0.5, 1)
    assert found["ast_soft_chains", "chain_length", "2"].value == 0.5
    assert {
        ("ast_soft_chains", "user_turns", "1-5"),
        ("ast_soft_chains", "tools", "1-9"),
    } <= found.keys()
    assert found["act_accuracy", "all", ""].value == 1.0, (
        "words that state no act inform, unless they refuse or ask"
    )
