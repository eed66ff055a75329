"""Result files and the tables over them."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.metrics.complexeval.results import (
    ResultRow,
    parse_results,
    read_results,
    summarise,
)
from callwright.warehouse.errors import ConfigurationError
from tests.support.validators.complexeval.paths import DESTINATION, altered, drive, open_run
from tests.support.validators.complexeval.rows import row_of


def stated(identity: str, message: Any = "Success.", **changes: Any) -> dict[str, Any]:
    counts = {
        "success_turn_num": 1,
        "total_turn_num": 2,
        "correct_call_num": 3,
        "total_call_num": 4,
    }
    return {
        "id": identity,
        "message": message,
        "count_dict": counts | changes.pop("counts", {}),
        **changes,
    }


def scores(complete: Any, correct: Any) -> dict[str, Any]:
    return {"complete": {"score": complete}, "correct": {"score": correct}}


def rows(*values: dict[str, Any]) -> list[ResultRow]:
    return parse_results(list(values), "here")


def test_the_published_code_divides_by_the_whole_benchmark_and_the_paper_by_what_there_is() -> None:
    given_rows = rows(
        stated("Hotels-0"), stated("Hotels-1", {"error_type": "stop_early"}), stated("Cross-3")
    )
    published, paper = summarise(given_rows, "as_published_code"), summarise(given_rows, "as_paper")
    assert published.domains["Hotels"].success == pytest.approx(1 / 150)
    assert published.domains["Cross"].success == pytest.approx(1 / 400)
    assert published.overall.success == pytest.approx(2 / 1000)
    assert paper.domains["Hotels"].success == 0.5
    assert paper.domains["Cross"].success == 1.0
    assert paper.overall.success == pytest.approx(2 / 3)
    assert published.overall.call_acc == paper.overall.call_acc == 0.75


def test_answers_that_no_judge_scored_are_left_out_of_the_means() -> None:
    summary = summarise(
        rows(
            stated("Hotels-0", resp_eval=scores(2, 1)),
            stated("Hotels-1", resp_eval=scores(1, -1)),
            stated("Hotels-2", resp_eval=scores(-2, -2)),
            stated("Hotels-3", resp_eval=None),
            stated("Hotels-4"),
        ),
        "as_paper",
    )
    assert (summary.completeness, summary.correctness, summary.answers) == (1.5, 1.0, 2)
    nothing = summarise(rows(stated("Hotels-4")), "as_paper")
    assert (nothing.completeness, nothing.correctness) == (None, None)


def test_errors_are_shared_out_over_the_paper_s_types() -> None:
    value = {"error_type": "value_error", "parameter": "legs"}
    summary = summarise(
        rows(
            stated("Hotels-0"),
            stated(
                "Hotels-1",
                [value, {"error_type": "param_hallucination"}, {"error_type": "value_error"}],
            ),
            stated("Hotels-2", {"error_type": "func_hallucination"}),
            stated("Hotels-3", "something else"),
            stated("Hotels-4", {"error_type": "stop_early"}),
        ),
        "as_paper",
    )
    assert summary.errors == 6
    assert summary.error_types == pytest.approx(
        {
            "func_error": 1 / 6,
            "param_missing": 0,
            "hallucination": 1 / 6,
            "value_error": 2 / 6,
            "stop_early": 1 / 6,
            "other": 1 / 6,
        }
    )
    assert summary.value_error_parameters == {"legs": 1.0}


def test_no_rows_are_no_division_by_nothing() -> None:
    summary = summarise([], "as_paper")
    assert (summary.overall.success, summary.overall.call_acc, summary.completeness) == (
        0.0,
        0.0,
        None,
    )
    empty = rows(stated("Hotels-0", counts={"correct_call_num": 0, "total_call_num": 0}))
    assert summarise(empty, "as_paper").domains["Hotels"].call_acc == 0.0


async def test_a_run_of_our_own_is_a_row_like_any_other() -> None:
    outcome, _ = await drive(open_run("as_paper"), [altered(DESTINATION, query="Boston")], "Done.")
    row = row_of("Car-Rental-3", outcome)
    assert (
        row
        == parse_results(
            [
                {
                    "id": "Car-Rental-3",
                    "message": outcome.message,
                    "count_dict": {
                        "success_turn_num": 0,
                        "total_turn_num": 3,
                        "correct_call_num": 0,
                        "total_call_num": 4,
                        "real_turn_num": 1,
                    },
                }
            ],
            "here",
        )[0]
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no results in it"),
        ("[]", "no results in it"),
        ("{", "it has the line '{'"),
        ('{"id": "Hotels-0"}', "row 0 is no result"),
        ('[{"id": 7, "message": "", "count_dict": {}}]', "row 0 is no result"),
        ("[[1]]", "row 0 is no result"),
        ("[" * 100_000, "can't be read as a JSON list"),
        ("\n" + json.dumps(stated("a-1")) + "\nnull\n", "it has the line 'null'"),
        (
            json.dumps([stated("a-1"), stated("a-2", counts={"total_call_num": -1})]),
            r"row 1: the \"total_call_num\"",
        ),
        (json.dumps([stated("a-1", counts={"total_call_num": True})]), "is True, no count"),
        (json.dumps([stated("a-1", counts={"correct_call_num": "x" * 999})]), "x…, no count"),
        (json.dumps([stated("a-1", counts={"real_turn_num": "two"})]), "is 'two', no count"),
        (json.dumps([stated("a-1", resp_eval=3)]), "neither an object nor null"),
        (json.dumps([stated("a-1", resp_eval=scores(3, 1))]), "is 3; it is one of -2 to 2"),
        (json.dumps([stated("a-1", resp_eval=scores("2", 1))]), "is '2'"),
    ],
)
def test_a_file_of_another_form_is_told_as_such(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "results.json"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=told.replace('\\"', '"')):
        read_results(file)


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_a_file_that_can_not_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "results.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"results\.json can't be read"):
        read_results(file)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "message", "count_dict", "resp_eval", "complete", "score"]),
            inner,
        )
    ),
    max_leaves=10,
)


@given(JSON)
def test_any_json_is_rows_or_a_clear_error(value: Any) -> None:
    found: list[ResultRow] = []
    with suppress(ConfigurationError):
        found = parse_results(value, "here")
    assert summarise(found, "as_paper").overall.samples == len(found)
