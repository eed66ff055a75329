"""Sentences that people say, as data: templates with slots, optional parts and alternatives, in the
grammar of `hassil`.

`"set an alarm [called {label}] [for {time}]"`: `{slot}` is a value, `[part]` may be missing,
`(one|other)` is one of them, and `guest[s]` a plural. A sentence is drawn for just the slots that
are stated, and is recognised by the same template.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, reduce
from itertools import chain, product
from operator import add, or_
from random import Random

from hassil.expression import Alternative, Expression, Group, ListReference, TextChunk
from hassil.parse_expression import parse_sentence
from hassil.parser import ParseError

from callwright.language.packs import signs
from callwright.warehouse.errors import ConfigurationError

_ENDS = signs(".?!{.!?}")
_SHOWN = 80  # characters
_DEEPEST = 20  # levels
_ENDING = re.compile(r"[a-z]{1,3}")
_CUT = re.compile(r"[A-Za-z0-9]{2}")
_BEFORE_MARK = re.compile(r"\s+(?=[,.;:?!])")
_PLACES = re.compile(
    r"(?<=\w)(?!\w)|(?<!\w)(?=\w)|(?<=\W)(?=\W)|(?<=[^\x00-\u02ff])|(?=[^\x00-\u02ff])|$"
)  # where words end


class Sentence:
    """A template of a sentence. Raises ConfigurationError where it is none."""

    def __init__(self, text: str) -> None:
        """Parse it."""
        self.text = text
        try:
            _refuse_depths(text)
            self._tree: Expression = parse_sentence(text).expression
        except (ParseError, AssertionError, ValueError) as error:  # it asserts what it was given
            problem = f"The sentence {text[:_SHOWN]!r} can't be read: {_reason(error)}"
            raise ConfigurationError(problem) from error
        self.slots = frozenset(_slots(self._tree))

    @cached_property
    def repeated(self) -> tuple[str, ...]:
        """The slots that one and the same sentence would say twice."""
        return tuple(sorted(slot for slot, times in _most(self._tree).items() if times > 1))

    @cached_property
    def is_bare(self) -> bool:
        """Whether it holds no whole sentence: an opener goes before it, and a mark behind."""
        return not any(mark in self.text for mark in _ENDS)

    def draw(
        self, stated: frozenset[str], rng: Random, ones: frozenset[str] = frozenset()
    ) -> str | None:
        """The sentence with just these slots, each as "{slot}"; None where it can't say them all
        and nothing else.

        A plural behind a slot in `ones` is left out: its value is one.
        """
        if not stated <= self.slots:
            return None
        text = _Drawing(stated, rng, ones).of(self._tree)
        if text is None or any(text.count(f"{{{one}}}") != 1 for one in stated):
            return None
        return _tidy(text)

    def read(self, text: str, is_value: Callable[[str, str], bool]) -> dict[str, str] | None:
        """The words in each slot that a text says, None where it is another sentence; `is_value`
        tells what a slot takes.
        """
        said = " ".join(text.split())
        if any(one not in said.lower() for one in self.words):
            return None
        found = (
            slots for end, slots in _matched([self._tree], said, 0, is_value) if end == len(said)
        )
        return next(found, None)

    @cached_property
    def shapes(self) -> tuple[str, ...]:
        """Each of the ways in which all of it may be said, with its slots."""
        return tuple(dict.fromkeys(map(_tidy, _shapes(self._tree))))

    @cached_property
    def has_words(self) -> bool:
        """Whether it may say a word beside its slots."""
        said = (one.original_text for one in _leaves(self._tree) if isinstance(one, TextChunk))
        return any(map(str.isalpha, "".join(said)))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words that stand in it whatever is stated, in small letters."""
        parts = (one for one in _parts(self._tree) if isinstance(one, TextChunk))
        return tuple(word for one in parts for word in one.original_text.lower().split())


def _tidy(text: str) -> str:
    """A text with one space between its words, and none before a mark."""
    return _BEFORE_MARK.sub("", " ".join(text.split()))


def _shapes(node: Expression) -> list[str]:
    if isinstance(node, TextChunk):
        return [node.original_text]
    if isinstance(node, ListReference):
        return [f"{{{node.list_name}}}"]
    parts = [_shapes(part) for part in _parts(node)]
    return (
        [*chain(*parts)] if isinstance(node, Alternative) else list(map("".join, product(*parts)))
    )


def _refuse_depths(text: str) -> None:
    """Raise ValueError where brackets are nested deeper than anybody writes them."""
    depth = 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        if depth > _DEEPEST:
            raise ValueError(f"its brackets are nested more than {_DEEPEST} levels deep.")


