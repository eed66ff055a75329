"""Turns of phrase that decide what a request means: negation, alternatives, conditions, deeds, and words for choices.

Each language lists them in its cues.yaml and choices.yaml. A rule sees a cue; what it means for a call is for checks to say.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple, get_args

import yaml

from callwright.language.names import split_name
from callwright.language.packs import of, read_as, widened
from callwright.language.plain_words import find_terms, plain_words
from callwright.language.text import STOP, Found, fold
from callwright.language.wording import content_keys
from callwright.warehouse.records import DEFAULT_LANGUAGE

CueKind = Literal["negation", "alternative", "correction", "condition", "second_wish", "past", "hypothetical"]
Deed = Literal["on", "off", "create", "cancel", "change", "send", "pay", "ask"]
CUE_KINDS: tuple[CueKind, ...] = get_args(CueKind)
SYNONYM = "word for a choice"
_CLAUSE = re.compile(widened(r"@[,.;!?]"))
_ENGLISH = DEFAULT_LANGUAGE  # names of tools are English, whatever people speak


class Cue(NamedTuple):
    """A turn of phrase of a kind, and its place in the text."""

    kind: CueKind
    start: int
    end: int


class CueWords(NamedTuple):
    """What a language has of cues, as patterns by name."""

    patterns: Mapping[str, re.Pattern[str]]
    deeds: Mapping[Deed, re.Pattern[str]]
    tool_deeds: Mapping[Deed, re.Pattern[str]]
    clashes: frozenset[frozenset[Deed]]
    opposites: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]
    marks: Mapping[str, str]
    digits: Mapping[str, int]
    repeats: Mapping[str, int]


@lru_cache(16)
def has_cues(language: str) -> bool:
    """Whether the language lists its cues; without them no rule can say what a request means."""
    return files("callwright.language").joinpath(language, "cues.yaml").is_file()


@lru_cache(16)
def cue_words(language: str) -> CueWords:
    """The cues of a language that lists them."""
    data = yaml.safe_load(
        files("callwright.language").joinpath(read_as(language), "cues.yaml").read_text(encoding="utf-8")
    )
    deeds = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in data.pop("deeds").items()}
    clashes = frozenset(frozenset(pair) for pair in data.pop("clashes"))
    tool_deeds = data.pop("tool_deeds", {}) or {}
    if read_as(language) != _ENGLISH:
        english = {name: pattern.pattern for name, pattern in cue_words(_ENGLISH).tool_deeds.items()}
        tool_deeds = {
            name: "|".join(filter(None, (english.get(name), tool_deeds.get(name))))
            for name in {**english, **tool_deeds}
        }
    opposites = [
        (re.compile(words, re.IGNORECASE), re.compile(others, re.IGNORECASE)) for words, others in data.pop("opposites")
    ]
    plain = {name: data.pop(name) for name in ("marks", "digits", "repeats")}
    return CueWords(
        opposites=tuple(opposites),
        **plain,
        patterns={name: re.compile(pattern, re.IGNORECASE) for name, pattern in data.items()},
        deeds=deeds,
        tool_deeds={name: re.compile(pattern, re.IGNORECASE) for name, pattern in tool_deeds.items()},
        clashes=clashes,
    )


def find_cues(text: str, language: str) -> Iterator[Cue]:
    """The turns of phrase in `text` that may change what is wanted; the harmless uses of their words are left out."""
    patterns = cue_words(language).patterns
    harmless = list(harmless_uses(text, language))
    for kind in CUE_KINDS:
        for match in patterns[kind].finditer(text):
            if not any(start < match.end() and match.start() < end for start, end in harmless):
                yield Cue(kind, *match.span())


def harmless_uses(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Where `text` uses words of cues without meaning what they are cues of: "no problem"."""
    for name, pattern in cue_words(language).patterns.items():
        if name.startswith("harmless_"):
            yield from (match.span() for match in pattern.finditer(text))


