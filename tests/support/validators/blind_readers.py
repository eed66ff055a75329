"""Readers for tests: one that knows the truth, and cheats that read nothing."""

import re
from collections.abc import Sequence

import orjson
from pydantic import JsonValue

from callwright.language.text import fold
from callwright.llm.chat import Answer, Completion, Prompt
from callwright.validators.reading.points import do_the_same
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call, Tool

_SECTION = re.compile(r"^<(\w+)>(.*)</\1>$", re.MULTILINE)
_TALK = re.compile(r"<conversation>\n(.*)\n</conversation>", re.DOTALL)


class PromptReader:
    """A model that answers the three prompts of a blind reading; what it makes of them is up to
    those below.
    """

    def __init__(self, name: str = "reader") -> None:
        self.name = name
        self.prompts: list[str] = []

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        text = "\n".join(message.content for message in prompt.messages)
        self.prompts.append(text)
        shown = dict(_SECTION.findall(text))
        title = answer.__name__
        if title == "NeededTools":
            names = [str(line).partition(":")[0] for line in orjson.loads(shown["list"])]
            return answer.model_validate({"tools": self.needed(names)})
        if title == "Settlement":
            first, second = orjson.loads(shown["first"]), orjson.loads(shown["second"])
            return answer.model_validate(
                {"reason": "It is.", "right": self.settled(first, second, text)}
            )
        calls = self.written(orjson.loads(shown["tools"]), _TALK.findall(text)[-1], text)
        return answer.model_validate({"calls": calls, "instead": None if calls else "none"})

    async def complete(
        self, prompt: Prompt, tools: Sequence[Tool] = (), *, sample_index: int = 0
    ) -> Completion:
        raise ReplyError("It reads, and does not talk.")

    def needed(self, names: list[str]) -> list[str]:
        return names[:1]

    def written(
        self, tools: list[dict[str, JsonValue]], talk: str, prompt: str
    ) -> list[dict[str, JsonValue]]:
        raise NotImplementedError

    def settled(self, first: JsonValue, second: JsonValue, prompt: str) -> str:
        return "neither"


class KnowingReader(PromptReader):
    """It knows what the words ask for, and nothing of the gold."""

    def __init__(self, *truth: Call, tools: Sequence[Tool] = ()) -> None:
        super().__init__()
        self._truth, self._tools = truth, {tool.name: tool for tool in tools}

    def needed(self, names: list[str]) -> list[str]:
        return [call.tool for call in self._truth]

    def written(
        self, tools: list[dict[str, JsonValue]], talk: str, prompt: str
    ) -> list[dict[str, JsonValue]]:
        return [{"tool": call.tool, "arguments": call.arguments} for call in self._truth]

    def settled(self, first: JsonValue, second: JsonValue, prompt: str) -> str:
        right = [self._is_true(way) for way in (first, second)]
        return {(True, True): "both", (True, False): "first", (False, True): "second"}.get(
            tuple(right), "neither"
        )  # type: ignore[call-overload, no-any-return]

    def _is_true(self, way: JsonValue) -> bool:
        calls = tuple(map(Call.model_validate, way)) if isinstance(way, list) else ()
        return do_the_same(self._truth, calls, self._tools, is_ordered=False)


class FirstReader(PromptReader):
    """It calls the first tool with nothing, and takes the first of two ways."""

    def written(
        self, tools: list[dict[str, JsonValue]], talk: str, prompt: str
    ) -> list[dict[str, JsonValue]]:
        return [{"tool": tools[0]["name"], "arguments": {}}]

    def settled(self, first: JsonValue, second: JsonValue, prompt: str) -> str:
        return "first"


class Copier(PromptReader):
    """It copies the first call that stands anywhere in its prompt, an example's or the gold."""

    def written(
        self, tools: list[dict[str, JsonValue]], talk: str, prompt: str
    ) -> list[dict[str, JsonValue]]:
        for found in re.finditer(r'\{"tool":\s*"[^"]+",\s*"arguments":\s*(\{[^{}]*\})\}', prompt):
            return [orjson.loads(found[0])]
        return []

    def settled(self, first: JsonValue, second: JsonValue, prompt: str) -> str:
        return "first"


class StringMatcher(PromptReader):
    """It fills each parameter with the first string of the words that fits, and takes the way of
    which more is said.
    """

    def written(
        self, tools: list[dict[str, JsonValue]], talk: str, prompt: str
    ) -> list[dict[str, JsonValue]]:
        tool = tools[0]
        properties = tool["parameters"]["properties"]  # type: ignore[index, call-overload]
        tokens = re.findall(r"[\w@./+-]*\w", talk.partition(": ")[2])
        arguments: dict[str, JsonValue] = {}
        for name, schema in properties.items():  # type: ignore[union-attr]
            if "enum" in schema:
                said = [one for one in schema["enum"] if fold(str(one)) in fold(talk)]
                arguments |= {name: said[0]} if said else {}
            elif schema.get("type") in ("integer", "number"):
                numbers = [one for one in tokens if one.isdecimal()]
                if numbers:
                    arguments[name] = int(numbers[0])
                    tokens.remove(numbers[0])
            elif schema.get("type") == "string":
                codes = [one for one in tokens if any(map(str.isdecimal, one)) or one[0].isupper()]
                if codes:
                    arguments[name] = codes[0]
                    tokens.remove(codes[0])
        return [{"tool": tool["name"], "arguments": arguments}]

    def settled(self, first: JsonValue, second: JsonValue, prompt: str) -> str:
        talk = fold(_TALK.findall(prompt)[-1])
        one, other = (_said(way, talk) for way in (first, second))
        return "first" if one >= other else "second"


def _said(way: JsonValue, talk: str) -> float:
    values = [
        fold(str(value))
        for call in way
        if isinstance(way, list)
        for value in call["arguments"].values()
    ]  # type: ignore[index, union-attr, call-overload]
    return sum(one in talk for one in values) / max(1, len(values))


class Contrarian(FirstReader):
    """It remembers what it wrote, and takes the other way: whatever is claimed is right."""

    def settled(self, first: JsonValue, second: JsonValue, prompt: str) -> str:
        return (
            "second" if isinstance(first, list) and first and not first[0]["arguments"] else "first"
        )  # type: ignore[index, call-overload]
