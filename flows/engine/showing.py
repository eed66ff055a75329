"""What a flow reports: messages in its log and to whoever started it here, errors as one sentence."""

from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar, cast
from uuid import UUID

from prefect import get_run_logger
from prefect.artifacts import (
    acreate_markdown_artifact,
    acreate_progress_artifact,
    acreate_table_artifact,
    aupdate_progress_artifact,
)
from prefect.runtime import flow_run
from prefect.states import Failed

from flows.build import BuildReport
from flows.progress import Progress, SilentProgress
from warehouse.errors import CallwrightError
from warehouse.rows import Row

Result = TypeVar("Result")
_listener: ContextVar[Progress | None] = ContextVar("listener", default=None)


@contextmanager
def reporting_to(progress: Progress) -> Iterator[None]:
    """Let `progress` hear what the flows that are run in here tell, besides their logs."""
    token = _listener.set(progress)
    try:
        yield
    finally:
        _listener.reset(token)


class FlowProgress:
    """Progress of a flow, in its log and to whoever started it here."""

    def __init__(self) -> None:
        """Nothing is under way."""
        self.title, self.total, self.done = "", 0, 0
        self._also: Progress = _listener.get() or SilentProgress()

    def say(self, sentence: str) -> None:
        """One event worth a line."""
        get_run_logger().info("%s", sentence)
        self._also.say(sentence)

    def begin(self, title: str, total: int) -> None:
        """A stretch of work begins."""
        self.title, self.total, self.done = title, total, 0
        get_run_logger().info("%s: %d to do", title, total)
        self._also.begin(title, total)

    def advance(self, count: int) -> None:
        """So many more are done; the log has the tasks for that."""
        self.done += count
        self._also.advance(count)


async def explained(work: Awaitable[Result]) -> Result:
    """The result of a flow's work; what callwright can explain becomes a Failed state of that one sentence.

    Prefect raises the error itself at whoever called the flow, so no caller meets the state.
    """
    try:
        return await work
    except CallwrightError as error:
        return cast("Result", Failed(message=str(error), data=error))


def run_name() -> str:
    """The name of a flow's run: what it is about, by its parameters."""
    given = {name: value for name, value in flow_run.parameters.items() if value}
    about = given.pop("release", "") or Path(str(given.pop("recipe", ""))).stem
    extras = [" and ".join(given["kinds"])] if "kinds" in given else []
    extras += [f"at most {given['limit']} a kind"] if "limit" in given else []
    extras += [str(given["model"])] if "model" in given else []
    return ", ".join([about or "all recipes", *extras])


_ALL = 100.0


class ProgressArtifact:
    """How far a group is, as a bar on its flow run's page."""

    def __init__(self, progress: FlowProgress) -> None:
        """Show the progress that `progress` hears of."""
        self._progress = progress
        self._bar: UUID | None = None
        self._done = 0

    async def show(self, count: int) -> None:
        """So many more records are done."""
        self._done += count
        share = _ALL * self._done / max(1, self._progress.total)
        text = f"{self._progress.title}: {self._done} of {self._progress.total} records"
        if self._bar is None:
            self._bar = await acreate_progress_artifact(share, description=text)
        else:
            await aupdate_progress_artifact(self._bar, share, description=text)


async def show_funnel(report: BuildReport) -> None:
    """Show what each stage did with what came to it."""
    await acreate_table_artifact(
        table=[row._asdict() for row in report.funnel],
        key=_key("funnel", report.recipe),
        description=(
            f"**{report.landed} of {report.planned}** planned samples of `{report.recipe}` have landed "
            f"(build `{report.build}`). At each stage, entered = passed + rejected + failed + waiting."
        ),
    )


async def show_scores(release: str, board: Iterable[Row], report: Path) -> None:
    """Show how candidates scored on a release, and where the report with its plots lies."""
    rows = [{name: _plain(value) for name, value in row.items() if name != "release"} for row in board]
    columns = list(rows[0]) if rows else []
    table = [columns, ["---"] * len(columns), *([str(row[name]) for name in columns] for row in rows)]
    lines = "\n".join(f"| {' | '.join(cells)} |" for cells in table)
    # A path and no link: browsers follow none from a served page to a file.
    await acreate_markdown_artifact(
        key=_key("scores", release),
        markdown=f"# Scores on {release}\n\n{lines}\n\nThe report with its plots opens from the file `{report}`.\n",
        description=f"HammerBench's metrics on the release `{release}`, as fractions.",
    )


async def show_reviews(counts: Mapping[str, int], problems: Sequence[str]) -> None:
    """Show what people decided since the last pull, and what of it does not fit."""
    lines = "".join(f"\n| {name} | {count} |" for name, count in counts.items())
    listed = "".join(f"\n- {problem}" for problem in problems)
    await acreate_markdown_artifact(
        key="reviews",
        markdown=f"| since the last pull | samples |\n|---|---:|{lines}\n{listed}",
        description=f"{counts['reviews']} new reviews.",
    )


def _plain(value: object) -> object:
    return round(value, 4) if isinstance(value, float) else value


def _key(kind: str, name: str) -> str:
    """An artifact's key: Prefect allows lower-case letters, digits and dashes."""
    words = "".join(sign if sign.isalnum() and sign.isascii() else " " for sign in name.lower()).split()
    return "-".join([kind, *words])
