"""What became of each record at each stage, and which checks a build has met.

This module alone writes the table `outcomes`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from callwright.warehouse.queries import sql
from callwright.warehouse.records import Outcome
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse


def outcome_row(outcome: Outcome, made_at: datetime | None = None) -> Row:
    """Return an outcome as a row, made now unless given."""
    return {**vars(outcome), "made_at": made_at or datetime.now(UTC)}


def pass_all(keys: str) -> str:
    """Return the statement that passes all records named by the query `keys`.

    There may be millions, and they stay in the warehouse. Its parameters are the build, the
    stage and those of the query.
    """
    return sql("outcomes.pass_all", keys=keys)


def reject_repeated(
    warehouse: Warehouse, build: str, stages: Sequence[str], made: Literal["sample", "tool"]
) -> None:
    """Reject drafts whose sample or tool another draft had become before: they add nothing."""
    reason = f"Another draft had already become this very {made}."
    warehouse.execute(sql("outcomes.repeated", **_MADE_AS[made]), [reason, build, list(stages)])


def remove_outcomes(warehouse: Warehouse, places: Iterable[tuple[str, str, str]]) -> None:
    """Remove the outcomes of these builds, stages and subjects, which another sample replaces."""
    columns = [list(column) for column in zip(*places, strict=True)]
    if columns:
        warehouse.execute(sql("outcomes.remove"), columns)


_MADE_AS = {
    "sample": {"table": "build_samples", "build": "build"},
    "tool": {"table": "made_tools", "build": "toolset"},
}


class Lacking(NamedTuple):
    """The number of samples of a build that lack the same checks."""

    checks: tuple[str, ...]
    samples: int
    mask: int


def met_checks(warehouse: Warehouse, build: str) -> dict[str, str]:
    """Return the version of each check that all of a build went through."""
    rows = warehouse.rows("select check_name, version from build_checks where build = ?", [build])
    return {row["check_name"]: row["version"] for row in rows}


def meet_checks(warehouse: Warehouse, build: str, todays: Mapping[str, str]) -> tuple[str, ...]:
    """Record that a build has today's checks, and return the new ones.

    What came of checks that changed or are gone is forgotten. The result is empty for a build
    that had met none.
    """
    met = met_checks(warehouse, build)
    new = [name for name, version in todays.items() if met.get(name) != version]
    stale = [name for name, version in met.items() if todays.get(name) != version]
    if new or stale:
        with warehouse.writing() as connection:
            connection.execute(sql("build_checks.forget"), [build, stale])
            connection.execute(sql("build_checks.unmeet"), [build, stale])
            versions = [todays[name] for name in new]
            connection.execute(sql("build_checks.meet"), [build, new, versions])
    return tuple(new) if met else ()


def lacking_checks(warehouse: Warehouse, build: str, checks: Sequence[str]) -> list[Lacking]:
    """Return how many samples lack which of these checks, though no earlier check stopped them."""
    found: list[Lacking] = []
    for row in warehouse.rows(sql("build_checks.by_mask"), _asked(build, checks)):
        lacking = tuple(name for bit, name in enumerate(checks) if row["mask"] >> bit & 1)
        found.append(Lacking(lacking, row["samples"], row["mask"]))
    return found


def samples_lacking(
    warehouse: Warehouse, build: str, checks: Sequence[str], mask: int
) -> Iterator[str]:
    """Yield the bodies of the samples that lack exactly these checks."""
    values = [*_asked(build, checks), mask]
    return (body for (body,) in warehouse.stream(sql("build_checks.of_mask"), values))


def take_back(
    warehouse: Warehouse, build: str, checks: Sequence[str], *, review: str, land: str
) -> None:
    """Undo what followed for records that a check stopped, and unland those it doubts.

    `review` and `land` are the names of the stages at which people are asked, and samples land.
    """
    with warehouse.writing() as connection:
        connection.execute(sql("build_checks.undo_behind"), [build, list(checks), build])
        values = [build, [review, land], build, review, list(checks)]
        connection.execute(sql("build_checks.undo_reviews"), values)
        connection.execute(sql("build_checks.withdraw"), [build, land])


def _asked(build: str, checks: Sequence[str]) -> list[object]:
    return [list(checks), build, len(checks), build]
