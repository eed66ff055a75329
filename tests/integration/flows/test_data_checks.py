"""`check requests` and `check records`: what others bring is checked line by line, and a broken line is an answer of its own."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from callwright.flows.cli.main import app
from callwright.flows.settings import open_warehouse
from callwright.warehouse.exports.formats import record_line
from callwright.warehouse.releases import create_release, read_release
from tests.support.flows.small_builds import build, settings_of, unmeasured_recipe

TIMER = {"name": "startTimer", "parameters": {"type": "object", "properties": {"minutes": {"type": "integer"}}}}


def run(*words: str) -> list[dict]:
    result = CliRunner().invoke(app, ["check", *words, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def write(path: Path, *lines: object) -> str:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return str(path)


OPEN = {"standing": "open", "read_by": "", "precision": None}
PROVED = {**OPEN, "standing": "proved"}
READ = {"standing": "read", "read_by": "template/v1", "precision": None}
MEANING = ("deed", "nothing_else", "no_call_missing")


def test_rules_prove_values_and_never_a_whole_request(tmp_path: Path) -> None:
    asked = {"language": "en", "tool": TIMER, "request": "Start a timer for two hours."}
    file = write(
        tmp_path / "asked.jsonl",
        {"id": "a", "arguments": {"minutes": 120}, **asked},
        {"id": "b", "arguments": {"minutes": 2}, **asked},
    )
    right, wrong = run("requests", file)
    assert right == {
        "id": "a",
        "decision": "unproved",
        "arguments": {"minutes": "proved"},
        "reasons": [],
        "values_proved": [1, 1],
        "claims": {"arguments": PROVED} | dict.fromkeys(MEANING, OPEN),
        "hints": [],
    }
    assert (wrong["decision"], wrong["arguments"], wrong["values_proved"]) == (
        "contradicted",
        {"minutes": "contradicted"},
        [0, 1],
    )
    assert wrong["claims"]["arguments"] == {**OPEN, "standing": "contradicted"}
    assert wrong["reasons"] == ["minutes is 2, but 'two hours' is what is said."]
    assert wrong["hints"] == [{"kind": "number_left", "quote": "two hours"}]


def test_what_rules_can_t_place_is_a_hint_and_no_verdict(tmp_path: Path) -> None:
    stated = {"id": "a", "language": "en", "tool": TIMER, "arguments": {"minutes": 5}}
    [found] = run(
        "requests", write(tmp_path / "asked.jsonl", {**stated, "request": "No timer of 5 minutes if 3 call."})
    )
    assert {one["kind"] for one in found["hints"]} == {"negation", "condition", "number_left"}
    assert found["arguments"] == {"minutes": "stated"}
    assert found["claims"]["arguments"]["standing"] == "stated"
    assert found["decision"] == "unproved"


def test_a_model_reads_what_words_ask_for_and_is_named(tmp_path: Path) -> None:
    asked = {"language": "en", "tool": TIMER, "arguments": {"minutes": 120}}
    file = write(
        tmp_path / "asked.jsonl",
        {"id": "a", "request": "Start a timer for two hours.", **asked},
        {"id": "b", "request": "Don't start a timer for two hours if it rains.", **asked},
    )
    right, wrong = run("requests", file, "--model", "template/v1")
    assert (right["decision"], right["claims"]) == ("judged", {"arguments": PROVED} | dict.fromkeys(MEANING, READ))
    assert (wrong["decision"], wrong["claims"]["deed"]) == ("unproved", OPEN)
    assert "none of the options was chosen" in wrong["reasons"][-1]


def test_a_language_that_nobody_knows_is_an_answer_of_its_own(tmp_path: Path) -> None:
    asked = {"id": "a", "language": "xq", "tool": TIMER, "arguments": {"minutes": 5}, "request": "Timer, 5."}
    [found] = run("requests", write(tmp_path / "asked.jsonl", asked), "--model", "template/v1")
    assert (found["decision"], found["arguments"]) == ("unproved", {"minutes": "stated"})
    assert "There is no language 'xq'" in found["reasons"][-1]


@pytest.mark.parametrize(
    "line", ["{", "[]", "7", '{"id": "x"}', '{"id": "x", "language": "en", "tool": {"name": ""}}', "[" * 2000]
)
def test_a_line_that_is_no_request_is_told_and_the_others_are_read(tmp_path: Path, line: str) -> None:
    good = {"id": "a", "language": "en", "tool": TIMER, "arguments": {"minutes": 5}, "request": "A timer for 5 minutes"}
    broken, fine = run("requests", write(tmp_path / "asked.jsonl", line, good))
    assert broken["decision"] == "contradicted"
    assert "Line 1 is no request" in broken["reasons"][0]
    assert fine["values_proved"] == [1, 1]


def test_a_file_that_is_not_there_is_a_sentence() -> None:
    result = CliRunner().invoke(app, ["check", "requests", "nowhere.jsonl"])
    assert result.exit_code != 0


def test_exported_records_keep_what_they_rest_on_and_broken_ones_do_not(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    build(unmeasured_recipe(samples={"perfect": 6}), settings)
    warehouse = open_warehouse(settings)
    create_release(warehouse, "v1", note="")
    content = read_release(warehouse, "v1")
    rows = [record_line(sample, content.tools) for sample in content.samples]
    file = write(tmp_path / "whole.jsonl", *rows)
    by_rules = run("records", file)
    assert {one["decision"] for one in by_rules} == {"unproved"}
    assert all({one["claims"][name]["standing"] for name in MEANING} == {"open"} for one in by_rules)
    assert sum(one["values_proved"][0] for one in by_rules) > 0
    for one in by_rules:
        assert one["values_proved"] == [list(one["arguments"].values()).count("proved"), len(one["arguments"])]
    read = run("records", file, "--model", "template/v1")
    assert {(one["decision"], one["claims"]["deed"]["read_by"]) for one in read} == {("judged", "template/v1")}
    for row in rows:
        [turn] = [turn for turn in row["sample"]["turns"] if turn["kind"] == "user"]
        turn["text"] = f"Don't do that, and don't ask again: {turn['text']}"
    checked = run("records", write(tmp_path / "broken.jsonl", *rows, "{"), "--model", "template/v1")
    assert not any(one["decision"] in ("proved", "judged") for one in checked)
    assert checked[-1]["verdicts"][0]["reason"].startswith(f"Line {len(rows) + 1} is no record")
    assert checked[-1]["claims"] == {}