def find_choice(choice: str, text: str, language: str, name: str = "") -> Found | None:
    """Where the text words a choice as people do: "on foot" for "walking", "euros" for "EUR"."""
    return next(find_choices(choice, text, language, name), None)


def find_choices(choice: str, text: str, language: str, name: str = "") -> Iterator[Found]:
    """All places where the text words a choice as people do.

    Some words mean a choice of one sort of parameter only: "whatever they cost" is the `market` of an order.
    """
    listed, folded_choice = _choice_words(language), fold(choice)
    for key in (folded_choice, *(f"{word}/{folded_choice}" for word in split_name(name))):
        for match in listed[key].finditer(text) if key in listed else ():
            yield Found(choice, *match.span(), SYNONYM)


def find_alike(choice: str, text: str, language: str) -> Found | None:
    """Where the text has another word for what a choice is a word of the language's own for: both are words for "dinner"."""
    listed = _choice_words(language)
    places = (match for key in _alike(choice, language) for match in listed[key].finditer(text))
    return next((Found(choice, *match.span(), SYNONYM) for match in places), None)


@lru_cache(1024)
def _alike(choice: str, language: str) -> tuple[str, ...]:
    """The listed choices whose words a choice is one of."""
    if choice.isascii():
        return ()
    return tuple(key for key, words in _choice_words(language).items() if "/" not in key and words.fullmatch(choice))


@lru_cache(16)
def _choice_words(language: str) -> Mapping[str, re.Pattern[str]]:
    worded: dict[str, str] = {}
    for one in dict.fromkeys((read_as(language), _ENGLISH)):  # people say some English words in any language
        listed = yaml.safe_load(files("callwright.language").joinpath(one, "choices.yaml").read_text(encoding="utf-8"))
        for choice, words in listed.items():
            worded[choice] = f"{worded[choice]}|{words}" if choice in worded else words
    return {
        "/".join(map(fold, choice.split("/"))): re.compile(rf"(?<![A-Za-z])(?:{words})s?(?![A-Za-z])", re.IGNORECASE)
        for choice, words in worded.items()
    }


FLAG = "named as the parameter is"
_FLAG_WORDS = frozenset({
    "is", "has", "have", "with", "include", "includes", "included", "enable", "enabled", "allow", "allows",
    "allowed", "use", "uses",
    "mark", "show", "keep", "out", "up",
    "need", "needs", "needed", "want", "wants", "only", "auto", "required", "require", "status", "mode", "state", "flag", "active",
    "on", "should", "be", "are", "can", "add", "set", "first", "of", "the", "for", "to", "and", "or", "a", "in", "at",
})  # fmt: skip
DENYING = frozenset({"avoid", "no", "skip", "without", "exclude", "not", "disable", "disabled", "remove"})
_FEWEST_CUT_OFF = 2  # letters that a word cut short lacks
_SHORTEST_CUT = 4  # letters of a choice that shortens a word
_HEAD, _LONGEST_CORE = 2, 4  # letters of a description
_FLAG_NEGATION = 30  # characters before the word in which a negation takes it back


def find_flag(name: str, description: str, value: bool, text: str, language: str) -> Found | None:  # noqa: FBT001
    """Where the text has all content words of a flag's name, with or without a negation as its value wants it."""
    words = split_name(name)
    whole = find_choice("_".join(words), text, language) if value else None
    if whole:
        return _flagged(value, [(whole.start, whole.end)], words, text, language)
    core = [word for word in words if word not in _FLAG_WORDS | DENYING]
    keys = {key.deep for word in core for key in content_keys(word) if key.light != STOP}
    if not of(language).space:
        heads = (
            _head_places(description, text, language)
            or _shared_places(description, text, language)
            or _verb_places(description, text, language)
        )
        if heads:
            return _flagged(value, heads, words, text, language)
    if not keys:
        return None
    places = [
        (key, found.start, found.end)
        for word in core for key in {one.deep for one in content_keys(word)} & keys
        if (found := find_choice(word, text, language))
    ]  # fmt: skip
    places += [(key.deep, key.start, key.end) for key in content_keys(text) if key.deep in keys]
    light = {key.light: key.deep for word in core for key in content_keys(word)}
    places += [(light[term], start, end) for term, start, end in find_terms(text, language) if light.get(term) in keys]
    if not keys <= {key for key, *_ in places}:
        places = _described_places(description, text)
    if not places:
        return None
    return _flagged(value, [(start, end) for _, start, end in places], words, text, language)


