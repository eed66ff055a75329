"""What a JSON Schema asks for: the kind of value, whether a value fits, and matching text.

Schemas come from unknown authors, so matching a pattern against a text is limited to `_SECONDS`;
after that the text counts as not matching.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, Literal, NamedTuple

import orjson
import regex
from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.exceptions import UnknownType
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from pydantic import JsonValue
from referencing import Registry
from referencing.exceptions import Unresolvable

from callwright.warehouse.records import JsonSchema

Kind = Literal[
    "boolean", "integer", "number", "date", "time", "date-time", "enum", "array", "object", "text"
]
DATE_VALUE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
TIME_VALUE = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d")
DATE_TIME_VALUE = re.compile(rf"({DATE_VALUE.pattern})[ T]({TIME_VALUE.pattern})(?::00)?")
_TYPES: dict[str, Kind] = {
    "boolean": "boolean",
    "integer": "integer",
    "number": "number",
    "float": "number",
    "array": "array",
    "object": "object",
}
_TYPED_FORMATS: dict[str, Kind] = {"date": "date", "date-time": "date-time", "time": "time"}


def kind_of(schema: JsonSchema) -> Kind:
    """Return the kind that `schema` asks for; a string without a hint is text."""
    if "enum" in schema or "const" in schema:
        return "enum"
    declared, pattern = schema.get("type", ""), str(schema.get("pattern", ""))
    if isinstance(declared, list):  # the first that is not null
        declared = next((name for name in declared if name != "null"), "")
    if kind := _TYPES.get(str(declared)) or _TYPED_FORMATS.get(str(schema.get("format"))):
        return kind
    has_date = r"\d{4}-" in pattern or "[0-9]{4}-" in pattern
    if "[0-5]" in pattern and ":" in pattern:
        return "date-time" if has_date else "time"
    is_date = has_date and "-" in pattern.split("-", 1)[-1] and "[A-Z]" not in pattern
    return "date" if is_date else "text"


def scalars(value: JsonValue) -> Iterator[str | int | float | bool]:
    """Yield the strings, numbers and booleans inside a value, in order.

    >>> [*scalars({"legs": [{"from": "Oslo"}, None], "adults": 2})]
    ['Oslo', 2]
    """
    if isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from scalars(member)
    elif value is not None:
        yield value


class ValueLeaf(NamedTuple):
    """A scalar inside a value, the names and indexes that lead to it, and its declared schema."""

    path: tuple[str | int, ...]
    value: JsonValue
    schema: JsonSchema


def leaves(
    value: JsonValue, schema: JsonSchema, path: tuple[str | int, ...] = ()
) -> Iterator[ValueLeaf]:
    """Yield the leaves of a value in order; an empty object or list counts as a leaf."""
    if isinstance(value, dict) and value:
        members = schema.get("properties") or {}
        for name, member in value.items():
            yield from leaves(member, members.get(name) or {}, (*path, name))
    elif isinstance(value, list) and value:
        for index, member in enumerate(value):
            yield from leaves(member, schema.get("items") or {}, (*path, index))
    else:
        yield ValueLeaf(path, value, schema)


def replaced_at(value: JsonValue, path: Sequence[str | int], new: JsonValue) -> JsonValue:
    """Return a value with the member at a path replaced."""
    if not path:
        return new
    first, *rest = path
    if isinstance(value, dict):
        return {**value, first: replaced_at(value[first], rest, new)} if first in value else value
    if isinstance(value, list):
        return [replaced_at(one, rest, new) if at == first else one for at, one in enumerate(value)]
    return value


MOST_REPEATED = 2  # levels of a schema that holds itself
_LONGEST_TRAIL = 12  # references within references


def resolved(root: JsonSchema, schema: JsonSchema) -> JsonSchema:
    """Return a schema with its reference into the `$defs` of `root` followed, if it is one."""
    seen: set[str] = set()
    while isinstance(pointer := schema.get("$ref"), str) and pointer not in seen:
        seen.add(pointer)
        target = (root.get("$defs") or {}).get(pointer.removeprefix("#/$defs/"))
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**target, **rest} if isinstance(target, dict) else rest
    return schema


def expanded(root: JsonSchema, schema: Any, trail: tuple[str, ...] = ()) -> Any:  # noqa: ANN401 - a part of a schema
    """Return a schema with its references into `root` written out, `MOST_REPEATED` levels deep.

    A reference that would go deeper stays, so that nothing is made for it.
    """
    if isinstance(schema, list):
        return [expanded(root, one, trail) for one in schema]
    if not isinstance(schema, dict):
        return schema
    pointer = schema.get("$ref")
    if isinstance(pointer, str):
        if trail.count(pointer) >= MOST_REPEATED or len(trail) > _LONGEST_TRAIL:
            return schema
        trail = (*trail, pointer)
        schema = resolved(root, schema)
    return {key: expanded(root, value, trail) for key, value in schema.items() if key != "$defs"}


def choices_of(schema: JsonSchema) -> list[object]:
    """Return the values that `schema` offers, or an empty list if it leaves the choice open."""
    return (
        list(schema["enum"]) if "enum" in schema else [schema["const"]] if "const" in schema else []
    )


_LOOSE_TYPES = {
    "float": "number",
    "int": "integer",
    "dict": "object",
    "list": "array",
    "tuple": "array",
    "bool": "boolean",
}


def json_type(schema: JsonSchema) -> str:
    """Return the JSON type that a schema asks for, the first that is not null, else "string"."""
    declared = schema.get("type")
    if isinstance(declared, list):
        declared = next((one for one in declared if one != "null"), "string")
    if declared is None and "properties" in schema:
        return "object"
    if declared is None and "items" in schema:
        return "array"
    return _LOOSE_TYPES.get(str(declared), str(declared)) if declared else "string"


_PLAIN = frozenset(
    {"type", "description", "title", "examples", "default", "enum", "minimum", "maximum", "pattern"}
)
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def fits(value: JsonValue, schema: JsonSchema) -> bool:
    """Whether `value` validates against `schema`; False if the schema itself is invalid."""
    allowed = _PYTHON_TYPES.get(json_type(schema))
    if allowed and _PLAIN.issuperset(schema):
        return _fits_plainly(value, schema, allowed)
    try:
        return validator_of(schema).is_valid(value)
    # a bad schema shows itself only when it is used
    except (re.error, TypeError, UnknownType, RecursionError, Unresolvable):
        return False


def validator_of(schema: JsonSchema) -> Draft202012Validator:
    """Return a validator of a schema, which checks formats and reads no reference to elsewhere."""
    return _validator(orjson.dumps(schema, option=orjson.OPT_SORT_KEYS))


def _fits_plainly(value: JsonValue, schema: JsonSchema, allowed: tuple[type, ...]) -> bool:
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, str):
        return "pattern" not in schema or matches(schema["pattern"], value)
    number = float(value) if isinstance(value, int | float) else 0.0
    return bool(schema.get("minimum", number) <= number <= schema.get("maximum", number))


_SECONDS = 0.2


@lru_cache(4096)
def matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text; False if it is invalid or takes too long."""
    try:
        return regex.search(pattern, text, timeout=_SECONDS) is not None
    except (regex.error, TimeoutError):
        return False


