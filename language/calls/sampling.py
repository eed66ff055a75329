"""Values for a call: valid by schema, right for language and meaning, and consistent."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from functools import partial, reduce
from math import ceil, floor
from random import Random

from pydantic import JsonValue
from referencing.exceptions import Unresolvable

from callwright.language.calls.agreement import agreeing
from callwright.language.calls.codes import (
    OWN_WORDS,
    code_table,
    endings_told,
    in_form_of,
    lands,
    like,
    phrase,
    shows_file,
    write_code,
    write_file,
    write_link,
)
from callwright.language.calls.completing import completed
from callwright.language.calls.examples import ticks_in_a_second, usable_examples
from callwright.language.calls.parameters import (
    ASKED_OF,
    CLOCKED,
    CODED,
    NUMERIC,
    Meaning,
    fake,
    has_a_name,
    meaning_by_words,
    meaning_of,
    meaning_row,
    names_a_thing,
    numbered_choices,
    range_starts,
    stated_choices,
    tells_values,
    text_of,
)
from callwright.language.names import function_words, names_one, singular, split_name, topic_of
from callwright.language.packs import LanguagePattern, of, own_letters, packaged
from callwright.language.schemas import (
    UnsupportedPatternError,
    choices_of,
    fits,
    is_deprecated,
    json_type,
    matching_text,
    validator_of,
)
from callwright.language.text import fold
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import JsonSchema, Language

FIRST_DAY = date(2026, 12, 1)
LAST_DAY = date(2027, 12, 31)
_LAST_MONTHS = ("11", "12")  # a conversation may be in the November before the first day
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT")
_DAYS = (LAST_DAY - FIRST_DAY).days
_OLDEST = date(1950, 1, 1)
_BIRTH_DAYS = 55 * 365
_TRIES = 24
_DEEPEST = 6
_FILE_ENDINGS = (".pdf", ".html", ".png")
_LONGEST_TEXT, _LONGEST_SHOWN = 4_000, 120
_OWN_SHARE = 0.35
_YES_SHARE = 0.6
_DAYTIME = (8, 20)
# numbers of money, age and rating have ranges of their own
_SCALARS: Mapping[str, JsonValue] = {"true": True, "false": False, "null": None}
_TABLED = frozenset({"number", "quantity", "duration", "measure", "year", "percent"})


def make_value(
    name: str, schema: JsonSchema, language: Language, rng: Random, *, depth: int = 0
) -> JsonValue:
    """Return a value for a parameter. Raise ReplyError if no value satisfies its schema."""
    for at in range(_TRIES):
        one = _one_of(schema, rng)
        try:
            value = _propose(name, one, language, rng, depth)
        except ReplyError:
            if one is schema:  # another alternative may do
                raise
            continue
        if isinstance(value, dict) and "allOf" in schema:
            value = _together_with(value, schema, language, rng, depth)
            if value and fits(value, schema):
                return value
        if at > _TRIES // 2 and isinstance(value, str) and _reads_otherwise(value, schema):
            value = phrase("text name", language, rng)
        if fits(value, one) and value not in ("", [], {}) and not _reads_otherwise(value, schema):
            return value
    return make_plain(name, schema, language, rng, depth=depth)


def _together_with(
    value: dict[str, JsonValue], schema: JsonSchema, language: Language, rng: Random, depth: int
) -> JsonValue:
    """Return an object with the members that go with those it has; as it is if there are none."""

    def draw(name: str, schema: JsonSchema) -> JsonValue:
        return make_value(name, schema, language, rng, depth=depth + 1)

    with suppress(ReplyError, Unresolvable, RecursionError):
        return completed(value, validator_of(schema), draw, rng)
    return value


def _reads_otherwise(value: JsonValue, schema: JsonSchema) -> bool:
    """Whether a text is also a number or a boolean that the schema takes, so that two calls fit."""
    if not isinstance(value, str) or schema.get("type") == "string":
        return False
    read = _SCALARS.get(value.lower()) if value.lower() in _SCALARS else _as_number(value)
    return not isinstance(read, str) and fits(read, schema)


def _as_number(text: str) -> JsonValue:
    try:
        return int(text) if text.lstrip("-").isdecimal() else float(text)
    except ValueError:
        return text


def make_plain(
    name: str, schema: JsonSchema, language: Language, rng: Random, *, depth: int = 0
) -> JsonValue:
    """Return a number, a code or plain words from the schema alone, without hints about usage.

    Raises ReplyError if the schema accepts none of those.
    """
    for branch in _branches(schema):
        for _ in range(_TRIES):
            value = _plain_value(name, branch, language, rng, depth)
            is_clear = not _reads_otherwise(value, schema)
            if value not in (None, "", [], {}) and is_clear and fits(value, schema):
                return value
    shown = str(schema)[:_LONGEST_SHOWN]
    raise ReplyError(
        f"template/v1 finds no value for the parameter {name!r} that satisfies its schema {shown}."
    )


def _branches(schema: JsonSchema) -> Iterator[JsonSchema]:
    """Yield each alternative that the schema offers, or the schema itself if it offers none."""
    offered = next((schema[word] for word in ("anyOf", "oneOf") if schema.get(word)), None)
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
    if not offered:
        yield schema
    for one in offered or ():
        if isinstance(one, dict) and one.get("type") != "null":
            yield from _branches({**rest, **one})


def _plain_value(
    name: str, schema: JsonSchema, language: Language, rng: Random, depth: int
) -> JsonValue:
    if depth > _DEEPEST:
        return None
    given = [schema[word] for word in ("const", "default") if word in schema]
    if listed := [*(schema.get("enum") or ()), *(schema.get("examples") or ()), *given]:
        chosen: JsonValue = rng.choice(listed)
        return chosen
    match json_type(schema):
        case "boolean":
            return rng.random() < _YES_SHARE
        case "integer" | "number":
            return _make_number("number", name, schema, rng)
        case "array" | "object" as declared:
            inner = partial(make_plain, language=language, rng=rng, depth=depth + 1)
            if declared == "object":
                return _plain_members(schema, inner) or _map(name, schema, language, rng, depth)
            return [inner(name, one) for one in _places(name, schema)]
    if "pattern" in schema:
        return _patterned(name, schema, rng)
    kind = "code" if schema.get("format") is None else meaning_of(name, schema)
    return _at_length(_plain_text(kind, name, schema, language, rng), schema, language, rng)


def _plain_members(
    schema: JsonSchema, make: Callable[[str, JsonSchema], JsonValue]
) -> dict[str, JsonValue]:
    """Return the required members of an object, or the first one; {} if it names none."""
    members = schema.get("properties") or {}
    needed = [one for one in schema.get("required") or () if one in members]
    return {one: make(one, members[one]) for one in needed or [*members][:1]}


def joined(schema: JsonSchema) -> JsonSchema:
    """Return a schema with all parts of its `allOf` as one."""
    parts = [one for one in schema.get("allOf") or () if isinstance(one, dict)]
    rest = {key: value for key, value in schema.items() if key != "allOf"}
    return reduce(_together, map(joined, parts), rest) if parts else schema


def _one_of(schema: JsonSchema, rng: Random) -> JsonSchema:
    """Return a schema with one of its alternatives that are not null, and all parts of `allOf`."""
    for word in ("allOf", "anyOf", "oneOf"):
        parts = [one for one in schema.get(word) or () if isinstance(one, dict)]
        branches = [one for one in parts if one.get("type") != "null"]
        if branches:
            rest = {key: value for key, value in schema.items() if key != word}
            chosen = branches if word == "allOf" else [rng.choice(branches)]
            return _one_of(reduce(_together, chosen, rest), rng)
    return schema


def _together(one: JsonSchema, other: JsonSchema) -> JsonSchema:
    """Return the keywords of two schemas that both hold; members and required names are joined."""
    whole = {**one, **other}
    if "properties" in one and "properties" in other:
        members = {**one["properties"], **other["properties"]}
        for name, more in other["properties"].items():
            before = one["properties"].get(name)
            if isinstance(before, dict) and isinstance(more, dict) and "type" not in more:
                members[name] = {**before, **more}  # a condition says of a member what it adds
        whole["properties"] = {name: kept for name, kept in members.items() if kept is not False}
    if "required" in one and "required" in other:
        whole["required"] = [*dict.fromkeys((*one["required"], *other["required"]))]
    return whole


def _propose(
    name: str, schema: JsonSchema, language: Language, rng: Random, depth: int
) -> JsonValue:
    if "const" in schema:
        constant: JsonValue = schema["const"]
        return constant
    if choices := schema.get("enum") or stated_choices(schema) or numbered_choices(schema):
        named = [choice for choice in choices if choice not in (None, "")]
        return rng.choice(named) if named else None
    if "$ref" in schema:
        raise ReplyError(f"The schema of {name!r} holds itself, so it has no end.")
    match json_type(schema):
        case "boolean":
            return rng.random() < _YES_SHARE or _is_the_deed(name, schema)
        case "integer" | "number":
            return _number(name, schema, rng)
        case "array":
            return _list(name, schema, language, rng, depth)
        case "object":
            return _object(name, schema, language, rng, depth)
        case "string":
            return _text(name, schema, language, rng)
        case other:
            raise ReplyError(
                f"template/v1 can't make a value of the type {other!r} for the parameter {name!r}."
            )


def _number(name: str, schema: JsonSchema, rng: Random) -> JsonValue:
    if ticks := ticks_in_a_second(name, schema):
        return ticks * _seconds(rng)
    examples = [one for one in schema.get("examples") or () if isinstance(one, int | float)]
    kind = meaning_of(name, schema)
    # else the name tells more than the table
    is_tabled = kind in _TABLED or meaning_by_words(name, "") == "text"
    row = meaning_row(name, schema, "numbers") if is_tabled else None
    number_range = row.give if row else {}
    if examples and "minimum" not in schema and "maximum" not in schema:
        example = rng.choice(examples)
        if isinstance(example, int) and examples == [example] and names_one(name):
            return _id_like(example, rng)
        if len(examples) > 1 or not _is_usual(example, number_range, kind, name):
            return example
    if number_range.get("unknown"):
        raise ReplyError(f"Nobody can say a number for the parameter {name!r}, so none is made up.")
    by_table: int | float | None = None
    if "pick" in number_range:
        fitting: list[int | float] = [one for one in number_range["pick"] if fits(one, schema)]
        by_table = rng.choice(fitting) if fitting else None
    elif number_range:
        step = number_range.get("step", 1)
        last = int((number_range["to"] - number_range["from"]) / step)
        drawn = (number_range["from"] + step * rng.randint(0, last) for _ in range(_TRIES))
        by_table = next((one for one in drawn if fits(one, schema)), None)
    return _make_number(kind, name, schema, rng) if by_table is None else by_table


def _is_usual(example: float, given: Mapping[str, JsonValue], kind: str, name: str) -> bool:
    """Whether a single example is a number known for its meaning, so that any of those will do."""
    if "unknown" in given:
        return False
    picked, low, high = given.get("pick"), given.get("from"), given.get("to")
    if isinstance(picked, list):
        return example in picked
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        is_known = kind in code_table("likely") and kind != "number"
        low, high = _likely(kind, name) if is_known else (1, 0)
    return low <= example <= high


_MOST_WHOLE, _MOST_DIGITS = 2**63 - 1, 18
_MOST_ITEMS = 50


def _id_like(example: int, rng: Random) -> int:
    """Return another id with as many digits, or a few more if the example is very short."""
    digits = min(max(_FEWEST_DIGITS, len(str(abs(example)))), _MOST_DIGITS)
    return rng.randrange(10 ** (digits - 1), 10**digits)


def _fewest(name: str, schema: JsonSchema) -> int:
    """Return the minimum length of a list. Raise ReplyError if nobody would list so many items."""
    least = max(1, int(schema.get("minItems", 1)))
    if least > _MOST_ITEMS:
        raise ReplyError(
            f"template/v1 gives no {least} items to {name!r}; at most {_MOST_ITEMS} are given."
        )
    return least


def _places(name: str, schema: JsonSchema) -> list[JsonSchema]:
    """Return the schemas of a list's items: all of a tuple's, or as many as there must be."""
    items, firsts = schema.get("items"), schema.get("prefixItems") or []
    more = max(0, _fewest(name, schema) - len(firsts))
    places: list[JsonSchema] = [*firsts, *[items if isinstance(items, dict) else {}] * more]
    return places[: schema.get("maxItems")]


def _list(name: str, schema: JsonSchema, language: Language, rng: Random, depth: int) -> JsonValue:
    if schema.get("prefixItems"):
        inner = {"description": schema.get("description", "")}
        return [
            make_value(name, {**inner, **one}, language, rng, depth=depth + 1)
            for one in _places(name, schema)
        ]
    least = _fewest(name, schema)
    most = max(least, min(int(schema.get("maxItems", 3)), least + 2))
    items = schema.get("items")
    inner = dict(items) if isinstance(items, dict) and items else {"type": "string"}
    if "examples" not in inner and not inner.get("enum"):
        examples = (one if isinstance(one, list) else [one] for one in schema.get("examples") or ())
        if flat := [part for some in examples for part in some]:
            inner["examples"] = flat
        inner["description"] = schema.get("description", "")
    values: list[JsonValue] = []
    wanted = rng.randint(least, most)
    for _ in range(_TRIES):
        value = make_value(name, inner, language, rng, depth=depth + 1)
        if value not in values:
            values.append(value)
        if len(values) == wanted:
            break
    return values


def _object(
    name: str, schema: JsonSchema, language: Language, rng: Random, depth: int
) -> JsonValue:
    if depth > _DEEPEST:
        raise ReplyError(
            f"template/v1 gives up on the parameter {name!r}: its schema nests more than {_DEEPEST}"
            " deep."
        )
    members = schema.get("properties") or {}
    if not members:
        return _map(name, schema, language, rng, depth)
    required = [one for one in schema.get("required") or () if one in members]
    others = [one for one in members if one not in required and not is_deprecated(members[one])]
    # what nothing tells is filler, unless there is nothing else
    told_of = [one for one in others if tells_values(one, members[one])]
    optional = told_of or ([] if required else others)
    wanted = 0 if required else rng.randint(1, 3)
    values: dict[str, JsonValue] = {}
    for one in (*required, *rng.sample(optional, len(optional))):
        if one not in required and len(values) >= len(required) + wanted:
            break
        # a team's "name" is no person's
        told = {ASKED_OF: f"set_{name}", **members[one]}
        try:
            values[one] = type_within(name, one, members) or make_value(
                one, told, language, rng, depth=depth + 1
            )
        except ReplyError:
            if one in required:
                raise
    if not values:
        raise ReplyError(f"No member of {name!r} takes a value that can be made.")
    return {one: values[one] for one in members if one in values}


def type_within(thing: str, name: str, members: Mapping[str, JsonSchema]) -> str:
    """Return what stands as the `type` of an object with an `id`: the thing that it is, or "".

    "" also for other members, and where the schema shows what stands there.
    """
    schema = members[name]
    is_open = json_type(schema) == "string" and not schema.keys() & _SHOWN
    if (*split_name(name),) != _TYPE or "id" not in members or not is_open or not thing:
        return ""
    *before, last = split_name(thing)
    told = "_".join((*before, singular(last)))
    return told if fits(told, schema) and not stated_choices(schema) else ""


def _map(name: str, schema: JsonSchema, language: Language, rng: Random, depth: int) -> JsonValue:
    """Return an object whose keys are free, if its schema says what stands under them.

    Raises ReplyError if it does not: nobody can tell what such an object holds.
    """
    patterns, others = schema.get("patternProperties") or {}, schema.get("additionalProperties")
    inner = next(iter(patterns.values()), others)
    if not isinstance(inner, dict) or not inner:
        raise ReplyError(f"The schema of the object {name!r} names no members, so none are made.")
    keyed, values = schema.get("propertyNames") or {}, dict[str, JsonValue]()
    if patterns:
        keyed = {"pattern": next(iter(patterns)), **keyed}
    least = max(1, int(schema.get("minProperties", 1)))
    wanted = max(least, min(int(schema.get("maxProperties", 2)), rng.randint(1, 2)))
    usual = packaged("callwright.language", "meanings.yaml")["keys"]
    for _ in range(_TRIES):
        if len(values) == wanted:
            break
        if keyed.keys() & {"pattern", "enum", "format"}:
            key = str(make_value("key", {"type": "string", **keyed}, language, rng))
        else:
            key = rng.choice([*usual])
        told = [one for one in usual.get(key, ()) if fits(one, inner)]
        values[key] = (
            rng.choice(told) if told else make_value(name, inner, language, rng, depth=depth + 1)
        )
    return values


def _text(name: str, schema: JsonSchema, language: Language, rng: Random) -> str:
    kind = meaning_of(name, schema)
    examples = usable_examples(name, schema)
    row = meaning_row(name, schema)
    if ticks := ticks_in_a_second(name, schema):
        return str(ticks * _seconds(rng))
    is_of_thing = _NAME_OF_A_THING.search(str(schema.get("description", "")))
    if kind == "pattern":  # what it means often has the form that the pattern wants
        kind = meaning_by_words(name, str(schema.get("description", "")))
    if kind == "person" and row is None and is_of_thing:
        kind = "text"  # whose name it is would stand there
    if examples and (shown := _after_example(name, schema, kind, examples, language, rng)):
        return shown
    default = schema.get("default")
    if isinstance(default, str) and default and (row.is_unknown if row else kind == "text"):
        return default
    is_file = row is not None and row.give.get("kind") == "file path"
    ends = is_file and endings_told(name, _told_about(schema))
    text = "" if ends or row is None else text_of(row, language, rng)
    text = text or _plain_text("file" if ends else kind, name, schema, language, rng)
    if schema.get("format") == "hostname" and not _HOST.fullmatch(text):
        text = "-".join(_WORDS.findall(text.lower())) or rng.choice(code_table("sites"))
    if "pattern" in schema and not fits(text, schema):
        words = _WORDS.findall(text.lower())
        # "river-north" is a name that has to be one word
        said = f"{schema.get('description', '')}"
        joints = ("-", "_") if meaning_by_words(name, said) in CODED else ("-", "_", "")
        joined = [joint.join(words) for joint in joints] + words[-1:] if words else []
        if "http" in schema["pattern"]:
            link = write_code("link", name, language, rng)
            joined = [f"{link}{ending}" for ending in ("", *_FILE_ENDINGS)]
        if any(ending[1:] in schema["pattern"] for ending in _FILE_ENDINGS):
            stem = write_code("file", name, language, rng).partition(".")[0]
            stems = (stem, stem.replace("-", "_"))
            joined += [f"{one}{ending}" for one in stems for ending in _FILE_ENDINGS]
        return next((one for one in joined if fits(one, schema)), None) or _patterned(
            name, schema, rng
        )
    return _at_length(text, schema, language, rng)


def _after_example(  # noqa: PLR0911, PLR0917 - a line a form
    name: str, schema: JsonSchema, kind: str, examples: list[str], language: Language, rng: Random
) -> str:
    """Return a text after one of the examples, "" where the meaning of the parameter tells more.

    Several examples are choices. A single one shows a form: moments, codes and names are others
    of that form. Words that are no name can only be taken as they are.
    """
    example, row = rng.choice(examples), meaning_row(name, schema)
    is_single = len(examples) == 1
    if _MOMENT_SHOWN.fullmatch(example):
        clock = f"{_clock(name, schema, rng)}:00"[: len(example) - len("2027-05-31T")]
        zone = "Z" if _ZONED.search(example) else ""
        return f"{_random_day(rng)}{example[10:11]}{clock if example[10:] else ''}{zone}"
    if _MAIL_SHOWN.fullmatch(example):
        return write_code("email", name, language, rng)
    if is_single and row is not None and row.give.keys() & _LISTED:
        return _like_row(row, example, language, rng)
    is_code = kind in CODED and kind not in ("email", "link", "airport", "currency", "file")
    is_secret = (row is None or row.is_unknown) and _CODED_SHOWN.fullmatch(example)
    if is_secret or (is_single and _NUMBERED.fullmatch(example)) or is_code:
        return example if "://" in example else like(example, rng)
    # a park or a station is no city
    is_other = kind in _PLACES and lands(language).keys().isdisjoint(examples)
    if not is_single or is_other:
        has_words = kind in OWN_WORDS and row is None and not is_other
        return "" if has_words and rng.random() < _OWN_SHARE else example
    is_name = kind in ("person", "text") and has_a_name(name, schema)
    if shows_file(example) and (is_name or kind == "file"):
        return write_file(name, "", rng, example)
    if kind == "person" and example.islower() and example.isalpha():
        return fake("user_name", rng)  # a name to log in with
    if row is not None and not (is_name and _tells_of_another(row, schema)):
        is_spoken = row.is_unknown or row.give.get("kind") == "person"
        return example if is_spoken else _like_row(row, example, language, rng)
    is_named = (is_name or kind == "title") and _NAME_SHOWN.fullmatch(example)
    return in_form_of(example, rng) if is_named else example


def _tells_of_another(row: Meaning, schema: JsonSchema) -> bool:
    """Whether a row for names holds by what a description says later: "… shown to the user"."""
    first, _, later = str(schema.get("description", "")).lower().partition(". ")
    return bool(row.where and later and not row.where.search(first))


def _like_row(row: Meaning, example: str, language: Language, rng: Random) -> str:
    """Return a value of a row that looks as an example does, or the example if there is none."""
    drawn = (text_of(row, language, rng) for _ in range(_CALL_TRIES))
    return next((one for one in drawn if one and _look_of(one) == _look_of(example)), example)


def _look_of(text: str) -> tuple[bool, bool, frozenset[str]]:
    """Return whether a text has capitals and digits, and which signs."""
    signs = frozenset(sign for sign in text if not sign.isalnum())
    return not text.islower(), any(map(str.isdecimal, text)), signs


def _told_about(schema: JsonSchema) -> str:
    """Return what is said of a parameter: its description, and what its tool does."""
    return f"{schema.get('description', '')} {schema.get(ASKED_OF, '')}"


def _plain_text(kind: str, name: str, schema: JsonSchema, language: Language, rng: Random) -> str:
    match kind:
        case "date":  # a month as a day is its first
            day = _random_day(rng)
            return f"{day[:8]}01" if split_name(name)[-1] == "month" else day
        case "birthday":
            return (_OLDEST + timedelta(days=rng.randint(0, _BIRTH_DAYS))).isoformat()
        case "month":
            return _random_day(rng)[:7]
        case "time":
            return _clock(name, schema, rng) + (":00" if schema.get("format") == "time" else "")
        case "moment":
            joint, end = ("T", ":00Z") if schema.get("format") == "date-time" else (" ", "")
            return f"{_random_day(rng)}{joint}{_clock(name, schema, rng)}{end}"
    if kind in CODED or kind == "code":
        about = _told_about(schema)
        by_words = {"link": write_link, "file": write_file}.get(kind)
        return by_words(name, about, rng) if by_words else write_code(kind, name, language, rng)
    if kind in NUMERIC:
        low, high = _likely(kind, name)
        step = _step(kind, low)
        return str(step * rng.randint(-(-low // step), high // step))
    is_name = names_a_thing(name, schema) or (kind == "text" and has_a_name(name, schema))
    topic = "text name" if is_name else topic_of(name, kind)
    if topic == "reason":  # for what the tool does
        topic = topic_of(str(schema.get(ASKED_OF, "")).partition(" ")[0], kind)
    return phrase(topic, language, rng)


def _random_day(rng: Random) -> str:
    """Return a random day in the period that all samples use."""
    return (FIRST_DAY + timedelta(days=rng.randint(0, _DAYS))).isoformat()


def _seconds(rng: Random) -> int:
    """Return a moment of that period in seconds since 1970."""
    first = datetime.combine(FIRST_DAY, time(), tzinfo=UTC).timestamp()
    return int(first) + 60 * rng.randrange(_DAYS * 24 * 60)


def _clock(name: str, schema: JsonSchema, rng: Random) -> str:
    """Return a time of day at which people do such a thing."""
    row = meaning_row(name, schema, "clocks")
    first, last = (row.give["from"], row.give["to"]) if row else _DAYTIME
    return f"{rng.randint(first, last):02}:{rng.choice((0, 0, 15, 30, 30, 45)):02}"


_HEX_TAIL = re.compile(r"[0-9A-Fa-f-]{16,}$")
_LONGEST_PREFIX = 4


def _in_lower_hex(text: str, schema: JsonSchema) -> str:
    """Return a code with its hex digits in lower case, as programs write them, if that fits."""
    for start in range(_LONGEST_PREFIX):
        lowered = text[:start] + text[start:].lower()
        if _HEX_TAIL.match(text, start) and fits(lowered, schema):
            return lowered
    return text


def _patterned(name: str, schema: JsonSchema, rng: Random) -> str:
    try:
        least, most = int(schema.get("minLength", 0)), schema.get("maxLength", _LONGEST_TEXT)
        # "0" and "adr_7" are of their patterns, and no ids that anybody has
        usual = _USUAL_LENGTH if _OPEN.search(schema["pattern"]) else 2
        usual = min(max(least, usual), most)
        texts: list[str] = []
        for _ in range(_CALL_TRIES):
            text = matching_text(schema["pattern"], rng, least=least)
            texts.append(_in_lower_hex(text, schema))
            if usual <= len(texts[-1]) <= most:
                return texts[-1]
        return max((one for one in texts if len(one) <= most), key=len, default=texts[0])
    except UnsupportedPatternError as error:
        raise ReplyError(f"template/v1 can't write {name!r} by its pattern: {error}") from error


def _at_length(text: str, schema: JsonSchema, language: Language, rng: Random) -> str:
    least, most, pack = schema.get("minLength", 0), schema.get("maxLength"), of(language)
    if least > _LONGEST_TEXT:
        problem = f"template/v1 writes no text of {least} characters, which the schema asks for."
        raise ReplyError(problem)
    while len(text) < least:
        text = text + pack.space + phrase(pack.data["values"]["padding"], language, rng)
    if most is None or len(text) <= most:
        return text
    whole_words = text[: most + 1].rpartition(" ")[0].strip()
    return whole_words if len(whole_words) >= max(1, least) else text[:most].strip()


_CALL_TRIES = 12
_USUAL_LENGTH, _OPEN = 8, re.compile(r"[*+]|,\}")
_TYPE = ("type",)
_SHOWN = frozenset({"enum", "const", "examples", "default", "pattern", "format"})
_NOTHING: Mapping[str, JsonValue] = {}
_Members = Mapping[str, JsonSchema]
_LONGEST_STAY = 14
_END, _START = LanguagePattern("@{period_end}"), LanguagePattern("@{period_start}")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_PLACES = frozenset({"place", "origin", "destination"})
_WORDS = re.compile(r"[a-z0-9]+")
_HOST = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*")
_NAME_OF_A_THING = re.compile(r"\bname of (?:the|an?|this|your) ", re.IGNORECASE)
# "70441", "123.45", "enterprise_123456"
_NUMBERED = re.compile(r"\d{2,}(?:\.\d\d)?|(?:[a-z]+[_-])+\d{4,}")
_MOMENT_SHOWN = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
)
_MAIL_SHOWN = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_CODED_SHOWN = re.compile(r"(?=\D*\d)(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[\w.-]{12,}")
_LISTED = frozenset({"pick", "table"})
_ZONED = re.compile(r":\d\d.*(?:Z|[+-]\d\d:?\d\d)$")
_NAME_SHOWN = re.compile(r"[A-Za-z]+(?:[ ._-][A-Za-z]+)+")


def fill_in(
    names: list[str],
    properties: dict[str, JsonSchema],
    language: Language,
    rng: Random,
    known: Mapping[str, JsonValue] = _NOTHING,
) -> dict[str, JsonValue]:
    """Return a value for each parameter in `names`, consistent with those that are `known`.

    No two values are alike where they could be mixed up, and an end comes after its start. The
    `known` values stay as they are.
    """
    values: dict[str, JsonValue] = {}
    for _ in range(_CALL_TRIES):
        values = dict(known)
        for name in names:
            for _ in range(_CALL_TRIES):
                values[name] = make_value(name, properties[name], language, rng)
                values[name] = _near(name, values, properties, language, rng)
                values[name] = _past(name, values[name], properties)
                told = _is_told(values[name], properties[name])
                if not told and not _is_mistakable(name, values):
                    break
        put_in_order(values, properties, known)
        values = agreeing(values, properties, language, rng, known)
        if all(values[name] == value for name, value in known.items()):
            break
    return {name: values[name] for name in names}


def _is_told(value: JsonValue, schema: JsonSchema) -> bool:
    """Whether the description of a parameter says this text, and it is none of its choices."""
    if not isinstance(value, str) or value in (*choices_of(schema), *stated_choices(schema)):
        return False
    described = str(schema.get("description") or "").casefold()
    word = re.escape(value.casefold())
    return value != schema.get("default") and bool(re.search(rf"(?<!\w){word}(?!\w)", described))


def _is_mistakable(name: str, values: dict[str, JsonValue]) -> bool:
    """Whether another parameter has this value or one that contains it, or the other way round.

    Booleans may be equal.
    """
    value, folded_value = values[name], fold(str(values[name]))

    def is_like(taken: JsonValue) -> bool:
        told = fold(str(taken))
        is_within = isinstance(value, str) and isinstance(taken, str)
        return told == folded_value or (
            is_within and (folded_value in told or told in folded_value)
        )

    others = (taken for other, taken in values.items() if other != name)
    named = (taken for taken in others if not isinstance(taken, bool))
    return not isinstance(value, bool) and any(map(is_like, named))


_BY_LAND = re.compile(
    r"\b(trains?|rail\w*|bus(es)?|coach(es)?|rides?|taxis?|cabs?|drive\w*|car|routes?|metro|tram)\b"
)


def _past(name: str, value: JsonValue, properties: Mapping[str, JsonSchema]) -> JsonValue:
    """Return a moment a year or two earlier if it is that since which, or until which, things were.

    Such moments lie before the time at which people ask; other values stay as they are.
    """
    is_bound = "since" in split_name(name) or (
        "until" in split_name(name) and any("since" in split_name(one) for one in properties)
    )
    if not is_bound or not isinstance(value, str) or not _MOMENT.match(value):
        return value
    earlier = f"{int(value[:4]) - 1 - (value[5:7] in _LAST_MONTHS)}{value[4:]}"
    is_to_come = value >= FIRST_DAY.isoformat()
    return earlier if is_to_come and fits(earlier, properties[name]) else value


def _near(
    name: str,
    values: dict[str, JsonValue],
    properties: dict[str, JsonSchema],
    language: Language,
    rng: Random,
) -> JsonValue:
    """Return the value, or a place that can be reached by land where the tool goes by land.

    A place is replaced if no land connects it to another place among the values; the new place
    is on the other's landmass.
    """
    land_of, value, schema = lands(language), values[name], properties[name]
    others = (str(other) for at, other in values.items() if at != name)
    taken = {other: land_of[other] for other in others if other in land_of}
    here, is_by_land = land_of.get(str(value)), _BY_LAND.search(schema.get(ASKED_OF, "").lower())
    if here is None or {*taken.values()} <= {here} or not is_by_land:
        return value
    land = next(iter(taken.values()))
    free = (place for place, at in land_of.items() if at == land and place not in taken)
    near = [place for place in free if fits(place, schema)]
    return rng.choice(near) if near else value


def out_of_order(values: Mapping[str, JsonValue], properties: _Members) -> tuple[str, str] | None:
    """Return the names of a start and an end that come in the wrong order, or None."""
    for end, last in values.items():
        start = _start_of(end, values, properties)
        if start and str(values[start]) > str(last):
            return start, end
        if above := _begun_above(end, values, properties):
            return above, end
    return None


def put_in_order(
    values: dict[str, JsonValue], properties: _Members, known: Mapping[str, JsonValue] = _NOTHING
) -> None:
    """Make every period end after it starts; where its end is `known`, start before it."""
    for name, value in values.items():
        if isinstance(value, dict):
            members = properties[name].get("properties") or {}
            put_in_order(value, {member: members.get(member) or {} for member in value})
    for end in list(values):
        _order_numbers(end, values, properties)
        start = _start_of(end, values, properties)
        if not start:
            continue
        first, last = str(values[start]), str(values[end])
        if _DAY.fullmatch(first) and _DAY.fullmatch(last):
            # some days later, known by `last` so that no randomness is spent
            days = timedelta(days=1 + date.fromisoformat(last).day % _LONGEST_STAY)
            if end in known and start not in known:
                first = (date.fromisoformat(last) - days).isoformat()
            else:
                begin = min(date.fromisoformat(first), LAST_DAY - timedelta(days=1))
                first, last = begin.isoformat(), min(begin + days, LAST_DAY).isoformat()
        first, last = min(first, last), max(first, last)
        if fits(first, properties[start]) and fits(last, properties[end]):
            values[start], values[end] = first, last


def _order_numbers(end: str, values: dict[str, JsonValue], properties: _Members) -> None:
    """Swap two numbers of a range if its end, such as `max_price`, is below its start."""
    start = _begun_above(end, values, properties)
    if start and fits(values[end], properties[start]) and fits(values[start], properties[end]):
        values[start], values[end] = values[end], values[start]


def _begun_above(end: str, values: Mapping[str, JsonValue], properties: _Members) -> str:
    """Return the parameter that starts a range of numbers above its `end`, or ""."""
    start = _begun_by(end, values, properties)
    first, last = values.get(start), values[end]
    are_numbers = isinstance(first, int | float) and isinstance(last, int | float)
    return start if are_numbers and first > last else ""  # type: ignore[operator]


def _begun_by(end: str, values: Mapping[str, JsonValue], properties: _Members) -> str:
    """Return the parameter that is the start of the range that `end` ends, or "".

    Their names say so, or the description of either: "must be after `opens_at`".
    """
    pairs = range_starts()
    words = split_name(end)
    # each word alone, too: in "max_hours_to_read" the "to" ends nothing
    alone = (
        (*words[:at], pairs.get(word, word), *words[at + 1 :]) for at, word in enumerate(words)
    )
    begun = {tuple(pairs.get(word, word) for word in words), *alone} - {words}
    named = next((other for other in values if split_name(other) in begun), "")
    told = (
        other
        for other in values
        if other != end
        and (_says(_AFTER, end, other, properties) or _says(_BEFORE, other, end, properties))
    )
    return named or next(told, "")


_AFTER = r"\b(?:after|(?:later|greater|higher|larger|more) than|exceed)"
_BEFORE = r"\b(?:before|(?:earlier|less|lower|smaller) than)"


def _says(relation: str, name: str, other: str, properties: _Members) -> bool:
    """Whether a parameter's description says that its value must be in this relation to another."""
    described = str(properties.get(name, {}).get("description") or "")
    spoken = "[ _-]".join(map(re.escape, split_name(other)))
    named = rf"(?:the )?[`'\"]?(?:{re.escape(other)}|{spoken})\b"
    found = rf"\b(?:must|should) (?:be )?{relation}(?: or equal to)? {named}"
    return re.search(found, described, re.IGNORECASE) is not None