def _shared_places(description: str, text: str, language: str) -> list[tuple[int, int]]:
    """Where a text without spaces has at least half of a description, in words of two characters and more."""
    core = cue_words(language).patterns["flag_frame"].sub("", _CLAUSE.split(description)[0])
    if core.isascii() or len(core) < _HEAD:
        return []
    pairs = {core[at : at + _HEAD] for at in range(len(core) - 1)}
    places = [match.span() for pair in pairs for match in re.finditer(re.escape(pair), text)]
    covered = {
        at for at in range(len(core)) if any(core[max(0, at - step) :][:_HEAD] in text for step in (0, 1) if at >= step)
    }
    return places if 2 * len(covered) >= len(core) else []


def _described_places(description: str, text: str) -> list[tuple[str, int, int]]:
    """Where a text has every content word of the first clause of a flag's description."""
    clause = _CLAUSE.split(description)[0]
    keys = {key.deep for key in content_keys(clause) if key.light != STOP and key.light not in _FLAG_WORDS}
    places = [(key.deep, key.start, key.end) for key in content_keys(text) if key.deep in keys]
    return places if keys and keys <= {key for key, *_ in places} else []


_SWITCHES = frozenset({"enabled", "enable", "active", "activate", "activated", "on"})


def find_switch(name: str, value: bool, text: str, language: str) -> bool:  # noqa: FBT001
    """Whether words that switch nothing off mean that what they ask for is on, for a parameter that is its switch."""
    words = set(split_name(name))
    off = any(deed in ("off", "cancel") for deed, *_ in deeds_stated(text, language))
    is_denied = any(cue.kind == "negation" for cue in find_cues(text, language))
    return bool(words & _SWITCHES) and words <= _SWITCHES | _FLAG_WORDS and value and not off and not is_denied


def find_whole_word(choice: str, choices: Sequence[str], text: str) -> Found | None:
    """Where a text has the word that a choice shortens, and that no other choice begins: "production" for "prod"."""
    if len(choice) < _SHORTEST_CUT or not choice.isascii() or not choice.isalpha():
        return None
    for match in re.finditer(r"[A-Za-z]+", text):
        begun = [one for one in choices if match[0].lower().startswith(one.lower())]
        if begun == [choice]:
            return Found(choice, *match.span(), SYNONYM)
    return None


def find_cut_word(choice: str, choices: Sequence[str], text: str, language: str) -> Found | None:
    """Where a text cuts a choice short that nothing else begins as: "insta" for "instagram"; no word that stands for itself."""
    for match in re.finditer(r"[A-Za-z]+", text):
        word = match[0].lower()
        begun = [one for one in choices if one.lower().startswith(word)]
        is_cut = _SHORTEST_CUT <= len(word) <= len(choice) - _FEWEST_CUT_OFF and choice.isascii() and choice.isalpha()
        if is_cut and begun == [choice] and word not in plain_words(language).words:
            return Found(choice, *match.span(), SYNONYM)
    return None


