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
_REQUEST = re.compile(r"<request>(.*)</request>")
_OFFERED = re.compile(r"<offered>\s*(.*?)\s*</offered>\s*<count>(\d+)</count>", re.DOTALL)
# who asks, then each task and its details, a line each
_TASK = re.compile(r"^(?:\d+\. )?(?![\[<])(?!.*: found by \d)(.+)\n((?:\[.*\n?)*)", re.MULTILINE)


def slot_answer(title: str, messages: Sequence[ChatMessage]) -> dict[str, Any] | None:
    """Return an answer of this title with all slots of a prompt, None if the prompt has none."""
    asked = [one.content for one in messages if one.role == "user"]
    shown = next(one for one in reversed(asked) if not one.startswith(REFUSED))
    lines = shown.rpartition("</conversation>")[2].strip().splitlines()
    match title:
        case "ParameterNames":
            [(offered, count)] = _OFFERED.findall(shown)
            names = [line.partition(":")[0] for line in offered.splitlines()]
            return {"parameters": names[: int(count)]}
        case "OpeningWords":
            return {"opening": orjson.loads(_REQUEST.findall(shown)[0])}
        case "PointedRequest":
            return {"request": shown.rpartition("\n")[0]}
        case "SlotQuestion":
            return {"question": f"What is the {lines[0].partition(': ')[2].partition(' (')[0]}?"}
        case "AgentWords":
            told = "; ".join(lines) or "All right"
            return {"text": f"{told}{'?' if ' asks' in messages[0].content else '.'}"}
        case "Pronoun":
            app, _, what = lines[0].partition(": ")
            return {"phrase": f"the {what} in the {app} from Kim"}
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
        for name, words, about in _DETAIL.findall(details.replace(", not ", "\n"))
    ]
    listed = "; ".join(slots)
    listed = listed[:1].upper() + listed[1:]
    return " ".join(f"{one}." for one in (task, listed) if one)
