"""What stands at each task in Label Studio: kept as it was last seen, with what was deleted there."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from annotation.studio.client import LabelStudio
from annotation.studio.records import Project, TaskState
from annotation.task import task_key
from warehouse.rows import Row
from warehouse.store import Warehouse


def changed_states(
    warehouse: Warehouse, studio: LabelStudio, project: Project, states: Iterable[TaskState]
) -> list[Row]:
    """The states that are not known yet, as rows; a draft that a pull does not tell of any more is gone."""
    now = datetime.now(UTC)
    known = {row["task_id"]: row for row in warehouse.rows(_KNOWN, [studio.name, project.kind])}
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
    rows = warehouse.rows(_PUSHED_LATELY, [studio.name, project.kind, start])
    asked = {task_key(row["kind"], row["subject"], row["version"]): row for row in rows}
    doubles = studio.remove_doubles(project, list(asked))
    if doubles.kept:
        now = datetime.now(UTC)
        states = [{**asked[key], "server": studio.name, "task_id": task, "seen_at": now} for key, task in doubles.kept]
        noted = warehouse.rows("select task_id from task_states where server = ?", [studio.name])
        known = {row["task_id"] for row in noted}
        warehouse.put_rows({"task_states": [NOTHING_YET | row for row in states if row["task_id"] not in known]})
        with warehouse.writing() as connection:
            connection.execute(_DELETED, {"server": studio.name, "gone": sorted(doubles.removed)})
    return len(doubles.removed)


def note_deleted(warehouse: Warehouse, studio: LabelStudio, kind: str, project: Project | None) -> int:
    """Note which tasks somebody deleted, all where the project is gone; how many these were.

    About those of which nobody has decided people are asked anew.
    """
    tasks = {row["task_id"] for row in warehouse.rows(_TASKS, [studio.name, kind])}
    gone = tasks if project is None else studio.gone(project, tasks)
    if gone:
        with warehouse.writing() as connection:
            for statement in (_DELETED, _REQUEST_ANEW, _ROUND_ANEW):
                connection.execute(statement, {"server": studio.name, "gone": sorted(gone)})
    return len(gone)


NOTHING_YET: Row = {"annotations": 0, "skipped": 0, "drafts": 0, "deleted_at": None}
_LATE = timedelta(hours=1)
_PUSHED_LATELY = """
    select distinct t.kind, t.subject, t.version from task_states t join review_queue q using (kind, subject, version)
    where t.server = ? and t.kind = ? and t.deleted_at is null and q.pushed_at > coalesce(?::timestamptz, '-infinity')
"""
_KNOWN = "select * from task_states where server = ? and kind = ?"
_TASKS = "select task_id from task_states where server = ? and kind = ? and deleted_at is null"
_DELETED = (
    "update task_states set deleted_at = now() where server = $server and list_contains($gone::bigint[], task_id)"
)
_OPEN = """
    t.server = $server and list_contains($gone::bigint[], t.task_id) and exists (
        select 1 from review_queue u
        where u.subject = t.subject and u.kind = t.kind and u.version = t.version and not u.is_answered)
"""
_REQUEST_ANEW = f"""
    update review_requests set pushed_at = null, server = null from task_states t
    where {_OPEN} and t.version = 1 and t.subject = review_requests.subject and t.kind = review_requests.kind
"""  # noqa: S608 - our own condition
_ROUND_ANEW = f"""
    update review_rounds set pushed_at = null, server = null from task_states t
    where {_OPEN} and t.version = review_rounds.version and t.subject = review_rounds.subject and t.kind = review_rounds.kind
"""  # noqa: S608