Errors = Iterator[ValidationError]


def _pattern(_: Validator, pattern: str, value: object, _schema: JsonSchema) -> Errors:
    if isinstance(value, str) and not matches(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _members_by_pattern(
    validator: Any,  # noqa: ANN401
    patterns: JsonSchema,
    value: object,
    _: JsonSchema,
) -> Errors:
    for pattern, schema in patterns.items():
        for name, member in value.items() if isinstance(value, dict) else ():
            if matches(pattern, name):
                yield from validator.descend(member, schema, path=name, schema_path=pattern)


def _other_members(validator: Any, others: JsonValue, value: object, schema: JsonSchema) -> Errors:  # noqa: ANN401
    """Check members that neither `properties` nor a pattern names, as the specification says."""
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, member in value.items() if isinstance(value, dict) else ():
        if name in known or any(matches(pattern, name) for pattern in patterns):
            continue
        if isinstance(others, dict):
            yield from validator.descend(member, others, path=name)
        elif others is False:
            yield ValidationError(
                f"Additional properties are not allowed ({name!r} was unexpected)"
            )


SchemaValidator: type[Draft202012Validator] = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {
        "pattern": _pattern,
        "patternProperties": _members_by_pattern,
        "additionalProperties": _other_members,
    },
)


@lru_cache(4096)
def _validator(schema: bytes) -> Draft202012Validator:
    # Without a registry of its own, jsonschema asks the network for what `$ref` names.
    return SchemaValidator(orjson.loads(schema), format_checker=FormatChecker(), registry=NO_OTHERS)


