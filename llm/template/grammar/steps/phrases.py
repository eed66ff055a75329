"""How people ask for several things at once: for whom, and the phrases for what a tool does; written from and read past."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from callwright.language.calls.actions import action_phrase
from callwright.language.names import humanise, split_name
from callwright.language.packs import packaged
from callwright.llm.template.grammar.steps.sources import ShownTools, StepTool

NEEDS = {"me": "I need", "us": "we need", "them": "they need", "him": "he needs", "her": "she needs"}
_WHOM = r"(?: (?:me|us|them|him|her))?"
_PLAIN_NAMES = frozenset({"data", "results", "items", "entries", "list", "response", ""})
_VERBS = frozenset({"get", "post", "read", "list", "filter", "by", "id", "search", "find", "name", "show", "all"})
# The one thing that a tool is about: where the action speaks of it already, and where it ends with what the thing is.
ABOUT = ("for {}", "namely {}", "called {}")
_FEW = frozenset({"id", "ids", "code", "slug", "token", "key"})


class PhraseSlot(NamedTuple):
    """How a parameter's value is stated; where `member_phrases` are given, each object of a list is stated by them."""

    parameter: str
    phrases: tuple[str, ...]
    there: bool = False
    members: tuple[tuple[str, str], ...] = ()
    moment: bool = False


class ToolPhrasing(NamedTuple):
    """How a tool is asked for. `noun` is what an entry of its response is called; a plain one is in words of its name's."""

    asks: tuple[str, ...]
    noun: str
    slots: tuple[PhraseSlot, ...]
    plain: bool = False


def phrasing_of(tool: StepTool) -> ToolPhrasing:
    """How a tool is asked for in English."""
    known = _known().get(tool.name)
    if known is None:
        linked = tuple(name for name in tool.properties if tool.origins(name) and name != tool.query)
        return _plain(tool.name, tool.description, tuple(tool.properties), linked)
    rest = [name for name in tool.properties if name not in {slot.parameter for slot in known.slots}]
    return known._replace(slots=(*known.slots, *(_extra(name) for name in rest)))


def has_phrases(toolbox: ShownTools) -> bool:
    """Whether the language has phrases of its own for what these tools do; others are asked for in the words of their names."""
    return any(tool in _known() for tool in toolbox.tools)


def ask_pattern(ask: str) -> str:
    """A regular expression for an ask, whoever is helped."""
    marked = ask.rstrip("?").replace(" {whom}", "\0").replace("{needs}", "\1")
    pattern = r"\s+".join(re.escape(part) for part in marked.split(" "))
    return pattern.replace("\0", _WHOM).replace("\1", f"(?:{'|'.join(NEEDS.values())})")


def value_pattern(phrase: str, group: str) -> str:
    """A regular expression for a slot's phrase with its value in `group`."""
    before, _, after = phrase.partition("{}")
    return re.escape(before) + f"(?P<{group}>.+?)" + re.escape(after)


def words_for(parameter: str) -> str:
    """A parameter as people would call it: without what only says that it is an identifier."""
    words = split_name(parameter.rpartition("[].")[2])
    kept = [word for word in words if word not in _FEW] or list(words)
    return humanise("_".join(kept))


def noun_for(entries: str, tool: str) -> str:
    """What one of `entries` in the response of `tool` is called, where nothing better is known."""
    pieces = [humanise(piece) for piece in reversed(entries.split(".")) if piece not in _PLAIN_NAMES]
    named = [word for word in _before_by(split_name(tool)) if word not in _VERBS and word.isalpha()]
    word = pieces[0] if pieces else humanise((named or ["entry"])[-1])
    for end, singular in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if word.endswith(end) and not word.endswith(("ss", "us", "is")):
            return word[: -len(end)] + singular
    return word


