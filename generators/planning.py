"""How a family plans: what a kind's count is shared out over, and the first drafts of each share."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from callwright.generators.environments.protocol import Environment
from callwright.generators.families import Kind
from callwright.generators.own_values import NO_VALUES, OwnValues
from callwright.generators.stages import Stage
from callwright.warehouse.records import Derivation, Draft, Language, Sample, Tool, Transform

Obstacle = Callable[[Sample, Mapping[str, Tool]], str]


def ignore(_sentence: str) -> None:
    """What an order says to nobody."""


class Share(NamedTuple):
    """A part of a kind's count: `place` is the domain or the complexity that it is for, "" for none."""

    language: Language
    samples: int
    place: str = ""


def tools_for(tools: Sequence[Tool], language: Language) -> list[Tool]:
    """The tools that requests in a language are made of: those with a document in it, else all, which a model translates."""
    return [tool for tool in tools if tool.language == language] or [*tools]


class Order(NamedTuple):
    """What a planner is asked for: the first `samples` samples of a kind in a language and at a place.

    `candidates` tools stand beside each; `own_values` are the recipe's for some parameters; `variants` are made of one draft
    where a draft is good for several samples.
    """

    kind: Kind
    language: Language
    place: str
    samples: int
    tools: Sequence[Tool]
    seed: int
    candidates: int = 5
    variants: int = 1
    own_values: OwnValues = NO_VALUES
    environments: Mapping[str, Environment] = {}
    say: Callable[[str], None] = ignore  # hears what is left out


Shares = Callable[[Kind, int, Sequence[Language], Sequence[Tool]], Iterator[Share]]
Plan = Callable[[Order], Iterator[Draft] | AsyncIterator[Draft]]


def _by_language(_kind: Kind, count: int, languages: Sequence[Language], _tools: Sequence[Tool]) -> Iterator[Share]:
    for language, share in zip(languages, shared_evenly(count, len(languages)), strict=True):
        yield Share(language, share)


class Making(NamedTuple):
    """How a family's samples are made: its stages, and how they are planned.

    `drafts` is the type of what is planned; where a draft does not say its kind, `kind_at` tells it by the place.
    `validates` says that the first draft is planned before a build begins, so that what can't be is refused at once. Kinds that
    are made of other samples need no plan, but `obstacles`: why one can't be made of a sample, "" where it can. `has_fixed_words`
    says that some turns come out of a language's folder, so that there are no samples in a language without one.
    """

    family: str
    stages: tuple[Stage, ...]
    drafts: type[Draft] = Derivation
    plan: Plan | None = None
    shares: Shares = _by_language
    kind_at: Callable[[str], str] | None = None
    validates: bool = False
    has_variants: bool = False
    obstacles: Mapping[Transform, Obstacle] = {}
    has_fixed_words: bool = False


def shared_evenly(count: int, among: int) -> list[int]:
    """A count in so many parts, the first ones larger by one where it does not divide."""
    share, rest = divmod(count, max(1, among))
    return [share + (position < rest) for position in range(among)]
