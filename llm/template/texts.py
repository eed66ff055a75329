"""Free text for a kind of thing, from phrases with slots; English and Chinese."""

import re
from random import Random
from types import ModuleType

from llm.template import phrases_en, phrases_zh
from warehouse.records import Language

_SLOT = re.compile(r"\{(\w+)\}")
_LANGUAGES: dict[Language, ModuleType] = {"en": phrases_en, "zh": phrases_zh}
OWN_WORDS = frozenset({"person", "place", "origin", "destination", "message", "reason", "product", "task", "title"})


def phrase(kind: str, language: Language, rng: Random) -> str:
    """A phrase of this kind; any kind that has no phrases of its own gives a general one."""
    match kind:
        case "place" | "origin" | "destination":
            place: str = rng.choice(_words(language).PLACES)
            return place
        case "country":
            country: str = rng.choice(_words(language).COUNTRIES)
            return country
        case "person":
            return person(language, rng)
        case "address":
            return address(language, rng)
    templates = _words(language).TEMPLATES
    general, _, _ = kind.partition(" ")  # "details of a claim" is, where no phrases are there for claims, a detail
    return _fill(rng.choice(templates.get(kind) or templates.get(general) or templates["text"]), language, rng)


def person(language: Language, rng: Random) -> str:
    """A full name."""
    words = _words(language)
    first, last = rng.choice(words.FIRST_NAMES), rng.choice(words.LAST_NAMES)
    return f"{last}{first}" if language == "zh" else f"{first} {last}"


def address(language: Language, rng: Random) -> str:
    """A street with a number; in Chinese with its city."""
    words = _words(language)
    number = rng.randint(2, 199)
    if language == "zh":
        return f"{rng.choice(words.PLACES)}市{rng.choice(words.LISTS['road'])}{number}号"
    return f"{number} {rng.choice(words.LISTS['street'])}"


def _fill(template: str, language: Language, rng: Random) -> str:
    return _SLOT.sub(lambda slot: _word(slot[1], language, rng), template)


def _word(slot: str, language: Language, rng: Random) -> str:
    if slot == "number":
        return str(rng.randint(2, 199))
    words = _words(language)
    named = {"place": words.PLACES, "last": words.LAST_NAMES}
    chosen: str = rng.choice(named.get(slot) or words.LISTS[slot])
    return chosen


def _words(language: Language) -> ModuleType:
    return _LANGUAGES[language]
