"""Audits of bad files: what can't be read is told by line, and the rest is audited."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright.flows.api.auditing import audit
from callwright.generators.imports.guessing import format_of
from callwright.warehouse.errors import ConfigurationError
from tests.integration.flows.test_data_audits import TOOL, bfcl_file

OPENAI_TOOL = {
    "type": "function",
    "function": {
        "name": "book_table",
        "description": "Book a table.",
        "parameters": {"type": "object", "properties": {"guests": {"type": "integer"}}},
    },
}


def chat(arguments: str, **fields: object) -> dict[str, Any]:
    """Return a row of OpenAI's form whose gold has these arguments, as text."""
    call = {"id": "1", "type": "function"}
    call |= {"function": {"name": "book_table", "arguments": arguments}}  # type: ignore[dict-item]
    said = {"role": "user", "content": "Book a table for 5 guests."}
    asked = [said, {"role": "assistant", "content": None, "tool_calls": [call]}]
    return {"messages": asked, "tools": [OPENAI_TOOL], **fields}


def jsonl(path: Path, *rows: object) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def unreadable(path: Path, form: str, home: Path) -> tuple[int, list[int], bool]:
    """Return how many records an audit read, the lines that it could not, and whether it failed."""
    found = audit(path, format=form, home=home)
    lines = [one.line for one in found if one.sort == "unreadable"]
    return found.records, sorted(lines), found.failed


def test_half_a_file_is_told_at_its_line(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "half.jsonl", chat('{"guests": 5}'), chat('{"guests": 5}'))
    path.write_bytes(path.read_bytes()[:-40])
    assert unreadable(path, "openai", tmp_path / "home") == (2, [2], True)


def test_rows_of_another_format_and_golds_that_are_no_json_are_told_by_line(tmp_path: Path) -> None:
    right = chat('{"guests": 5}')
    other = {"id": "x", "question": [[]], "function": [TOOL]}
    path = jsonl(tmp_path / "mixed.jsonl", right, other, chat("{guests"), "[]", right)
    records, lines, failed = unreadable(path, "openai", tmp_path / "home")
    assert (records, failed) == (5, True)
    assert set(lines) == {2, 3, 4}


def test_an_item_without_tools_is_told_and_the_others_are_audited(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "bare.jsonl", chat('{"guests": 5}', tools=[]), chat('{"guests": "x"}'))
    found = audit(path, format="openai", home=tmp_path / "home")
    assert {(one.line, one.severity) for one in found} == {(1, "note"), (2, "error")}


def test_the_format_is_the_one_that_reads_the_first_records(tmp_path: Path) -> None:
    assert format_of(bfcl_file(tmp_path, [5])) == "bfcl"
    assert format_of(jsonl(tmp_path / "chats.jsonl", chat("{}"))) == "openai"
    with pytest.raises(ConfigurationError, match="--format; the formats are"):
        format_of(jsonl(tmp_path / "other.jsonl", {"a": 1}))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(_JSON, min_size=1, max_size=3), parts=st.data())
def test_no_row_stops_an_audit(tmp_path: Path, rows: list[Any], parts: st.DataObject) -> None:
    row = chat(json.dumps(rows[0]))
    place = parts.draw(st.sampled_from(["messages", "tools", "function", "parameters"]))
    if place in row:
        row[place] = rows[-1]
    else:
        tool = json.loads(json.dumps(OPENAI_TOOL))
        (tool if place == "function" else tool["function"])[place] = rows[-1]
        row["tools"] = [tool]
    path = jsonl(tmp_path / "odd.jsonl", row, *rows)
    found = audit(path, format="openai", home=tmp_path / "home", again=True)
    assert found.records == 1 + len(rows)
