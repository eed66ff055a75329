"""The words of the screen for audits of the metric, in each interface language."""

from functools import cache

from annotation.words import ScreenWords, read_words
from warehouse.records import Language


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


@cache
def audit_words_in(language: Language) -> AuditWords:
    """The words of one interface language."""
    return read_words(AuditWords, "prediction_audit", language)
