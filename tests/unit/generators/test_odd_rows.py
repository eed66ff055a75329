"""Rows as public reports of bugs show them: each is read as what it says, or left out with its
reason; none lands as if nothing were due.
"""

from pathlib import Path
from typing import Any

import pytest

from callwright.generators.imports.reading import ImportedRecord
from callwright.warehouse.records import ReplyTurn
from tests.unit.generators.test_answers_read import FUNCTION, read
from tests.unit.generators.test_traces import ASKED

# A quote as Gemma 4 writes it.
QUOTE = '<|"|>'


def answered(content: Any, *calls: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more}
    message |= {"tool_calls": list(calls)} if calls else {}
    return {"messages": [*ASKED, message], "tools": [FUNCTION]}


def call(arguments: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": "c",
        "type": "function",
        "function": {"name": "get_weather", "arguments": arguments},
        **more,
    }


def calls_of(record: ImportedRecord) -> list[Any]:
    assert record.sample is not None, record.problems
    return [one.arguments for one in record.sample.gold]


@pytest.mark.parametrize(
    "content",
    [
        # Gemma 4, as it is meant, as it drifts, and where it breaks off
        f"<|tool_call>call:get_weather{{city:{QUOTE}Ulm{QUOTE}}}<tool_call|>",
        "<|tool_call|>call:get_weather({city: 'Ulm'})<tool_call|>",
        "It is warm. <|tool_call",
        # the same without its marks
        'call:get_weather{city:"Ulm"}',
        # Olmo 3
        "<function_calls>\nget_weather(city='Ulm')\n</function_calls>",
        # Apertus
        '<|tools_prefix|>[{"get_weather": {"city": "Ulm"}}]<|tools_suffix|>',
        # Liquid
        "<|tool_call_start|>[get_weather(city='Ulm')]<|tool_call_end|>",
        # Kimi, by way of another provider
        '<|open|>toolscall tool="get_weather" index="1"<|sep|>Ulm<|close|>call<|sep|>',
        'toolscall tool="get_weather" index="1" argument key="city" Ulm',
        # Qwen-Coder
        "<tool_call>\n<function=get_weather>\n<parameter=city>['Ulm']</parameter>\n</function>",
        # a template that runs on
        "It is warm.<|im_end|>\n<|im_start|>user\nThanks",
        "I call get_weather(city=Ulm).",
        '{"get_weather": {"city": "Ulm"}}',
    ],
)
def test_calls_in_a_notation_that_is_not_read_cost_their_row(content: str, tmp_path: Path) -> None:
    [record] = read("openai", tmp_path, answered(content))
    assert record.sample is None
    assert record.problems


@pytest.mark.parametrize(
    "content",
    [
        "I asked get_weather for it: 7 degrees.",
        "A tool such as get_weather (for any city) tells it.",
        "Use `List<Function>` there, and <b>no</b> tool calls.",
        "3 < 4 and 5|6 > 2",
        "\U0001f44d",
    ],
)
def test_words_about_tools_are_words(content: str, tmp_path: Path) -> None:
    [record] = read("openai", tmp_path, answered(content))
    assert record.sample is not None, record.problems
    assert record.sample.gold == ()


@pytest.mark.parametrize(
    "content", ["None", "null", " undefined\n", "[object Object]", "NaN", "{}", "...", "\u200b"]
)
def test_the_words_of_programs_for_nothing_are_no_answer(content: str, tmp_path: Path) -> None:
    bare, beside = read(
        "openai", tmp_path, answered(content), answered(content, call('{"city": "Ulm"}'))
    )
    assert bare.sample is None
    assert "neither words nor calls" in bare.problems[0].message
    assert calls_of(beside) == [{"city": "Ulm"}]


@pytest.mark.parametrize("content", [None, ""])
def test_a_refusal_is_what_the_assistant_says(content: str | None, tmp_path: Path) -> None:
    [record] = read("openai", tmp_path, answered(content, refusal="I can't help with that."))
    assert record.sample is not None, record.problems
    assert record.sample.gold == ()
    last = record.sample.turns[-1]
    assert isinstance(last, ReplyTurn)
    assert last.text == "I can't help with that."
    [empty] = read("openai", tmp_path, answered(content, refusal=None))
    assert empty.sample is None


