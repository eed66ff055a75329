"""What Prefect's pages show of the results: tables, progress, and where to read more."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from uuid import UUID

from prefect.artifacts import (
    acreate_markdown_artifact,
    acreate_progress_artifact,
    acreate_table_artifact,
    aupdate_progress_artifact,
)

from flows.build import BuildReport
from flows.engine.telling import FlowProgress
from warehouse.rows import Row

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
