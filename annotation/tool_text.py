"""Tools as a person reads them: a name, a sentence, and a line for each parameter."""

import json
from collections.abc import Iterator

from annotation.words import Words
from warehouse.records import JsonSchema, Tool


def describe_tool(tool: Tool, words: Words) -> str:
    """The tool in plain text."""
    parameters = (f"  • {name} {facts}" for name, facts in parameter_facts(tool, words))
    return "\n".join([f"{tool.name}: {tool.description}", *parameters])


def name_tool(tool: Tool) -> str:
    """The tool in one line: what it does, and the names of its parameters."""
    return f"{tool.name} ({', '.join(tool.properties)}): {tool.description}"


def parameter_facts(tool: Tool, words: Words) -> Iterator[tuple[str, str]]:
    """The name of each parameter, with its type, need and limits, and what it is for."""
    for name, schema in tool.properties.items():
        need = words.required if name in tool.required else words.optional
        about = str(schema.get("description", ""))
        kind = [] if "enum" in schema and "type" not in schema else [_type_name(schema)]
        facts = ", ".join([*kind, need, *_limits(schema, words)])
        yield name, f"({facts}) {about}".rstrip()


def _type_name(schema: JsonSchema) -> str:
    kind = schema.get("type", "any")
    name = " | ".join(map(str, kind)) if isinstance(kind, list) else str(kind)
    items = schema.get("items")
    return f"{name} of {_type_name(items)}" if isinstance(items, dict) else str(schema.get("format", name))


def _limits(schema: JsonSchema, words: Words) -> Iterator[str]:
    if "enum" in schema:
        yield f"{words.one_of} {' / '.join(_plain(value) for value in schema['enum'])}"
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None or high is not None:
        yield f"{'' if low is None else low}…{'' if high is None else high}"
    if "default" in schema:
        yield f"= {_plain(schema['default'])}"


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
