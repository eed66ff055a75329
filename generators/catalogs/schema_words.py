"""Read the words of any dialect of JSON Schema as its current draft has them.

Drafts 3 to 7, OpenAPI's and Gemini's words, types as Python, Java and BFCL write them, and the
nulls with which tables pad their rows. `as_current` takes a node with its references, before its
subschemas are read; `in_plain_words` takes a node whose subschemas are read. One odd word costs
one word: what can't be read is dropped, with a note.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from typing import TypeGuard

from jsonschema import FormatChecker
from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Note, shown
from callwright.generators.catalogs.rewriting import ANNOTATIONS, LOWER, UPPER, without
from callwright.warehouse.records import JsonSchema

TYPE_WORDS: Mapping[str, str | None] = {  # None: any value
    **{word: word for word in ("object", "array", "string", "number", "integer", "boolean")},
    **dict.fromkeys(("dict", "hashmap", "hashtable", "map", "mapping"), "object"),
    **dict.fromkeys(("tuple", "list", "arraylist", "set", "queue", "stack", "sequence"), "array"),
    **dict.fromkeys(("str", "char"), "string"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(("int", "long", "short", "byte", "bigint"), "integer"),
    **dict.fromkeys(("null", "none", "nonetype"), "null"),
    "bool": "boolean",
    "any": None,
}
_MAY_BE_NULL = frozenset({"const", "default"})
_RENAMED = {"divisibleBy": "multipleOf", "disallow": "not", "extends": "allOf"}  # of draft 3
_COUNTS = frozenset({*LOWER[2:], *UPPER[2:]})
_BOUNDS = frozenset({*LOWER, *UPPER, "multipleOf"})
_FORMATS = frozenset(FormatChecker.checkers) - {"regex"}
_EXACT = 2**53  # whole numbers that a float holds
_OPTIONAL = re.compile(r",?\s*\(?optional\)?\s*$", re.IGNORECASE)
_GENERIC = re.compile(r"(?:\w+\.)?(\w+)\s*[\[<(](.*)[\]>)]")
_EITHER = re.compile(r"\s*\|\s*|\s+or\s+")
# keywords by which null may not be allowed
EXCLUDING = frozenset({"type", "enum", "const", "allOf", "anyOf", "oneOf", "not"})
IMPOSSIBLE: JsonSchema = {"not": {}}


def as_current(schema: JsonSchema) -> JsonSchema:
    """Return a node in the words of the current draft, without the nulls of padding."""
    plain = {
        _RENAMED.get(key, key): value
        for key, value in schema.items()
        if value is not None or key in _MAY_BE_NULL
    }
    if isinstance(listed := plain.get("properties"), list):
        plain["properties"] = by_name(listed)
    for key in ("properties", "patternProperties"):
        if isinstance(members := plain.get(key), dict):
            plain[key] = {name: one for name, one in members.items() if one is not None}
    if isinstance(plain.get("not"), str):
        plain["not"] = {"type": plain["not"]}
    if isinstance(plain.get("allOf"), dict):
        plain["allOf"] = [plain["allOf"]]
    if isinstance(kinds := plain.get("type"), list) and any(isinstance(one, dict) for one in kinds):
        del plain["type"]
        branches = [one if isinstance(one, dict) else {"type": one} for one in kinds]
        plain["allOf" if "anyOf" in plain else "anyOf"] = branches
    return _with_dependents(_with_required(plain))


def by_name(listed: list[JsonValue]) -> JsonValue:
    """Return members that are listed with their names as an object; anything else unchanged.

    An empty list is how PHP writes an empty object.
    """
    members = [one for one in listed if isinstance(one, dict) and isinstance(one.get("name"), str)]
    if len(members) < len(listed):
        return listed
    return {str(one["name"]): without(one, "name") for one in members}


def _with_required(schema: JsonSchema) -> JsonSchema:
    """Return an object that lists what its members say of themselves, as draft 3 has it."""
    members, stated = schema.get("properties"), schema.get("required")
    if isinstance(stated, str) and isinstance(members, dict) and stated in members:
        stated = [stated]
    if isinstance(stated, list):
        stated = list(dict.fromkeys(name for name in stated if isinstance(name, str)))
        schema = {**schema, "required": stated}
    if not isinstance(members, dict):
        return schema
    said = {
        name: one["required"]
        for name, one in members.items()
        if isinstance(one, dict) and isinstance(one.get("required"), bool)
    }
    if not said:
        return schema
    listed = stated if isinstance(stated, list) else []
    needed: list[JsonValue] = [*listed, *(name for name in said if said[name])]
    bare = {
        name: without(one, "required") if name in said else one for name, one in members.items()
    }
    return {**schema, "properties": bare, "required": list(dict.fromkeys(needed))}


def _with_dependents(schema: JsonSchema) -> JsonSchema:
    """Return a schema whose `dependencies` are told apart, as since draft 2019-09."""
    stated = schema.get("dependencies")
    if not isinstance(stated, dict):
        return schema
    plain = without(schema, "dependencies")
    lists = {name: [one] if isinstance(one, str) else one for name, one in stated.items()}
    for key, kind in (("dependentRequired", list), ("dependentSchemas", dict)):
        if found := {name: one for name, one in lists.items() if isinstance(one, kind)}:
            plain[key] = found
    return plain


def in_plain_words(
    schema: JsonSchema, notes: list[Note], *, types_are_told: bool = True
) -> JsonSchema:
    """Return a node with JSON Schema's types, numbers as numbers, and choices that differ."""
    plain = with_examples(_with_type(schema, notes, are_told=types_are_told))
    for word in _BOUNDS & plain.keys():
        plain = {**plain, word: _as_number(plain[word], is_count=word in _COUNTS)}
    for bound in ("minimum", "maximum"):
        plain = exclusive(plain, bound, f"exclusive{bound.capitalize()}")
    plain = of_its_type(_with_choices_once(plain, notes), notes)
    if True in (plain.get("nullable"), plain.get("x-nullable")):
        plain = nullable(plain)
    return _without_impossible(without(plain, "nullable", "x-nullable"), notes)


