"""Reading a scenario's goal: what the person wants, and which of the tools does it, by the words of the descriptions."""

import re
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from llm.template.conversing_talk import listed
from llm.template.sections import Sections

_WORD = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")
_END_OF_HEAD = re.compile(r"[:：]")
_PIECES = re.compile(r"[;；.。!！?？\n]")
_VALUES = r"(?: ?\((?:[^()]|\([^()]*\))*\))?"
_ALIKE = 0.8  # of the words: two descriptions that share so many tell of the same
_LEAST_WORDS = 2


def read_scenario(sections: Sections) -> dict[str, JsonValue]:
    """Each wish of the goal with the tool that does it, null where none does."""
    told = {
        str(tool["name"]): str(tool["description"]).rstrip(".。")
        for tool in listed(sections, "tools")
        if isinstance(tool, dict)
    }
    head, *rest = _END_OF_HEAD.split(str(sections.json("goal")), maxsplit=1)
    return {"wants": [{"want": want, "tool": tool} for want, tool in _wishes(rest[0] if rest else head, told)]}


def _wishes(goal: str, told: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
    """What is told by a whole description first, longer ones before shorter ones; then what else the pieces tell."""
    for name, description in sorted(told.items(), key=lambda one: (-len(one[1]), one[0])):
        whole = rf"(?:^|(?<=[;；]))\s*{re.escape(description)}{_VALUES}\s*(?=[;；.。]|$)"
        if description and re.search(whole, goal):
            goal = re.sub(whole, "", goal)
            yield description, name
    for piece in _PIECES.split(re.sub(_VALUES, "", goal)):
        words = _words(piece)
        if len(words) >= _LEAST_WORDS:
            yield piece.strip(), next((name for name, text in told.items() if _likeness(words, text) >= _ALIKE), None)


def _likeness(words: frozenset[str], description: str) -> float:
    others = _words(description)
    return len(words & others) / len(words | others) if words | others else 0.0


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))
