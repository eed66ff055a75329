"""The summary on one page: the first page of the site, and a file that opens by itself."""

import re
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from callwright.flows.pages.evaluations import Contestant, boards_of, error_types_of, share_of
from callwright.flows.pages.look import Look, Query, asset, served_address
from callwright.flows.pages.reviews import reviews_of
from callwright.warehouse.browsing import OUTCOMES, SummaryRows, read_summary
from callwright.warehouse.queries import sql
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

PAGE_ADDRESS = "http://127.0.0.1:8321"  # where `callwright view` answers unless told otherwise
_OF_A_RELEASE = ("kinds", "domains", "parameter_types", "steps")


class ReleaseFacts(NamedTuple):
    """What there is to say about one release: its leaderboard, mistakes by contestant, and the tables of the papers."""

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
    """The first page of the site."""
    return _render(look, "overview.html")


def write_report(warehouse: Warehouse, path: Path, address: str = PAGE_ADDRESS) -> Path:
    """Write the summary to `path` as a file that needs no other; its links lead to the page at `address`."""
    look = Look(warehouse, datetime.now(UTC), lambda path, query: address + served_address(path, query))
    page = _render(
        look, "report.html", style=re.sub(r"\s*\n\s*", "\n", asset("page.css")).replace("</", "<\\/"), address=address
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    return path


def _render(look: Look, template: str, **more: str) -> str:
    facts, releases = _read(look.warehouse, look.copied_at)
    built = {name: sum(row[name] for row in facts.builds) for name in ("planned", "waiting", "rejected", "failed")}
    landed = {name: sum(row[name] for row in facts.accepted) for name in ("samples", "proved", "judged", "vouched")}
    return look.render(
        template,
        facts=facts,
        totals=(built | landed),
        grades=[row | {"share": share_of(row["reviewed"] - row["bad"], row["reviewed"])} for row in facts.grades],
        outcomes=OUTCOMES,
        widest=max((row["entered"] for row in facts.funnel), default=1),
        releases=releases,
        reviews=reviews_of(look),
        superseded=facts.superseded[0]["samples"],
        **more,
    )


@lru_cache(maxsize=1)
def _read(warehouse: Warehouse, _copied_at: datetime) -> tuple[SummaryRows, list[ReleaseFacts]]:
    """What the summary says; a copy is read once, for it takes seconds where there are many samples."""
    facts = read_summary(warehouse)
    mistakes = warehouse.rows(sql("evaluations.mistakes", releases="true"))
    return facts, [_release(name, board, mistakes, facts) for name, board in boards_of(warehouse).items()]


def _release(name: str, board: list[Contestant], mistakes: list[Row], facts: SummaryRows) -> ReleaseFacts:
    mine = [row for row in mistakes if row["release"] == name]
    by_contestant = [
        (one, {row["error_type"]: row["items"] for row in mine if row["contestant"] == one.id}) for one in board
    ]
    answers = [row for row in facts.answers if row["release"] == name]
    return ReleaseFacts(
        name,
        board,
        error_types_of(mine),
        by_contestant,
        plans=[row for row in answers if row["plans"]],
        conversations=[row for row in answers if row["call_turns"] and row["slice_by"] == "all"],
        **{table: [row for row in getattr(facts, table) if row["release"] == name] for table in _OF_A_RELEASE},
    )
