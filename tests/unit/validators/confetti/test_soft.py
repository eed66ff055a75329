"""CONFETTI's soft match, its scorers, dialogue acts, validity of parameters, and the tables over
them.
"""

import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.metrics.confetti.bfcl import DecodedCall
from callwright.validators.metrics.confetti.scores import (
    ConfettiScores,
    measure_validity,
    read_answers,
    read_questions,
    score_acts,
    score_confetti,
)
from callwright.validators.metrics.confetti.soft import (
    SCORERS,
    Combining,
    open_scorer,
    score_call,
    score_meaning,
    score_words,
)
from callwright.warehouse.errors import ConfigurationError

VALUES = (
    st.text("ab 1-", max_size=6)
    | st.integers(-9, 9)
    | st.booleans()
    | st.lists(st.text("ab", max_size=3), max_size=3)
)
ANSWER = {"fly": {"to": ["Rome"], "query": ["cheap direct flight"], "seats": [2]}}


def half(_reference: str, _given: str) -> float:
    return 0.5


def soft(
    arguments: dict[str, Any], combining: Combining | None = None, answer: dict = ANSWER
) -> float:
    return score_call([DecodedCall("fly", arguments)], answer, half, combining or Combining()).score


def test_texts_are_scored_softly_and_all_else_strictly() -> None:
    assert soft({"to": "rome.", "query": "cheap direct flight", "seats": 2}) == 1
    assert soft({"to": "Roma", "query": "cheap direct flight", "seats": 2}) == pytest.approx(
        2.5 / 3
    )
    assert soft({"to": "Rome", "query": "cheap direct flight", "seats": "2"}) == pytest.approx(
        2 / 3
    )
    assert soft({"to": "Rome", "query": "cheap direct flight", "seats": 3}) == pytest.approx(2 / 3)


@given(
    st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4),
    st.sampled_from(["mean", "product", "least"]),
)
def test_the_gold_call_is_worth_one_whatever_the_scorer(values: dict[str, Any], way: Any) -> None:
    answer = {"f": {name: [value] for name, value in values.items()}}
    assert score_call([DecodedCall("f", values)], answer, half, Combining(way)).score == 1


@given(
    st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4),
    st.dictionaries(st.sampled_from("abcd"), VALUES),
)
def test_a_soft_score_lies_between_the_strict_one_and_one(
    gold: dict[str, Any], made: dict[str, Any]
) -> None:
    answer = {"f": {name: [value] for name, value in gold.items()}}
    strict = score_call(
        [DecodedCall("f", made)], answer, SCORERS["exact"], Combining("least")
    ).score
    assert strict <= score_call([DecodedCall("f", made)], answer, score_words).score <= 1


def test_meaning_tells_paraphrases_from_other_requests_and_other_codes() -> None:
    paraphrase, other = (
        score_meaning("delta refund policy", "refund policy of Delta"),
        "weather in Denver",
    )
    assert paraphrase > 0.8
    assert score_meaning("delta refund policy", other) == 0
    assert 0 < score_meaning("delta refund policy", "frontier airlines refund policy") < paraphrase
    assert score_meaning("2024-04-24", "April 24, 2024") == 1
    assert score_meaning("2024-04-24", "2024-04-25") == 0
    assert score_meaning("UX301321", "UX301322") == 0
    assert score_meaning("SAN", "DEN") == 0
    assert score_meaning("", "x") == score_meaning("x", " ") == 0
    assert 0 < score_meaning("3 nights in Rome, room 12", "room 12 in Rome for 4 nights") < 0.9


def test_align_score_is_opened_only_with_its_weights_and_its_package(
    tmp_path: Path, monkeypatch
) -> None:
    with pytest.raises(ConfigurationError, match="checkpoint"):
        open_scorer("alignscore", tmp_path / "none.ckpt")
    weights = tmp_path / "base.ckpt"
    weights.write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "alignscore", None)
    with pytest.raises(ConfigurationError, match="package"):
        open_scorer("alignscore", weights)

    class Fake:
        def __init__(self, **settings: Any) -> None:
            self.path = settings["ckpt_path"]

        def score(self, contexts: list[str], claims: list[str]) -> list[float]:
            return [0.25 if (contexts, claims) == (["gold"], ["given"]) else 0.0]

    monkeypatch.setitem(sys.modules, "alignscore", types.SimpleNamespace(AlignScore=Fake))
    scorer = open_scorer("alignscore", weights)
    assert (scorer("gold", "given"), scorer("given", "gold"), scorer("gold", " ")) == (0.25, 0, 0)
    with pytest.raises(ConfigurationError, match="meaning, words"):
        open_scorer("bleu")


def test_one_act_in_common_is_a_match_and_mismatches_are_told_by_act() -> None:
    pairs = [({"inform", "seek"}, {"seek"}), ({"call"}, {"inform", "other"}), ({"reject"}, set())]
    scores = score_acts(pairs)
    assert (scores.turns, scores.accuracy) == (3, pytest.approx(1 / 3))
    assert (scores.precision, scores.recall) == (pytest.approx(1 / 3), pytest.approx(1 / 4))
    assert scores.f1 == pytest.approx(2 / 7)
    assert scores.confusion["seek"] == {"seek": 1}
    assert scores.confusion["call"] == {"inform": 0.5, "other": 0.5}
    assert scores.confusion["reject"] == {"none": 1}
    assert score_acts([]).accuracy is None


