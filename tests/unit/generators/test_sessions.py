"""Sessions of coding agents, and LangSmith's runs, are read as conversations: what was said, called
and returned, without what the program wrote between.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.generators.imports.guessing import format_of
from callwright.generators.imports.reading import Signals
from callwright.generators.taken import CALLS, CONVERSATION
from callwright.warehouse.records import CallTurn, ReplyTurn, ResultTurn, Sample, UserTurn
from tests.unit.generators.test_sources import WEATHER, read, written

SESSION = {"sessionId": "s", "isSidechain": False, "cwd": "/work", "version": "2.1.220"}


def entry(uuid: str, parent: str | None, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    """A line of a session of Claude Code."""
    message = {"role": kind, "content": content} | more.pop("message", {})
    known = {"parentUuid": parent, "uuid": uuid, "type": kind, "message": message}
    return SESSION | known | more


def text(said: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": said}]


def use(name: str, city: str) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": name, "name": "get_weather", "input": {"city": city}}]


def result(name: str, told: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": name, "content": told}]


ANSWER = {"id": "msg_1", "model": "claude-fixture", "stop_reason": "tool_use"}
# Two calls of one answer are two lines, each with its own result behind it.
CLAUDE = [
    {"type": "summary", "summary": "Weather", "leafUuid": "g"},
    {"type": "file-history-snapshot", "messageId": "a", "snapshot": {}},
    entry("n", None, "user", "<command-name>/clear</command-name>"),
    entry("m", "n", "user", "Caveat: look at the files.", isMeta=True),
    entry("a", "m", "user", "Weather in Ulm and Linz?"),
    entry("x", "a", "assistant", [{"type": "thinking", "thinking": "Hm."}], message=ANSWER),
    entry("b", "x", "assistant", use("c1", "Ulm"), message=ANSWER),
    entry("r1", "b", "user", result("c1", '{"degrees": 7}'), toolUseResult={"degrees": 7}),
    entry("c", "b", "assistant", use("c2", "Linz"), message=ANSWER),
    entry("r2", "c", "user", result("c2", text('{"degrees": 9}'))),
    {**SESSION, "type": "attachment", "uuid": "t", "parentUuid": "r2", "attachment": {}},
    entry("d", "t", "assistant", text("7 and 9 degrees."), message={"id": "msg_2"}),
    entry("e", "d", "assistant", text("API Error: 529"), isApiErrorMessage=True),
]


def turns(sample: Sample | None) -> list[str]:
    assert sample is not None
    return [turn.kind for turn in sample.turns]


def only(form: str, path: Path) -> Sample:
    [record] = read(form, path)
    assert record.sample is not None, record.problems
    return record.sample


def test_a_session_of_claude_code_is_what_was_said_called_and_returned(tmp_path: Path) -> None:
    path = written(tmp_path / "c7d1.jsonl", *CLAUDE)
    [record] = read("claude-code", path)
    assert (record.item, record.line, record.tools) == ("c7d1", 4 - 1, ())
    assert turns(record.sample) == ["user", "calls", "result", "reply"]
    assert record.sample is not None
    asked, called, returned, reply = record.sample.turns
    assert asked == UserTurn(text="Weather in Ulm and Linz?")
    assert isinstance(called, CallTurn)
    assert [one.arguments for one in called.calls] == [{"city": "Ulm"}, {"city": "Linz"}]
    assert returned == ResultTurn(results=({"degrees": 7}, {"degrees": 9}))
    assert reply == ReplyTurn(text="7 and 9 degrees.")
    assert format_of(path) == "claude-code"


def test_what_somebody_went_back_from_is_no_part_of_the_conversation(tmp_path: Path) -> None:
    lines = [
        entry("a", None, "user", "Weather in Ulm?"),
        entry("b", "a", "assistant", text("Sunny, I guess.")),
        entry("c", "b", "user", "Do not guess."),
        entry("d", None, "user", "Weather in Linz?"),
        entry("e", "d", "assistant", use("c1", "Linz")),
        entry("f", "e", "user", result("c1", "9")),
        entry("g", "f", "user", "[Request interrupted by user]"),
    ]
    sample = only("claude-code", written(tmp_path / "s.jsonl", *lines))
    assert (sample.request, turns(sample)) == ("Weather in Linz?", ["user", "calls", "result"])


def test_a_conversation_that_was_summed_up_goes_on_from_what_was_said_before(
    tmp_path: Path,
) -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "k", "parentUuid": None}
    lines = [
        entry("a", None, "user", "Weather in Ulm?"),
        entry("b", "a", "assistant", text("It is sunny.")),
        SESSION | boundary | {"logicalParentUuid": "b"},
        entry("s", "k", "user", "The user asked of Ulm.", isCompactSummary=True),
        entry("c", "s", "user", "And in Linz?"),
        entry("d", "c", "assistant", use("c1", "Linz")),
    ]
    sample = only("claude-code", written(tmp_path / "s.jsonl", *lines))
    assert turns(sample) == ["user", "reply", "user", "calls"]


def test_what_a_subagent_did_is_a_conversation_of_its_own(tmp_path: Path) -> None:
    lines = [
        entry("a", None, "user", "Plan my day."),
        entry("p", None, "user", "Find the weather in Ulm.", isSidechain=True),
        entry("q", "p", "assistant", use("c1", "Ulm"), isSidechain=True),
        entry("b", "a", "assistant", text("Go out.")),
    ]
    main, apart = read("claude-code", written(tmp_path / "s.jsonl", *lines))
    assert turns(main.sample) == ["user", "calls", "reply"]  # nothing is due
    assert turns(apart.sample) == ["user", "calls"]
    assert (main.line, apart.line) == (1, 2)


@pytest.mark.parametrize("form", ["claude-code", "codex"])
def test_a_broken_line_costs_its_session_alone(form: str, tmp_path: Path) -> None:
    good = CLAUDE if form == "claude-code" else CODEX
    written(tmp_path / "a.jsonl", *good[:3], "{", *good[3:])
    written(tmp_path / "b.jsonl", *good)
    (tmp_path / "notes.json").write_text("{}", encoding="utf-8")
    first, second = read(form, tmp_path)
    assert second.sample is not None
    [problem] = first.problems
    assert (problem.where, problem.line) == (f"{tmp_path / 'a.jsonl'}:4", 4)
    assert "is not JSON" in problem.message
    assert problem.message.endswith("its whole session is left out.")


def test_of_a_large_file_of_another_format_the_first_lines_tell(tmp_path: Path) -> None:
    rows = [{"messages": [{"role": "user", "content": "Hi"}]}] * 30
    path = written(tmp_path / "rows.jsonl", *rows, "not read")
    for form in ("claude-code", "codex"):
        [record] = read(form, path)
        assert record.problems[0].kind == "other_format"


def item(**payload: Any) -> dict[str, Any]:
    """A line of a session of Codex: an item of the model's history."""
    return {"timestamp": "2026-05-31T16:21:59.543Z", "type": "response_item", "payload": payload}


