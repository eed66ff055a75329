"""The pages of builds: all of them, one with its funnel, cost and drift, and what became of which records."""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from callwright.flows.pages.look import Look, Query, page_number
from callwright.warehouse.browsing import (
    OUTCOMES,
    PAGE,
    find_outcomes,
    list_builds,
    read_build,
    read_build_row,
    read_drift,
)
from callwright.warehouse.rows import Row


def builds_page(look: Look, _query: Query) -> str:
    """All builds, the newest first."""
    return look.render("builds.html", builds=list_builds(look.warehouse))


def build_page(look: Look, _query: Query, key: str) -> str | None:
    """One build, None where there is none of this key."""
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
    """What became of a build's records at a stage, with the reasons; None where there is no such build."""
    build = read_build_row(look.warehouse, key)
    if build is None:
        return None
    stage, outcome, page = query.get("stage", "")[:100], query.get("outcome", "")[:20], page_number(query)
    found = find_outcomes(look.warehouse, key, stage, outcome, page)
    return look.render(
        "outcomes.html",
        build=build,
        stage=stage,
        outcome=outcome,
        found=found,
        page=page,
        pages=-(-found.total // PAGE),
    )


def _by(rows: Sequence[Row], column: str) -> list[tuple[str, list[Row]]]:
    """Rows in the groups in which they follow each other."""
    return [(name, list(group)) for name, group in groupby(rows, key=itemgetter(column))]
