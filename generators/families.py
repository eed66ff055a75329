"""A family of samples: its kinds with their traits, its stages, and how it plans.

Code that needs to know what samples of a kind are like asks the traits, not the kind's name.
Each family is one object in a folder or file of its own; generators/kinds.py lists them.
"""

import inspect
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Literal, NamedTuple, TypeVar

from callwright.generators.environments.protocol import Environment
from callwright.generators.own_values import NO_VALUES, OwnValues
from callwright.generators.stages import Stage
from callwright.generators.telling_apart import unclear_tools
from callwright.warehouse import records
from callwright.warehouse.errors import CallwrightError, ConfigurationError
from callwright.warehouse.records import Derivation, Draft, Language, Sample, Tool, Transform

Calls = Literal["one", "set", "sequence"]
Asked = Literal["call", "plan", "conversation", "path"]
Spread = Literal["", "category", "complexity"]
Difficulty = Literal["", "easy", "medium", "hard"]
Shift = Literal["", "last", "same_turn", "own_turn", "message"]
Review = Literal["sample_review", "correction", "disambiguation", "dialogue_acts"]
_WHOLENESS = ("is_whole", "is_partial", "is_idle")


@dataclass(frozen=True)
class Traits:
    """What samples of a kind are like. Raises ConfigurationError where no sample can be so.

    `paper`: the paper whose counts stand in the table and whose format holds such samples, "" for
    a kind of no paper. `calls`: what is due at a call turn: one
    call at most, a set whose order is free, or a sequence. `asked`: how a candidate is asked for
    them, and so by which metrics it is scored. `is_whole`, `is_partial`: the call has every
    required argument, or lacks one. `is_open`: the request lacks arguments, so that the call can't
    have been made, whatever became of it later. `is_idle`: no call is due at all. `is_executed`:
    calls have results. `is_long`: there are several user turns. `is_changed`: it was made of a
    sample that was proved before. `has_correction`: the user takes a value back that was stated.
    `is_taken`: it took place somewhere else, so that its calls may be wrong, and its results can't
    be had again. `is_task`: what is wanted is a change of a world, and whatever calls lead there
    count. `is_ruled`: it takes policies of the recipe that are about what its source calls.
    `is_cross_domain`: its tools are of several domains. `has_catalog`: all tools of a catalog are
    shown. `has_acts`: replies carry dialogue acts, which people review. `spread`: what a count is
    shared out by besides languages. `shift`: where the user's change of mind takes effect: at the
    last snapshot, in the turn that says the value or in a turn that was inserted for it; or a
    message has the value, which is no change of mind.
    """

    paper: str = ""
    calls: Calls = "one"
    asked: Asked = "call"
    is_whole: bool = False
    is_partial: bool = False
    is_open: bool = False
    is_idle: bool = False
    is_executed: bool = False
    is_long: bool = False
    has_catalog: bool = False
    has_acts: bool = False
    is_taken: bool = False
    is_task: bool = False
    is_ruled: bool = False
    is_cross_domain: bool = False
    is_changed: bool = False
    has_correction: bool = False
    spread: Spread = ""
    difficulty: Difficulty = ""
    shift: Shift = ""

    def __post_init__(self) -> None:
        if problem := next(self._problems(), ""):
            raise ConfigurationError(f"These traits can't be those of one kind: {problem}.")

    def _problems(self) -> Iterator[str]:
        wholeness = [name for name in _WHOLENESS if getattr(self, name)]
        if len(wholeness) > 1:
            yield f"{' and '.join(wholeness)} exclude each other"
        if self.is_task and self.asked != "path":
            yield (
                "is_task says that a change of a world is wanted, which is asked as a 'path', and"
                f" asked is {self.asked!r}"
            )
        if self.is_ruled and not self.is_task:
            yield "is_ruled says that policies hold for a task, and is_task is False"
        if self.asked == "path" and not self.is_executed:
            yield "asked is 'path', whose calls have results, and is_executed is False"
        if self.has_acts and self.asked != "conversation":
            yield (
                "has_acts says that replies of a 'conversation' carry dialogue acts, and asked is"
                f" {self.asked!r}"
            )

    @property
    def is_live(self) -> bool:
        """Whether the user says along the way what is wanted, so nobody does the task unasked."""
        return self.is_task and self.is_long

    @property
    def reviews(self) -> tuple[Review, ...]:
        """The kinds of reviews to ask people for: of the sample, its path and its dialogue acts."""
        of_path: tuple[Review, ...] = (
            ("correction", "disambiguation") if self.asked == "path" else ()
        )
        of_acts: tuple[Review, ...] = ("dialogue_acts",) if self.has_acts else ()
        return ("sample_review", *of_path, *of_acts)


