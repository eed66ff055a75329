"""Pulling reviews: read new answers, store them, carry them out, and check edited samples.

Everything here may be cut off and repeated: what a pull has stored but not carried out, the next
one carries out.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from datetime import UTC, datetime, timedelta
from functools import partial, reduce
from operator import add, itemgetter
from typing import NamedTuple

import orjson

from callwright.annotation.agreement import answer_of_edit
from callwright.annotation.dialogue_acts import parse_acts_review
from callwright.annotation.finding_review import parse_finding_review
from callwright.annotation.multi_step_review import parse_correction_review, parse_disambiguation
from callwright.annotation.prediction_audit import parse_audit
from callwright.annotation.reviews import ParsedReview, UnusableEdit, task_key
from callwright.annotation.sample_review import parse_review
from callwright.annotation.screens import (
    CORRECTION,
    DIALOGUE_ACTS,
    DISAMBIGUATION,
    FINDING_REVIEW,
    PREDICTION_AUDIT,
    REVIEW_KINDS,
    SAMPLE_REVIEW,
    TOOL_REVIEW,
    TRAINING,
)
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.records import Project, PulledAnnotation, TaskState
from callwright.annotation.tool_review import parse_tool_review
from callwright.flows.progress import Progress
from callwright.flows.recipe import LANDED_GRADES
from callwright.flows.review.asking_again import read_audited, suspects_of_audits
from callwright.flows.review.pushing import ask_more_people, push_reviews
from callwright.flows.review.questions import (
    DOUBTFUL,
    RETURNED_EDIT,
    RETURNED_FIRST,
    ReviewQuestion,
    ask,
    carry_over_corrections,
    new_states,
    read_paths,
    read_samples,
)
from callwright.flows.review.resolutions import VOUCHED_EDITS, settle_decisions, settle_edited_tools
from callwright.flows.review.servers import async_review_turn
from callwright.flows.review.status import note_agreement
from callwright.flows.run.carry import open_local_carrier
from callwright.flows.run.plan import check_edited, reopen_build
from callwright.flows.settings import Settings, open_warehouse
from callwright.flows.stages import LANDING
from callwright.warehouse.batches import grouped
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import AnnotationError
from callwright.warehouse.outcomes import outcome_row, remove_outcomes
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Outcome, Reading, ReasonCode, Review, Sample, Tool
from callwright.warehouse.releases import read_tools
from callwright.warehouse.rows import Row, rows_of
from callwright.warehouse.store import Warehouse

# The review kinds whose answers may edit a sample, and those that decide its outcome.
_EDITING = [SAMPLE_REVIEW, DISAMBIGUATION, DIALOGUE_ACTS]
_SETTLING = [*_EDITING, CORRECTION, TOOL_REVIEW]
_NOT_OF_SAMPLES = (TOOL_REVIEW, CORRECTION, PREDICTION_AUDIT, FINDING_REVIEW)
_LATE = timedelta(hours=1)  # how long an unanswered import may take to arrive


class Pulled(NamedTuple):
    """What a pull brought: new reviews by decision, and what became of others."""

    reviews: int = 0
    accepted: int = 0
    edited: int = 0
    rejected: int = 0
    returned: int = 0  # edits that can't be used as typed
    contradicted: int = 0  # edits that a check contradicts, or that none can decide
    withdrawn: int = 0  # earlier reviews that were deleted, skipped or changed by others
    deleted: int = 0  # missing tasks, asked again if nobody had decided
    elsewhere: int = 0  # annotations of tasks that another work folder pushed
    resumed: int = 0  # edits of an interrupted pull, checked by this one
    problems: tuple[str, ...] = ()  # annotations that don't fit, each in a sentence


async def pull_reviews(settings: Settings, studio: LabelStudio, progress: Progress) -> Pulled:
    """Pull what is new, record it and carry it out; a repeated annotation changes nothing.

    What an earlier pull recorded but did not reach is carried out as well. Raises
    AnnotationError if Label Studio cannot be reached; an annotation that does not fit is
    reported as a problem.
    """
    async with async_review_turn(settings, progress):
        return await _pull(settings, studio, progress)


async def _pull(settings: Settings, studio: LabelStudio, progress: Progress) -> Pulled:
    warehouse = open_warehouse(settings)
    unchecked = {row["key"] for row in warehouse.rows(sql("pulling.unseen"), [_EDITING])}
    projects, kinds = studio.find_projects(), (*REVIEW_KINDS, TRAINING)
    with warehouse.together():
        absent = [kind for kind in kinds if kind not in projects]
        gone = Pulled(deleted=sum(note_deleted(warehouse, studio, kind, None) for kind in absent))
    found = [projects[kind] for kind in kinds if kind in projects]
    pulls = [gone, *(_take_in(project, warehouse, studio, progress) for project in found)]
    pulled = Pulled(*(reduce(add, counts) for counts in zip(*pulls, strict=True)))
    with warehouse.together():
        carry_over_corrections(warehouse)
        reopen_undecided(warehouse)
        warehouse.execute(sql("pulling.second_person"), [DOUBTFUL, VOUCHED_EDITS])
        settle_decisions(warehouse)
        if pulled.reviews or pulled.withdrawn:
            note_agreement(warehouse)
        tools_against = settle_edited_tools(warehouse)
    checked = await _check_edited(warehouse, settings, progress)
    resumed = sum(row["key"] in unchecked for row in checked)
    if checked:
        settle_decisions(warehouse)  # an edit counts only once the checks have seen it
    with warehouse.together():
        rows = warehouse.rows(sql("pulling.against"), [_EDITING, VOUCHED_EDITS])
        ask(
            warehouse,
            [ReviewQuestion(row["subject"], DOUBTFUL, row["reason"], row["build"]) for row in rows],
        )
        keys = {row["key"] for row in checked}
        contradicted = len({row["subject"] for row in rows} & keys)
        suspects_of_audits(warehouse)
    ask_more_people(warehouse, studio)
    if warehouse.rows(sql("pulling.came_back")):
        push_reviews(settings, studio, progress)
    return pulled._replace(contradicted=contradicted + tools_against, resumed=resumed)


def _take_in(
    project: Project, warehouse: Warehouse, studio: LabelStudio, progress: Progress
) -> Pulled:
    """Store what people answered in a review kind's project since the last pull."""
    kind = project.kind
    if project.changed_by_hand:
        progress.say(f"The labeling interface of {project.url} was changed by hand.")
    cursors = warehouse.rows(
        "select pulled_until from review_cursors where server = ? and kind = ?", [studio.name, kind]
    )
    since = cursors[0]["pulled_until"] if cursors else None
    pulled = studio.pull(project, since)
    if pulled.foreign:
        progress.say(
            f"{count_of(len(pulled.foreign), 'task')} of {project.url} did not come from "
            f"callwright and {'is' if len(pulled.foreign) == 1 else 'are'} ignored."
        )
    with warehouse.together():
        pushed = pushed_tasks(warehouse, studio, kind)
        states = [state for state in pulled.states if (state.subject, state.version) in pushed]
        reading = read_reviews(warehouse, pulled.annotations, pushed)
        problems = (*pulled.problems, *reading.problems)
        # One transaction: an edit is never noted without the sample that it made.
        tables: dict[str, list[Row]] = {
            "review_rounds": reading.returned,
            "task_states": changed_states(warehouse, studio, project, states),
        }
        for table, row in rows_of([*reading.edited, *reading.reviews], datetime.now(UTC)):
            tables.setdefault(table, []).append(row)
        warehouse.put_rows(tables)
        note_answers(warehouse)
        withdrawn = withdraw_reviews(warehouse, studio.name, states)
    remove_doubles(warehouse, studio, project, since)
    deleted = note_deleted(warehouse, studio, kind, project)
    # The cursor stays before a problem, so that the next pull reads it again once it is mended.
    if pulled.cursor is not None and not problems:
        cursor = {"server": studio.name, "kind": kind, "pulled_until": pulled.cursor}
        warehouse.put_rows({"review_cursors": [cursor]})
    decisions = Counter(review.decision for review in reading.reviews)
    return Pulled(
        reviews=decisions.total(),
        accepted=decisions["accept"],
        edited=decisions["edit"],
        rejected=decisions["reject"],
        returned=len(reading.returned),
        withdrawn=withdrawn,
        deleted=deleted,
        elsewhere=reading.elsewhere,
        problems=problems,
    )


