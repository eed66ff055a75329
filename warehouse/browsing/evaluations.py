"""Evaluations as the page shows them: who got what right, where and how they went wrong, and two candidates item by item.

A contestant is one run of a candidate by one strategy. An item is what was asked once: a snapshot, or a whole multi-step sample;
where a run over one was scored in several ways, as the paper says and by rule counts first.
"""

from collections.abc import Sequence
from typing import NamedTuple

from callwright.warehouse.queries import sql
from callwright.warehouse.rows import Row, RowPage
from callwright.warehouse.store import Warehouse

PAGE = 20
SLICES = ("kind", "language", "category", "split")


class ItemFilter(NamedTuple):
    """Which items of a release are looked for; "" asks for nothing. `verdict` is right, wrong or unjudged."""

    contestant: str = ""
    kind: str = ""
    language: str = ""
    category: str = ""
    split: str = ""
    error: str = ""
    verdict: str = ""


class ReleaseDetail(NamedTuple):
    """A release with its leaderboard (a row a contestant), the same by slices, the mistakes, and the papers' metrics.

    `passes` and `means` are of those who were asked several times: pass^k, and their metrics over all runs.
    """

    release: Row
    board: list[Row]
    slices: list[Row]
    errors: list[Row]
    metrics: list[Row]
    passes: list[Row]
    means: list[Row]


class Comparison(NamedTuple):
    """Two contestants on the samples that both answered: how many which of them passes, and by kind; the items where they differ.

    A sample is passed where each of its items is right.
    """

    counts: Row
    kinds: list[Row]
    items: list[Row]
    differing: int


_ONE = "release = $1"
_COLUMNS = {name: name for name in ("contestant", *SLICES)} | {"error": "error_type"}
_VERDICTS = {"right": "verdict", "wrong": "not verdict", "unjudged": "verdict is null"}


def list_boards(warehouse: Warehouse) -> list[Row]:
    """The leaderboards of all releases: a row a contestant."""
    return warehouse.rows(sql("evaluations.boards", releases="true"))


def read_release(warehouse: Warehouse, name: str) -> Row | None:
    """A release by its name, None where there is none."""
    return next(iter(warehouse.rows("select * from releases where name = ?", [name])), None)


def read_evaluation(warehouse: Warehouse, name: str) -> ReleaseDetail | None:
    """A release with its leaderboard, None where there is no such release."""
    queries = {field: (sql(f"evaluations.{field}", releases=_ONE), [name]) for field in ReleaseDetail._fields}
    found = warehouse.rows_by_name(queries)
    return ReleaseDetail(found.pop("release")[0], **found) if found["release"] else None


def find_items(warehouse: Warehouse, release: str, wanted: ItemFilter, page: int = 0, size: int = PAGE) -> RowPage:
    """The items of a release that the filter lets through."""
    given = {column: getattr(wanted, name) for name, column in _COLUMNS.items() if getattr(wanted, name)}
    clauses = [f"{column} = ${place}" for place, column in enumerate(given, 2)]
    condition = " and ".join([*clauses, _VERDICTS.get(wanted.verdict, "true")])
    found = warehouse.rows(
        sql("evaluations.found", releases=_ONE, condition=condition, size=size, start=page * size),
        [release, *given.values()],
    )
    return RowPage(_shown(warehouse, [row["prediction"] for row in found]), found[0]["total"] if found else 0)


def answers_to(warehouse: Warehouse, sample: str) -> list[Row]:
    """What candidates answered to a sample, first what is wrong."""
    return warehouse.rows(sql("evaluations.answers_to"), [sample])


def compare(warehouse: Warehouse, release: str, one: str, other: str, page: int = 0) -> Comparison:
    """Two contestants on the items of a release that both answered and that were judged."""
    parts: dict[str, object] = {"releases": _ONE, "size": PAGE, "start": page * PAGE}
    names = ("counts", "kinds", "differing", "differing_items")
    found = warehouse.rows_by_name(
        {name: (sql(f"evaluations.{name}", **parts), [release, one, other]) for name in names}
    )
    differing = found["differing_items"]
    shown = {
        row["prediction"]: row
        for row in _shown(warehouse, [row[side] for row in differing for side in ("one", "other")])
    }
    items = [row | {"one": shown[row["one"]], "other": shown[row["other"]]} for row in differing]
    return Comparison(found["counts"][0], found["kinds"], items, found["differing"][0]["items"])


def _shown(warehouse: Warehouse, predictions: Sequence[str]) -> list[Row]:
    """Items as they are shown, in this order."""
    if not predictions:
        return []
    places = ", ".join("?" * len(predictions))
    rows = warehouse.rows(sql("evaluations.of_predictions", places=places), predictions)
    by_key = {row["prediction"]: row for row in rows}
    return [by_key[key] for key in predictions if key in by_key]
