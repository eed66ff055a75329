"""Pulling reviews: what people said since the last pull is kept, carried out, checked again, and taken back where they did."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

import orjson

from callwright.annotation.screens import (
    CORRECTION,
    DIALOGUE_ACTS,
    DISAMBIGUATION,
    REVIEW_KINDS,
    SAMPLE_REVIEW,
    TOOL_REVIEW,
    TRAINING,
)
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.records import Project, TaskState
from callwright.flows.build import reopen_build
from callwright.flows.making import check_edited
from callwright.flows.progress import Progress
from callwright.flows.recipe import LANDED_GRADES
from callwright.flows.review.prediction_audits import suspects_of_audits
from callwright.flows.review.pushing import ask_more_people, push_reviews
from callwright.flows.review.questions import DOUBTFUL, ReviewQuestion, ask, carry_over_corrections
from callwright.flows.review.reading_reviews import (
    changed_states,
    note_answers,
    note_deleted,
    pushed_tasks,
    read_reviews,
    remove_doubles,
)
from callwright.flows.review.resolutions import VOUCHED_EDITS, settle_decisions, settle_edited_tools
from callwright.flows.review.servers import async_review_turn
from callwright.flows.review.status import note_agreement
from callwright.flows.runner import local_workers
from callwright.flows.settings import Settings, open_warehouse
from callwright.flows.stages import LANDING
from callwright.warehouse.outcomes import outcome_row, remove_outcomes
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Outcome, ReasonCode, Sample
from callwright.warehouse.rows import Row, rows_of
from callwright.warehouse.store import Warehouse


class Pulled(NamedTuple):
    """What a pull brought: new reviews by decision, edits that went back to people, and what did not fit.

    `returned` could not be used as typed, `contradicted` are edits that a check contradicts or that none can decide;
    `withdrawn` are earlier reviews that were deleted, skipped or changed by others since, `deleted` tasks that are gone and
    asked anew where nobody has decided; `elsewhere` are annotations of tasks that this work folder did not
    push; `resumed` are edits that an earlier pull had brought, and that only this one checked.
    """

    reviews: int = 0
    accepted: int = 0
    edited: int = 0
    rejected: int = 0
    returned: int = 0
    contradicted: int = 0
    withdrawn: int = 0
    deleted: int = 0
    elsewhere: int = 0
    resumed: int = 0
    problems: tuple[str, ...] = ()


async def pull_reviews(settings: Settings, studio: LabelStudio, progress: Progress) -> Pulled:
    """Pull what is new since the last pull, note it, and carry it out; the same annotation twice changes nothing.

    What an earlier pull noted but did not get to is carried out as well. Raises AnnotationError where Label Studio
    can't be reached; an annotation that does not fit is a problem of its own.
    """
    async with async_review_turn(settings, progress):
        return await _pull(settings, studio, progress)


async def _pull(settings: Settings, studio: LabelStudio, progress: Progress) -> Pulled:
    warehouse = open_warehouse(settings)
    left = {row["key"] for row in warehouse.rows(sql("pulling.unseen"), [_EDITING])}
    projects = {kind: studio.find_project(kind) for kind in (*REVIEW_KINDS, TRAINING)}
    with warehouse.together():
        absent = [kind for kind, project in projects.items() if project is None]
        gone = Pulled(deleted=sum(note_deleted(warehouse, studio, kind, None) for kind in absent))
    found = (project for project in projects.values() if project is not None)
    pulled = _added([gone, *(_take_in(project, warehouse, studio, progress) for project in found)])
    with warehouse.together():
        carry_over_corrections(warehouse)
        reopen_undecided(warehouse)
        warehouse.execute(sql("pulling.second_person"), [DOUBTFUL, VOUCHED_EDITS])
        settle_decisions(warehouse)
        if pulled.reviews or pulled.withdrawn:
            note_agreement(warehouse)
        tools_against = settle_edited_tools(warehouse)
    again = await _check_edited(warehouse, settings, progress)
    resumed = sum(row["key"] in left for row in again)
    if again:
        settle_decisions(warehouse)
    with warehouse.together():
        rows = warehouse.rows(sql("pulling.against"), [_EDITING, VOUCHED_EDITS])
        ask(warehouse, [ReviewQuestion(row["subject"], DOUBTFUL, row["reason"], row["build"]) for row in rows])
        keys = {row["key"] for row in again}
        contradicted = len({row["subject"] for row in rows} & keys)
        suspects_of_audits(warehouse)
    ask_more_people(warehouse, studio)
    if warehouse.rows(sql("pulling.came_back")):
        push_reviews(settings, studio, progress)
    return pulled._replace(contradicted=contradicted + tools_against, resumed=resumed)


def _added(pulls: Iterable[Pulled]) -> Pulled:
    """What several pulls brought together."""
    whole = Pulled()
    for one in pulls:
        counts = {name: getattr(whole, name) + getattr(one, name) for name in Pulled._fields}
        whole = Pulled(**counts)
    return whole


def _take_in(project: Project, warehouse: Warehouse, studio: LabelStudio, progress: Progress) -> Pulled:
    """Note what people said in a review kind's project since the last pull."""
    kind = project.kind
    if project.changed_by_hand:
        progress.say(f"The labeling interface of {project.url} was changed by hand.")
    cursors = warehouse.rows(
        "select pulled_until from review_cursors where server = ? and kind = ?", [studio.name, kind]
    )
    since = cursors[0]["pulled_until"] if cursors else None
    found = studio.pull(project, since)
    if found.foreign:
        progress.say(f"{len(found.foreign)} tasks of {project.url} are not callwright's; they are left alone.")
    with warehouse.together():
        pushed = pushed_tasks(warehouse, studio, kind)
        states = [state for state in found.states if (state.subject, state.version) in pushed]
        reading = read_reviews(warehouse, found.annotations, pushed)
        problems = (*found.problems, *reading.problems)
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
    if found.cursor is not None and not problems:  # what does not fit is read again until somebody puts it right
        cursor = {"server": studio.name, "kind": kind, "pulled_until": found.cursor}
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
    """Run edited samples that no check has seen yet through the checks of the build that asked about them."""
    unseen = warehouse.rows(sql("pulling.unseen"), [_EDITING])
    by_build: defaultdict[str, list[Sample]] = defaultdict(list)
    for row in unseen:
        by_build[row["build"]].append(Sample.model_validate(orjson.loads(row["body"])))
    for build, samples in by_build.items():
        run = reopen_build(build, settings, progress)
        with local_workers(run.recipe, settings) as workers:
            await check_edited(run, workers, samples)
    return unseen