async def _check_edited(warehouse: Warehouse, settings: Settings, progress: Progress) -> list[Row]:
    """Run edited samples that no check has seen through the checks of the build that asked."""
    unseen = warehouse.rows(sql("pulling.unseen"), [_EDITING])
    for build, rows in grouped(unseen, itemgetter("build")).items():
        run = reopen_build(build, settings, progress)
        with open_local_carrier(run.recipe, settings) as carrier:
            await check_edited(
                run, carrier, [Sample.model_validate(orjson.loads(row["body"])) for row in rows]
            )
    return unseen


def withdraw_reviews(warehouse: Warehouse, server: str, states: Iterable[TaskState]) -> int:
    """Withdraw reviews whose annotations are no longer submitted; return how many.

    An annotation that somebody else has changed since counts as that person's review, and no
    longer as its maker's; a person's second answer to a task replaces the first.
    """
    tasks = {state.task_id: state.submitted for state in states}
    if not tasks:
        return 0
    rows = warehouse.rows(sql("pulling.under_review"), [server, sorted(tasks)])
    gone = [
        row["key"]
        for row in rows
        if row["is_replaced"] or row["annotation_id"] not in tasks[row["task_id"]]
    ]
    if gone:
        warehouse.execute(sql("pulling.withdraw"), [gone])
        warehouse.execute(sql("pulling.withdraw_carried"), [CORRECTION])
    return len(gone)


