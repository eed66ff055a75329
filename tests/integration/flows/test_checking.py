"""`callwright check`: other people's data through our checks."""

import json
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

from callwright.flows.cli.main import app
from callwright.validators.checks.table import all_checks

TOOL = {
    "name": "Travel.Taxi.order",
    "description": "Order a taxi.",
    "parameters": {
        "type": "object",
        "properties": {
            "place": {"type": "string", "description": "Where to."},
            "seats": {"type": "integer"},
        },
        "required": ["place"],
    },
}


def record(text: str, **arguments: object) -> dict[str, object]:
    label = {"name": "Travel.Taxi.order", "arguments": arguments}
    said = [{"role": "user", "content": text}, {"role": "function call", "content": label}]
    return {"messages": said, "multiple_tools": [TOOL]}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLWRIGHT_HOME", str(tmp_path / "home"))
    path = tmp_path / "en" / "ST_Perfect.json"
    path.parent.mkdir()
    records = [
        record("A taxi to Oslo.", place="Oslo"),
        record("A taxi to Oslo.", place="Bergen"),
        record("A taxi to Oslo for 3.", place="Oslo", seats="three"),
    ]
    path.write_bytes(orjson.dumps(records))
    return path


def test_each_record_has_its_verdicts_and_the_summary_counts_them(file: Path) -> None:
    done = CliRunner().invoke(app, ["check", "hammerbench", str(file), "--json"])
    answer = json.loads(done.stdout)
    assert done.exit_code == 0
    assert [one["decision"] for one in answer["records"]] == ["proved", "unproved", "contradicted"]
    assert answer["summary"][-1] == ["all checks", 1, 1, 1]
    assert answer["left_out"] == [check.name for check in all_checks() if check.role]


def test_failures_are_told_by_their_place_in_the_file(file: Path) -> None:
    done = CliRunner().invoke(app, ["check", "hammerbench", str(file), "--failures"])
    assert "#/1  unproved  A taxi to Oslo." in done.stdout
    assert "#/0  " not in done.stdout
    assert str(file.parent) not in done.stdout
    assert "Name one with --model" in done.stderr
