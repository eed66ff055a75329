"""Simulate tools from their description, schemas and input (CONFETTI 3.1)."""

import re
from collections.abc import Callable, Collection, Mapping
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.linking import is_wrapping, plain, words_of
from callwright.language.calls.sampling import joined, make_value, put_in_order, type_within
from callwright.language.names import deed_of, function_words, names_one, split_name
from callwright.language.pages import filled, shapes_in
from callwright.language.schemas import TIME_VALUE, choices_of, fits, json_type
from callwright.warehouse.records import Arguments, Call, ErrorCode, JsonSchema, Link, Tool

LOOKING = frozenset({"list", "search", "look"})  # deeds that change nothing
_MOST_ENTRIES = 3
_DEEPEST = 4
_TRIES = 6
_DRAWS = 50  # of a time within limits
_IDS = frozenset({"id", "identifier", "uid", "uuid", "guid", "gid", "oid", "sid"})
_MAKING = frozenset({"duplicate", "clone", "copy"})  # besides the deed "make"
_CONVERTING = frozenset({"convert", "translate", "transform"})
# what a thing is when it is off or gone
_OFF = frozenset(
    {"archived", "banned", "blocked", "canceled", "cancelled", "deleted", "disabled", "error"}
    | {"expired", "failed", "inactive", "invalid", "paused", "rejected", "removed", "revoked"}
    | {"suspended"}
)
ROOT = 4  # letters by which a verb is known: "cancelled" as "cancel"
_SIZING = frozenset({"limit", "size", "count", "page", "top", "max"})
_PLACING = frozenset({"limit", "size", "offset", "page", "more", "skip"})
_CURSORS = frozenset({"cursor", "bookmark", "next", "previous", "prev"})
_OF_A_TOKEN = frozenset({"page", "next", "continuation", "pagination"})
_CURSOR_LENGTH = 24
_FIRST_WORDS = 4  # of a description: "An opaque cursor"
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


def shape_of(schema: JsonSchema) -> JsonSchema:
    """Return a result's schema without null, the parts of its `allOf` as one."""
    return plain(joined(plain(schema)))


def cursors_of(schema: JsonSchema) -> set[str]:
    """Return the members of an object by which the next page of a list beside them is asked for."""
    members = {
        name: shape_of(one)
        for name, one in (schema.get("properties") or {}).items()
        if isinstance(one, dict)
    }
    if not any(json_type(one) == "array" for one in members.values()):
        return set()
    return {
        name for name, one in members.items() if json_type(one) == "string" and _is_cursor(name)
    }


def paging_of(schema: JsonSchema) -> set[str]:
    """Return the members of an object that say where in a list its result stands, or lead on.

    They stand beside the list: its size and offset as numbers, cursors, and objects of these.
    """
    members = {
        name: shape_of(one)
        for name, one in (schema.get("properties") or {}).items()
        if isinstance(one, dict)
    }
    if not any(json_type(one) == "array" for one in members.values()):
        return set()
    return {name for name, one in members.items() if _pages(name, one)}


def _pages(name: str, schema: JsonSchema) -> bool:
    kind, last = json_type(schema), words_of(name)[-1:]
    if kind == "object":
        inner = schema.get("properties") or {}
        return any(
            _pages(one, shape_of(inner[one])) for one in inner if isinstance(inner[one], dict)
        )
    if kind == "string":
        told = str(schema.get("description") or "").lower()
        return _is_cursor(name) or not _CURSORS.isdisjoint(told.split()[:_FIRST_WORDS])
    return kind in ("integer", "number", "boolean") and not _PLACING.isdisjoint(last)


def _is_cursor(name: str) -> bool:
    words = words_of(name)
    if words[-1:] == ["token"]:
        return not _OF_A_TOKEN.isdisjoint(words)
    return words[-1:] == ["cursor"] or (len(words) == 1 and not _CURSORS.isdisjoint(words))


