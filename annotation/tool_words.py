"""The words of the screen for tools, in each interface language."""

from functools import cache
from importlib.resources import files

import yaml

from warehouse.records import Decision, Language, Record


class ToolWords(Record):
    """Every word that an annotator of tools reads and that is not part of a tool."""

    title: str
    instruction: str
    verdict: str
    accept: str
    edit: str
    reject: str
    reasons: str
    reason: dict[str, str]
    comment: str
    tool: str
    name: str
    description: str
    returns: str
    twin: str
    no_twin: str
    company: str
    gaps: str
    none: str
    why: str
    checks: str
    edit_name: str
    edit_description: str
    edit_parameters: str
    decision: dict[Decision, str]
    returned: str


@cache
def tool_words_in(language: Language) -> ToolWords:
    """The words of one interface language."""
    text = files("annotation.configs").joinpath(f"tool_review.{language}.yaml").read_text(encoding="utf-8")
    return ToolWords.model_validate(yaml.safe_load(text))