def reopen_undecided(warehouse: Warehouse) -> None:
    """Return samples that have no decision left to their state before the review.

    Doubtful samples wait again; samples that had landed by themselves still do. No decision is
    left if all answers were taken back, or if the reviewers no longer agree.
    """
    undecided = warehouse.rows(sql("pulling.undecided"), [_SETTLING, DIALOGUE_ACTS])
    positions = grouped(undecided, itemgetter("build", "subject"))
    if not positions:
        return
    doubtful = [
        rows
        for rows in positions.values()
        if rows[0]["cause"] == DOUBTFUL and rows[0]["stage"] != LANDING.land
    ]
    later = [row for rows in doubtful for row in rows[1:]]
    outcomes = [_outcome(rows[0], rows[0]["stage"], rows[0]["asked"]) for rows in doubtful]
    others = [rows for rows in positions.values() if rows not in doubtful]
    for rows in others:  # passed at each stage again, and landed even where an edit took its place
        stages = dict.fromkeys(row["stage"] for row in rows)
        if any(row["is_sample"] for row in rows):
            stages[LANDING.land] = None
        outcomes += [_outcome(rows[0], stage) for stage in stages]
    landed = {rows[0]["subject"] for rows in others}
    acceptances = warehouse.rows(sql("pulling.accepted"), [[subject for _, subject in positions]])
    remove_outcomes(warehouse, [(row["build"], row["stage"], row["subject"]) for row in later])
    warehouse.put_rows(
        {
            "outcomes": outcomes,
            "acceptances": [
                _acceptance(row, is_landed=row["subject"] in landed) for row in acceptances
            ],
        },
        replacing=True,
    )


def _outcome(row: Row, stage: str, asked: str | None = None) -> Row:
    """Return a sample's outcome at a stage before people answered: passed, or waiting.

    It waits for the reason `asked`.
    """
    before = Outcome(build=row["build"], stage=stage, subject=row["subject"], outcome="passed")
    if asked is not None:
        code: ReasonCode = "unproved" if stage == LANDING.review else "contradicted"
        before = before.with_changes(outcome="waiting", reason_code=code, reason=asked)
    return outcome_row(before)


def _acceptance(row: Row, *, is_landed: bool) -> Row:
    now = datetime.now(UTC)
    if not is_landed:
        return row | {"withdrawn_at": row["withdrawn_at"] or now}
    grade = row["grade"] if row["grade"] in LANDED_GRADES else LANDED_GRADES[0]
    by_machine = {"accepted_by": "machine", "decided_by": "machine", "grade": grade}
    return row | by_machine | {"accepted_at": now, "withdrawn_at": None}