def test_validity_divides_by_the_right_calls_or_by_all() -> None:
    right, wrong = DecodedCall("f", {"a": 1, "b": 2}), DecodedCall("g", {"a": 1})
    validity = measure_validity([(right, "f", ["b", "z"]), (wrong, "f", [])])
    assert (validity.rate, validity.rate_of_all) == (pytest.approx(1 / 2), pytest.approx(1 / 3))
    assert measure_validity([]).rate is None


def lines(rows: list[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(row) for row in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    calls = [
        {
            "id": f"conversationsclean_{at}",
            "dialog_id": f"d_{at}",
            "ground_truth": [{"f": {"q": [word]}}],
        }
        for at, word in enumerate(["one", "two", "three"])
    ]
    turns = [
        {
            "id": "dialogacts_0",
            "dialog_id": "d_0",
            "ground_truth": ["agent_function_calling"],
            "ground_truth_content": ["F.f(q=['one'])", "F.f(q=['two'])", "Done."],
        },
        {
            "id": "dialogacts_1",
            "dialog_id": "d_1",
            "ground_truth": ["agent_seek_information"],
            "ground_truth_content": ["Which?"],
        },
        {
            "id": "dialogacts_2",
            "dialog_id": "d_2",
            "ground_truth": ["agent_function_calling", "agent_inform_user"],
            "ground_truth_content": ["F.f(q=['three'])", "Done."],
        },
    ]
    (tmp_path / "BFCL_v2_conversationsclean.json").write_text(lines(calls))
    (tmp_path / "BFCL_v2_dialogacts.json").write_text(lines(turns))
    return tmp_path


def scored(folder: Path, *rows: dict[str, Any], questions: Path | None = None) -> ConfettiScores:
    predicted = {row["id"]: row for row in rows}
    return score_confetti(
        read_answers(folder), predicted, half, questions=read_questions(questions)
    )


def test_chains_are_products_over_the_calls_of_a_turn(folder: Path) -> None:
    words = ["one", "2", "three"]
    scores = scored(
        folder,
        *(
            {"id": f"conversationsclean_{at}", "result": f"f(q='{q}')"}
            for at, q in enumerate(words)
        ),
    )
    assert (scores.calls, scores.chains) == (3, 2)
    assert (scores.ast_soft, scores.ast) == (pytest.approx(2.5 / 3), pytest.approx(2 / 3))
    assert (scores.ast_soft_chains, scores.ast_chains) == (0.75, 0.5)
    assert scores.by_chain_length == {"1": (1, 1, 1), "2": (1, 0.5, 0)}
    assert scores.by_user_turns == {"1-5": (2, 0.75, 0.5)}
    assert (scores.by_tools, scores.acts, scores.validity, scores.problems) == ({}, None, None, [])


def test_questions_tell_of_tools_and_user_turns(folder: Path, tmp_path: Path) -> None:
    said = [[{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}] * 6]
    rows = [
        {"id": f"conversationsclean_{at}", "question": said, "function": [{"name": "f"}] * 12}
        for at in range(3)
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text(lines(rows))
    scores = scored(folder, questions=file)
    assert scores.by_user_turns == {"6-10": (2, 0, 0)}
    assert scores.by_tools == {"10-19": (2, 0, 0)}
    assert len(scores.problems) == 3


def test_acts_and_made_up_parameters_are_scored_where_they_are_predicted(folder: Path) -> None:
    scores = scored(
        folder,
        {"id": "dialogacts_0", "result": "[f(q='one')]"},
        {"id": "dialogacts_1", "acts": "agent_inform_user"},
        {"id": "dialogacts_2", "acts": ["agent_inform_user"]},
        {"id": "conversationsclean_0", "result": "f(q='one')", "hallucinated_parameters": [["q"]]},
        {"id": "conversationsclean_1", "result": "f(q='two')", "hallucinated_parameters": [[]]},
        {"id": "conversationsclean_2", "result": "f(q='three')", "hallucinated_parameters": "none"},
        {"id": "conversationsclean_9", "result": ""},
    )
    assert scores.acts is not None
    assert (scores.acts.turns, scores.acts.accuracy) == (3, pytest.approx(2 / 3))
    assert scores.validity == (0.5, 0.5, 2, 2)
    assert scores.problems == ["The row 'conversationsclean_9' answers nothing that is asked."]


@pytest.mark.parametrize(
    "row",
    [
        "{",
        "7",
        '{"id": "x"}',
        '{"id": "x", "dialog_id": "d", "ground_truth": [{"f": {}}]}',
        '{"id": "x", "dialog_id": "d_1", "ground_truth": [{"f": {"a": 1}}]}',
    ],
)
def test_rows_of_another_form_are_refused_with_their_place(tmp_path: Path, row: str) -> None:
    (tmp_path / "conversationsclean.json").write_text(row)
    with pytest.raises(ConfigurationError, match="conversationsclean"):
        read_answers(tmp_path)