def _with_type(schema: JsonSchema, notes: list[Note], *, are_told: bool) -> JsonSchema:
    stated = schema.get("type")
    if not isinstance(stated, str | list) or _are_json_types(stated):
        return schema
    words = (
        ["null" if one is None else one for one in stated] if isinstance(stated, list) else [stated]
    )
    read = [_type_of(word) if isinstance(word, str) else None for word in words]
    if any(one is None for one in read):
        message = f"The type word {shown(stated)} is not known; any value is taken."
        notes.append(Note("unknown_type", message))
        return without(schema, "type")
    kinds = {kind: None for one in read if one for kind in _kinds_in(one)}
    beside = {key: value for one in read for key, value in (one or {}).items() if key != "type"}
    is_open = any(one == {} for one in read)
    if are_told and not is_open:
        told = " or ".join(kinds)
        message = f"The type word {shown(stated)} is not JSON Schema's; read as {told!r}."
        notes.append(Note("renamed_type", message))
    rest = without(schema, "type")
    if is_open:
        return rest
    return {"type": next(iter(kinds)) if len(kinds) == 1 else [*kinds], **beside, **rest}


def _are_json_types(stated: str | list[JsonValue]) -> bool:
    listed = [stated] if isinstance(stated, str) else stated
    return all(isinstance(one, str) and one in KINDS for one in listed)


def _kinds_in(schema: JsonSchema) -> Iterable[str]:
    kind = schema.get("type")
    return [kind] if isinstance(kind, str) else kind if are_names(kind) else []


def _type_of(written: str) -> JsonSchema | None:
    """Return the schema that a type word names: {} for any value, None if nobody knows it.

    Generics count by their outer type, and lists by their items too: "List[int], optional" is an
    array of integers, "Optional[str]" a string, "int or str" either.
    """
    word = _OPTIONAL.sub("", written).strip()
    if word.lower() in TYPE_WORDS:
        kind = TYPE_WORDS[word.lower()]
        return {} if kind is None else {"type": kind}
    if word.lower() in _FORMATS:
        return {"type": "string", "format": word.lower()}
    if word.endswith("[]"):
        return _array_of(word[:-2])
    if found := _GENERIC.fullmatch(word):
        return _generic(found[1].lower(), found[2])
    parts = _EITHER.split(word)
    return _any_of(parts) if len(parts) > 1 else None


