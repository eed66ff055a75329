"""English word stems: light ones that undo inflection, deep ones that also undo word formation."""

import re
from functools import lru_cache

_VOWEL = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")
_SHORTEST = 3
_IRREGULAR = {
    "men": "man", "women": "woman", "children": "child", "people": "person", "feet": "foot", "teeth": "tooth",
    "mice": "mouse", "went": "go", "gone": "go", "going": "go", "goes": "go", "bought": "buy", "sent": "send",
    "paid": "pay", "made": "make", "took": "take", "taken": "take", "gave": "give", "given": "give", "said": "say",
    "told": "tell", "found": "find", "got": "get", "left": "leave", "lost": "lose", "broke": "break",
    "broken": "break", "drove": "drive", "driven": "drive", "wrote": "write", "written": "write", "ate": "eat",
    "eaten": "eat", "slept": "sleep", "ran": "run", "running": "run", "flew": "fly", "flown": "fly", "saw": "see",
    "seen": "see", "came": "come", "met": "meet", "held": "hold", "kept": "keep", "felt": "feel", "spent": "spend",
    "sold": "sell", "hung": "hang", "dying": "die", "lying": "lie", "tying": "tie", "bus": "bus", "buses": "bus",
    "gas": "gas", "lens": "lens", "news": "news", "yes": "yes", "this": "this", "his": "his", "during": "during",
    "thing": "thing", "training": "training", "king": "king", "ring": "ring", "spring": "spring", "string": "string",
    "bring": "bring", "sing": "sing", "wing": "wing", "evening": "evening", "morning": "morning",
    "beijing": "beijing", "need": "need",
    "note": "note", "notes": "note", "noted": "note", "noting": "note", "none": "none",  # not "not", not "non"
    "bed": "bed", "red": "red", "speed": "speed", "feed": "feed", "seed": "seed", "series": "series",
}  # fmt: skip
# the endings as light stems have them: without a final e, with i for a final y
_DEEP = (
    ("ization", ""), ("isation", ""), ("ational", ""), ("iveness", ""), ("fulness", "ful"), ("ization", ""),
    ("ation", ""), ("ition", ""), ("ction", "ct"), ("ssion", "ss"), ("sion", "d"), ("tion", "t"), ("ment", ""),
    ("ness", ""), ("iti", ""), ("icalli", ""), ("ical", ""), ("alli", ""), ("li", ""), ("anc", ""), ("enc", ""),
    ("abl", ""), ("ibl", ""), ("ful", ""), ("iv", ""), ("iz", ""), ("at", ""), ("al", ""), ("er", ""), ("or", ""),
    ("ist", ""), ("ic", ""), ("i", ""),
)  # fmt: skip


@lru_cache(16384)
def stem(word: str) -> str:
    """The light stem of a folded English word: `books`, `booked` and `booking` are all `book`."""
    if len(word) <= _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    return _without_final_e(_american(_without_tense(_singular(word))))


@lru_cache(16384)
def deep_stem(word: str) -> str:
    """A stem that also joins `decorate` with `decoration` and `pay` with `payment`; too bold for a single word."""
    light = stem(word)
    if not light.isascii() or not light.isalpha():
        return light
    for ending, instead in _DEEP:
        rest = len(light) - len(ending)
        if light.endswith(ending) and rest > _SHORTEST:
            return light[:rest] + instead
    return light


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > _SHORTEST + 1:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "ics")):
        return word[:-1]
    return word


def _without_tense(word: str) -> str:
    for ending in ("ing", "ied", "ed"):
        rest = word[: -len(ending)]
        if not word.endswith(ending) or len(rest) < _SHORTEST or not _VOWEL.search(rest):
            continue
        if ending == "ied":
            return rest + "y"
        return rest[:-1] if _DOUBLED.search(rest) else rest
    return word


def _american(word: str) -> str:
    if word.endswith("our") and len(word) > _SHORTEST + 1:
        return word[:-3] + "or"
    if word.endswith("tre"):
        return word[:-2] + "er"
    return re.sub(r"is(e|ing|ed|er)?$", r"iz\1", word) if word.endswith(("alise", "nise")) else word


def _without_final_e(word: str) -> str:
    if word.endswith("y") and len(word) > _SHORTEST:
        return word[:-1] + "i"
    return word[:-1] if word.endswith("e") and len(word) > _SHORTEST else word
