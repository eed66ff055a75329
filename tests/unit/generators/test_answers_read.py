"""An answer is read as calls, or as words without any mark of a call, or its row is left out:
never as if nothing were due.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.generators.imports.answers import UnreadableChat, messages_of_reply
from callwright.generators.imports.reading import SOURCES, ImportedRecord, read_source
from tests.unit.generators.test_hostile_sources import GOOD, replaced
from tests.unit.generators.test_sources import CALLED, ROWS, WEATHER, written
from tests.unit.generators.test_traces import ASKED, MADE, USER, chat

FUNCTION = {"type": "function", "function": WEATHER.signature}


def read(form: str, folder: Path, *rows: Any) -> list[ImportedRecord]:
    return list(read_source(SOURCES.named(form), written(folder / "rows.jsonl", *rows)))


def said(text: Any) -> dict[str, Any]:
    return {
        "messages": [
            {"role": "user", "content": "Weather in Ulm?"},
            {"role": "assistant", "content": text},
        ]
    }


READ = [
    f"<tool_call>\n{CALLED}\n</tool_call>",
    f"I look.\n<tool_call>{CALLED}</tool_call>",
    f"<think>Hm, <tool_call></think><tool_call>{CALLED}</tool_call><|im_end|>",
    "<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Ulm'}}</tool_call>",
    f"<tool_calls>[{CALLED}]</tool_calls>",
    f"<function_call>{CALLED}</function_call>",
    '<functioncall> {"name": "get_weather", "arguments": \'{"city": "Ulm"}\'} <|endoftext|>',
    f"<TOOLCALL>[{CALLED}]</TOOLCALL>",
    f"<|tool_call|>[{CALLED}]<|/tool_call|>",
    '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Ulm"}}<|eom_id|>',
    f"[TOOL_CALLS] [{CALLED}]</s>",
    f"```json\n{CALLED}\n```",
    f"```\n[{CALLED}]\n```",
    CALLED,
    f"[{CALLED}]",
    "{'name': 'get_weather', 'arguments': {'city': 'Ulm'}}",
    (
        '{"type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\":'
        ' \\"Ulm\\"}"}}'
    ),
    "[get_weather(city='Ulm')]",
]


@pytest.mark.parametrize("text", READ)
def test_a_call_is_read_whatever_marks_stand_around_it(text: str, tmp_path: Path) -> None:
    [record] = read("openai", tmp_path, said(text))
    assert record.sample is not None, record.problems
    assert [(one.tool, one.arguments) for one in record.sample.gold] == [
        ("get_weather", {"city": "Ulm"})
    ]


UNREADABLE = [
    f"<tool_call>\n{CALLED}",
    '<tool_call>\n{"name": "get_weather", "arg',
    f"<tool_call>{CALLED}</tool_call>\n<tool_call>{CALLED[:20]}",
    "<tool_call>get_weather</tool_call>",
    "<tool_call></tool_call>",
    f"{CALLED}</tool_call>",
    "<functioncall> get_weather",
    "[TOOL_CALLS]get_weather[ARGS]{}",
    "<|python_tag|>get_weather.call(city='Ulm')",
    "<function=get_weather><parameter=city>Ulm</parameter></function>",
    '<invoke name="get_weather"><parameter name="city">Ulm</parameter></invoke>',
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0",
    "<|channel|>commentary to=functions.get_weather <|message|>{}",
    "Thought: look.\nAction: get_weather\nAction Input: Ulm",
    "✿FUNCTION✿: get_weather",
    "Let me look. [get_weather(city='Ulm')]",
    "[get_weather('Ulm')] [get_weather(city=x)]",
    "[get_weather(city='Ulm', days=123456789012345678901234567890)]",
    f"I call {CALLED} now.",
    f"```json\n{CALLED}\n```\nand so on",
    '{"name": "get_weather", "arguments": {"city": "Ulm", "city": "Linz"}}',
    '{"name": "get_weather", "arguments": {"days": NaN}}',
    "<think>I never end",
    "redacted-by-litellm",
    "",
    None,
    {"text": "Hi"},
    [],
    [{"type": "text", "text": f"<tool_call>{CALLED}"}],
    [{"type": "output_text", "text": "Sure: [get_weather(city='Ulm')]"}],
]


@pytest.mark.parametrize("content", UNREADABLE)
def test_what_looks_like_a_call_and_is_none_that_can_be_read_costs_its_row(
    content: Any, tmp_path: Path
) -> None:
    [record] = read("openai", tmp_path, said(content))
    assert record.sample is None
    assert record.where.endswith(":1")
    assert record.problems


NOT_ANSWERED: dict[str, list[Any]] = {
    "openai": [
        {"messages": ASKED},
        {"messages": ASKED, "response": None},
        {"request": {"messages": ASKED}, "response": None, "error": {"type": "timeout"}},
        {"request": {"messages": ASKED}, "response": {"error": {"message": "overloaded"}}},
        {"request": {"messages": ASKED}, "response": "data: [DONE]"},
        {"request": {"messages": ASKED}, "response": {"choices": []}},
        {
            "request": {"messages": ASKED},
            "response": {"choices": [{"message": {"role": "assistant", "content": None}}]},
        },
        {"messages": [*ASKED, {"role": "assistant", "content": "Hm", "tool_calls": "soon"}]},
        {
            "messages": [
                *ASKED,
                {"role": "assistant", "content": "I look", "finish_reason": "tool_calls"},
            ]
        },
        {
            "request": {"messages": ASKED},
            "response": {
                "choices": [
                    {
                        "message": {"role": "assistant", "content": "It is"},
                        "finish_reason": "length",
                    }
                ]
            },
        },
        {
            "messages": [
                *ASKED,
                {"role": "assistant", "content": ""},
                {"role": "user", "content": "Well?"},
                MADE,
            ]
        },
    ],
    "responses": [
        {"input": "Weather in Ulm?"},
        {"input": "Weather in Ulm?", "output": []},
        {"input": "Weather in Ulm?", "output": [{"type": "reasoning", "summary": []}]},
        {
            "request": {"input": "Weather in Ulm?"},
            "response": {"status": "incomplete", "output": []},
        },
    ],
    "nemo-gym": [
        {"responses_create_params": {"input": "Weather?"}, "expected_action": {"type": "message"}},
        {"responses_create_params": {"input": "Weather?"}, "expected_action": None},
    ],
    "otel": [
        chat("a", 1, [USER], {"role": "assistant", "parts": []}),
        {**chat("b", 1, [USER], MADE), "attributes": {"gen_ai.input.messages": json.dumps([USER])}},
        {
            **chat("c", 1, [USER], MADE),
            "attributes": {
                "gen_ai.input.messages": json.dumps([USER]),
                "gen_ai.output.messages": "[cut off",
            },
        },
    ],
    "langfuse": [
        {"type": "GENERATION", "traceId": "a", "input": {"messages": ASKED}, "output": None},
        {
            "type": "GENERATION",
            "traceId": "a",
            "input": {"messages": ASKED},
            "output": {"choices": []},
        },
        {
            "type": "GENERATION",
            "traceId": "a",
            "input": {"messages": ASKED},
            "output": {"usage": 3},
        },
    ],
    "atif": [{"schema_version": "ATIF-v1", "steps": [{"source": "user", "message": "Weather?"}]}],
    "inspect": [
        {"input": ASKED, "target": "warm", "metadata": {}},
        {"samples": [{"messages": ASKED, "error": {}}]},
    ],
    "litellm": [
        {"status": "failure", "messages": ASKED, "response": None, "error_str": "timeout"},
        {"status": "success", "messages": ASKED, "response": "redacted-by-litellm"},
        {
            "status": "success",
            "messages": ASKED,
            "response": {
                "choices": [{"message": {"role": "assistant", "content": "redacted-by-litellm"}}]
            },
        },
        {
            "status": "success",
            "messages": "redacted-by-litellm",
            "response": {"choices": [{"message": MADE}]},
        },
    ],
    "xlam": [
        {"query": "Weather?", "answers": "not a list"},
        {"query": "Weather?", "answers": "[{]"},
    ],
    "trl-grpo": [{"prompt": ASKED}, {"prompt": ASKED, "gold": "[", "words": ""}],
    "trl-dpo": [{"prompt": ASKED, "chosen": []}, {"prompt": ASKED, "chosen": "It is warm."}],
    "promptfoo": [{"vars": {"messages": ASKED}, "assert": [{"type": "contains", "value": "7"}]}],
    "sharegpt": [
        {"conversations": [{"from": "human", "value": "Weather?"}]},
        {"conversations": [{"from": "human", "value": "Weather?"}, {"from": "gpt", "value": ""}]},
    ],
    "toucan": [{"messages": json.dumps(ASKED)}],
    "hf": [
        {**GOOD["hf"][0], "snapshots": []},
        {**GOOD["hf"][0], "snapshots": [{"after": 1, "calls": "[{]"}]},
        {**GOOD["hf"][0], "snapshots": [{"after": 1, "calls": '[{"name": "f"}]'}]},
    ],
}


@pytest.mark.parametrize(
    ("form", "row"), [(form, row) for form, rows in NOT_ANSWERED.items() for row in rows]
)
def test_a_row_whose_answer_nobody_can_tell_is_left_out_with_its_line(
    form: str, row: Any, tmp_path: Path
) -> None:
    [record] = read(form, tmp_path, row)
    assert record.sample is None
    assert record.problems[0].message
    assert record.where.partition("rows.jsonl")[2]


ANSWER_AT: dict[str, tuple[Any, ...]] = {
    "responses": ("output",),
    "sharegpt": ("conversations", 2, "value"),
    "toolace": ("conversations", 1, "value"),
    "xlam": ("answers",),
    "litellm": ("response",),
    "openai": ("response",),
}


JUNK: list[Any] = [None, 0, True, {}, [[]], {"a": 1}, "<tool_call>", "[f(a=1", "[f(a=b)]", "[{"]


@pytest.mark.parametrize(("form", "junk"), [(form, junk) for form in ANSWER_AT for junk in JUNK])
def test_whatever_stands_in_the_place_of_an_answer_is_not_that_nothing_is_due(
    form: str, junk: Any, tmp_path: Path
) -> None:
    [record] = read(form, tmp_path, replaced(ROWS[form], ANSWER_AT[form], junk))
    assert record.sample is None or record.sample.gold or record.sample.turns[-1].kind == "reply"
    if not isinstance(junk, str):
        assert record.sample is None


def test_rows_that_state_that_no_call_is_due_are_samples_of_it(tmp_path: Path) -> None:
    tools = json.dumps([WEATHER.signature])
    [record] = read("xlam", tmp_path, {"query": "Sing me a song.", "answers": "[]", "tools": tools})
    assert record.sample is not None, record.problems
    assert record.sample.gold == ()
    (tmp_path / "b").mkdir()
    irrelevant = {
        "id": "a",
        "question": [ASKED],
        "function": [{"name": "f", "parameters": {"type": "dict"}}],
    }
    path = written(tmp_path / "b" / "BFCL_v3_irrelevance.json", irrelevant)
    [record] = read_source(SOURCES.named("bfcl"), path)
    assert record.sample is not None, record.problems
    assert record.sample.gold == ()


def test_a_question_of_bfcl_without_a_possible_answer_is_left_out(tmp_path: Path) -> None:
    question = {
        "id": "a",
        "question": [ASKED],
        "function": [{"name": "f", "parameters": {"type": "dict"}}],
    }
    for name, truth in (
        ("live_relevance", None),
        ("simple", None),
        ("simple", "f()"),
        ("simple", [{"f": []}]),
    ):
        folder = tmp_path / f"{name} {truth}"
        (folder / "possible_answer").mkdir(parents=True)
        path = written(folder / f"BFCL_v3_{name}.json", question)
        if truth is not None:
            written(folder / "possible_answer" / path.name, {"id": "a", "ground_truth": truth})
        [record] = read_source(SOURCES.named("bfcl"), path)
        assert record.sample is None, (name, truth)


def chunk(**delta: Any) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}


def test_the_chunks_of_a_stream_are_put_together(tmp_path: Path) -> None:
    first = {"index": 0, "id": "a", "function": {"name": "get_weather", "arguments": '{"ci'}}
    other = {
        "index": 1,
        "id": "b",
        "function": {"name": "get_weather", "arguments": '{"city": "Linz"}'},
    }
    chunks = [
        chunk(role="assistant", content=""),
        chunk(tool_calls=[first]),
        chunk(tool_calls=[other]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": 'ty": "Ulm"}'}}]),
        {"choices": [], "usage": {}},
    ]
    row = {"request": {"messages": ASKED, "tools": [FUNCTION]}, "response": chunks}
    [record] = read("openai", tmp_path, row)
    assert record.sample is not None, record.problems
    assert [one.arguments for one in record.sample.gold] == [{"city": "Ulm"}, {"city": "Linz"}]
    [message] = messages_of_reply([chunk(content="It is "), chunk(content="warm.")])
    assert isinstance(message, dict)
    assert message["content"] == "It is warm."


@pytest.mark.parametrize(
    "chunks",
    [
        [],
        ["data: {}"],
        [{"type": "content_block_delta", "delta": {"text": "It"}}],
        [chunk(tool_calls=[{"function": {"name": "f"}}])],
        [
            chunk(
                tool_calls=[
                    {"index": 0, "function": {"name": "f"}},
                    {"index": 0, "function": {"name": "g"}},
                ]
            )
        ],
        [{"choices": [{"message": {}}]}],
    ],
)
def test_chunks_that_do_not_tell_how_they_go_together_are_no_answer(chunks: Any) -> None:
    with pytest.raises(UnreadableChat):
        messages_of_reply(chunks)


def arguments(text: str) -> dict[str, Any]:
    made = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": text}}
    return {
        "messages": [*ASKED, {"role": "assistant", "content": None, "tool_calls": [made]}],
        "tools": [FUNCTION],
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"city": "Ulm", "city": "Linz"}', "'city' is given twice"),
        (
            '{"days": 123456789012345678901234567890}',
            "123456789012345678901234567890 is beyond 64 bits",
        ),
        ('{"days": -9223372036854775809}', "beyond 64 bits"),
        ('{"days": NaN}', "NaN is not a number"),
        ('{"days": 1e999}', "1e999 is not a number"),
        ('{"city": "\\ud83d"}', "\\ud83d"),
        ('{"city": "Ulm",}', "can't be read"),
        ('{"city": ' * 70 + "1" + "}" * 70, "nested too deeply"),
    ],
)
def test_arguments_that_would_not_stay_exact_cost_their_row_with_the_reason(
    text: str, reason: str, tmp_path: Path
) -> None:
    good = arguments('{"city": "Ulm"}')
    wrong, right = read("openai", tmp_path, arguments(text), good)
    assert wrong.sample is None
    assert wrong.where.endswith(":1")
    assert reason in wrong.problems[0].message
    assert right.sample is not None


def test_a_row_itself_that_would_not_stay_exact_is_named_and_costs_itself_alone(
    tmp_path: Path,
) -> None:
    good = json.dumps(arguments('{"city": "Ulm"}'))
    wrong = [
        '{"messages": 1, "messages": 2}',
        '{"a": NaN}',
        '{"a": 1' + "0" * 30 + "}",
        '{"a": "\\udc00"}',
    ]
    records = read("openai", tmp_path, *wrong, good)
    assert [one.sample is None for one in records] == [True] * 4 + [False]
    assert [one.where.rpartition(":")[2] for one in records] == list("12345")
    listed = tmp_path / "rows.json"
    listed.write_text(f"[{','.join((*wrong, good))}]", encoding="utf-8")
    records = list(read_source(SOURCES.named("openai"), listed))
    assert [one.sample is None for one in records] == [True] * 4 + [False]


def test_calls_beside_the_content_and_others_in_it_can_not_both_be_right(tmp_path: Path) -> None:
    both = {**MADE, "content": f"<tool_call>{CALLED}</tool_call>"}
    other = {**MADE, "content": f"<tool_call>{CALLED.replace('Ulm', 'Linz')}</tool_call>"}
    same, different = read(
        "openai", tmp_path, {"messages": [*ASKED, both]}, {"messages": [*ASKED, other]}
    )
    assert same.sample is not None, same.problems
    assert len(same.sample.gold) == 1
    assert different.sample is None


@pytest.mark.parametrize(
    ("name", "form", "arguments_read", "told"),
    [
        ("row_twice_encoded", "openai", {"city": "Bonn"}, "JSON text twice over"),
        ("row_stream_chunks", "openai", {"city": "Laval"}, ""),
        ("glaive_functioncall", "sharegpt", {"city": "Krems"}, ""),
        ("hermes_tag_in_argument", "sharegpt", {"city": "</tool_call>"}, ""),
        ("hermes_unterminated", "sharegpt", None, "no '</tool_call>' behind its call"),
        ("row_only_user", "openai", None, "nobody answers what the user says"),
        ("row_dup_keys", "openai", None, "the key 'city' is given twice"),
        ("row_huge_int", "openai", None, "123456789012345678901234567890 is beyond 64 bits"),
        ("row_nan", "openai", None, "NaN is not a number"),
        ("row_surrogate", "openai", None, "half of a character, \\ud83d"),
    ],
)
def test_rows_of_the_wild_end_as_they_should(
    shared: Path, name: str, form: str, arguments_read: Any, told: str
) -> None:
    [record] = read_source(SOURCES.named(form), shared / "cases" / "inputs" / f"{name}.jsonl")
    found = record.sample.gold[0].arguments if record.sample and record.sample.gold else None
    assert found == arguments_read
    assert (record.sample is None) == (arguments_read is None)
    assert told in " ".join(one.message for one in record.problems)
