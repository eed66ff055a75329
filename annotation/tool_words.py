"""The words of the screen for tools, in each interface language."""

from functools import cache

from annotation.words import ScreenWords, read_words
from warehouse.records import Decision, Language


class ToolWords(ScreenWords):
    """Every word that an annotator of tools reads and that is not part of a tool."""

    edit: str
    tool: str
    name: str
    description: str
    returns: str
    twin: str
    no_twin: str
    company: str
    gaps: str
    none: str
    checks: str
    edit_name: str
    edit_description: str
    edit_parameters: str
    decision: dict[Decision, str]
    returned: str


@cache
def tool_words_in(language: Language) -> ToolWords:
    """The words of one interface language."""
    return read_words(ToolWords, "tool_review", language)
