"""What tools are made of: categories of what people do with phones (HammerBench 4.2), sketches.

Sketches are a model's parameters and results, with limits, and the JSON Schema made from them.
Using kinds instead of free JSON Schema keeps every tool within what later stages can fill in,
say and read back.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from callwright.generators.tools import value_validator
from callwright.language.packs import COMMON_SCRIPT, in_folders, of, writes
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema, Language, ToolsetPlan

FOLDER = "callwright.generators.toolset.everyday"
_Text = Literal["text", "date", "time", "date_time", "choice"]
PlainKind = Literal[_Text, "integer", "number", "boolean", "phone", "email", "list"]
MOST_MEMBERS = 4
FEWEST_EXAMPLES, MOST_EXAMPLES = 4, 12
FEWEST_CHOICES, MOST_CHOICES = 2, 12
LONGEST_NAME = 40
LONGEST_DESCRIPTION = 80
LONGEST_EXAMPLE = 120
LARGEST_NUMBER = 10**12
_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_CLOCK = r"^([01]\d|2[0-3]):[0-5]\d$"
_MOMENT = r"^\d{4}-\d{2}-\d{2} ([01]\d|2[0-3]):[0-5]\d$"
_PHONE = r"^\+?\d[\d -]{5,16}\d$"
_SCHEMAS: dict[str, JsonSchema] = {
    "text": {"type": "string"},
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "pattern": _CLOCK},
    "date_time": {"type": "string", "pattern": _MOMENT},
    "choice": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "phone": {"type": "string", "pattern": _PHONE},
    "email": {"type": "string", "format": "email"},
    "list": {"type": "array"},
    "group": {"type": "object"},
}
_NUMERIC = ("integer", "number")


class Category(NamedTuple):
    """A functional category, in English: people's goals there, and the things they keep there.

    Other languages translate each text in a file beside it.
    """

    name: str
    description: str
    goals: tuple[str, ...]
    resources: tuple[str, ...]

    def stated(self, text: str, language: Language) -> str:
        """Return the category's text in this language, or in English if it is not translated."""
        groups: tuple[Mapping[str, Any], ...] = in_folders(FOLDER, f"{language}.yaml")
        own = (one[self.name]["texts"].get(text, text) for one in groups if self.name in one)
        return str(next(own, text))


@lru_cache(1)
def load_categories() -> tuple[Category, ...]:
    """Return every category in alphabetical order; a test checks these packaged files."""
    listed = [raw for group in in_folders(FOLDER, "categories.yaml") for raw in group]
    told = ((raw["name"], raw["description"], raw["goals"], raw["resources"]) for raw in listed)
    categories = (
        Category(name, text, tuple(goals), tuple(kept)) for name, text, goals, kept in told
    )
    return tuple(sorted(categories))


def category_named(name: str) -> Category:
    """Return the category with this name.

    Raises ConfigurationError, which lists the categories.
    """
    categories = {category.name: category for category in load_categories()}
    if name not in categories:
        message = f"There is no category {name!r}; the categories are {', '.join(categories)}."
        raise ConfigurationError(message)
    return categories[name]


def plan_toolset(category: Category, language: Language, count: int, *, seed: int) -> ToolsetPlan:
    """Return the plan for `count` tools of a category in a language."""
    goals = tuple(category.stated(goal, language) for goal in category.goals)
    resources = tuple(category.stated(resource, language) for resource in category.resources)
    is_translated = language != DEFAULT_LANGUAGE
    return ToolsetPlan(
        category=category.name,
        description=category.stated(category.description, language),
        goals=goals,
        resources=resources,
        english_goals=category.goals if is_translated else (),
        english_resources=category.resources if is_translated else (),
        language=language,
        count=count,
        seed=seed,
    )


class Sketch(BaseModel):
    """A value of a kind, and what its kind allows.

    `examples` are for text, phone, email and list, `choices` for choice, `minimum` and `maximum`
    for numbers.
    """

    name: str
    kind: PlainKind | Literal["group"]
    description: str
    examples: list[str] = []
    choices: list[str] = []
    minimum: float | None = None
    maximum: float | None = None


class MemberSketch(Sketch):
    """A value inside a group, which is no group itself."""

    kind: PlainKind


class ParameterSketch(Sketch):
    """A parameter; one of the kind "group", or a "list" of groups, has `members`."""

    required: bool
    members: list[MemberSketch] = []


class ResultSketch(Sketch):
    """A value that a tool returns; a "group", or a "list" of groups, has `members`."""

    members: list[MemberSketch] = []


def sketches_problem(sketches: Sequence[Sketch], language: Language, *, shown: bool) -> str:
    """Return why these can't be in one tool, or ""; `shown` asks for examples of free text."""
    names = Counter(sketch.name for sketch in sketches)
    descriptions = Counter(sketch.description.strip().casefold() for sketch in sketches)
    for what, counts, most in (
        ("name", names, LONGEST_NAME),
        ("description", descriptions, LONGEST_DESCRIPTION),
    ):
        twice = next((text for text, count in counts.items() if count > 1), None)
        if twice is not None:
            return f"the {what} {twice[:most]!r} stands twice."
    problems = (_problem(sketch, language, shown=shown) for sketch in sketches)
    return next(filter(None, problems), "")