def _reason(error: Exception) -> str:
    """Why hassil can't parse a sentence, in words for whoever writes one."""
    if "too short" in str(error):
        return "a sentence, a slot or a part in brackets is empty."
    if isinstance(error, ParseError | AssertionError):
        return "the brackets (), [] and {} do not match."
    return str(error)


def _parts(node: Expression) -> Sequence[Expression]:
    return node.items if isinstance(node, Group) else ()


def _slots(node: Expression) -> Iterator[str]:
    if isinstance(node, ListReference):
        yield node.list_name
    for part in _parts(node):
        yield from _slots(part)


def _most(node: Expression) -> Counter[str]:
    """How often a part says each slot at most."""
    if isinstance(node, ListReference):
        return Counter([node.list_name])
    within = [_most(part) for part in _parts(node)]
    return reduce(or_ if isinstance(node, Alternative) else add, within, Counter[str]())


class _Drawing:
    """How one sentence is drawn; the slot that was said last decides whether a plural follows."""

    def __init__(self, stated: frozenset[str], rng: Random, ones: frozenset[str]) -> None:
        self._stated, self._rng, self._ones = stated, rng, ones
        self._last = ""

    def of(self, node: Expression) -> str | None:
        """A text of a part with as many of the stated slots as it can take; None where it can't
        be said without others.
        """
        if isinstance(node, TextChunk):
            return node.original_text
        if isinstance(node, ListReference):
            self._last = node.list_name
            return f"{{{node.list_name}}}" if node.list_name in self._stated else None
        if isinstance(node, Alternative):
            return self._one_of(node)
        text = ""
        for part in _parts(node):
            ending = _ending(part) if text[-1:].isalpha() else ""
            more = self.of(part) if not ending else "" if self._last in self._ones else ending
            if more is None:
                return None
            text += more
        return text

    def _one_of(self, node: Alternative) -> str | None:
        drawn = [(len(self._stated.intersection(_slots(one))), self.of(one)) for one in node.items]
        most = max((count for count, text in drawn if text is not None), default=0)
        ways = [text for count, text in drawn if count == most and text is not None]
        return self._rng.choice(ways) if ways else None


def _ending(node: Expression) -> str:
    """What may be added to the word before: the s of "guest[s]"; "" where a part is something
    else.
    """
    is_optional = isinstance(node, Alternative) and node.is_optional
    words = ""
    if is_optional:
        words = "".join(one.original_text for one in _leaves(node) if isinstance(one, TextChunk))
    return words if _ENDING.fullmatch(words) and not any(_slots(node)) else ""


def _leaves(node: Expression) -> Iterator[Expression]:
    parts = _parts(node)
    for part in parts:
        yield from _leaves(part)
    if not parts:
        yield node


def _matched(
    nodes: Sequence[Expression], text: str, at: int, is_value: Callable[[str, str], bool]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Each way in which a text goes on with these parts from a place on: where it ends, and the
    words of each slot.
    """
    if not nodes:
        yield at, {}
        return
    first, rest = nodes[0], nodes[1:]
    if isinstance(first, Alternative):
        # "something" is no value where the sentence has the word for want of one
        if first.is_optional:
            items = first.items
        else:
            items = sorted(first.items, key=lambda one: any(_slots(one)))
        for one in items:
            yield from _matched([one, *rest], text, at, is_value)
    elif isinstance(first, Group):
        yield from _matched([*first.items, *rest], text, at, is_value)
    else:
        for end, said in _said_at(first, text, at):
            if isinstance(first, ListReference) and not (
                _goes_on(rest, text, end) and is_value(first.list_name, said)
            ):
                continue
            slot = {first.list_name: said} if isinstance(first, ListReference) else {}
            yield from (
                (place, slot | others) for place, others in _matched(rest, text, end, is_value)
            )


def _goes_on(rest: Sequence[Expression], text: str, at: int) -> bool:
    """Whether what follows a slot may stand at a place: words are compared before anybody reads
    the value.
    """
    if not rest:
        return at == len(text)
    return not isinstance(rest[0], TextChunk) or any(_said_at(rest[0], text, at))


def _said_at(node: Expression, text: str, at: int) -> Iterator[tuple[int, str]]:
    """Where a part that stands at a place of a text may end, and its words, whatever spaces are
    around them.
    """
    if isinstance(node, ListReference):
        start = at + (text[at : at + 1] == " ")
        yield from (
            (found.start(), text[start : found.start()])
            for found in _PLACES.finditer(text, start + 1)
        )
    elif isinstance(node, TextChunk):
        start = at
        for one in node.original_text.split():
            at += text[at : at + 1] == " "
            if text[at : at + len(one)].lower() != one.lower():
                return
            at += len(one)
        # "to" in "Town"
        is_cut = node.original_text[-1:].isspace() and _CUT.fullmatch(text[at - 1 : at + 1])
        if not is_cut:
            yield at, text[start:at]
