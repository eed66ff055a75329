"""What a build reports while it runs: messages in sentences, progress in counts, and what slow models are asked meanwhile."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, runtime_checkable

from callwright.llm.limits import Absence, Traffic

if TYPE_CHECKING:
    from callwright.llm.models import ModelSettings

# Seconds until the first sentence on models' requests, between two, and where it is live.
FIRST_WORD, BETWEEN, LIVE = 10.0, 30.0, 0.5
LOOK, BRIEF = 1.0, 3.0  # seconds between two looks at what is away; a shorter absence is not worth a sentence
_MINUTE = 60


class Progress(Protocol):
    """Receives what a build reports: the command line, Prefect's log, or nobody."""

    def say(self, sentence: str) -> None:
        """One event worth a line."""
        ...

    def begin(self, title: str, total: int) -> None:
        """A stretch of work with `total` items begins."""
        ...

    def advance(self, count: int) -> None:
        """So many more items of the present stretch are done."""
        ...


@runtime_checkable
class LiveProgress(Protocol):
    """A progress that has one place for what is under way, where the newest state stands in place of the one before."""

    @property
    def is_live(self) -> bool:
        """Whether somebody sees it change."""
        ...

    def show(self, state: str) -> None:
        """What is under way by now, "" for nothing."""
        ...


class SilentProgress:
    """Reports nothing."""

    def say(self, sentence: str) -> None:
        """Say nothing."""

    def begin(self, title: str, total: int) -> None:
        """Say nothing."""

    def advance(self, count: int) -> None:
        """Say nothing."""


_LARGE, _STEP = 1_000, 100  # items: fewer are done before anybody asks how far they are
_Item = TypeVar("_Item")


def counted(items: Iterable[_Item], title: str, total: int, progress: Progress) -> Iterator[_Item]:
    """The items as they come, with how far they are where there are many."""
    if total < _LARGE:
        yield from items
        return
    progress.begin(title, total)
    for number, item in enumerate(items, 1):
        yield item
        if number % _STEP == 0 or number == total:
            progress.advance(number % _STEP or _STEP)


class Work(NamedTuple):
    """What a run has to do: `records`, each with about `calls` requests to models, so many at once."""

    title: str
    records: int
    calls: float
    concurrency: int


@asynccontextmanager
async def watch_traffic(traffic: Traffic | None, progress: Progress, work: Work) -> AsyncIterator[None]:
    """While models answer, show what they are asked, or tell it where nobody looks: after 10 s, and then every half minute."""
    if traffic is None:
        yield
        return
    live = progress if isinstance(progress, LiveProgress) and progress.is_live else None
    told = _show(traffic, live) if live else _tell(traffic, progress, work, traffic.sent, traffic.answered)
    watching = asyncio.create_task(told)
    try:
        yield
    finally:
        watching.cancel()
        if live:
            live.show("")


async def _show(traffic: Traffic, live: LiveProgress) -> None:
    while True:
        await asyncio.sleep(LIVE)
        if traffic.under_way or traffic.absences:
            live.show(traffic_state(traffic))


async def _tell(traffic: Traffic, progress: Progress, work: Work, sent: int, answered: int) -> None:
    """`sent` and `answered` were counted before this work began."""
    due, away = time.monotonic() + FIRST_WORD, dict[str, Absence]()
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
                traffic_sentence(traffic, work, sent=traffic.sent - sent, answered=traffic.answered - answered)
            )


def absence_sentence(model: str, absence: Absence) -> str:
    """Which model is waited for, since when, until when, and why."""
    since, until = (time.strftime("%H:%M:%S", time.localtime(moment)) for moment in (absence.since, absence.until))
    return f"Waiting for {model} since {since}, until {until} at the latest: {absence.reason}"


def traffic_state(traffic: Traffic) -> str:
    """What models are asked by now, in a line: answered, waiting, how long an answer takes, cost, and who was asked last.

    While a model is away, the line says which one, since when, until when, and why.
    """
    if traffic.absences:
        return " ".join(absence_sentence(*one) for one in traffic.absences.items())
    seconds = traffic.slowest.seconds_an_answer
    pace = f"{seconds:.1f} s an answer" if traffic.slowest.answered else f"none within {seconds:.0f} s"
    lost = f", {traffic.failed} tries failed" if traffic.failed else ""
    return f"{traffic.answered:,} answered, {traffic.under_way} waiting, {pace}{lost}, ${traffic.cost:,.4f}: {traffic.last}"


def traffic_sentence(traffic: Traffic, work: Work, *, sent: int, answered: int) -> str:
    """What was asked of models and what came back, how long an answer takes, and how long the rest will at this pace.

    The pace is that of the slowest model.
    """
    slowest = traffic.slowest
    seconds, left = slowest.seconds_an_answer, work.records * work.calls - answered
    pace = f"{seconds:.1f} s an answer" if slowest.answered else f"none within {seconds:.0f} s"
    lost = f", {traffic.failed} tries failed" if traffic.failed else ""
    is_known = answered and slowest.answered and left > 0
    to_go = left * seconds / max(1, min(work.concurrency, slowest.under_way)) if is_known else 0.0
    rest = f"; at most {duration(to_go)} to go at this pace" if is_known else ""
    return f"{work.title}: {sent} asked, {answered} answered ({pace}{lost}), now {traffic.last}{rest}."


def duration(seconds: float) -> str:
    """Seconds as a person says them: '40 s', '3 min', '2 h 5 min'."""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    minutes = round(seconds / _MINUTE)
    hours, rest = divmod(minutes, _MINUTE)
    return f"{minutes} min" if not hours else f"{hours} h {rest} min" if rest else f"{hours} h"


def tell_models(models: "Iterable[tuple[str, ModelSettings]]", progress: Progress) -> None:
    """Say which of the models that roles have work across a wire, by which of our ways their requests go, and who reads itself."""
    across = {role: model for role, model in models if model.path != "in process"}
    if across:
        progress.say(f"Models: {', '.join(f'{role} {one.name} ({one.path})' for role, one in across.items())}.")
    readers = {model.name for role, model in across.items() if role not in ("generator", "assistant")}
    if "generator" in across and readers == {across["generator"].name}:
        progress.say(
            "One model has all roles, and none may settle what its own words mean: all of them will wait for people. "
            "Give the checker or the judge another model."
        )


def tell_bugs(progress: Progress, title: str, count: int, first: str) -> None:
    """Say how many records met a bug, and which the first one is."""
    if count:
        line = first.partition("\n")[0]
        progress.say(
            f"{title}: {count} records met a bug and failed, the first: {line}. See `from failures` for tracebacks."
        )
