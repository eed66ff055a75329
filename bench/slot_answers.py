"""Words with slots for servers that stand in for a model, from what a prompt shows any model.

template/v1 words by marks that no server gets.
"""

import re
from collections.abc import Sequence
from typing import Any

import orjson

from callwright.llm.chat import REFUSED, ChatMessage

# by the title of an answer's schema: its member, and a sentence around the details
_SHAPES = {
    "SlottedRequest": ("request", "{details}"),
    "GoalWording": ("request", "{details}"),
    "UserWords": ("text", "{details}"),
    "SlotAnswer": ("answer", "{details}"),
    "Correction": ("sentence", "No, wait. {details}"),
    "SimulatedMessage": ("message", "Hello, this is what you asked me for. {details} See you!"),
}
_DETAIL = re.compile(
    r"\[(\w+)(?:: ([^\n\"<\]]*))?\]: ([^\n\"<]*?)(?: \(only in passing\))?(?=[\"\n<]|$)"
)
_BLOCK = {
    tag: re.compile(rf"<{tag}>\s*(.*?)\s*</{tag}>", re.DOTALL)
    for tag in ("offered", "count", "said", "words", "phrase")
}
# who asks, then each task and its details, a line each
_TASK = re.compile(r"^(?:\d+\. )?(?![\[<])(?!.*: found by \d)(.+)\n((?:\[.*\n?)*)", re.MULTILINE)


def slot_answer(title: str, messages: Sequence[ChatMessage]) -> dict[str, Any] | None:
    """Return an answer of this title with all slots of a prompt, None if the prompt has none."""
    shown = next(one.content for one in reversed(messages) if one.role == "user")
    if title == "ParameterNames":
        offered, count = _BLOCK["offered"].search(shown), _BLOCK["count"].search(shown)
        names = [line.partition(":")[0] for line in offered[1].splitlines()] if offered else []
        return {"parameters": names[: int(count[1]) if count else 0]}
    if title == "PointedRequest":
        said, words, phrase = (
            orjson.loads(found[1]) if (found := _BLOCK[tag].search(shown)) else ""
            for tag in ("said", "words", "phrase")
        )
        return {"request": said.replace(words, phrase)}
    if title not in _SHAPES:
        return None
    member, shape = _SHAPES[title]
    parts = [("", shown)]
    if title == "SlottedRequest":
        parts = _TASK.findall(f"{shown.partition(REFUSED)[0].partition(chr(10))[2].strip()}\n")
    said = " ".join(_sentences(task, details) for task, details in parts)
    return {member: shape.format(details=said or "Thank you.")}


def _sentences(task: str, details: str) -> str:
    slots = [
        f"{about}: [{name}: {words}]" if words else f"{about}: [{name}]"
        for name, words, about in _DETAIL.findall(details)
    ]
    listed = "; ".join(slots)
    listed = listed[:1].upper() + listed[1:]
    return " ".join(f"{one}." for one in (task, listed) if one)
