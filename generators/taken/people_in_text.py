"""Find people's names in words: by what introduces them, and by known first names.

In letters with case a name is a run of capitals, in others two known names, or what a pattern of
the language has (language/personal.yaml).
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

import regex

from callwright.generators.taken.chinese_names import find_chinese_names
from callwright.generators.taken.personal_words import pattern_of, words_of_people
from callwright.language.calls.parameters import chinese_names
from callwright.language.calls.people import (
    ANY,
    JAPANESE,
    LATIN,
    KnownNames,
    ends_in_vowel,
    known_names,
    script_of,
)
from callwright.language.packs import known, of
from callwright.warehouse.records import DEFAULT_LANGUAGE, Language

if TYPE_CHECKING:
    from babel import Locale

_CAPITAL = r"(?:\p{Lu}\.|\p{Lu}[\p{L}\p{M}]*(?:[-][\p{L}\p{M}]+|['’](?![sm]\b)[\p{L}\p{M}]+)*)"
PARTICLE = r"(?:van|von|de|del|der|den|da|di|la|le|bin|al|el|dos|das|do|ter|zu)"
_NAME = regex.compile(rf"{_CAPITAL}(?: (?:{PARTICLE} )*{_CAPITAL}){{0,3}}")
_SMALL = regex.compile(r"(?<=[\s:,])\p{Ll}{3,}(?: \p{Ll}{3,})?(?![\p{L}\p{M}@.]\p{L})")
_UNCASED = frozenset({"ARABIC", "DEVANAGARI", "BENGALI", "TAMIL", "GUJARATI", "HEBREW"})
_UNCASED_WORD = regex.compile(r"[\p{Lo}\p{M}]+")
_LONGEST_NAME = 5  # words
_BEFORE = 40  # letters before a name
_FEWEST, _ENDING = 3, 4  # letters of a name, and of its ending, in languages with cases

_ARTICLE = "\u0627\u0644"  # of Arabic, written with the word behind it
ARABIC_JOINED = "\u0648\u0644\u0628\u0643\u0641"  # "and", "for" and others, written so as well

Places = Iterator[tuple[int, int]]


class NameFinder:
    """Finds names in the texts of a conversation.

    `lower` are the words that stand somewhere in small letters: at the end of a name they are
    none of its own. `parts` are words that are known to be of names.
    """

    def __init__(
        self, language: Language, lower: frozenset[str], parts: frozenset[str] = frozenset()
    ) -> None:
        """Create a finder for texts of a language."""
        self._language, self._lower, self._parts = language, lower, parts

    def find(self, text: str) -> Places:
        """Yield where names stand in a text, the surest first."""
        yield from find_chinese_names(text)
        yield from _patterned_names(text)
        yield from _uncased_names(text)
        yield from self._cased_names(text)
        yield from self._small_names(text)

    def _cased_names(self, text: str) -> Places:
        """Find introduced names, and names of two or more words with a known first name."""
        runs = (run for match in _NAME.finditer(text) for run in self._trimmed(match))
        for words in runs:
            if len(words) > _LONGEST_NAME - 1:
                continue
            start, end = words[0].start(), words[-1].end()
            before = text[max(0, start - _BEFORE) : start]
            firsts = [_is_first_name(one[0], self._language) for one in words]
            at = firsts.index(True) if any(firsts) else None
            is_told = _ends_in("introduced", before) or _ends_in("titled", before)
            if not is_told and any(map(self._is_part, words)):
                yield words[0 if firsts[0] else self._first_of(words, before)].start(), end
                continue
            is_likely = len(words) > 1 or at == 0
            if is_told or (is_likely and _ends_in("may_introduce", before)):
                yield start, end
            elif text[start:end].casefold() in _countries(self._language):
                continue
            elif at is not None and at < len(words) - 1:
                yield words[at].start(), end
            elif len(words) > 1:
                if _is_known_pair([one[0] for one in words]):
                    yield start, end
            elif at == 0 and _is_amid(before):
                yield start, end

    def _small_names(self, text: str) -> Places:
        """Find known first names in small letters, and what else is known behind them.

        Words have to introduce them: "i'm dave", "my name is dave miller".
        """
        firsts = known_names(LATIN, self._language).first
        every = known_names(LATIN, ANY)
        for match in _SMALL.finditer(text):
            words = [*regex.finditer(r"\S+", text, pos=match.start(), endpos=match.end())]
            before = text[max(0, match.start() - _BEFORE) : match.start()]
            first = words[0][0].capitalize()
            if self._is_function_word(words[0][0]) or first not in firsts:
                continue
            has_last = len(words) > 1 and words[1][0].capitalize() in every.first | every.last
            has_last = has_last and not self._is_function_word(words[1][0])
            is_told = _ends_in("introduced", before) or _ends_in("titled", before)
            if is_told or _ends_in("may_introduce", before):
                yield match.start(), words[int(has_last)].end()

    def _is_function_word(self, word: str) -> bool:
        return word in _beside() or word in _days(self._language)

    def _trimmed(self, match: regex.Match[str]) -> Iterator[list[regex.Match[str]]]:
        """Yield the words of a run of capitals that may be a name, those of each script apart.

        Words beside a name are left out.
        """
        every = regex.finditer(r"\S+", match.string, pos=match.start(), endpos=match.end())
        for _, some in groupby(every, key=lambda one: script_of(one[0])):
            words = [*some]
            while words and self._is_beside(words[0][0]):
                words.pop(0)
            while words and self._is_beside(words[-1][0]):
                words.pop()
            if words and not any(one[0].casefold() in _no_names() for one in words):
                yield words

    def _first_of(self, words: list[regex.Match[str]], before: str) -> int:
        """Return which word a name with known parts begins with.

        The first word of a sentence has a capital, whatever it is.
        """
        return int(len(words) > 1 and not self._is_part(words[0]) and _starts_sentence(before))

    def _is_part(self, word: regex.Match[str]) -> bool:
        """Whether a word, or a part of it behind a hyphen, is known to be a name's."""
        return any(part.casefold() in self._parts for part in regex.split("[-’']", word[0]))

    def _is_beside(self, word: str) -> bool:
        plain = word.casefold().rstrip(".")
        if plain in _beside() or plain in _days(self._language):
            return True
        is_first = _is_first_name(word, self._language)
        return not is_first and plain in self._lower