def test_nulls_that_pad_arguments_are_dropped_and_told(tmp_path: Path) -> None:
    # a column of arguments has the fields of all tools
    padded = call({"city": "Ulm", "to": None, "days": None})
    [record] = read("openai", tmp_path, answered(None, padded))
    assert calls_of(record) == [{"city": "Ulm"}]
    assert "'days' and 'to'" in record.problems[0].message
    nullable = {"type": ["integer", "null"]}
    function = {**FUNCTION["function"], "parameters": {"properties": {"days": nullable}}}
    row = answered(None, padded) | {"tools": [{"type": "function", "function": function}]}
    [kept] = read("openai", tmp_path, row)
    assert calls_of(kept) == [{"city": "Ulm", "days": None}]


def test_a_fence_within_a_text_ends_nothing(tmp_path: Path) -> None:
    fenced = '```json\n{"name": "get_weather", "arguments": {"city": "```sh\\nUlm\\n```"}}\n```'
    [record] = read("openai", tmp_path, answered(fenced))
    assert calls_of(record) == [{"city": "```sh\nUlm\n```"}]


MORE = "more than one value"
UNREADABLE = "the arguments of get_weather can't be read"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"city": "Ulm"}{"city": "Ulm"}', MORE),  # said twice over by a proxy
        ('{"city": "Ulm"}{"city": "Linz"}', MORE),  # two calls under one index
        ('{}{"city": "Ulm"}', MORE),  # Gemini holds the place in its first chunk
        ('{"city": "Ulm",}', UNREADABLE),
        ('```json\n{"city": "Ulm"}\n```', UNREADABLE),
        ('{"city": "\t"}', UNREADABLE),
    ],
)
def test_several_objects_and_no_json_in_place_of_arguments_are_not_guessed_at(
    text: str, problem: str, tmp_path: Path
) -> None:
    [record] = read("openai", tmp_path, answered(None, call(text)))
    assert record.sample is None
    assert problem in record.problems[0].message


def test_results_of_calls_with_one_id_stay_in_order(tmp_path: Path) -> None:
    row = answered(None, call('{"city": "Ulm"}'), call('{"city": "Linz"}'))
    row["messages"] += [
        {"role": "tool", "tool_call_id": "c", "content": result} for result in ("warm", "cold")
    ]
    row["messages"] += [{"role": "assistant", "content": "Warm, and cold."}]
    [record] = read("openai", tmp_path, row)
    assert record.sample is not None, record.problems
    assert record.sample.turns[2].results == ("warm", "cold")  # type: ignore[union-attr]


def test_a_tool_of_free_text_is_named_as_what_it_is(tmp_path: Path) -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "get_weather", "input": "Ulm"}}
    [record] = read("openai", tmp_path, answered(None, custom))
    assert record.sample is None
    assert "'custom'" in record.problems[0].message


def test_parts_of_other_providers_are_named_and_not_passed_over(tmp_path: Path) -> None:
    parts = [{"text": ""}, {"functionCall": {"name": "get_weather", "args": {"city": "Ulm"}}}]
    row = {"messages": [*ASKED, {"role": "model", "parts": parts}], "tools": [FUNCTION]}
    [record] = read("openai", tmp_path, row)
    assert record.sample is None
    assert record.problems


@pytest.mark.parametrize("blank", ["", "   "])
def test_a_call_of_the_responses_api_may_have_blank_arguments(blank: str, tmp_path: Path) -> None:
    made = {"type": "function_call", "name": "get_weather", "call_id": "c", "arguments": blank}
    row = {"input": "Weather?", "output": [made], "tools": [{**FUNCTION["function"]}]}
    cut = {**row, "output": [{**made, "arguments": '{"city":'}]}
    whole, broken = read("responses", tmp_path, row, cut)
    assert calls_of(whole) == [{}]
    assert broken.sample is None


@pytest.mark.parametrize("calls", ["[]", ""])
def test_calls_as_text_are_read(calls: str, tmp_path: Path) -> None:
    none = answered("It is warm.", tool_calls=calls)
    [record] = read("openai", tmp_path, none)
    assert record.sample is not None, record.problems
    assert record.sample.gold == ()


@pytest.mark.parametrize("text", [None, "", " ", "null", '{}""'])
def test_blank_arguments_are_none(text: Any, tmp_path: Path) -> None:
    [record] = read("openai", tmp_path, answered(None, call(text)))
    assert calls_of(record) == [{}]


