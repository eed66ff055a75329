"""Whether what the user says reads like speech: no markup, no placeholder, no word doubled, nothing cut off, no words of the tool.

Code alone decides, from the text of the user's turns; what it finds is unproved, for people to see.
"""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from generators.stages import StageContext
from language.packs import LanguagePattern, unspaced
from validators.checks.verdicts import Finding, unproved
from warehouse.records import Sample, Tool, UserTurn, Verdict

CHECK = "wording"
VERSION = "2"
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


_WORD = re.compile(rf"[^\W\d_{unspaced()}]+(?:['’][^\W\d_]+)?|[{unspaced()}]|\d+")
_IDENTIFIER = re.compile(r"(?<![\w/.\-\"“'])(?:[a-z]+(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+)(?![\w/.\-\"”'])")
COPIED_WORDS = 12  # words in a row of a tool's description that nobody says by chance


async def check_wording(sample: Sample, context: StageContext) -> list[Verdict]:
    """Look for what people do not say in every turn of the user's."""
    findings = list(dict.fromkeys((*_findings(sample), *_tools_words(sample, context))))
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


def _tools_words(sample: Sample, context: StageContext) -> Iterator[Finding]:
    """The words of the tools that are called: their descriptions copied, names of parameters as code has them."""
    named = {call.tool for snapshot in sample.snapshots() for call in snapshot.calls}
    shown = [
        context.tools[key] for key in sample.candidates if key in context.tools
    ]  # what lacks is the format's matter
    tools = [tool for tool in shown if tool.name in named]
    for index, turn in enumerate(sample.turns):
        if isinstance(turn, UserTurn):
            for tool in tools:
                yield from (unproved(f"Turn {index} {problem}.") for problem in words_of_tool(turn.text, tool))


def words_of_tool(text: str, tool: Tool) -> Iterator[str]:
    """What in a text is a tool's own words, each as the end of a sentence about the turn."""
    copied = longest_run(text, tool.description)
    if len(copied) >= COPIED_WORDS:
        yield f"copies the description of {tool.name!r}: {' '.join(copied)!r}"
    names = {tool.name, *tool.name.split("."), *tool.properties}
    found = next((word for word in _IDENTIFIER.findall(text) if word in names), "")
    if found:
        yield f"has a name as code has it: {found!r}"


def longest_run(text: str, description: str) -> tuple[str, ...]:
    """The longest run of words that a text and a description share."""
    said, stated = _WORD.findall(text.casefold()), _WORD.findall(description.casefold())
    match = SequenceMatcher(None, said, stated, autojunk=False).find_longest_match()
    return tuple(said[match.a : match.a + match.size])


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