def event(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-05-31T16:21:59.543Z", "type": "event_msg", "payload": payload}


def typed(said: str) -> list[dict[str, Any]]:
    """The two lines of what a user types."""
    content = [{"type": "input_text", "text": said}]
    return [
        item(type="message", role="user", content=content),
        event(type="user_message", message=said),
    ]


def called(name: str, city: str) -> dict[str, Any]:
    arguments = json.dumps({"city": city})
    return item(type="function_call", name="get_weather", arguments=arguments, call_id=name)


CONTEXT = "<environment_context>\n  <cwd>/work</cwd>\n</environment_context>"
TOOL = {"name": "get_weather", "description": "Weather.", "input_schema": WEATHER.parameters}
CODEX = [
    {
        "timestamp": "2026-05-31T16:21:58.000Z",
        "type": "session_meta",
        "payload": {"id": "u", "base_instructions": {"text": "Be brief."}, "dynamic_tools": [TOOL]},
    },
    item(type="message", role="user", content=[{"type": "input_text", "text": CONTEXT}]),
    *typed("Weather in Ulm?"),
    {"type": "turn_context", "payload": {"model": "fixture"}},
    item(type="reasoning", summary=[], encrypted_content="gAAA"),
    called("c1", "Ulm"),
    event(type="token_count", info=None),
    item(type="function_call_output", call_id="c1", output='{"degrees": 7}'),
    item(type="message", role="assistant", content=[{"type": "output_text", "text": "7 degrees."}]),
    event(type="agent_message", message="7 degrees."),
]


def test_a_session_of_codex_is_what_was_typed_called_and_returned(tmp_path: Path) -> None:
    path = written(tmp_path / "rollout-2026.jsonl", *CODEX)
    [record] = read("codex", path)
    assert record.sample is not None, record.problems
    assert turns(record.sample) == ["user", "calls", "result", "reply"]
    assert record.sample.request == "Weather in Ulm?"
    assert record.sample.system_message == f"Be brief.\n{CONTEXT}"
    assert record.sample.turns[2] == ResultTurn(results=({"degrees": 7},))
    assert [tool.name for tool in record.tools] == ["get_weather"]
    assert (record.sample.kind, record.item) == (CONVERSATION, "rollout-2026")
    assert format_of(path) == "codex"


def test_what_the_user_took_back_is_no_part_of_a_session(tmp_path: Path) -> None:
    lines = [
        *CODEX,
        *typed("And in Linz?"),
        called("c2", "Linz"),
        event(type="thread_rolled_back", num_turns=1),
        *typed("And in Bern?"),
        called("c3", "Bern"),
    ]
    sample = only("codex", written(tmp_path / "s.jsonl", *lines))
    assert [one.text for one in sample.turns if isinstance(one, UserTurn)] == [
        "Weather in Ulm?",
        "And in Bern?",
    ]
    assert [one.arguments for one in sample.gold] == [{"city": "Bern"}]


def test_calls_whose_input_is_a_text_and_calls_of_a_shell_are_calls(tmp_path: Path) -> None:
    lines = [
        CODEX[0] | {"payload": {"id": "u"}},
        *typed("Fix it."),
        item(type="custom_tool_call", call_id="c1", name="apply_patch", input="*** Begin Patch"),
        item(
            type="custom_tool_call_output",
            call_id="c1",
            output=[{"type": "input_text", "text": "Done"}],
        ),
        item(
            type="local_shell_call",
            call_id="c2",
            status="completed",
            action={"type": "exec", "command": ["ls"], "timeout_ms": 5},
        ),
        item(
            type="function_call_output", call_id="c2", output={"content": "a.py", "success": True}
        ),
        item(type="ghost_snapshot", ghost_commit={}),
    ]
    sample = only("codex", written(tmp_path / "s.jsonl", *lines))
    assert [(one.tool, one.arguments) for one in sample.all_calls] == [
        ("apply_patch", {"input": "*** Begin Patch"}),
        ("local_shell", {"command": ["ls"], "timeout_ms": 5}),
    ]
    assert [turn.results for turn in sample.turns if isinstance(turn, ResultTurn)] == [
        ("Done",),
        ("a.py",),
    ]


def message(kind: str, **kwargs: Any) -> dict[str, Any]:
    """A message as LangChain writes it."""
    path = ["langchain", "schema", "messages", kind]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {"id": f"run-{kind}", **kwargs}}


