"""The user's own values by parameter, drawn by code, so that models only choose the others."""

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.generators.tools import mended
from callwright.generators.whole_calls import made_problems, made_schemas, rules_of, whole_call
from callwright.language.calls.agreement import agreeing
from callwright.language.calls.parameters import in_context, tells_values, title_of
from callwright.language.calls.sampling import fill_in, make_value
from callwright.language.schemas import json_type
from callwright.language.text import fold
from callwright.llm.chat import Prompt
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE, Arguments, JsonSchema, Language, Tool

_TRIES = 40
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_KNOWN = (
    "The values in <known> are fixed already: give none for these parameters, and choose the others"
    " so that they go with them."
)


def no_objection(_name: str, _values: Arguments) -> str:
    """Object to no value; any may stand beside others."""
    return ""


class OwnValues(NamedTuple):
    """Lists of values by the name of a parameter, or by `tool.parameter`, which has priority."""

    lists: Mapping[str, Sequence[JsonValue]] = MappingProxyType({})

    def of(self, tool: Tool, name: str) -> list[JsonValue]:
        """Return a parameter's own values converted to its type; [] if there are none."""
        listed = self.lists.get(f"{tool.name}.{name}", self.lists.get(name, ()))
        if name in tool.properties:
            return [mended(value, tool.properties[name]) for value in listed]
        return []

    def unknown(self, tool: Tool, names: Sequence[str]) -> list[str]:
        """Return the parameters without own values of which nothing tells what people give."""
        schemas = in_context(tool.properties, tool.name, tool.description)
        return [
            name
            for name in names
            if name in schemas
            and not self.of(tool, name)
            and (not tells_values(name, schemas[name]) or _is_ruled(tool, name))
        ]

    def draw(
        self,
        tool: Tool,
        names: Sequence[str],
        rng: Random,
        *,
        known: Arguments = MappingProxyType({}),  # type: ignore[assignment] # only read
        objection: Callable[[str, Arguments], str] = no_objection,
    ) -> Arguments:
        """Draw a distinct value for each parameter that has own values.

        `objection` says why a value can't stand beside others. Raises ReplyError if no value of
        a parameter can be used.
        """
        drawn: Arguments = {}
        for name in names:
            listed = self.of(tool, name)
            if listed:
                drawn[name] = _pick(tool, name, listed, rng, {**known, **drawn}, objection)
        return drawn

    def fill(
        self,
        tool: Tool,
        names: Sequence[str],
        language: Language,
        rng: Random,
        known: Arguments | None = None,
    ) -> Arguments:
        """Return a value for each parameter: an own one, or else one drawn as planners do.

        If the required ones are among them, the result is a whole call: with what its document
        demands beside them, and without what it does not allow. Raises ReplyError with the reason
        if a parameter takes no value that can be made, or no call fits.
        """
        own = self.draw(tool, names, rng, known=known or {}) if self.lists else {}
        schemas = in_context(made_schemas(tool), tool.name, tool.description)
        if unknown := [one for one in self.unknown(tool, names) if one not in own]:
            listed = ", ".join(map(repr, unknown))
            told = f"Nothing tells what people give for {listed} of {tool.name!r}."
            if sentence := rules_of(tool).unread.get(unknown[0]):
                told = (
                    f"No schema says this rule of {tool.name!r} for {unknown[0]!r}: {sentence!r}."
                )
            raise ReplyError(
                f"{told} Give values in the recipe: `values: {{{tool.name}.{unknown[0]}: […]}}`."
            )
        drawn = fill_in(
            [name for name in names if name not in own],
            schemas,
            language,
            rng,
            {**(known or {}), **own},
        )
        values = {name: own.get(name, drawn.get(name)) for name in names}
        if alike := _said_alike(tool, [*(known or ()), *names], language):
            raise ReplyError(
                f"{tool.name!r} has parameters that are said alike, {alike[0]!r} and {alike[1]!r}:"
                " in a request one could stand for the other."
            )
        given = {**(known or {}), **values}
        if not given.keys() >= {*tool.required}:
            return values
        whole = whole_call(tool, given, language, rng, kept=(*(known or ()), *own))
        if whole != given:  # what was added has to go with what was there
            agreed = agreeing(whole, schemas, language, rng, (*(known or ()), *own))
            whole = whole if made_problems(tool, agreed, partial=False) else agreed
        return {name: value for name, value in whole.items() if name not in (known or {})}