def _generic(outer: str, inner: str) -> JsonSchema | None:
    if outer == "optional":
        return _type_of(inner)
    if outer == "union":
        return _any_of(inner.split(","))
    kind = TYPE_WORDS.get(outer)
    if outer == "tuple" and (places := _places(inner)):
        count = len(places)
        return {"type": "array", "prefixItems": [*places], "minItems": count, "maxItems": count}
    if kind == "array":
        return _array_of(inner)
    return None if kind is None else {"type": kind}


def _places(written: str) -> list[JsonSchema]:
    """Return the type of each place of a tuple; [] if it has any length, or a type is not known."""
    types = [_type_of(word) for word in written.split(",")]
    return [one for one in types if one] if all(types) and len(types) > 1 else []


def _array_of(written: str) -> JsonSchema:
    items = _type_of(written.removesuffix(", ..."))
    return {"type": "array", "items": items} if items else {"type": "array"}


def _any_of(words: list[str]) -> JsonSchema | None:
    read = [_type_of(word) for word in words]
    kinds = [kind for one in read if one is not None for kind in _kinds_in(one)]
    return {"type": list(dict.fromkeys(kinds))} if len(kinds) == len(words) else None


def _as_number(value: JsonValue, *, is_count: bool) -> JsonValue:
    """Return a bound as a number: Gemini's 64-bit integers are texts, and some write 3.0."""
    number = value
    if isinstance(value, str):
        number = cast(value, "number")
    if is_count and isinstance(number, float) and number.is_integer() and abs(number) <= _EXACT:
        number = int(number)
    return value if number is None else number


