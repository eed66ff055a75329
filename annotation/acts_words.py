"""The words of the screen for dialogue acts, in each interface language."""

from functools import cache

from annotation.words import ScreenWords, read_words
from warehouse.records import Language


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


@cache
def acts_words_in(language: Language) -> ActsWords:
    """The words of one interface language."""
    return read_words(ActsWords, "dialogue_acts", language)
