"""What of a text is accounted for: the deeds that it names, the values it says and for which parameter, and what is left over."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.actions import field_phrase
from callwright.language.calls.choosing import choose_tool
from callwright.language.calls.frames import Stretch, glue_of, left_over, shapes_in
from callwright.language.calls.questions import called, counting
from callwright.language.calls.tools import ParameterView, ToolView
from callwright.language.calls.turns import Turn
from callwright.language.names import humanise
from callwright.language.numbers import find_numbers
from callwright.language.packs import of, signs, widened
from callwright.language.sentences import quotations, sentence_at
from callwright.language.values import locate
from callwright.validators.checks.verdicts import Finding, unproved
from callwright.warehouse.records import Arguments, DoubtedFact, JsonSchema, Language

_BINDING = (
    "requests.sentences", "requests.clauses", "requests.inline", "requests.plain", "dialogues.sentences",
    "dialogues.sentences_by_kind", "conversations.facts", "conversations.corrections", "conversations.retries",
)  # fmt: skip
# Every shape of a request but the bare answers: "no" is known only as the value of what is asked.
REQUEST = tuple(
    f"requests.{part}"
    for part in (
        "openers", "wishes", "sentences", "clauses", "inline", "listed", "plain", "frame", "joint", "last_joint", "closers",
        "route", "fillers", "day_lead", "time_lead", "moments", "counted",
    )
)  # fmt: skip
_QUOTES = (
    ("", ""),
    ('"', '"'),
    ("“", "”"),
    ("«", "»"),
    ("'", "'"),
    *zip(signs("{open}"), signs("{close}"), strict=True),
)
_EDGE = re.compile(r"^[^\w{]+|[^\w}]+$")
# With commas only as in "Monday, May 3, 2027".
_VALUE = widened(r"(?:\"[^\"]+\"|“[^”]+”|(?:@[^,;\"“”]|, (?=\d|[A-Z]\w+ \d))+?)")
_VALUES = widened("@[^;{.}?!]+?")
_SLOT = re.compile(r"\\\{\w+\\\}")


class Deed(NamedTuple):
    """A stretch of a turn that names what a tool does."""

    view: ToolView
    start: int
    end: int


def deeds_in(text: str, views: tuple[ToolView, ...], called_names: Collection[str]) -> list[Deed]:
    """The deeds that a text names, each until the next; of tools that are asked for alike the one that was called."""
    quoted = list(quotations(text))
    hits = [one for one in _named(text.lower(), views) if not any(start < one[0] < end for start, end in quoted)]
    starts: list[int] = []
    for at, _ in hits:
        start = sentence_at(text, at)[0] if starts else 0
        starts.append(start if not starts or start > starts[-1] else at)
    ends = [*starts[1:], len(text)][: len(starts)]
    return [
        Deed(_meant(alike, called_names, text[start:end]), start, end)
        for (_, alike), start, end in zip(hits, starts, ends, strict=True)
    ]


def _meant(views: Sequence[ToolView], called_names: Collection[str], words: str) -> ToolView:
    chosen = [view for view in views if view.name in called_names] or list(views)
    return chosen[0] if len(chosen) == 1 else choose_tool(chosen, [Turn("user", words)]) or chosen[0]


class TurnAccount:
    """What of a text is accounted for."""

    def __init__(self, text: str, language: Language) -> None:
        self._text, self._language = text, language
        self._phrases: list[str] = []
        self._stretches: list[Stretch] = []
        self._asides: list[tuple[int, int]] = []

    def allow(self, *sections: str) -> None:
        """Take the words of these sections of the language for known, behind a greeting too."""
        glue = glue_of(self._language, *sections)
        self._phrases += [*glue, *(piece.partition(", ")[2] for piece in glue if ", " in piece)]

    def know(self, view: ToolView) -> None:
        """Take what a tool does, and what its parameters are called, for known."""
        self._phrases += phrases_of(view.name, view, self._language)

    def join_lists(self) -> None:
        """Take the word before the last of several for known."""
        self._phrases.append(of(self._language).last)

    def take_asides(self) -> None:
        """Take sentences that say outright that they are about something else for known."""
        self._asides = self.sentences("conversations.asides", 0, len(self._text), _VALUE)
        self._stretches += [Stretch(*place) for place in self._asides]

    def sentences(self, section: str, start: int, end: int, value: str = _VALUES) -> list[tuple[int, int]]:
        """Where sentences of a shape stand, `value` in its slots."""
        found = []
        for shape in shapes_in(self._language, section):
            pattern = re.compile(widened(r"(?:(?<=@[.!?\s])|^)") + _SLOT.sub(lambda _: value, re.escape(shape)))
            found += [match.span() for match in pattern.finditer(self._text, start, end)]
        return sorted(set(found))

    def without_asides(self, start: int, end: int) -> str:
        """A stretch of the text without the sentences beside the point."""
        words = self._text[start:end]
        return without(words, [self._text[one:other] for one, other in self._asides if start <= one < end])

    def cover_values(self, view: ToolView, values: Arguments, start: int, end: int) -> bool:
        """Account for where the values are said between two places; whether each one is."""
        is_each = True
        for name, value in values.items():
            places = list(places_of(value, {"title": name, **view.properties.get(name, {})}, self._text[start:end]))
            self._stretches += [Stretch(one.start + start, one.end + start) for one in places]
            is_each = is_each and bool(places)
        return is_each

    def place_of(self, view: ToolView, values: Arguments, stretch: tuple[int, int]) -> int:
        """Where the last place begins that says one of the values in a stretch, -1 where none does."""
        start, end = stretch
        places = (
            one.start + start
            for name, value in values.items()
            for one in places_of(value, {"title": name, **view.properties.get(name, {})}, self._text[start:end])
        )
        return max(places, default=-1)

    def left_over(self) -> list[str]:
        """The words that are not accounted for."""
        return left_over(self._text, self._phrases, self._stretches)


def without(text: str, pieces: Sequence[str]) -> str:
    """The text without these pieces."""
    for piece in pieces:
        text = text.replace(piece, "")
    return text


def places_of(value: JsonValue, schema: JsonSchema, text: str) -> Iterator[Stretch]:
    """Where a text says a value, as a whole or in its parts."""
    found = locate(value, schema, text)
    if found is not None:
        yield Stretch(found.start, found.end)
    if isinstance(value, str) and value:
        yield from (Stretch(*match.span()) for match in re.finditer(re.escape(value), text, re.IGNORECASE))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from (Stretch(one.start, one.end) for one in find_numbers(text) if one.value == value)
    elif isinstance(value, dict):
        members = schema.get("properties") or {}
        for name, member in value.items():
            yield from places_of(member, {"title": name, **(members.get(name) or {})}, text)
    elif isinstance(value, list):
        for member in value:
            yield from places_of(member, schema.get("items") or {}, text)


def phrases_of(name: str, view: ToolView, language: Language) -> tuple[str, ...]:
    """What people call a tool's deed, its field and its parameters."""
    return _phrases(name, language, view)


