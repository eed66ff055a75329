"""The shapes in which calls, questions and answers are worded: typed views of a language's YAML files."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from callwright.language.packs import of
from callwright.warehouse.records import Language

Shapes = tuple[str, ...]


class Phrasebook(NamedTuple):
    """The shapes of one language."""

    openers: tuple[str, ...]  # a whole request without arguments; the mark at its end comes off when more follows
    wishes: tuple[str, ...]  # the same, but the speaker does it: they do not go with "show me the list"
    sentences: tuple[str, ...]  # an argument in a sentence of its own
    coded: tuple[str, ...]  # the same for what identifies a thing: it is named, and nobody sets it
    clauses: tuple[str, ...]  # several arguments in one sentence
    inline: tuple[str, ...]  # arguments that are known by their shape, right behind the action
    listed: tuple[str, ...]  # lists and objects, last
    plain: tuple[str, ...]  # unmistakable, for the last attempts
    frame: str  # words that speak for themselves, "with breakfast", in a sentence of their own
    answers: tuple[str, str]  # no and yes
    joint: str
    last_joint: str
    stop: str
    closers: tuple[str, ...]
    quotes: tuple[tuple[str, str], ...]
    route: tuple[str, ...]
    fillers: tuple[str, ...]  # in front of arguments that stand by themselves
    day_lead: str  # in front of the only day
    time_lead: str  # and of the only time
    moments: dict[str, str]  # and of either by what it is to the call, `{v}`: where it ends, when it is due
    counted: str  # a number with what it counts, `{v}` and `{u}`


class SlotBook(NamedTuple):
    """The shapes of one language."""

    questions: Shapes  # for any parameter, by its name
    named: dict[str, Shapes]  # by its name and its kind
    unnamed: dict[str, Shapes]  # by its kind alone
    counted: Shapes  # for a number of something
    options: Shapes  # for a choice among few
    flags: Shapes  # for a yes or no
    last_option: str  # between the last two options
    next_option: str
    bare: Shapes  # hardly more than the value
    bare_by_kind: dict[str, Shapes]
    bare_count: Shapes
    sentences: Shapes  # the value and what it is for
    sentences_by_kind: dict[str, Shapes]
    yes: Shapes
    no: Shapes
    last_question: str  # where every other could be taken for another question


@cache
def requests_in(language: Language) -> Phrasebook:
    """The shapes of requests."""
    return Phrasebook(**_tuples(of(language).data["requests"]))


@cache
def dialogues_in(language: Language) -> SlotBook:
    """The shapes of questions and answers."""
    return SlotBook(**_tuples(of(language).data["dialogues"]))


def _tuples(node: Any) -> Any:  # noqa: ANN401 - any node of a YAML file
    if isinstance(node, Mapping):
        return {key: _tuples(value) for key, value in node.items()}
    return tuple(map(_tuples, node)) if isinstance(node, list) else node
