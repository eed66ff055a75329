"""BFCL's format: a question file and a possible-answer file for samples with due calls, a question file for the others.

The public checker has no notion of a call that is due with fewer arguments than required, so `required` is emptied and
every parameter that the gold call does not give may be left out: [""] (EVALUATORS of BFCL; its checker, release 2026).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import JsonValue

from warehouse.exports.names import plain_names
from warehouse.records import GoldCall, JsonSchema, Sample, Tool, UserTurn
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
    said = [{"role": "user", "content": text} for text in _said(sample)]
    return {"id": name, "question": [said], "function": functions, "callwright_key": sample.key}


def _said(sample: Sample) -> Iterator[str]:
    for turn in sample.turns:
        if isinstance(turn, UserTurn):
            yield turn.text if turn.external is None else f"{turn.text}\n[{turn.external.app}] {turn.external.text}"


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


def _type_of(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "boolean"
    return {int: "integer", float: "float", list: "array", dict: "dict"}.get(type(value), "string")


def _accepted(call: GoldCall, tool: Tool) -> dict[str, list[Any]]:
    return {name: [_wrapped(call.arguments[name])] if name in call.arguments else [""] for name in tool.properties}


def _wrapped(value: JsonValue) -> Any:  # noqa: ANN401 - the checker wants each member of an object in a list of its own
    if isinstance(value, dict):
        return {name: [_wrapped(member)] for name, member in value.items()}
    return value
