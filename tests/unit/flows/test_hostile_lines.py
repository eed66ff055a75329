"""Whatever stands in a line, `check requests` and `check records` answer it; nothing of it ends
the run.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright.flows.data_checks import find_records, find_requests
from callwright.flows.settings import read_settings
from tests.unit.generators.test_hostile_sources import JSON, RECORD, places, replaced

REQUEST = {
    "id": "a",
    "language": "en",
    "request": "What is the weather in Ulm for 3 days?",
    "arguments": {"city": "Ulm", "days": 3},
    "tool": {
        "name": "get_weather",
        "description": "",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
SETTINGS = read_settings({})
LINES = [
    '{"id": 1, "id": 2}',
    '{"id": NaN}',
    '{"id": 1' + "0" * 40 + "}",
    '{"id": "\\ud800"}',
    "[" * 5000,
    "<html>",
    "1",
]


def mutated(data: st.DataObject, row: Any) -> Any:
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([*places(row)]))
        row = replaced(row, path, data.draw(JSON))
    return row


def in_file(folder: Path, *lines: str) -> Path:
    path = folder / "lines.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_a_request_with_anything_in_it_is_answered(
    tmp_path: Path, data: st.DataObject
) -> None:
    path = in_file(tmp_path, json.dumps(mutated(data, REQUEST)), json.dumps(REQUEST))
    assert len([one async for one in find_requests(path, "", SETTINGS)]) == 2


@pytest.mark.parametrize("line", LINES)
async def test_a_line_that_can_not_be_read_is_an_answer_of_its_own(
    tmp_path: Path, line: str
) -> None:
    path = in_file(tmp_path, line, json.dumps(REQUEST))
    wrong, good = [one async for one in find_requests(path, "", SETTINGS)]
    assert (wrong.decision, good.arguments["city"]) == ("contradicted", "said")
    path = in_file(tmp_path, line, json.dumps(RECORD))
    wrong_record, good_record = [one async for one in find_records(path, "", SETTINGS)]
    assert (wrong_record.decision, bool(good_record.key)) == ("contradicted", True)