def _start_of(end: str, values: Mapping[str, JsonValue], properties: _Members) -> str | None:
    """Return the parameter of the same kind that starts the period which `end` ends."""
    kind = meaning_of(end, properties[end])
    if kind not in CLOCKED:
        return None
    begun = _begun_by(end, values, properties)
    if begun and meaning_of(begun, properties[begun]) == kind:
        return begun
    if not _tells(_END, "out", end, properties[end]):
        return None
    others = (other for other in values if other != end)
    alike = (other for other in others if meaning_of(other, properties[other]) == kind)
    return next((other for other in alike if _tells(_START, "in", other, properties[other])), None)


def _tells(cue: LanguagePattern, check: str, name: str, schema: JsonSchema) -> bool:
    """Whether the name matches the cue, or the description in a script other than Latin."""
    words, described = split_name(name), str(schema.get("description", ""))
    text = " ".join((*words, described if own_letters(described) else ""))
    return {"check", check} <= {*words} or cue.of(text).search(text) is not None


def _is_the_deed(name: str, schema: JsonSchema) -> bool:
    """Whether a flag says that the tool does what it is for: `removed` of `removeComment`.

    Who calls such a tool wants it done.
    """
    words, tool = split_name(name), str(schema.get(ASKED_OF, "")).partition(" ")[0]
    if len(words) != 1:
        return False
    pairs = ((words[0], word) for word in function_words(tool))
    return any(
        min(map(len, pair)) >= _FEWEST_LETTERS
        and (pair[0].startswith(pair[1]) or pair[1].startswith(pair[0]))
        for pair in pairs
    )


