"""Asking people: what waits is pushed to Label Studio, each review kind to its project, the worthiest first."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from annotation.screens import CORRECTION, DISAMBIGUATION, REVIEW_KINDS, screen_for
from annotation.studio.client import LabelStudio
from annotation.task import QueuedTask
from flows.progress import Progress
from flows.review.priorities import set_priorities
from flows.review.servers import LOCAL
from flows.review.task_states import NOTHING_YET
from flows.review.tasks import tasks_for
from flows.review.turns import review_turn
from flows.settings import Settings, open_warehouse
from warehouse.rows import Row
from warehouse.store import Warehouse
from warehouse.tables import TABLES


class Pushed(NamedTuple):
    """How many tasks a push made, how many were there already, and where people find them."""

    created: int
    already_there: int
    url: str


def waiting_reviews(settings: Settings) -> int:
    """How many tasks wait to be pushed."""
    server = settings.label_studio_url.rstrip("/") or LOCAL
    return sum(map(len, open_warehouse(settings).rows_by_name(_to_push(server, again=False)).values()))


def push_reviews(settings: Settings, studio: LabelStudio, progress: Progress, *, again: bool = False) -> Pushed:
    """Push all that waits for people, each review kind to its project, the worthiest first; nothing goes twice.

    `again` pushes also what was pushed before and nobody has decided yet: for a Label Studio that lost its data.
    """
    with review_turn(settings, progress):
        return _push(settings, studio, progress, again=again)


def _push(settings: Settings, studio: LabelStudio, progress: Progress, *, again: bool) -> Pushed:
    warehouse = open_warehouse(settings)
    set_priorities(warehouse)
    rows = warehouse.rows_by_name(_to_push(studio.name, again=again))
    ask_more_people(warehouse, studio)
    if not any(rows.values()):
        studio.signed_in_as()  # a dead address or a wrong token is told of also when nothing waits
        return Pushed(0, 0, studio.url)
    pushed = [_push_kind(kind, asked, settings, studio, progress) for kind, asked in rows.items() if asked]
    url = pushed[0].url if len(pushed) == 1 else studio.url
    return Pushed(sum(one.created for one in pushed), sum(one.already_there for one in pushed), url)


def _push_kind(kind: str, asked: Sequence[Row], settings: Settings, studio: LabelStudio, progress: Progress) -> Pushed:
    warehouse = open_warehouse(settings)
    project = studio.ensure_project(screen_for(kind, settings.review_language))
    if project.changed_by_hand:
        progress.say(f"The labeling interface of {project.url} was changed by hand; it is left as it is.")
    progress.begin(f"{kind} push".replace("_", " "), len(asked))
    created = there = 0
    at_once = _FEW_AT_ONCE if kind in (CORRECTION, DISAMBIGUATION) else _AT_ONCE
    for start in range(0, len(asked), at_once):
        some = asked[start : start + at_once]
        tasks = [
            QueuedTask(task=task, priority=row["priority"], reviewers=row["reviewers"])
            for task, row in zip(tasks_for(kind, warehouse, settings.review_language, some), some, strict=True)
        ]
        result = studio.push(project, tasks)
        _note_pushed(warehouse, studio.name, some, [result.task_ids.get(task.callwright_key) for task in tasks])
        created, there = created + result.created, there + result.already_there
        progress.advance(len(some))
    return Pushed(created, there, project.url)


def ask_more_people(warehouse: Warehouse, studio: LabelStudio) -> None:
    """Ask one person more about each thing on which those asked do not agree, and tell Label Studio how many it are."""
    warehouse.execute(_ONE_MORE)
    rows = warehouse.rows(_MORE_WANTED, [studio.name])
    studio.ask_several({row["task_id"]: row["reviewers"] for row in rows})
    told = [{name: row[name] for name in TABLES["review_requests"]} | {"overlap": row["reviewers"]} for row in rows]
    warehouse.put_rows({"review_requests": told}, replacing=True)


def _to_push(server: str, *, again: bool) -> dict[str, tuple[str, list[object]]]:
    """The queries for what `server` shall have of each review kind."""
    return {kind: (_TO_PUSH, [kind, server, again]) for kind in REVIEW_KINDS}


def _note_pushed(warehouse: Warehouse, server: str, asked: Sequence[Row], task_ids: Sequence[int | None]) -> None:
    """Note what was pushed, all of it at once; a task that somebody deleted in the same moment has no id and still waits."""
    now = datetime.now(UTC)
    pushed = {"pushed_at": now, "server": server}
    known = {row["task_id"] for row in warehouse.rows("select task_id from task_states where server = ?", [server])}
    tables: dict[str, list[Row]] = {"review_requests": [], "review_rounds": [], "task_states": []}
    for row, task in zip(asked, task_ids, strict=True):
        if task is None:
            continue
        table, more = (
            ("review_requests", {"overlap": row["reviewers"]})
            if row["version"] == 1
            else ("review_rounds", {"made_at": row["requested_at"]})
        )
        tables[table].append({name: (row | pushed | more)[name] for name in TABLES[table]})
        if task not in known:  # what was seen there since the first push stays
            taken = {name: row[name] for name in ("kind", "subject", "version")}
            tables["task_states"].append({"server": server, "task_id": task, "seen_at": now, **NOTHING_YET, **taken})
    warehouse.put_rows(tables, replacing=True)


_AT_ONCE = 500
_FEW_AT_ONCE = 20  # of records with long responses
_TO_PUSH = """
    select * from review_queue where kind = ? and is_current and not is_answered and (pushed_at is null or server <> ? or ?)
    order by priority desc, build, category, requested_at, subject, version
"""
_ONE_MORE = """
    update review_requests set reviewers = u.speakers + 1
    from unsettled_reviews u where review_requests.subject = u.subject and review_requests.kind = u.kind
"""
_MORE_WANTED = """
    select q.*, arg_max(t.task_id, t.version) as task_id
    from review_requests q join task_states t on t.subject = q.subject and t.kind = q.kind and t.server = ? and t.deleted_at is null
    where q.overlap < q.reviewers and q.pushed_at is not null
    group by all
"""