ASKED = message("HumanMessage", content="Weather in Ulm?", type="human")
MADE = message(
    "AIMessageChunk",
    content="",
    type="AIMessageChunk",
    tool_calls=[{"name": "get_weather", "args": {"city": "Ulm"}, "id": "c1", "type": "tool_call"}],
    invalid_tool_calls=[],
)
RETURNED = message("ToolMessage", content='{"degrees": 7}', tool_call_id="c1", name="get_weather")
SAID = message("AIMessage", content="7 degrees.", type="ai", tool_calls=[])
TOOLS = [{"type": "function", "function": WEATHER.signature}]


def run(at: int, before: list[Any], answer: Any, **more: Any) -> dict[str, Any]:
    """A run of a model in LangSmith."""
    return {
        "id": f"r{at}",
        "trace_id": "t",
        "run_type": "llm",
        "start_time": f"2026-01-01T00:00:0{at}",
        "inputs": {"messages": [before]},
        "outputs": {"generations": [[{"text": "", "message": answer}]]},
        "extra": {"invocation_params": {"tools": TOOLS}},
        **more,
    }


FIRST, LAST = run(1, [ASKED], MADE), run(3, [ASKED, MADE, RETURNED], SAID)
ROOT = {
    "id": "t",
    "trace_id": "t",
    "run_type": "chain",
    "start_time": "2026-01-01T00:00:00",
    "inputs": {"input": "Weather in Ulm?"},
    "feedback_stats": {"thumbs": {"n": 1, "avg": 1.0}},
}
CALLED = {
    "id": "r2",
    "trace_id": "t",
    "run_type": "tool",
    "name": "get_weather",
    "start_time": "2026-01-01T00:00:02",
    "inputs": {"input": "{'city': 'Ulm'}"},
    "outputs": {"output": RETURNED},
}
COLUMNS = ("inputs", "outputs", "extra", "feedback_stats")