_FEWEST_LETTERS = 3  # of a verb
_CODES = frozenset({"id", "number", "code", "pin"})
_FEWEST_DIGITS = 3
_STEPS = {"money": 5}
_LARGE, _LARGE_STEP = 5000, 500  # nobody asks for a loan of 187,405
_DECIMAL_SHARE = 0.2
_WIDE = 1000
_TIMES = 5
_SMALL = 30  # nobody rounds what is less
_MOST_STEPS = 10**9


def _make_number(kind: str, name: str, schema: JsonSchema, rng: Random) -> int | float:
    """Return a number that satisfies `schema`. Raise ReplyError if its bounds leave none."""
    low, high, step = _bounds(kind, name, schema)
    is_decimal = json_type(schema) == "number" and "multipleOf" not in schema
    if is_decimal and rng.random() < _DECIMAL_SHARE:
        step = Fraction(1, 2) if high - low > 1 else Fraction(1, 20)
    if is_decimal and high - low < step:
        step = (high - low) / 100 or Fraction(1)
    first, last = ceil(low / step), floor(high / step)
    if last < first:
        raise ReplyError(f"template/v1 finds no number between {low} and {high} for {name!r}.")
    last = min(last, first + _MOST_STEPS)
    # small numbers are said more often
    value = step * min(rng.randint(first, last), rng.randint(first, last))
    is_free = "multipleOf" not in schema and kind != "year" and not _is_code(kind, name)
    value = _rounded(value, low, high) if is_free else value
    if value.denominator > 1 or abs(value) > _MOST_WHOLE:
        if json_type(schema) == "integer":
            raise ReplyError(
                f"template/v1 finds no whole number of 64 bits between {low} and {high} for"
                f" {name!r}."
            )
        return float(value)
    return int(value)


