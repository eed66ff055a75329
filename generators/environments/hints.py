"""Links told to models: a sentence at the end of a parameter's description says which response holds its value."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from generators.environments.naming import plain
from warehouse.records import JsonSchema, Link, Tool

MOST_HINTS = 4


def with_hints(tools: Sequence[Tool], links: Iterable[Link]) -> tuple[Tool, ...]:
    """The tools, each linked parameter's description naming up to MOST_HINTS places that its value stands in.

    Lists come first, for a value out of a list has to be chosen; places that the tools can't give are not named.
    """
    by_name = {tool.name: tool for tool in tools}
    hints: dict[tuple[str, str], list[Link]] = defaultdict(list)
    for link in links:
        if link.source in by_name:
            hints[link.tool, link.parameter].append(link)
    return tuple(_hinted(tool, hints, by_name) for tool in tools)


def hint_of(link: Link, source: Tool) -> str:
    """How a description says a link; `source` is the tool whose response has the value."""
    if link.entries:
        place = f" of an entry of `{link.entries}`"
    else:
        place = " of an entry" if plain(source.returns or {}).get("type") == "array" else ""
    return f"(`{link.field}`{place} in the response of {link.source})"


def _hinted(tool: Tool, hints: Mapping[tuple[str, str], list[Link]], tools: Mapping[str, Tool]) -> Tool:
    schema = tool.parameters
    for (name, parameter), links in hints.items():
        if name == tool.name:
            told = " ".join(hint_of(link, tools[link.source]) for link in links[:MOST_HINTS])
            schema = _told(schema, parameter.split("."), told)
    return tool if schema is tool.parameters else tool.with_changes(parameters=schema)


def _told(schema: JsonSchema, path: list[str], told: str) -> JsonSchema:
    """The schema with a sentence at the end of the description that stands at `path` ("legs[]", "fromId")."""
    if not path:
        return {**schema, "description": f"{schema.get('description') or ''} {told}".strip()}
    for key in ("anyOf", "oneOf"):
        if "properties" not in schema and isinstance(schema.get(key), list):
            return {**schema, key: [_told(one, path, told) if _holds(one, path[0]) else one for one in schema[key]]}
    name, is_list = path[0].removesuffix("[]"), path[0].endswith("[]")
    if name not in (schema.get("properties") or {}):
        return schema
    member = schema["properties"][name]
    if is_list and len(path) > 1:
        member = {**member, "items": _told(member.get("items") or {}, path[1:], told)}
    else:
        member = _told(member, path[1:], told)
    return {**schema, "properties": {**schema["properties"], name: member}}


def _holds(schema: JsonSchema, name: str) -> bool:
    return name.removesuffix("[]") in (schema.get("properties") or {})
