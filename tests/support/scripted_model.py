"""A model that answers what a test wrote down for it."""

from collections.abc import Mapping, Sequence

from callwright.llm.chat import Answer, Completion, Prompt
from callwright.warehouse.errors import CallwrightError
from callwright.warehouse.records import Tool

Line = object  # a reply class's instance for `ask`, a str or Completion for `complete`, an error to raise for either


class ScriptedModel:
    """Answers each prompt, by its name, with the next line of its script; keeps what it was asked in `asked`."""

    def __init__(self, script: Mapping[str, Sequence[Line]], *, name: str = "scripted") -> None:
        self._script = {prompt: list(lines) for prompt, lines in script.items()}
        self._name = name
        self.asked: list[Prompt] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def left(self) -> dict[str, int]:
        """How many lines nobody asked for, by prompt; empty once the script is spoken."""
        return {prompt: len(lines) for prompt, lines in self._script.items() if lines}

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        line = self._next(prompt)
        assert isinstance(line, answer), f"{prompt.name} wants {answer.__name__}, the script has {line!r}"
        return line

    async def complete(self, prompt: Prompt, tools: Sequence[Tool] = (), *, sample_index: int = 0) -> Completion:
        line = self._next(prompt)
        if isinstance(line, str):
            return Completion(line, None)
        assert isinstance(line, Completion), f"{prompt.name} wants text or a Completion, the script has {line!r}"
        return line

    def _next(self, prompt: Prompt) -> Line:
        self.asked.append(prompt)
        lines = self._script.get(prompt.name)
        assert lines, f"The script has no line left for {prompt.name!r}."
        line = lines.pop(0)
        if isinstance(line, CallwrightError):
            raise line
        return line