_Parse = Callable[[PulledAnnotation], ParsedReview]


class ReadReviews(NamedTuple):
    """What new annotations hold: reviews, edited samples and tools, returned edits, problems.

    `elsewhere` counts annotations of tasks that this work folder has not pushed to their server.
    """

    reviews: list[Review]
    edited: list[Sample | Tool]
    returned: list[Row]
    problems: list[str]
    elsewhere: int


class _Known(NamedTuple):
    """What was read before: reviews by annotation, returned edits, and newest task versions.

    Returned edits are by person and time.
    """

    reviewed: dict[tuple[str, int], datetime]
    returned: set[tuple[str, str, datetime]]
    versions: dict[str, int]


def read_reviews(
    warehouse: Warehouse, annotations: Sequence[PulledAnnotation], pushed: "PushedTasks"
) -> ReadReviews:
    """Read annotations of `pushed` tasks, except those that are known and unchanged."""
    known_reviews = _known(warehouse)
    new = [one for one in annotations if not _is_known(one, known_reviews)]
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
        # a training item does not go back: its results say what was wrong
        if parsed.returned is not None and annotation.kind != TRAINING:
            read.returned.append(_returned(parsed.returned, annotation, known_reviews.versions))
    return read


PushedTasks = Set[tuple[str, int]]  # subjects and versions


def pushed_tasks(warehouse: Warehouse, studio: LabelStudio, kind: str) -> PushedTasks:
    """Return the tasks that this work folder has at a server, without those of others.

    Others may have tasks there about the same samples.
    """
    rows = warehouse.rows(sql("reading_reviews.pushed"), [studio.name, kind])
    return {(row["subject"], row["version"]) for row in rows}


def note_answers(warehouse: Warehouse) -> None:
    """Store what new edits of samples say, and what edits of gold items must say to be right."""
    for table, key in (("reviews", "key"), ("gold_items", "subject")):
        rows = warehouse.rows(sql(f"reading_reviews.unanswered_{table}"))
        if rows:
            answers = [answer_of_edit(Sample.model_validate_json(row["body"])) for row in rows]
            warehouse.execute(
                sql("reading_reviews.answer", table=table, key=key),
                [[row["id"] for row in rows], answers],
            )


def _parsers(warehouse: Warehouse, annotations: Sequence[PulledAnnotation]) -> dict[str, _Parse]:
    """Return a parser of annotations for each subject in the warehouse, by its key.

    Subjects are samples, tools, paths or predictions.
    """
    keys: defaultdict[str, list[str]] = defaultdict(list)
    for annotation in annotations:
        kind = annotation.kind if annotation.kind in _NOT_OF_SAMPLES else SAMPLE_REVIEW
        keys[kind].append(annotation.subject)
    samples, tools = read_samples(warehouse, keys[SAMPLE_REVIEW])
    readings = _readings(warehouse, keys[SAMPLE_REVIEW])
    made = read_tools(warehouse, keys[TOOL_REVIEW]) if keys[TOOL_REVIEW] else {}
    paths = read_paths(warehouse, keys[CORRECTION]) if keys[CORRECTION] else {}
    return {
        **{key: partial(parse_tool_review, tool=tool) for key, tool in made.items()},
        **{
            key: partial(
                _parse_of_sample,
                sample=sample,
                tools=[tools[one] for one in sample.candidates],
                readings=readings.get(key, ()),
            )
            for key, sample in samples.items()
        },
        **{key: partial(parse_correction_review, subject=key) for key in paths},
        **{
            key: partial(parse_audit, prediction=key)
            for key in read_audited(warehouse, keys[PREDICTION_AUDIT])
        },
        **{key: partial(parse_finding_review, finding=key) for key in keys[FINDING_REVIEW]},
    }


def _readings(warehouse: Warehouse, keys: Sequence[str]) -> dict[str, list[Reading]]:
    """Return the readings of these samples, by their keys."""
    rows = warehouse.rows(sql("reading_reviews.readings"), [keys]) if keys else []
    return {
        row["subject"]: [Reading.model_validate(one) for one in orjson.loads(row["readings"])]
        for row in rows
    }


