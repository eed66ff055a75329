"""The words of the screens for corrections and for disambiguation, in each interface language."""

from functools import cache

from annotation.words import ScreenWords, read_words
from warehouse.records import CorrectionKind, Decision, Language


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
    kind: dict[CorrectionKind, str]
    decision: dict[Decision, str]


class DisambiguationWords(ScreenWords):
    """Every word that an annotator of competing entries reads and that is not part of the sample."""

    edit: str
    request: str
    picked: str
    strikes: str
    more: str
    decision: dict[Decision, str]
    returned: str


@cache
def correction_words_in(language: Language) -> CorrectionWords:
    """The words of one interface language."""
    return read_words(CorrectionWords, "correction", language)


@cache
def disambiguation_words_in(language: Language) -> DisambiguationWords:
    """The words of one interface language."""
    return read_words(DisambiguationWords, "disambiguation", language)
