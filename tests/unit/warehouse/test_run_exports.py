"""Runs over multi-step samples in exports: right ones are rows, and of wrong ones the first step
that is provably wrong.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.warehouse.exports.formats import Export, export_release
from callwright.warehouse.records import (
    CallError,
    CallTurn,
    MultiStepRun,
    ResultTurn,
    RunCall,
    RunTurn,
    Sample,
)
from callwright.warehouse.releases import Answerers, AnswerReader
from callwright.warehouse.releases.answers import ELSEWHERE, NOT_CLEAN, NOT_TOLD, WRONG
from callwright.warehouse.store import Warehouse
from tests.support.flows.inn_world import TOOLS, inn_sample
from tests.support.warehouse.exported import release_of, rows_in, stream_of

SAMPLE = inn_sample("Rome")
ERROR = {"error": "There is no such inn."}


def steps(sample: Sample) -> list[RunTurn]:
    """The gold's steps as a run makes them."""
    found = [turn for turn in sample.turns if isinstance(turn, CallTurn)]
    return [
        RunTurn(
            calls=tuple(
                RunCall(
                    tool=call.tool, arguments=call.arguments, matched="rule", step=step, place=place
                )
                for place, call in enumerate(turn.calls)
            )
        )
        for step, turn in enumerate(found)
    ]


def run_of(messages: list[RunTurn], run: int, *, success: bool, **more: Any) -> MultiStepRun:
    told = {
        "correct_calls": 3,
        "total_calls": 3,
        "steps": 3,
        "shortest": 3,
        "turns": len(messages),
        "mode": "as_paper",
    }
    return MultiStepRun(
        release="v1",
        subject=SAMPLE.key,
        candidate="me",
        strategy="native",
        run=run,
        success=success,
        messages=tuple(messages),
        **told | more,
    )


ANSWER = RunTurn(text="It has 12 rooms, in euros.")
FIRST, SECOND, THIRD = steps(SAMPLE)
MISTAKEN = RunTurn(
    calls=(RunCall(tool="Inn_Details", arguments={"inn_id": "nowhere"}, observation=ERROR),)
)
RUNS = {
    "right": run_of([FIRST, SECOND, THIRD, ANSWER], 0, success=True),
    "recovered": run_of([FIRST, SECOND, MISTAKEN, THIRD, ANSWER], 1, success=True),
    "wrong": run_of([FIRST, SECOND, MISTAKEN], 2, success=False),
    "early": run_of([FIRST, RunTurn(text="There are some.")], 3, success=False),
    "elsewhere": run_of([RunTurn(calls=(*SECOND.calls, *FIRST.calls)), MISTAKEN], 4, success=False),
    "silent": run_of([FIRST, SECOND, THIRD, RunTurn(text="Hm.")], 5, success=True, completeness=0),
}


def exported(to: str, folder: Path, *names: str) -> tuple[Export, list[dict[str, Any]]]:
    warehouse = Warehouse(folder / "warehouse.duckdb", patience=5)
    content = release_of([SAMPLE], {tool.key: tool for tool in TOOLS})
    runs = [RUNS[name] for name in names]
    errors = [
        CallError(run=one.key, turn=at, call=0, tool="Inn_Details", error_type="value_error")
        for one in runs
        for at, turn in enumerate(one.messages)
        if turn == MISTAKEN
    ]
    warehouse.put([content.release, SAMPLE, *runs, *errors])
    reader = AnswerReader(warehouse, "v1", Answerers((("me", "native"),)))
    stream = stream_of(content)
    stream = stream._replace(samples=reader.through(stream.samples), answers=reader.of)
    made = export_release(stream, to, folder / "out")
    return made, rows_in(folder / "out" / "v1.jsonl")


def left_out(made: Export) -> dict[str, int]:
    return {one.reason: one.number for one in made.skipped}


def test_a_right_run_is_a_row_with_its_calls_and_results(tmp_path: Path) -> None:
    made, [row] = exported("trl", tmp_path, "right", "recovered", "wrong")
    messages = row["messages"]
    assert [one["role"] for one in messages] == ["user", *["assistant", "tool"] * 3, "assistant"]
    assert messages[-1]["content"] == ANSWER.text
    results = [json.loads(one["content"]) for one in messages if one["role"] == "tool"]
    assert results == [turn.results[0] for turn in SAMPLE.turns if isinstance(turn, ResultTurn)]
    origin = json.loads(row["origin"])
    assert (origin["key"], origin["given_by"], row["pass_rate"]) == (
        SAMPLE.key,
        "me~native",
        pytest.approx(2 / 3),
    )
    assert left_out(made) == {NOT_CLEAN: 1, WRONG: 1}


def test_last_words_that_do_not_tell_all_are_left_out(tmp_path: Path) -> None:
    made, [row] = exported("sharegpt", tmp_path, "silent")
    assert row["conversations"][-1]["from"] == "function_call"
    assert left_out(made) == {NOT_TOLD: 1}


def test_the_gold_stands_against_the_first_step_that_is_provably_wrong(tmp_path: Path) -> None:
    made, rows = exported("trl-dpo", tmp_path, "right", "wrong", "early", "elsewhere")
    told = {json.loads(row["origin"])["turn"]: row for row in rows}
    assert sorted(told) == [3, 5]
    assert told[5]["rejected"][0]["tool_calls"][0]["function"]["arguments"] == {"inn_id": "nowhere"}
    assert told[5]["chosen"][0]["tool_calls"][0]["function"]["name"] == "Inn_Details"
    assert told[3]["rejected"][0]["content"] == "There are some."
    assert json.loads(told[5]["origin"])["rejected_by"] == "me~native"
    assert left_out(made)[ELSEWHERE] == 1


def test_a_wrong_step_is_labelled_as_such_beside_the_gold(tmp_path: Path) -> None:
    _, rows = exported("trl-kto", tmp_path, "wrong")
    labels = {(json.loads(row["origin"])["turn"], row["label"]) for row in rows}
    assert labels == {(1, True), (3, True), (5, True), (7, True), (5, False)}
