"""Words by which a speaker takes something back: "no, …", "I mean …", "不对，…"."""

import re
from typing import NamedTuple

_CORRECTION = re.compile(
    r"(?:(?:\bi|(?-i:I))(?:['’]m| am)\s+(?:so\s+|very\s+)?)?\bsorry\b[\s,:—-]*(?:it(?:'s| is)\s+)?"
    r"|\b(?:i mean|i meant|actually|scratch that|correction|on second thought)\b[\s,:—-]*(?:it(?:'s| is)\s+)?"
    r"|(?<=[,.;!?—])\s*(?:no|oh|wait|rather|or rather)\b\s*[,:—-]\s*"
    r"|(?:\b(?:it|that|this)\s+)?\bwas wrong\b(?: before)?[\s,.:—-]*|\bmake (?:it|that)\b\s*"
    r"|(?:不对|我是说|(?:我?(?:先前|之前|刚才|刚刚|前面))?说错了|哦不|抱歉|应该是|(?<=[，,。.；;！!\s])(?:哦|还是|不(?=[，,])|改成|改为))[\s，,。.：:]*",
    re.IGNORECASE,
)


class Correction(NamedTuple):
    """Words that take something back; what holds instead begins at `end`."""

    start: int
    end: int


def find_corrections(text: str) -> list[Correction]:
    """The corrections in a text, in its order."""
    return [Correction(*match.span()) for match in _CORRECTION.finditer(text)]
