"""BFCL's format: a question file and a possible-answer file for samples with a due call, a question file for the others.

The format's checker (bfcl-eval 2026.3.23, `ast_checker`) decides the shapes here. It can't say that a call is due with
fewer arguments than its tool requires, so nothing is required and what the gold leaves out is [""]: it may be missing,
and no value of it is right. It looks one level into objects: their members are lists of accepted values, anything
deeper is compared as it stands. Whole numbers and others in one list are written as decimals, because it wants one type.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import JsonValue

from warehouse.exports.names import plain_names
from warehouse.records import CallTurn, GoldCall, JsonSchema, Message, ReplyTurn, Sample, Tool, UserTurn
from warehouse.releases import ReleaseContent

_TYPES = {
    "object": "dict",
    "number": "float",
    "array": "array",
    "string": "string",
    "integer": "integer",
    "boolean": "boolean",
}


class BfclFiles(NamedTuple):
    """The lines of each file."""

    questions: list[dict[str, Any]]
    answers: list[dict[str, Any]]
    irrelevant: list[dict[str, Any]]


def bfcl_files(content: ReleaseContent) -> BfclFiles:
    """All samples of a release whose last call turn has one call, or none, as BFCL's `multiple` and `irrelevance`."""
    files = BfclFiles([], [], [])
    for sample in content.samples:
        tools = [content.tools[key] for key in sample.candidates]
        names = plain_names(tools)
        if len(sample.gold) == 1:
            name = f"multiple_{len(files.questions)}"
            call = sample.gold[0]
            gold = next(tool for tool in tools if tool.name == call.tool)
            files.questions.append(_question(name, sample, [_doc(tool, names, call, gold) for tool in tools]))
            files.answers.append({"id": name, "ground_truth": [{names[gold.name]: _accepted(call, gold)}]})
        elif not sample.gold:
            name = f"irrelevance_{len(files.irrelevant)}"
            files.irrelevant.append(_question(name, sample, [_doc(tool, names, None, None) for tool in tools]))
    return files


def _question(name: str, sample: Sample, functions: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": name, "question": [list(_messages(sample))], "function": functions, "callwright_key": sample.key}


def _messages(sample: Sample) -> Iterator[dict[str, str]]:
    """What was said before the last call that is due, or in all where none is."""
    last = max((index for index, turn in enumerate(sample.turns) if isinstance(turn, CallTurn)), default=None)
    for turn in sample.turns[:last]:
        match turn:
            case UserTurn(text=text, external=None):
                yield {"role": "user", "content": text}
            case UserTurn(text=text, external=Message(app=app, text=message)):
                yield {"role": "user", "content": f"{text}\n[{app}] {message}"}
            case ReplyTurn(text=text):
                yield {"role": "assistant", "content": text}


def _doc(tool: Tool, names: dict[str, str], call: GoldCall | None, gold: Tool | None) -> dict[str, Any]:
    given = call.arguments if call is not None and tool is gold else {}
    properties = {name: _typed(schema, given.get(name)) for name, schema in tool.properties.items()}
    return {
        "name": names[tool.name],
        "description": tool.description,
        "parameters": {"type": "dict", "properties": properties, "required": []},
    }


def _typed(schema: JsonSchema, value: JsonValue = None) -> dict[str, Any]:
    """A parameter in BFCL's types; where the schema names none, the gold value's own type decides."""
    schema = _plain(schema)
    declared = schema.get("type")
    if isinstance(declared, list):
        declared = next((one for one in declared if one != "null"), None)
    kind = _TYPES.get(str(declared)) or _type_of(value)
    typed: dict[str, Any] = {"type": kind, "description": str(schema.get("description", ""))}
    if "enum" in schema:
        typed["enum"] = schema["enum"]
    if kind == "array":
        items = schema.get("items")
        typed["items"] = _typed(
            items if isinstance(items, dict) else {}, value[0] if isinstance(value, list) and value else None
        )
    if kind == "dict" and isinstance(schema.get("properties"), dict):
        typed["properties"] = {name: _typed(member) for name, member in schema["properties"].items()}
    return typed


def _plain(schema: JsonSchema) -> JsonSchema:
    """The first branch that is not null, where a schema offers several."""
    branches = [one for word in ("anyOf", "oneOf") for one in schema.get(word) or () if one.get("type") != "null"]
    return {**branches[0], **schema} if branches and "type" not in schema else schema


def _type_of(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "boolean"
    return {int: "integer", float: "float", list: "array", dict: "dict"}.get(type(value), "string")


def _accepted(call: GoldCall, tool: Tool) -> dict[str, list[Any]]:
    return {name: [_wrapped(call.arguments[name])] if name in call.arguments else [""] for name in tool.properties}


def _wrapped(value: JsonValue) -> JsonValue:
    """A value as the checker compares it: the members of an object, and of each object in a list, in lists of their own."""
    if isinstance(value, list):
        return [_members(one) if isinstance(one, dict) else one for one in _of_one_type(value)]
    return _members(value) if isinstance(value, dict) else value


def _members(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: [member] for name, member in value.items()}


def _of_one_type(values: list[JsonValue]) -> list[JsonValue]:
    if {type(value) for value in values} == {int, float}:
        return [float(value) for value in values if isinstance(value, int | float)]
    return values