def _starts_sentence(before: str) -> bool:
    return regex.search(r"[\p{L}\p{N},][)'’\"]?\s$", before) is None


def _is_amid(before: str) -> bool:
    """Whether a capital stands amid a sentence, and no word for a place before it."""
    is_amid = regex.search(r"[\p{Ll},][)'’\"]?\s$", before) is not None
    return is_amid and not _ends_in("before_places", before)


def _is_known_pair(words: list[str]) -> bool:
    """Whether words are a first and a last name of any language, in either order."""
    names = known_names(script_of(words[0]), ANY)
    first, last = words[0], words[-1]
    return (first in names.first and last in names.last) or (
        last in names.first and first in names.last
    )


def _is_first_name(word: str, language: Language) -> bool:
    """Whether a word is a known first name, in a language of cases with an ending of its own."""
    script = script_of(word)
    if word in known_names(script, language).first:
        return True
    if language not in words_of_people("inflecting"):
        return False
    stems = _stems(script, language)
    ends = range(max(_FEWEST, len(word) - _ENDING + 1), len(word) + 1)
    return any(word[:end] in stems for end in ends)


@lru_cache(64)
def _stems(script: str, language: Language) -> frozenset[str]:
    names = known_names(script, language).first
    stems = (name[:-1] if ends_in_vowel(name) else name for name in names)
    return frozenset(stem for stem in stems if len(stem) >= _FEWEST)


@lru_cache(64)
def _ends_pattern(name: str) -> regex.Pattern[str]:
    return pattern_of(name, r"(?:{0})[\s:,]{0,3}$")


def _ends_in(name: str, before: str) -> bool:
    return _ends_pattern(name).search(before) is not None


@cache
def _beside() -> frozenset[str]:
    stated = " ".join(words_of_people("beside_names")[:1])
    functions = (word for code in known() for word in of(code).words.get("empty", ()))
    return frozenset(stated.split()) | frozenset(map(str.casefold, functions))


