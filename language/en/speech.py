"""What people ask of an English tool that nobody here knows: a verb and its object on which name and description agree."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from callwright.language.en.actions import action_of
from callwright.language.names import split_name, with_article
from callwright.language.protocol import PlainAction, PlainPlace

_MOST_NOUNS, _MOST_PLACES = 3, 2
_SHORTEST = 3
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_VOWEL = re.compile(r"[aeiouy]")
_ABBREVIATION = re.compile(r"[A-Z]{2,4}s?")
_GETS = re.compile(r"\b(?:gets?|getting|returns?)\b", re.IGNORECASE)
_LOOKS = frozenset({"look", "search", "work out"})
_WORK_OUT = "work out"
_MAKES = frozenset({"make", "book", "send", "schedule", "order", "buy", "start", "open"})


class _NounPhrase(NamedTuple):
    determiner: str
    nouns: tuple[str, ...]
    is_plural: bool

    @property
    def head(self) -> str:
        return self.nouns[-1]


class _RefusedError(Exception):
    """The words are none that people ask in."""


def plain_action(name: str, description: str, called: Sequence[str], data: Mapping[str, Any]) -> PlainAction:
    """The action with its places, or why nobody would ask for it; `called` are the names of the tool's parameters."""
    words = _SpeechWords(data)
    try:
        phrase = action_of(name, description) if description else ""
        if phrase.startswith("get ") and not _GETS.search(description) and "look" not in _named(name, words):
            phrase = ""  # the description is a title without a verb, and nothing tells that it is got
        return _plain(name, phrase, called, words)
    except _RefusedError as refusal:
        return PlainAction(str(refusal))


class _SpeechWords:
    """The lists of speech.yaml."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.verbs = {kind: frozenset(verbs.split()) for kind, verbs in data["verbs"].items()}
        self.of, self.determiners, self.indefinite = (
            frozenset(data[key]) for key in ("of", "determiners", "indefinite")
        )
        self.prepositions, self.unspoken = frozenset(data["prepositions"]), frozenset(data["unspoken"])
        self.mass, self.ends, self.adjectives = (frozenset(data[key]) for key in ("mass", "ends", "adjectives"))
        self.empty = frozenset(data["empty"])

    def kinds(self, verb: str) -> list[str]:
        return [kind for kind, verbs in self.verbs.items() if verb in verbs]


def _plain(name: str, phrase: str, called: Sequence[str], words: _SpeechWords) -> PlainAction:
    verb, _, rest = phrase.partition(" ")
    for lead in ("for ", "up ", "me "):
        rest = rest.removeprefix(lead)
    if not rest or not words.kinds(verb):
        raise _RefusedError(f"its description says no verb and object that people ask for ({phrase!r})")
    kind = _agreed(verb, name, words)
    if not kind:
        raise _RefusedError(f"its name and its description do not agree on a verb ({phrase!r})")
    (_, thing), *others = _phrases(rest, words)
    if len(others) > _MOST_PLACES:
        raise _RefusedError(f"{phrase!r} is more than a verb and its object")
    own = "".join(split_name(name))
    _check_object(thing, own, others, words, phrase)
    if left := _left_out(name, phrase, called, words):
        raise _RefusedError(f"its name says {left!r}, and {phrase!r} does not")
    places = tuple(
        PlainPlace(preposition, with_article(" ".join(other.nouns)), "")
        if kind == _WORK_OUT and preposition == "of" and other.determiner in words.indefinite
        else _place(preposition, other, own, called, words)
        for preposition, other in others
    )
    return PlainAction("", kind, _with_determiner(thing, kind), places, thing.is_plural)


def _agreed(verb: str, name: str, words: _SpeechWords) -> str:
    """What the verb does by the name as well, "" where the name tells something else."""
    kinds = words.kinds(verb)
    named = _named(name, words)
    agreed = [kind for kind in kinds if kind in named or (not named and kind in _LOOKS)]
    if not agreed and named & {"look", "search"} and "look" in kinds:
        agreed = ["look"]
    return agreed[0] if agreed else ""


def _named(name: str, words: _SpeechWords) -> set[str]:
    return {kind for word in split_name(name) for kind in words.kinds(word)}


def _left_out(name: str, phrase: str, called: Sequence[str], words: _SpeechWords) -> str:
    """A word by which the name tells the tool from others, and which the phrase lacks (the trash, SAML); "" where none is."""
    stated = re.sub(r"[^a-z]", "", f"{phrase} {' '.join(called)}".lower())
    for word in map(str.lower, split_name(name)):
        is_empty = word in words.empty or word in words.determiners or word in words.of or word in words.prepositions
        is_stated = _stem(word) in stated or word.removesuffix("es") in stated
        if word.isalpha() and not is_empty and not words.kinds(word) and not is_stated:
            return word
    return ""


def _phrases(rest: str, words: _SpeechWords) -> list[tuple[str, _NounPhrase]]:
    """The object, then each preposition with its noun phrase."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    for word in rest.split():
        if word in words.ends:  # by what it is looked for, the parameters tell
            break
        if word in words.prepositions:
            parts.append((word, []))
        else:
            parts[-1][1].append(word)
    return [(preposition, _noun_phrase(stated, rest, words)) for preposition, stated in parts]


