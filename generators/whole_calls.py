"""Whole calls: arguments made to fit a tool's schema, and what its descriptions say in prose."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any

from pydantic import JsonValue
from referencing.exceptions import Unresolvable

from callwright.generators.tools import (
    argument_problems,
    call_object,
    schema_of_call,
    value_validator,
)
from callwright.language.calls.completing import Fixed, completed, told_of
from callwright.language.calls.parameters import ASKED_OF
from callwright.language.calls.prose_rules import ReadProse, read_rules, state_rule
from callwright.language.calls.sampling import make_value
from callwright.language.calls.unread_rules import UnreadRule
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Arguments, JsonSchema, Language, Tool


@lru_cache(4096)
def rules_of(tool: Tool) -> ReadProse:
    """Return what a tool's descriptions state in prose alone; only what is made is held to it."""
    return read_rules(tool.description, tool.parameters)


@lru_cache(4096)
def state_rule_of(tool: Tool) -> str:
    """Return the sentence by which a tool works in some states of the world only, or ""."""
    return state_rule(tool.name, tool.description, tool.parameters)


@lru_cache(4096)
def unread_rules_of(tool: Tool) -> tuple[UnreadRule, ...]:
    """Return the rules in a tool's prose that nothing here reads, where calls could break them.

    Not those on the state of the world (`state_rule_of`), on parameters that no plan chooses, or
    on a required parameter, which has values of the recipe's author.
    """
    prose, state = rules_of(tool), state_rule_of(tool)
    unsaid = {*tool.plumbing} - {*tool.constants}
    unsaid |= {one for one in tool.required if one in prose.unread}
    return tuple(
        one for one in prose.open if one.sentence != state and not one.is_idle_without(unsaid)
    )


def made_schemas(tool: Tool) -> dict[str, JsonSchema]:
    """Return the schemas that a tool's values are drawn by: with what its descriptions say."""
    stated: dict[str, JsonSchema] = rules_of(tool).schema.get("properties", {})
    return {name: stated.get(name, schema) for name, schema in tool.properties.items()}


def made_problems(tool: Tool, arguments: Arguments, *, partial: bool) -> list[str]:
    """Return why a call that is made does not do: as `argument_problems`, and by the prose.

    Candidates are never held to what was read from prose (docs/decisions/0076).
    """
    problems = argument_problems(tool, arguments, partial=partial)
    rules = rules_of(tool)
    if problems or rules.is_plain:
        return problems
    return [
        f"The call of {tool.name!r} breaks what its description says: {told_of(error)}."
        for error in value_validator(rules.schema).iter_errors(arguments)
        if error.absolute_path or not partial
    ]


_ROUNDS = 4  # what one of two schemas adds may break the other


def whole_call(
    tool: Tool,
    arguments: Arguments,
    language: Language,
    rng: Random,
    *,
    kept: Collection[str] = (),
    may_add: bool = True,
) -> Arguments:
    """Return the arguments of a call that fits its schema as a whole, changed where they must be.

    What the descriptions demand in prose holds as well. Parameters that go with the given ones are
    added, unless `may_add` is False, and those that go with none are dropped; those in `kept` stay
    as they are. Raises ReplyError with the reason if no call fits.
    """
    schema, rules = schema_of_call(tool), rules_of(tool)
    if schema is None and rules.is_plain:
        return arguments
    flat: dict[str, tuple[str, ...]] = {name: (name,) for name in tool.properties}
    places = flat | (tool.original.places if tool.original else {})
    call, problems = arguments, made_problems(tool, arguments, partial=False)
    for _ in range(_ROUNDS):
        if not problems:
            return call
        if not rules.is_plain:
            fixed = _fixed(tool, flat, kept, call, may_add=may_add)
            call = _completed(tool, call, rules.schema, language, rng, fixed)
        if schema is not None:
            fixed = _fixed(tool, places, (*tool.constants, *kept), call, may_add=may_add)
            whole = _completed(tool, call_object(tool, call), schema, language, rng, fixed)
            found = {name: _member_at(whole, places[name]) for name in tool.properties}
            call = {name: value for name, value in found.items() if value is not None}
        problems = made_problems(tool, call, partial=False)
    raise ReplyError(f"No call of {tool.name!r} fits its schema: {problems[0]}")


def _fixed(
    tool: Tool,
    places: Mapping[str, tuple[str, ...]],
    kept: Collection[str],
    given: Arguments,
    *,
    may_add: bool,
) -> Fixed:
    stay = frozenset(places.get(name, (name,)) for name in kept)
    free = None if may_add else frozenset(places[name] for name in given if name in places)
    # nobody says the plumbing, and no candidate sees it
    unsaid = {*tool.plumbing} - {*given, *tool.constants}
    return Fixed(stay, free, frozenset(places[name] for name in unsaid if name in places))


def _completed(  # noqa: PLR0917 - a value, its schema, and what may be drawn
    tool: Tool, value: Arguments, schema: JsonSchema, language: Language, rng: Random, fixed: Fixed
) -> Any:  # noqa: ANN401 - a JSON value
    about = f"{tool.name} {tool.description.partition('. ')[0]}"

    def draw(name: str, schema: JsonSchema) -> JsonValue:
        return make_value(name, {ASKED_OF: about, **schema}, language, rng)

    try:
        return completed(value, value_validator(schema), draw, rng, fixed)
    except (RecursionError, Unresolvable) as error:
        raise ReplyError(f"No call of {tool.name!r} can be made: its schema has no end.") from error
    except ReplyError as error:
        problem = f"No call of {tool.name!r} fits its schema: {str(error).rstrip('.')}."
        raise ReplyError(problem) from error


def _member_at(value: Any, path: Sequence[str]) -> Any:  # noqa: ANN401 - a part of a JSON value
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value