def find_own_part(choice: str, choices: Sequence[str], text: str, language: str) -> Found | None:
    """Where a text has what one choice has and no other one, and none of what the others have by themselves."""
    parts = {one: _parts(one) for one in choices}
    own = {
        one: part - frozenset[str]().union(*(other for name, other in parts.items() if name != one))
        for one, part in parts.items()
    }
    is_spaced = bool(of(language).space)
    own = {one: part if is_spaced else part - plain_words(language).words for one, part in own.items()}
    places = {
        one: [found.span() for part in part_set if (found := _part_place(part, text, is_spaced))]
        for one, part_set in own.items()
    }
    mine = places.pop(choice, [])
    if not mine or len(mine) < len(own[choice]) or any(places.values()):
        return None
    return Found(choice, min(start for start, _ in mine), max(end for _, end in mine), SYNONYM)


def _parts(choice: str) -> frozenset[str]:
    words = [word for word in re.split(r"[\s_-]+", choice.lower()) if word]
    return frozenset(words) if choice.isascii() else frozenset(choice)


def _part_place(part: str, text: str, is_spaced: bool) -> re.Match[str] | None:  # noqa: FBT001
    if is_spaced and (len(part) < _SHORTEST_CUT or part in _FLAG_WORDS):
        return None
    return re.search(rf"\b{re.escape(part)}(?:s|es|ed|ing)?\b" if is_spaced else re.escape(part), text, re.IGNORECASE)


def _head_places(description: str, text: str, language: str) -> list[tuple[int, int]]:
    """Where a text without spaces has the first or the last two letters of a short description."""
    core = cue_words(language).patterns["flag_frame"].sub("", re.split(r"\W", description, maxsplit=1)[0])
    heads = {core[:_HEAD], core[-_HEAD:]} if _HEAD <= len(core) <= _LONGEST_CORE and not core.isascii() else set()
    return [match.span() for head in heads for match in re.finditer(re.escape(head), text)]


def _verb_places(description: str, text: str, language: str) -> list[tuple[int, int]]:
    """Where a clause of a text without spaces has nothing but the verb that begins a description of two letters."""
    core = cue_words(language).patterns["flag_frame"].sub("", re.split(r"\W", description, maxsplit=1)[0])
    if len(core) != _HEAD or core.isascii():
        return []
    alone = re.compile(cue_words(language).patterns["verb_alone"].pattern.replace("VERB", re.escape(core[0])))
    starts = [0, *(match.end() for match in _CLAUSE.finditer(text))]
    found = [alone.match(text, start) for start in starts]
    return [match.span("verb") for match in found if match and _CLAUSE.match(f"{text[match.end() :]}.")]


def _flagged(
    value: bool,  # noqa: FBT001
    places: Sequence[tuple[int, int]],
    words: Sequence[str],
    text: str,
    language: str,
) -> Found | None:
    """The words that name a flag, with the negation before them, where both say its value."""
    start, end = min(place[0] for place in places), max(place[1] for place in places)
    before = text[max(0, start - _FLAG_NEGATION) : start]
    negations = [*cue_words(language).patterns["negation"].finditer(_CLAUSE.split(before)[-1])]
    is_denied = bool(negations) != any(word in DENYING for word in words)
    if is_denied == value:
        return None
    first = start - len(_CLAUSE.split(before)[-1]) + negations[-1].start() if negations else start
    return Found(value, first, end, FLAG)


def deeds_of_tool(name: str, language: str) -> frozenset[Deed]:
    """What sort of thing a tool does, by the words of its name; nothing where they do not tell."""
    words = split_name(name.rsplit(".", 1)[-1])
    patterns = cue_words(language).tool_deeds
    return frozenset(deed for deed, pattern in patterns.items() if any(pattern.fullmatch(word) for word in words))


def deeds_stated(text: str, language: str) -> Iterator[tuple[Deed, int, int]]:
    """What sorts of things the text speaks of doing, with their places; a noun names a thing: "the order", "ticket order TO1"."""
    words = cue_words(language)
    nouns = [match.span() for match in words.patterns["deed_noun"].finditer(text)]
    for deed, pattern in words.deeds.items():
        for match in pattern.finditer(text):
            if not any(start <= match.start() and match.end() <= end for start, end in nouns):
                yield deed, *match.span()
