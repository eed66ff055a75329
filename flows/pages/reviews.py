"""The page of reviews, of which the summary has a part: who decided what how fast, how far people agree, and why they said no."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from callwright.flows.pages.evaluations import ShareInterval, share_of
from callwright.flows.pages.look import Look, Query
from callwright.flows.review.status import AgreementLine, Status, agreement_lines, read_agreement, read_progress
from callwright.warehouse.browsing import read_review_facts
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse


class Day(NamedTuple):
    """What was reviewed on a day, by person."""

    day: str
    counts: dict[str, int]
    hours: float


class Reviews(NamedTuple):
    """All that is told about reviewing; `gold` is by person and defect, each with the share that they answered rightly."""

    progress: Status
    whole: Row
    agreement: list[AgreementLine]
    reasons: list[Row]
    gold: list[Row]
    usable: list[Row]
    days: list[Day]
    reviewers: list[str]


def reviews_page(look: Look, _query: Query) -> str:
    """Pace, agreement, answers to gold items, reasons, and what is left."""
    return look.render("reviews.html", reviews=reviews_of(look))


def reviews_of(look: Look) -> Reviews:
    """What there is to say about reviewing; a copy is read for it once."""
    return _read(look.warehouse, look.copied_at)


@lru_cache(maxsize=1)
def _read(warehouse: Warehouse, _copied_at: object) -> Reviews:
    progress, facts = read_progress(warehouse), read_review_facts(warehouse)
    return Reviews(
        progress,
        progress["whole"][0],
        agreement_lines(read_agreement(warehouse)),
        facts["reasons"],
        [row | {"interval": share_of(row["correct"], row["answered"])} for row in facts["gold"]],
        [
            row | {"interval": ShareInterval(row["share"], row["low"], row["high"]) if row["answered"] else None}
            for row in facts["usable"]
        ],
        _days(facts["days"]),
        sorted({row["reviewer"] for row in facts["days"]}),
    )


def _days(rows: Sequence[Row]) -> list[Day]:
    days = []
    for day, group in groupby(rows, key=itemgetter("day")):
        mine = list(group)
        hours = sum(row["active_hours"] for row in mine)
        days.append(Day(f"{day:%d %b %Y}", {row["reviewer"]: row["reviews"] for row in mine}, hours))
    return days
