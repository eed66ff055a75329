"""A text beside the values of a call: where each stands in it, and what is settled already."""

from collections.abc import Sequence
from typing import NamedTuple

from callwright.language.text import words_of
from callwright.validators.values.parameters import Leaf, Parameter, spellings
from callwright.validators.values.places import Place
from callwright.validators.values.said import Said, Span, mark_words, measure_words


class Heard(NamedTuple):
    """A text with the values of a call and their places in it; `settled` are the parameters that surely have theirs."""

    said: Said
    leaves: Sequence[Leaf]
    places: Sequence[Sequence[Place]]
    settled: frozenset[tuple[str, str]] = frozenset()
    elsewhere: Sequence[Span] = ()  # where names of other calls stand

    @property
    def taken(self) -> list[Span]:
        """Where values of the call stand."""
        return [one.span for each in self.places for one in each]

    def at(self, start: int) -> Leaf | None:
        """The value that begins at a place."""
        pairs = zip(self.leaves, self.places, strict=True)
        return next((leaf for leaf, places in pairs if any(one.span.start == start for one in places)), None)

    def of(self, parameter: Parameter) -> tuple[Leaf, Sequence[Place]] | None:
        """The value of a parameter and its places."""
        pairs = zip(self.leaves, self.places, strict=True)
        return next(((leaf, places) for leaf, places in pairs if leaf.parameter == parameter), None)


def named_words(said: Said, where: Span) -> list[frozenset[str]]:
    """The words of a stretch as names are compared, without articles."""
    article = mark_words(said.language)["article"]
    words, measures = words_of(said.quote(where)).row, measure_words(said.language)
    return [
        spellings(one.text) | {measures.get(one.text, one.text)} for one in words if not article.fullmatch(one.text)
    ]
