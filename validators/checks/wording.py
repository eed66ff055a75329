"""Whether what the user says reads like speech: no markup, no placeholder, no word doubled, nothing cut off.

Code alone decides, from the text of the user's turns; what it finds is unproved, for people to see.
"""

import re
from collections.abc import Iterator

from generators.stages import StageContext
from language.packs import LanguagePattern
from validators.checks.verdicts import Finding, unproved
from warehouse.records import Sample, UserTurn, Verdict

CHECK = "wording"
VERSION = "1"
_MARKUP = re.compile(
    r"```|\*\*[^*\n]+\*\*|^\s{0,3}#{1,6}\s|^\s*[-*]\s+\S.*\n\s*[-*]\s|\[[^\]\n]+\]\(\S+\)|</?[a-z][a-z0-9]*>",
    re.MULTILINE,
)
_PLACEHOLDER = LanguagePattern(
    r"\{\{?\s*\w[\w .]*\}\}?|<[A-Za-z][\w -]*[_ ][\w -]*>|\[(?:your|insert|name|date|city|time|value|placeholder)\b[^\]]*\]"
    r"|\b(?:TODO|TBD|lorem ipsum|undefined|NaN)\b|_{3,}|\bX{3,}\b|@{placeholder}",
    re.RegexFlag(0),
)
_DOUBLED = re.compile(
    r"\b(the|an?|to|of|for|in|on|at|is|are|and|or|with|from|my|please|could|would)\s+\1\b", re.IGNORECASE
)
_CUT = LanguagePattern(r"(?:@{cut_word}|@[,(\[{list}]|\{)\s*$")


async def check_wording(sample: Sample, context: StageContext) -> list[Verdict]:
    """Look for what people do not say in every turn of the user's."""
    findings = list(dict.fromkeys(_findings(sample)))
    return [
        Verdict(
            subject=sample.key,
            check=CHECK,
            decision="unproved" if findings else "proved",
            reason=" ".join(finding.reason for finding in findings) or "The user's words have no markup, gap or cut.",
            version=VERSION,
        )
    ]


def _findings(sample: Sample) -> Iterator[Finding]:
    for index, turn in enumerate(sample.turns):
        if isinstance(turn, UserTurn):
            for problem in problems_of(turn.text):
                yield unproved(f"Turn {index} {problem}.")


def problems_of(text: str) -> Iterator[str]:
    """What in a text nobody says, each as the end of a sentence about the turn."""
    if not text.strip():
        yield "says nothing"
    for pattern, what in (
        (_MARKUP, "has markup"), (_PLACEHOLDER.of(text), "has a placeholder"), (_DOUBLED, "says a word twice"),
        (_CUT.of(text), "seems to be cut off"),
    ):  # fmt: skip
        found = pattern.search(text)
        if found:
            yield f"{what}: {found[0].strip()!r}"
