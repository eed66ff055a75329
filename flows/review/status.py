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
    more = {title: (sql, [kind]) for title, (kind, sql) in _OF_KINDS.items()} | {"next": (_NEXT, [NEXT_SHOWN])}
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
        {"queue": (_QUEUE, []), "people": ("from reviewer_figures", []), "work_left": (_WORK_LEFT, [ASSUMED_SECONDS])}
        | {"unsettled": (_UNSETTLED, [DOUBTFUL]), **(more or {})}
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


_COUNTS = """
    count(*) as tasks, count(*) filter (pushed_at is null and is_current and not is_answered) as to_push,
    count(*) filter (pushed_at is not null and not is_answered) as with_people,
    count(*) filter (is_answered) as reviewed,
    count(*) filter (pushed_at is null and not is_current and not is_answered) as outdated
"""
_QUEUE_OF_KIND = f"select cause, {_COUNTS} from review_queue where kind = ? group by cause order by cause"  # noqa: S608 - our own
_REVIEWERS = """
    select reviewer, count(*) as reviews, count(*) filter (decision = 'accept') as accepted,
        count(*) filter (decision = 'edit') as edited, count(*) filter (decision = 'reject') as rejected,
        round(median(seconds), 1) as median_seconds
    from standing_reviews where kind = ? and annotation_id > 0 group by reviewer order by reviews desc, reviewer
"""
_OF_KINDS = {
    "samples": (SAMPLE_REVIEW, _QUEUE_OF_KIND),
    "reviewers": (SAMPLE_REVIEW, _REVIEWERS),
    "tools": (TOOL_REVIEW, _QUEUE_OF_KIND),
    "tool_reviewers": (TOOL_REVIEW, _REVIEWERS),
    "corrections": (CORRECTION, _QUEUE_OF_KIND),
    "correction_reviewers": (CORRECTION, _REVIEWERS),
    "disambiguations": (DISAMBIGUATION, _QUEUE_OF_KIND),
    "disambiguation_reviewers": (DISAMBIGUATION, _REVIEWERS),
}
# `skipped` and `drafts` are tasks that nobody has answered yet, but somebody skipped or began.
_QUEUE = f"""
    with states as (
        select subject, kind, version, server, skipped, drafts from task_states where deleted_at is null
    )
    select kind, cause, {_COUNTS},
        count(*) filter (not is_answered and s.skipped > 0) as skipped,
        count(*) filter (not is_answered and s.drafts > 0) as drafts
    from review_queue q left join states s using (subject, kind, version, server)
    group by kind, cause order by kind, cause
"""  # noqa: S608
# What people have still to answer: as many answers to a question as are wanted and not given.
_WORK_LEFT = """
    with paces as (
        select kind, median(seconds) as seconds from standing_reviews where annotation_id > 0 and seconds > 0 group by kind
    )
    select q.kind, count(*) as questions, sum(greatest(1, q.reviewers - q.speakers))::bigint as answers,
        round(coalesce(any_value(p.seconds), ?), 1) as median_seconds, any_value(p.seconds) is null as is_assumed,
        round(answers * median_seconds / 3600, 3) as hours
    from review_queue q left join paces p on p.kind = q.kind
    where not q.is_answered and (q.is_current or q.pushed_at is not null)
    group by q.kind order by q.kind
"""
# On what nothing counts yet: people have said different things, also after one more was asked (the view unsettled_reviews has what
# nobody more was asked about), or an edit is in doubt, and only those who made it have spoken. `others` can be asked next.
_UNSETTLED = """
    with newest as (
        select subject, kind, max(round) as round from review_words group by all
    ), said as (
        select w.subject, w.kind, w.round, list(w.reviewer order by w.reviewer) as said_by,
            list(distinct w.decision order by w.decision) as decisions
        from review_words w join newest using (subject, kind, round)
        where not exists (select 1 from gold_items g where g.subject = w.subject and g.kind = w.kind)
        group by w.subject, w.kind, w.round having count(distinct w.answer) > 1
    ), reviewers as (
        select kind, list(distinct reviewer) as everybody from standing_reviews where annotation_id > 0 group by kind
    ), unsettled as (
        select s.kind, s.subject, s.decisions, s.said_by from said s
        where not exists (
            select 1 from decisions d where d.subject = s.subject and d.kind = s.kind and d.round = s.round
        )
        union all
        select q.kind, q.subject, ['edit'], list(distinct e.reviewer order by e.reviewer)
        from review_queue q join standing_reviews e on e.result = q.subject and e.decision = 'edit'
        where q.cause = ? and q.is_current and not q.is_answered
            and not exists (select 1 from said s where s.subject = q.subject and s.kind = q.kind)
        group by q.kind, q.subject
    )
    select u.*, list_sort(list_filter(coalesce(r.everybody, []), lambda one: not list_contains(u.said_by, one))) as others
    from unsettled u left join reviewers r on r.kind = u.kind
    order by u.kind, u.subject
"""
# What has been pushed stands where it was pushed to; of the others it is known where they would.
_NEXT = """
    with places as (
        select q.* exclude (priority), if(q.pushed_at is null, coalesce(p.priority, q.priority), round(q.priority, 4)) as priority
        from review_queue q left join review_priority p using (subject, kind, version)
        where q.is_current and not q.is_answered
    )
    select kind, subject, version, cause, category, priority, pushed_at is not null as is_pushed,
        if(version > 1, problem, reason) as reason
    from places
    qualify row_number() over (partition by kind order by priority desc, build, category, requested_at, subject, version) <= ?
    order by kind, priority desc, build, category, requested_at, subject, version
"""


