"""Tools as they are shown to those who answer, read or learn.

A schema's examples are for making: gold values are drawn from them. Whoever saw them could answer
without reading the request, so readers, candidates and exported rows are shown none; of a code
they are shown the form, with zeros for its digits (docs/decisions/0068).
"""

import re
from collections.abc import Callable
from functools import lru_cache

from pydantic import JsonValue

from callwright.warehouse.records import JsonSchema, Tool
from callwright.warehouse.tool_notes import without_notes

_EXAMPLES = ("examples", "example")
_OF_NAMED_SCHEMAS = frozenset(
    {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"}
)
_OF_VALUES = frozenset({"const", "default", "enum", *_EXAMPLES})
_TELLS_FORM = frozenset({"const", "enum", "format", "pattern"})
_CODE = re.compile(r"(?=(?:\D*\d){3})\S{3,64}")
_DIGIT = re.compile(r"\d")


@lru_cache(4096)
def without_examples(tool: Tool) -> Tool:
    """Return a tool as readers see it: its schemas hold no values that gold may be drawn from."""
    return _changed(tool, _without_examples)


@lru_cache(4096)
def as_shown(tool: Tool) -> Tool:
    """Return a tool as candidates and exported rows have it: no examples, and no notes."""
    return _changed(without_examples(tool), _without_notes)


def _changed(tool: Tool, change: Callable[[JsonSchema], JsonSchema]) -> Tool:
    parameters = _changed_schemas(tool.parameters, change)
    returns = tool.returns and _changed_schemas(tool.returns, change)
    is_same = parameters == tool.parameters and returns == tool.returns
    return tool if is_same else tool.with_changes(parameters=parameters, returns=returns)


def _changed_schemas(schema: JsonSchema, change: Callable[[JsonSchema], JsonSchema]) -> JsonSchema:

    def inside(value: JsonValue) -> JsonValue:
        if isinstance(value, list):
            return [inside(one) for one in value]
        return _changed_schemas(value, change) if isinstance(value, dict) else value

    changed: JsonSchema = {}
    for word, value in change(schema).items():
        if word in _OF_NAMED_SCHEMAS and isinstance(value, dict):
            changed[word] = {name: inside(one) for name, one in value.items()}
        else:
            changed[word] = value if word in _OF_VALUES else inside(value)
    return changed


def _without_examples(schema: JsonSchema) -> JsonSchema:
    kept = {word: value for word, value in schema.items() if word not in _EXAMPLES}
    stated = schema.get("examples")
    listed = stated if isinstance(stated, list) else [schema.get("example")]
    codes = (one for one in listed if isinstance(one, str) and _CODE.fullmatch(one))
    code = None if _TELLS_FORM & schema.keys() else next(codes, None)
    return kept if code is None else kept | {"examples": [_DIGIT.sub("0", code)]}


def _without_notes(schema: JsonSchema) -> JsonSchema:
    described = schema.get("description")
    if not isinstance(described, str):
        return schema
    text = without_notes(described)
    if text or not described:
        return schema | {"description": text}
    # a parameter that has only notes has no description in its document
    return {word: value for word, value in schema.items() if word != "description"}
