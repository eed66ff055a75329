"""Taking back what people decided: accepted samples land, rejected ones do not, edited ones are checked again."""

from collections import Counter
from typing import NamedTuple

import orjson

from annotation.label_studio import LabelStudio
from annotation.pulled import PulledAnnotation
from annotation.review import ParsedReview, parse_review
from annotation.screens import SAMPLE_REVIEW
from flows.build import check_samples, reopen_build
from flows.decisions import Decided
from flows.groups import local_workers
from flows.landing import request_review
from flows.news import News
from flows.reviewing import push_reviews
from flows.settings import Settings
from warehouse.errors import AnnotationError
from warehouse.records import Sample
from warehouse.releases import read_tools
from warehouse.rows import Row
from warehouse.store import Warehouse


class Pulled(NamedTuple):
    """What a pull brought: new reviews by decision, edits that went back to people, and what did not fit."""

    reviews: int
    accepted: int
    edited: int
    rejected: int
    returned: int
    problems: tuple[str, ...]


async def pull_reviews(settings: Settings, studio: LabelStudio, news: News) -> Pulled:
    """Pull what is new since the last pull, note it, and carry it out; the same annotation twice changes nothing.

    Raises AnnotationError where Label Studio can't be reached; an annotation that does not fit is a problem of its own.
    """
    warehouse = Warehouse(settings.warehouse, patience=settings.patience)
    project = studio.find_project(SAMPLE_REVIEW)
    if project is None:
        return Pulled(0, 0, 0, 0, 0, ())
    if project.changed_by_hand:
        news.say(f"The labeling interface of {project.url} was changed by hand.")
    cursors = warehouse.rows(
        "select pulled_until from review_cursors where server = ? and kind = ?", [studio.url, SAMPLE_REVIEW]
    )
    found = studio.pull(project, cursors[0]["pulled_until"] if cursors else None)
    reading = _Reading(warehouse)
    for annotation in found.annotations:
        reading.read(annotation)
    warehouse.put([one.review for one in reading.reviewed if one.review])
    warehouse.put_rows({"returned_edits": reading.returned})
    for one in reading.reviewed:
        await _carry_out(one, warehouse, settings, news)
    if found.cursor is not None:
        cursor = {"server": studio.url, "kind": SAMPLE_REVIEW, "pulled_until": found.cursor}
        warehouse.put_rows({"review_cursors": [cursor]})
    if reading.returned or any(one.edited for one in reading.reviewed):
        push_reviews(settings, studio, news)
    decisions = Counter(one.review.decision for one in reading.reviewed if one.review)
    return Pulled(
        reviews=decisions.total(),
        accepted=decisions["accept"],
        edited=decisions["edit"],
        rejected=decisions["reject"],
        returned=len(reading.returned),
        problems=tuple(reading.problems),
    )


class _Reading:
    """Annotations read one by one: what is new among them."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._known = {
            (row["server"], row["annotation_id"]): row["reviewed_at"]
            for row in warehouse.rows(
                "select server, annotation_id, max(reviewed_at) as reviewed_at from reviews group by all"
            )
        }
        self.reviewed: list[ParsedReview] = []
        self.returned: list[Row] = []
        self.problems: list[str] = []

    def read(self, annotation: PulledAnnotation) -> None:
        """Read one annotation; one that was read before and has not changed is passed over."""
        seen = self._known.get((annotation.server, annotation.annotation_id))
        if seen is not None and annotation.reviewed_at <= seen:
            return
        rows = self._warehouse.rows("select body from samples where key = ?", [annotation.subject])
        if not rows:
            self.problems.append(
                f"Task {annotation.task_id} is about the sample {annotation.subject}, which this warehouse lacks. "
                "It belongs to another work folder."
            )
            return
        sample = Sample.model_validate(orjson.loads(rows[0]["body"]))
        tools = read_tools(self._warehouse, sample.candidates)
        try:
            parsed = parse_review(annotation, sample, [tools[key] for key in sample.candidates])
        except AnnotationError as error:
            self.problems.append(str(error))
            return
        if parsed.outcome == "reviewed":
            self.reviewed.append(parsed)
        elif parsed.returned is not None:
            self.returned.append(
                parsed.returned.model_dump()
                | {
                    "subject": annotation.subject, "kind": annotation.kind, "reviewer": annotation.reviewer,
                    "made_at": annotation.reviewed_at, "pushed_at": None,
                }
            )  # fmt: skip


async def _carry_out(parsed: ParsedReview, warehouse: Warehouse, settings: Settings, news: News) -> None:
    review = parsed.review
    if review is None:
        return
    rows = warehouse.rows(
        """
        select r.build, b.recipe from review_requests r join builds b on b.key = r.build where r.subject = ? and r.kind = ?
        """,
        [review.subject, review.kind],
    )
    if not rows:
        return
    case = Decided(warehouse, rows[0]["build"], rows[0]["recipe"], review.subject, review.reviewer)
    match review.decision:
        case "accept":
            case.accept()
        case "reject":
            case.reject(", ".join(review.reasons))
        case "edit":
            await _check_edited(case, parsed.edited, settings, news)


async def _check_edited(case: Decided, edited: Sample | None, settings: Settings, news: News) -> None:
    """Run an edited sample through the checks again: it lands unless one contradicts it, then people see it again."""
    if edited is None or edited.key == case.subject:
        case.accept()
        return
    run = reopen_build(case.build, settings, news)
    case.warehouse.put([edited])
    with local_workers(run.recipe, settings) as workers:
        await check_samples(run, workers, [edited])
    case.replace(edited.key)
    against = case.warehouse.rows(
        "select reason from fates where build = ? and subject = ? and outcome = 'waiting'", [case.build, edited.key]
    )
    if against:
        request_review(case.warehouse, case.build, edited.key, f"As edited by {case.reviewer}: {against[0]['reason']}")
    else:
        case.land(edited.key)
