"""Traces are read trace by trace, wherever their spans stand: OpenTelemetry's, Langfuse's,
ATIF's, and Inspect's logs.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from callwright.generators.imports.reading import Signals
from callwright.generators.taken import CALL, CONVERSATION
from callwright.warehouse.records import ReplyTurn, ResultTurn
from tests.unit.generators.test_sources import WEATHER, read, written

USER = {"role": "user", "parts": [{"type": "text", "content": "Weather in Ulm?"}]}
CALLED = {
    "role": "assistant",
    "finish_reason": "tool_call",
    "parts": [
        {"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": {"city": "Ulm"}}
    ],
}
RETURNED = {
    "role": "tool",
    "parts": [{"type": "tool_call_response", "id": "c1", "response": {"degrees": 7}}],
}
SAID = {
    "role": "assistant",
    "parts": [{"type": "text", "content": "7 degrees."}],
    "finish_reason": "stop",
}


def span(trace: str, began: int, **attributes: Any) -> dict[str, Any]:
    named = {f"gen_ai.{name.replace('__', '.')}": value for name, value in attributes.items()}
    return {
        "name": "chat",
        "context": {"trace_id": trace, "span_id": str(began)},
        "start_time": f"2026-01-01T00:00:{began:02}Z",
        "attributes": named,
    }


def chat(trace: str, began: int, before: list[Any], after: Any) -> dict[str, Any]:
    tools = json.dumps([{"type": "function", **WEATHER.signature}])
    return span(
        trace,
        began,
        operation__name="chat",
        input__messages=json.dumps(before),
        output__messages=json.dumps([after]),
        tool__definitions=tools,
        system_instructions=json.dumps([{"type": "text", "content": "Be kind."}]),
    )


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    def value(one: Any) -> dict[str, Any]:
        return {"stringValue": one} if isinstance(one, str) else {"intValue": str(one)}

    listed = [
        {
            "traceId": one["context"]["trace_id"],
            "spanId": one["context"]["span_id"],
            "startTimeUnixNano": one["start_time"][-3:-1],
            "attributes": [
                {"key": name, "value": value(given)} for name, given in one["attributes"].items()
            ],
            "status": one.get("status", {}),
        }
        for one in spans
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": listed}]}]}


FIRST, LAST = chat("a", 1, [USER], CALLED), chat("a", 5, [USER, CALLED, RETURNED], SAID)
OTHER = chat("b", 2, [USER], CALLED)
TOOL = span(
    "b",
    3,
    operation__name="execute_tool",
    tool__name="get_weather",
    tool__call__id="c1",
    tool__call__result='{"degrees": 9}',
)


@pytest.mark.parametrize("form", ["spans", "otlp lines", "otlp document"])
def test_spans_of_a_trace_are_one_conversation_wherever_they_stand(
    form: str, tmp_path: Path
) -> None:
    path = tmp_path / "spans.jsonl"
    if form == "spans":
        written(path, FIRST, OTHER, "<html>", TOOL, LAST)
    elif form == "otlp lines":
        written(path, otlp(FIRST, OTHER), "<html>", otlp(TOOL, LAST))
    else:
        path.write_text(json.dumps(otlp(FIRST, OTHER, TOOL, LAST), indent=1), encoding="utf-8")
    records = read("otel", path)
    first, second = [one for one in records if one.sample is not None]
    assert [one.problems[0].where[-2:] for one in records if one.sample is None] == (
        [] if "document" in form else [f":{3 if form == 'spans' else 2}"]
    )
    assert first.sample is not None
    assert second.sample is not None
    assert [turn.kind for turn in first.sample.turns] == ["user", "calls", "result", "reply"]
    assert first.sample.turns[-1] == ReplyTurn(text="7 degrees.")
    assert (first.sample.system_message, first.sample.kind) == ("Be kind.", CONVERSATION)
    assert second.sample.turns[-1] == ResultTurn(results=({"degrees": 9},))
    assert [tool.name for tool in first.tools] == ["get_weather"]


def test_a_span_that_failed_is_a_signal_and_one_without_messages_a_reason(tmp_path: Path) -> None:
    failed = OTHER | {"status": {"status_code": "ERROR", "description": "timeout"}}
    empty = span("c", 4, operation__name="chat")
    first, second = read("otel", written(tmp_path / "spans.jsonl", failed, empty))
    assert first.signals == Signals("error", "timeout", "")
    assert "content is captured" in second.problems[0].message


def test_attributes_of_older_instrumentations_are_read(tmp_path: Path) -> None:
    flat = span(
        "a",
        1,
        prompt__0__role="user",
        prompt__0__content="Weather in Ulm?",
        completion__0__role="assistant",
        completion__0__tool_calls__0__name="get_weather",
        completion__0__tool_calls__0__arguments='{"city": "Ulm"}',
    )
    [record] = read("otel", written(tmp_path / "spans.jsonl", flat, "{}"))[:1]
    assert record.sample is not None, record.problems
    assert [(one.tool, one.arguments) for one in record.sample.gold] == [
        ("get_weather", {"city": "Ulm"})
    ]
    inference = {
        "context": {"trace_id": "z"},
        "attributes": {
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Weather in Ulm?",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "get_weather",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": (
                '{"city": "Ulm"}'
            ),
            "llm.tools.0.tool.json_schema": json.dumps(
                {"type": "function", "function": WEATHER.signature}
            ),
        },
    }
    [record] = read("otel", written(tmp_path / "other.jsonl", inference))
    assert record.sample is not None, record.problems
    assert [(one.tool, one.arguments) for one in record.sample.gold] == [
        ("get_weather", {"city": "Ulm"})
    ]
    assert [tool.name for tool in record.tools] == ["get_weather"]


MADE = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c", "function": {"name": "get_weather", "arguments": '{"city": "Ulm"}'}}
    ],
}
ASKED = [{"role": "user", "content": "Weather in Ulm?"}]


@pytest.mark.parametrize("form", ["trace", "observations"])
def test_langfuses_generations_are_conversations_with_their_scores(
    form: str, tmp_path: Path
) -> None:
    tools = [{"type": "function", "function": WEATHER.signature}]
    generation = {
        "id": "g",
        "type": "GENERATION",
        "startTime": "1",
        "level": "DEFAULT",
        "input": {"messages": ASKED, "tools": tools},
        "output": MADE,
    }
    event = {
        "id": "s",
        "type": "SPAN",
        "startTime": "0",
        "level": "ERROR",
        "statusMessage": "tool timed out",
    }
    scores = [{"name": "user-feedback", "value": 0}]
    if form == "trace":
        path = tmp_path / "trace.json"
        path.write_text(
            json.dumps({"id": "t", "observations": [event, generation], "scores": scores}),
            encoding="utf-8",
        )
    else:
        snake = {
            "trace_id": "t",
            "type": "GENERATION",
            "start_time": "1",
            "input": json.dumps({"messages": ASKED, "tools": tools}),
            "output": json.dumps(MADE),
            "scores": scores,
        }
        path = written(tmp_path / "observations.jsonl", snake, {**event, "trace_id": "t"})
    [record] = read("langfuse", path)
    assert record.sample is not None, record.problems
    assert record.sample.kind == CALL
    assert record.signals == Signals("error", "tool timed out", "0")
    assert [tool.name for tool in record.tools] == ["get_weather"]


TRAJECTORY: dict[str, Any] = {
    "schema_version": "ATIF-v1.6",
    "session_id": "s",
    "agent": {
        "name": "helper",
        "version": "1",
        "tool_definitions": [{"type": "function", "function": WEATHER.signature}],
    },
    "steps": [
        {"step_id": 1, "source": "user", "message": "Weather in Ulm?"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "",
            "reasoning_content": "Hm.",
            "tool_calls": [
                {"tool_call_id": "c", "function_name": "get_weather", "arguments": {"city": "Ulm"}}
            ],
            "observation": {"results": [{"source_call_id": "c", "content": '{"degrees": 7}'}]},
        },
        {"step_id": 3, "source": "agent", "message": "7 degrees."},
    ],
}


def test_a_trajectory_keeps_its_steps_with_what_they_observed(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps(TRAJECTORY, indent=1), encoding="utf-8")
    [record] = read("atif", path)
    assert record.sample is not None, record.problems
    assert [turn.kind for turn in record.sample.turns] == ["user", "calls", "result", "reply"]
    assert record.sample.turns[2] == ResultTurn(results=({"degrees": 7},))


def test_a_log_that_cant_be_unpacked_here_says_what_to_install(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("samples/1_epoch_1.json", "{}")
    strange = (95).to_bytes(2, "little")  # a way of compressing that no Python knows
    packed = path.read_bytes()
    for head, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        place = packed.index(head) + at
        packed = packed[:place] + strange + packed[place + 2 :]
    path.write_bytes(packed)
    [record] = read("inspect", path)
    assert record.sample is None
    assert "pip install zipfile-zstd" in record.problems[0].message


@pytest.mark.parametrize("form", ["json", "eval"])
def test_logs_of_inspect_have_their_samples_with_tools_and_scores(
    form: str, tmp_path: Path
) -> None:
    tool = {"name": "get_weather", "description": "", "parameters": WEATHER.parameters}
    logged = {
        "id": 1,
        "epoch": 1,
        "input": "Weather in Ulm?",
        "target": "7",
        "messages": [
            *ASKED,
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {
                        "id": "c",
                        "function": "get_weather",
                        "arguments": {"city": "Ulm"},
                        "type": "function",
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c", "function": "get_weather", "content": "7"},
            {"role": "assistant", "content": "7 degrees."},
        ],
        "events": [{"event": "model", "tools": [tool]}],
        "scores": {"match": {"value": "I"}},
    }
    if form == "json":
        path = tmp_path / "log.json"
        path.write_text(
            json.dumps({"version": 2, "eval": {}, "samples": [logged]}), encoding="utf-8"
        )
    else:
        path = tmp_path / "log.eval"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("header.json", "{}")
            archive.writestr("samples/1_epoch_1.json", json.dumps(logged))
    [record] = read("inspect", path)
    assert record.sample is not None, record.problems
    assert (record.sample.kind, record.signals.outcome) == (CONVERSATION, "incorrect")
    assert [one.name for one in record.tools] == ["get_weather"]


MADE_CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
BLOCKS = [{"text": "I look."}, {"toolUse": {"toolUseId": "c1", "name": "get_weather", "input": {}}}]
RESULT_BLOCKS = [{"toolResult": {"toolUseId": "c1", "content": [{"text": "7"}]}}]
MADE_CHOICE = {"index": 0, "finish_reason": "tool_calls", "message": {"tool_calls": [MADE_CALL]}}
EVENTS: dict[str, list[tuple[str, Any]]] = {
    "attributes": [
        ("gen_ai.system.message", {"content": "Be kind."}),
        ("gen_ai.user.message", {"content": "Weather?"}),
        ("gen_ai.assistant.message", {"tool_calls": json.dumps([MADE_CALL])}),
        ("gen_ai.tool.message", {"id": "c1", "content": "7"}),
        (
            "gen_ai.choice",
            {"index": 0, "finish_reason": "stop", "message": json.dumps({"content": "7 degrees."})},
        ),
    ],
    "content": [
        (
            "gen_ai.user.message",
            {"gen_ai.event.content": '{"role": "user", "content": "Weather?"}'},
        ),
        ("gen_ai.choice", {"gen_ai.event.content": json.dumps(MADE_CHOICE)}),
    ],
    "bedrock": [
        ("gen_ai.user.message", {"content": json.dumps([{"text": "Weather?"}])}),
        ("gen_ai.assistant.message", {"content": json.dumps(BLOCKS)}),
        ("gen_ai.user.message", {"content": json.dumps(RESULT_BLOCKS)}),
        (
            "gen_ai.choice",
            {"finish_reason": "end_turn", "message": json.dumps([{"text": "7 degrees."}])},
        ),
    ],
    "whole": [
        (
            "gen_ai.content.prompt",
            {"gen_ai.prompt": json.dumps([{"role": "user", "content": "Weather?"}])},
        ),
        (
            "gen_ai.content.completion",
            {"gen_ai.completion": json.dumps({"role": "assistant", "tool_calls": [MADE_CALL]})},
        ),
    ],
    "no choice": [
        ("gen_ai.user.message", {"content": "Weather?"}),
        ("gen_ai.assistant.message", {"tool_calls": json.dumps([MADE_CALL])}),
    ],
}


def with_events(form: str) -> dict[str, Any]:
    named = [{"name": name, "attributes": given} for name, given in EVENTS[form]]
    tools = [{"type": "function", **WEATHER.signature}]
    return {
        **span("a", 1, operation__name="chat", tool__definitions=json.dumps(tools)),
        "events": named,
    }


@pytest.mark.parametrize("form", EVENTS)
def test_what_was_said_is_read_from_the_events_of_a_span(form: str, tmp_path: Path) -> None:
    [record] = read("otel", written(tmp_path / "spans.jsonl", with_events(form), "<html>"))[-1:]
    assert record.sample is not None, record.problems
    assert [one.tool for one in record.sample.all_calls] == ["get_weather"]
    assert record.sample.request == "Weather?"
    is_whole = form in ("attributes", "bedrock")
    assert record.sample.kind == (CONVERSATION if is_whole else CALL)
    assert (record.sample.turns[-1] == ReplyTurn(text="7 degrees.")) == is_whole


def test_events_in_an_attribute_of_the_span_are_read(tmp_path: Path) -> None:
    listed = [{"event.name": name, **given} for name, given in EVENTS["no choice"]]
    chat_span = with_events("no choice") | {"events": []}
    chat_span["attributes"] |= {"events": json.dumps(listed)}
    [record] = read("otel", written(tmp_path / "spans.jsonl", chat_span, "<html>"))[-1:]
    assert record.sample is not None, record.problems
    assert [one.tool for one in record.sample.all_calls] == ["get_weather"]


def test_records_of_a_log_are_joined_by_their_span(tmp_path: Path) -> None:
    def logged(at: int, name: str, body: dict[str, Any]) -> dict[str, Any]:
        fields = [{"key": key, "value": {"stringValue": one}} for key, one in body.items()]
        record = {
            "timeUnixNano": str(at),
            "traceId": "a",
            "spanId": "1",
            "eventName": name,
            "body": {"kvlistValue": {"values": fields}},
        }
        return {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}

    told = [
        logged(3, "gen_ai.choice", {"message": json.dumps({"tool_calls": [MADE_CALL]})}),
        logged(2, "gen_ai.user.message", {"content": "Weather?"}),
    ]
    spans = otlp(with_events("no choice"))  # the protocol's own form without events
    [record] = read("otel", written(tmp_path / "logs.jsonl", *told, spans))
    assert record.sample is not None, record.problems
    assert (record.sample.request, [one.tool for one in record.sample.all_calls]) == (
        "Weather?",
        ["get_weather"],
    )
    assert [one.name for one in record.tools] == ["get_weather"]


def test_an_event_of_no_message_and_one_that_breaks_tell_nothing(tmp_path: Path) -> None:
    odd = with_events("attributes")
    odd["events"] = [
        7,
        {"name": "exception", "attributes": {"exception.message": "no"}},
        {"name": "gen_ai.user.message", "attributes": {"content": 7}},
        {"name": "gen_ai.choice", "attributes": {"message": "[1"}},
    ]
    [record] = read("otel", written(tmp_path / "spans.jsonl", odd))
    assert record.sample is None
    assert record.problems
