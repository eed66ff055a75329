"""What an episode deserves: its end, its last word, and how it came there.

The world has to end as the task wants it. Beyond that, three things cost:

- A write that leaves no trace in the end (overwritten, undone, or repeated for nothing) halves the
  reward; MOST_NEEDLESS of them leave nothing of it.
- An id that the assistant was never shown was guessed or remembered from elsewhere: a write with
  one earns nothing.
- A last word that leaves out what was asked for, or says what is not so, earns nothing.
"""

import re
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from pydantic import BaseModel, JsonValue

from callwright.generators.environments.episodes import ThingKey, WorldState, diff
from callwright.generators.environments.linking import IDENTIFYING, SPOKEN, words_of
from callwright.warehouse.answers import fields_of
from callwright.warehouse.records import Call

MOST_NEEDLESS = 4
_IDS = IDENTIFYING - SPOKEN
_LONGEST_SHOWN = 80  # characters of a value that a reason shows


class EpisodeGrade(NamedTuple):
    """What was right and wrong in an episode, and the reward for it."""

    end_reached: bool = True
    needless_writes: int = 0
    untold: int = 0
    false_told: tuple[str, ...] = ()
    unseen_ids: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    not_looked: int = 0
    is_answered: bool = True

    @property
    def reward(self) -> float:
        """Nothing unless all is right, and half for each needless write."""
        is_told = self.is_answered and not self.untold and not self.false_told
        is_clean = not (self.unseen_ids or self.broken or self.not_looked)
        is_right = self.end_reached and is_told and is_clean
        kept = 0.5**self.needless_writes if self.needless_writes < MOST_NEEDLESS else 0.0
        return kept if is_right else 0.0

    @property
    def reason(self) -> str:
        """Why the reward is not 1.0, in a sentence each, or "" if it is."""
        said = (
            (not self.end_reached, "The world did not end as the task wants it."),
            (self.unseen_ids, f"Unseen id: {_shown(self.unseen_ids)} was used but never shown."),
            (self.broken, f"A policy was broken: {_shown(self.broken)}."),
            (self.not_looked, "It was not looked whether it is forbidden, or was done already."),
            (not self.is_answered, "The last word lacks the refusal or question that is due."),
            (self.untold, f"The last word leaves out {self.untold} of what was asked for."),
            (self.false_told, f"The last word says what is not so: {_shown(self.false_told)}."),
            (self.needless_writes, f"{self.needless_writes} writes were needless."),
        )
        return " ".join(sentence for holds, sentence in said if holds)


def _shown(values: Sequence[str]) -> str:
    return ", ".join(value[:_LONGEST_SHOWN] for value in values[:3])


class Touched(NamedTuple):
    """What a write did to one thing: created, deleted, or updated a field of it."""

    kind: str
    id: str
    sort: str
    field: str = ""


class JournalEntry(BaseModel, frozen=True):
    """A write that a world has carried out, by its call's key, and what it touched."""

    call: str
    touched: tuple[Touched, ...]
    failed: bool = False  # it was carried out, and its answer was an error


def written(call: Call, before: WorldState, after: WorldState) -> JournalEntry:
    """Return what a carried-out call did between two states."""
    changes = diff(before, after)
    touched = (Touched(one.kind, one.id, one.sort, one.field or "") for one in changes)
    return JournalEntry(call=call.key, touched=tuple(touched))


def count_needless(journal: Sequence[JournalEntry], end: WorldState) -> int:
    """Return how many writes have left nothing behind in the state in which they ended."""
    later: set[tuple[str, str, str]] = set()
    needless = 0
    for write in reversed(journal):
        needless += not any(_lasts(one, end, later) for one in write.touched)
        later |= {(one.kind, one.id, one.field) for one in write.touched}
    return needless


def _lasts(touched: Touched, end: WorldState, later: Collection[tuple[str, str, str]]) -> bool:
    """Whether what a write has done is still so in the end and was its own doing."""
    now = end.things.get(ThingKey(touched.kind, touched.id))
    if now is None or (touched.kind, touched.id, touched.field) in later:
        return touched.sort == "created" and now is not None and now.after is not None
    if touched.sort == "deleted" or now.after is None:
        return touched.sort == "deleted" and now.after is None
    if touched.sort == "created" or now.before is None:
        return now.before is None
    return now.before.get(touched.field) != now.after.get(touched.field)


def ids_in(arguments: JsonValue, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the values in identifying fields of arguments, as text, each after its field."""
    if isinstance(arguments, dict):
        for field, value in arguments.items():
            yield from ids_in(value, field)
    elif isinstance(arguments, list):
        for value in arguments:
            yield from ids_in(value, name)
    elif isinstance(arguments, str | int) and _IDS.intersection(words_of(name)[-1:]):
        yield name, str(arguments)


def seen_in(responses: Iterable[JsonValue]) -> dict[str, list[JsonValue]]:
    """Return the scalars that responses show, by the names of their fields, each once."""
    seen: dict[str, dict[str, JsonValue]] = {}
    for response in responses:
        for name, value in fields_of(response):
            seen.setdefault(name, {}).setdefault(repr(value), value)
    return {name: [*values.values()] for name, values in seen.items()}


class Shown(Container[str]):
    """What was shown in responses and texts; it contains a value that stands there as a word."""

    def __init__(self, responses: Iterable[JsonValue]) -> None:
        """Take the responses, and texts as responses."""
        self._values = {str(value) for one in responses for _, value in fields_of(one)}

    def __contains__(self, value: object) -> bool:
        """Whether a value was shown, by itself or within a text."""
        wanted = str(value)
        if wanted in self._values:
            return True
        as_word = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
        return any(wanted in one and as_word.search(one) for one in self._values)