def _rounded(value: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Round a number as people do (391 minutes: 400) unless it is small or leaves the bounds."""
    if value <= _SMALL:
        return value
    unit = 5 * 10 ** (len(str(int(value))) - 2)
    round_one = Fraction(round(value / unit) * unit)
    return round_one if low <= round_one <= high else value


def _is_code(kind: str, name: str) -> bool:
    """Whether the digits identify a thing instead of counting something."""
    words = split_name(name)
    return kind == "number" and bool(_CODES.intersection(words)) and "of" not in words


def _step(kind: str, low: int) -> int:
    return _LARGE_STEP if kind == "money" and low >= _LARGE else _STEPS.get(kind, 1)


def _likely(kind: str, name: str) -> tuple[int, int]:
    name_text, usual = " ".join(split_name(name)), code_table("likely")
    named = (
        bounds
        for pattern, of_kind, bounds in code_table("likely_by_name")
        if of_kind == kind and re.search(pattern, name_text)
    )
    low, high = next(named, usual.get(kind, usual["number"]))
    return low, high


def _bounds(kind: str, name: str, schema: JsonSchema) -> tuple[Fraction, Fraction, Fraction]:
    """Return the lowest and the highest number, and the step between numbers that people say."""
    likely_low, likely_high = map(Fraction, _likely(kind, name))
    if _is_code(kind, name):
        likely_low, likely_high = Fraction(1000), Fraction(999999)
    usual = _step(kind, int(likely_low)) if json_type(schema) == "number" else 1
    step = _exact(schema.get("multipleOf")) or Fraction(usual)
    low, high = _limit(schema, "minimum", step), _limit(schema, "maximum", -step)
    if low is None and high is None:
        return likely_low, max(likely_high, likely_low + step), step
    if low is not None and high is not None and "multipleOf" not in schema:
        # people stay in the usual part of a wide range, or near its beginning
        within = max(low, likely_low), min(high, likely_high)
        if within[0] < within[1]:
            low, high = within
        elif low > 0:
            high = min(high, low * _TIMES)
    if low is None:
        low = likely_low if high is None or likely_low <= high else high - _WIDE
    if high is None:
        high = likely_high if likely_high > low else low + _WIDE
    if "multipleOf" not in schema and step > (high - low) / 4:
        step = Fraction(1)
    return low, high, step


def _limit(schema: JsonSchema, name: str, inwards: Fraction) -> Fraction | None:
    closed_end = _exact(schema.get(name))
    open_end = _exact(schema.get(f"exclusive{name.capitalize()}"))
    if open_end is None:
        return closed_end
    inside = open_end + (inwards if json_type(schema) == "integer" else inwards / 100)
    return inside if closed_end is None else (max if inwards > 0 else min)(closed_end, inside)


def _exact(value: object) -> Fraction | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return Fraction(str(value)) if is_number else None
