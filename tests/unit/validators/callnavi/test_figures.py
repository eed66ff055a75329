"""CallNavi's figures: shares by difficulty, stability over runs, structured outputs, the files."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.metrics.callnavi.answers import (
    GoldAnswer,
    GoldQuestion,
    Stability,
    measure_stability,
    read_answers,
    read_questions,
    summarise_stability,
)
from callwright.warehouse.errors import ConfigurationError

TEXTS = st.text("ab {}\n`", max_size=8)


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_stability_is_a_fraction_and_the_order_of_later_runs_is_free(answers: list[str]) -> None:
    scores = measure_stability(answers)
    assert all(0 <= score <= 1 for score in scores)
    assert measure_stability([answers[0], *answers[:0:-1]]) == pytest.approx(scores)
    assert measure_stability([answers[0]] * 5) == Stability(1.0, 1.0)


def test_stability_is_a_mean_over_the_questions_by_difficulty() -> None:
    asked = [
        GoldQuestion(name, "bank", "", GoldAnswer([], []), level)
        for name, level in (("a", "easy"), ("b", "hard"))
    ]
    runs = [["x", {"API": ["x"]}], ["x", '{"api":["x"]}'], ["y", None]]
    found = summarise_stability(asked, runs)
    election = found["election_stability"]
    assert (election.easy, election.medium, election.hard, election.overall) == (
        0.5,
        None,
        0.5,
        0.5,
    )
    assert found["levenshtein_stability"].overall == pytest.approx(0.5)


def question(name: str, difficulty: str = "easy") -> dict:
    gold = {"API": ["pay"], "parameters": [{"sum": "5"}]}
    return {
        "id": name,
        "question": [{"role": "user", "content": "Pay."}],
        "ground_truth": gold,
        "difficulty": difficulty,
    }


def write(folder: Path, **domains: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in domains.items():
        (folder / f"{name}.json").write_text(rows if isinstance(rows, str) else json.dumps(rows))
    return folder


def test_predictions_go_by_order_or_by_id_and_what_is_missing_is_none(tmp_path: Path) -> None:
    asked = read_questions(
        write(
            tmp_path / "Questions", bank=[question("b1"), question("b2")], hr=[question("h1")]
        ).parent
    )
    assert [one.id for one in asked] == ["b1", "b2", "h1"]
    by_order = read_answers(asked, write(tmp_path / "one", bank=[{"predict": "x"}]))
    assert [answer for _, answer in by_order.pairs] == ["x", None, None]
    assert len(by_order.problems) == 2
    rows = [
        {"id": "b2", "predit": "y"},
        {"id": "b1", "predict": "x"},
        {"id": "b2", "predict": "z"},
        {"id": "q"},
    ]
    by_id = read_answers(asked, write(tmp_path / "two", bank=rows, hr=["text"]))
    assert [answer for _, answer in by_id.pairs] == ["x", "y", None]
    assert len(by_id.problems) == 2


@pytest.mark.parametrize(
    "rows", ["{", [1], [{"id": "x"}], {"a": 1}, [{**question("a"), "ground_truth": {"API": ["x"]}}]]
)
def test_questions_of_another_form_are_refused(tmp_path: Path, rows: object) -> None:
    with pytest.raises(ConfigurationError, match=r"bank\.json"):
        read_questions(write(tmp_path, bank=rows))


def test_folders_without_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"DOMAIN\.json"):
        read_questions(tmp_path)
    asked = read_questions(write(tmp_path / "Questions", bank=[question("b1")]))
    with pytest.raises(ConfigurationError, match="bank"):
        read_answers(asked, tmp_path)
    with pytest.raises(ConfigurationError, match="no list"):
        read_answers(asked, write(tmp_path / "bad", bank={"predict": 1}))