def object_schema(sketches: Sequence[Sketch], required: Sequence[str]) -> JsonSchema:
    """Return the JSON Schema of an object with these members."""
    properties = {sketch.name: field_schema(sketch) for sketch in sketches}
    schema: JsonSchema = {"type": "object", "properties": properties}
    return {**schema, "required": list(required), "additionalProperties": False}


def field_schema(sketch: Sketch) -> JsonSchema:
    """Return the JSON Schema of one value."""
    schema: JsonSchema = {**_SCHEMAS[sketch.kind], "description": sketch.description.strip()}
    members = members_of(sketch)
    if sketch.kind == "choice":
        schema["enum"] = list(sketch.choices)
    if sketch.kind in _NUMERIC:
        number = int if sketch.kind == "integer" else float
        limits = {"minimum": sketch.minimum, "maximum": sketch.maximum}
        schema |= {name: number(one) for name, one in limits.items() if one is not None}
    if members:
        group = object_schema(members, [member.name for member in members])
        if sketch.kind == "list":
            return {**schema, "items": group}
        return {**group, "description": schema["description"]}
    if sketch.kind == "list":
        items: JsonSchema = {"type": "string"}
        schema["minItems"] = 1
        schema["items"] = {**items, "examples": list(sketch.examples)} if sketch.examples else items
    elif sketch.examples and sketch.kind in ("text", "phone", "email"):
        schema["examples"] = list(sketch.examples)
    return schema


def members_of(sketch: Sketch) -> list[MemberSketch]:
    """Return the members of a group, or of each item of a list; none for anything else."""
    return sketch.members if isinstance(sketch, ParameterSketch | ResultSketch) else []


def in_language(text: str, language: Language) -> bool:
    """Whether a text is in the tool's language: Chinese needs Chinese characters, English none."""
    return writes(language, text)


def _problem(sketch: Sketch, language: Language, *, shown: bool) -> str:
    name = sketch.name[:LONGEST_NAME]
    if len(sketch.name) > LONGEST_NAME or not _SNAKE.fullmatch(sketch.name):
        return f"the name {name!r} is not in snake_case with at most {LONGEST_NAME} characters."
    description = sketch.description.strip()
    if not description or len(description) > LONGEST_DESCRIPTION or "\n" in description:
        most = LONGEST_DESCRIPTION
        return f"the description of {name!r} is not one line of 1 to {most} characters."
    if not in_language(description, language):
        return f"the description of {name!r}, {description!r}, is not in the language {language!r}."
    problem = _of_kind(sketch, name, language, shown=shown)
    return problem or _of_members(sketch, name, language, shown=shown)


def _of_kind(sketch: Sketch, name: str, language: Language, *, shown: bool) -> str:
    if sketch.kind == "choice":
        what = f"choices of {name!r}"
        return _of_words(sketch.choices, FEWEST_CHOICES, MOST_CHOICES, what, language)
    if sketch.kind in _NUMERIC:
        return _of_range(sketch, name, shown=shown)
    is_open = sketch.kind in ("text", "list") and not members_of(sketch)
    least = FEWEST_EXAMPLES if shown and is_open else 0
    problem = _of_words(sketch.examples, least, MOST_EXAMPLES, f"examples of {name!r}", language)
    return problem or _of_examples(sketch, name)


def _of_range(sketch: Sketch, name: str, *, shown: bool) -> str:
    low, high = sketch.minimum, sketch.maximum
    if shown and (low is None or high is None):
        return f"the number {name!r} lacks a minimum or a maximum."
    limits = [limit for limit in (low, high) if limit is not None]
    if not all(abs(limit) <= LARGEST_NUMBER for limit in limits):  # nan is below nothing
        return f"the limits of {name!r} are not within {LARGEST_NUMBER}."
    if low is not None and high is not None and low >= high:
        return f"the minimum of {name!r}, {low}, is not below its maximum, {high}."
    return ""


def _of_words(words: Sequence[str], least: int, most: int, what: str, language: Language) -> str:
    if not least <= len(words) <= most:
        return f"{len(words)} {what} were given; {least} to {most} are allowed."
    if len({word.strip().casefold() for word in words}) < len(words):
        return f"some {what} are the same."
    for word in words:
        if not word.strip() or len(word) > LONGEST_EXAMPLE or "\n" in word:
            return f"the {what} must have 1 to {LONGEST_EXAMPLE} characters each, on one line."
        if of(language).script == COMMON_SCRIPT and not in_language(word, language):
            return f"the {what} are not in the language {language!r}: {word!r}."
    return ""


def _of_examples(sketch: Sketch, name: str) -> str:
    if sketch.kind not in ("phone", "email"):
        return ""
    validator = value_validator(_SCHEMAS[sketch.kind])
    wrong = next((example for example in sketch.examples if not validator.is_valid(example)), "")
    if wrong:
        return f"the example {wrong!r} of {name!r} is no value of the kind {sketch.kind!r}."
    return ""


def _of_members(sketch: Sketch, name: str, language: Language, *, shown: bool) -> str:
    members = members_of(sketch)
    if sketch.kind == "group" and not members:
        return f"the group {name!r} has no members."
    if members and sketch.kind not in ("group", "list"):
        return f"{name!r} has members, but is of the kind {sketch.kind!r}."
    if len(members) > MOST_MEMBERS:
        return f"{name!r} has {len(members)} members; at most {MOST_MEMBERS} are allowed."
    problem = sketches_problem(members, language, shown=shown)
    return f"in {name!r}, {problem}" if problem else ""
