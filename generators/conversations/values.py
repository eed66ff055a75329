"""Values for the calls of one conversation: proposed by a model, kept only where the schema agrees, no two mistakable."""

from collections.abc import Sequence

from pydantic import JsonValue

from generators.single_turn.requests import PROMPTS as VALUES_PROMPTS
from generators.single_turn.requests import VALUES_TEMPLATE, ArgumentValues
from generators.stages import StageContext
from generators.tools import argument_problems
from language.text import fold
from llm.prompts import render
from warehouse.errors import ReplyError
from warehouse.records import Arguments, Language, Tool

_ATTEMPTS = 16
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
        """A value for each of these parameters. Raises ReplyError where none of several answers fits."""
        if not names:
            return {}
        problem = ""
        for _ in range(_ATTEMPTS):
            arguments = await self._ask(tool, names)
            problem = self._problem(tool, names, arguments)
            if not problem:
                self._given += arguments.values()
                return {name: arguments[name] for name in names}
        raise ReplyError(f"Values for {tool.name!r} did not fit in {_ATTEMPTS} answers: {problem}")

    async def others(self, tool: Tool, name: str, arguments: Arguments, count: int) -> list[JsonValue]:
        """Up to `count` other values for one of the arguments, each unlike all that are known."""
        found: list[JsonValue] = []
        for _ in range(_FURTHER * count):
            if len(found) == count:
                break
            value = (await self._ask(tool, [name])).get(name)
            given = {**arguments, name: value}
            if argument_problems(tool, given, partial=True) or value in (None, "", [], {}):
                continue
            if not any(_are_alike(value, one) for one in (*arguments.values(), *found)):
                found.append(value)
        self._given += found
        return found

    async def _ask(self, tool: Tool, names: Sequence[str]) -> Arguments:
        self._seed += 1
        prompt = render(
            VALUES_PROMPTS, VALUES_TEMPLATE, tool=tool, parameters=names, language=self._language, seed=self._seed
        )
        answer = await self._context.chat.ask(prompt, ArgumentValues)
        return {pair.parameter: pair.value for pair in answer.values}

    def _problem(self, tool: Tool, names: Sequence[str], arguments: Arguments) -> str:
        if set(arguments) != set(names):
            return f"values for {sorted(arguments)} were given where {sorted(names)} were asked for."
        blank = [name for name, value in arguments.items() if value in (None, "", [], {})]
        if blank:
            return f"the values of {blank} are empty."
        again = [name for name, value in arguments.items() if self._was_stated(tool, name, value)]
        if again:
            return f"the values of {again} were said for something else before."
        return " ".join(argument_problems(tool, arguments, partial=True))

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