_EDITING = [SAMPLE_REVIEW, DISAMBIGUATION, DIALOGUE_ACTS]  # the review kinds of which new versions of samples come


def withdraw_reviews(warehouse: Warehouse, server: str, states: Iterable[TaskState]) -> int:
    """Withdraw the reviews whose annotations are no longer among those submitted for their task; how many these were.

    An annotation that somebody else has changed since is that person's word, and no longer the word of whoever made it.
    """
    tasks = {state.task_id: state.submitted for state in states}
    if not tasks:
        return 0
    rows = warehouse.rows(sql("pulling.under_review"), [server, sorted(tasks)])
    gone = [row["key"] for row in rows if row["is_taken_over"] or row["annotation_id"] not in tasks[row["task_id"]]]
    if gone:
        warehouse.execute(sql("pulling.withdraw"), [gone])
        warehouse.execute(sql("pulling.withdraw_carried"), [CORRECTION])
    return len(gone)


def reopen_undecided(warehouse: Warehouse) -> None:
    """Bring what no decision is left about back to where it was before people spoke.

    What was doubtful waits again; what had landed by itself does so still. No decision is left where all that was stated was
    taken back, and where those who spoke agree no more.
    """
    positions: dict[tuple[str, str], list[Row]] = {}
    for row in warehouse.rows(sql("pulling.undecided"), [_SETTLING, DIALOGUE_ACTS]):
        positions.setdefault((row["build"], row["subject"]), []).append(row)
    if not positions:
        return
    doubtful = [
        stated for stated in positions.values() if stated[0]["cause"] == DOUBTFUL and stated[0]["stage"] != LANDING.land
    ]
    later = [row for stated in doubtful for row in stated[1:]]
    outcomes = [_outcome(stated[0], stated[0]["stage"], stated[0]["asked"]) for stated in doubtful]
    others = [stated for stated in positions.values() if stated not in doubtful]
    outcomes += [_outcome(stated[0], stage) for stated in others for stage in _stages(stated)]
    landed = {stated[0]["subject"] for stated in others}
    acceptances = warehouse.rows(sql("pulling.accepted"), [[subject for _, subject in positions]])
    remove_outcomes(warehouse, [(row["build"], row["stage"], row["subject"]) for row in later])
    warehouse.put_rows(
        {
            "outcomes": outcomes,
            "acceptances": [_acceptance(row, is_landed=row["subject"] in landed) for row in acceptances],
        },
        replacing=True,
    )


def _stages(stated: Iterable[Row]) -> list[str]:
    """The stages that a sample which had landed by itself passes again: the last as well, where an edit had taken its place."""
    return list(
        dict.fromkeys([*(row["stage"] for row in stated), *(LANDING.land for row in stated if row["is_sample"])])
    )


def _outcome(row: Row, stage: str, asked: str | None = None) -> Row:
    """What a sample was at a stage before people spoke: it passed, or waited for the reason that they were asked for."""
    if asked is None:
        return outcome_row(Outcome(build=row["build"], stage=stage, subject=row["subject"], outcome="passed"))
    code: ReasonCode = "unproved" if stage == LANDING.review else "contradicted"
    return outcome_row(
        Outcome(
            build=row["build"], stage=stage, subject=row["subject"], outcome="waiting", reason_code=code, reason=asked
        )
    )


def _acceptance(row: Row, *, is_landed: bool) -> Row:
    now = datetime.now(UTC)
    if not is_landed:
        return row | {"withdrawn_at": row["withdrawn_at"] or now}
    return row | {
        "accepted_by": "machine",
        "decided_by": "machine",
        "grade": row["grade"] if row["grade"] in LANDED_GRADES else LANDED_GRADES[0],
        "accepted_at": now,
        "withdrawn_at": None,
    }


_SETTLING = [
    SAMPLE_REVIEW,
    DISAMBIGUATION,
    CORRECTION,
    TOOL_REVIEW,
    DIALOGUE_ACTS,
]  # the review kinds that outcomes tell of
