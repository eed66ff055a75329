"""What OpenAI says publicly of fine-tuning files, written down strictly."""

import json
from typing import Any

from jsonschema import Draft202012Validator

from tests.support.warehouse.interface_rules import refusals

LINE = {"messages", "tools"}
KEYS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls", "weight"},
    "tool": {"role", "content", "tool_call_id"},
}


def validate_openai_row(row: dict[str, Any]) -> None:
    """Hold a row against what OpenAI says of fine-tuning files; what its API refuses is an
    error.
    """
    assert set(row) <= LINE
    tools = row.get("tools", [])
    names = [tool["function"]["name"] for tool in tools]
    assert len(tools) <= 128
    assert len(set(names)) == len(names)
    assert all(tool.keys() == {"type", "function"} for tool in tools)
    assert [one for tool in tools for one in refusals(tool["function"])] == []
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}
    waiting: list[str] = []
    for message in row["messages"]:
        assert set(message) <= KEYS[message["role"]]
        assert message["role"] == "tool" or not waiting, (
            "every call is answered before anything else is said"
        )
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
        calls = message.get("tool_calls", [])
        assert bool(calls) is not bool(message.get("content")), message
        for call in calls:
            arguments = json.loads(call["function"]["arguments"])
            Draft202012Validator(schemas[call["function"]["name"]]).validate(arguments)
            assert "$$$" not in call["function"]["arguments"]
            waiting.append(call["id"])
    assert row["messages"][0]["role"] in ("system", "user")
    assert row["messages"][-1]["role"] == "assistant"
    assert [message["role"] for message in row["messages"] if message.get("weight", 1)].count(
        "assistant"
    ) == 1
