"""The words of the screens for corrections and for disambiguation, in each interface language."""

from functools import cache
from importlib.resources import files

import yaml

from warehouse.records import CorrectionKind, Decision, Language, Record


class CorrectionWords(Record):
    """Every word that an annotator of corrections reads and that is not part of a path."""

    title: str
    instruction: str
    verdict: str
    accept: str
    reject: str
    reasons: str
    reason: dict[str, str]
    comment: str
    why: str
    request: str
    first_request: str
    corrections: str
    before: str
    after: str
    same: str
    none: str
    stopped: str
    kind: dict[CorrectionKind, str]
    decision: dict[Decision, str]


class DisambiguationWords(Record):
    """Every word that an annotator of competing entries reads and that is not part of the sample."""

    title: str
    instruction: str
    verdict: str
    accept: str
    edit: str
    reject: str
    reasons: str
    reason: dict[str, str]
    comment: str
    why: str
    request: str
    picked: str
    strikes: str
    more: str
    decision: dict[Decision, str]
    returned: str


@cache
def correction_words_in(language: Language) -> CorrectionWords:
    """The words of one interface language."""
    return CorrectionWords.model_validate(_read("correction", language))


@cache
def disambiguation_words_in(language: Language) -> DisambiguationWords:
    """The words of one interface language."""
    return DisambiguationWords.model_validate(_read("disambiguation", language))


def _read(screen: str, language: Language) -> object:
    text = files("annotation.configs").joinpath(f"{screen}.{language}.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)
