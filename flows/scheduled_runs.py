"""The runs of a recipe's schedule: what each makes beside the runs before it, tells and releases.

The command `grow` and Prefect's flow of that name carry runs out by the same functions.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime
from itertools import groupby, takewhile
from operator import itemgetter
from typing import NamedTuple

import orjson
from pydantic import TypeAdapter

from callwright.flows.recipe import Recipe
from callwright.flows.refreshed_tools import (
    ToolDifference,
    compare_tools,
    refresh_tools,
    told_of_differences,
)
from callwright.flows.run.land import BuildReport
from callwright.flows.settings import Settings, open_warehouse
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Release, Tool
from callwright.warehouse.releases import Selection, Terms, make_release, read_tools, release_named
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

_DIFFERENCES = TypeAdapter(tuple[ToolDifference, ...])
_BEGINNING = datetime.min.replace(year=1970, tzinfo=UTC)


class ScheduledRun(NamedTuple):
    """A run of a schedule: its number, from 1, the time it is for, and what became of it.

    `ended_at` is None while it has not ended, `build` is "" until then. `release` is the name of
    the release that was made up to it, "" for none; `evaluated_at` is None if candidates were not
    evaluated on it.
    """

    recipe: str
    run: int
    due_at: datetime
    began_at: datetime
    ended_at: datetime | None = None
    build: str = ""
    tool_changes: tuple[ToolDifference, ...] = ()
    release: str = ""
    evaluated_at: datetime | None = None


class RunReport(NamedTuple):
    """What a run of a schedule made, and what is new since the run before it.

    The build landed `landed` samples; `waiting`, `rejected` and `failed` ones did not land. The
    recipe has `accepted` samples by now: `accepted_since` the run before, also by people, who have
    answered `reviewed_since` questions; `withdrawn_since` were taken back. `stale` ones of earlier
    runs call tools that are gone or have another schema. A run that `is_repeated` found nothing
    changed and made nothing.
    """

    recipe: str
    run: int
    due_at: datetime
    build: str
    landed: int
    waiting: int
    rejected: int
    failed: int
    calls: int
    cost: float
    accepted: int
    accepted_since: int
    reviewed_since: int
    withdrawn_since: int
    tool_changes: tuple[ToolDifference, ...]
    stale: int
    is_repeated: bool

    @property
    def sentences(self) -> list[str]:
        """What is new, as sentences."""
        if self.is_repeated:
            first = "nothing has changed, so nothing was made."
        else:
            first = (
                f"{count_of(self.landed, 'new sample')} accepted, {self.waiting} waiting for"
                f" reviewers, {self.rejected} rejected, {self.failed} failed;"
                f" {count_of(self.calls, 'call')} for ${self.cost:.4f}."
            )
        lines = [f"{self.recipe}, run {self.run} ({self.due_at:%Y-%m-%d %H:%M}): {first}"]
        reviewed = count_of(self.reviewed_since, "question was", "questions were")
        lines.append(
            f"Since the run before, {reviewed} answered and"
            f" {count_of(self.withdrawn_since, 'sample')} withdrawn. The recipe has"
            f" {count_of(self.accepted, 'accepted sample')}, {self.accepted_since} of them new."
        )
        lines += told_of_differences(self.tool_changes)
        if self.stale:
            lines.append(
                f"{count_of(self.stale, 'accepted sample calls', 'accepted samples call')} tools"
                " that are gone or have another schema by now. Releases still take them."
            )
        return lines


async def carry_out(
    recipe: Recipe,
    due_at: datetime,
    settings: Settings,
    build: Callable[[int], Awaitable[BuildReport]],
) -> AsyncIterator[RunReport]:
    """Carry out the run of a recipe that is due, after earlier ones that have not ended.

    `build` builds a run by its number. A run that has ended is not carried out again. Raises what
    `build` raises: the run goes on from there next time. Raises ConfigurationError if the recipe
    does not say what each run does.
    """
    each = recipe.schedule.each if recipe.schedule else None
    if each is None:
        raise ConfigurationError(
            f"The schedule of the recipe {recipe.name!r} does not say what each run does. Add it,"
            ' such as `schedule: {cron: "0 3 * * *", each: {grow: 200}}`.'
        )
    for run in _runs_to_do(open_warehouse(settings), recipe.name, due_at):
        if each.tools == "refresh":
            await refresh_tools(recipe, settings)
        report = await build(run.run)
        yield _end(open_warehouse(settings), run, report.build)


def _runs_to_do(warehouse: Warehouse, recipe: str, due_at: datetime) -> list[ScheduledRun]:
    """Return the runs that have not ended, in order; the one that is due is begun if it is new."""
    runs = runs_of(warehouse, recipe)
    if all(run.due_at != due_at for run in runs):
        new = ScheduledRun(recipe, len(runs) + 1, due_at, datetime.now(UTC))
        _keep(warehouse, new)
        runs.append(new)
    return [run for run in runs if run.ended_at is None]


def _end(warehouse: Warehouse, run: ScheduledRun, build: str) -> RunReport:
    """Write down that a run has ended, and return what is new since the one before."""
    earlier = [one for one in runs_of(warehouse, run.recipe) if one.run < run.run]
    differences: list[ToolDifference] = []
    if earlier:
        differences = compare_tools(
            *(_tools_of(warehouse, key) for key in (earlier[-1].build, build))
        )
    ended = run._replace(ended_at=datetime.now(UTC), build=build, tool_changes=tuple(differences))
    _keep(warehouse, ended)
    return report_run(warehouse, ended, earlier[-1].ended_at if earlier else None)


def report_run(warehouse: Warehouse, run: ScheduledRun, since: datetime | None) -> RunReport:
    """Return what a run that has ended made, and what is new `since` the end of the one before."""
    [row] = [one for one in figures_of(warehouse, run.recipe) if one["run"] == run.run]
    [new] = warehouse.rows(sql("scheduled_runs.since"), [run.recipe, since or _BEGINNING])
    wrong = [one for one in run.tool_changes if one.difference in {"gone", "schema"}]
    tools = [f"{one.language} {one.tool}" for one in wrong]
    [stale] = warehouse.rows(sql("scheduled_runs.stale"), [run.recipe, run.build, tools])
    counts = {name: 0 if row["is_repeated"] else row[name] for name in _MADE}
    return RunReport(
        recipe=run.recipe,
        run=run.run,
        due_at=run.due_at,
        build=run.build,
        tool_changes=run.tool_changes,
        stale=stale["samples"],
        is_repeated=row["is_repeated"],
        **counts,
        **new,
    )


_MADE = ("landed", "waiting", "rejected", "failed", "calls", "cost")


def figures_of(warehouse: Warehouse, recipe: str = "") -> list[Row]:
    """Return what the runs of a recipe, or of all recipes, have made, a row a run."""
    return warehouse.rows(sql("scheduled_runs.figures"), [recipe])


def runs_of(warehouse: Warehouse, recipe: str) -> list[ScheduledRun]:
    """Return the runs of a recipe's schedule, in order."""
    return [_read(row) for row in warehouse.rows(sql("scheduled_runs.runs"), [recipe])]


