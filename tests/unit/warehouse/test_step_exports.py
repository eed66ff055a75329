"""Rows of single steps and of whole conversations, held against what their readers' public code
asks of each.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from jinja2.sandbox import SandboxedEnvironment
from jsonschema import Draft202012Validator

from callwright.warehouse.exports.examples import TOGETHER, TrainingExample, examples_of
from callwright.warehouse.exports.formats import export_release
from callwright.warehouse.exports.hugging_face import COLUMNS, hugging_face_row
from callwright.warehouse.exports.measuring import inspect_row
from callwright.warehouse.exports.training import nemo_gym_row, sharegpt_row
from callwright.warehouse.exports.trl import trl_row
from callwright.warehouse.exports.writing import LeftOutRow
from callwright.warehouse.records import CallTurn, GoldCall, ReplyTurn, ResultTurn, UserTurn
from callwright.warehouse.releases import ReleaseContent
from tests.support.warehouse.exported import stream_of

RIDE = "出行.打车/now!"
Row = dict[str, Any]


@pytest.fixture
def travelled(content: ReleaseContent) -> ReleaseContent:
    """The small release with a conversation of calls that were carried out."""
    rides = tuple(GoldCall(tool=RIDE, arguments={"place": place}) for place in ("Voss", "Oslo"))
    turns = (
        UserTurn(text="Two rides."),
        ReplyTurn(text="Where to?"),
        UserTurn(text="Voss and Oslo."),
        CallTurn(calls=rides, executed=True),
        ResultTurn(results=("ordered", {"id": 7})),
        ReplyTurn(text="Both are ordered."),
    )
    sample = content.samples[0].with_changes(
        kind="conversation", turns=turns, system_message="Be brief."
    )
    return content._replace(samples=(*content.samples, sample))


def steps(content: ReleaseContent) -> list[TrainingExample]:
    return examples(content)


def wholes(content: ReleaseContent) -> list[TrainingExample]:
    return examples(content, are_whole=True)


def examples(content: ReleaseContent, *, are_whole: bool = False) -> list[TrainingExample]:
    source = stream_of(content)
    found = (
        one
        for sample in content.samples
        for one in examples_of(sample, source, are_whole=are_whole)
    )
    return [one for one in found if isinstance(one, TrainingExample)]


def test_of_a_conversation_the_longest_row_holds_the_shorter_ones(
    travelled: ReleaseContent,
) -> None:
    [whole] = [one for one in wholes(travelled) if one.sample.kind == "conversation"]
    assert [one["role"] for one in whole.messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    assert len([one for one in steps(travelled) if one.sample.kind == "conversation"]) == 3


LLAMA = """
{%- for message in messages %}
{%- if 'tool_calls' in message and message.tool_calls | length != 1 %}
{{- raise_exception("This model only supports single tool-calls at once!") }}
{%- endif %}
{{- message.role }}: {{ message.tool_calls[0].function.arguments | tojson
    if 'tool_calls' in message else message.content }}
{% endfor %}"""


def test_parallel_calls_are_one_after_another_for_templates_that_take_one_a_message(
    travelled: ReleaseContent,
) -> None:
    def told(*, in_turn: bool) -> list[str]:
        source = stream_of(travelled)._replace(one_call_at_a_time=in_turn)
        ridden = travelled.samples[-1]
        rows = [
            trl_row(one)
            for one in examples_of(ridden, source, are_whole=True)
            if isinstance(one, TrainingExample)
        ]
        return [template.render(messages=row["messages"]) for row in rows]

    def refuse(why: str) -> None:
        raise ValueError(why)

    template = SandboxedEnvironment().from_string(LLAMA, {"raise_exception": refuse})
    with pytest.raises(ValueError, match="single tool-calls"):
        told(in_turn=False)
    [text] = told(in_turn=True)
    assert text.split("\n")[4:-1] == [
        'assistant: {"place": "Voss"}',
        "tool: ordered",
        'assistant: {"place": "Oslo"}',
        'tool: {"id":7}',
        "assistant: Both are ordered.",
    ]
    row = hugging_face_row(
        travelled.samples[-1], stream_of(travelled).tools, one_call_at_a_time=True
    )
    calls = [json.loads(one["tool_calls"]) for one in row["messages"]]
    assert [len(one) for one in calls] == [0, 0, 0, 0, 1, 0, 1, 0, 0]


def test_parallel_calls_without_results_have_no_place_one_after_another(
    travelled: ReleaseContent,
) -> None:
    source = stream_of(travelled)._replace(one_call_at_a_time=True)
    due = travelled.samples[-1].turns[3].with_changes(executed=False)
    asked = travelled.samples[-1].turns[:3]
    sample = travelled.samples[-1].with_changes(turns=(*asked, due))
    left_out, asks = examples_of(sample, source)
    assert left_out == LeftOutRow("conversation", TOGETHER)
    assert isinstance(asks, TrainingExample)
    assert asks.last["content"] == "Where to?"


def test_what_two_samples_teach_alike_is_taught_once(
    travelled: ReleaseContent, tmp_path: Path
) -> None:
    again = travelled.samples[-1].with_changes(category="Other")
    written = export_release(
        stream_of(travelled._replace(samples=(*travelled.samples, again))), "inspect", tmp_path
    )
    assert written.rows == len(steps(travelled))
    assert ("conversation", "an earlier row teaches the same, word for word", 3) in written.skipped


def test_trl_rows_have_messages_with_arguments_as_objects_and_tools_as_text(
    travelled: ReleaseContent,
) -> None:
    for row in map(trl_row, wholes(travelled)):
        schemas = {
            tool["function"]["name"]: tool["function"]["parameters"]
            for tool in json.loads(row["tools"])
        }
        assert row["messages"][-1]["role"] == "assistant"
        for message in row["messages"]:
            assert isinstance(message["content"], str)
            for call in message.get("tool_calls", ()):
                made = call["function"]
                Draft202012Validator(schemas[made["name"]]).validate(made["arguments"])
            assert message["role"] != "tool" or message["name"] in schemas
    assert all(
        isinstance(value, str)
        for name, value in trl_row(wholes(travelled)[0]).items()
        if name != "messages"
    )


def test_sharegpt_rows_take_turns_as_llama_factory_wants_them(travelled: ReleaseContent) -> None:
    rows = [sharegpt_row(one) for one in wholes(travelled)]
    for row in rows:
        for at, message in enumerate(row["conversations"]):
            assert message["from"] in (("human", "observation"), ("gpt", "function_call"))[at % 2]
            if message["from"] == "function_call":
                made = json.loads(message["value"])
                assert all(
                    set(one) == {"name", "arguments"}
                    for one in (made if isinstance(made, list) else [made])
                )
        assert len(row["conversations"]) % 2 == 0
        assert {tool["name"] for tool in json.loads(row["tools"])}
    travel: Row = rows[-1]
    assert travel["system"] == "Be brief."
    assert json.loads(travel["conversations"][4]["value"]) == ["ordered", {"id": 7}]


def test_nemo_gym_rows_are_requests_and_the_action_that_is_expected(
    travelled: ReleaseContent,
) -> None:
    kinds = set()
    for row in map(nemo_gym_row, steps(travelled)):
        asked, action = row["responses_create_params"], row["expected_action"]
        assert set(asked) == {"input", "tools"}
        assert all(set(tool) >= {"type", "name", "parameters", "strict"} for tool in asked["tools"])
        opened: list[str] = []
        for item in asked["input"]:
            match item["type"]:
                case "function_call":
                    assert set(item) == {"type", "name", "arguments", "call_id"}
                    opened.append(item["call_id"])
                case "function_call_output":
                    assert (set(item), opened.pop(0)) == (
                        {"type", "call_id", "output"},
                        item["call_id"],
                    )
                case _:
                    assert set(item) == {"type", "role", "content"}
        calls = action.get("calls") or ([action] if action["type"] == "function_call" else [])
        assert all(isinstance(json.loads(call["arguments"]), dict) for call in calls)
        kinds.add(action["type"])
    assert kinds == {"message", "function_call", "function_call_batch"}


def test_inspect_rows_are_samples_whose_target_is_the_calls_that_are_due(
    travelled: ReleaseContent,
) -> None:
    rows = [inspect_row(one) for one in steps(travelled)]
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        names = {tool["name"] for tool in row["metadata"]["tools"]}
        assert all(
            set(tool) == {"name", "description", "parameters"} for tool in row["metadata"]["tools"]
        )
        due = json.loads(row["target"])
        assert all(call["name"] in names for call in due)
        assert bool(due) is not bool(row["metadata"]["words"])
        assert row["input"][-1]["role"] in ("user", "tool")


def test_hub_rows_are_text_but_for_lists_of_records(travelled: ReleaseContent) -> None:
    for sample in travelled.samples:
        row = hugging_face_row(sample, travelled.tools)
        assert {*row, "canary"} == set(COLUMNS)
        assert all(set(one) == {"role", "content", "tool_calls"} for one in row["messages"])
        due = [json.loads(one["calls"]) for one in row["snapshots"]]
        assert due == [
            [{"name": call.tool, "arguments": call.arguments} for call in turn.calls]
            for turn in sample.turns
            if isinstance(turn, CallTurn)
        ]
        assert all(one["after"] <= len(row["messages"]) for one in row["snapshots"])