def note_agreement(warehouse: Warehouse) -> None:
    """Compute anew how far people agree, of each review kind, and keep that in the place of what was known."""
    now = datetime.now(UTC)
    warehouse.put_rows({"agreement": [{**row, "computed_at": now} for row in read_agreement(warehouse)]})
    warehouse.execute("delete from agreement where computed_at <> ?", [now])


def read_agreement(warehouse: Warehouse) -> list[Row]:
    """How far people agree, of each review kind by each measure, over all, by reviewer, by pair and by reason."""
    words: defaultdict[str, list[ItemRating]] = defaultdict(list)
    for row in warehouse.rows(_WORDS):
        words[row["kind"]].append(ItemRating(row["subject"], row["reviewer"], row["label"], tuple(row["reasons"])))
    return [{"kind": kind, **one._asdict()} for kind, stated in words.items() for one in measure_agreement(stated)]


def agreement_report(settings: Settings) -> dict[str, list[Row]]:
    """How far reviewers agree, how they do on gold items, and what share of what was drawn is usable."""
    warehouse = open_warehouse(settings)
    note_agreement(warehouse)
    return warehouse.rows_by_name({name: (sql, []) for name, sql in _REPORT.items()})


# The words about each thing of the newest round in which two or more spoke. Who was asked only because the others did not
# agree does not count: such words come only where others differ, and would bend the figures. So of each thing only as many
# words count, the first ones, as the recipe asks for, or as the least that was answered in full has. Edits of a thing that say
# something else have labels of their own ("edit 1", "edit 2"), the same for all things: so chance is not made small by words that
# nobody else could say.
_WORDS = """
    with said as (
        select w.kind, w.subject, w.reviewer, w.reasons, w.round,
            w.decision || if(w.decision <> 'edit', '', ' ' || dense_rank() over (
                partition by w.subject, w.kind, w.round, w.decision order by w.answer
            )) as label, coalesce(q.cause, '') as cause,
            coalesce(q.reviewers, 1) as reviewers, coalesce(
                try_cast(b.body ->> '$.review.reviewers' as integer),
                try_cast(json_extract_string(b.body -> '$.review.reviewers', '$."' || q.cause || '"') as integer), 1
            ) as by_rule,
            count(*) over same as speakers, row_number() over (same order by w.spoke_at, w.reviewer) as place
        from review_words w
        left join review_requests q on q.subject = w.subject and q.kind = w.kind
        left join builds b on b.key = q.build
        where w.annotation_id > 0
            and not exists (select 1 from gold_items g where g.subject = w.subject and g.kind = w.kind)
        window same as (partition by w.subject, w.kind, w.round)
    ), several as (
        select * from said where speakers > 1
        qualify round = max(round) over (partition by subject, kind)
    ), counted as (
        select *, least(greatest(by_rule, 2), coalesce(
            min(speakers) filter (speakers >= reviewers) over (partition by kind, cause), 9
        )) as wanted
        from several
    )
    select kind, subject, reviewer, label, reasons from counted where place <= wanted order by kind, subject, place
"""
_REPORT = {
    "agreement": "from agreement order by kind, slice_by, slice_value, measure",
    "gold_items": "from annotator_accuracy",
    "usable": "from usable_share",
}