# what a schema may refer to besides itself
NO_OTHERS: Registry[bool | Mapping[str, Any]] = Registry()

_UPPER = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_LOWER = "abcdefghijkmnopqrstuvwxyz"
_DIGITS = "0123456789"
_ESCAPES = {"d": _DIGITS, "w": _UPPER + _DIGITS, "s": " "}
_CATCH_ALL = _LOWER
_ANYTHING = _LOWER + _UPPER + _DIGITS + "!@#$%&*?-_"
_OPENING = re.compile(r"\?(?::|=|!|<=|<!|P?<\w+>)")
_LOOKS = re.compile(r"\(\?<?[=!]")
_PROPERTY = re.compile(r"\{(\w+)\}")
_LOOKED = 400  # texts that are tried where a pattern looks ahead or behind
# what a negated class leaves is taken of the first that it does
_OTHERS = (_LOWER, _UPPER + _DIGITS, "-_.,:;!?@#/ ")
_LONGEST_TEXT = 4_000  # characters; counts within counts multiply
_DEEPEST = 30  # groups within groups
_OPEN_ENDED = 7  # how many more than the least a `+`, `*` or `{n,}` may give
_LONGEST = 64
_SPREAD = 12  # how many more than the least a `{n,m}` gives at most


class UnsupportedPatternError(ValueError):
    """The expression uses something for which no text can be generated."""


class _Node(NamedTuple):
    """Alternatives of sequences of (what, least, most), `what` being characters or a group."""

    branches: tuple[tuple[tuple["str | _Node", int, int], ...], ...]

    @property
    def longest(self) -> int:
        """The greatest number of characters that the node may produce."""
        return max(sum(_longest(what) * most for what, _, most in row) for row in self.branches)


def _longest(what: "str | _Node") -> int:
    return 1 if isinstance(what, str) else what.longest


def matching_text(pattern: str, rng: Random, *, least: int = 0) -> str:
    """Return text that matches the whole pattern, of `least` characters if its repetitions allow.

    Raises UnsupportedPatternError if the pattern needs more than this can generate.
    """
    node = _parsed(pattern, max(_OPEN_ENDED, least))
    if node.longest > _LONGEST_TEXT:
        problem = f"The pattern {pattern!r} allows for more than {_LONGEST_TEXT} characters."
        raise UnsupportedPatternError(problem)
    if _LOOKS.search(pattern) is None:
        return _write(node, rng)
    # what is looked for is not written, but found by chance
    for _ in range(_LOOKED):
        text = _write(node, rng)
        if matches(pattern, text):
            return text
    raise UnsupportedPatternError(f"No text is found that the pattern {pattern!r} matches.")


def _write(node: _Node, rng: Random) -> str:
    return "".join(
        rng.choice(what) if isinstance(what, str) else _write(what, rng)
        for what, least, most in rng.choice(node.branches)
        for _ in range(rng.randint(least, most))
    )


@lru_cache(1024)
def _parsed(pattern: str, open_ended: int) -> _Node:
    reader = _SchemaReader(pattern, open_ended)
    node = reader.alternatives()
    if reader.at != len(pattern):
        raise UnsupportedPatternError(f"The pattern {pattern!r} has a ')' too many.")
    return node