def links_between(source: Tool, tool: Tool) -> list[Link]:
    """Return links to what `tool` requires from results of `source` with the same name and type.

    What repeats parameters of `source` is excluded, and so are choices: the state of a thing is not
    the state to give it. Both tools must be of one category.
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
        and not any(_are_alike(offer.field, name) for name in source.properties)
        and (offer.entries or not _own_argument(source) or not _is_own(offer.field, source))
        and (len(words_of(offer.field)) > 1 or _is_of_what_takes_it(offer, source, tool))
        and offer.schema.get("type") == tool.properties[offer.field].get("type")
        and not choices_of(tool.properties[offer.field])
        and all(
            offer.schema.get(word) == tool.properties[offer.field].get(word)
            for word in ("pattern", "format")
        )
    ]


def _is_of_what_takes_it(offer: ReturnedField, source: Tool, tool: Tool) -> bool:
    """Whether an `id` is that of the thing that a tool is about; other plain names fit anything."""
    if not names_one(offer.field):
        return True
    given = words_of(offer.entries) if not is_wrapping(offer.entries) else _about(source)
    return bool(given) and given[-1] in _about(tool)[-2:]


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
    if words and deed_of(words[0]) in LOOKING:
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
    schema = shape_of(schema)
    if schema.get("type") == "null":
        return None
    if _is_unknown(schema):
        return {}
    members = schema.get("properties")
    if isinstance(members, dict) and members and depth < _DEEPEST:
        echoed = _echoed(members, asked) if _is_asked_of(name, asked, depth) else {}
        codes = cursors_of(schema)
        made = {
            member: (
                _cursor(member, inner, asked)
                if member in codes
                else echoed[member]
                if member in echoed
                else (depth > 0 and type_within(name, member, members))
                or _simulate(member, inner, asked, depth + 1)
            )
            for member, inner in members.items()
            if not tells_an_end(member, schema, asked.tool)
        }
        _tell_in_words(made, members)
        own = {member: value for member, value in made.items() if member not in echoed}
        put_in_order(own, members)
        return made | own
    items = schema.get("items")
    if schema.get("type") == "array" and isinstance(items, dict) and items.get("properties"):
        count = asked.entries or asked.rng.randint(1, _MOST_ENTRIES)
        within = asked._replace(listed=name)
        shared = _echoed(items["properties"], within)
        return _distinct(lambda: _simulate(name, items, within, depth + 1), count, shared)
    if schema.get("type") == "array" and isinstance(items, dict) and _is_unknown(shape_of(items)):
        return []
    is_reading = deed_of(next(iter(function_words(asked.tool.name)), "")) in LOOKING
    if schema.get("type") == "boolean" and (depth == 1 or (not depth and not is_reading)):
        return not is_switched_off(name, asked.tool)  # it went well
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


def _is_asked_of(name: str, asked: _SimulatedCall, depth: int) -> bool:
    """Whether the object `name` is what the call is about: the result, or what it wraps.

    In a list it is each entry.
    """
    is_wrapped = is_wrapping(name) or bool({*words_of(name)[-1:]} & {*_about(asked.tool)[-2:]})
    return depth == 0 or name == asked.listed or (depth == 1 and is_wrapped)


def _echoed(members: Mapping[str, JsonSchema], asked: _SimulatedCall) -> Arguments:
    """Return the members of an object that repeat what was asked.

    Those have an argument's name in any spelling, and take its value. The id of a single thing is
    that by which it was asked for; entries of a list were not asked for by theirs.
    """
    tool, own = asked.tool, _own_argument(asked.tool)
    echoed: Arguments = {}
    for argument, value in asked.given.items():
        words = words_of(argument)
        is_size = isinstance(value, int | float) and not _SIZING.isdisjoint(words)
        if asked.listed and (is_size or _is_own(argument, tool)):
            continue
        if verb_of(tool) in _CONVERTING and not _is_own(argument, tool):
            continue  # what goes in is not what comes out
        # what is made gets an id of its own
        if not own and len(words) == 1 and _is_own(argument, tool):
            continue
        same = [member for member in members if _are_alike(member, argument)]
        if not same and argument == own:
            same = [member for member in members if _is_own(member, tool)]
        for member in same:
            told = _as_typed(value, members[member]) if names_one(argument) else value
            if fits(told, members[member]):
                echoed[member] = told
    return echoed


def _as_typed(value: JsonValue, schema: JsonSchema) -> JsonValue:
    """Return a whole number as text or the other way round, where the result writes it so."""
    kind = json_type(shape_of(schema))
    if kind == "string" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    is_whole = isinstance(value, str) and value.isdecimal() and not value.startswith("0")
    return int(str(value)) if kind == "integer" and is_whole else value


def _are_alike(one: str, other: str) -> bool:
    """Whether two names are the same but for how they are spelled."""
    return one == other or words_of(one) == words_of(other) != []


def _own_argument(tool: Tool) -> str:
    """Return the parameter whose value is the id of the one thing that the tool is about, or ""."""
    verb = verb_of(tool)
    if verb in _MAKING or deed_of(verb) == "make":
        return ""
    return next((name for name in reversed(tool.required) if _is_own(name, tool)), "")


def is_switched_off(name: str, tool: Tool) -> bool:
    """Whether a member says that a thing is off or gone, and the tool does nothing of the kind."""
    off = _OFF.intersection(words_of(name))
    done = {word[:ROOT] for word in split_name(tool.name)}
    is_gone = deed_of(verb_of(tool)) == "drop"
    return bool(off) and not is_gone and done.isdisjoint(word[:ROOT] for word in off)


def tells_an_end(member: str, schema: JsonSchema, tool: Tool) -> bool:
    """Whether an optional member, such as `deleted_at`, tells an end that no call has brought."""
    known = shape_of((schema.get("properties") or {}).get(member) or {})
    is_optional = member not in (schema.get("required") or ())
    is_told = json_type(known) in ("string", "integer", "number") and not choices_of(known)
    return is_optional and is_told and is_switched_off(member, tool)


def _tell_in_words(values: dict[str, JsonValue], members: Mapping[str, JsonSchema]) -> None:
    """Make `status_text` say what `status` says, where both are choices in the same order."""
    for name, value in values.items():
        if not isinstance(value, str) or words_of(name)[-1:] != ["text"]:
            continue
        told = next((one for one in values if words_of(one) == words_of(name)[:-1]), "")
        words = choices_of(shape_of(members[name]))
        codes = choices_of(shape_of(members[told])) if told else ()
        if values.get(told) in codes and len(words) == len(codes):
            values[name] = str(words[codes.index(values[told])])


def verb_of(tool: Tool) -> str:
    """Return the word of a tool's name that says what it does: the first, else the last."""
    words = split_name(re.split(r"[./]", tool.name)[-1])
    is_first = deed_of(words[0]) != "other" or words[0] in _CONVERTING | _MAKING
    return words[0] if is_first else words[-1]


