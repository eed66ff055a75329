"""Patches: a confirmed finding changes its gold in the data set's own row, and nothing else."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from pydantic import JsonValue

from callwright.flows.data_audit.patches import Patch, patch_lines
from callwright.validators.audit.findings import Finding

PAY = {"name": "pay", "arguments": {"to": "Tom", "amount": 20}}


def finding(where: str, **changes: JsonValue) -> Finding:
    one = Finding("key", "item_1", where, 0, "error", "unit", "$20 is 2000 cents.", 1, 0, "pay")
    one = one._replace(argument="amount", gold=20, expected=2000, verdict="confirmed")
    return one._replace(**changes)  # type: ignore[arg-type]


def write(path: Path, *rows: JsonValue) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return path


def patched(found: Iterable[Finding], form: str) -> JsonValue:
    [patch] = patch_lines(found, form)
    assert not patch.problem
    value: JsonValue = json.loads(patch.line)
    return value


def bfcl(folder: Path, *calls: JsonValue) -> str:
    write(
        folder / "possible_answer" / "BFCL_v4_x.json",
        {"id": "a"},
        {"id": "item_1", "ground_truth": [*calls]},
    )
    return f"{write(folder / 'BFCL_v4_x.json', {'id': 'a'}, {'id': 'item_1'})}:2"


def test_of_bfcl_only_the_list_of_the_argument_changes(tmp_path: Path) -> None:
    call = {"pay": {"to": ["Tom", "Thomas"], "amount": [20, 20.0, ""], "note": ["", "lunch"]}}
    where = bfcl(tmp_path, {"pay": {"to": ["Ann"], "amount": [7]}}, call)
    row = patched([finding(where, call=1)], "bfcl")
    assert row == {
        "id": "item_1",
        "ground_truth": [
            {"pay": {"to": ["Ann"], "amount": [7]}},
            {"pay": {"to": ["Tom", "Thomas"], "amount": [2000, ""], "note": ["", "lunch"]}},
        ],
    }


def test_of_bfcl_a_wrong_value_beside_the_gold_leaves_the_list(tmp_path: Path) -> None:
    where = bfcl(tmp_path, {"pay": {"amount": [2000, 20, ""]}})
    for expected, accepted in ((2000, [2000, ""]), (200, [2000, "", 200])):
        row = patched([finding(where, expected=expected)], "bfcl")
        assert row["ground_truth"] == [{"pay": {"amount": accepted}}]


def test_of_bfcl_a_value_within_an_object_keeps_the_lists_around_members(tmp_path: Path) -> None:
    where = bfcl(tmp_path, {"pay": {"body": [{"amount": [20], "by": ["", "card"]}]}})
    row = patched([finding(where, argument="body.amount")], "bfcl")
    assert row["ground_truth"] == [{"pay": {"body": [{"amount": [2000], "by": ["", "card"]}]}}]


def test_of_bfcl_a_missing_call_is_added_and_the_others_keep_all_that_is_accepted(
    tmp_path: Path,
) -> None:
    call = {"pay": {"to": ["Tom", "Thomas"], "amount": [20]}}
    ann = {"name": "pay", "arguments": {"to": "Ann", "amount": 20}}
    found = finding(bfcl(tmp_path, call), call=-1, argument="", gold=[PAY], expected=[PAY, ann])
    row = patched([found], "bfcl")
    assert row["ground_truth"] == [call, {"pay": {"to": ["Ann"], "amount": [20]}}]


ROWS: dict[str, tuple[str, JsonValue, JsonValue]] = {
    "a chat with its arguments as text": (
        "openai",
        {"messages": [{"role": "user", "content": "20"}, {"tool_calls": [{"function": {"name": "pay", "arguments": '{"to": "Tom", "amount": 20}'}}]}], "tools": [{"name": "pay", "description": "", "parameters": {"amount": 20}}]},
        {"messages": [{"role": "user", "content": "20"}, {"tool_calls": [{"function": {"name": "pay", "arguments": '{"to": "Tom", "amount": 2000}'}}]}], "tools": [{"name": "pay", "description": "", "parameters": {"amount": 20}}]},
    ),
    "a record of ours": (
        "records",
        {"key": "k", "sample": {"turns": [{"calls": [{"tool": "pay", "arguments": {"amount": 20}}]}]}},
        {"key": "k", "sample": {"turns": [{"calls": [{"tool": "pay", "arguments": {"amount": 2000}}]}]}},
    ),
    "an answer of xLAM's": (
        "xlam",
        {"id": 3, "answers": json.dumps([{"name": "look", "arguments": {"amount": 20}}, PAY])},
        {"item": "item_1", "patch": [
            {"op": "test", "path": "/answers", "value": json.dumps([{"name": "look", "arguments": {"amount": 20}}, PAY])},
            {"op": "replace", "path": "/answers", "value": json.dumps([{"name": "look", "arguments": {"amount": 20}}, {**PAY, "arguments": {"to": "Tom", "amount": 2000}}])},
        ]},
    ),
    "a plan with names and parameters apart": (
        "callnavi",
        {"id": "item_1", "ground_truth": {"API": ["look", "pay"], "parameters": [{}, {"amount": 20}]}},
        {"id": "item_1", "ground_truth": {"API": ["look", "pay"], "parameters": [{}, {"amount": 2000}]}},
    ),
    "calls in Python's notation": (
        "other",
        {"truth": [["look(amount=20)", "pay(to='Tom', amount=20)"]]},
        {"item": "item_1", "patch": [
            {"op": "test", "path": "/truth/0/1", "value": "pay(to='Tom', amount=20)"},
            {"op": "replace", "path": "/truth/0/1", "value": "pay(to='Tom', amount=2000)"},
        ]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_the_value_is_changed_where_the_row_has_it(tmp_path: Path, name: str) -> None:
    form, before, after = ROWS[name]
    file = write(tmp_path / "rows.jsonl", {"other": 1}, before)
    row = patched([finding(f"{file}:2")], form if form != "other" else "xlam")
    assert isinstance(row, dict)
    row.pop("place", None)
    assert row == after


def test_in_a_conversation_the_turn_tells_which_of_equal_values_is_meant(tmp_path: Path) -> None:
    label = {"role": "function call", "content": PAY}
    tool = {
        "name": "pay",
        "description": "Pay.",
        "parameters": {
            "type": "object",
            "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}},
        },
    }
    said = [
        {"role": "user", "content": "Tom, 20"},
        label,
        {"role": "user", "content": "Go on"},
        label,
    ]
    row = {"id": "ID_1", "messages": said, "single_tool": [tool], "multiple_tools": [tool]}
    file = write(tmp_path / "en" / "mQmA.json", row, row)
    changed = patched([finding(f"{file}:1", turn=3)], "hammerbench")
    assert isinstance(changed, dict)
    amounts = [one["content"]["arguments"]["amount"] for one in changed["messages"][1::2]]
    assert amounts == [20, 2000]


def test_what_is_not_confirmed_or_has_no_right_value_makes_no_line(tmp_path: Path) -> None:
    where = f"{write(tmp_path / 'rows.jsonl', PAY)}:1"
    for one in (
        finding(where, verdict=""),
        finding(where, verdict="refused"),
        finding(where, expected=None),
    ):
        assert [*patch_lines([one], "openai")] == []


def test_a_gold_that_is_not_there_once_is_a_problem(tmp_path: Path) -> None:
    where = f"{write(tmp_path / 'rows.jsonl', {'calls': [PAY, PAY]}, {})}"
    for place in (f"{where}:1", f"{where}:2", f"{where}:3"):
        [patch] = patch_lines([finding(place)], "xlam")
        assert not patch.line
        assert patch == Patch("item_1", problem=patch.problem)
        assert place in patch.problem
