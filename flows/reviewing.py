"""Asking people: which Label Studio, what is pushed to it, and how far they are."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from annotation import server
from annotation.label_studio import LabelStudio
from annotation.projects import ProjectStatus
from annotation.screens import CORRECTION, DISAMBIGUATION, REVIEW_KINDS, SAMPLE_REVIEW, TOOL_REVIEW, screen_for
from annotation.server import ServerInfo
from flows.news import News
from flows.places import open_warehouse
from flows.review_tasks import TASKS
from flows.settings import Settings, environment
from warehouse.errors import ConfigurationError
from warehouse.rows import Row
from warehouse.store import Warehouse

LOCAL = "local"  # how reviews remember the work folder's own server


class Pushed(NamedTuple):
    """How many tasks a push made, how many were there already, and where people find them."""

    created: int
    already_there: int
    url: str


def serve_label_studio(settings: Settings, say: Callable[[str], None]) -> ServerInfo:
    """Start the local Label Studio, or find it running."""
    return server.start(settings.home, environment(), progress=say)


def stop_label_studio(settings: Settings) -> bool:
    """End the local Label Studio; whether there was one."""
    return server.stop(settings.home)


def label_studio_address(settings: Settings) -> str:
    """The address of the Label Studio in use, "" where there is none."""
    if settings.label_studio_url:
        return settings.label_studio_url
    running = server.running(settings.home)
    return running.url if running else ""


def find_label_studio(settings: Settings) -> LabelStudio | None:
    """The Label Studio that the environment names, else the local one, else None."""
    if settings.label_studio_url:
        if not settings.label_studio_token:
            raise ConfigurationError(
                f"LABEL_STUDIO_URL is {settings.label_studio_url!r}, but LABEL_STUDIO_API_KEY is not set. "
                "Label Studio shows your token under Account & Settings."
            )
        return LabelStudio(settings.label_studio_url, settings.label_studio_token)
    running = server.running(settings.home)
    return local_label_studio(running) if running else None


def local_label_studio(running: ServerInfo) -> LabelStudio:
    """The client of this work folder's own server, which stays the same whatever its port."""
    return LabelStudio(running.url, running.token, name=LOCAL)


def require_label_studio(settings: Settings) -> LabelStudio:
    """As `find_label_studio`; ConfigurationError where there is none."""
    studio = find_label_studio(settings)
    if studio is None:
        raise ConfigurationError(
            "No Label Studio is named or running. Start one with `callwright review serve`, or set LABEL_STUDIO_URL and "
            "LABEL_STUDIO_API_KEY."
        )
    return studio


def waiting_reviews(settings: Settings) -> int:
    """How many tasks wait to be pushed."""
    warehouse = _warehouse(settings)
    server = settings.label_studio_url.rstrip("/") or LOCAL
    return sum(map(len, warehouse.rows_by_name(_to_push(server, again=False)).values()))


def push_reviews(settings: Settings, studio: LabelStudio, news: News, *, again: bool = False) -> Pushed:
    """Push all that waits for people, each review kind to its project, and every edit that came back; nothing goes twice.

    `again` pushes also what was pushed before and nobody has decided yet: for a Label Studio that lost its data.
    """
    warehouse = _warehouse(settings)
    rows = warehouse.rows_by_name(_to_push(studio.name, again=again))
    if not any(rows.values()):
        studio.signed_in_as()  # a dead address or a wrong token is told of also when nothing waits
        return Pushed(0, 0, studio.url)
    pushed = [
        _push_kind(kind, rows[f"{kind} waiting"], rows[f"{kind} returned"], settings, studio, news)
        for kind in REVIEW_KINDS
        if rows[f"{kind} waiting"] or rows[f"{kind} returned"]
    ]
    url = pushed[0].url if len(pushed) == 1 else studio.url
    return Pushed(sum(one.created for one in pushed), sum(one.already_there for one in pushed), url)


def _push_kind(  # noqa: PLR0917 - the two lists belong to the kind
    kind: str, waiting: Sequence[Row], returned: Sequence[Row], settings: Settings, studio: LabelStudio, news: News
) -> Pushed:
    warehouse = _warehouse(settings)
    project = studio.ensure_project(screen_for(kind, settings.review_language))
    if project.changed_by_hand:
        news.say(f"The labeling interface of {project.url} was changed by hand; it is left as it is.")
    news.begin(f"{kind} push".replace("_", " "), len(waiting) + len(returned))
    created = there = 0
    at_once = _FEW_AT_ONCE if kind in (CORRECTION, DISAMBIGUATION) else _AT_ONCE
    for start in range(0, max(len(waiting), len(returned)), at_once):
        some, back = waiting[start : start + at_once], returned[start : start + at_once]
        result = studio.push(project, TASKS[kind](warehouse, settings.review_language, some, back))
        _note_pushed(warehouse, studio.name, some, back)
        created, there = created + result.created, there + result.already_there
        news.advance(len(some) + len(back))
    return Pushed(created, there, project.url)


def _to_push(server: str, *, again: bool) -> dict[str, tuple[str, list[object]]]:
    """The queries for what waits and for returned edits that `server` shall have, of each review kind."""
    queries: dict[str, tuple[str, list[object]]] = {}
    for kind in REVIEW_KINDS:
        queries[f"{kind} waiting"] = (_WAITING[kind], [kind, server, again])
        queries[f"{kind} returned"] = (_RETURNED, [kind, again])
    return queries