class _SchemaReader:
    def __init__(self, pattern: str, open_ended: int) -> None:
        self.pattern, self._open_ended = pattern, open_ended
        self.at = 0
        self._depth = 0

    def alternatives(self) -> _Node:
        self._depth += 1
        if self._depth > _DEEPEST:
            problem = f"The pattern {self.pattern!r} nests more than {_DEEPEST} deep."
            raise UnsupportedPatternError(problem)
        branches: list[list[tuple[str | _Node, int, int]]] = [[]]
        while self._peek() not in ("", ")"):
            if self._skips("|"):
                branches.append([])
            elif (what := self._atom()) is not None:
                branches[-1].append((what, *self._count()))
        self._depth -= 1
        return _Node(tuple(map(tuple, branches)))

    def _skips(self, sign: str) -> bool:
        is_next = self.pattern.startswith(sign, self.at)
        self.at += len(sign) * is_next
        return is_next

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise UnsupportedPatternError(f"The pattern {self.pattern!r} ends too soon.")
        self.at += 1
        return character

    def _atom(self) -> str | _Node | None:
        character = self._take()
        if character in "^$":
            return None
        if character == "[":
            return self._character_class()
        if character == "\\":
            return self._escape()
        if character != "(":
            any_of = _ANYTHING if _LOOKS.search(self.pattern) else _CATCH_ALL
            return any_of if character == "." else character
        opening = _OPENING.match(self.pattern, self.at)
        if opening is None and self._peek() == "?":
            raise UnsupportedPatternError(f"The pattern {self.pattern!r} has an unusual group.")
        self.at = opening.end() if opening else self.at
        node = self.alternatives()
        if not self._skips(")"):
            raise UnsupportedPatternError(f"The pattern {self.pattern!r} lacks a ')'.")
        return None if opening and _LOOKS.match(f"({opening[0]}") else node

    def _escape(self) -> str:
        character = self._take()
        if character in _ESCAPES:
            return _ESCAPES[character]
        if character == "p" and (found := _PROPERTY.match(self.pattern, self.at)):
            self.at = found.end()
            whole = f"\\p{{{found[1]}}}"
            return "".join(one for one in _ANYTHING if matches(whole, one)) or self._unknown(whole)
        return self._unknown(f"\\{character}") if character.isalnum() else character

    def _unknown(self, used: str) -> str:
        raise UnsupportedPatternError(f"The pattern {self.pattern!r} uses {used}.")

    def _character_class(self) -> str:
        start, allowed = self.at - 1, list[str]()
        is_negated = self._skips("^")
        while not self._skips("]"):
            character = self._take()
            if character == "\\":
                allowed.append(self._escape())
            elif self._peek() == "-" and self.pattern[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                allowed.append("".join(map(chr, range(ord(character), ord(self._take()) + 1))))
            else:
                allowed.append(character)
        if is_negated:  # a letter, where it may be one
            excluding = self.pattern[start : self.at]
            left = ([one for one in some if matches(f"^{excluding}$", one)] for some in _OTHERS)
            allowed = next(filter(None, left), [])
            if not allowed:
                raise UnsupportedPatternError(
                    f"The pattern {self.pattern!r} has {excluding}, which leaves no character."
                )
        return "".join(allowed)

    def _count(self) -> tuple[int, int]:
        counts = (1, 1)
        mark = next((mark for mark in ("?", "*", "+", "{") if self._skips(mark)), "")
        if not mark:
            return counts
        if mark == "{":
            inside = self.pattern[self.at : self.pattern.find("}", self.at)]
            self.at += len(inside) + 1
            least, comma, most = inside.partition(",")
            are_numbers = least.isdecimal() and (not most or most.isdecimal())
            if not are_numbers or int(least) > _LONGEST:
                raise UnsupportedPatternError(f"The pattern {self.pattern!r} counts {inside!r}.")
            low = int(least)
            spread = max(_SPREAD, self._open_ended)
            high = min(int(most), low + spread) if most else low + self._open_ended
            counts = (low, high) if comma else (low, low)
        else:
            counts = {"?": (0, 1), "*": (0, self._open_ended), "+": (1, 1 + self._open_ended)}[mark]
        if not self._skips("?"):
            self._skips("+")
        return counts


_DEPRECATED = re.compile(
    r"(?:^|[.!?\n]\s*)\W*(?:deprecated\b(?!\s+(?:\w+\s+){0,2}(?:values?|fields?|options?)\b)"
    r"|(?:this|the) (?:\w+ ){0,3}(?:is|has been|was) (?:now )?deprecated\b)",
    re.IGNORECASE,
)


def is_deprecated(schema: JsonSchema) -> bool:
    """Whether a schema is marked as deprecated, or its description says so of it as a whole."""
    return schema.get("deprecated") is True or says_deprecated(schema.get("description") or "")


def says_deprecated(description: str) -> bool:
    """Whether a description says that what it describes is deprecated, not a part of it."""
    return _DEPRECATED.search(description) is not None
