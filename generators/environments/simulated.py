"""Simulate tools from their description, schemas and input (CONFETTI 3.1)."""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.sampling import make_value
from callwright.language.names import deed_of, function_words
from callwright.language.pages import filled, shapes_in
from callwright.language.schemas import TIME_VALUE, choices_of
from callwright.warehouse.records import Arguments, Call, ErrorCode, JsonSchema, Link, Tool

_LOOKING = frozenset({"list", "search", "look"})
_MOST_ENTRIES = 3
_DEEPEST = 4
_TRIES = 6
_DRAWS = 50  # of a time within limits
_NUMBERED = ("_id", "_code")
_OWN_NAMES = frozenset({"name", "title"})
_STATUS: dict[ErrorCode, int] = {
    "not_found": 404,
    "invalid_value": 422,
    "conflict": 409,
    "too_many_requests": 429,
    "unavailable": 503,
}


class ReturnedField(NamedTuple):
    """A value that a tool returns: its path, its name and its schema."""

    entries: str
    field: str
    schema: JsonSchema


class _SimulatedCall(NamedTuple):
    """What a result is simulated from: the call's arguments and list length (0: random).

    `listed` is the name of the list that an entry is for, "" outside of lists.
    """

    tool: Tool
    given: Arguments
    entries: int
    rng: Random
    listed: str = ""


def simulated_result(tool: Tool, arguments: Arguments, seed: int, *, entries: int = 0) -> JsonValue:
    """Return a tool's result for success, the same for a call and seed.

    Lists have `entries` entries each; 0 leaves that to chance. Raises ReplyError if no value
    satisfies the schema of the result.
    """
    rng = Random(f"{seed}:{Call(tool=tool.name, arguments=arguments).key}")
    returns = tool.returns or {}
    schema = _assumed(tool) if not returns or _is_unknown(returns) else returns
    return _simulate("result", schema, _SimulatedCall(tool, arguments, entries, rng))


def simulated_error(tool: Tool, arguments: Arguments, code: ErrorCode) -> JsonValue:
    """Return the error that a tool answers with, by its code."""
    stated = next((str(value) for value in arguments.values() if isinstance(value, str)), "")
    named = stated or next(iter(map(str, arguments.values())), tool.description)
    message = filled(shapes_in(tool.language, f"assistant.errors.{code}")[0], {"said": named})
    return {"error": {"code": code, "status": _STATUS[code], "message": message}}


def error_of(result: JsonValue) -> str:
    """Return the error code of a result, or "" if it is not an error."""
    error = result.get("error") if isinstance(result, dict) else None
    return str(error.get("code") or "error") if isinstance(error, dict) else ""


def links_between(source: Tool, tool: Tool) -> list[Link]:
    """Return links to what `tool` requires from results of `source` with the same name and type.

    Parameters of `source` are excluded, and so are choices: the state of a thing is not the state
    to give it. Both tools must be of one category.
    """
    if source.name == tool.name or source.category != tool.category:
        return []
    return [
        Link(
            tool=tool.name,
            parameter=offer.field,
            source=source.name,
            entries=offer.entries,
            field=offer.field,
        )
        for offer in _offers(source.returns or {})
        if offer.field in tool.required
        and offer.field not in source.properties
        and offer.schema.get("type") == tool.properties[offer.field].get("type")
        and not choices_of(tool.properties[offer.field])
        and all(
            offer.schema.get(word) == tool.properties[offer.field].get(word)
            for word in ("pattern", "format")
        )
    ]


def new_fields(tool: Tool) -> set[str]:
    """Return the names of the values that a tool returns but does not take."""
    return {offer.field for offer in _offers(tool.returns or {})}.difference(tool.properties)


def _offers(returns: JsonSchema) -> list[ReturnedField]:
    returned_items: list[ReturnedField] = []
    for name, schema in (returns.get("properties") or {}).items():
        inner = (schema.get("items") or {}).get("properties") or {}
        if schema.get("type") == "array":
            returned_items += [
                ReturnedField(name, field, member) for field, member in inner.items()
            ]
        elif schema.get("type") in ("string", "integer", "number"):
            returned_items.append(ReturnedField("", name, schema))
    return returned_items