def _note_pushed(warehouse: Warehouse, server: str, waiting: Sequence[Row], returned: Sequence[Row]) -> None:
    now = datetime.now(UTC)
    requested = [{name: row[name] for name in _REQUEST} | {"pushed_at": now, "server": server} for row in waiting]
    edits = [{name: row[name] for name in _EDIT} | {"pushed_at": now} for row in returned]
    warehouse.put_rows({"review_requests": requested, "returned_edits": edits}, replacing=True)


_AT_ONCE = 100
_FEW_AT_ONCE = 20  # of records with long responses
_REQUEST = ("build", "subject", "kind", "cause", "reason", "requested_at")
_EDIT = ("subject", "kind", "version", "request", "calls", "problem", "reviewer", "made_at")
# Nobody is asked about a sample that no recipe's newest build has any more; an edit has its seat through its parent.
_ASKED = """
    r.kind = ? and (r.pushed_at is null or ((r.server <> ? or ?)
        and not exists (select 1 from reviews v where v.subject = r.subject and v.kind = r.kind)))
"""
_WAITING_SAMPLES = f"""
    select r.* from review_requests r join samples s on s.key = r.subject
    where {_ASKED}
        and (s.stage = 'review' or exists (
            select 1 from fates f join latest_builds l on l.build = f.build where f.subject = r.subject))
    order by r.cause, r.requested_at, r.subject
"""  # noqa: S608 - our own condition
_WAITING = {
    SAMPLE_REVIEW: _WAITING_SAMPLES,
    DISAMBIGUATION: _WAITING_SAMPLES,
    CORRECTION: f"""
    select r.* from review_requests r join drafts d on d.key = r.subject
    where {_ASKED} and exists (
        select 1 from fates f join latest_builds l on l.build = f.build where f.subject = r.subject)
    order by r.cause, r.requested_at, r.subject
""",  # noqa: S608
    TOOL_REVIEW: f"""
    select r.* from review_requests r join tools t on t.key = r.subject
    where {_ASKED}
    order by r.build, t.category, t.language, t.name, r.subject
""",  # noqa: S608
}
_RETURNED = """
    select e.*, coalesce(q.reason, '') as reason, coalesce(q.build, '') as build
    from returned_edits e left join review_requests q on q.subject = e.subject and q.kind = e.kind
    where e.kind = ? and (e.pushed_at is null or (? and not exists (
        select 1 from reviews v where v.subject = e.subject and v.kind = e.kind and v.reviewed_at > e.made_at)))
    order by e.made_at
"""


def review_status(settings: Settings, *, ask_server: bool = False) -> dict[str, list[Row]]:
    """What waits, what was pushed and what people decided; with `ask_server` also Label Studio's own count."""
    warehouse = _warehouse(settings)
    status = warehouse.rows_by_name({title: (sql, [kind]) for title, (kind, sql) in _STATUS.items()})
    if ask_server:
        with require_label_studio(settings) as studio:
            projects = [studio.find_project(kind) for kind in REVIEW_KINDS]
            status["label_studio"] = [_server_status(studio.status(project)) for project in projects if project]
    return status


def _server_status(found: ProjectStatus) -> Row:
    return {"project": found.project.url, **found.model_dump(exclude={"project"})}


# A tool stays current; a sample that no newest build has any more, and that no edit made, is nobody's question.
_ASKED_ABOUT = """
    with asked as (
        select r.subject, r.kind, r.cause, r.requested_at as since, r.pushed_at, t.key is not null or s.stage = 'review'
            or exists (
                select 1 from fates f join latest_builds l on l.build = f.build where f.subject = r.subject
            ) as is_current
        from review_requests r left join samples s on s.key = r.subject left join tools t on t.key = r.subject
        left join drafts d on d.key = r.subject
        where s.key is not null or t.key is not null or d.key is not null
        union all
        select subject, kind, 'edit that came back', made_at, pushed_at, true from returned_edits
    ), known as (
        select a.*, exists (
            select 1 from reviews v where v.subject = a.subject and v.kind = a.kind
                and (a.cause <> 'edit that came back' or v.reviewed_at > a.since)
        ) as is_reviewed
        from asked a where a.kind = ?
    )
    select cause, count(*) as tasks, count(*) filter (pushed_at is null and is_current and not is_reviewed) as to_push,
        count(*) filter (pushed_at is not null and not is_reviewed) as with_people,
        count(*) filter (is_reviewed) as reviewed,
        count(*) filter (pushed_at is null and not is_current and not is_reviewed) as outdated
    from known group by cause order by cause
"""
_REVIEWERS = """
    select reviewer, count(*) as reviews, count(*) filter (decision = 'accept') as accepted,
        count(*) filter (decision = 'edit') as edited, count(*) filter (decision = 'reject') as rejected,
        round(median(seconds), 1) as median_seconds
    from reviews where kind = ? and annotation_id > 0 group by reviewer order by reviews desc, reviewer
"""
_STATUS = {
    "samples": (SAMPLE_REVIEW, _ASKED_ABOUT),
    "reviewers": (SAMPLE_REVIEW, _REVIEWERS),
    "tools": (TOOL_REVIEW, _ASKED_ABOUT),
    "tool_reviewers": (TOOL_REVIEW, _REVIEWERS),
    "corrections": (CORRECTION, _ASKED_ABOUT),
    "correction_reviewers": (CORRECTION, _REVIEWERS),
    "disambiguations": (DISAMBIGUATION, _ASKED_ABOUT),
    "disambiguation_reviewers": (DISAMBIGUATION, _REVIEWERS),
}


def _warehouse(settings: Settings) -> Warehouse:
    return open_warehouse(settings)
