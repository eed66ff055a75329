"""The words of the review screens in each interface language: one record a screen, filled from `configs/<kind>.<language>.yaml`."""

from functools import cache, partial
from importlib.resources import files
from typing import Literal, TypeVar

import yaml

from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import CorrectionKind, Decision, DialogueAct, DoubtKind, Language, Record
from callwright.warehouse.records.paths import Test
from callwright.warehouse.records.samples import EvidenceKind


class ScreenWords(Record):
    """The words that every screen has; a screen's own words are those of its `configs/<kind>.<language>.yaml`.

    `drawn` tells why people see what was drawn by chance, `edited` why they see what somebody edited, "" where these are told as
    the question says it.
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
    edited: str = ""


PickWords = Literal[Test, "of", "where", "and", "later"]
_Words = TypeVar("_Words", bound=Record)


@cache
def interface_languages() -> tuple[Language, ...]:
    """The languages that the review screens have words in."""
    names = (file.name for file in files("callwright.annotation.configs").iterdir())
    return tuple(
        sorted(name.split(".")[1] for name in names if name.startswith("sample_review.") and name.endswith(".yaml"))
    )


def read_words(made: type[_Words], kind: str, language: Language) -> _Words:
    """The words of the screen of a review kind in one interface language, as the record `made`.

    Raises ConfigurationError where the screens have no words in it.
    """
    if language not in interface_languages():
        raise ConfigurationError(
            f"The review screens have no words in {language!r}; they have them in {', '.join(interface_languages())}."
        )
    text = files("callwright.annotation.configs").joinpath(f"{kind}.{language}.yaml").read_text(encoding="utf-8")
    return made.model_validate(yaml.safe_load(text))


class SampleScreenWords(ScreenWords):
    """Every word that an annotator of samples reads and that is not part of the sample."""

    edit: str
    conversation: str
    kind: dict[str, str]
    calls: str
    earlier_calls: str
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
    rule: dict[PickWords, str]
    no_evidence: str
    evidence_kind: dict[EvidenceKind, str]
    act: dict[DialogueAct, str]
    decision: dict[Decision, str]
    doubt: dict[DoubtKind, str]
    check: dict[str, str]
    check_other: str
    at_turn: str
    managed: dict[str, str]
    details: str
    required: str
    optional: str
    one_of: str
    returned: str


class EditFormWords(Record):
    """What the page on which a sample is edited by form says beside the words of the screen of samples."""

    link: str
    title: str
    signed_in: str
    sign_in: str
    gone: str
    why: str
    call: str
    one_more: str
    no_tool: str
    not_given: str
    one_a_line: str
    as_json: str
    follows: str
    problems: str
    doubts: str
    fits: str
    unchanged: str
    boxes: str
    check: str
    submit: str
    keys: str
    saved: str
    onward: str
    stale: str


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
    edit_name: str
    edit_description: str
    edit_parameters: str
    returned: str


class CorrectionWords(ScreenWords):
    """Every word that an annotator of corrections reads and that is not part of a path."""

    request: str
    first_request: str
    corrections: str
    before: str
    after: str
    same: str
    none: str
    stopped: str
    idle: str
    tools: str
    kind: dict[CorrectionKind, str]


class DisambiguationWords(ScreenWords):
    """Every word that an annotator of competing entries reads and that is not part of the sample."""

    edit: str
    request: str
    picked: str
    strikes: str
    more: str
    returned: str


class ActsWords(ScreenWords):
    """Every word that an annotator of dialogue acts reads and that is not part of the sample."""

    edit: str
    conversation: str
    edit_acts: str
    edit_lines: str
    rules: str
    rule: tuple[str, ...]
    results: str
    none: str
    returned: str


class AuditWords(ScreenWords):
    """Every word that an auditor reads and that is part of no answer; `mistake` tells the error types in plain words."""

    conversation: str
    metric: str
    right: str
    wrong: str
    mistake: dict[str, str]
    gold: str
    no_gold: str
    answer: str
    says: str
    says_nothing: str
    unreadable: str
    no_arguments: str
    whole: str
    tools: str
    returned: str


# The words of each screen in one interface language.
words_in = cache(partial(read_words, SampleScreenWords, "sample_review"))
edit_form_words_in = cache(partial(read_words, EditFormWords, "edit_form"))
tool_words_in = cache(partial(read_words, ToolWords, "tool_review"))
correction_words_in = cache(partial(read_words, CorrectionWords, "correction"))
disambiguation_words_in = cache(partial(read_words, DisambiguationWords, "disambiguation"))
acts_words_in = cache(partial(read_words, ActsWords, "dialogue_acts"))
audit_words_in = cache(partial(read_words, AuditWords, "prediction_audit"))