def _is_unknown(schema: JsonSchema) -> bool:
    """Whether a schema takes any object and says nothing of its members."""
    return schema.get("type") == "object" and not (
        schema.get("properties") or isinstance(schema.get("additionalProperties"), dict)
    )


def _assumed(tool: Tool) -> JsonSchema:
    """Return a result schema for a tool without one: results if it looks up, else a status."""
    words = function_words(tool.name.split(".")[-1])
    if words and deed_of(words[0]) in _LOOKING:
        entry = {
            "type": "object",
            "properties": {"title": {"type": "string"}},
            "required": ["title"],
        }
        return {"type": "object", "properties": {"results": {"type": "array", "items": entry}}}
    number = {"type": "string", "pattern": r"^[A-Z]{2}\d{6}$"}
    return {"type": "object", "properties": {"success": {"const": True}, "reference": number}}


def _simulate(name: str, schema: JsonSchema, asked: _SimulatedCall, depth: int = 0) -> JsonValue:
    """Generate a value of the schema; a value that the call gave under that name is repeated."""
    if schema.get("type") == "null":
        return None
    if _is_unknown(schema):
        return {}
    members = schema.get("properties")
    if isinstance(members, dict) and members and depth < _DEEPEST:
        echoes = {member for member, inner in members.items() if _is_echo(member, inner, asked)}
        return {
            member: (
                asked.given[member]
                if member in echoes
                else _simulate(member, inner, asked, depth + 1)
            )
            for member, inner in members.items()
        }
    items = schema.get("items")
    if schema.get("type") == "array" and isinstance(items, dict) and items.get("properties"):
        count = asked.entries or asked.rng.randint(1, _MOST_ENTRIES)
        return _distinct(
            lambda: _simulate(name, items, asked._replace(listed=name), depth + 1), count
        )
    if depth == 1 and schema.get("type") == "boolean":
        return True  # it went well
    called = asked.listed.removesuffix("s") if name in _OWN_NAMES and asked.listed else name
    narrowed = _narrowed(name, schema, asked.given)
    drawn = (make_value(called, narrowed, asked.tool.language, asked.rng) for _ in range(_DRAWS))
    fitting = (kept for value in drawn if (kept := _timely(value, asked.given)) not in (None, []))
    found = next(fitting, None)
    return make_value(called, narrowed, asked.tool.language, asked.rng) if found is None else found


def _timely(value: JsonValue, given: Arguments) -> JsonValue:
    """Return times within the call's `earliest` and `latest`, and any other value; else None.

    Lists are filtered.
    """
    if isinstance(value, list):
        return [kept for one in value if (kept := _timely(one, given)) is not None]
    earliest, latest = (str(given.get(bound, "")) for bound in ("earliest", "latest"))
    is_time = isinstance(value, str) and TIME_VALUE.fullmatch(value) is not None
    return None if is_time and (str(value) < earliest or str(value) > (latest or "24")) else value


def _narrowed(name: str, schema: JsonSchema, given: Arguments) -> JsonSchema:
    """Return a schema within the call's limits (`max_price`); numbers lose their few examples."""
    narrowed = dict(schema)
    for key, prefix, nearer in (("maximum", "max_", min), ("minimum", "min_", max)):
        limit = given.get(prefix + name)
        if isinstance(limit, int | float):
            narrowed[key] = nearer(limit, schema.get(key, limit))
    # several results would have the same number
    if name.endswith(_NUMBERED) and "pattern" in schema:
        narrowed.pop("examples", None)
    return narrowed


def _is_echo(name: str, schema: JsonSchema, asked: _SimulatedCall) -> bool:
    """Whether a result repeats an argument: same name, type and description, outside of lists."""
    own = asked.tool.properties.get(name, {})
    return (
        not asked.listed
        and name in asked.given
        and own.get("type") == schema.get("type")
        and own.get("description") == schema.get("description")
    )


def _distinct(entry: Callable[[], JsonValue], count: int) -> list[JsonValue]:
    """Return up to `count` entries with different first values, so that a list has no repeats."""
    distinct_entries: dict[str, JsonValue] = {}
    for _ in range(_TRIES * count):
        made = entry()
        first = next(iter(made.values()), None) if isinstance(made, dict) else made
        distinct_entries.setdefault(str(first), made)
        if len(distinct_entries) == count:
            break
    return list(distinct_entries.values())
