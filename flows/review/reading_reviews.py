"""What a pull brings, read against the warehouse: new annotations as reviews, and the state of each task at the server."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

from callwright.annotation.agreement import answer_of_edit
from callwright.annotation.dialogue_acts import parse_acts_review
from callwright.annotation.multi_step_review import parse_correction_review, parse_disambiguation
from callwright.annotation.prediction_audit import parse_audit
from callwright.annotation.reviews import ParsedReview, Returned, task_key
from callwright.annotation.sample_review import parse_review
from callwright.annotation.screens import (
    CORRECTION,
    DIALOGUE_ACTS,
    DISAMBIGUATION,
    PREDICTION_AUDIT,
    SAMPLE_REVIEW,
    TOOL_REVIEW,
    TRAINING,
)
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.records import Project, PulledAnnotation, TaskState
from callwright.annotation.tool_review import parse_tool_review
from callwright.flows.review.prediction_audits import read_audited
from callwright.flows.review.questions import RETURNED_EDIT, RETURNED_FIRST
from callwright.warehouse.errors import AnnotationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Review, Sample, Tool
from callwright.warehouse.releases import read_tools, samples_by_key
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

NOTHING_YET: Row = {"annotations": 0, "skipped": 0, "drafts": 0, "deleted_at": None}
_LATE = timedelta(hours=1)
_Parse = Callable[[PulledAnnotation], ParsedReview]


class ReadReviews(NamedTuple):
    """What new annotations say: reviews, the samples and tools that edits made, rows of edits that go back, and problems.

    `elsewhere` counts annotations of tasks that this work folder has not pushed to their server.
    """

    reviews: list[Review]
    edited: list[Sample | Tool]
    returned: list[Row]
    problems: list[str]
    elsewhere: int


class _Known(NamedTuple):
    """What was read before: reviews by annotation, returned edits by person and moment, the newest version of each task."""

    reviewed: dict[tuple[str, int], datetime]
    returned: set[tuple[str, str, datetime]]
    versions: dict[str, int]


def read_reviews(warehouse: Warehouse, annotations: Sequence[PulledAnnotation], pushed: "PushedTasks") -> ReadReviews:
    """Read annotations of `pushed` tasks; those that were read before and have not changed are passed over."""
    known = _known(warehouse)
    new = [one for one in annotations if not _is_known(one, known)]
    asked = [one for one in new if (one.subject, one.version) in pushed]
    parsers = _parsers(warehouse, asked)
    there = [one for one in asked if one.subject in parsers]
    read = ReadReviews([], [], [], [], len(new) - len(there))
    for annotation in there:
        try:
            parsed = parsers[annotation.subject](annotation)
        except AnnotationError as error:
            read.problems.append(str(error))
            continue
        if parsed.review is not None:
            read.reviews.append(parsed.review)
        if parsed.edited is not None:
            read.edited.append(parsed.edited)
        if parsed.returned is not None and annotation.kind != TRAINING:  # what is wrong there is told in the end
            read.returned.append(_returned(parsed.returned, annotation, known.versions))
    return read


PushedTasks = Set[tuple[str, int]]  # subjects and versions


def pushed_tasks(warehouse: Warehouse, studio: LabelStudio, kind: str) -> PushedTasks:
    """The tasks that this work folder has at a server: what others have there, even about the same samples, is theirs."""
    rows = warehouse.rows(sql("reading_reviews.pushed"), [studio.name, kind])
    return {(row["subject"], row["version"]) for row in rows}


def note_answers(warehouse: Warehouse) -> None:
    """Note what edits of samples say that have not been looked at, and what edits of gold items must say to be right."""
    for table, key in (("reviews", "key"), ("gold_items", "subject")):
        rows = warehouse.rows(sql(f"reading_reviews.unanswered_{table}"))
        if rows:
            answers = [answer_of_edit(Sample.model_validate_json(row["body"])) for row in rows]
            warehouse.execute(
                sql("reading_reviews.answer", table=table, key=key), [[row["id"] for row in rows], answers]
            )


def _parsers(warehouse: Warehouse, annotations: Sequence[PulledAnnotation]) -> dict[str, _Parse]:
    """How an annotation of each subject that the warehouse has is read, by the key of the sample, tool, path or prediction."""
    keys: defaultdict[str, list[str]] = defaultdict(list)
    for one in annotations:
        keys[one.kind if one.kind in _NOT_OF_SAMPLES else SAMPLE_REVIEW].append(one.subject)
    samples, tools = read_samples(warehouse, keys[SAMPLE_REVIEW])
    made = read_tools(warehouse, keys[TOOL_REVIEW]) if keys[TOOL_REVIEW] else {}
    paths = warehouse.rows(_PATHS, [keys[CORRECTION]]) if keys[CORRECTION] else []
    return {
        **{key: partial(parse_tool_review, tool=tool) for key, tool in made.items()},
        **{
            key: partial(_parse_of_sample, sample=sample, tools=[tools[one] for one in sample.candidates])
            for key, sample in samples.items()
        },
        **{row["key"]: partial(parse_correction_review, subject=row["key"]) for row in paths},
        **{key: partial(parse_audit, prediction=key) for key in read_audited(warehouse, keys[PREDICTION_AUDIT])},
    }


def _parse_of_sample(annotation: PulledAnnotation, sample: Sample, tools: Sequence[Tool]) -> ParsedReview:
    if annotation.kind == DISAMBIGUATION:
        return parse_disambiguation(annotation, sample)
    if annotation.kind == DIALOGUE_ACTS:
        return parse_acts_review(annotation, sample)
    return parse_review(annotation, sample, tools)


_NOT_OF_SAMPLES = (TOOL_REVIEW, CORRECTION, PREDICTION_AUDIT)
_PATHS = "select key from drafts where type = 'GoalPath' and list_contains(?::varchar[], key)"


def read_samples(warehouse: Warehouse, keys: Sequence[str]) -> tuple[dict[str, Sample], dict[str, Tool]]:
    """The samples with these keys that the warehouse has, and their candidate tools."""
    if not keys:
        return {}, {}
    samples = samples_by_key(warehouse, keys)
    return samples, read_tools(warehouse, sorted({key for sample in samples.values() for key in sample.candidates}))


def _known(warehouse: Warehouse) -> _Known:
    rows = warehouse.rows_by_name(
        {"reviewed": (sql("reading_reviews.reviewed"), []), "returned": (sql("reading_reviews.returned"), [])}
    )
    reviewed, returned = rows["reviewed"], rows["returned"]
    versions: dict[str, int] = {}
    for row in returned:
        task = f"{row['kind']}:{row['subject']}"
        versions[task] = max(row["version"], versions.get(task, 0))
    return _Known(
        {(row["server"], row["annotation_id"]): row["moment"] for row in reviewed},
        {(row["subject"], row["reviewer"], row["made_at"]) for row in returned},
        versions,
    )


def _is_known(annotation: PulledAnnotation, known: _Known) -> bool:
    if (annotation.subject, annotation.reviewer, annotation.reviewed_at) in known.returned:
        return True
    seen = known.reviewed.get((annotation.server, annotation.annotation_id))
    return seen is not None and annotation.reviewed_at <= seen


def _returned(edit: Returned, annotation: PulledAnnotation, versions: dict[str, int]) -> Row:
    """An edit that goes back to people as the next version of the task, which no other edit has."""
    task = f"{annotation.kind}:{annotation.subject}"
    versions[task] = max(edit.version, versions.get(task, 1)) + 1
    return edit.model_dump() | {
        "version": versions[task], "subject": annotation.subject, "kind": annotation.kind, "cause": RETURNED_EDIT,
        "reviewer": annotation.reviewer, "made_at": annotation.reviewed_at, "pushed_at": None, "server": None,
        "priority": RETURNED_FIRST,
    }  # fmt: skip


def changed_states(
    warehouse: Warehouse, studio: LabelStudio, project: Project, states: Iterable[TaskState]
) -> list[Row]:
    """The states that are not known yet, as rows; a draft that a pull does not tell of any more is gone."""
    now = datetime.now(UTC)
    known = {row["task_id"]: row for row in warehouse.rows(sql("reading_reviews.known"), [studio.name, project.kind])}
    seen = {
        state.task_id: state.model_dump(exclude={"submitted"})
        | {"server": studio.name, "annotations": len(state.submitted), "seen_at": now, "deleted_at": None}
        for state in states
    }
    undrafted = {
        task: row | {"drafts": 0, "seen_at": now} for task, row in known.items() if row["drafts"] and task not in seen
    }
    return [
        row for task, row in (seen | undrafted).items() if task not in known or known[task] | {"seen_at": now} != row
    ]


def remove_doubles(warehouse: Warehouse, studio: LabelStudio, project: Project, since: datetime | None) -> int:
    """Remove what stands at the server a second time and nobody has worked on; how many tasks these were.

    An import whose answer does not come in time is sent again; where the first one arrives after all, nobody is left to see
    it. So what was pushed not long before `since`, or after it, is looked at once more.
    """
    start = since - _LATE if since else None
    rows = warehouse.rows(sql("reading_reviews.pushed_lately"), [studio.name, project.kind, start])
    asked = {task_key(row["kind"], row["subject"], row["version"]): row for row in rows}
    doubles = studio.remove_doubles(project, list(asked))
    if doubles.kept:
        now = datetime.now(UTC)
        states = [{**asked[key], "server": studio.name, "task_id": task, "seen_at": now} for key, task in doubles.kept]
        noted = warehouse.rows("select task_id from task_states where server = ?", [studio.name])
        known = {row["task_id"] for row in noted}
        warehouse.put_rows({"task_states": [NOTHING_YET | row for row in states if row["task_id"] not in known]})
        with warehouse.writing() as connection:
            connection.execute(sql("reading_reviews.deleted"), {"server": studio.name, "gone": sorted(doubles.removed)})
    return len(doubles.removed)


def note_deleted(warehouse: Warehouse, studio: LabelStudio, kind: str, project: Project | None) -> int:
    """Note which tasks somebody deleted, all where the project is gone; how many these were.

    About those of which nobody has decided people are asked anew.
    """
    tasks = {row["task_id"] for row in warehouse.rows(sql("reading_reviews.tasks"), [studio.name, kind])}
    gone = tasks if project is None else studio.gone(project, tasks)
    if gone:
        with warehouse.writing() as connection:
            for name in ("deleted", "request_anew", "round_anew"):
                connection.execute(sql(f"reading_reviews.{name}"), {"server": studio.name, "gone": sorted(gone)})
    return len(gone)
