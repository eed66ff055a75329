"""The words of the review screens, in each interface language: what all screens have, and those of samples."""

from functools import cache
from importlib.resources import files
from typing import TypeVar

import yaml

from warehouse.records import Decision, DialogueAct, Language, Record
from warehouse.records.samples import EvidenceKind


class ScreenWords(Record):
    """The words that every screen has; a screen's own words are those of its `configs/<kind>.<language>.yaml`.

    `drawn` tells why people see what was drawn by chance, "" where it is told as the question says it.
    """

    title: str
    instruction: str
    verdict: str
    accept: str
    reject: str
    reasons: str
    reason: dict[str, str]
    comment: str
    why: str
    drawn: str = ""


_Words = TypeVar("_Words", bound=ScreenWords)


def read_words(made: type[_Words], kind: str, language: Language) -> _Words:
    """The words of the screen of a review kind in one interface language, as the record `made`."""
    text = files("annotation.configs").joinpath(f"{kind}.{language}.yaml").read_text(encoding="utf-8")
    return made.model_validate(yaml.safe_load(text))


class Words(ScreenWords):
    """Every word that an annotator of samples reads and that is not part of the sample."""

    edit: str
    conversation: str
    kind: dict[str, str]
    calls: str
    failed: str
    passed: str
    none: str
    tools: str
    other_tools: str
    edit_request: str
    edit_calls: str
    edit_dialogue: str
    edit_lines: str
    in_doubt: str
    user: str
    assistant: str
    called: str
    result: str
    message: str
    no_calls: str
    no_call: str
    no_call_after_shift: str
    no_change: str
    no_arguments: str
    shift: str
    step: str
    entries: str
    more_rivals: str
    more_entries: str
    no_evidence: str
    evidence_kind: dict[EvidenceKind, str]
    act: dict[DialogueAct, str]
    decision: dict[Decision, str]
    required: str
    optional: str
    one_of: str
    returned: str


@cache
def words_in(language: Language) -> Words:
    """The words of one interface language."""
    return read_words(Words, "sample_review", language)
