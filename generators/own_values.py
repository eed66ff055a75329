"""The user's own values by parameter, drawn by code, so that models only choose the others."""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.generators.tools import argument_problems, mended, whole_call
from callwright.language.calls.parameters import in_context
from callwright.language.calls.sampling import fill_in
from callwright.llm.chat import Prompt
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Arguments, Language, Tool

_TRIES = 40
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
        schemas = in_context(tool.properties, tool.name, tool.description)
        drawn = fill_in(
            [name for name in names if name not in own],
            schemas,
            language,
            rng,
            {**(known or {}), **own},
        )
        values = {name: own.get(name, drawn.get(name)) for name in names}
        given = {**(known or {}), **values}
        if not given.keys() >= {*tool.required}:
            return values
        whole = whole_call(tool, given, language, rng, kept=(*(known or ()), *own))
        return {name: value for name, value in whole.items() if name not in (known or {})}


NO_VALUES = OwnValues()


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
            and not argument_problems(tool, {name: value}, partial=True)
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
