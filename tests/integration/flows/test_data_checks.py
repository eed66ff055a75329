"""`check requests` and `check records`: what others bring is checked line by line, and a broken
line is an answer of its own.
"""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from callwright.flows.cli.main import app
from callwright.flows.settings import open_warehouse
from callwright.warehouse.exports.formats import record_line
from callwright.warehouse.releases import create_release, read_release
from tests.support.flows.small_builds import build, settings_of, unmeasured_recipe

TIMER = {
    "name": "startTimer",
    "parameters": {"type": "object", "properties": {"minutes": {"type": "integer"}}},
}


def run(*words: str) -> list[dict]:
    result = CliRunner().invoke(app, ["check", *words, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def write(path: Path, *lines: object) -> str:
    path.write_text(
        "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines),
        encoding="utf-8",
    )
    return str(path)


def test_without_a_model_a_request_is_open_or_contradicted(tmp_path: Path) -> None:
    asked = {"language": "en", "tool": TIMER, "request": "Start a timer for two hours."}
    file = write(
        tmp_path / "asked.jsonl",
        {"id": "a", "arguments": {"minutes": 120}, **asked},
        {"id": "b", "arguments": {"minutes": 2}, **asked},
        {"id": "c", "arguments": {"minutes": "120"}, **asked},
        {"id": "d", "arguments": {"hours": 2}, **asked},
    )
    right, *wrong = run("requests", file)
    assert right == {
        "id": "a",
        "decision": "open",
        "arguments": {"minutes": "said"},
        "written": None,
        "reasons": [],
    }
    assert {one["decision"] for one in wrong} == {"contradicted"}
    assert wrong[0]["arguments"] == {"minutes": "contradicted"}
    assert [one["reasons"][0] for one in wrong] == [
        "'two hours' says another value than minutes = 2.",
        "The value of 'minutes', '120', does not fit: '120' is not of type 'integer'.",
        "The tool 'startTimer' declares no parameter 'hours'.",
    ]


def test_a_request_may_have_several_tools_a_system_message_and_a_time(tmp_path: Path) -> None:
    book = {
        "name": "book",
        "parameters": {"type": "object", "properties": {"card": {}, "day": {"format": "date"}}},
    }
    asked = {
        "id": "a",
        "language": "en",
        "tools": [TIMER, book],
        "request": "Book it for tomorrow.",
        "now": "2026-11-23",
    }
    asked |= {
        "system": "The user's card is C-77.",
        "arguments": {"card": "C-77", "day": "2026-11-24"},
    }
    file = write(
        tmp_path / "asked.jsonl", {**asked, "tool": "book"}, {**asked, "tool": "pay"}, asked
    )
    named, *others = run("requests", file)
    assert (named["decision"], named["arguments"]) == ("open", {"card": "derived", "day": "said"})
    assert all("`tool` has to name one of them" in one["reasons"][0] for one in others)


def test_formats_that_people_leave_out_contradict_nothing(tmp_path: Path) -> None:
    tool = {
        "name": "plan",
        "parameters": {
            "type": "object",
            "properties": {"at": {"type": "string", "format": "date-time"}},
        },
    }
    asked = {"id": "a", "language": "en", "tool": tool, "request": "On 2026-11-24 at 15:00."}
    [found] = run(
        "requests",
        write(tmp_path / "asked.jsonl", {**asked, "arguments": {"at": "2026-11-24T15:00:00"}}),
    )
    assert (found["decision"], found["arguments"]) == ("open", {"at": "said"})


def test_a_model_reads_what_words_ask_for(tmp_path: Path) -> None:
    asked = {"language": "en", "tool": TIMER, "arguments": {"minutes": 120}}
    file = write(
        tmp_path / "asked.jsonl",
        {"id": "a", "request": "Start a timer. The minutes: 120.", **asked},
        {"id": "b", "request": "Don't start a timer for two hours if it rains.", **asked},
    )
    right, wrong = run("requests", file, "--model", "template/v1")
    assert (right["decision"], right["reasons"]) == ("judged", [])
    assert (wrong["decision"], wrong["arguments"]) == ("doubted", {"minutes": "said"})


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "7",
        '{"id": "x"}',
        '{"id": "x", "language": "en", "tool": {"name": ""}}',
        "[" * 2000,
    ],
)
def test_a_line_that_is_no_request_is_told_and_the_others_are_read(
    tmp_path: Path, line: str
) -> None:
    good = {
        "id": "a",
        "language": "en",
        "tool": TIMER,
        "arguments": {"minutes": 5},
        "request": "A timer for 5 minutes",
    }
    broken, fine = run("requests", write(tmp_path / "asked.jsonl", line, good))
    assert broken["decision"] == "contradicted"
    assert "Line 1 is no request" in broken["reasons"][0]
    assert fine["arguments"] == {"minutes": "said"}


def test_exported_records_keep_what_they_rest_on_and_broken_ones_do_not(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    build(unmeasured_recipe(samples={"perfect": 6}), settings)
    warehouse = open_warehouse(settings)
    create_release(warehouse, "v1", note="")
    content = read_release(warehouse, "v1")
    rows = [record_line(sample, content.tools) for sample in content.samples]
    file = write(tmp_path / "whole.jsonl", *rows)
    by_rules = run("records", file)
    assert {one["decision"] for one in by_rules} == {"open"}
    assert {standing for one in by_rules for standing in one["arguments"].values()} <= {
        "said",
        "derived",
    }
    read = run("records", file, "--model", "template/v1")
    assert {one["decision"] for one in read} == {"judged"}
    for row in rows:
        [turn] = [turn for turn in row["sample"]["turns"] if turn["kind"] == "user"]
        turn["text"] = f"Don't do that, and don't ask again: {turn['text']}"
    checked = run("records", write(tmp_path / "broken.jsonl", *rows, "{"), "--model", "template/v1")
    assert not any(one["decision"] in ("proved", "judged") for one in checked)
    assert checked[-1]["verdicts"][0]["reason"].startswith(f"Line {len(rows) + 1} is no record")
    assert checked[-1]["arguments"] == {}
