"""People's names by script, as Faker lists them, and made-up ones that can stand in their place."""

import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from random import Random
from typing import NamedTuple

from callwright.warehouse.extras import require_extra

# Faker's locales by the first word of what Unicode calls their letters.
LATIN = "LATIN"
_LARGE = ("en_US", "en_GB", "en_IN", "es_ES", "es_MX", "fr_FR", "de_DE", "it_IT", "pt_BR", "nl_NL")
_LOCALES = {
    LATIN: (
        *(
            *_LARGE,
            "pl_PL",
            "sv_SE",
            "da_DK",
            "no_NO",
            "fi_FI",
            "cs_CZ",
            "ro_RO",
            "tr_TR",
            "hu_HU",
            "hr_HR",
        ),
        *("id_ID", "vi_VN", "sk_SK", "sl_SI", "lt_LT", "lv_LV", "et_EE"),
    ),
    "CYRILLIC": ("ru_RU", "uk_UA", "bg_BG", "mk_MK"),
    "GREEK": ("el_GR",),
    "ARABIC": ("ar_AA", "ar_SA", "ar_PS", "ar_DZ", "fa_IR"),
    "HEBREW": ("he_IL",),
    "DEVANAGARI": ("hi_IN", "mr_IN", "ne_NP"),
    "BENGALI": ("bn_BD",),
    "TAMIL": ("ta_IN",),
    "GUJARATI": ("gu_IN",),
    "THAI": ("th_TH",),
    "GEORGIAN": ("ka_GE",),
    "ARMENIAN": ("hy_AM",),
    "HANGUL": ("ko_KR",),
    "CJK": ("zh_CN", "zh_TW"),
    "HIRAGANA": ("ja_JP",),
    "KATAKANA": ("ja_JP",),
}
JAPANESE = "HIRAGANA"
CASED = frozenset({LATIN, "CYRILLIC", "GREEK", "ARMENIAN"})
_SHORTEST = 3  # letters of a Latin first name that is known by itself
_TRIES = 40


class KnownNames(NamedTuple):
    """The first and the last names of a script."""

    first: frozenset[str]
    last: frozenset[str]


def script_of(text: str) -> str:
    """Return the script of a text's first letter, by the first word of its Unicode name, or ""."""
    letter = next((one for one in text if one.isalpha()), "")
    return unicodedata.name(letter, "").partition(" ")[0] if letter else ""


ANY = "*"  # for the names of all languages that a script is used for


@cache
def known_names(script: str, language: str = "") -> KnownNames:
    """Return Faker's names in a script; none for a script that it does not know.

    Of Latin letters those of large languages, and of the language of a text: names of all others
    would be words of it.
    """
    locales = _LOCALES.get(script, ())
    if script == LATIN and language != ANY:
        locales = tuple(one for one in locales if one in _LARGE or one.startswith(f"{language}_"))
    firsts = {word for name in _listed(locales, "first_names") for word in name.split()}
    if script == LATIN:
        firsts = {name for name in firsts if len(name) >= _SHORTEST}
    return KnownNames(frozenset(firsts), frozenset(_listed(locales, "last_names")))


def _listed(locales: tuple[str, ...], field: str) -> Iterator[str]:
    require_extra("build")
    for locale in locales:
        provider = import_module(f"faker.providers.person.{locale}").Provider
        for name in (field, f"{field}_male", f"{field}_female", f"male_{field}", f"unisex_{field}"):
            yield from getattr(provider, name, ())


@cache
def _in_order(script: str, which: str, language: str) -> tuple[str, ...]:
    """Return the names of one word of the language, or else of the script, in a fixed order."""
    every = _LOCALES.get(script, ())
    locales = tuple(one for one in every if one.startswith(f"{language}_")) or every
    names = {*_listed(locales, f"{which}_names")}
    return tuple(sorted(name for name in names if " " not in name and "-" not in name))


def made_word(word: str, which: str, rng: Random, language: str = "") -> str:
    """Return another first or last name ("first", "last") of the script and ending of a word.

    With the same last letter, or one consonant for another, endings that words put behind a name
    go behind the made one too. "" if no name of the script is known.
    """
    script = script_of(word)
    names = _in_order(script, which, language) or _in_order(script, "first", language)
    if not names:
        return ""
    for fits in (_ends_alike, _are_both_vowels, _is_any):
        for _ in range(_TRIES):
            name = rng.choice(names)
            if fits(name, word) and name.casefold() != word.casefold():
                return name
    return names[0]


def _ends_alike(one: str, other: str) -> bool:
    return one[-1:].casefold() == other[-1:].casefold()


def _are_both_vowels(one: str, other: str) -> bool:
    return ends_in_vowel(one) == ends_in_vowel(other)


def _is_any(_one: str, _other: str) -> bool:
    return True


def ends_in_vowel(word: str) -> bool:
    """Whether a word of an alphabet with vowels ends in one."""
    name = unicodedata.name(word[-1:] or " ", "")
    last = name.partition(" WITH ")[0].rsplit(" ", 1)[-1]
    return last in _VOWELS


_VOWELS = frozenset(
    {"A", "E", "I", "O", "U", "Y", "IE", "YU", "YA", "IO", "YERU", "ALPHA", "EPSILON", "ETA"}
    | {"IOTA", "OMICRON", "UPSILON", "OMEGA"}
)