def _noun_phrase(stated: list[str], phrase: str, words: _SpeechWords) -> _NounPhrase:
    determiner = ""
    while stated and (stated[0] in words.determiners or stated[0] == "my"):
        determiner, stated = determiner if determiner in words.indefinite else stated[0], stated[1:]
    if not 1 <= len(stated) <= _MOST_NOUNS:
        raise _RefusedError(f"{phrase!r} has no short object")
    for word in stated:
        is_word = _WORD.fullmatch(word) and _VOWEL.search(word) and len(word) >= _SHORTEST
        if not (is_word or _ABBREVIATION.fullmatch(word)) or word in words.unspoken:
            raise _RefusedError(f"{word!r} is no word of those who ask for {phrase!r}")
        if word.endswith(("ly", "ing", "ed")) and word != stated[-1] and word not in words.adjectives:
            raise _RefusedError(f"{phrase!r} has no plain object ({word!r})")
    head = stated[-1]
    is_plural = head in words.mass or (head.endswith("s") and not head.endswith(("ss", "us", "is")))
    return _NounPhrase(determiner, tuple(stated), is_plural)


def _check_object(
    thing: _NounPhrase, own: str, others: list[tuple[str, _NounPhrase]], words: _SpeechWords, phrase: str
) -> None:
    """_RefusedError where the tool's name lacks the object: that of the list, where it is a list of something."""
    heads = [thing.head]
    if thing.head in words.of:
        heads = [*thing.nouns[:-1], *(other.head for preposition, other in others if preposition == "of")]
    if not any(_stem(head) in own for head in heads):
        raise _RefusedError(f"its name does not have the object of {phrase!r}")
    if thing.determiner == "my" and any(preposition != "of" for preposition, _ in others):
        raise _RefusedError(f"{phrase!r} asks for one's own of somebody else")


def _place(preposition: str, phrase: _NounPhrase, own: str, called: Sequence[str], words: _SpeechWords) -> PlainPlace:
    """A place behind the object: that of a parameter, or something that the tool's name has."""
    noun = " ".join(phrase.nouns)
    owner = next((name for name in called if _is_of(name, phrase)), "")
    if not owner and (phrase.determiner in words.indefinite or _stem(phrase.head) not in own):
        raise _RefusedError(f"no parameter names the {noun!r} of which its description speaks")
    shown = f"my {noun}" if phrase.determiner == "my" else noun if phrase.is_plural else f"the {noun}"
    return PlainPlace(preposition, shown, owner)


def _is_of(parameter: str, phrase: _NounPhrase) -> bool:
    """Whether a parameter names what a noun phrase speaks of: "project_id" the project."""
    words = split_name(parameter)
    return phrase.head in words or _stem(phrase.head) in words or "".join(words).startswith(phrase.head)


def _stem(noun: str) -> str:
    lower = noun.lower()
    if lower.endswith("ies"):
        return lower[:-3]
    return lower[:-1] if lower.endswith("s") and not lower.endswith("ss") else lower


def _with_determiner(thing: _NounPhrase, kind: str) -> str:
    noun = " ".join(thing.nouns)
    if thing.determiner == "my":
        return f"my {noun}"
    if kind in _MAKES:
        return noun if thing.is_plural else with_article(noun)
    return noun if kind == "search" and thing.is_plural else f"the {noun}"
