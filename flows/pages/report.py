"""The pages of builds and of reviews, and the summary.

The summary is the first page of the site, and a file of its own.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from callwright.flows.pages.evaluations import (
    Contestant,
    ShareInterval,
    boards_of,
    error_types_of,
    share_of,
)
from callwright.flows.pages.look import Look, Query, asset, page_number, served_address
from callwright.flows.review.status import (
    AgreementLine,
    Status,
    agreement_lines,
    read_agreement,
    read_progress,
)
from callwright.warehouse.browsing import (
    OUTCOMES,
    PAGE,
    SummaryRows,
    find_outcomes,
    list_builds,
    read_build,
    read_build_row,
    read_drift,
    read_review_facts,
    read_summary,
)
from callwright.warehouse.queries import sql
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

PAGE_ADDRESS = "http://127.0.0.1:8321"  # where `callwright view` answers unless told otherwise
_OF_A_RELEASE = ("kinds", "domains", "parameter_types", "steps")


class ReleaseFacts(NamedTuple):
    """The facts about one release: leaderboard, mistakes by contestant, and the papers' tables."""

    name: str
    board: list[Contestant]
    error_types: list[str]
    mistakes: list[tuple[Contestant, dict[str, int]]]
    kinds: list[Row]
    plans: list[Row]
    conversations: list[Row]
    domains: list[Row]
    parameter_types: list[Row]
    steps: list[Row]


def overview_page(look: Look, _query: Query) -> str:
    """Render the first page of the site."""
    return _render(look, "overview.html")


def write_report(warehouse: Warehouse, path: Path) -> Path:
    """Write the summary to `path` as a self-contained file and return the path.

    Its links lead to the page at the address where `callwright view` serves it.
    """
    look = Look(
        warehouse, datetime.now(UTC), lambda path, query: PAGE_ADDRESS + served_address(path, query)
    )
    style = re.sub(r"\s*\n\s*", "\n", asset("page.css")).replace("</", "<\\/")
    page = _render(look, "report.html", style=style, address=PAGE_ADDRESS)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    return path


def _render(look: Look, template: str, **more: str) -> str:
    facts, releases = _read_summary(look.warehouse, look.copied_at)
    built = {
        name: sum(row[name] for row in facts.builds)
        for name in ("planned", "waiting", "rejected", "failed")
    }
    landed = {
        name: sum(row[name] for row in facts.accepted)
        for name in ("samples", "proved", "judged", "vouched")
    }
    return look.render(
        template,
        facts=facts,
        totals=built | landed,
        grades=[
            row | {"share": share_of(row["reviewed"] - row["bad"], row["reviewed"])}
            for row in facts.grades
        ],
        outcomes=OUTCOMES,
        widest=max((row["entered"] for row in facts.funnel), default=1),
        releases=releases,
        reviews=reviews_of(look),
        superseded=facts.superseded[0]["samples"],
        **more,
    )


@lru_cache(maxsize=1)
def _read_summary(
    warehouse: Warehouse, _copied_at: datetime
) -> tuple[SummaryRows, list[ReleaseFacts]]:
    """Return what the summary says; a copy is read once, because many samples take seconds."""
    with warehouse.reading_together():
        facts = read_summary(warehouse)
        mistakes = warehouse.rows(sql("evaluations.mistakes", releases="true"))
        boards = boards_of(warehouse)
    return facts, [_release(name, board, mistakes, facts) for name, board in boards.items()]


def _release(
    name: str, board: list[Contestant], mistakes: list[Row], facts: SummaryRows
) -> ReleaseFacts:
    mine = [row for row in mistakes if row["release"] == name]
    by_contestant = [
        (one, {row["error_type"]: row["items"] for row in mine if row["contestant"] == one.id})
        for one in board
    ]
    answers = [row for row in facts.answers if row["release"] == name]
    return ReleaseFacts(
        name,
        board,
        error_types_of(mine),
        by_contestant,
        plans=[row for row in answers if row["n_plans"]],
        conversations=[row for row in answers if row["n_call_turns"] and row["slice_by"] == "all"],
        **{
            table: [row for row in getattr(facts, table) if row["release"] == name]
            for table in _OF_A_RELEASE
        },
    )


class Day(NamedTuple):
    """The reviews of one day, by person."""

    day: str
    counts: dict[str, int]
    hours: float


class Reviews(NamedTuple):
    """What the page says about reviewing; `gold` is by person and defect, with the share right."""

    progress: Status
    whole: Row
    agreement: list[AgreementLine]
    reasons: list[Row]
    gold: list[Row]
    usable: list[Row]
    days: list[Day]
    reviewers: list[str]


def reviews_page(look: Look, _query: Query) -> str:
    """Render pace, agreement, answers to gold items, reasons, and what is left."""
    return look.render("reviews.html", reviews=reviews_of(look))


def reviews_of(look: Look) -> Reviews:
    """Return the review statistics, cached for each copy."""
    return _read_reviews(look.warehouse, look.copied_at)


@lru_cache(maxsize=1)
def _read_reviews(warehouse: Warehouse, _copied_at: object) -> Reviews:
    with warehouse.reading_together():
        progress, facts = read_progress(warehouse), read_review_facts(warehouse)
        agreement = read_agreement(warehouse)
    rows = facts["days"]
    days = []
    for day, group in groupby(rows, key=itemgetter("day")):
        mine = list(group)
        hours = sum(row["active_hours"] for row in mine)
        days.append(
            Day(f"{day:%d %b %Y}", {row["reviewer"]: row["n_reviews"] for row in mine}, hours)
        )
    return Reviews(
        progress,
        progress["whole"][0],
        agreement_lines(agreement),
        facts["reasons"],
        [row | {"interval": share_of(row["n_right"], row["n_answered"])} for row in facts["gold"]],
        [
            row
            | {
                "interval": (
                    ShareInterval(row["usable_share"], row["low"], row["high"])
                    if row["n_answered"]
                    else None
                )
            }
            for row in facts["usable"]
        ],
        days,
        sorted({row["reviewer"] for row in facts["days"]}),
    )


def builds_page(look: Look, _query: Query) -> str:
    """Render all builds, the newest first."""
    return look.render("builds.html", builds=list_builds(look.warehouse))


def build_page(look: Look, _query: Query, key: str) -> str | None:
    """Render one build; None if there is none with this key."""
    detail = read_build(look.warehouse, key)
    if detail is None:
        return None
    drift = read_drift(look.warehouse, key, detail.earlier["key"]) if detail.earlier else []
    return look.render(
        "build.html",
        detail=detail,
        build=detail.build,
        groups=_by(detail.funnel, "stage_group"),
        outcomes=OUTCOMES,
        widest=max((row["entered"] for row in detail.funnel), default=1),
        drift=_by(drift, "field"),
    )


def outcomes_page(look: Look, query: Query, key: str) -> str | None:
    """Return the page of a build's outcomes at a stage, with reasons; None if there is no build."""
    build = read_build_row(look.warehouse, key)
    if build is None:
        return None
    stage, outcome, page = (
        query.get("stage", "")[:100],
        query.get("outcome", "")[:20],
        page_number(query),
    )
    outcome_page = find_outcomes(look.warehouse, key, stage, outcome, page)
    return look.render(
        "outcomes.html",
        build=build,
        stage=stage,
        outcome=outcome,
        found=outcome_page,
        page=page,
        pages=-(-outcome_page.total // PAGE),
    )


def _by(rows: Sequence[Row], column: str) -> list[tuple[str, list[Row]]]:
    return [(name, list(group)) for name, group in groupby(rows, key=itemgetter(column))]
