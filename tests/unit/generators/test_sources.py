"""What a team has is read as samples: our own exports come back as they went out, and other
people's rows with all their turns.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.imports.answers import Called, python_calls
from callwright.generators.imports.messages import read_chat
from callwright.generators.imports.reading import SOURCES, ImportedRecord
from callwright.generators.taken import CALL, CALLS, CONVERSATION
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.exports.examples import openai_messages
from callwright.warehouse.exports.formats import EXPORTS, export_release
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    Tool,
    UserTurn,
)
from callwright.warehouse.wire_names import NO_NAMES
from tests.support.warehouse.exported import exported, release_of, stream_of
from tests.support.warehouse.task_releases import task_stream

CITY = {"type": "string", "description": "The city."}
WEATHER = Tool(
    name="get_weather",
    description="Get the weather of a city.",
    category="Weather",
    parameters={
        "type": "object",
        "properties": {"city": CITY, "days": {"type": "integer", "description": ""}},
        "required": ["city"],
    },
)
TRAINS = Tool(
    name="find_train",
    description="Find a train.",
    category="Weather",
    parameters={"type": "object", "properties": {"to": CITY}, "required": ["to"]},
)
TOOLS = {tool.key: tool for tool in (WEATHER, TRAINS)}


def call(tool: str, **arguments: Any) -> GoldCall:
    return GoldCall(tool=tool, arguments=arguments)


def sample(*turns: Any, kind: str = CALL, **more: Any) -> Sample:
    return Sample(
        kind=kind, language="en", category="Weather", candidates=tuple(TOOLS), turns=turns, **more
    )


ASKED = sample(
    UserTurn(text="What is the weather in Ulm?"), CallTurn(calls=(call("get_weather", city="Ulm"),))
)
BOTH = sample(
    UserTurn(text="How is Ulm, and how is Linz?"),
    CallTurn(calls=(call("get_weather", city="Ulm"), call("get_weather", city="Linz", days=2))),
    kind=CALLS,
)
LONG = sample(
    UserTurn(text="Is it warm where the train to Bern goes?"),
    CallTurn(calls=(call("find_train", to="Bern"),), executed=True),
    ResultTurn(results=({"train": "IC 5", "to": "Bern"},)),
    CallTurn(
        calls=(call("get_weather", city="Bern"), call("get_weather", city="Ulm")), executed=True
    ),
    ResultTurn(results=({"degrees": 7}, "none")),
    ReplyTurn(text="It is 7 degrees in Bern."),
    UserTurn(text="Thanks."),
    ReplyTurn(text="Any time."),
    kind=CONVERSATION,
    system_message="Be kind.",
    facts=SampleFacts(reference_time="2026-03-04 10:00"),
)
NONE = sample(UserTurn(text="Sing me a song."), CallTurn(), ReplyTurn(text="That I can't do."))
SAMPLES = (ASKED, BOTH, LONG, NONE)
MADE_AGAIN = frozenset(
    {"key", "origin", "callwright_key", "id", "canary", "description"}
)  # what names a sample that has no evidence any more


def read(form: str, path: Path) -> list[ImportedRecord]:
    return list(SOURCES.named(form).read(path))


def written(path: Path, *rows: Any) -> Path:
    path.write_text(
        "\n".join(json.dumps(row) if not isinstance(row, str) else row for row in rows),
        encoding="utf-8",
    )
    return path


def taken(form: str, path: Path, row: Any) -> Sample:
    [record] = read(form, written(path / "rows.jsonl", row))
    assert record.sample is not None, record.problems
    return record.sample


def without_names(row: Any) -> Any:
    kept = {name: value for name, value in row.items() if name not in MADE_AGAIN}
    if isinstance(kept.get("metadata"), dict):
        told = ("tools", "words", "category", "language")
        kept["metadata"] = {name: value for name, value in kept["metadata"].items() if name in told}
    return json.loads(json.dumps(kept))


@pytest.mark.parametrize(
    "form",
    [
        "openai",
        "trl",
        "trl-grpo",
        "trl-kto",
        "sharegpt",
        "nemo-gym",
        "inspect",
        "promptfoo",
        "langfuse",
    ],
)
def test_each_row_that_teaches_is_among_the_rows_of_the_sample_that_is_read_of_it(
    form: str, tmp_path: Path
) -> None:
    export_release(stream_of(release_of(SAMPLES, TOOLS)), form, tmp_path)
    rows = [
        row
        for name, rows in exported(release_of(SAMPLES, TOOLS), form).items()
        if "info" not in name
        for row in rows
    ]
    rows = [
        without_names(row)
        for row in rows
        if {"messages", "conversations", "prompt", "vars"} & row.keys() or "input" in str(row)
    ]
    records = read(form, tmp_path)
    assert len(records) == len(rows) > 2
    for row, record in zip(rows, records, strict=True):
        assert record.sample is not None, record.problems
        content = release_of([record.sample], {tool.key: tool for tool in record.tools})
        again = [
            without_names(one)
            for name, found in exported(content, form).items()
            if "info" not in name
            for one in found
        ]
        assert row in again


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    export_release(stream_of(release_of(SAMPLES, TOOLS)), "records", tmp_path)
    records = read("records", tmp_path)
    assert [record.sample for record in records] == [*SAMPLES]
    assert {tool.key for record in records for tool in record.tools} == {*TOOLS}


def test_rows_for_the_hub_come_back_with_every_turn(tmp_path: Path) -> None:
    content = release_of((ASKED, BOTH, LONG), TOOLS)
    export_release(stream_of(content), "hf", tmp_path)
    records = read("hf", tmp_path)
    for before, record in zip((ASKED, BOTH, LONG), records, strict=True):
        assert record.sample is not None, record.problems
        assert (
            without_evidence(record.sample).key
            == before.with_changes(candidates=record.sample.candidates).key
        )
        assert [tool.signature for tool in record.tools] == [WEATHER.signature, TRAINS.signature]


def without_evidence(sample: Sample) -> Sample:
    turns = tuple(
        (
            turn.with_changes(calls=tuple(one.with_changes(evidence=()) for one in turn.calls))
            if isinstance(turn, CallTurn)
            else turn
        )
        for turn in sample.turns
    )
    return sample.with_changes(turns=turns)


def test_questions_of_bfcl_come_back_with_their_answers(tmp_path: Path) -> None:
    content = release_of(SAMPLES, TOOLS)
    export_release(stream_of(content), "bfcl", tmp_path)
    records = read("bfcl", tmp_path)
    assert [record.problems for record in records if record.sample is None] == []
    due = [record.sample.gold for record in records if record.sample]
    calls = [[(one.tool, one.arguments) for one in gold] for gold in due]
    assert [("get_weather", {"city": "Ulm"})] in calls
    assert [] in calls
    assert [("get_weather", {"city": "Ulm"}), ("get_weather", {"city": "Linz", "days": 2})] in calls


def test_every_export_can_be_read_back() -> None:
    played = {"openenv", "verifiers"}  # whose tasks are records
    assert set(EXPORTS.names) - played <= set(SOURCES.names)


def test_tasks_of_an_environment_are_read_back_as_records_and_beside_rows_not_twice(
    tmp_path: Path,
) -> None:
    stream = task_stream(tmp_path)
    export_release(stream, "verifiers", tmp_path / "played")
    export_release(task_stream(tmp_path), "trl", tmp_path / "rows")
    records = list(SOURCES.named("records").read(tmp_path / "played" / "callwright_v1" / "tasks"))
    rows = list(SOURCES.named("trl").read(tmp_path / "rows"))
    assert [len(found) for found in (records, rows)] == [2, 2]
    assert not any(record.problems for record in (*records, *rows))


def test_several_turns_with_their_results_stay_whole(tmp_path: Path) -> None:
    function = {"type": "function", "function": WEATHER.signature}
    calls = [
        {
            "id": "a",
            "type": "function",
            "function": {"name": "get_weather", "arguments": '{"city": "Ulm"}'},
        },
        {
            "id": "b",
            "type": "function",
            "function": {"name": "get_weather", "arguments": '{"city": "Linz"}'},
        },
    ]
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "Ulm and Linz?"}]},
        {"role": "assistant", "content": "I look.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "b", "content": '{"degrees": 9}'},
        {"role": "tool", "tool_call_id": "a", "content": "no data"},
        {"role": "assistant", "content": "9 in Linz."},
    ]
    found = taken("openai", tmp_path, {"messages": messages, "tools": [function]})
    assert found.kind == CONVERSATION
    assert found.system_message == "Be kind."
    assert found.turns[2] == ResultTurn(results=("no data", {"degrees": 9}))
    assert [turn.kind for turn in found.turns] == ["user", "calls", "result", "reply"]


CALLED = '{"name": "get_weather", "arguments": {"city": "Ulm"}}'
ROWS: dict[str, Any] = {
    "responses": {
        "input": "Weather in Ulm?",
        "tools": [{"type": "function", **WEATHER.signature}],
        "output": [
            {"type": "reasoning", "summary": []},
            {
                "type": "function_call",
                "call_id": "c",
                "name": "get_weather",
                "arguments": '{"city": "Ulm"}',
            },
        ],
    },
    "sharegpt": {
        "conversations": [
            {
                "from": "system",
                "value": (
                    f"You may call functions. <tools>{json.dumps([WEATHER.signature])}</tools>"
                ),
            },
            {"from": "human", "value": "Weather in Ulm?"},
            {"from": "gpt", "value": f"<think>Hm.</think><tool_call>\n{CALLED}\n</tool_call>"},
        ]
    },
    "toolace": {
        "system": (
            f"Here is a list of functions:\n{json.dumps([WEATHER.signature])}.\nShould you call,"
            " use [f(a=1)]."
        ),
        "conversations": [
            {"from": "user", "value": "Weather in Ulm?"},
            {"from": "assistant", "value": "[get_weather(city='Ulm')]"},
        ],
    },
    "xlam": {
        "id": 1,
        "query": "Weather in Ulm?",
        "answers": '[{"name": "get_weather", "arguments": {"city": "Ulm"}}]',
        "tools": json.dumps(
            [
                {
                    "name": "get_weather",
                    "description": "Get the weather of a city.",
                    "parameters": {
                        "city": {"type": "str", "description": "The city."},
                        "type": {"type": "int, optional", "default": 1},
                    },
                }
            ]
        ),
    },
    "toucan": {
        "subset_name": "single-turn",
        "available_tools": json.dumps([{"type": "function", "function": WEATHER.signature}]),
        "messages": json.dumps(
            [
                {"role": "system", "content": "<|im_system|>tool_declare"},
                {"role": "user", "content": "Weather in Ulm?"},
                {
                    "role": "tool_call",
                    "content": "{'name': 'get_weather', 'arguments': '{\"city\": \"Ulm\"}'}",
                },
            ]
        ),
    },
    "litellm": {
        "status": "success",
        "messages": [{"role": "user", "content": "Weather in Ulm?"}],
        "model_parameters": {"tools": [{"type": "function", "function": WEATHER.signature}]},
        "response": {
            "choices": [
                {
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {
                                "id": "c",
                                "type": "function",
                                "function": {"name": "get_weather", "arguments": '{"city": "Ulm"}'},
                            }
                        ],
                    }
                }
            ]
        },
    },
    "openai": {
        "request": {
            "messages": [{"role": "user", "content": "Weather in Ulm?"}],
            "tools": [
                {"name": "get_weather", "description": "", "input_schema": WEATHER.parameters}
            ],
        },
        "response": {
            "choices": [{"message": {"role": "assistant", "function_call": json.loads(CALLED)}}]
        },
    },
}


@pytest.mark.parametrize(
    ("form", "own"),
    [
        ("xlam", {"id": 7}),
        ("toucan", {"uuid": "7"}),
        ("toolace", {"id": "7"}),
        ("openai", {"origin": {"key": "7"}}),
        ("sharegpt", {"origin": '{"key": "7"}'}),
        ("litellm", {"metadata": {"id": "7"}}),
    ],
)
def test_a_row_keeps_its_own_id_and_its_line(
    form: str, own: dict[str, Any], tmp_path: Path
) -> None:
    file = written(tmp_path / "rows.jsonl", ROWS[form], "{", {**ROWS[form], **own})
    named, broken, last = read(form, file)
    assert [named.line, broken.line, last.line] == [1, 2, 3]
    assert last.item == "7"
    assert last.sample == named.sample


def test_our_own_records_are_called_by_their_keys(tmp_path: Path) -> None:
    for form in ("records", "hf", "trl", "nemo-gym"):
        export_release(stream_of(release_of(SAMPLES, TOOLS)), form, tmp_path / form)
        items = {record.item for record in read(form, tmp_path / form)}
        assert items == {one.key for one in SAMPLES}, form


@pytest.mark.parametrize("form", ROWS)
def test_each_way_of_writing_a_call_is_the_same_call(form: str, tmp_path: Path) -> None:
    found = taken(form, tmp_path, ROWS[form])
    assert [(one.tool, one.arguments) for one in found.gold] == [("get_weather", {"city": "Ulm"})]
    assert (found.request, found.kind, len(found.candidates)) == ("Weather in Ulm?", CALL, 1)
    assert found.system_message == ""


def test_calls_of_toolace_may_have_names_with_spaces_and_brackets_in_their_values() -> None:
    calls = python_calls("[Market Trends API(trend_type=\"MARKET (US), 'all'\", n=2), Get It()]")
    assert calls == [
        Called("Market Trends API", {"trend_type": "MARKET (US), 'all'", "n": 2}),
        Called("Get It", {}),
    ]
    for text in (
        "[f(1)]",
        "[f(a=g())]",
        "[f(a=1]",
        "I looked (a=1)",
        "[f(**x)]",
        "[f(a=1) and so on]",
        "[]",
        "f",
    ):
        assert python_calls(text) == []


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20
).filter(str.strip)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | TEXTS,
    lambda inner: st.dictionaries(TEXTS, inner),
    max_leaves=4,
)
CALLS_MADE = st.lists(
    st.builds(call, st.sampled_from(["get_weather", "find_train"]), city=VALUES),
    min_size=1,
    max_size=3,
)


@given(
    st.lists(st.tuples(TEXTS, st.lists(CALLS_MADE, max_size=2), TEXTS), min_size=1, max_size=3),
    st.randoms(),
)
def test_what_chat_completions_say_is_read_back_whatever_was_said(
    parts: list[Any], rng: Random
) -> None:
    turns: list[Any] = []
    for asked, steps, said in parts:
        turns.append(UserTurn(text=asked))
        for calls in steps:
            results = tuple({"n": rng.randrange(9)} for _ in calls)
            turns += [CallTurn(calls=tuple(calls), executed=True), ResultTurn(results=results)]
        turns.append(ReplyTurn(text=f"It is {said}."))
    found = read_chat([*openai_messages("", turns, NO_NAMES)])
    called = any(isinstance(turn, CallTurn) for turn in turns)
    assert found.turns == (tuple(turns) if called else (*turns[:-1], CallTurn(), turns[-1]))


def test_types_in_pythons_words_are_a_schema(tmp_path: Path) -> None:
    [record] = read("xlam", written(tmp_path / "rows.jsonl", ROWS["xlam"]))
    assert record.tools[0].parameters == {
        "type": "object",
        "required": ["city"],
        "properties": {
            "city": {"type": "string", "description": "The city."},
            "type": {"type": "integer", "default": 1},
        },
    }


WRONG = {
    "not JSON at all": "is not JSON",
    '{"messages": [{"role": "wizard", "content": "x"}]}': "the role 'wizard'",
    '{"messages": [{"role": "tool", "content": "x"}]}': "no call waits",
    '{"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "[1"}}]}]}': (
        "can't be read"
    ),
    '{"messages": [{"role": "user", "content": {"a": 1}}]}': "has the content",
    '{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}': "image_url",
    '{"nothing": 1}': "no row of the format",
    "<html><body>503</body></html>": "is not JSON",
    "=HYPERLINK(1)": "is not JSON",
    f'{{"messages": {"[" * 10_000}{"]" * 10_000}}}': "nested too deeply",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_line_that_can_not_be_read_is_named_with_its_reason_and_passed_over(
    line: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "rows.jsonl", ROWS["openai"], line, ROWS["openai"])
    first, wrong, last = read("openai", path)
    assert first.sample == last.sample is not None
    assert wrong.sample is None
    assert wrong.where.endswith("rows.jsonl:2")
    assert WRONG[line] in wrong.problems[0].message


def test_a_line_without_end_and_bytes_of_another_encoding_cost_themselves_alone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rows.jsonl"
    good = json.dumps(ROWS["openai"]).encode()
    path.write_bytes(
        b"\n".join(
            [good, b'{"a": "' + b"x" * 2**24 + b'"}', '{"messages": "ü"}'.encode("latin-1"), good]
        )
    )
    records = read("openai", path)
    assert [record.sample is None for record in records] == [False, True, True, False]
    assert "longer than" in records[1].problems[0].message
    assert "not UTF-8" in records[2].problems[0].message


def test_an_absent_file_and_an_unknown_format_are_answered(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no file or folder"):
        read("openai", tmp_path / "absent.jsonl")
    with pytest.raises(ConfigurationError, match="no format of samples 'csv'"):
        SOURCES.named("csv")


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("Wie wird das Wetter morgen in Ulm?", "de"),
        ("Quel temps fera-t-il demain à Lyon ?", "fr"),
        ("Какая завтра погода в Казани?", "ru"),
        ("كيف سيكون الطقس غدا في القاهرة؟", "ar"),
        ("¿Qué tiempo hará mañana en Lugo?", "es"),
        ("明天北京天气怎么样？", "zh"),
        ("明日の東京の天気はどうですか。", "ja"),
        ("कल दिल्ली का मौसम कैसा रहेगा?", "hi"),
        ("Weather in Ulm?", "en"),
        ("Grand Hotel Milano, 2", "en"),
        ("7", "en"),
    ],
)
def test_the_language_of_what_the_user_says_is_found(
    said: str, language: str, tmp_path: Path
) -> None:
    messages = [{"role": "user", "content": said}, {"role": "assistant", "content": "7 degrees."}]
    assert taken("openai", tmp_path, {"messages": messages}).language == language
