"""Sentences that people say, as data: templates in the grammar of `hassil`.

`"set an alarm [called {label}] [for {time}]"`: `{slot}` is a value, `[part]` is optional,
`(one|other)` is one of them, and `guest[s]` a plural. A sentence is drawn for exactly the slots
that are stated, and the same template recognises it.
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
    """A sentence template. Raises ConfigurationError if the text is not valid."""

    def __init__(self, text: str) -> None:
        """Parse the text."""
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
        """Return the slots that one sentence could say twice."""
        return tuple(sorted(slot for slot, times in _most(self._tree).items() if times > 1))

    @cached_property
    def is_bare(self) -> bool:
        """Whether it has no whole sentence, so that it needs an opener and an end mark."""
        return not any(mark in self.text for mark in _ENDS)

    def draw(
        self, stated: frozenset[str], rng: Random, ones: frozenset[str] = frozenset()
    ) -> str | None:
        """Return the sentence with exactly these slots, each as "{slot}", or None if it can't.

        A plural after a slot in `ones` is left out, because its value is one.
        """
        if not stated <= self.slots:
            return None
        text = _Drawing(stated, rng, ones).of(self._tree)
        if text is None or any(text.count(f"{{{one}}}") != 1 for one in stated):
            return None
        return _tidy(text)

    def read(self, text: str, is_value: Callable[[str, str], bool]) -> dict[str, str] | None:
        """Return the words that `text` has in each slot, or None if it is another sentence.

        `is_value` tells whether a slot accepts some words.
        """
        spaced_text = " ".join(text.split())
        if any(one not in spaced_text.lower() for one in self.words):
            return None
        matched = _matched([self._tree], spaced_text, 0, is_value)
        return next((slots for end, slots in matched if end == len(spaced_text)), None)

    @cached_property
    def shapes(self) -> tuple[str, ...]:
        """Return every way to say the whole sentence, with its slots."""
        return tuple(dict.fromkeys(map(_tidy, _shapes(self._tree))))

    @cached_property
    def has_words(self) -> bool:
        """Whether it can say a word besides its slots."""
        said = (one.original_text for one in _leaves(self._tree) if isinstance(one, TextChunk))
        return any(map(str.isalpha, "".join(said)))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Return the words that occur in every form of the sentence, in lower case."""
        parts = (one for one in _parts(self._tree) if isinstance(one, TextChunk))
        return tuple(word for one in parts for word in one.original_text.lower().split())


def _tidy(text: str) -> str:
    """Return the text with single spaces between words and none before a punctuation mark."""
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
    """Raise ValueError if brackets are nested deeper than the limit."""
    depth = 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        if depth > _DEEPEST:
            raise ValueError(f"its brackets are nested more than {_DEEPEST} levels deep.")


def _reason(error: Exception) -> str:
    """Return why hassil cannot parse a sentence, in words for its author."""
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
    """Return how often a part says each slot at most."""
    if isinstance(node, ListReference):
        return Counter([node.list_name])
    within = [_most(part) for part in _parts(node)]
    return reduce(or_ if isinstance(node, Alternative) else add, within, Counter[str]())


class _Drawing:
    """The state of drawing one sentence; the last slot said decides whether a plural follows."""

    def __init__(self, stated: frozenset[str], rng: Random, ones: frozenset[str]) -> None:
        self._stated, self._rng, self._ones = stated, rng, ones
        self._last = ""

    def of(self, node: Expression) -> str | None:
        """Return a text of a part with as many stated slots as it can take.

        None if the part can't be said without other slots.
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
    """Return an optional ending for the word before, such as the s of "guest[s]"; "" otherwise."""
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
    """Yield each way to match these parts at a position: its end and the words of each slot."""
    if not nodes:
        yield at, {}
        return
    first, rest = nodes[0], nodes[1:]
    if isinstance(first, Alternative):
        # "something" is no value where the sentence has the word for want of one
        is_last = (lambda _: False) if first.is_optional else (lambda one: any(_slots(one)))
        for one in sorted(first.items, key=is_last):
            yield from _matched([one, *rest], text, at, is_value)
    elif isinstance(first, Group):
        yield from _matched([*first.items, *rest], text, at, is_value)
    else:
        for end, part_text in _said_at(first, text, at):
            slot = {first.list_name: part_text} if isinstance(first, ListReference) else {}
            if not slot or (_goes_on(rest, text, end) and is_value(*next(iter(slot.items())))):
                for place, others in _matched(rest, text, end, is_value):
                    yield place, slot | others


def _goes_on(rest: Sequence[Expression], text: str, at: int) -> bool:
    """Whether what follows a slot matches here, a cheap test before anyone reads the value."""
    if not rest:
        return at == len(text)
    return not isinstance(rest[0], TextChunk) or any(_said_at(rest[0], text, at))


def _said_at(node: Expression, text: str, at: int) -> Iterator[tuple[int, str]]:
    """Yield where a part that starts at `at` may end, and its words, ignoring spaces around."""
    if isinstance(node, ListReference):
        start = at + (text[at : at + 1] == " ")
        ends = (found.start() for found in _PLACES.finditer(text, start + 1))
        yield from ((end, text[start:end]) for end in ends)
    elif isinstance(node, TextChunk):
        start = at
        for word in node.original_text.split():
            at += text[at : at + 1] == " "
            if text[at : at + len(word)].lower() != word.lower():
                return
            at += len(word)
        # "to" in "Town"
        is_cut = node.original_text[-1:].isspace() and _CUT.fullmatch(text[at - 1 : at + 1])
        if not is_cut:
            yield at, text[start:at]
