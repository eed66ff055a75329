"""Values for the calls of one conversation: proposed by a model, kept only where the schema agrees, no two mistakable."""

from collections.abc import Sequence

from pydantic import JsonValue

from generators.given_values import ArgumentValues, WantedValues, collect_values, given_values
from generators.single_turn.requests import PROMPTS as VALUES_PROMPTS
from generators.single_turn.requests import VALUES_TEMPLATE
from generators.stages import StageContext
from generators.tools import argument_problems
from language.text import fold
from llm.prompts import render
from warehouse.records import Arguments, Language, Tool

_ATTEMPTS = 16  # for what was said for something else before
_FURTHER = 8


class Values:
    """Asks for values, one seed after the other; a value that a conversation has said is not said for something else."""

    def __init__(self, context: StageContext, language: Language, seed: int) -> None:
        """`seed` is the scenario's."""
        self._context = context
        self._language = language
        self._seed = seed
        self._given: list[JsonValue] = []

    async def fill(self, tool: Tool, names: Sequence[str]) -> Arguments:
        """A value for each of these parameters. Raises ReplyError where neither answers nor a draw give one."""
        if not names:
            return {}
        wanted = WantedValues(
            tool, names, self._language, self._seed, objection=lambda name, values: self._objection(tool, name, values)
        )
        arguments = await collect_values(lambda _attempt: self._ask(tool, names), wanted, attempts=_ATTEMPTS)
        self._given += arguments.values()
        return arguments

    async def others(self, tool: Tool, name: str, arguments: Arguments, count: int) -> list[JsonValue]:
        """Up to `count` other values for one of the arguments, each unlike all that are known."""
        found: list[JsonValue] = []
        for _ in range(_FURTHER * count):
            if len(found) == count:
                break
            answer = await self._ask(tool, [name])
            value = given_values(answer, WantedValues(tool, [name], self._language, self._seed)).get(name)
            given = {**arguments, name: value}
            if argument_problems(tool, given, partial=True) or value in (None, "", [], {}):
                continue
            if not any(_are_alike(value, one) for one in (*arguments.values(), *found)):
                found.append(value)
        self._given += found
        return found

    async def _ask(self, tool: Tool, names: Sequence[str]) -> ArgumentValues:
        self._seed += 1
        prompt = render(
            VALUES_PROMPTS, VALUES_TEMPLATE, tool=tool, parameters=names, language=self._language, seed=self._seed
        )
        return await self._context.chat.ask(prompt, ArgumentValues)

    def _objection(self, tool: Tool, name: str, values: Arguments) -> str:
        is_again = self._was_stated(tool, name, values[name])
        return f"the value of {name!r} was said for something else before." if is_again else ""

    def _was_stated(self, tool: Tool, name: str, value: JsonValue) -> bool:
        """Whether a text of the conversation says the same; choices, numbers and yes or no come again."""
        if not isinstance(value, str) or "enum" in tool.properties.get(name, {}):
            return False
        return any(isinstance(one, str) and _are_alike(value, one) for one in self._given)


def _are_alike(one: JsonValue, other: JsonValue) -> bool:
    """Whether one says the other or a part of it."""
    stated, parsed = fold(str(one)), fold(str(other))
    return stated == parsed or (
        isinstance(one, str) and isinstance(other, str) and (stated in parsed or parsed in stated)
    )
