"""One answer of CallNavi: washed, repaired, matched, routed; whatever comes, it is scored."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.metrics.callnavi.answers import (
    UNKNOWN,
    GoldAnswer,
    GoldQuestion,
    match_answer,
    repair_answer,
    score_answer,
    wash,
)

NAMES = st.text("abcXYZ", min_size=1, max_size=6)
PLAIN = st.none() | st.booleans() | st.integers(-99, 99) | st.text("ab'\"{}[],:$ \n", max_size=8)
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)
)
CALLS = st.lists(
    st.tuples(NAMES, st.dictionaries(NAMES, VALUES, max_size=3)), min_size=1, max_size=4
)
GOLD = GoldAnswer(["book", "pay"], [{"place": "Rome", "day": UNKNOWN}, {"sum": 5}])
RIGHT = {"API": ["book", "pay"], "parameters": [{"place": "Rome", "day": "x"}, {"sum": 5}]}


def gold_of(calls: list[tuple[str, dict[str, Any]]]) -> GoldAnswer:
    return GoldAnswer([name for name, _ in calls], [parameters for _, parameters in calls])


def answer_of(gold: GoldAnswer) -> dict[str, Any]:
    return {"API": gold.names, "parameters": gold.parameters}


@given(CALLS)
def test_the_gold_answer_matches_itself_in_every_notation(
    calls: list[tuple[str, dict[str, Any]]],
) -> None:
    gold = gold_of(calls)
    assert match_answer(answer_of(gold), gold)[:3] == (True, True, True)
    text = json.dumps(answer_of(gold))
    for written in (text, f"Sure:\n```JSON\n{text}\n``` (as asked)", str(answer_of(gold))):
        value = wash(written).value
        if "'" not in text and "```" not in text:
            assert match_answer(value, gold).ast, written


@given(
    VALUES | st.text(max_size=60) | st.text("{}[]'\"\\,:API parmes$`#&*!|-\n", max_size=60), CALLS
)
def test_no_answer_stops_the_scoring(made: object, calls: list[tuple[str, dict[str, Any]]]) -> None:
    question = GoldQuestion("q1", "bank", "Pay.", gold_of(calls), "easy")
    score = score_answer(question, made)
    assert score.match.ast <= score.match.structure <= score.match.order or score.problem
    assert bool(score.washed.problem) is not score.washed.readable
    unrepaired = score_answer(question, made, repair=False)
    assert unrepaired.washed.valid is score.washed.valid


@pytest.mark.parametrize(
    "text",
    [
        '{"API": ["pay"], "parameters": [{"to": "O\'Brien", "sum": 5}]}',
        "{'API': ['pay'], 'parameters': [{'to': \"O'Brien\", 'sum': 5}],} (I assumed a note)",
        '```JSON\n{"API": ["pay"], "parameters": [{"to": "O\'Brien", "sum": 5,},],}\n```',
        "API: [pay]\nparameters:\n- to: O'Brien\n  sum: 5\n",
        '```yaml\nAPI:\n- pay\nparameters:\n- {to: "O\'Brien", sum: 5}\n```',
        '[pay(to="O\'Brien", sum=5)]',
        'I call this: [{"name": "pay", "arguments": {"to": "O\'Brien", "sum": 5}}]',
    ],
)
def test_an_answer_in_another_notation_is_repaired(text: str) -> None:
    washed = wash(text)
    assert (washed.valid, washed.repaired) == (False, True)
    assert match_answer(washed.value, GoldAnswer(["pay"], [{"to": "O'Brien", "sum": 5}])).ast
    assert not wash(text, repair=False).readable


def test_repairs_change_no_value() -> None:
    repaired = repair_answer(
        "{'API': ['note'], 'parameters': [{'text': 'true, null', 'on': true, 'day': null,}]}"
    )
    assert repaired == {
        "API": ["note"],
        "parameters": [{"text": "true, null", "on": True, "day": None}],
    }
    assert repair_answer("API: [a]\nparameters: [{day: 2024-09-20}]") == {
        "API": ["a"],
        "parameters": [{"day": "2024-09-20"}],
    }


def test_a_routers_answer_and_a_whole_one_are_both_routed() -> None:
    question = GoldQuestion("q1", "bank", "Pay.", GOLD, "medium")
    names = score_answer(question, "['book', 'pay']")
    assert (names.routed, names.washed.valid, names.match.order) == (True, True, False)
    whole = score_answer(question, "Here: " + json.dumps(RIGHT))
    assert (whole.routed, whole.washed.valid, whole.match.ast) == (True, False, True)
    assert not score_answer(question, "Here: " + json.dumps(RIGHT), repair=False).routed
