"""What is valid in a schema: keywords by the metaschema, patterns, numbers and defaults.

A keyword that is not valid is dropped alone, because the rest of the schema may be. Characters
that nobody sees are taken out of what describes, and told where they stand in names and choices.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import orjson
import regex
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.validators import extend
from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Note, shown
from callwright.generators.catalogs.rewriting import (
    LOWER,
    ONE_SCHEMA,
    SCHEMA_LISTS,
    SCHEMA_MAPS,
    UPPER,
    without,
)
from callwright.generators.catalogs.schema_words import cast
from callwright.warehouse.records import JsonSchema

# patterns are checked by themselves: Python's own reading of them warns of what other languages
# allow
_FORMATS = FormatChecker(
    [one for one in Draft202012Validator.FORMAT_CHECKER.checkers if one != "regex"]
)
_METASCHEMA = Draft202012Validator(Draft202012Validator.META_SCHEMA, format_checker=_FORMATS)
# a pattern of somebody's may take for ever, so none is asked
_Validator = extend(Draft202012Validator, {"pattern": lambda *_: iter(())})  # type: ignore[no-untyped-call]
_MOMENT = "date-time"


@_FORMATS.checks(_MOMENT, raises=ValueError)
def _is_moment(value: object) -> bool:
    return not isinstance(value, str) or (len(value) > 10 and bool(datetime.fromisoformat(value)))  # noqa: PLR2004 - a date has 10 characters


def sound_words(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    """Return a node without keywords, patterns, numbers and values that are not valid."""
    told = _checked_texts(schema, notes)
    keywords = _checked_patterns(checked_keywords(told, notes), notes)
    return _checked_examples(_checked_default(_checked_numbers(keywords, notes), notes), notes)


# Without width, turning the direction, tags and fillers. Joiners count where they join nothing.
_HIDDEN = re.compile(
    "[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff9-\ufffb\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
    "|(?<![^\\x00-\\x7f])[\u200c\u200d]"
)
# letters of other scripts that look like these
_LOOKS = str.maketrans("авекмнорстухіјѕԁԛԝһӏαβεικνορτυχı", "abekmhopctyxijsdqwhlabeikvoptuxi")


def without_hidden(text: str, what: str, notes: list[Note]) -> str:
    """Return a text that describes, without characters that nobody sees."""
    plain = _HIDDEN.sub("", text)
    if plain != text:
        message = f"{what} holds characters that nobody sees ({_points([text])}); removed."
        notes.append(Note("hidden_characters", message))
    return plain


def note_hidden(names: Iterable[str], what: str, notes: list[Note]) -> None:
    """Note which names hold characters that nobody sees; they stay, since servers know them so."""
    odd = [name for name in names if _HIDDEN.search(name)]
    if odd:
        message = f"{what} {shown(odd)} hold characters that nobody sees ({_points(odd)}); kept."
        notes.append(Note("hidden_characters", message))


def _points(texts: Iterable[str]) -> str:
    found = dict.fromkeys(sign for text in texts for sign in _HIDDEN.findall(text))
    few = [f"U+{ord(sign):04X}" for sign in found][:_FEW_POINTS]
    return ", ".join(few) + ", …" * (len(found) > len(few))


_FEW_POINTS = 5


def _checked_texts(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    """Return a node whose texts hold nothing hidden; note names and choices that mislead."""
    checked = dict(schema)
    for word in ("title", "description"):
        if isinstance(text := schema.get(word), str):
            checked[word] = without_hidden(text, f"The {word}", notes)
    members, choices = schema.get("properties"), schema.get("enum")
    note_hidden(members if isinstance(members, dict) else (), "The names", notes)
    texts = [one for one in choices if isinstance(one, str)] if isinstance(choices, list) else []
    note_hidden(texts, "The choices", notes)
    looks: dict[str, list[str]] = defaultdict(list)
    for one in texts:
        plain = unicodedata.normalize("NFKC", _HIDDEN.sub("", one)).casefold()
        looks[" ".join(plain.translate(_LOOKS).split())].append(one)
    for alike in looks.values():
        if len(alike) > 1:
            message = f"The choices {shown(alike)} look alike; each is kept."
            notes.append(Note("alike_choices", message))
    return checked


class Fault(NamedTuple):
    """A fault in a schema, and its place."""

    path: tuple[str, ...]
    reason: str


def first_fault(
    schema: JsonValue, sound: dict[int, JsonSchema], path: tuple[str, ...] = ()
) -> Fault | None:
    """Return a schema's first fault, or None. Parts shared between operations are checked once."""
    if id(schema) in sound:
        return None
    if not isinstance(schema, dict):
        return None if isinstance(schema, bool) else Fault(path, f"{shown(schema)} is no schema")
    plain, inside = _parted(schema)
    own = _fault_alone(plain)
    if own is not None:
        return Fault((*path, *own.path), own.reason)
    for step, part in inside:
        if fault := first_fault(part, sound, (*path, *step)):
            return fault
    sound[id(schema)] = schema
    return None


