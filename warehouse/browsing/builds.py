"""Builds as the page shows them: the funnel, what became of which records and why, money and time, and drift."""

from typing import NamedTuple

from callwright.warehouse.queries import sql
from callwright.warehouse.rows import Row, RowPage
from callwright.warehouse.store import Warehouse

OUTCOMES = ("passed", "rejected", "failed", "waiting")
PAGE = 50


class BuildDetail(NamedTuple):
    """One build with its funnel; `earlier` is the build of the recipe before it, None where it is the first."""

    build: Row
    earlier: Row | None
    funnel: list[Row]
    cost: list[Row]
    kinds: list[Row]
    left_out: list[Row]
    readers: list[Row]
    people: list[Row]
    reasons: list[Row]


def list_builds(warehouse: Warehouse) -> list[Row]:
    """All builds, the newest first."""
    return warehouse.rows(sql("builds.newest_first"))


def read_build(warehouse: Warehouse, key: str) -> BuildDetail | None:
    """A build with its funnel, None where there is none."""
    found = warehouse.rows_by_name({name: (sql(f"builds.{name}"), [key]) for name in BuildDetail._fields})
    if not found["build"]:
        return None
    build, earlier = found.pop("build")[0], next(iter(found.pop("earlier")), None)
    return BuildDetail(build, earlier, **found)


def read_build_row(warehouse: Warehouse, key: str) -> Row | None:
    """A build by its key, None where there is none."""
    return next(iter(warehouse.rows("select key, recipe from builds where key = ?", [key])), None)


def read_drift(warehouse: Warehouse, build: str, earlier: str) -> list[Row]:
    """How the shares of kinds, languages, categories, grades and called tools differ from those of an earlier build."""
    return warehouse.rows(sql("builds.drift"), [build, earlier]) + warehouse.rows(
        sql("builds.drift_of_stages"), [build, earlier]
    )


def find_outcomes(warehouse: Warehouse, build: str, stage: str, outcome: str, page: int = 0) -> RowPage:
    """What became of records of a build at a stage; "" asks for any stage or outcome."""
    values = [build, stage, outcome]
    found = warehouse.rows_by_name(
        {
            "rows": (sql("builds.outcomes", page_size=PAGE), [*values, page * PAGE]),
            "total": (sql("builds.outcomes_in_all"), values),
        }
    )
    return RowPage(found["rows"], found["total"][0]["records"])
