"""What a build reports while it runs: messages, progress counts, and requests to slow models."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, runtime_checkable

from callwright.warehouse.counts import count_of

if TYPE_CHECKING:  # what is asked of models is imported by who asks them, not by every command
    from callwright.llm.limits import Absence, Traffic
    from callwright.llm.models import ModelSettings

# Seconds until the first sentence on models' requests, between two, and where it is live.
FIRST_WORD, BETWEEN, LIVE = 10.0, 30.0, 0.5
# seconds between two looks at what is away; a shorter absence is not worth a sentence
LOOK, BRIEF = (1.0, 3.0)
_MINUTE = 60


class Progress(Protocol):
    """Receives the progress of a build, for the command line, Prefect's log, or nobody."""

    def say(self, sentence: str) -> None:
        """Report one event worth a line."""
        ...

    def begin(self, title: str, total: int) -> None:
        """Report the start of a phase with `total` items."""
        ...

    def advance(self, count: int) -> None:
        """Report that `count` more items of the current phase are done."""
        ...


@runtime_checkable
class LiveProgress(Protocol):
    """A progress with one place for the current state, which each new state replaces."""

    @property
    def is_live(self) -> bool:
        """Whether somebody sees it change."""
        ...

    def show(self, state: str) -> None:
        """Show what is running now, "" for nothing."""
        ...


class Phase(NamedTuple):
    """A part of a build: work named `title` makes `samples`, with `variants` of each item."""

    title: str
    samples: int = 0
    variants: int = 1


@runtime_checkable
class PhasedProgress(Protocol):
    """A progress that shows the total over several phases."""

    def plan(self, title: str, phases: Sequence[Phase]) -> None:
        """Start work in these phases; each `begin` has the title of its phase."""
        ...


class PhaseCount:
    """Counts the samples done in total, from the progress of the current phase.

    >>> count = PhaseCount([Phase("requests", 40), Phase("dialogues", 10)])
    >>> count.begin("requests", 40); count.advance(30); count.done
    30
    >>> count.begin("dialogues", 10); count.done, [one.title for one in count.to_come]
    (40, [])
    """

    def __init__(self, phases: Sequence[Phase]) -> None:
        """Start with nothing done."""
        self.phases = tuple(phases)
        self.total = sum(one.samples for one in phases)
        # never less than before: what is planned in place of others is part of what was asked for
        self.done = 0
        self._at = -1
        self._left = 0

    @property
    def number(self) -> int:
        """The number of the current phase, counted from 1; 0 before the first."""
        return self._at + 1

    @property
    def to_come(self) -> tuple[Phase, ...]:
        """The phases after the current one."""
        return self.phases[self._at + 1 :]

    def begin(self, title: str, items: int) -> None:
        """Begin a stretch of `items`; samples that its phase lacks by then count as done."""
        here = max(self._at, 0)
        later = (at for at, one in enumerate(self.phases[here:], here) if one.title == title)
        self._at = next(later, self._at)
        self._left = items
        self._count()

    def advance(self, items: int) -> None:
        """Count `items` more of the current phase as done."""
        self._left -= items
        self._count()

    def _count(self) -> None:
        if self._at >= 0:
            phase = self.phases[self._at]
            before = sum(one.samples for one in self.phases[: self._at])
            left = min(phase.samples, max(0, self._left) * phase.variants)
            self.done = max(self.done, before + phase.samples - left)


class SilentProgress:
    """Reports nothing."""

    def say(self, sentence: str) -> None:
        """Do nothing."""

    def begin(self, title: str, total: int) -> None:
        """Do nothing."""

    def advance(self, count: int) -> None:
        """Do nothing."""


_LARGE, _STEP = 1_000, 100  # items: fewer are done before anybody asks how far they are
_Item = TypeVar("_Item")


def counted(items: Iterable[_Item], title: str, total: int, progress: Progress) -> Iterator[_Item]:
    """Yield the items as they come, and report progress if there are many."""
    if total < _LARGE:
        yield from items
        return
    progress.begin(title, total)
    for number, item in enumerate(items, 1):
        yield item
        if number % _STEP == 0 or number == total:
            progress.advance(number % _STEP or _STEP)


class Work(NamedTuple):
    """What a run has to do: `records`, with about `calls` requests each, `concurrency` at once."""

    title: str
    records: int
    calls: float
    concurrency: int


@asynccontextmanager
async def watch_traffic(
    traffic: "Traffic | None", progress: Progress, work: Work
) -> AsyncIterator[None]:
    """Show the requests while models answer, or without a display say them now and then.

    They are said after 10 s, and then every 30 s.
    """
    if traffic is None:
        yield
        return
    live = progress if isinstance(progress, LiveProgress) and progress.is_live else None
    if live:
        shown_traffic = _show(traffic, live)
    else:
        shown_traffic = _tell(traffic, progress, work, traffic.sent, traffic.answered)
    watching = asyncio.create_task(shown_traffic)
    try:
        yield
    finally:
        watching.cancel()
        if live:
            live.show("")


