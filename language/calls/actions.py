"""What a tool does, as a person asks for it: a phrase from its description, else from its name."""

import re
from functools import cache, lru_cache

from callwright.language.names import humanise
from callwright.language.packs import COMMON_SCRIPT, language_of, of, script_of
from callwright.warehouse.records import DEFAULT_LANGUAGE, Language

_CODE = re.compile(r"[`*<>{}\[\]|\\_=#/]|\w[A-Z]\w*[a-z][A-Z]|\.\w")
_DEEDS = "deeds"
_FEWEST_WORDS, _MOST_WORDS = 2, 13


@lru_cache(8192)
def action_phrase(name: str, description: str) -> str:
    """What to ask of the tool, in the language of its description: "retrieve the tracking status of a shipment"."""
    return of(language_of(description)).rules.action_of(name, description) or name_phrase(name)


@lru_cache(8192)
def action_phrases(name: str, description: str) -> tuple[str, ...]:
    """All the ways in which the action is stated: as described, with another verb for it, and in words of its own."""
    phrase = action_phrase(name, description)
    return (phrase, *of(language_of(phrase)).rules.other_actions(phrase), *own_words(name, description))


@lru_cache(8192)
def own_words(name: str, description: str) -> tuple[str, ...]:
    """What people say for a tool of ours, by the language's deeds.yaml; () for any other tool."""
    language = language_of(action_phrase(name, description))
    return tuple(of(language).data.get(_DEEDS, {}).get(name, ()))


@lru_cache(8192)
def name_phrase(name: str) -> str:
    """The tool's name as words, in the imperative where it begins with a verb."""
    return of(DEFAULT_LANGUAGE).rules.action_of_name(name)  # that names in code are in


@cache
def _unsayable(language: Language) -> re.Pattern[str]:
    return re.compile(of(language).cues["unsayable"], re.IGNORECASE)


@lru_cache(8192)
def action_gap(name: str, description: str) -> str:
    """Why nobody would ask for this tool in the words that are known for it, "" where somebody would."""
    phrase = action_phrase(name, description)
    found = _CODE.search(phrase) or _unsayable(language_of(phrase)).search(phrase)
    if found:
        return (
            f"{phrase!r}, which its name and description come to, is nothing that people ask for ({found[0].strip()!r})"
        )
    count = len(phrase.split())
    if script_of(phrase) == COMMON_SCRIPT and not _FEWEST_WORDS <= count <= _MOST_WORDS:
        return f"{phrase!r}, which its name and description come to, has {count} words; {_FEWEST_WORDS} to {_MOST_WORDS} are asked"
    return ""


def field_phrase(name: str, language: Language) -> str:
    """What people call the field of a tool that they speak of loosely: "my banking"; of no field where its name has none."""
    shapes = of(language).data["conversations"]
    field = humanise(name.split(".", maxsplit=1)[0]) if "." in name else ""
    return str(shapes["field"].replace("{f}", field) if field else shapes["anything"])
