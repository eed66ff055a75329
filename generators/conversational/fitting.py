"""Whether a turn says what its move plans, and no less: decided by code, whoever worded it."""

import re
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from generators.stage_context import StageContext
from language.values import locate
from warehouse.records import JsonSchema, Language, Move

_LONGEST = 2500
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]{2}")
_QUESTION = re.compile(r"[?？]")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_CLOCK = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
Mention = tuple[int, str, str]  # the number of the part, the parameter, the words
Expected = Mapping[tuple[int, str], tuple[JsonValue, JsonSchema]]


def expected_mentions(move: Move, context: StageContext) -> Expected:
    """What a user's turn has to say, with the schema that it is said by; the extra value comes after the last part."""
    parts = [*move.parts, *([move.extra] if move.extra else [])]
    return {
        (number, name): (value, {"title": name, **context.tool(part.tool).properties.get(name, {})})
        for number, part in enumerate(parts)
        for name, value in part.arguments.items()
    }


def user_problem(text: str, mentions: Sequence[Mention], expected: Expected, language: Language) -> str:
    """Why this can't be the user's turn, "" where it can: exactly the planned values, each one said."""
    if not text.strip() or len(text) > _LONGEST:
        return f"the turn has {len(text)} characters; 1 to {_LONGEST} are allowed."
    said = text
    for _, _, words in mentions:
        said = said.replace(words, "")
    if (_CHINESE if language == "en" else _LATIN).search(said):
        return f"the turn is not in the language {language!r}."
    named = sorted((part, name) for part, name, _ in mentions)
    if named != sorted(expected):
        return f"it says {named} where {sorted(expected)} were to be said."
    for part, name, words in mentions:
        value, schema = expected[part, name]
        if not words or words not in text:
            return f"the words {words!r} for {name!r} do not stand in it."
        if locate(value, schema, words) is None:
            return f"the words {words!r} do not say {value!r} for {name!r}."
    return ""


def agent_problem(text: str, move: Move, context: StageContext, language: Language) -> str:
    """Why this can't be the assistant's turn, "" where it can: it asks where it shall ask and tells what it shall tell."""
    if not text or len(text) > _LONGEST:
        return f"the turn has {len(text)} characters; 1 to {_LONGEST} are allowed."
    if bool(_CHINESE.search(text)) != (language == "zh"):
        return f"the turn is not in the language {language!r}."
    if "seek" in move.acts and not _QUESTION.search(text):
        return f"{text!r} asks nothing."
    told = [
        (fact.label, fact.value, plain_schema(fact.value)) for fact in move.facts if not isinstance(fact.value, bool)
    ]
    if move.intent == "ask_approval":
        told += [
            (name, value, {"title": name, **context.tool(part.tool).properties.get(name, {})})
            for part in move.parts
            for name, value in part.arguments.items()
        ]
    unsaid = next((f"{value!r} ({name})" for name, value, schema in told if not is_told(value, schema, text)), "")
    return f"{text!r} does not tell {unsaid}." if unsaid else ""


def is_told(value: JsonValue, schema: JsonSchema, text: str) -> bool:
    """Whether a text says a value."""
    return str(value) in text or locate(value, schema, text) is not None


def plain_schema(value: JsonValue) -> JsonSchema:
    """A schema for a value that has none: what it looks like tells how it may be said."""
    if isinstance(value, int | float):
        return {"type": "number"}
    if isinstance(value, str) and _DATE.fullmatch(value):
        return {"type": "string", "format": "date"}
    if isinstance(value, str) and _CLOCK.fullmatch(value):
        return {"type": "string", "pattern": f"^{_CLOCK.pattern}$"}
    return {"type": "string"}