@cache
def _no_names() -> frozenset[str]:
    """Return the words that make a run of capitals the name of a thing."""
    return frozenset(" ".join(words_of_people("beside_names")[1:]).split())


@lru_cache(64)
def _days(language: Language) -> frozenset[str]:
    """Return the names of days and months in English and in a language."""
    return frozenset(
        str(one).casefold()
        for locale in _locales(language)
        for table in (locale.days, locale.months)
        for width in ("wide", "abbreviated")
        for one in table["format"][width].values()
    )


@lru_cache(64)
def _countries(language: Language) -> frozenset[str]:
    """Return the names of countries in English and in a language."""
    return frozenset(
        str(one).casefold() for locale in _locales(language) for one in locale.territories.values()
    )


def _locales(language: Language) -> Iterator["Locale"]:
    from babel import Locale, UnknownLocaleError  # not above: only who looks for names pays

    for code in dict.fromkeys((DEFAULT_LANGUAGE, language)):
        with suppress(UnknownLocaleError, ValueError):
            yield Locale.parse(code)


def _patterned_names(text: str) -> Places:
    """Find names by patterns of languages whose letters have no case."""
    if text.isascii():
        return
    for pattern in _name_patterns():
        for match in pattern.finditer(text):
            start, end = match.span("name")
            if script_of(match["name"]) == "ARABIC":
                end = start + _length_of_arabic(match["name"])
            yield start, end


@cache
def _name_patterns() -> tuple[regex.Pattern[str], ...]:
    filled = {
        "@arabic": r"\p{Arabic}{1,40}(?:\s\p{Arabic}{1,40}){0,3}",
        "@korean_family": f"(?:{'|'.join(sorted(known_names('HANGUL').last))})",
        "@chinese_family": f"(?:{'|'.join(sorted(chinese_names()[0]))})",
        "@hindi_first": f"(?:{'|'.join(sorted(known_names('DEVANAGARI').first, reverse=True))})",
        "@japanese_family": f"(?:{'|'.join(sorted(known_names(JAPANESE).last))})",
    }
    patterns = list[str](words_of_people("patterns"))
    for slot, words in filled.items():
        patterns = [one.replace(slot, words) for one in patterns]
    return tuple(map(regex.compile, patterns))


def _length_of_arabic(name: str) -> int:
    """Return the length of a name at the start of a text of Arabic words."""
    names = known_names("ARABIC")
    end, is_joined = 0, True
    for at, word in enumerate(regex.finditer(r"\S+", name)):
        is_joint = regex.fullmatch(words_of_people("arabic_joints"), word[0]) is not None
        is_name = word[0] in names.first or word[0] in names.last or word[0].startswith(_ARTICLE)
        if not (at == 0 or is_joined or is_joint or is_name):
            break
        end, is_joined = word.end(), is_joint
    return end


def _is_other_name(word: str, names: KnownNames) -> bool:
    """Whether a word may follow a first name: a known name, or an Arabic one with its article."""
    is_article = word.startswith(_ARTICLE) and len(word) > _FEWEST + len(_ARTICLE)
    return word in names.first or word in names.last or is_article


def _uncased_names(text: str) -> Places:
    """Find a known first name before a known other name, in letters that have no case."""
    if text.isascii():
        return
    words = [*_UNCASED_WORD.finditer(text)]
    at = 0
    while at < len(words) - 1:
        names = known_names(script_of(words[at][0]))
        start = words[at].start()
        first = words[at][0]
        if script_of(first) == "ARABIC" and first not in names.first and first[:1] in ARABIC_JOINED:
            first, start = first[1:], start + 1
        if script_of(first) not in _UNCASED or first not in names.first:
            at += 1
            continue
        last = at
        while (
            last + 1 < len(words)
            and last - at < _LONGEST_NAME - 2
            and text[words[last].end() : words[last + 1].start()] == " "
            and _is_other_name(words[last + 1][0], names)
        ):
            last += 1
        if last > at:
            yield start, words[last].end()
        at = last + 1