@lru_cache(4096)
def _phrases(name: str, language: Language, view: ToolView) -> tuple[str, ...]:
    own = [*view.actions, *view.keys, field_phrase(name, language)]
    for parameter in view.parameters:
        own += _called(parameter, language)
    return tuple(dict.fromkeys(filter(None, own)))


def _called(parameter: ParameterView, language: Language) -> Iterator[str]:
    pack = of(language)
    cue = parameter.cues.among(language)
    own = called(parameter, language)
    counted = counting(parameter, language)
    yield from (
        cue,
        own,
        pack.rules.with_article(cue),
        pack.rules.with_article(own),
        parameter.topic,
        pack.rules.counted_argument(cue),
        *parameter.cues.spoken,
    )
    if counted:
        yield from (counted.unit, counted.asked)
    properties = parameter.schema.get("properties") or {}
    for name, schema in properties.items():
        yield from (humanise(name), str((schema or {}).get("description") or ""))


@lru_cache(512)
def _keys(views: tuple[ToolView, ...]) -> re.Pattern[str] | None:
    keys = sorted({key for view in views for key in view.keys}, key=len, reverse=True)
    return re.compile("|".join(rf"(?<![a-z0-9]){re.escape(key)}(?![a-z0-9])" for key in keys)) if keys else None


def _named(lower: str, views: tuple[ToolView, ...]) -> Iterator[tuple[int, list[ToolView]]]:
    """Where actions are named, the longest at each place, with the tools that they are of."""
    pattern = _keys(views)
    for match in pattern.finditer(lower) if pattern else ():
        yield match.start(), [view for view in views if match[0] in view.keys]


def words_left(words: str, turn: int | None = None) -> Finding:
    """The doubt that words of the user's, of a `turn` where it is told, belong to no call."""
    where = "" if turn is None else f"At turn {turn} "
    fact = DoubtedFact(kind="words_left", turn=None if turn is None else turn + 1, quote=words)
    return unproved(f"{where}{words!r} belongs to no call.", fact)


def misbound(view: ToolView, arguments: Arguments, text: str, language: Language) -> Iterator[Finding]:
    """Values that the words give to another parameter by its name: "the booking number is lost"."""
    cues = {
        cue.lower(): one.name for one in view.parameters for cue in (called(one, language), one.cues.among(language))
    }
    shapes = [shape for section in _BINDING for shape in shapes_in(language, section) if "{v}" in shape]
    lower = text.lower()
    for name, value in arguments.items():
        if isinstance(value, bool | dict | list):
            continue
        schema = {"title": name, **view.properties.get(name, {})}
        stated = {lower[one.start : one.end] for one in places_of(value, schema, text)}
        bound = [(len(words), cues[cue]) for cue in cues for words in _bindings(cue, stated, shapes, lower)]
        owner = max(bound, default=(0, name))[1]
        if owner != name and arguments.get(owner) != value:
            fact = DoubtedFact(kind="misplaced", tool=view.name, argument=name, value=value, other=owner)
            yield unproved(f"The words give {value!r} for {owner!r}, and the call has it as {name!r}.", fact)


def _goes_on(lower: str, start: int, end: int) -> bool:
    """Whether a number goes on beyond a stretch: "2" in "25"."""
    before, after = lower[max(0, start - 1) : start + 1], lower[end - 1 : end + 1]
    return any(len(pair) > 1 and all(one.isnumeric() for one in pair) for pair in (before, after))


def _bindings(cue: str, values: Collection[str], shapes: Sequence[str], lower: str) -> Iterator[str]:
    """The stretches in which a shape joins what a parameter is called with one of the values, quoted or not."""
    for value in values if cue in lower else ():
        for shape in shapes:
            if not ("{c}" in shape or "{C}" in shape):
                continue
            bare = _EDGE.sub("", shape.lower().replace("{c}", cue))
            for left, right in _QUOTES:
                words = bare.replace("{v}", f"{left}{value}{right}")
                at = lower.find(words)
                if at >= 0 and not _goes_on(lower, at, at + len(words)):
                    yield words
