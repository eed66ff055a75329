"""OpenAI's chat format: names and arguments as its API takes them."""

import json
import re

from jsonschema import Draft202012Validator

from warehouse.exports.names import plain_names
from warehouse.exports.openai import openai_lines
from warehouse.records import Tool
from warehouse.releases import ReleaseContent

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def test_every_name_is_one_that_the_api_takes(content: ReleaseContent) -> None:
    for line in openai_lines(content):
        names = [tool["function"]["name"] for tool in line["tools"]]
        assert all(NAME.fullmatch(name) for name in names)
        assert len(set(names)) == len(names)


def test_the_true_names_are_in_the_metadata(content: ReleaseContent) -> None:
    first = next(openai_lines(content))
    assert first["metadata"]["names"]["Travel_Desk_book_trip"] == "Travel.Desk.book_trip"


def test_arguments_are_json_text_that_fits_the_tools_schema(content: ReleaseContent) -> None:
    called = 0
    for line in openai_lines(content):
        schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in line["tools"]}
        for message in line["messages"]:
            for call in message.get("tool_calls", ()):
                schema = {**schemas[call["function"]["name"]], "required": []}
                Draft202012Validator(schema).validate(json.loads(call["function"]["arguments"]))
                called += 1
    assert called == 5


def test_where_no_tool_fits_the_assistant_says_so(content: ReleaseContent) -> None:
    line = list(openai_lines(content))[3]
    assert [message["role"] for message in line["messages"]] == ["user", "assistant"]
    assert line["messages"][-1]["content"] == "Sorry, none of my tools can do this."


def test_names_that_become_alike_are_told_apart() -> None:
    def named(name: str) -> Tool:
        return Tool(name=name, description="", parameters={"type": "object"}, category="")

    names = ("a.b", "a_b", "a/b", "x" * 80 + "1", "y" * 80 + "1" + "x" * 63)
    plain = plain_names([named(name) for name in names])
    assert len(set(plain.values())) == len(names)
    assert all(NAME.fullmatch(name) for name in plain.values())
