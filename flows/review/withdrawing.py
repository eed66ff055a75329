"""Taking back what people took back: annotations that were deleted, or changed into a skip, count no more."""

from collections.abc import Iterable
from datetime import UTC, datetime

from annotation.screens import CORRECTION, DIALOGUE_ACTS, DISAMBIGUATION, SAMPLE_REVIEW, TOOL_REVIEW
from annotation.studio.records import TaskState
from flows.review.questions import DOUBTFUL
from warehouse.outcomes import outcome_row, remove_outcomes
from warehouse.records import Outcome, ReasonCode
from warehouse.rows import Row
from warehouse.store import Warehouse


def withdraw_reviews(warehouse: Warehouse, server: str, states: Iterable[TaskState]) -> int:
    """Withdraw the reviews whose annotations are no longer among those submitted for their task; how many these were."""
    tasks = {state.task_id: state.submitted for state in states}
    if not tasks:
        return 0
    rows = warehouse.rows(_STANDING, [server, sorted(tasks)])
    gone = [row["key"] for row in rows if row["annotation_id"] not in tasks[row["task_id"]]]
    if gone:
        warehouse.execute(_WITHDRAW, [gone])
        warehouse.execute(_WITHDRAW_CARRIED, [CORRECTION])
    return len(gone)


def reopen_undecided(warehouse: Warehouse) -> None:
    """Bring what no decision is left about back to where it was before people spoke.

    What was doubtful waits again; what had landed by itself does so still. No decision is left where all that was said was
    taken back, and where those who spoke agree no more.
    """
    seats: dict[tuple[str, str], list[Row]] = {}
    for row in warehouse.rows(_UNDECIDED, [_SETTLING, DIALOGUE_ACTS]):
        seats.setdefault((row["build"], row["subject"]), []).append(row)
    if not seats:
        return
    doubtful = [said for said in seats.values() if said[0]["cause"] == DOUBTFUL and said[0]["stage"] != _LAND]
    later = [row for said in doubtful for row in said[1:]]
    outcomes = [_outcome(said[0], said[0]["stage"], said[0]["asked"]) for said in doubtful]
    others = [said for said in seats.values() if said not in doubtful]
    outcomes += [_outcome(said[0], stage) for said in others for stage in _stages(said)]
    landed = {said[0]["subject"] for said in others}
    acceptances = warehouse.rows(_ACCEPTED, [[subject for _, subject in seats]])
    remove_outcomes(warehouse, [(row["build"], row["stage"], row["subject"]) for row in later])
    warehouse.put_rows(
        {
            "outcomes": outcomes,
            "acceptances": [_acceptance(row, is_landed=row["subject"] in landed) for row in acceptances],
        },
        replacing=True,
    )


def _stages(said: Iterable[Row]) -> list[str]:
    """The stages that a sample which had landed by itself passes again: the last as well, where an edit had taken its place."""
    return list(dict.fromkeys([*(row["stage"] for row in said), *(_LAND for row in said if row["is_sample"])]))


def _outcome(row: Row, stage: str, asked: str | None = None) -> Row:
    """What a sample was at a stage before people spoke: it passed, or waited for the reason that they were asked for."""
    if asked is None:
        return outcome_row(Outcome(build=row["build"], stage=stage, subject=row["subject"], outcome="passed"))
    code: ReasonCode = "unproved" if stage == "review" else "contradicted"
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
        "proved": True,
        "vouched": False,
        "accepted_at": now,
        "withdrawn_at": None,
    }


_LAND = "land"
_SETTLING = [
    SAMPLE_REVIEW,
    DISAMBIGUATION,
    CORRECTION,
    TOOL_REVIEW,
    DIALOGUE_ACTS,
]  # the review kinds that outcomes tell of
_STANDING = """
    select key, task_id, annotation_id from reviews
    where server = ? and withdrawn_at is null and annotation_id > 0 and list_contains(?::bigint[], task_id)
"""
_WITHDRAW = "update reviews set withdrawn_at = now() where list_contains(?::varchar[], key)"
# What was said about a path stands as a review about each sample of it, without an annotation of its own.
_WITHDRAW_CARRIED = """
    update reviews set withdrawn_at = now() from reviews p
    where reviews.kind = ? and reviews.annotation_id = 0 and reviews.withdrawn_at is null and p.kind = reviews.kind
        and p.withdrawn_at is not null and p.reviewer = reviews.reviewer and p.reviewed_at = reviews.reviewed_at
        and reviews.carried_from = p.subject
"""
# The outcomes that tell of a decision which is no more, and why people had been asked. What is said of dialogue acts decides
# nothing about a doubt, and an edited sample lands, or does not, by the decision about what it was edited from.
_UNDECIDED = """
    with asked as (
        select subject, coalesce(min(cause) filter (cause = 'doubtful'), min(cause)) as cause,
            min(reason) filter (cause = 'doubtful') as reason
        from review_requests group by subject
    )
    select f.build, f.stage, f.subject, coalesce(q.cause, 'spot check') as cause, coalesce(q.reason, '') as asked,
        s.key is not null as is_sample
    from outcomes f join stages t on t.name = f.stage left join asked q on q.subject = f.subject
    left join samples s on s.key = f.subject
    where f.decided_by = 'person'
        and not exists (
            select 1 from decisions d where d.subject = f.subject and list_contains(?::varchar[], d.kind)
                and (d.kind <> ? or d.decision = 'reject' or coalesce(q.cause, '') <> 'doubtful')
        )
        and not (f.stage = 'land' and coalesce(s.stage, '') = 'review')
    order by f.build, f.subject, t.position
"""
_ACCEPTED = "select * from acceptances where list_contains(?::varchar[], subject)"
