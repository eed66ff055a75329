"""The facts of the summary: what counts now, of the newest build of each recipe, each release's evaluation, and reviews."""

from typing import NamedTuple

from callwright.warehouse.queries import sql
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

READ = 10


class SummaryRows(NamedTuple):
    """The rows behind each section; `samples` are those worth reading, each with the reason why."""

    builds: list[Row]
    funnel: list[Row]
    accepted: list[Row]
    categories: list[Row]
    grades: list[Row]
    repeated: list[Row]
    superseded: list[Row]
    readers: list[Row]
    people: list[Row]
    checks: list[Row]
    audits: list[Row]
    unseen: list[Row]
    arguments: list[Row]
    kinds: list[Row]
    answers: list[Row]
    domains: list[Row]
    parameter_types: list[Row]
    steps: list[Row]
    cost: list[Row]
    samples: list[Row]


def read_summary(warehouse: Warehouse) -> SummaryRows:
    """The rows of every section, of one state of the warehouse."""
    return SummaryRows(
        **warehouse.rows_by_name({name: (sql(f"summary.{name}", read=READ), []) for name in SummaryRows._fields})
    )


DAYS = 14
_REVIEW_FACTS = ("days", "gold", "usable", "reasons")


def read_review_facts(warehouse: Warehouse) -> dict[str, list[Row]]:
    """Reviews by day and person, answers to gold items, what is usable of what was drawn, and why things were turned away."""
    return warehouse.rows_by_name({name: (sql(f"review_facts.{name}", days=DAYS), []) for name in _REVIEW_FACTS})
