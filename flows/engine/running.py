"""How Prefect carries out a build: a task per shard, retries, shared limits, and displays."""

import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from prefect import get_run_logger
from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact
from prefect.runtime import flow_run
from prefect.states import Failed

from callwright.flows.api.evaluating import Evaluation
from callwright.flows.pages.report import write_report
from callwright.flows.progress import LiveProgress, Progress, SilentProgress
from callwright.flows.review.pulling import Pulled
from callwright.flows.review.pushing import Pushed
from callwright.flows.run.land import BuildReport
from callwright.flows.scheduled_runs import RunReport
from callwright.flows.settings import Settings, open_warehouse
from callwright.warehouse.errors import CallwrightError
from callwright.warehouse.records import Release
from callwright.warehouse.releases import MadeRelease, count_kinds
from callwright.warehouse.rows import Row

Result = TypeVar("Result")
Given = ParamSpec("Given")
_listener: ContextVar[Progress | None] = ContextVar("listener", default=None)
_ending: ContextVar[Any] = ContextVar("ending", default=None)  # what `signal.getsignal` gives


@contextmanager
def run_by_the_command_line(progress: Progress) -> Iterator[None]:
    """Pass the messages of flows that run in here to `progress`, besides their logs.

    SIGTERM ends the flows as it ends the command.
    """
    tokens = _listener.set(progress), _ending.set(signal.getsignal(signal.SIGTERM))
    try:
        yield
    finally:
        _listener.reset(tokens[0])
        _ending.reset(tokens[1])


class FlowProgress:
    """Progress of a flow, in its log and for the command that started it."""

    def __init__(self) -> None:
        """Start without any progress."""
        self.title, self.total, self.done = "", 0, 0
        self._also: Progress = _listener.get() or SilentProgress()

    def say(self, sentence: str) -> None:
        """Report one event worth a line."""
        get_run_logger().info("%s", sentence)
        self._also.say(sentence)

    @property
    def is_live(self) -> bool:
        """Whether the command that started the flow shows live progress."""
        return isinstance(self._also, LiveProgress) and self._also.is_live

    def show(self, state: str) -> None:
        """Show what is running now to the command that started the flow; the log has sentences."""
        if isinstance(self._also, LiveProgress):
            self._also.show(state)

    def note(self, sentence: str) -> None:
        """Write a line to the log only; the command that started the flow reports it otherwise."""
        get_run_logger().info("%s", sentence)

    def begin(self, title: str, total: int) -> None:
        """Report the start of a phase."""
        self.title, self.total, self.done = title, total, 0
        get_run_logger().info("%s: %d to do", title, total)
        self._also.begin(title, total)

    def advance(self, count: int) -> None:
        """Report that `count` more are done; the log shows tasks instead."""
        self.done += count
        self._also.advance(count)


async def _sentence_of(error: CallwrightError) -> str:
    return str(error)


def explained(
    work: Callable[Given, Awaitable[Result]],
    told: Callable[[CallwrightError], Awaitable[str]] = _sentence_of,
) -> Callable[Given, Coroutine[Any, Any, Result]]:
    """Wrap a flow's or task's work so that a known error becomes a Failed state.

    `told` gives its sentence. Prefect raises the error itself in the caller of the flow, so no
    caller sees the state.
    """

    @wraps(work)
    async def explaining(*given: Given.args, **named: Given.kwargs) -> Result:
        # each flow takes SIGTERM for itself, and raises where it finds the event loop
        if _ending.get() is not None:
            signal.signal(signal.SIGTERM, _ending.get())
        try:
            return await work(*given, **named)
        except CallwrightError as error:
            return cast("Result", Failed(message=await told(error), data=error))

    return explaining


def run_name() -> str:
    """Return the name of a flow's run, made from its parameters."""
    run_parameters = {name: value for name, value in flow_run.parameters.items() if value}
    about = run_parameters.pop("release", "") or Path(str(run_parameters.pop("recipe", ""))).stem
    extras = [" and ".join(run_parameters["kinds"])] if "kinds" in run_parameters else []
    extras += [f"run {run_parameters['run']}"] if run_parameters.get("run", 1) != 1 else []
    extras += [f"at most {run_parameters['limit']} a kind"] if "limit" in run_parameters else []
    extras += [str(run_parameters["model"])] if "model" in run_parameters else []
    return ", ".join([about or "all recipes", *extras])


async def show_build(report: BuildReport, review: str, database: Path) -> None:
    """Show each stage's funnel, the results by kind, the cost, and where to look at the samples."""
    remarks = "".join(f" {remark}" for remark in report.remarks)
    await acreate_table_artifact(
        table=[row._asdict() for row in report.worked],
        key=_key("funnel", report.recipe),
        description=(
            f"{report.sentence} At each stage, entered = passed + rejected + failed +"
            f" waiting.{remarks}"
        ),
    )
    kinds = _markdown(
        [row._asdict() for row in report.composition],
        ("kind", "asked", "landed", "proved", "judged", "waiting"),
    )
    spent = _markdown([report.spending._asdict()] if report.spending else [])
    people = f"What waits for people is at [{review}]({review}).\n" if review else ""
    await acreate_markdown_artifact(
        key=_key("build", report.recipe),
        markdown=(
            f"## Kinds\n\n{kinds}\n\n## Spent\n\n{spent or 'Nothing.'}\n\n{people}\n`callwright"
            f" view` opens the build's page (`/builds/{report.build}`); its warehouse is"
            f" `{database}`.\n"
        ),
        description=report.sentence,
    )


