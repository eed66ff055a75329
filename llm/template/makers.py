"""A value for one parameter: valid by its schema, sayable in the language, and of the kind its name tells."""

from datetime import date, timedelta
from random import Random

from pydantic import JsonValue

from llm.template.codes import like, write_code
from llm.template.fitting import fits
from llm.template.kinds import CODED, NUMERIC, kind_of, type_of
from llm.template.names import split_name
from llm.template.numerals import make_number, number_text
from llm.template.patterns import UnsupportedPatternError, matching_text
from llm.template.texts import OWN_WORDS, phrase
from llm.template.topics import topic_of
from warehouse.errors import ReplyError
from warehouse.records import JsonSchema, Language

FIRST_DAY = date(2026, 12, 1)
LAST_DAY = date(2027, 12, 31)
_DAYS = (LAST_DAY - FIRST_DAY).days
_OLDEST = date(1950, 1, 1)
_BIRTH_DAYS = 55 * 365
_TRIES = 24
_DEEPEST = 6
_OWN_SHARE = 0.35
_YES_SHARE = 0.6


def make_value(name: str, schema: JsonSchema, language: Language, rng: Random, *, depth: int = 0) -> JsonValue:
    """A value for a parameter; ReplyError where no value can be found that satisfies its schema."""
    schema = _resolved(schema)
    for _ in range(_TRIES):
        value = _propose(name, schema, language, rng, depth)
        if fits(value, schema) and value not in ("", [], {}):
            return value
    raise ReplyError(f"template/v1 finds no value for the parameter {name!r} that satisfies its schema {schema!r}.")


def _resolved(schema: JsonSchema) -> JsonSchema:
    """The first branch that is not null of a schema that offers several."""
    for word in ("anyOf", "oneOf", "allOf"):
        branches = [branch for branch in schema.get(word) or () if branch.get("type") != "null"]
        if branches and "type" not in schema:
            rest = {key: value for key, value in schema.items() if key != word}
            return {**rest, **branches[0]}
    return schema


def _propose(name: str, schema: JsonSchema, language: Language, rng: Random, depth: int) -> JsonValue:
    if "const" in schema:
        constant: JsonValue = schema["const"]
        return constant
    if schema.get("enum"):
        choices = [choice for choice in schema["enum"] if choice not in (None, "")]
        return rng.choice(choices) if choices else None
    match type_of(schema):
        case "boolean":
            return rng.random() < _YES_SHARE
        case "integer" | "number":
            return _number(name, schema, rng)
        case "array":
            return _list(name, schema, language, rng, depth)
        case "object":
            return _object(name, schema, language, rng, depth)
        case "string":
            return _text(name, schema, language, rng)
        case other:
            raise ReplyError(f"template/v1 can't make a value of the type {other!r} for the parameter {name!r}.")


def _number(name: str, schema: JsonSchema, rng: Random) -> JsonValue:
    examples = [one for one in schema.get("examples") or () if isinstance(one, int | float)]
    if examples and "minimum" not in schema and "maximum" not in schema:
        return rng.choice(examples)
    return make_number(kind_of(name, schema), name, schema, rng)


def _list(name: str, schema: JsonSchema, language: Language, rng: Random, depth: int) -> JsonValue:
    least = max(1, int(schema.get("minItems", 1)))
    most = max(least, min(int(schema.get("maxItems", 3)), least + 2))
    items = schema.get("items")
    inner = dict(items) if isinstance(items, dict) and items else {"type": "string"}
    if "examples" not in inner and not inner.get("enum"):
        flat = [part for one in schema.get("examples") or () for part in (one if isinstance(one, list) else [one])]
        inner = {**inner, **({"examples": flat} if flat else {}), "description": schema.get("description", "")}
    values: list[JsonValue] = []
    wanted = rng.randint(least, most)
    for _ in range(_TRIES):
        value = make_value(name, inner, language, rng, depth=depth + 1)
        if value not in values:
            values.append(value)
        if len(values) == wanted:
            break
    return values


def _object(name: str, schema: JsonSchema, language: Language, rng: Random, depth: int) -> JsonValue:
    if depth > _DEEPEST:
        raise ReplyError(f"template/v1 gives up on the parameter {name!r}: its schema nests more than {_DEEPEST} deep.")
    members = schema.get("properties") or {}
    if not members:
        return _loose_object(name, language, rng) if schema.get("additionalProperties", True) else {}
    required = [one for one in schema.get("required") or () if one in members]
    optional = [one for one in members if one not in required]
    some = rng.sample(optional, min(len(optional), 0 if required else rng.randint(1, 3)))
    chosen = [one for one in members if one in required or one in some]
    return {one: make_value(one, members[one], language, rng, depth=depth + 1) for one in chosen}


def _loose_object(name: str, language: Language, rng: Random) -> dict[str, JsonValue]:
    """An object that declares no members: an address has its usual ones, all else is told in a note."""
    if "address" in split_name(name):
        return {"street": phrase("address", language, rng), "city": phrase("place", language, rng)}
    return {"note": phrase(topic_of(name, "details"), language, rng)}


def _text(name: str, schema: JsonSchema, language: Language, rng: Random) -> str:
    kind = kind_of(name, schema)
    examples = [one for one in schema.get("examples") or () if isinstance(one, str) and one]
    if examples and not (kind in OWN_WORDS and rng.random() < _OWN_SHARE):
        example = rng.choice(examples)
        return like(example, rng) if kind in CODED and kind not in ("email", "link", "airport", "currency") else example
    text = _plain_text(kind, name, schema, language, rng)
    if "pattern" in schema and not fits(text, schema):
        return _patterned(name, schema, rng)
    return _at_length(text, schema, language, rng)


def _plain_text(kind: str, name: str, schema: JsonSchema, language: Language, rng: Random) -> str:
    match kind:
        case "date":
            return random_day(rng).isoformat()
        case "birthday":
            return (_OLDEST + timedelta(days=rng.randint(0, _BIRTH_DAYS))).isoformat()
        case "month":
            return random_day(rng).isoformat()[:7]
        case "time":
            return _clock(rng) + (":00" if schema.get("format") == "time" else "")
        case "moment":
            joint, end = ("T", ":00Z") if schema.get("format") == "date-time" else (" ", "")
            return f"{random_day(rng).isoformat()}{joint}{_clock(rng)}{end}"
    if kind in CODED or kind == "code":
        return write_code(kind, name, language, rng)
    if kind in NUMERIC:
        return number_text(kind, name, rng)
    return phrase(topic_of(name, kind), language, rng)


def random_day(rng: Random) -> date:
    """A day of the time that all samples speak of."""
    return FIRST_DAY + timedelta(days=rng.randint(0, _DAYS))


def _clock(rng: Random) -> str:
    return f"{rng.randint(7, 21):02}:{rng.choice((0, 0, 15, 30, 30, 45)):02}"


def _patterned(name: str, schema: JsonSchema, rng: Random) -> str:
    try:
        return matching_text(schema["pattern"], rng)
    except UnsupportedPatternError as error:
        raise ReplyError(f"template/v1 can't write {name!r} by its pattern: {error}") from error


def _at_length(text: str, schema: JsonSchema, language: Language, rng: Random) -> str:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    while len(text) < least:
        text = f"{text} {phrase('details', language, rng)}" if language == "en" else text + phrase("task", "zh", rng)
    return text[:most].strip() if most is not None and len(text) > most else text
