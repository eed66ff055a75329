"""Asking people: which Label Studio, what is pushed to it, and how far they are."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import orjson

from annotation import server
from annotation.label_studio import LabelStudio
from annotation.projects import ProjectStatus
from annotation.screens import SAMPLE_REVIEW, screen_for
from annotation.server import ServerInfo
from annotation.task import Returned, ReviewTask, review_task
from flows.news import News
from flows.places import open_warehouse
from flows.reading_reviews import read_samples
from flows.settings import Settings, environment
from warehouse.errors import ConfigurationError
from warehouse.records import Evidence, Language, Verdict
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
    """Push every sample that waits for people, and every edit that came back; nothing is pushed twice.

    `again` pushes also what was pushed before and nobody has decided yet: for a Label Studio that lost its data.
    """
    warehouse = _warehouse(settings)
    rows = warehouse.rows_by_name(_to_push(studio.name, again=again))
    waiting, returned = rows["waiting"], rows["returned"]
    if not (waiting or returned):
        studio.signed_in_as()  # a dead address or a wrong token is told of also when nothing waits
        return Pushed(0, 0, studio.url)
    project = studio.ensure_project(screen_for(SAMPLE_REVIEW, settings.review_language))
    if project.changed_by_hand:
        news.say(f"The labeling interface of {project.url} was changed by hand; it is left as it is.")
    news.begin("review push", len(waiting) + len(returned))
    created = there = 0
    for start in range(0, max(len(waiting), len(returned)), _AT_ONCE):
        some, back = waiting[start : start + _AT_ONCE], returned[start : start + _AT_ONCE]
        result = studio.push(project, review_tasks(warehouse, settings.review_language, some, back))
        _note_pushed(warehouse, studio.name, some, back)
        created, there = created + result.created, there + result.already_there
        news.advance(len(some) + len(back))
    return Pushed(created, there, project.url)


def _to_push(server: str, *, again: bool) -> dict[str, tuple[str, list[object]]]:
    """The queries for samples and for returned edits that `server` shall have."""
    return {
        "waiting": (_WAITING, [SAMPLE_REVIEW, server, again]),
        "returned": (_RETURNED, [SAMPLE_REVIEW, again]),
    }


def _note_pushed(warehouse: Warehouse, server: str, waiting: Sequence[Row], returned: Sequence[Row]) -> None:
    now = datetime.now(UTC)
    requested = [{name: row[name] for name in _REQUEST} | {"pushed_at": now, "server": server} for row in waiting]
    edits = [{name: row[name] for name in _EDIT} | {"pushed_at": now} for row in returned]
    warehouse.put_rows({"review_requests": requested, "returned_edits": edits}, replacing=True)


_AT_ONCE = 500
_REQUEST = ("build", "subject", "kind", "cause", "reason", "requested_at")
_EDIT = ("subject", "kind", "version", "request", "calls", "problem", "reviewer", "made_at")
# Nobody is asked about a sample that no recipe's newest build has any more; an edit has its seat through its parent.
_WAITING = """
    select r.* from review_requests r join samples s on s.key = r.subject
    where r.kind = ? and (r.pushed_at is null or ((r.server <> ? or ?)
            and not exists (select 1 from reviews v where v.subject = r.subject and v.kind = r.kind)))
        and (s.stage = 'review' or exists (
            select 1 from fates f join latest_builds l on l.build = f.build where f.subject = r.subject))
    order by r.cause, r.requested_at, r.subject
"""
_RETURNED = """
    select e.*, coalesce(q.reason, '') as reason
    from returned_edits e left join review_requests q on q.subject = e.subject and q.kind = e.kind
    where e.kind = ? and (e.pushed_at is null or (? and not exists (
        select 1 from reviews v where v.subject = e.subject and v.kind = e.kind and v.reviewed_at > e.made_at)))
    order by e.made_at
"""
_VERDICTS = """
    select subject, check_name, arg_max(decision, made_at) as decision, arg_max(score, made_at) as score,
        arg_max(reason, made_at) as reason, arg_max(evidence, made_at) as evidence, arg_max(version, made_at) as version
    from verdicts where list_contains(?::varchar[], subject) group by subject, check_name order by check_name
"""


def review_tasks(
    warehouse: Warehouse, language: Language, waiting: Sequence[Row], returned: Sequence[Row]
) -> list[ReviewTask]:
    """The tasks that ask about samples, then those that hand edits back."""
    keys = sorted({row["subject"] for row in (*waiting, *returned)})
    samples, tools = read_samples(warehouse, keys)
    verdicts: defaultdict[str, list[Verdict]] = defaultdict(list)
    for row in warehouse.rows(_VERDICTS, [keys]):
        verdicts[row["subject"]].append(_verdict(row["subject"], row))
    edits = [Returned(**{name: row[name] for name in ("request", "calls", "problem", "version")}) for row in returned]
    return [
        review_task(
            samples[row["subject"]],
            [tools[key] for key in samples[row["subject"]].candidates],
            verdicts[row["subject"]],
            reason=row["reason"],
            language=language,
            returned=edit,
        )
        for row, edit in [*((row, None) for row in waiting), *zip(returned, edits, strict=True)]
    ]


def _verdict(subject: str, row: Row) -> Verdict:
    return Verdict(
        subject=subject,
        check=row["check_name"],
        decision=row["decision"],
        score=row["score"],
        reason=row["reason"],
        evidence=tuple(Evidence.model_validate(proof) for proof in orjson.loads(row["evidence"])),
        version=row["version"],
    )


def review_status(settings: Settings, *, ask_server: bool = False) -> dict[str, list[Row]]:
    """What waits, what was pushed and what people decided; with `ask_server` also Label Studio's own count."""
    warehouse = _warehouse(settings)
    status = warehouse.rows_by_name({title: (sql, [SAMPLE_REVIEW]) for title, sql in _STATUS.items()})
    if ask_server:
        with require_label_studio(settings) as studio:
            project = studio.find_project(SAMPLE_REVIEW)
            status["label_studio"] = [_server_status(studio.status(project))] if project else []
    return status


def _server_status(found: ProjectStatus) -> Row:
    return {"project": found.project.url, **found.model_dump(exclude={"project"})}


_STATUS = {
    "samples": """
        with asked as (
            select r.subject, r.kind, r.cause, r.requested_at as since, r.pushed_at, s.stage = 'review' or exists (
                select 1 from fates f join latest_builds l on l.build = f.build where f.subject = r.subject
            ) as is_current
            from review_requests r join samples s on s.key = r.subject
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
        from known group by cause order by cause""",
    "reviewers": """
        select reviewer, count(*) as reviews, count(*) filter (decision = 'accept') as accepted,
            count(*) filter (decision = 'edit') as edited, count(*) filter (decision = 'reject') as rejected,
            round(median(seconds), 1) as median_seconds
        from reviews where kind = ? group by reviewer order by reviews desc, reviewer""",
}


def _warehouse(settings: Settings) -> Warehouse:
    return open_warehouse(settings)
