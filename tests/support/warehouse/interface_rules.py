"""What OpenAI, Anthropic and Gemini say publicly of tools, written down strictly.

OpenAI: the reference of `tools` and its messages "schema must have type 'object' and not have
'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level", "array schema missing items" and "[] is too
short". Anthropic: the pages on tool use and on tools of one's own (no `$ref`, no alternatives at
the top, names of properties). Gemini: FunctionDeclaration and Schema of the API's reference.
"""

import re
from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]
OPENAI_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ANTHROPIC_NAME, ANTHROPIC_KEY = OPENAI_NAME, re.compile(r"[a-zA-Z0-9_.-]{1,64}")
GEMINI_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}")
GEMINI_KEY = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")
_INSIDE = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")


def refusals(function: Schema) -> list[str]:
    """Why one of the three refuses a function: "openai: …"; empty if none does."""
    return [*_of_openai(function), *_of_anthropic(function), *_of_gemini(function)]


def _of_openai(function: Schema) -> Iterator[str]:
    top = function["parameters"]
    if not OPENAI_NAME.fullmatch(function["name"]):
        yield f"openai: name {function['name']!r}"
    if top.get("type") != "object" or not isinstance(top.get("properties"), dict):
        yield "openai: no object with properties"
    for word in {"oneOf", "anyOf", "allOf", "enum", "not"} & top.keys():
        yield f"openai: {word} at the top"
    for schema in _schemas(top):
        if "array" in _kinds(schema) and "items" not in schema:
            yield "openai: an array without items"
        if schema.get("enum") == []:
            yield "openai: an enum of nothing"


def _of_anthropic(function: Schema) -> Iterator[str]:
    top = function["parameters"]
    if not ANTHROPIC_NAME.fullmatch(function["name"]):
        yield f"anthropic: name {function['name']!r}"
    for word in {"oneOf", "anyOf", "allOf"} & top.keys():
        yield f"anthropic: {word} at the top"
    for schema in _schemas(top):
        if "$ref" in schema:
            yield "anthropic: a reference"
        for name in schema.get("properties", {}):
            if not ANTHROPIC_KEY.fullmatch(name):
                yield f"anthropic: property {name!r}"


def _of_gemini(function: Schema) -> Iterator[str]:
    if not GEMINI_NAME.fullmatch(function["name"]):
        yield f"gemini: name {function['name']!r}"
    for schema in _schemas(function["parameters"]):
        kinds, members = _kinds(schema), schema.get("properties", {})
        if "array" in kinds and "items" not in schema:
            yield "gemini: an array without items"
        if kinds and "array" not in kinds and "items" in schema:
            yield "gemini: items of no array"
        for name in members:
            if not GEMINI_KEY.fullmatch(name):
                yield f"gemini: property {name!r}"
        if members and not set(schema.get("required", ())) <= set(members):
            yield "gemini: required is not declared"


def _kinds(schema: Schema) -> list[str]:
    kind = schema.get("type", [])
    return kind if isinstance(kind, list) else [kind]


def _schemas(schema: Any) -> Iterator[Schema]:
    if not isinstance(schema, dict):
        return
    yield schema
    for key in _INSIDE:
        yield from _schemas(schema.get(key))
    for key in _LISTS:
        for one in schema.get(key, ()):
            yield from _schemas(one)
    for key in ("properties", "patternProperties", "dependentSchemas"):
        for one in schema.get(key, {}).values():
            yield from _schemas(one)