@pytest.mark.parametrize("form", ["lines", "nested", "page", "exported columns"])
def test_langsmiths_runs_of_a_trace_are_one_conversation(form: str, tmp_path: Path) -> None:
    runs = [LAST, FIRST, CALLED, ROOT]
    match form:
        case "nested":
            inner = [
                {name: one for name, one in each.items() if name != "trace_id"} for each in runs[:3]
            ]
            path = written(tmp_path / "runs.json", ROOT | {"child_runs": inner})
        case "page":
            path = written(tmp_path / "runs.json", {"runs": runs, "cursors": None})
        case "exported columns":
            texts = [
                {name: json.dumps(one) if name in COLUMNS else one for name, one in each.items()}
                for each in runs
            ]
            path = written(tmp_path / "runs.jsonl", *texts)
        case _:
            path = written(tmp_path / "runs.jsonl", *runs)
    [record] = read("langsmith", path)
    assert record.sample is not None, record.problems
    assert turns(record.sample) == ["user", "calls", "result", "reply"]
    assert record.sample.turns[2] == ResultTurn(results=({"degrees": 7},))
    assert record.signals == Signals("ok", "", "1.0")
    assert [tool.name for tool in record.tools] == ["get_weather"]
    assert format_of(path) == "langsmith"


def test_what_a_tool_returned_is_added_where_no_later_run_tells_it(tmp_path: Path) -> None:
    sample = only("langsmith", written(tmp_path / "runs.jsonl", FIRST, CALLED))
    assert turns(sample) == ["user", "calls", "result"]


def test_runs_of_a_provider_and_of_dicts_are_read_and_one_that_failed_is_told(
    tmp_path: Path,
) -> None:
    plain = {
        "inputs": {
            "messages": [{"role": "user", "content": "Weather in Ulm and Linz?"}],
            "tools": TOOLS,
        },
        "outputs": {
            "choices": [
                {
                    "finish_reason": "tool_calls",
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {
                                "id": city,
                                "function": {
                                    "name": "get_weather",
                                    "arguments": json.dumps({"city": city}),
                                },
                            }
                            for city in ("Ulm", "Linz")
                        ],
                    },
                }
            ]
        },
    }
    dicts = {
        "inputs": {
            "messages": [[{"type": "human", "data": {"content": "Hello.", "type": "human"}}]]
        },
        "outputs": {"generations": [{"text": "Hi.", "message": None}]},
    }
    failed = {"error": "RateLimitError", "outputs": None}
    blocks = {
        "inputs": {
            "system": [{"type": "text", "text": "Be kind."}],
            "messages": [{"role": "user", "content": "Weather in Ulm?"}],
            "tools": [{"name": "get_weather", "input_schema": WEATHER.parameters}],
        },
        "outputs": {"type": "message", "role": "assistant", "content": use("c1", "Ulm")},
    }
    call = {"type": "function_call", "call_id": "c", "name": "get_weather"}
    responses = {
        "inputs": {"input": "Weather in Ulm?", "instructions": "Be kind.", "tools": TOOLS},
        "outputs": {"status": "completed", "output": [call | {"arguments": '{"city": "Ulm"}'}]},
    }
    forms = (plain, dicts, failed, blocks, responses)
    rows = [FIRST | {"trace_id": str(at), **one} for at, one in enumerate(forms)]
    first, second, third, *others = read("langsmith", written(tmp_path / "runs.jsonl", *rows))
    for one in others:
        assert one.sample is not None, one.problems
        assert one.sample.system_message == "Be kind."
        assert [made.arguments for made in one.sample.gold] == [{"city": "Ulm"}]
    assert first.sample is not None, first.problems
    assert first.sample.kind == CALLS
    assert turns(second.sample) == ["user", "calls", "reply"]
    assert third.sample is None
    assert "its span has no answer" in third.problems[0].message
    assert third.signals == Signals("error", "RateLimitError")