class Kind(NamedTuple):
    """A kind of sample: its `group` of stages makes it by `transform` of samples of `sources`.

    `paper` is how many the paper tells of, None where it tells nothing; `scale` is how many a build
    of its size makes. `uses` is how often a source may be used: again where the next result will
    differ in turn, value or message. `borrows`: each takes the request of another sample besides
    its source. `favours_lacking`: sources that lack several arguments come often.
    `is_decided_by_tool`: which tool a sample is about decides what can be made of it, so that this
    is known before a build.
    """

    name: str
    about: str
    group: str
    traits: Traits
    transform: Transform | None = None
    sources: tuple[str, ...] = ()
    paper: int | None = None
    scale: int = 0
    uses: int = 1
    borrows: bool = False
    favours_lacking: bool = False
    is_decided_by_tool: bool = False


Obstacle = Callable[[Sample, Mapping[str, Tool]], str]
WorldObstacle = Callable[[Sample, Mapping[str, Tool], Mapping[str, Environment]], str]


class LeftOut(NamedTuple):
    """What planning leaves out, and why: a tool of a kind, or a number of `samples` of any tool.

    `language` and `place` are "" if the reason holds for all of them.
    """

    kind: str
    reason: str
    language: Language = ""
    place: str = ""
    tool: str = ""
    samples: int = 0


def ignore(_left_out: LeftOut) -> None:
    """Ignore what planning leaves out."""


class Share(NamedTuple):
    """A part of a kind's count; `place` is its domain or complexity, or ""."""

    language: Language
    samples: int
    place: str = ""


def tools_for(tools: Sequence[Tool], language: Language) -> list[Tool]:
    """Return the tools in a language or, if there are none, all tools, which a model translates."""
    return [tool for tool in tools if tool.language == language] or [*tools]


class Order(NamedTuple):
    """A planner's order: the first `samples` samples of a kind in a language and at a place.

    Each gets `candidates` tools; `own_values` are the recipe's for some parameters; `variants`
    are made of each draft if drafts are good for several samples. Tasks play in `worlds` of each
    environment, 0 for one of its own for each. A wording serves up to `value_sets` samples.
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
    worlds: int = 0
    environments: Mapping[str, Environment] = {}
    value_sets: int = 1
    leave_out: Callable[[LeftOut], None] = ignore  # hears what is left out

    def misses(self, reason: str, *, tool: str = "", samples: int = 0) -> None:
        """Record that a tool, or a number of the order's samples, is left out."""
        self.leave_out(LeftOut(self.kind.name, reason, self.language, self.place, tool, samples))


ToolObstacle = Callable[[Order, Tool], str]
Planned = TypeVar("Planned", bound=Draft)
_LOG = logging.getLogger(__name__)
_LOST = 20  # so many samples more are tried in place of those that can't be planned


def usable_tools(order: Order, tools: Sequence[Tool], obstacle: ToolObstacle) -> list[Tool]:
    """Return the tools that the kind's samples can be about, reporting why the others can't."""
    usable = []
    unclear = unclear_tools(order.tools)
    for tool in tools:
        try:
            reason = unclear.get(tool.key) or obstacle(order, tool)
        except Exception as error:  # noqa: BLE001 - a bug costs one tool
            reason = told_of(error)
        if reason:
            order.misses(reason, tool=tool.name)
        else:
            usable.append(tool)
    return usable


def value_obstacle(order: Order, tool: Tool) -> str:
    """Return why no values can be drawn for a tool's required parameters, or "" if they can."""
    try:
        order.own_values.fill(tool, tool.required, order.language, Random(tool.key))
    except Exception as error:  # noqa: BLE001 - a bug in one tool's schema costs that tool and is told
        return told_of(error)
    return ""


def told_of(error: Exception) -> str:
    """Return the message of an error that costs a sample or tool; log the traceback of a bug."""
    if isinstance(error, CallwrightError):
        return str(error)
    _LOG.error("a bug in planning", exc_info=error)
    return f"A bug, to be reported: {type(error).__name__}: {error}"


def plan_each(
    order: Order, about: Callable[[int], str], make: Callable[[int], Planned]
) -> Iterator[Planned]:
    """Yield as many drafts as ordered, numbered from 0; failures are reported and skipped.

    `about` names the tool of a number. Raises ConfigurationError if `make` says that the tools
    allow no more.
    """
    lost = 0
    for number in count():
        if number - lost == order.samples or lost > order.samples + _LOST:
            return
        try:
            draft = make(number)
        except ConfigurationError:
            raise
        except Exception as error:  # noqa: BLE001 - a bug costs one sample, and the rest goes on
            order.misses(told_of(error), tool=about(number))
            lost += 1
        else:
            yield draft


Shares = Callable[[Kind, int, Sequence[Language], Sequence[Tool]], Iterator[Share]]
Plan = Callable[[Order], Iterator[Draft] | AsyncIterator[Draft]]


def _by_language(
    _kind: Kind, count: int, languages: Sequence[Language], _tools: Sequence[Tool]
) -> Iterator[Share]:
    for language, share in zip(languages, shared_evenly(count, len(languages)), strict=True):
        yield Share(language, share)


