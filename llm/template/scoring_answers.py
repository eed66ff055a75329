"""Scoring a final answer by the figures it states: a stand-in for a judge that understands sentences."""

import re

from pydantic import JsonValue

from llm.template.sections import Sections
from warehouse.errors import ReplyError

_FIGURE = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NOTHING, _PARTLY, _WHOLLY = 0, 1, 2


def score_answer(sections: Sections) -> dict[str, JsonValue]:
    """Whether an answer's figures are in the responses, where the prompt shows any; else whether it states any."""
    answer = sections.json("answer")
    if not isinstance(answer, str):
        raise ReplyError("template/v1 expects a text in the section <answer>.")
    figures = set(_FIGURE.findall(answer))
    if not figures:
        return {"score": _NOTHING, "reason": "The answer states no figure."}
    if "history" not in sections.tagged:
        return {"score": _WHOLLY, "reason": "The answer states what was found."}
    known = set(_FIGURE.findall(sections.tagged["history"]))
    strange = sorted(figures - known)
    if not strange:
        return {"score": _WHOLLY, "reason": "Every figure of the answer is in a response."}
    score = _PARTLY if len(strange) < len(figures) else _NOTHING
    return {"score": score, "reason": f"No response has {strange[0]}."}