def _parted(schema: JsonSchema) -> tuple[JsonSchema, list[tuple[tuple[str, ...], JsonValue]]]:
    """Split a schema into its own keywords and its subschemas with their paths."""
    inside: list[tuple[tuple[str, ...], JsonValue]] = []
    plain: JsonSchema = {}
    for key, value in schema.items():
        if key in SCHEMA_MAPS and isinstance(value, dict):
            inside += [((key, name), part) for name, part in value.items()]
        elif key in SCHEMA_LISTS and isinstance(value, list) and value:
            inside += [((key, str(index)), part) for index, part in enumerate(value)]
        elif key in ONE_SCHEMA and isinstance(value, dict):
            inside.append(((key,), value))
        else:
            plain[key] = value
    return plain, inside


_ANYTHING = frozenset({"default", "const"})
_TEXTS = frozenset({"title", "description", "$comment"})
_LISTS = frozenset({"enum", "examples"})


def _fault_alone(plain: JsonSchema) -> Fault | None:
    """Return the first fault of a schema without subschemas.

    The metaschema takes seconds for a thousand tools. What it does not look into is left out, so
    that schemas of one form are checked once.
    """
    form = dict(plain)
    for key, value in plain.items():
        if key in _ANYTHING:
            del form[key]
        elif key in _TEXTS and isinstance(value, str):
            form[key] = ""
        elif (key in _LISTS and isinstance(value, list)) or (
            key == "required" and _are_names(value)
        ):
            form[key] = []
    return _fault_of_form(orjson.dumps(form))


def _are_names(value: JsonValue) -> bool:
    if not isinstance(value, list):
        return False
    names = [one for one in value if isinstance(one, str)]
    return len(names) == len(value) == len(set(names))


@lru_cache(2**16)
def _fault_of_form(schema: bytes) -> Fault | None:
    error = next(_METASCHEMA.iter_errors(orjson.loads(schema)), None)
    if error is None:
        return None
    return Fault(tuple(str(step) for step in error.absolute_path), error.message)