def tell_stages(report: BuildReport, progress: "FlowProgress") -> None:
    """Write a line to the log for each stage that had something to do."""
    for row in report.worked:
        ended = ((name, getattr(row, name)) for name in ("rejected", "failed", "waiting"))
        rest = "".join(f", {count} {name}" for name, count in ended if count)
        progress.note(
            f"{row.stage}: {row.entered - row.not_applicable} in, {row.passed - row.not_applicable}"
            f" passed{rest}{f', {row.personal_data} personal values' if row.personal_data else ''}"
        )


async def show_result(found: object, settings: Settings) -> None:
    """Show a run's result: a release by kind, evaluation scores, or what was pushed or pulled."""
    match found:
        case Release() | MadeRelease():
            shown_release = found if isinstance(found, Release) else found.release
            counts = count_kinds(open_warehouse(settings), shown_release.name)
            kinds = _markdown([{"kind": kind, "samples": count} for kind, count in counts.items()])
            sentence = (
                f"{shown_release.name}: version {shown_release.version}, {shown_release.samples}"
                f" samples, content hash {shown_release.content_hash}"
            )
            await acreate_markdown_artifact(
                key=_key("release", shown_release.name),
                markdown=f"# {sentence}\n\n{kinds}\n",
                description=sentence,
            )
        case Evaluation():
            report = write_report(open_warehouse(settings), settings.home / "report.html")
            await show_scores(found.release, found.leaderboard, report)
        case Pushed(created=created, already_there=there, url=url):
            sentence = f"{created} tasks pushed, {there} were there already"
            await acreate_markdown_artifact(
                key="push", markdown=f"{sentence}: [{url}]({url})\n", description=sentence
            )
        case Pulled():
            await show_reviews(
                {name: count for name, count in found._asdict().items() if name != "problems"},
                found.problems,
            )


async def show_scores(release: str, board: Iterable[Row], report: Path) -> None:
    """Show how candidates scored on a release, and where the report with its plots is."""
    lines = _markdown(
        [{name: value for name, value in row.items() if name != "release"} for row in board]
    )
    # A path and no link: browsers follow none from a served page to a file.
    await acreate_markdown_artifact(
        key=_key("scores", release),
        markdown=(
            f"# Scores on {release}\n\n{lines}\n\nThe report with its plots opens from the file"
            f" `{report}`.\n"
        ),
        description=f"HammerBench's metrics on the release `{release}`, as fractions.",
    )


async def show_run(report: RunReport) -> None:
    """Show what a run of a schedule made and what is new since the run before."""
    first, *others = report.sentences
    await acreate_markdown_artifact(
        key=_key("run", report.recipe),
        markdown="\n".join([f"# {first}", "", *(f"- {sentence}" for sentence in others), ""]),
        description=first,
    )


_PULLED = {
    "reviews": "new reviews",
    "returned": "edits that can't be used, back with people",
    "contradicted": "edits that wait for a second person",
    "withdrawn": "earlier reviews that count no more",
    "deleted": "tasks that were deleted",
    "elsewhere": "annotations that another work folder asked for",
    "resumed": "edits checked that an earlier pull had left",
    "before": "accepted samples before",
    "now": "accepted samples now",
    "pushed": "further tasks pushed",
}


async def show_reviews(counts: Mapping[str, int], problems: Sequence[str]) -> None:
    """Show reviewers' decisions since the last pull by count, and the problems found."""
    lines = "".join(f"\n| {_PULLED.get(name, name)} | {count} |" for name, count in counts.items())
    listed = "".join(f"\n- {problem}" for problem in problems)
    decided = ", ".join(f"{counts[name]} {name}" for name in ("accepted", "edited", "rejected"))
    await acreate_markdown_artifact(
        key="reviews",
        markdown=f"| since the last pull | |\n|---|---:|{lines}\n{listed}",
        description=f"{counts['reviews']} new reviews: {decided}.",
    )


def _markdown(rows: Sequence[Mapping[str, object]], columns: Sequence[str] = ()) -> str:
    """Return rows as a Markdown table, "" if there are none; of `columns`, those that exist."""
    if not rows:
        return ""
    shown = [name for name in columns or rows[0] if name in rows[0]]
    values = ([row[name] for name in shown] for row in rows)
    cells = (
        [str(round(one, 4) if isinstance(one, float) else one) for one in row] for row in values
    )
    return "\n".join(f"| {' | '.join(line)} |" for line in (shown, ["---"] * len(shown), *cells))


def _key(kind: str, name: str) -> str:
    """Return an artifact's key; Prefect allows lower-case letters, digits and dashes."""
    words = "".join(
        sign if sign.isalnum() and sign.isascii() else " " for sign in name.lower()
    ).split()
    return "-".join([kind, *words])
