"""How people ask for several things at once: for whom, and the phrases for what a tool does; written from and read past."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from random import Random
from typing import Any, NamedTuple

from callwright.language.calls.tools import action_phrase
from callwright.language.names import deed_of, function_words, humanise, split_name
from callwright.language.packs import packaged
from callwright.llm.template.steps_sources import ShownTools, StepTool

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
    return known._replace(slots=(*known.slots, *(PhraseSlot(name, (f"with {words_for(name)} {{}}",)) for name in rest)))


def has_phrases(toolbox: ShownTools) -> bool:
    """Whether the language has phrases of its own for what these tools do; others are asked for in the words of their names."""
    return any(tool in _known() for tool in toolbox.tools)


def ask_pattern(ask: str) -> str:
    """A regular expression for an ask, whoever is helped."""
    marked = ask.rstrip("?").replace(" {whom}", "\0").replace("{needs}", "\1")
    pattern = r"\s+".join(re.escape(part) for part in marked.split(" "))
    return pattern.replace("\0", _WHOM).replace("\1", f"(?:{'|'.join(frame().needs.values())})")


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
    named = [
        word
        for word in (
            split_name(tool)[: split_name(tool).index("by", 1)] if "by" in split_name(tool)[1:] else split_name(tool)
        )
        if word not in _VERBS and word.isalpha()
    ]
    if len(named) > 1 and deed_of(split_name(tool)[0]) == "other" != deed_of(named[-1]):
        named = named[:-1]  # the verb comes last, as in ContainerInspect
    word = pieces[0] if pieces else humanise((named or ["entry"])[-1])
    for end, singular in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if word.endswith(end) and not word.endswith(("ss", "us", "is")):
            return word[: -len(end)] + singular
    return word


@lru_cache(4096)
def _plain(name: str, description: str, parameters: tuple[str, ...], linked: tuple[str, ...]) -> ToolPhrasing:
    """The words of a tool that the language has no phrases for: its action, then what it is about, then all that is said."""
    about = linked[0] if len(linked) == 1 else ""
    slots = [PhraseSlot(about, ABOUT)] if about else []
    lead = "to" if about and deed_of(function_words(name)[0]) == "change" else "with"
    for parameter in (one for one in parameters if one != about):
        words = words_for(parameter)
        slots.append(PhraseSlot(parameter, (f"{lead} {words} {{}}", f"and {words} {{}}")))
    return ToolPhrasing((action_phrase(name, description),), "", tuple(slots), plain=True)


@cache
def _known() -> Mapping[str, ToolPhrasing]:
    return {
        name: ToolPhrasing(
            tuple(entry["asks"]),
            entry.get("noun", ""),
            tuple(_slot(parameter, given) for parameter, given in (entry.get("slots") or {}).items()),
        )
        for name, entry in packaged(_LEXICON, "steps.yaml").items()
    }


def _slot(name: str, given: Any) -> PhraseSlot:  # noqa: ANN401 - parsed YAML
    if isinstance(given, str):
        return PhraseSlot(name, (given,))
    if not isinstance(given, dict):
        return PhraseSlot(name, tuple(given))
    there, moment = given.get("there", False), given.get("moment", False)
    return PhraseSlot(name, tuple(given["say"]), there, tuple((given.get("members") or {}).items()), moment)


_LEXICON = "callwright.llm.template.lexicon"


class Voice(NamedTuple):
    """How a request opens, the word for the one who is helped, and how many adults travel by what it says."""

    opening: str
    whom: str
    adults: range = range(1, 100)


class Frame(NamedTuple):
    """What stands around the asks of a request."""

    needs: Mapping[str, str]  # by the word for the one who is helped
    voices: Mapping[str, tuple[Voice, ...]]  # by subject
    plain_openings: tuple[str, ...]
    leads: tuple[str, ...]
    later_leads: tuple[str, ...]
    links: tuple[str, ...]
    closings: tuple[str, ...]

    @property
    def phrases(self) -> tuple[str, ...]:
        """All of it that is said once."""
        openings = (voice.opening for voices in self.voices.values() for voice in voices)
        rest = (self.plain_openings, self.leads, self.later_leads, self.links, self.closings)
        return (*openings, *chain(*rest))


@cache
def frame() -> Frame:
    """The frame as its file has it."""
    read = packaged(_LEXICON, "frame.yaml")
    voices = {
        subject: tuple(
            Voice(opening, whom, range(*adults)) if adults else Voice(opening, whom)
            for opening, whom, *adults in listed
        )
        for subject, listed in read["voices"].items()
    }
    rest = {name: tuple(texts) for name, texts in read.items() if name not in {"needs", "voices"}}
    return Frame(read["needs"], voices, **rest)


_TO_KNOW = re.compile(r" What I want to know: [^.]+\.")
_TAIL = re.compile(
    r"(?:[\s,;.!?]|\b(?:and|then|also|please|next|after that|could you|can you|I'd like you to|I also need you to"
    r"|thanks a lot|thank you|many thanks|that would be a great help)(?![\w'])|(?<![\w'])And(?![\w']))+$",
    re.IGNORECASE,
)


def write_asked(wanted: Iterable[tuple[str, Sequence[str]]]) -> str:
    """The sentence that asks for fields of things, each by its noun; "" where there are none."""
    listed = dict.fromkeys(
        f"the {', '.join(fields[:-1])}{' and ' if fields[1:] else ''}{fields[-1]} of the {noun}"
        for noun, fields in wanted
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
    """A voice for a subject of the frame that fits so many adults, 0 where nobody counts them.

    One that says nothing of journeys where `travels` is not so.
    """
    known = frame().voices
    fitting = [one for one in known.get(subject) or known["myself"] if not adults or adults in one.adults]
    voice = rng.choice(fitting or known["myself"][:1])
    return voice if travels else Voice(rng.choice(frame().plain_openings), "me")


def trimmed(clause: str) -> str:
    """A clause without the words that lead to the next one, or that thank."""
    return _TAIL.sub("", clause).strip()


_NO_ASPECT = frozenset({"name", "id", "code", "token", "slug", "key", "product", "hotel", "details"})


def aspect_of(field: str) -> str:
    """What of an entry a field is, in words; "" where it is what the entry itself is called or known by."""
    words = [word for piece in field.replace("[0]", "").split(".") for word in split_name(piece)]
    kept = list(dict.fromkeys(word for word in words if word not in _NO_ASPECT))
    return " ".join(kept) if len(kept) > 1 else ""
