"""How far people are: what waits, who decided how much and how fast, how far they agree, and what is left in hours and money."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from callwright.annotation.agreement import ItemRating, measure_agreement
from callwright.annotation.screens import CORRECTION, DISAMBIGUATION, REVIEW_KINDS, SAMPLE_REVIEW, TOOL_REVIEW
from callwright.annotation.studio.records import ProjectStatus
from callwright.flows.review.questions import DOUBTFUL
from callwright.flows.review.servers import require_label_studio
from callwright.flows.review.team import outside_reviews, read_team
from callwright.flows.settings import Settings, open_warehouse
from callwright.warehouse.queries import sql
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

ASSUMED_SECONDS = 60.0  # what a question takes, until somebody has answered one of its kind
NEXT_SHOWN = 5

Status = dict[str, list[Row]]


def review_status(settings: Settings, *, ask_server: bool = False) -> Status:
    """What waits, what was pushed, who decided what how fast, and what is left; with `ask_server` also Label Studio's own count.

    Each title has rows; that of `whole` is one. `outside` is how many reviews were not this person's by the team's rule, None for
    who is not in it.
    """
    more: dict[str, tuple[str, Sequence[object]]] = {
        title: (sql(f"review_status.{name}"), [kind]) for title, (kind, name) in _OF_KINDS.items()
    }
    more["next"] = sql("review_status.next"), [NEXT_SHOWN]
    warehouse = open_warehouse(settings)
    status = read_progress(warehouse, settings.review_hourly_cost, more)
    outside = outside_reviews(warehouse, read_team(settings))
    status["people"] = [row | {"outside": outside.get(row["reviewer"])} for row in status["people"]]
    if ask_server:
        with require_label_studio(settings) as studio:
            projects = [studio.find_project(kind) for kind in REVIEW_KINDS]
            status["label_studio"] = [_server_status(studio.status(project)) for project in projects if project]
    return status


def read_progress(
    warehouse: Warehouse,
    hourly_cost: float | None = None,
    more: Mapping[str, tuple[str, Sequence[object]]] | None = None,
) -> Status:
    """What waits, who decided how much and how fast, on what they differ, and what is left; and the answers to `more` queries."""
    status = warehouse.rows_by_name(
        {
            "queue": (sql("review_status.queue"), []),
            "people": ("from reviewer_figures", []),
            "work_left": (sql("review_status.work_left"), [ASSUMED_SECONDS]),
            "unsettled": (sql("review_status.unsettled"), [DOUBTFUL]),
            **(more or {}),
        }
    )
    status["whole"] = [_whole(status, hourly_cost)]
    return status


def _whole(status: Status, hourly_cost: float | None) -> Row:
    """Hours of people and their cost, so far and left; the cost is None where nobody says what an hour costs."""
    left = sum(row["hours"] for row in status["work_left"])
    so_far = sum(row["active_hours"] for row in status["people"])
    return {
        "questions": sum(row["questions"] for row in status["work_left"]),
        "answers": sum(row["answers"] for row in status["work_left"]),
        "hours_so_far": round(so_far, 3),
        "hours_left": round(left, 3),
        "assumed_seconds": ASSUMED_SECONDS,
        "hourly_cost": hourly_cost,
        "cost_so_far": None if hourly_cost is None else round(so_far * hourly_cost, 2),
        "cost_left": None if hourly_cost is None else round(left * hourly_cost, 2),
        "unsettled": len(status["unsettled"]),
    }


def _server_status(found: ProjectStatus) -> Row:
    return {"project": found.project.url, **found.model_dump(exclude={"project"})}


_OF_KINDS = {
    "samples": (SAMPLE_REVIEW, "queue_of_kind"),
    "reviewers": (SAMPLE_REVIEW, "reviewers"),
    "tools": (TOOL_REVIEW, "queue_of_kind"),
    "tool_reviewers": (TOOL_REVIEW, "reviewers"),
    "corrections": (CORRECTION, "queue_of_kind"),
    "correction_reviewers": (CORRECTION, "reviewers"),
    "disambiguations": (DISAMBIGUATION, "queue_of_kind"),
    "disambiguation_reviewers": (DISAMBIGUATION, "reviewers"),
}


def note_agreement(warehouse: Warehouse) -> None:
    """Compute anew how far people agree, of each review kind, and keep that in the place of what was known."""
    now = datetime.now(UTC)
    warehouse.put_rows({"agreement": [{**row, "computed_at": now} for row in read_agreement(warehouse)]})
    warehouse.execute("delete from agreement where computed_at <> ?", [now])


def read_agreement(warehouse: Warehouse) -> list[Row]:
    """How far people agree, of each review kind by each measure, over all, by reviewer, by pair and by reason."""
    words: defaultdict[str, list[ItemRating]] = defaultdict(list)
    for row in warehouse.rows(sql("review_status.words")):
        words[row["kind"]].append(ItemRating(row["subject"], row["reviewer"], row["label"], tuple(row["reasons"])))
    return [{"kind": kind, **one._asdict()} for kind, stated in words.items() for one in measure_agreement(stated)]


def agreement_report(settings: Settings) -> dict[str, list[Row]]:
    """How far reviewers agree, how far models that read agree with them, how people do on gold items, and what is usable."""
    warehouse = open_warehouse(settings)
    note_agreement(warehouse)
    return warehouse.rows_by_name({name: (query, []) for name, query in _REPORT.items()})


_REPORT = {
    "agreement": "from agreement order by kind, slice_by, slice_value, measure",
    "readers": "select * exclude (cause) from reader_agreement where cause = ''",
    "gold_items": "from annotator_accuracy",
    "usable": "from usable_share",
}
