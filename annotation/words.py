"""The words of the review screens, in each interface language."""

from functools import cache
from importlib.resources import files

import yaml

from warehouse.records import Decision, DialogueAct, Language, Record
from warehouse.records.samples import EvidenceKind


class Words(Record):
    """Every word that an annotator reads and that is not part of the sample."""

    title: str
    instruction: str
    verdict: str
    accept: str
    edit: str
    reject: str
    reasons: str
    reason: dict[str, str]
    comment: str
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
    why: str
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
    text = files("annotation.configs").joinpath(f"{language}.yaml").read_text(encoding="utf-8")
    return Words.model_validate(yaml.safe_load(text))
