"""Asking people: which Label Studio, what is pushed to it, and how far they are."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

import orjson

from annotation import server
from annotation.label_studio import LabelStudio
from annotation.screens import SAMPLE_REVIEW, screen_for
from annotation.server import ServerInfo
from annotation.task import Returned, ReviewTask, review_task
from flows.news import News
from flows.settings import Settings, environment
from warehouse.errors import ConfigurationError
from warehouse.records import Evidence, Sample, Verdict
from warehouse.releases import read_tools
from warehouse.rows import Row
from warehouse.store import Warehouse


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
    return LabelStudio(running.url, running.token) if running else None


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
    """How many samples wait to be pushed."""
    return int(_warehouse(settings).rows("select count(*) as n from review_requests where pushed_at is null")[0]["n"])


def push_reviews(settings: Settings, studio: LabelStudio, news: News) -> Pushed:
    """Push every sample that waits for people, and every edit that came back; nothing is pushed twice."""
    warehouse = _warehouse(settings)
    screen = screen_for(SAMPLE_REVIEW, settings.review_language)
    project = studio.ensure_project(screen)
    if project.changed_by_hand:
        news.say(f"The labeling interface of {project.url} was changed by hand; it is left as it is.")
    requests = warehouse.rows(_WAITING, [SAMPLE_REVIEW])
    returned = {row["subject"]: row for row in warehouse.rows(_RETURNED, [SAMPLE_REVIEW])}
    tasks = [_task(warehouse, settings, row, returned.get(row["subject"])) for row in requests]
    tasks += [_task(warehouse, settings, row, row) for row in returned.values()]
    if not tasks:
        return Pushed(0, 0, project.url)
    news.begin("review push", len(tasks))
    result = studio.push(project, tasks)
    news.advance(len(tasks))
    now = datetime.now(UTC)
    requested = [{name: row[name] for name in _REQUEST} | {"pushed_at": now, "server": studio.url} for row in requests]
    edits = [{name: row[name] for name in _EDIT} | {"pushed_at": now} for row in returned.values()]
    warehouse.put_rows({"review_requests": requested, "returned_edits": edits}, replacing=True)
    return Pushed(result.created, result.already_there, project.url)


_REQUEST = ("build", "subject", "kind", "cause", "reason", "requested_at")
_EDIT = ("subject", "kind", "version", "request", "calls", "problem", "reviewer", "made_at")
_OF_SAMPLE = """
    s.body, (select list(struct_pack(check_name, decision, score, reason, evidence, version))
        from (select check_name, arg_max(decision, made_at) as decision, arg_max(score, made_at) as score,
                arg_max(reason, made_at) as reason, arg_max(evidence, made_at) as evidence,
                arg_max(version, made_at) as version
            from verdicts v where v.subject = s.key group by check_name)) as verdicts
"""
_WAITING = f"""
    select r.*, {_OF_SAMPLE} from review_requests r join samples s on s.key = r.subject
    where r.pushed_at is null and r.kind = ? order by r.cause, r.requested_at, r.subject
"""  # noqa: S608 - our own text
_RETURNED = f"""
    select e.*, q.reason, {_OF_SAMPLE} from returned_edits e
    join samples s on s.key = e.subject join review_requests q on q.subject = e.subject and q.kind = e.kind
    where e.pushed_at is null and e.kind = ? order by e.made_at
"""  # noqa: S608 - our own text


def _task(warehouse: Warehouse, settings: Settings, row: Row, returned: Row | None) -> ReviewTask:
    sample = Sample.model_validate(orjson.loads(row["body"]))
    tools = read_tools(warehouse, sample.candidates)
    back = None
    if returned is not None:
        back = Returned(**{name: returned[name] for name in ("request", "calls", "problem", "version")})
    return review_task(
        sample,
        [tools[key] for key in sample.candidates],
        [_verdict(sample.key, verdict) for verdict in row["verdicts"] or ()],
        reason=row["reason"],
        language=settings.review_language,
        returned=back,
    )


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
    status = {title: warehouse.rows(sql) for title, sql in _STATUS.items()}
    if ask_server:
        studio = require_label_studio(settings)
        project = studio.find_project(SAMPLE_REVIEW)
        status["Label Studio"] = [studio.status(project).model_dump(mode="json")] if project else []
    return status


_STATUS = {
    "samples": """
        select cause, count(*) as samples, count(*) filter (pushed_at is null) as to_push,
            count(*) filter (pushed_at is not null and not reviewed) as with_people, count(*) filter (reviewed) as reviewed
        from (select r.*, exists (select 1 from reviews v where v.subject = r.subject and v.kind = r.kind) as reviewed
            from review_requests r) group by cause order by cause""",
    "reviewers": """
        select reviewer, count(*) as reviews, count(*) filter (decision = 'accept') as accepted,
            count(*) filter (decision = 'edit') as edited, count(*) filter (decision = 'reject') as rejected,
            median(seconds) as median_seconds
        from reviews group by reviewer order by reviews desc""",
}


def _warehouse(settings: Settings) -> Warehouse:
    return Warehouse(settings.warehouse, patience=settings.patience)