def _read(row: Row) -> ScheduledRun:
    changes = _DIFFERENCES.validate_json(row["tool_changes"])
    return ScheduledRun(**row | {"tool_changes": changes})


def _keep(warehouse: Warehouse, run: ScheduledRun) -> None:
    changes = orjson.dumps(_DIFFERENCES.dump_python(run.tool_changes)).decode()
    warehouse.put_rows({"scheduled_runs": [run._asdict() | {"tool_changes": changes}]})


def _tools_of(warehouse: Warehouse, build: str) -> list[Tool]:
    named = warehouse.rows("select tool from build_tools where build = ?", [build])
    return [*read_tools(warehouse, [row["tool"] for row in named]).values()]


# Releases by rule


class MadeByRule(NamedTuple):
    """A release that a schedule's rule made, of a recipe's runs up to one."""

    recipe: Recipe
    run: int
    release: Release


class Grown(NamedTuple):
    """The runs of a schedule that ended, and the releases that its rule made."""

    runs: tuple[RunReport, ...]
    releases: tuple[Release, ...]


def release_reviewed(settings: Settings) -> list[MadeByRule]:
    """Make a release of each recipe that wants one, up to the newest run that is reviewed.

    A run is reviewed when all that people were asked about it and the runs before it is answered.
    The release takes what these have landed, and is named after recipe and run.
    """
    warehouse = open_warehouse(settings)
    rows = warehouse.rows(sql("scheduled_runs.reviewed"))
    return [
        made
        for _, runs in groupby(rows, itemgetter("recipe"))
        if (made := _release_of([*runs], warehouse)) is not None
    ]


def _release_of(runs: list[Row], warehouse: Warehouse) -> MadeByRule | None:
    """Return the release of one recipe's runs; None if it is made already, or not due."""
    reviewed = [*takewhile(itemgetter("is_reviewed"), runs)]
    if not reviewed or reviewed[-1]["release"]:
        return None
    newest = reviewed[-1]
    recipe = Recipe.model_validate_json(newest["body"])
    if recipe.schedule is None or recipe.schedule.release != "when reviewed":
        return None
    builds = warehouse.rows(sql("scheduled_runs.landed"), [recipe.name, newest["run"]])
    if not builds:
        return None
    before = [row["release"] for row in reviewed if row["release"]]
    made = make_release(
        warehouse,
        f"{recipe.name}-run-{newest['run']}",
        Selection(recipes=(recipe.name,), builds=tuple(row["build"] for row in builds)),
        Terms(
            note=f"Runs 1 to {newest['run']} of the schedule, all reviewed.",
            follows=before[-1] if before else "",
        ),
    )
    [run] = [one for one in runs_of(warehouse, recipe.name) if one.run == newest["run"]]
    _keep(warehouse, run._replace(release=made.release.name))
    return MadeByRule(recipe, run.run, made.release)


def unevaluated(settings: Settings) -> Iterator[MadeByRule]:
    """Yield the releases that a rule made whose recipe has candidates, none of them evaluated."""
    warehouse = open_warehouse(settings)
    for row in warehouse.rows(sql("scheduled_runs.unevaluated")):
        recipe = Recipe.model_validate_json(row["body"])
        if recipe.candidates:
            yield MadeByRule(recipe, row["run"], release_named(warehouse, row["release"]))


def note_evaluated(settings: Settings, made: MadeByRule) -> None:
    """Write down that a recipe's candidates were evaluated on a release."""
    warehouse = open_warehouse(settings)
    [run] = [one for one in runs_of(warehouse, made.recipe.name) if one.run == made.run]
    _keep(warehouse, run._replace(evaluated_at=datetime.now(UTC)))
