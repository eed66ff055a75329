"""The checks that a build has met, what it has that lacks some of today's, and what follows where one of them stops a sample.

A check may be added, changed or moved to any place of the table. What a build has then goes through what it
lacks alone, and its funnel is as if the check had always stood there: a sample that does not pass a check has no outcome
behind it, what a machine let land is taken back, and what people decided is carried out again.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from callwright.warehouse.queries import sql
from callwright.warehouse.store import Warehouse


class Lacking(NamedTuple):
    """How many samples of a build lack the same checks."""

    checks: tuple[str, ...]
    samples: int
    mask: int


def met_checks(warehouse: Warehouse, build: str) -> dict[str, str]:
    """The version of each check that all of a build went through."""
    rows = warehouse.rows("select check_name, version from build_checks where build = ?", [build])
    return {row["check_name"]: row["version"] for row in rows}


def meet_checks(warehouse: Warehouse, build: str, todays: Mapping[str, str]) -> tuple[str, ...]:
    """Write down that a build has today's checks, and forget what came of those that changed or are gone; the new ones."""
    met = met_checks(warehouse, build)
    new = [name for name, version in todays.items() if met.get(name) != version]
    stale = [name for name, version in met.items() if todays.get(name) != version]
    if new or stale:
        with warehouse.writing() as connection:
            connection.execute(sql("build_checks.forget"), [build, stale])
            connection.execute(sql("build_checks.unmeet"), [build, stale])
            connection.execute(sql("build_checks.meet"), [build, new, [todays[name] for name in new]])
    return tuple(new) if met else ()


def lacking_checks(warehouse: Warehouse, build: str, checks: Sequence[str]) -> list[Lacking]:
    """How many samples lack which of these checks, although none before them stopped them."""
    return [
        Lacking(tuple(name for bit, name in enumerate(checks) if row["mask"] >> bit & 1), row["samples"], row["mask"])
        for row in warehouse.rows(sql("build_checks.by_mask"), _asked(build, checks))
    ]


def samples_lacking(warehouse: Warehouse, build: str, checks: Sequence[str], mask: int) -> Iterator[str]:
    """The bodies of the samples that lack just these of the checks."""
    return (body for (body,) in warehouse.stream(sql("build_checks.of_mask"), [*_asked(build, checks), mask]))


def take_back(warehouse: Warehouse, build: str, checks: Sequence[str], *, review: str, land: str) -> None:
    """Let what a check stopped lose all that it had come to behind it, and what one doubts its place among the landed.

    `review` and `land` are the names of the stages at which people are asked, and samples land.
    """
    with warehouse.writing() as connection:
        connection.execute(sql("build_checks.undo_behind"), [build, list(checks), build])
        connection.execute(sql("build_checks.undo_reviews"), [build, [review, land], build, review, list(checks)])
        connection.execute(sql("build_checks.withdraw"), [build, land])


def _asked(build: str, checks: Sequence[str]) -> list[object]:
    return [list(checks), build, len(checks), build]