def _before_by(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a name without what it searches by: pets of `findPetsByStatus`."""
    return words[: words.index("by", 1)] if "by" in words[1:] else words


def _extra(parameter: str) -> PhraseSlot:
    return PhraseSlot(parameter, (f"with {words_for(parameter)} {{}}",))


@lru_cache(4096)
def _plain(name: str, description: str, parameters: tuple[str, ...], linked: tuple[str, ...]) -> ToolPhrasing:
    """The words of a tool that the language has no phrases for: its action, then what it is about, then all that is said."""
    about = linked[0] if len(linked) == 1 else ""
    slots = [PhraseSlot(about, ABOUT)] if about else []
    for parameter in (one for one in parameters if one != about):
        words = words_for(parameter)
        slots.append(PhraseSlot(parameter, (f"with {words} {{}}", f"and {words} {{}}")))
    return ToolPhrasing((action_phrase(name, description),), "", tuple(slots), plain=True)


@lru_cache(1)
def _known() -> Mapping[str, ToolPhrasing]:
    entries = packaged("callwright.llm.template.grammar.steps", "steps.yaml")
    return {name: _read(entry) for name, entry in entries.items()}


def _read(entry: Mapping[str, Any]) -> ToolPhrasing:
    slots = tuple(_slot(name, given) for name, given in (entry.get("slots") or {}).items())
    return ToolPhrasing(tuple(entry["asks"]), entry.get("noun", ""), slots)


def _slot(name: str, given: Any) -> PhraseSlot:  # noqa: ANN401 - parsed YAML
    if isinstance(given, dict):
        return PhraseSlot(
            name,
            tuple(given["say"]),
            given.get("there", False),
            tuple((given.get("members") or {}).items()),
            given.get("moment", False),
        )
    return PhraseSlot(name, (given,) if isinstance(given, str) else tuple(given))


_ANY, _ONE, _TWO, _SEVERAL = range(1, 100), range(1, 2), range(2, 3), range(2, 100)


class Voice(NamedTuple):
    """How a request opens, the word for the one who is helped, and how many adults travel by what it says."""

    opening: str
    whom: str
    adults: range = _ANY


VOICES = {
    "myself": (
        Voice("I'm planning a trip and could use some help.", "me"),
        Voice("Hi! I'm about to travel on my own for the first time in years.", "me", _ONE),
        Voice("I have a few days off coming up.", "me"),
        Voice("Hello, I need a hand with my travel plans.", "me"),
        Voice("Work has worn me out, so I'm off for a while.", "me", _ONE),
        Voice("Good morning, I'd like some help with a trip.", "me"),
        Voice("Next year I finally want to get away.", "me"),
        Voice("For once I'm travelling by myself.", "me", _ONE),
    ),
    "friends": (
        Voice("My friends and I are going away together.", "us", _SEVERAL),
        Voice("A friend of mine is planning a trip and asked me to help.", "them", _ONE),
        Voice("We are a group of friends looking forward to a break.", "us", _SEVERAL),
        Voice("An old school friend of mine is travelling soon.", "them", _ONE),
        Voice("Someone from my choir wants to get away.", "them", _ONE),
        Voice("My flatmate leaves everything to me, the next trip too.", "them", _ONE),
        Voice("Some of us from the club are setting off together.", "us", _SEVERAL),
        Voice("There's a reunion ahead, and we are all going.", "us", _SEVERAL),
        Voice("One of my neighbours wants to travel and asked me how.", "them", _ONE),
    ),
    "family": (
        Voice("My sister and I are planning a trip.", "us", _TWO),
        Voice("My parents are celebrating their anniversary with a journey.", "them", _TWO),
        Voice("We're taking the kids on holiday.", "us", _SEVERAL),
        Voice("My grandmother wants to see a bit of the world.", "her", _ONE),
        Voice("Our daughter is leaving on her first big journey.", "her", _ONE),
        Voice("Mum has been saving up for this trip.", "her", _ONE),
        Voice("It's my aunt who is going away this time.", "her", _ONE),
        Voice("After the exams my niece wants to travel.", "her", _ONE),
        Voice("Three generations of us are off together.", "us", range(3, 100)),
        Voice("As a couple we like to plan ahead.", "us", _TWO),
    ),
    "company": (
        Voice("I'm arranging a business trip for a colleague.", "them", _ONE),
        Voice("Our team is going to a conference.", "us", _SEVERAL),
        Voice("My manager is travelling for work.", "them", _ONE),
        Voice("Our company is sending two of us to meet a client.", "us", _TWO),
        Voice("The new colleague has a customer to visit.", "them", _ONE),
        Voice("A trade fair is coming up for one of my staff.", "them", _ONE),
        Voice("Somebody from our office has to go on a trip.", "them", _ONE),
        Voice("We have a meeting out of town.", "us", _SEVERAL),
        Voice("For our yearly outing the whole office is going away.", "us", _SEVERAL),
    ),
}
PLAIN_OPENINGS = ("Hello!", "Hi there!", "I could use some help.", "There is something I'd like to know.")
LEADS = ("", "Please ", "Could you ", "Can you ", "I'd like you to ")
LATER_LEADS = ("Then ", "After that, ", "Also, please ", "Please also ", "Next, ", "I also need you to ", "And please ")
LINKS = (" and ", ", and also ", ", and ", ", then ")
CLOSINGS = ("", "", "", "Thanks a lot!", "Thank you!", "That would be a great help.", "Many thanks.")
_TO_KNOW = re.compile(r" What I want to know: [^.]+\.")
# All that stands around the asks of a request.
FRAME_PHRASES = (
    *(voice.opening for voices in VOICES.values() for voice in voices), *PLAIN_OPENINGS, *LEADS, *LATER_LEADS, *LINKS, *CLOSINGS,
)  # fmt: skip
_TAIL = re.compile(
    r"(?:[\s,;.!?]|\b(?:and|then|also|please|next|after that|could you|can you|I'd like you to|I also need you to"
    r"|thanks a lot|thank you|many thanks|that would be a great help)(?![\w'])|(?<![\w'])And(?![\w']))+$",
    re.IGNORECASE,
)


def write_asked(tools: Iterable[tuple[str, Sequence[str]]]) -> str:
    """The sentence that asks for fields of what tools return; "" where there are none."""
    listed = dict.fromkeys(
        f"the {', '.join(fields[:-1])}{' and ' if fields[1:] else ''}{fields[-1]} of the {noun_for('', tool)}"
        for tool, fields in tools
        if fields
    )
    return f"What I want to know: {'; '.join(listed)}." if listed else ""


_ASKED_OF = re.compile(r"the (.+) of the ([^;.]+)")


def read_asked(request: str) -> dict[str, list[str]]:
    """The fields that a request asks for, by the noun of what they are of, as `write_asked` words them."""
    found: dict[str, list[str]] = {}
    for sentence in _TO_KNOW.findall(request):
        for part in sentence.partition(":")[2].rstrip(".").split(";"):
            asked = _ASKED_OF.fullmatch(part.strip())
            if asked:
                found.setdefault(asked[2], []).extend(re.split(r", | and ", asked[1]))
    return found


def without_asked(request: str) -> str:
    """The request with spaces in the place of the sentence that asks for fields: no value stands in it."""
    return _TO_KNOW.sub(lambda found: " " * len(found[0]), request)


def choose_voice(subject: str, *, travels: bool, adults: int, rng: Random) -> Voice:
    """A voice for a subject of VOICES that fits so many adults, 0 where nobody counts them.

    One that says nothing of journeys where `travels` is not so.
    """
    voices = VOICES.get(subject) or VOICES["myself"]
    voice = rng.choice([voice for voice in voices if not adults or adults in voice.adults] or VOICES["myself"][:1])
    return voice if travels else Voice(rng.choice(PLAIN_OPENINGS), "me")


def trimmed(clause: str) -> str:
    """A clause without the words that lead to the next one, or that thank."""
    return _TAIL.sub("", clause).strip()


_NO_ASPECT = frozenset({"name", "id", "code", "token", "slug", "key", "product", "hotel", "details"})


def aspect_of(field: str) -> str:
    """What of an entry a field is, in words; "" where it is what the entry itself is called or known by."""
    words = [word for piece in field.replace("[0]", "").split(".") for word in split_name(piece)]
    kept = list(dict.fromkeys(word for word in words if word not in _NO_ASPECT))
    return " ".join(kept) if len(kept) > 1 else ""
