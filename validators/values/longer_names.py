"""Names in a text: which words are a name's, and whether a name that is sought goes on beside the words that were found."""

import re

from callwright.language.packs import of
from callwright.language.text import empty
from callwright.validators.values.said import MARKS, Said, Span, mark_words

_PRONOUN = re.compile(r"I(?:['’]\w+)?")
_LOWER_AFTER = re.compile(r" ([a-zà-ÿ'-]{3,})")
_LINKS = r"(?:(?:of|in|and|&|the|de|del|la|y|von|van) ){0,2}"  # within a name: Blue in Green, Bank of the West
_WORD_AFTER = re.compile(rf"[ -]+{_LINKS}([A-ZÀ-Þ][\w'’-]*)")
_WORD_BEFORE = re.compile(rf"([A-ZÀ-Þ][\w'’-]*)[ -]+{_LINKS}$")
_GROUP_AFTER, _LETTERED = re.compile(r" ([A-Z\d]{2,})(?![\w])"), re.compile(r"[A-Z]")
_DIGIT = re.compile(r"\d")


def more_of_name(value: str, span: Span, said: Said) -> Span | None:
    """A word next to a name which may be part of it."""
    if value.islower() and value.replace(" ", "").isalpha():
        return _more_of_small(value, span, said)
    if not value[:1].isupper():
        return None
    if _DIGIT.search(value):
        group = _GROUP_AFTER.match(said.text, span.end) if _LETTERED.search(value) else None
        return Span(*group.span(1)) if group else None  # AB12 of AB12 CDE
    after = _WORD_AFTER.match(said.text, span.end)
    if after and is_name(after[1], said):
        return Span(*after.span(1))
    before = _WORD_BEFORE.search(said.text[: span.start])
    is_inside = before and is_name(before[1], said) and stands_inside(before.start(1), said)
    return Span(*before.span(1)) if before and is_inside else None


def _more_of_small(value: str, span: Span, said: Said) -> Span | None:
    """What may belong to a name in small letters: its object, or a word behind it and an article, or behind several."""
    article = mark_words(said.language)["article"].pattern
    object_of = re.compile(rf" ({article}) ", re.IGNORECASE).match(said.text, span.end)
    if object_of:  # "water the ficus"
        return Span(*object_of.span(1))
    has_article = re.search(rf"(?i:\b{article}) $", said.text[: span.start])
    after = _LOWER_AFTER.match(said.text, span.end) if " " in value or has_article else None
    if after is None or after[1] in empty((of(said.language),)):
        return None
    more = Span(*after.span(1))  # "the lentil curry"
    is_other = said.marked(more, *MARKS) or any(more.touches(Span(one.start, one.end)) for one in said.quantities)
    return None if is_other or said.is_time(more) else more


def stands_inside(at: int, said: Said) -> bool:
    """Whether a word with a capital does not begin its sentence."""
    before = said.text[:at].rstrip()
    return said.sentence(Span(at, at + 1)).start < len(before) and before[-1:] not in '.!?:;\n"“'


def is_name(word: str, said: Said) -> bool:
    """Whether a word with a capital may be a name's: neither a pronoun nor another word without content of its own."""
    return not _PRONOUN.fullmatch(word) and word.casefold() not in empty((of(said.language),))


_NAME_GOES_ON = re.compile(r"[.@\\_-]\w")
_PATH_GOES_ON = re.compile(r"[./]\w")
_NAME_BEGAN = re.compile(r"(?:\w[.@\\_-]|(?:^|(?<=[\s(\"'“‘]))[~.]?/(?:[^\s/]+/)*|://\S*)$")


def is_in_longer_name(span: Span, text: str) -> bool:
    """Whether words stand within a file's name, a path or an address: `notes` in notes.txt, /srv/notes, notes@example.org."""
    goes_on = _PATH_GOES_ON if text.startswith("/", span.start) else _NAME_GOES_ON
    return bool(goes_on.match(text, span.end) or _NAME_BEGAN.search(text[: span.start]))
