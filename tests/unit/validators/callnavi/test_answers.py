"""One answer of CallNavi: washed, repaired, matched, routed; whatever comes, it is scored."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.metrics.callnavi.answers import (
    LONGEST,
    UNKNOWN,
    GoldAnswer,
    GoldQuestion,
    Match,
    is_routed,
    match_answer,
    repair_answer,
    score_answer,
    wash,
    wash_text,
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


def verdicts(made: object) -> tuple[bool, bool, bool]:
    return match_answer(made, GOLD)[:3]


def test_a_placeholder_takes_any_value_and_a_predicted_one_takes_none() -> None:
    assert verdicts(RIGHT) == (True, True, True)
    placeholders = {
        "API": ["book", "pay"],
        "parameters": [{"place": UNKNOWN, "day": UNKNOWN}, {"sum": UNKNOWN}],
    }
    assert verdicts(placeholders) == (True, True, False)


def test_an_empty_gold_object_takes_any_value_as_officially() -> None:
    gold = GoldAnswer(["edit"], [{"details": {}}])
    assert match_answer({"API": ["edit"], "parameters": [{"details": 7}]}, gold).ast
    assert not match_answer({"API": ["edit"], "parameters": [{}]}, gold).structure


def test_the_order_of_calls_counts_and_what_is_beyond_gold_does_not() -> None:
    assert verdicts({"API": ["pay", "book"], "parameters": RIGHT["parameters"][::-1]}) == (
        False,
        False,
        False,
    )
    more = {"API": RIGHT["API"], "parameters": [{**one, "more": 1} for one in RIGHT["parameters"]]}
    assert verdicts(more) == (True, True, True)


def test_values_are_compared_strictly() -> None:
    assert verdicts(
        {"API": RIGHT["API"], "parameters": [RIGHT["parameters"][0], {"sum": "5"}]}
    ) == (True, True, False)
    assert verdicts({"API": RIGHT["API"], "parameters": [RIGHT["parameters"][0], {}]}) == (
        True,
        False,
        False,
    )
    assert verdicts({"API": RIGHT["API"], "parameters": RIGHT["parameters"][:1]}) == (
        False,
        False,
        False,
    )


@pytest.mark.parametrize(
    "made",
    [
        None,
        7,
        "API parameters",
        [],
        ["API", "parameters"],
        {"API": ["book", "pay"]},
        {"API": ["book", "pay"], "parameters": None},
        {"API": ["book", "pay"], "parameters": [None, None]},
        {"API": ["book", "pay"], "parameters": {"place": 1, "sum": 2}},
        {"API": None, "parameters": 3},
        {"API": ["book", "pay"], "parameters": True},
    ],
)
def test_what_crashes_the_official_code_is_wrong_and_says_why(made: object) -> None:
    match = match_answer(made, GOLD)
    assert match[:3] == (False, False, False)
    assert match.problem or made == {"API": None, "parameters": 3}


def test_parameters_that_are_no_objects_are_read_as_the_official_code_reads_them() -> None:
    gold = GoldAnswer(["pay"], [{"sum": 5}])
    assert match_answer({"API": ["pay"], "parameters": ["5 euros"]}, gold) == Match(
        order=True, structure=False, ast=False
    )
    assert match_answer({"API": ["list"], "parameters": {}}, GoldAnswer(["list"], [])).ast


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


def test_washing_changes_apostrophes_and_two_kinds_of_fences() -> None:
    assert wash_text("```json\n{'a': 1}\n```") == '\n{"a": 1}\n'
    assert wash("[1, NaN]", repair=False).valid
    for text in (
        "",
        "```JSON\n{}\n```",
        '{"a": "O\'Brien"}',
        "{'a': True}",
        "[1,]",
        "{} {}",
        '"' + "[" * 100_000,
    ):
        assert not wash(text, repair=False).valid, text
    assert not wash(None).readable
    assert not wash(7).readable


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


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "",
        "{'API': {1, 2}}",
        "API: &a [*a, *a]",
        "{" * 5000,
        "API: [" + "[" * 5000,
        "x" * (LONGEST + 1),
        "{'API': b'x'}",
        "{'API': ['a'], 'parameters': [open('x')]}",
        "API: !!python/object:os.system x",
        "{'API': 1j}",
    ],
)
def test_what_means_no_answer_is_not_made_into_one(text: str) -> None:
    assert repair_answer(text) is None


def test_routing_compares_names_as_texts() -> None:
    gold = ["getCards", "payCard"]
    for said in (
        "['getCards', 'payCard']",
        "getcards,paycard",
        "`getCards`,\n`payCard`",
        {"API": gold},
        gold,
    ):
        assert is_routed(said, gold), said
    for said in (
        "['payCard', 'getCards']",
        "getCards\npayCard",
        "json['getCards','payCard']",
        None,
        7,
        {"API": None},
        {},
    ):
        assert not is_routed(said, gold), said


def test_a_routers_answer_and_a_whole_one_are_both_routed() -> None:
    question = GoldQuestion("q1", "bank", "Pay.", GOLD, "medium")
    names = score_answer(question, "['book', 'pay']")
    assert (names.routed, names.washed.valid, names.match.order) == (True, True, False)
    whole = score_answer(question, "Here: " + json.dumps(RIGHT))
    assert (whole.routed, whole.washed.valid, whole.match.ast) == (True, False, True)
    assert not score_answer(question, "Here: " + json.dumps(RIGHT), repair=False).routed
