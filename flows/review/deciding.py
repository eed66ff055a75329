"""Taking back what people decided: accepted samples land, rejected ones do not, edited ones are checked again."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import orjson

from annotation.screens import DIALOGUE_ACTS, DISAMBIGUATION, REVIEW_KINDS, SAMPLE_REVIEW
from annotation.studio.client import LabelStudio
from flows.build import reopen_build
from flows.making import check_samples
from flows.progress import Progress
from flows.review.agreement import note_agreement
from flows.review.decisions import settle_decisions
from flows.review.path_reviews import carry_over_corrections
from flows.review.prediction_audits import suspects_of_audits
from flows.review.pushing import ask_more_people, push_reviews
from flows.review.questions import DOUBTFUL, Question, ask
from flows.review.reading_reviews import changed_states, note_deleted, read_reviews, remove_doubles
from flows.review.tool_decisions import settle_edited_tools
from flows.review.turns import async_review_turn
from flows.review.withdrawing import reopen_undecided, withdraw_reviews
from flows.runner import local_workers
from flows.settings import Settings, open_warehouse
from warehouse.records import Sample
from warehouse.rows import Row, Stamp, rows_of
from warehouse.store import Warehouse


class Pulled(NamedTuple):
    """What a pull brought: new reviews by decision, edits that went back to people, and what did not fit.

    `returned` could not be used as typed, `contradicted` were contradicted by a check; `withdrawn` are earlier reviews that
    were deleted or skipped since, `deleted` tasks that are gone and asked anew where nobody has decided; `elsewhere` are
    annotations of another work folder's samples.
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
    pulled = _added(_take_in(kind, warehouse, studio, progress) for kind in REVIEW_KINDS)
    carry_over_corrections(warehouse)
    reopen_undecided(warehouse)
    settle_decisions(warehouse)
    if pulled.reviews or pulled.withdrawn:
        note_agreement(warehouse)
    tools_against = settle_edited_tools(warehouse)
    again = await _check_edited(warehouse, settings, progress)
    if again:
        settle_decisions(warehouse)
    contradicted = _ask_about_edits(warehouse, again)
    suspects_of_audits(warehouse)
    ask_more_people(warehouse, studio)
    if warehouse.rows(_CAME_BACK):
        push_reviews(settings, studio, progress)
    return pulled._replace(contradicted=contradicted + tools_against)


_CAME_BACK = """
    select 1 from review_rounds where pushed_at is null
    union all
    select 1 from review_requests q join samples s on s.key = q.subject where q.pushed_at is null and s.stage = 'review'
    union all
    select 1 from review_requests q join decisions d on d.result = q.subject and d.kind = q.kind where q.pushed_at is null
    limit 1
"""


def _added(pulls: Iterable[Pulled]) -> Pulled:
    """What several pulls brought together."""
    whole = Pulled()
    for one in pulls:
        counts = {name: getattr(whole, name) + getattr(one, name) for name in Pulled._fields}
        whole = Pulled(**counts)
    return whole


def _take_in(kind: str, warehouse: Warehouse, studio: LabelStudio, progress: Progress) -> Pulled:
    """Note what people said of a review kind since the last pull."""
    project = studio.find_project(kind)
    if project is None:
        return Pulled(deleted=note_deleted(warehouse, studio, kind, None))
    if project.changed_by_hand:
        progress.say(f"The labeling interface of {project.url} was changed by hand.")
    cursors = warehouse.rows(
        "select pulled_until from review_cursors where server = ? and kind = ?", [studio.name, kind]
    )
    since = cursors[0]["pulled_until"] if cursors else None
    found = studio.pull(project, since)
    if found.foreign:
        progress.say(f"{len(found.foreign)} tasks of {project.url} are not callwright's; they are left alone.")
    reading = read_reviews(warehouse, found.annotations)
    problems = (*found.problems, *reading.problems)
    # One transaction: an edit is never noted without the sample that it made.
    tables: dict[str, list[Row]] = {
        "review_rounds": reading.returned,
        "task_states": changed_states(warehouse, studio, project, found.states),
    }
    for table, row in rows_of([*reading.edited, *reading.reviews], Stamp(datetime.now(UTC))):
        tables.setdefault(table, []).append(row)
    warehouse.put_rows(tables)
    withdrawn = withdraw_reviews(warehouse, studio.name, found.states)
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
    unseen = warehouse.rows(_UNSEEN, [_EDITING])
    by_build: defaultdict[str, list[Sample]] = defaultdict(list)
    for row in unseen:
        by_build[row["build"]].append(Sample.model_validate(orjson.loads(row["body"])))
    for build, samples in by_build.items():
        run = reopen_build(build, settings, progress)
        with local_workers(run.recipe, settings) as workers:
            await check_samples(run, workers, samples)
    return unseen


_EDITING = [SAMPLE_REVIEW, DISAMBIGUATION, DIALOGUE_ACTS]  # the review kinds of which new versions of samples come
# A sample that was imported as a release has no build, whose checks its edit could go through; it is kept as it is.
_UNSEEN = """
    select s.key, s.body, min(q.build) as build
    from decisions d join samples s on s.key = d.result join review_requests q on q.subject = d.subject and q.kind = d.kind
    join builds b on b.key = q.build
    where list_contains(?::varchar[], d.kind) and d.decision = 'edit'
        and not exists (select 1 from verdicts v where v.subject = s.key) and q.build in (select key from builds)
    group by all order by s.key
"""


def _ask_about_edits(warehouse: Warehouse, edited: Sequence[Row]) -> int:
    """Ask people about edits that a check contradicted or could not judge; how many of `edited` those are."""
    rows = warehouse.rows(_AGAINST, [_EDITING])
    ask(warehouse, [Question(row["subject"], DOUBTFUL, row["reason"], row["build"]) for row in rows])
    keys = {row["key"] for row in edited}
    return len({row["subject"] for row in rows} & keys)


_AGAINST = """
    select f.build, f.subject,
        'As edited by ' || any_value(d.reviewer) || ': ' || arg_max(f.reason, f.made_at) as reason
    from decisions d join outcomes f on f.subject = d.result
    where list_contains(?::varchar[], d.kind) and d.decision = 'edit' and f.outcome in ('waiting', 'failed')
    group by f.build, f.subject
"""
