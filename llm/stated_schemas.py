"""The schema of an answer as models see it: types, choices and bounds, and no words of ours."""

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, Field

from callwright.warehouse.records import JsonSchema

_MAPS = frozenset({"properties", "patternProperties", "$defs"})
_VALUES = frozenset({"enum", "const", "required"})
_NOTES = frozenset({"title", "description", "default"})

# A longer text is read all the same, and judged by whoever asked for it; a server that holds
# schemas ends the reply of a model that does not end by itself.
Line = Annotated[str, Field(json_schema_extra={"maxLength": 300})]
Paragraph = Annotated[str, Field(json_schema_extra={"maxLength": 1000})]


@cache
def stated_schema(answer: type[BaseModel]) -> JsonSchema:
    """Return the JSON Schema of an answer without notes; its title, the task, stays."""
    schema = answer.model_json_schema()
    return {"title": schema.get("title", answer.__name__), **_without_notes(schema)}


def choice_schema(names: Iterable[str], *, or_none: bool = False) -> JsonSchema:
    """Return the schema of one of these names, or of null as well."""
    chosen: JsonSchema = {"type": "string", "enum": [*names]}
    if or_none:
        return {"anyOf": [chosen, {"type": "null"}]} if chosen["enum"] else {"type": "null"}
    return chosen


def _without_notes(schema: Any) -> Any:  # noqa: ANN401 - a JSON Schema, or a part of one
    if isinstance(schema, list):
        return [_without_notes(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    stated: JsonSchema = {}
    for name, value in schema.items():
        if name in _MAPS and isinstance(value, dict):
            stated[name] = {one: _without_notes(inner) for one, inner in value.items()}
        elif name in _VALUES:
            stated[name] = value
        elif name == "pattern" and isinstance(value, str):
            stated[name] = portable_pattern(value)
        elif name not in _NOTES:
            stated[name] = _without_notes(value)
    return stated


def portable_pattern(pattern: str) -> str:
    r"""Return a pattern with `[0-9]` for `\d`, which not every server's grammar knows."""
    written, at, is_in_class = "", 0, False
    while at < len(pattern):
        sign = pattern[at : at + 2] if pattern[at] == "\\" else pattern[at]
        at += len(sign)
        if sign == r"\d":
            sign = "0-9" if is_in_class else "[0-9]"
        elif sign in {"[", "]"}:
            is_in_class = sign == "["
        written += sign
    return written