class Family(NamedTuple):
    """A family of samples: its kinds, the stages that make them, and how they are planned.

    `drafts` is the type of what is planned; where a draft does not say its kind, `kind_at` tells it
    by the place. `tool_obstacle` is why samples of an order's kind can't be about a tool, "" where
    they can; None says nothing before a build of kinds that are made of other samples. These need
    no plan, but `obstacles`: why one can't be made of a sample and its tools, "" where it can; an
    obstacle that takes a third argument is given the recipe's environments by name.
    `has_fixed_words` says that some turns come out of a language's folder, so that there are no
    samples in a language without one. `anywhere` are the transforms that take any kind, with the
    group of stages that does each.
    """

    name: str
    kinds: tuple[Kind, ...]
    stages: tuple[Stage, ...]
    drafts: type[Draft] = Derivation
    plan: Plan | None = None
    shares: Shares = _by_language
    kind_at: Callable[[str], str] | None = None
    has_variants: bool = False
    obstacles: Mapping[Transform, Obstacle | WorldObstacle] = {}
    tool_obstacle: ToolObstacle | None = None
    has_fixed_words: bool = False
    anywhere: tuple[tuple[Transform, str], ...] = ()


def problem_of_family(family: Family, others: Sequence[Family]) -> str:
    """Return why a family can't make its samples or be added to others, or "" if it can.

    >>> problem_of_family(Family("own", (Kind("own", "…", "own", Traits()),), stages=()), [])
    "its kind 'own' is made by the group 'own', of which the family has no stages"
    """
    if not family.kinds:
        return "it has no kinds"
    idle = [
        f"its stage {stage.name!r} has no function that is an `async def`"
        for stage in family.stages
        if not inspect.iscoroutinefunction(stage.function)
    ]
    gaps = (gap for kind in family.kinds for gap in _gaps(family, kind))
    return next(iter((*idle, *gaps, *_clashes(family, others))), "")


def _gaps(family: Family, kind: Kind) -> Iterator[str]:
    """Yield what a kind lacks among the stages that make it."""
    group_stages = [stage for stage in family.stages if stage.group == kind.group]
    if not group_stages:
        yield (
            f"its kind {kind.name!r} is made by the group {kind.group!r}, of which the family has"
            " no stages"
        )
    elif group_stages[0].reads != family.drafts.__name__:
        yield (
            f"its stage {group_stages[0].name!r} reads {group_stages[0].reads!r}, and what is"
            f" planned is {family.drafts.__name__!r}"
        )
    elif group_stages[-1].yields != "Sample":
        yield (
            f"its stage {group_stages[-1].name!r} is the last of the group {kind.group!r}, and"
            f" yields {group_stages[-1].yields!r}, no 'Sample'"
        )
    if kind.sources and kind.transform not in family.obstacles:
        yield (
            f"its kind {kind.name!r} is made of other samples by the transform {kind.transform!r},"
            " of which `obstacles` says nothing"
        )
    elif kind.sources and (taken := _count_taken(family, kind.transform)) not in {2, 3}:
        yield (
            f"its obstacle to {kind.transform!r} takes {taken} arguments; give it a sample, its"
            " tools and, where it asks the world, environments"
        )
    elif not kind.sources and family.plan is None:
        yield f"nothing plans its kind {kind.name!r}: give the family a `plan`"


def _count_taken(family: Family, transform: Transform | None) -> int:
    """Return how many arguments the obstacle to a transform takes."""
    return len(inspect.signature(family.obstacles[transform or ""]).parameters)


def _clashes(family: Family, others: Sequence[Family]) -> Iterator[str]:
    """Yield a sentence for each name of the family that is already in use."""
    for other_family in others:
        for taken in {kind.name for kind in family.kinds} & {
            kind.name for kind in other_family.kinds
        }:
            yield (
                f"there is a kind {taken!r} in the family {other_family.name!r}; give it another"
                " name"
            )
        for taken in {one.name for one in family.stages} & {
            one.name for one in other_family.stages
        }:
            yield (
                f"there is a stage {taken!r} in the family {other_family.name!r}; give it another"
                " name"
            )
        for taken in {one.group for one in family.stages} & {
            one.group for one in other_family.stages
        }:
            yield (
                f"there is a group of stages {taken!r} in the family {other_family.name!r}; give it"
                " another name"
            )
    drafts = family.drafts
    known = [getattr(records, drafts.__name__, drafts), *(other.drafts for other in others)]
    if any(one is not drafts and one.__name__ == drafts.__name__ for one in known):
        yield f"another class of drafts is named {drafts.__name__!r}; give it another name"


def shared_evenly(count: int, among: int) -> list[int]:
    """Divide a count into equal parts; the first ones are larger by one if there is a rest."""
    share, rest = divmod(count, max(1, among))
    return [share + (position < rest) for position in range(among)]
