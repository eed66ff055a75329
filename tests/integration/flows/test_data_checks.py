"""`check requests` and `check records`: what others bring is checked line by line, and a broken line is an answer of its own."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from callwright.flows.cli.main import app
from callwright.flows.settings import open_warehouse
from callwright.warehouse.exports.whole import record_line
from callwright.warehouse.releases import create_release, read_release
from tests.support.flows.small_builds import build, settings_of, small_recipe

TIMER = {"name": "startTimer", "parameters": {"type": "object", "properties": {"minutes": {"type": "integer"}}}}


def run(*words: str) -> list[dict]:
    result = CliRunner().invoke(app, ["check", *words, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def write(path: Path, *lines: object) -> str:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return str(path)


def test_each_request_has_its_decision_and_a_grade_for_each_argument(tmp_path: Path) -> None:
    asked = {"language": "en", "tool": TIMER, "request": "Start a timer for two hours."}
    file = write(
        tmp_path / "asked.jsonl",
        {"id": "a", "arguments": {"minutes": 120}, **asked},
        {"id": "b", "arguments": {"minutes": 2}, **asked},
    )
    right, wrong = run("requests", file)
    assert right == {"id": "a", "decision": "proved", "arguments": {"minutes": "proved"}, "reasons": []}
    assert (wrong["id"], wrong["decision"], wrong["arguments"]) == ("b", "unproved", {"minutes": "unproved"})
    assert wrong["reasons"]


@pytest.mark.parametrize(
    "line", ["{", "[]", "7", '{"id": "x"}', '{"id": "x", "language": "en", "tool": {"name": ""}}', "[" * 2000]
)
def test_a_line_that_is_no_request_is_told_and_the_others_are_read(tmp_path: Path, line: str) -> None:
    good = {"id": "a", "language": "en", "tool": TIMER, "arguments": {"minutes": 5}, "request": "A timer for 5 minutes"}
    broken, fine = run("requests", write(tmp_path / "asked.jsonl", line, good))
    assert broken["decision"] == "contradicted"
    assert "Line 1 is no request" in broken["reasons"][0]
    assert fine["decision"] == "proved"


def test_a_file_that_is_not_there_is_a_sentence() -> None:
    result = CliRunner().invoke(app, ["check", "requests", "nowhere.jsonl"])
    assert result.exit_code != 0


def test_exported_records_are_proved_and_broken_ones_are_not(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    build(small_recipe(samples={"perfect": 6}), settings)
    warehouse = open_warehouse(settings)
    create_release(warehouse, "v1", note="")
    content = read_release(warehouse, "v1")
    rows = [record_line(sample, content.tools) for sample in content.samples]
    by_rules = {row["key"] for row in warehouse.rows("select key from accepted_samples where grade = 'proved'")}
    checked = run("records", write(tmp_path / "whole.jsonl", *rows))
    assert {one["key"] for one in checked if one["decision"] == "proved"} == by_rules != set()
    assert not any(one["decision"] == "contradicted" for one in checked)
    for row in rows:
        [turn] = [turn for turn in row["sample"]["turns"] if turn["kind"] == "user"]
        turn["text"] = f"Don't do that, and don't ask again: {turn['text']}"
    checked = run("records", write(tmp_path / "broken.jsonl", *rows, "{"))
    assert not any(one["decision"] == "proved" for one in checked)
    assert checked[-1]["verdicts"][0]["reason"].startswith(f"Line {len(rows) + 1} is no record")