NO_VALUES = OwnValues()


def _said_alike(tool: Tool, names: Sequence[str], language: Language) -> tuple[str, str] | None:
    """Return two parameters of one type that people call the same, or None."""
    met: dict[tuple[str, str], str] = {}
    for name in dict.fromkeys(names):
        schema = tool.properties.get(name, {})
        title = fold(title_of(name, schema, language))
        other = met.setdefault((title, json_type(schema)), name)
        if other != name:
            return other, name
    return None


class MissingValues(NamedTuple):
    """A required parameter for which no values can be made, as `values` of a recipe names it.

    `tools` of the tools need it, and are left out without values.
    """

    parameter: str
    tools: int
    description: str


def missing_values(tools: Sequence[Tool], own: OwnValues = NO_VALUES) -> list[MissingValues]:
    """Return the parameters that need values in the recipe, most frequent first.

    A parameter that several tools need is named once for all of them.
    """
    needing: dict[str, list[Tool]] = {}
    for tool in tools:
        schemas = in_context(tool.properties, tool.name, tool.description)
        for name in tool.required:
            is_made = name in schemas and _is_made(name, schemas[name])
            if (
                name in schemas
                and not own.of(tool, name)
                and not (is_made and not _is_ruled(tool, name))
            ):
                needing.setdefault(name, []).append(tool)
    found = []
    for name, lacking in sorted(needing.items(), key=lambda pair: -len(pair[1])):
        described = str(lacking[0].properties[name].get("description") or "").partition("\n")[0]
        key = name if len(lacking) > 1 else f"{lacking[0].name}.{name}"
        found.append(MissingValues(key, len(lacking), described))
    return found


def _is_ruled(tool: Tool, name: str) -> bool:
    """Whether a required parameter is under a rule that no schema says."""
    return name in tool.required and name in rules_of(tool).unread


def _is_made(name: str, schema: JsonSchema) -> bool:
    try:
        return tells_values(name, schema) and bool(
            [make_value(name, schema, DEFAULT_LANGUAGE, Random(name))]
        )
    except ReplyError:
        return False


def values_block(found: Sequence[MissingValues]) -> str:
    """Return the lines of a recipe in which the missing values are to be filled in."""
    lines = []
    for one in found:
        is_plain = _PLAIN_KEY.fullmatch(one.parameter)
        key = one.parameter if is_plain else orjson.dumps(one.parameter).decode()
        lines.append(f"  {key}: []" + (f"  # {one.description}" if one.description else ""))
    return "\n".join(("values:", *lines))


def told_of_missing(found: Sequence[MissingValues]) -> list[str]:
    """Return a sentence on the missing values with the lines to fill in; [] if none are missing."""
    if not found:
        return []
    needing = count_of(len(found), "parameter needs", "parameters need")
    return [
        f"{needing} values of yours: nothing tells what people give for them. Fill in these"
        f" lines in the recipe; tools without are left out.\n{values_block(found)}"
    ]


def _pick(  # noqa: PLR0917 - what a value must go with
    tool: Tool,
    name: str,
    listed: Sequence[JsonValue],
    rng: Random,
    beside: Arguments,
    objection: Callable[[str, Arguments], str],
) -> JsonValue:
    """Pick a value that fits the schema, differs from those beside it, and meets no objection."""
    for value in rng.sample(listed, min(len(listed), _TRIES)):
        is_new = value not in beside.values() or len(listed) == 1 or isinstance(value, bool)
        if (
            is_new
            and not made_problems(tool, {name: value}, partial=True)
            and not objection(name, {**beside, name: value})
        ):
            return value
    raise ReplyError(
        f"None of the recipe's values for {name!r} of {tool.name!r} can be taken beside {beside!r}."
    )


def beside_known(prompt: Prompt, known: Arguments) -> Prompt:
    """Return a prompt for values that shows those already fixed; unchanged if there are none."""
    if not known:
        return prompt
    first, *others, last = prompt.messages
    shown = f"<known>{orjson.dumps(known).decode()}</known>"
    return prompt.with_changes(
        messages=(
            first.with_changes(content=f"{first.content}\n{_KNOWN}"),
            *others,
            last.with_changes(content=f"{last.content}\n{shown}"),
        )
    )