def test_calls_that_were_found_invalid_are_no_calls_without_arguments(tmp_path: Path) -> None:
    found = {"id": "c", "function": "get_weather", "arguments": {}, "parse_error": "No JSON."}
    invalid = {"name": "get_weather", "args": '{"ci', "error": "No JSON."}
    rows = (answered("", found), answered("I look.", invalid_tool_calls=[invalid]))
    for record in read("openai", tmp_path, *rows):
        assert record.sample is None
        assert "No JSON." in record.problems[0].message


@pytest.mark.parametrize(
    "text", ["<truncated due to size exceeding limit>", "Wea... (litellm_truncated 98 chars) Ulm?"]
)
def test_words_that_a_log_has_not_kept_are_not_read(text: str, tmp_path: Path) -> None:
    asked = {"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "7"}]}
    for record in read("openai", tmp_path, asked, answered(text)):
        assert record.sample is None
        assert "what was said" in record.problems[0].message
    long = answered("7 degrees.")
    long["messages"].insert(0, {"role": "system", "content": f"You are {text}"})
    [record] = read("openai", tmp_path, long)
    assert record.sample is not None


@pytest.mark.parametrize("label", [False, 0, "false", "False"])
def test_answers_that_are_not_wanted_are_not_read(label: Any, tmp_path: Path) -> None:
    completion = [{"role": "assistant", "content": "7 degrees."}]
    row = {"prompt": ASKED, "completion": completion, "label": label}
    refused, taken = read("trl-kto", tmp_path, row, row | {"label": True})
    assert refused.sample is None
    assert taken.sample is not None


def test_of_several_choices_the_one_numbered_0_is_read(tmp_path: Path) -> None:
    other = {"index": 1, "message": {"role": "assistant", "content": "7 degrees."}}
    first = {"index": 0, "message": {"role": "assistant", "tool_calls": [call('{"city": "Ulm"}')]}}
    row = {"request": {"messages": ASKED, "tools": [FUNCTION]}, "response": {}}
    row["response"] = {"choices": [other, first]}
    [record] = read("openai", tmp_path, row)
    assert calls_of(record) == [{"city": "Ulm"}]


@pytest.mark.parametrize(
    "content",
    ["<html>\n<head><title>502 Bad Gateway</title></head>", "Error code: 429 - {'error': 1}"],
)
def test_what_a_failing_server_says_is_no_answer(content: str, tmp_path: Path) -> None:
    [record] = read("openai", tmp_path, answered(content))
    assert record.sample is None
    assert "a server says that fails" in record.problems[0].message


def test_a_value_that_a_log_has_cut_is_no_gold(tmp_path: Path) -> None:
    cut = call({"city": "Ulm... (litellm_truncated 90 chars) ...Neu-Ulm"})
    [record] = read("openai", tmp_path, answered(None, cut))
    assert record.sample is None
    assert "litellm_truncated" in record.problems[0].message


def test_a_call_in_both_forms_is_one_call(tmp_path: Path) -> None:
    both = call({"city": "Ulm"})
    [record] = read("openai", tmp_path, answered(None, both, function_call=both["function"]))
    assert calls_of(record) == [{"city": "Ulm"}]


def test_a_null_in_place_of_what_a_tool_requires_is_no_padding(tmp_path: Path) -> None:
    [record] = read("openai", tmp_path, answered(None, call({"city": None})))
    required = "city" in FUNCTION["function"]["parameters"].get("required", ())
    assert calls_of(record) == [{"city": None} if required else {}]


@pytest.mark.parametrize(
    ("words", "written", "read_as"),
    [
        ("Weather at Tom & Jerry's?", "Tom &amp; Jerry&#39;s", "Tom & Jerry's"),
        ("Weather at Tom &amp; Jerry?", "Tom &amp; Jerry", "Tom &amp; Jerry"),
        ("Weather, please.", "Tom &amp; Jerry", "Tom &amp; Jerry"),
        ("Weather at Tom & Jerry?", "Tom & Jerry", "Tom & Jerry"),
    ],
)
def test_an_escape_of_html_is_the_character_if_the_words_have_it(
    words: str, written: str, read_as: str, tmp_path: Path
) -> None:
    row = answered("", call({"city": written, "more": {"list": [written, 3]}}))
    row["messages"][0] = {"role": "user", "content": words}
    [record] = read("openai", tmp_path, row)
    assert calls_of(record) == [{"city": read_as, "more": {"list": [read_as, 3]}}]
    told = [one.message for one in record.problems if "HTML" in one.message]
    assert [f"{written!r} is {read_as!r}" in one for one in told] == [True] * (read_as != written)