def checked_keywords(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    """Drop invalid JSON Schema keywords one by one, because the rest of the schema may be valid."""
    valid_keywords = dict(schema)
    for key, value in schema.items():
        members = value.items() if key in SCHEMA_MAPS and isinstance(value, dict) else ()
        wrong = [name for name, one in members if not isinstance(one, dict | bool)]
        if wrong:  # what is no schema allows any value
            message = f"What {shown(wrong)} are is no schema; any value is taken."
            notes.append(Note("invalid_keyword", message))
            valid_keywords[key] = {name: {} if name in wrong else one for name, one in members}
    while (fault := _fault_alone(_parted(valid_keywords)[0])) is not None and fault.path:
        word = fault.path[0]
        message = f"{shown(valid_keywords[word])} is no {word!r} of JSON Schema; it is dropped."
        notes.append(Note("invalid_keyword", message))
        valid_keywords = without(valid_keywords, word)
    return valid_keywords


def _checked_patterns(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    """Drop patterns that Python can't compile (JSON Schema's are ECMA's), or checks would fail."""
    checked_schema, dropped = schema, schema.get("pattern")
    if isinstance(dropped, str) and not _compiles(dropped):
        message = f"The pattern {shown(dropped)} can't be read; it is dropped."
        notes.append(Note("bad_pattern", message))
        checked_schema = without(checked_schema, "pattern")
    patterns = checked_schema.get("patternProperties")
    if isinstance(patterns, dict) and not all(map(_compiles, patterns)):
        message = f"Of the patterns {shown(list(patterns))} some can't be read; all dropped."
        notes.append(Note("bad_pattern", message))
        checked_schema = without(checked_schema, "patternProperties")
    return checked_schema


_LEAST, _MOST = -(2**63), 2**64 - 1
_UPPER = frozenset({*UPPER, "maxContains"})
_LOWER = frozenset({*LOWER, "minContains"})
_SAMPLES = frozenset({"default", "examples"})
_OF_NUMBERS = _SAMPLES | {"multipleOf", "enum", "const", *UPPER[:2], *LOWER[:2]}


def _checked_numbers(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    """Drop bounds, choices, defaults and examples beyond 64-bit integers, which get rounded.

    A schema that allows no number within 64 bits becomes unusable.
    """
    declared = schema.get("type")
    is_whole = "integer" in (declared if isinstance(declared, list) else [declared])
    words = (_UPPER | _LOWER | _OF_NUMBERS) if is_whole else (_UPPER | _LOWER) - _OF_NUMBERS
    valid_keywords = dict(schema)
    for word in [one for one in schema if one in words]:
        value = schema[word]
        values = value if isinstance(value, list) else [value]
        left = [one for one in values if not _is_beyond(one)]
        if len(left) == len(values):
            continue
        del valid_keywords[word]
        if word == "enum":
            valid_keywords[word] = left
        allows_all = not isinstance(value, list) and value > 0 and word in _UPPER
        allows_all |= not isinstance(value, list) and value < 0 and word in _LOWER
        if allows_all or word in _SAMPLES or (word == "enum" and left):
            message = f"{word!r} is {shown(value)}: what is beyond 64 bits is dropped."
            notes.append(Note("invalid_keyword", message))
        else:
            message = f"{word!r} is {shown(value)}: no whole number within 64 bits fits; left out."
            notes.append(Note("invalid_schema", message))
    return valid_keywords


def _is_beyond(value: JsonValue) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return not _LEAST <= value <= _MOST


def _compiles(pattern: str) -> bool:
    try:
        regex.compile(pattern)
    except (regex.error, OverflowError, RecursionError):
        return False
    return True


def _checked_default(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    """Drop a default that the schema itself refuses, or read it as the type: "10" of an integer."""
    if "default" not in schema or allows(schema, schema["default"]):
        return schema
    default, kind = schema["default"], schema.get("type")
    if default is None:  # how many say that there is none
        return without(schema, "default")
    read = cast(default, kind) if isinstance(kind, str) else None
    if read is not None and allows(schema, read):
        message = f"The default {shown(default)} is not of the type {kind!r}; read as {read!r}."
        notes.append(Note("wrong_default", message))
        return {**schema, "default": read}
    message = f"The default {shown(default)} is no value that the schema allows; it is dropped."
    notes.append(Note("wrong_default", message))
    return without(schema, "default")


def _checked_examples(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    """Drop examples that the schema itself refuses, or read them as the type."""
    listed = schema.get("examples")
    if not isinstance(listed, list) or all(allows(schema, one) for one in listed):
        return schema
    kind = str(schema.get("type"))
    read = [one if allows(schema, one) else cast(one, kind) for one in listed]
    kept = [one for one in read if one is not None and allows(schema, one)]
    if len(kept) < len(listed):
        wrong = [one for one in listed if not allows(schema, one)]
        message = f"The examples {shown(wrong)} are no values that the schema allows; dropped."
        notes.append(Note("invalid_keyword", message))
    bare = without(schema, "examples")
    return {**bare, "examples": kept} if kept else bare


def allows(schema: JsonSchema, value: JsonValue) -> bool:
    """Whether a schema without references allows a value; patterns allow any."""
    own = without(schema, "default", "examples")
    return bool(_Validator(own, format_checker=_FORMATS).is_valid(value))
