"""What there is to tell of a result: its values with what they are called, by the schema of what the tool returns."""

from collections.abc import Iterator

from pydantic import JsonValue

from warehouse.records import Fact, JsonSchema, Tool


def facts_of(result: JsonValue, tool: Tool) -> list[Fact]:
    """The texts and numbers of a result in its order, then whether something is so; of a list the first entry's come first."""
    found = list(_facts("", result, tool.returns or {}))
    return [one for one in found if not isinstance(one.value, bool)] + [
        one for one in found if isinstance(one.value, bool)
    ]


def _facts(name: str, value: JsonValue, schema: JsonSchema) -> Iterator[Fact]:
    if isinstance(value, dict):
        members = schema.get("properties") or {}
        for member, held in value.items():
            yield from _facts(member, held, members.get(member) or {})
    elif isinstance(value, list):
        for held in value:
            yield from _facts(name, held, schema.get("items") or {})
    elif value is not None and name:
        yield Fact(label=str(schema.get("description") or name.replace("_", " ")), value=value)
