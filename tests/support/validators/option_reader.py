"""A reader that chooses among options by what it is told to look for."""

import re
from collections.abc import Sequence

import orjson

from callwright.llm.chat import Answer, Prompt

OPTIONS = re.compile(r"^<options>(.*)</options>$", re.MULTILINE)


class OptionReader:
    """Chooses options by what it is told to look for, and keeps what it was shown."""

    def __init__(self, *wanted: object, name: str = "reader", letters: Sequence[str] = (), sounds: int = 5) -> None:
        self.wanted, self.name, self.letters, self.sounds = wanted, name, letters, sounds
        self.shown: list[list[dict[str, object]]] = []
        self.prompts: list[str] = []

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        text = prompt.messages[-1].content
        found = OPTIONS.search(text)
        assert found
        options = orjson.loads(found[1])
        self.shown.append(options)
        self.prompts.append(text)
        letters = [one["option"] for one in options if one["calls"] in self.wanted or one.get("act") in self.wanted]
        sounds = {"wording": self.sounds, "wording_reason": "So said.", "values": 5, "values_reason": "So it is."}
        return answer.model_validate({"asked": [*letters, *self.letters], "reason": "So.", "natural": sounds})