def _parse_of_sample(
    annotation: PulledAnnotation, sample: Sample, tools: Sequence[Tool], readings: Sequence[Reading]
) -> ParsedReview:
    if annotation.kind == DISAMBIGUATION:
        return parse_disambiguation(annotation, sample)
    if annotation.kind == DIALOGUE_ACTS:
        return parse_acts_review(annotation, sample)
    return parse_review(annotation, sample, tools, readings)


def _known(warehouse: Warehouse) -> _Known:
    names = ("reviewed", "returned")
    rows = warehouse.rows_by_name({name: (sql(f"reading_reviews.{name}"), []) for name in names})
    reviewed, returned = (rows[name] for name in names)
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


def _returned(edit: UnusableEdit, annotation: PulledAnnotation, versions: dict[str, int]) -> Row:
    """Return the row of an edit that goes back to people as the next unused version of the task."""
    task = f"{annotation.kind}:{annotation.subject}"
    versions[task] = max(edit.version, versions.get(task, 1)) + 1
    return edit.model_dump() | {
        "version": versions[task],
        "subject": annotation.subject,
        "kind": annotation.kind,
        "cause": RETURNED_EDIT,
        "reviewer": annotation.reviewer,
        "made_at": annotation.reviewed_at,
        "pushed_at": None,
        "server": None,
        "priority": RETURNED_FIRST,
    }


def changed_states(
    warehouse: Warehouse, studio: LabelStudio, project: Project, states: Iterable[TaskState]
) -> list[Row]:
    """Return the unknown states as rows; a draft that a pull no longer reports is gone."""
    now = datetime.now(UTC)
    known_states = {
        row["task_id"]: row
        for row in warehouse.rows(sql("reading_reviews.known"), [studio.name, project.kind])
    }
    seen = {
        state.task_id: (
            state.model_dump(exclude={"submitted"})
            | {
                "server": studio.name,
                "annotations": len(state.submitted),
                "seen_at": now,
                "deleted_at": None,
            }
        )
        for state in states
    }
    undrafted = {
        task: row | {"drafts": 0, "seen_at": now}
        for task, row in known_states.items()
        if row["drafts"] and task not in seen
    }
    return [
        row
        for task, row in (seen | undrafted).items()
        if task not in known_states or known_states[task] | {"seen_at": now} != row
    ]


def remove_doubles(
    warehouse: Warehouse, studio: LabelStudio, project: Project, since: datetime | None
) -> int:
    """Remove duplicate tasks that nobody has worked on from the server; return how many.

    An import that is not answered in time is sent again, and the first may arrive after all. So
    what was pushed shortly before `since`, or after it, is checked once more.
    """
    start = since - _LATE if since else None
    rows = warehouse.rows(sql("reading_reviews.pushed_lately"), [studio.name, project.kind, start])
    tasks_by_key = {task_key(row["kind"], row["subject"], row["version"]): row for row in rows}
    doubles = studio.remove_doubles(project, list(tasks_by_key))
    if doubles.kept:
        kept_tasks = [
            (task, *(tasks_by_key[key][name] for name in ("kind", "subject", "version")))
            for key, task in doubles.kept
        ]
        warehouse.put_rows({"task_states": new_states(warehouse, studio.name, kept_tasks)})
        with warehouse.writing() as connection:
            connection.execute(
                sql("reading_reviews.deleted"),
                {"server": studio.name, "gone": sorted(doubles.removed)},
            )
    return len(doubles.removed)


def note_deleted(
    warehouse: Warehouse, studio: LabelStudio, kind: str, project: Project | None
) -> int:
    """Note deleted tasks, all if the project is gone, and return how many there were.

    For those without a decision, people are asked again.
    """
    tasks = {
        row["task_id"] for row in warehouse.rows(sql("reading_reviews.tasks"), [studio.name, kind])
    }
    gone = tasks if project is None else studio.gone(project, tasks)
    if gone:
        with warehouse.writing() as connection:
            for name in ("deleted", "request_anew", "round_anew"):
                connection.execute(
                    sql(f"reading_reviews.{name}"), {"server": studio.name, "gone": sorted(gone)}
                )
    return len(gone)