async def _show(traffic: "Traffic", live: LiveProgress) -> None:
    while True:
        await asyncio.sleep(LIVE)
        if traffic.under_way or traffic.absences:
            live.show(traffic_state(traffic))


async def _tell(
    traffic: "Traffic", progress: Progress, work: Work, sent: int, answered: int
) -> None:
    """Report the traffic; `sent` and `answered` were counted before this work began."""
    due, away = time.monotonic() + FIRST_WORD, dict[str, object]()
    while True:
        await asyncio.sleep(min(FIRST_WORD, LOOK))
        for model, absence in {**traffic.absences}.items():
            if away.get(model) != absence and time.time() - absence.since >= BRIEF:
                away[model] = absence
                progress.say(absence_sentence(model, absence))
        for model in away.keys() - traffic.absences.keys():
            del away[model]
            progress.say(f"{model} answers again.")
        if time.monotonic() >= due and traffic.sent > sent and not away:
            due = time.monotonic() + BETWEEN
            progress.say(
                traffic_sentence(
                    traffic, work, sent=traffic.sent - sent, answered=traffic.answered - answered
                )
            )


def absence_sentence(model: str, absence: "Absence") -> str:
    """Return a sentence on which model is waited for, since when, until when, and why."""
    since, until = (
        time.strftime("%H:%M:%S", time.localtime(moment))
        for moment in (absence.since, absence.until)
    )
    return f"Waiting for {model} since {since}, until {until} at the latest: {absence.reason}"


def traffic_state(traffic: "Traffic") -> str:
    """Return one line on the requests: counts, seconds per answer, tokens, cost, last stage.

    It also names the last model. While a model is unavailable, the line says which one, since
    when, until when, and why.
    """
    if traffic.absences:
        return " ".join(absence_sentence(*one) for one in traffic.absences.items())
    seconds = traffic.slowest.seconds_an_answer
    pace = (
        f"{seconds:.1f} s an answer" if traffic.slowest.answered else f"none within {seconds:.0f} s"
    )
    lost = f", {count_of(traffic.failed, 'try', 'tries')} failed" if traffic.failed else ""
    cost = f"{traffic.tokens:,} tokens, ${traffic.cost:,.4f}"
    return (
        f"{traffic.answered:,} answered, {traffic.under_way} waiting, {pace}{lost}, {cost}:"
        f" {traffic.last}"
    )


def traffic_sentence(traffic: "Traffic", work: Work, *, sent: int, answered: int) -> str:
    """Return requests and answers, seconds per answer, and time left at the slowest model."""
    slowest = traffic.slowest
    seconds, left = slowest.seconds_an_answer, work.records * work.calls - answered
    pace = f"{seconds:.1f} s an answer" if slowest.answered else f"none within {seconds:.0f} s"
    lost = f", {count_of(traffic.failed, 'try', 'tries')} failed" if traffic.failed else ""
    is_known = answered and slowest.answered and left > 0
    to_go = left * seconds / max(1, min(work.concurrency, slowest.under_way)) if is_known else 0.0
    rest = f"; at most {duration(to_go)} to go at this pace" if is_known else ""
    return (
        f"{work.title}: {sent} asked, {answered} answered ({pace}{lost}), now {traffic.last}{rest}."
    )


def duration(seconds: float) -> str:
    """Return seconds as a person says them: '40 s', '3 min', '2 h 5 min'."""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    minutes = round(seconds / _MINUTE)
    hours, rest = divmod(minutes, _MINUTE)
    return f"{minutes} min" if not hours else f"{hours} h {rest} min" if rest else f"{hours} h"


def tell_models(models: "Iterable[tuple[str, ModelSettings]]", progress: Progress) -> None:
    """Say which roles' models are remote, their transport, and who reads its own words."""
    roles = [*models]
    across = {role: model for role, model in roles if model.path != "in process"}
    if across:
        progress.say(
            "Models:"
            f" {', '.join(f'{role} {one.name} ({one.path})' for role, one in across.items())}."
        )
    for sentence in told_of_own_reader(roles):
        progress.say(sentence)


def told_of_own_reader(models: "Iterable[tuple[str, ModelSettings]]") -> Iterator[str]:
    """Yield a warning if the model that words the samples also reads them."""
    from callwright.llm.models import reads_language  # late: it takes time to import

    names = {role: model.name for role, model in models if reads_language(model.name)}
    if "generator" in names and names.get("checker") == names["generator"]:
        yield (
            f"{names['generator']} words the samples and reads them. A model may not judge what it"
            " wrote itself, so all samples will wait for reviewers. Set the checker to another"
            " model."
        )


def tell_bugs(progress: Progress, title: str, count: int, first: str) -> None:
    """Report how many records met a bug, with the first one."""
    if count:
        line = first.partition("\n")[0]
        progress.say(
            f"{title}: {count_of(count, 'record')} failed because of a bug. The first:"
            f' {line.rstrip(".")}. Tracebacks: callwright query "from failures"'
        )
