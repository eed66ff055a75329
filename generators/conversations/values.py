"""Values for a conversation's calls: proposed by a model, valid, and not mistakable."""

from collections.abc import Sequence
from random import Random

from pydantic import JsonValue

from callwright.generators.given_values import (
    ArgumentValues,
    WantedValues,
    collect_values,
    given_values,
    values_of,
)
from callwright.generators.own_values import beside_known
from callwright.generators.stages import StageContext
from callwright.generators.tools import EMPTY, as_outlined
from callwright.generators.whole_calls import made_problems
from callwright.language.text import fold
from callwright.llm.chat import Prompt
from callwright.llm.prompts import render
from callwright.warehouse.records import Arguments, Language, Tool

PROMPTS = "callwright.generators.conversations.prompts"
VALUES_TEMPLATE = "fill_values"
_ATTEMPTS = 16  # for what was said for something else before
_FURTHER = 8


class Values:
    """Source of a conversation's values, seed by seed; none is said for two sorts of things."""

    def __init__(self, context: StageContext, language: Language, seed: int) -> None:
        """Set up values for one scenario; `seed` is the scenario's."""
        self._context = context
        self._language = language
        self._seed = seed
        self._given: list[tuple[str, JsonValue]] = []

    async def fill(self, tool: Tool, names: Sequence[str], may: Sequence[str] = ()) -> Arguments:
        """Return values for `names`, and for those of the options `may` that the model chooses.

        Raises ReplyError if neither answers nor draws give a required value.
        """
        if not names and not may:
            return {}

        def objection(name: str, values: Arguments) -> str:
            return self._objection(tool, name, values)

        wanted = WantedValues(tool, names, self._language, self._seed, objection=objection)
        rng = Random(f"{self._seed}:{tool.name}:own")
        own = self._context.own_values.draw(tool, names, rng, objection=wanted.objection)
        left = [name for name in names if name not in own]
        arguments = dict(own)
        if left or may:
            wanted = wanted._replace(names=left, known=own, may=may)
            prompt = beside_known(self._prompt(tool, left, may), own)
            chat = self._context.chat
            given = await collect_values(chat, prompt, ArgumentValues, wanted, attempts=_ATTEMPTS)
            arguments |= given[0]
        first = [name for name in (*names, *may) if name in arguments]
        arguments = {name: arguments[name] for name in (*first, *arguments)}
        self._given += arguments.items()
        return arguments

    async def others(
        self, tool: Tool, name: str, arguments: Arguments, count: int
    ) -> list[JsonValue]:
        """Return up to `count` new values for one argument, each unlike all known values.

        A call that fits its schema fits with each of them, too.
        """
        further_values: list[JsonValue] = []
        is_partial = bool(made_problems(tool, arguments, partial=False))
        for _ in range(_FURTHER * count):
            if len(further_values) == count:
                break
            value = await self._another(tool, name)
            given = {**arguments, name: value}
            if made_problems(tool, given, partial=is_partial) or value in EMPTY:
                continue
            if not any(_are_alike(value, one) for one in (*arguments.values(), *further_values)):
                further_values.append(value)
        self._given += ((name, one) for one in further_values)
        return further_values

    async def _another(self, tool: Tool, name: str) -> JsonValue:
        """Return one more value for a parameter, from the recipe's own values if it has some."""
        listed = self._context.own_values.of(tool, name)
        if listed:
            self._seed += 1
            return Random(f"{self._seed}:{name}:own").choice(listed)
        form = values_of(ArgumentValues, tool, [name])
        answer = await self._context.chat.ask(self._prompt(tool, [name]), form)
        wanted = WantedValues(tool, [name], self._language, self._seed)
        return given_values(answer, wanted).get(name)

    def _prompt(self, tool: Tool, names: Sequence[str], may: Sequence[str] = ()) -> Prompt:
        self._seed += 1
        told = {"tool": as_outlined(tool, (*names, *may)), "parameters": names, "may": may}
        told |= {"language": self._language, "seed": self._seed}
        return render(PROMPTS, VALUES_TEMPLATE, **told)

    def _objection(self, tool: Tool, name: str, values: Arguments) -> str:
        """Return why a value can't be said, or "".

        A text must differ from what was said for other parameters; two calls may be about one file.
        """
        value = values[name]
        if not isinstance(value, str) or "enum" in tool.properties.get(name, {}):
            return ""
        is_again = any(
            isinstance(one, str) and other != name and _are_alike(value, one)
            for other, one in self._given
        )
        return f"the value of {name!r} was said for something else before." if is_again else ""


def _are_alike(one: JsonValue, other: JsonValue) -> bool:
    """Whether one value equals or contains the other."""
    stated, parsed = fold(str(one)), fold(str(other))
    are_texts = isinstance(one, str) and isinstance(other, str)
    return stated == parsed or (are_texts and (stated in parsed or parsed in stated))
