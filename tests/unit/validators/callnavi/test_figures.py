"""CallNavi's figures: shares by difficulty, stability over runs, structured outputs, the files."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance.Levenshtein import distance, normalized_similarity

from callwright.validators.metrics.callnavi.answers import (
    GoldAnswer,
    GoldQuestion,
    Stability,
    measure_stability,
    read_answers,
    read_questions,
    share_right,
    summarise_stability,
)
from callwright.warehouse.errors import ConfigurationError
from tests.support.sampling import slow

TEXTS = st.text("ab {}\n`", max_size=8)


def test_shares_are_of_the_questions_of_a_difficulty_and_macro_is_their_mean() -> None:
    shares = share_right(
        [("easy", True), ("easy", True), ("easy", False), ("easy", False), ("hard", True)]
    )
    assert (shares.easy, shares.medium, shares.hard) == (0.5, None, 1.0)
    assert shares.overall == pytest.approx(3 / 5)
    assert shares.macro == pytest.approx(0.75)
    assert shares.counts == {"easy": 2, "medium": 0, "hard": 1}
    assert share_right([])[:5] == (None,) * 5


def test_an_unknown_difficulty_counts_overall_only() -> None:
    shares = share_right([("easy", False), ("expert", True)])
    assert (shares.overall, shares.macro, shares.counts["expert"]) == (0.5, 0.0, 1)


@pytest.mark.parametrize(
    ("answers", "election"),
    [("AAAAA", 1.0), ("AABBC", 0.0), ("AABCD", 0.25), ("AAABB", 1 / 3), ("AAABC", 0.5), ("A", 1.0)],
)
def test_the_election_is_won_by_the_lead_over_the_second(answers: str, election: float) -> None:
    assert measure_stability(list(answers)).election == pytest.approx(election)


def test_levenshtein_stability_compares_each_later_run_with_the_first() -> None:
    assert measure_stability(["kitten", "sitting", "kitten"]).levenshtein == pytest.approx(
        (1 - 3 / 7 + 1) / 2
    )
    assert measure_stability(["", ""]) == Stability(1.0, 1.0)
    assert measure_stability(["```ab```", "A B\n"]) == Stability(1.0, 1.0)
    assert measure_stability([]) == Stability(0.0, 0.0)


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_stability_is_a_fraction_and_the_order_of_later_runs_is_free(answers: list[str]) -> None:
    scores = measure_stability(answers)
    assert all(0 <= score <= 1 for score in scores)
    assert measure_stability([answers[0], *answers[:0:-1]]) == pytest.approx(scores)
    assert measure_stability([answers[0]] * 5) == Stability(1.0, 1.0)


ODD_TEXTS = st.text(st.sampled_from("ab{}北京é\0\ud83d"), max_size=12)


def by_the_table(one: str, other: str) -> int:
    rows = [[at + place for place in range(len(other) + 1)] for at in range(len(one) + 1)]
    for at in range(1, len(one) + 1):
        for place in range(1, len(other) + 1):
            changed = rows[at - 1][place - 1] + (one[at - 1] != other[place - 1])
            rows[at][place] = min(rows[at - 1][place] + 1, rows[at][place - 1] + 1, changed)
    return rows[-1][-1]


@given(ODD_TEXTS, ODD_TEXTS)
def test_the_library_has_the_distances_of_the_table(one: str, other: str) -> None:
    expected = 1 - by_the_table(one, other) / max(len(one), len(other), 1)
    assert normalized_similarity(one, other) == pytest.approx(expected)


@pytest.mark.parametrize("changed", [1, slow(64), slow(130), 600])
def test_long_texts_far_from_each_other_are_as_far_as_the_table_says(changed: int) -> None:
    text = "".join(chr(0x4E00 + at * at % 97) for at in range(700))
    for at in (50, 320, 699):
        moved, cut = (
            text[:at] + "-" * changed + text[at:],
            text[:at] + "?" + text[at + changed : -1],
        )
        assert [distance(text, moved), distance(moved, cut)] == [
            by_the_table(text, moved),
            by_the_table(moved, cut),
        ]


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
