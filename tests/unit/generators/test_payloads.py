"""A log has a conversation once for each time that a model was asked in it: that is one record."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.generators.test_sources import WEATHER, read, written

TOOLS = [{"type": "function", "function": WEATHER.signature}]


def called(city: str) -> dict[str, Any]:
    function = {"name": "get_weather", "arguments": json.dumps({"city": city})}
    return {"role": "assistant", "tool_calls": [{"id": city, "function": function}]}


def told(city: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": city, "content": "7"}


def asked(city: str) -> dict[str, Any]:
    return {"role": "user", "content": f"Weather in {city}?"}


def conversation(city: str) -> list[tuple[list[dict[str, Any]], dict[str, Any]]]:
    """What a model was asked in a conversation each time, and what it answered."""
    said = {"role": "assistant", "content": "7 degrees."}
    first, second = [asked(city)], [asked(city), called(city), told(city)]
    third = [*second, said, asked(f"{city} 2")]
    return [(first, called(city)), (second, said), (third, called(f"{city} 2"))]


def payload(form: str, messages: list[Any], answer: Any) -> dict[str, Any]:
    response = {"choices": [{"message": answer}]}
    if form == "litellm":
        return {"messages": messages, "model_parameters": {"tools": TOOLS}, "response": response}
    return {"request": {"messages": messages, "tools": TOOLS}, "response": response}


@pytest.mark.parametrize("form", ["openai", "litellm"])
def test_payloads_of_one_conversation_are_one_record(form: str, tmp_path: Path) -> None:
    rows = [payload(form, *one) for city in ("Ulm", "Linz") for one in conversation(city)]
    records = read(form, written(tmp_path / "log.jsonl", *rows[::-1]))
    assert [len(one.sample.turns) for one in records if one.sample] == [6, 6]


def test_the_time_in_a_system_message_and_words_beside_calls_make_no_other_conversation(
    tmp_path: Path,
) -> None:
    rows = []
    for at, (messages, answer) in enumerate(conversation("Ulm")):
        system = {"role": "system", "content": f"It is {at} o'clock."}
        more = {"content": "I look."} if at == 0 else {}
        rows.append(payload("openai", [system, *messages], {**answer, **more}))
    [record] = read("openai", written(tmp_path / "log.jsonl", *rows))
    assert record.sample is not None
    assert record.sample.system_message == "It is 2 o'clock."


def test_another_answer_to_the_same_words_is_another_record(tmp_path: Path) -> None:
    (first, _), second, _ = conversation("Ulm")
    rows = [payload("openai", first, called("Bonn")), payload("openai", *second)]
    assert len(read("openai", written(tmp_path / "log.jsonl", *rows))) == 2


def test_a_payload_lasts_where_the_one_that_goes_on_can_not_be_read(tmp_path: Path) -> None:
    first, (messages, _), _ = conversation("Ulm")
    broken = {"role": "assistant", "content": "7 deg", "finish_reason": "length"}
    rows = [payload("openai", *first), payload("openai", messages, broken)]
    kept, left_out = read("openai", written(tmp_path / "log.jsonl", *rows))
    assert kept.sample is not None
    assert "was cut off" in left_out.problems[0].message


def test_rows_for_training_stay_each_for_itself(tmp_path: Path) -> None:
    rows = [
        {"messages": [*messages, answer], "tools": TOOLS}
        for messages, answer in conversation("Ulm")
    ]
    assert len(read("openai", written(tmp_path / "rows.jsonl", *rows))) == 3


def test_a_response_that_goes_on_from_another_one_is_left_out_with_that_reason(
    tmp_path: Path,
) -> None:
    output = [{"type": "function_call", "call_id": "c", "name": "get_weather", "arguments": "{}"}]
    tools = [{"type": "function", **WEATHER.signature}]
    row = {"input": "And there?", "tools": tools, "output": output, "previous_response_id": "r1"}
    [record] = read("responses", written(tmp_path / "log.jsonl", row))
    assert record.sample is None
    assert "goes on from the response 'r1'" in record.problems[0].message