def _with_choices_once(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    """Return a schema that lists each choice once; 1 and true are two, 1 and 1.0 one."""
    choices = schema.get("enum")
    if not isinstance(choices, list):
        return schema
    once = list(_distinct(choices))
    if len(once) == len(choices):
        return schema
    notes.append(Note("repeated_choice", f"The choices {shown(choices)} repeat; each counts once."))
    return {**schema, "enum": once}


def _distinct(values: list[JsonValue]) -> Iterator[JsonValue]:
    met: list[JsonValue] = []
    for value in values:
        if not any(_are_equal(value, other) for other in met):
            met.append(value)
            yield value


def _are_equal(one: JsonValue, other: JsonValue) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


_TELLING = frozenset({"format", "pattern", "enum", "const"})
_DAY = r"\d{4}-[01]\d-[0-3]\d"
_SHOWN_FORMATS = {
    "date-time": re.compile(rf"{_DAY}T[0-2]\d:[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"),
    "date": re.compile(_DAY),
}


def with_examples(schema: JsonSchema) -> JsonSchema:
    """Return a schema with its examples as a list, from a single or from named examples."""
    if not {"example", "examples"} & schema.keys():
        return schema
    examples = schema.get("examples", [schema.get("example")])
    if isinstance(examples, dict):
        named = (one for one in examples.values() if isinstance(one, dict))
        examples = [one["value"] for one in named if "value" in one]
    elif not isinstance(examples, list):
        examples = [examples]
    listed = [one for one in examples if one is not None]  # `example: null` shows nothing
    plain = without(schema, "example", "examples")
    return {**plain, **_shown_format(schema, listed), "examples": listed} if listed else plain


def _shown_format(schema: JsonSchema, examples: list[JsonValue]) -> JsonSchema:
    """Return the format of a text whose examples all are moments or days and that states none."""
    if schema.get("type") != "string" or _TELLING & schema.keys():
        return {}
    for word, pattern in _SHOWN_FORMATS.items():
        if all(isinstance(one, str) and pattern.fullmatch(one) for one in examples):
            return {"format": word}
    return {}


def exclusive(schema: JsonSchema, bound: str, word: str) -> JsonSchema:
    """Replace the boolean `exclusiveMinimum` of drafts 3 and 4, which says if `minimum` counts."""
    flag = schema.get(word)
    if not isinstance(flag, bool):
        return schema
    rest = without(schema, word)
    if flag and bound in rest:
        rest[word] = rest.pop(bound)
    return rest


def nullable(schema: JsonSchema) -> JsonSchema:
    """Return a schema that allows null too."""
    kind, choices = schema.get("type"), schema.get("enum")
    if not set(schema) - ANNOTATIONS:
        return schema
    kinds = [kind] if isinstance(kind, str) else kind
    if schema.keys() & (EXCLUDING - {"type", "enum"}) or not are_names(kinds):
        return _with_null_branch(schema)
    allowing = schema if "null" in kinds else {**schema, "type": [*kinds, "null"]}
    if not isinstance(choices, list) or None in choices:
        return allowing
    return {**allowing, "enum": [*choices, None]}


def _with_null_branch(schema: JsonSchema) -> JsonSchema:
    known_branches = schema.get("anyOf")
    if isinstance(known_branches, list) and set(schema) <= {"anyOf", *ANNOTATIONS}:
        branches = known_branches
    else:
        branches = []
    if any(isinstance(one, dict) and is_null(one) for one in branches):
        return schema
    return {"anyOf": [schema, {"type": "null"}]}


def is_null(schema: JsonSchema) -> bool:
    """Whether a schema allows null and nothing else."""
    bare = without(schema, *ANNOTATIONS)
    return bare in ({"const": None}, {"enum": [None]}) or (
        bare.get("type") == "null" and without(bare, "type") in ({}, {"enum": [None]})
    )


def is_number(value: JsonValue) -> TypeGuard[int | float]:
    """Whether a JSON value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


KINDS: Mapping[str, Callable[[JsonValue], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: is_number(value) and float(value).is_integer(),
    "number": is_number,
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
}


def of_its_type(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    """Cast choices to the declared type: YAML reads 2024 as a number, and some quote numbers."""
    kind, choices = schema.get("type"), schema.get("enum")
    if kind not in ("string", "integer", "number") or not isinstance(choices, list):
        return schema
    wrong = [one for one in choices if one is not None and not KINDS[kind](one)]
    if not wrong:
        return schema
    flags = [one for one in wrong if isinstance(one, bool)]
    if flags and kind == "string" and any(isinstance(one, str) for one in choices):
        # YAML reads NO and OFF as false
        message = f"The choices {shown(flags)} are no texts, as YAML reads NO or ON; dropped."
        notes.append(Note("invalid_keyword", message))
        kept = [one for one in choices if not isinstance(one, bool)]
        return of_its_type({**schema, "enum": kept}, notes)
    if None in (cast(one, kind) for one in wrong):
        message = f"Of the choices {shown(wrong)} none is of the type {kind!r}; the choices count."
        notes.append(Note("invalid_keyword", message))
        return without(schema, "type")
    fits = KINDS[kind]
    enum = [one if one is None or fits(one) else cast(one, kind) for one in choices]
    return {**schema, "enum": enum}


def cast(value: JsonValue, kind: str) -> JsonValue:
    """Return the value as text, a number or a boolean; None if it can't be read as one."""
    if kind == "boolean":
        return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None
    if kind == "string":
        text = str(value) if isinstance(value, int | float) else None
        return text.lower() if text and isinstance(value, bool) else text
    try:
        number = float(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if number is None or not isfinite(number):
        return None
    return int(number) if number.is_integer() else number if kind == "number" else None


def _without_impossible(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    """Drop optional members for which no value fits; a schema that needs one allows nothing."""
    if schema.get("enum") == []:
        return IMPOSSIBLE
    if _is_impossible(schema.get("items")) and is_number(least := schema.get("minItems", 0)):
        return IMPOSSIBLE if least > 0 else schema
    members, required = schema.get("properties"), schema.get("required")
    if not isinstance(members, dict):
        return schema
    lost = [name for name, one in members.items() if _is_impossible(one)]
    needed = [name for name in lost if isinstance(required, list) and name in required]
    if not lost:
        return schema
    wanted = f"the required {shown(needed)}." if needed else f"{shown(lost)}; dropped."
    notes.append(Note("no_value", f"No value fits {wanted}"))
    if needed:
        return IMPOSSIBLE
    return {**schema, "properties": {name: members[name] for name in members if name not in lost}}


def _is_impossible(schema: JsonValue) -> bool:
    return schema is False or schema == IMPOSSIBLE


def are_names(value: object) -> TypeGuard[list[str]]:
    """Whether a value is a list of text."""
    return isinstance(value, list) and all(isinstance(name, str) for name in value)