def _is_own(name: str, tool: Tool) -> bool:
    """Whether a value of this name is the id of what the tool's name is about.

    That is `id` alone, or the id of the thing that the name ends with but for a verb:
    `segment_id` for "segments/get", "getSegment" and "segments/get_by_id".
    """
    *thing, last = words_of(name) or [""]
    return last in _IDS and (not thing or thing[-1] in _about(tool)[-2:])


def _about(tool: Tool) -> list[str]:
    """Return the words of a tool's name in the singular, up to those that say by what it asks."""
    words = words_of(tool.name)
    return words[: words.index("by")] if "by" in words else words


def _cursor(name: str, schema: JsonSchema, asked: _SimulatedCall) -> JsonValue:
    """Return a code that names the next page, unless the schema says what it looks like."""
    code = f"{asked.rng.getrandbits(4 * _CURSOR_LENGTH):0{_CURSOR_LENGTH}x}"
    is_free = not choices_of(schema) and "examples" not in schema and fits(code, schema)
    return code if is_free else make_value(name, schema, asked.tool.language, asked.rng)


def _distinct(
    entry: Callable[[], JsonValue], count: int, shared: Collection[str]
) -> list[JsonValue]:
    """Return up to `count` entries with different first values, so that a list has no repeats.

    `shared` are the members that are the same in each.
    """
    distinct_entries: dict[str, JsonValue] = {}
    for _ in range(_TRIES * count):
        made = entry()
        own = [made[name] for name in made if name not in shared] if isinstance(made, dict) else []
        first = next(iter(own), made)
        distinct_entries.setdefault(str(first), made)
        if len(distinct_entries) == count:
            break
    return list(distinct_entries.values())
