"""Tools that nobody here knows, from documents of others: what of them people say, with values that go together.

Worded is what closed lists hold: a verb and an object on which the name and the description of a tool agree, and parameters
that the table of meanings holds for. All else has a gap: why nobody would say it in the words that are known.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.language.calls.actions import own_words
from callwright.language.calls.meanings import (
    Meaning,
    in_context,
    meaning_row,
    spoken_row,
    stated_choices,
    text_of,
    worlds,
)
from callwright.language.calls.sampling import fill_in, number_by, put_in_order, random_day
from callwright.language.calls.tools import ToolView
from callwright.language.names import humanise, split_name
from callwright.language.packs import language_of, of
from callwright.language.protocol import PlainAction
from callwright.language.schemas import fits, json_type
from callwright.warehouse.records import JsonSchema, Language

_SPEECH = "speech"
_OWN_NAME = re.compile(r"[A-Z]\w*\.[A-Z]\w*\.[a-z]\w*")  # as catalogs that are made here name their tools
_OWN = "my "
_CHANGES, _MAKES = frozenset({"change"}), frozenset({"make", "send", "book", "schedule", "order", "buy"})
_MOST_ARGUMENTS = 5
_MOST_CHOICES, _MOST_CHOICE_WORDS, _MOST_CUE_WORDS = 16, 3, 3
_FEWEST_EXAMPLES, _LONGEST_EXAMPLE = 2, 40
_WHOSE = re.compile(
    r"\b(?:user|owner|member|customer|account|receiver|recipient|person|assignee|email|employee|guest|patient|username)\b"
)
_IDENTIFIER = re.compile(r"(?:^| )(?:id|ids|gid|number|code)$")
_IN_FULL = {"max": "maximum", "min": "minimum", "num": "number", "qty": "quantity", "lang": "language"}
_ID_WORDS = re.compile(r"\b(?:gid|uid|Id)$")
_SPOKEN = re.compile(r"[A-Za-z]*[aeiouyAEIOUY][A-Za-z]*(?:[ _-][A-Za-z]+)*")
_PLAIN_EXAMPLE = re.compile(r"[A-Z]?[\w'&,.-]*[aeiouy][\w'&,.-]*(?: [\w'&,.-]+)*")
_MACHINE = re.compile(r"_|\d{3,}|\w\.\w|^[A-Z]{2,}$|\w-\d|\d-\w|^\d")
_SHORT_CODE = re.compile(r"\d{1,8}|[A-Z]{2,4}-?\d{2,6}")
_LITERAL_PATTERN = re.compile(r"\^?(?:[A-Z]{1,4}-?)?(?:\\d|\[0-9\])\{\d\}\$?")
_CLOCKED = re.compile(r"\\d\{4\}-|\[0-5\]")
_PADDED = re.compile(r"0\d{1,7}")
_TYPED = frozenset({"time", "birthday", "phone"})  # values of these kinds are made by their schema


class Unknown(NamedTuple):
    """A tool that nobody here knows, with its action and the names of its parameters that people say."""

    view: ToolView
    language: Language
    action: PlainAction
    gaps: Mapping[str, str]  # by parameter; "" where people say it

    def gap(self, names: Sequence[str]) -> str:
        """Why nobody would ask for the tool with these arguments, "" where somebody would."""
        spoken = [name for name in names if not _IDENTIFIER.search(" ".join(split_name(name)))]
        if self.action.gap:
            return self.action.gap
        if gap := next((self.gaps[name] for name in names if self.gaps.get(name)), ""):
            return gap
        if len(names) > _MOST_ARGUMENTS:
            return f"nobody says {len(names)} values at once"
        if self.action.kind in _CHANGES | _MAKES and not spoken:
            return f"it would be asked to {self.action.kind} {self.action.thing} without a word on how"
        if not names and not self.action.is_plural and self.view.parameters:
            return f"nothing would tell which {self.action.thing.removeprefix('the ')} is meant"
        if self.action.thing.startswith(_OWN) and any(_WHOSE.search(" ".join(split_name(one))) for one in names):
            return f"{self.action.thing!r} is one's own, but a parameter names whose it is"
        return ""


def unknown(view: ToolView) -> Unknown | None:
    """The tool as one that nobody here knows; None where it is known, or its language has no words for such tools."""
    language = language_of(view.description or view.name)
    is_ours = bool(own_words(view.name, view.description) or _OWN_NAME.fullmatch(view.name))
    if is_ours or _SPEECH not in of(language).data:
        return None
    return _unknown(view, language)


@lru_cache(1024)
def _unknown(view: ToolView, language: Language) -> Unknown:
    pack = of(language)
    action = pack.rules.plain_action(view.name, view.description, tuple(view.properties), pack.data[_SPEECH])
    known = in_context(view.properties, f"{view.name} {view.description}")
    return Unknown(view, language, action, {name: spoken_gap(name, known[name], language) for name in known})


def spoken_name(name: str) -> str:
    """What people call a parameter of a tool that nobody here knows: its name in words, any identifier an ID."""
    return " ".join(_IN_FULL.get(word, word) for word in _ID_WORDS.sub("ID", humanise(name)).split())


def spoken_gap(name: str, schema: JsonSchema, language: Language) -> str:
    """Why nobody would say a value for a parameter of a tool that nobody here knows, "" where somebody would."""
    words = spoken_name(name).split()
    unspoken = of(language).data[_SPEECH]["unspoken"]
    if len(words) > _MOST_CUE_WORDS or any(not _is_spoken_word(word, unspoken) for word in words):
        return f"{name!r} is nothing that people speak of"
    kind = json_type(schema)
    if kind in ("boolean", "object") or "const" in schema:
        return f"{name!r} takes no value that people say"
    if kind == "array":
        items = schema.get("items")
        inner = {"description": schema.get("description", ""), **items} if isinstance(items, dict) else {}
        is_plain = json_type(inner) == "string" and not _IDENTIFIER.search(" ".join(split_name(name)))
        return spoken_gap(name, inner, language) if is_plain else f"{name!r} takes a list that nobody says"
    if choices := schema.get("enum") or stated_choices(schema):
        return _choice_gap(name, choices, schema)
    return "" if _source(name, schema) else f"which values of {name!r} people say is not known"


def _is_spoken_word(word: str, unspoken: Sequence[str]) -> bool:
    return word in ("ID", "IP") or (word.isalpha() and word not in unspoken and bool(_SPOKEN.fullmatch(word)))


def _choice_gap(name: str, choices: Sequence[object], schema: JsonSchema) -> str:
    if spoken_row(name, schema, "choice_names") is None:
        return f"{name!r} is a choice that people don't speak of"
    is_spoken = all(
        isinstance(one, str) and _SPOKEN.fullmatch(one) and len(re.split("[ _-]", one)) <= _MOST_CHOICE_WORDS
        for one in choices
    )
    return "" if is_spoken and len(choices) <= _MOST_CHOICES else f"the choices of {name!r} are nothing that people say"


def _source(name: str, schema: JsonSchema) -> Meaning | str | None:
    """Where the values that people say come from: a row of the table, "examples", "pattern"; None where nothing gives any."""
    is_number = json_type(schema) in ("integer", "number")
    row = spoken_row(name, schema, "spoken_numbers" if is_number else "spoken_texts")
    pattern = str(schema.get("pattern", ""))
    if pattern and (_LITERAL_PATTERN.fullmatch(pattern) or _CLOCKED.search(pattern)):
        return "pattern"
    if row is not None and schema.get("format") != "date-time" and (not pattern or _all_fit(row, schema)):
        return row
    examples = schema.get("examples") or ()
    if examples and all(_is_spoken_example(one, name) for one in examples):
        is_code = bool(_IDENTIFIER.search(" ".join(split_name(name))))
        return "examples" if is_code or len(examples) >= _FEWEST_EXAMPLES else None
    general = meaning_row(name, schema, "numbers" if is_number else "texts")
    return general if general and general.give.get("said") and not pattern else None


def _all_fit(row: Meaning, schema: JsonSchema) -> bool:
    """Whether a schema with a pattern takes all that a row gives."""
    field = row.give.get("world", "")
    listed = [world[field] for world in worlds()] if field else row.give.get("pick", [])
    return bool(listed) and all(fits(one, schema) for one in listed)


def _is_spoken_example(example: object, name: str) -> bool:
    if _IDENTIFIER.search(" ".join(split_name(name))):
        return bool(_SHORT_CODE.fullmatch(str(example)))
    if not isinstance(example, str) or len(example) > _LONGEST_EXAMPLE:
        return False
    return bool(_PLAIN_EXAMPLE.fullmatch(example)) and not _MACHINE.search(example)


def spoken_values(
    tool: Unknown, names: Sequence[str], rng: Random, known: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    """A value for each of the parameters named, as people say them: a city with its own country and currency."""
    properties = in_context(tool.view.properties, f"{tool.view.name} {tool.view.description}")
    values = fill_in(list(names), properties, tool.language, rng, known)
    picked = rng.sample(worlds(), len(worlds()))
    taken: dict[str, int] = {}
    for name in names:
        schema = properties[name]
        source = None if schema.get("enum") or stated_choices(schema) or name in known else _source_of(name, schema)
        if not isinstance(source, Meaning):
            continue
        field = source.give.get("world", "")
        drawn: JsonValue = None
        if field:
            at = taken.get(field, 0)
            seen = {world[field] for world in picked[:at]}
            at += next((step for step, world in enumerate(picked[at:]) if world[field] not in seen), 0)
            drawn, taken[field] = picked[at][field], at + 1
        elif json_type(schema) in ("integer", "number"):
            drawn = number_by(source.give, schema, rng)
        elif source.give.get("kind") == "date":
            drawn = random_day(rng).isoformat()
        elif source.give.get("kind") not in _TYPED:
            drawn = text_of(source, tool.language, rng) or None
        values[name] = _fitting(drawn, schema, values[name])
    values |= {name: _unpadded(values[name], properties[name], rng) for name in names if name not in known}
    put_in_order(values, properties)
    return values


def _unpadded(value: JsonValue, schema: JsonSchema, rng: Random) -> JsonValue:
    """Another first digit for a code that begins with a zero: nobody has an ID 0280."""
    if not isinstance(value, str) or not _PADDED.fullmatch(value):
        return value
    other = f"{rng.randint(1, 9)}{value[1:]}"
    return other if fits(other, schema) else value


def _source_of(name: str, schema: JsonSchema) -> Meaning | str | None:
    items = schema.get("items")
    if json_type(schema) == "array" and isinstance(items, dict):
        return None if items.get("enum") else _source(name, {"description": schema.get("description", ""), **items})
    return _source(name, schema)


def _fitting(drawn: JsonValue, schema: JsonSchema, otherwise: JsonValue) -> JsonValue:
    """What was drawn where the schema takes it, in a list where it takes a list."""
    value: Any = [drawn] if json_type(schema) == "array" and drawn is not None else drawn
    return value if value is not None and fits(value, schema) else otherwise
