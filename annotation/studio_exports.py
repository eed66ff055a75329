"""Tasks with all that people wrote on them: by id, or as a snapshot of the whole project, which is twice as fast."""

import time
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Any

import orjson

from annotation.refusals import interrupted
from annotation.studio_connection import StudioConnection
from annotation.studio_questions import ANSWERED, Json, filter_on
from annotation.studio_tasks import count_tasks

_IDS_AN_EXPORT = 200  # the longest tasks are 100 KB each
_MOST_IN_A_SNAPSHOT = 5000  # a server without Redis makes it while it is asked for
_PAUSE = 0.5
_PATIENCE = 120.0
_WHOLE = {
    "task_filter_options": {"annotated": "only"},
    "serialization_options": {
        "drafts": {"only_id": True},
        "predictions": {"only_id": True},
        "annotations__completed_by": {"only_id": True},
        "include_annotation_history": False,
        "interpolate_key_frames": False,
    },
}


def export_tasks(connection: StudioConnection, project: int, ids: Collection[int]) -> list[Json]:
    """These tasks; one that was deleted meanwhile is left out."""
    exported: list[Json] = []
    if len(ids) > _IDS_AN_EXPORT and count_tasks(connection, project, filter_on(ANSWERED)) <= 2 * len(ids):
        exported = [task for task in export_answered(connection, project) or () if task["id"] in ids]
    left = sorted(set(ids) - {task["id"] for task in exported})
    for start in range(0, len(left), _IDS_AN_EXPORT):
        some = [str(task) for task in left[start : start + _IDS_AN_EXPORT]]
        asked = {"additional_query_parameters": {"ids[]": some, "download_all_tasks": "true"}}
        download = partial(connection.client.projects.exports.download_sync, export_type="JSON", request_options=asked)
        exported += _read(connection, partial(download, project))
    return exported


def export_answered(connection: StudioConnection, project: int) -> list[Json] | None:
    """All tasks that have an answer; None where they are so few or so many that they are better asked for by id."""
    if not _IDS_AN_EXPORT < count_tasks(connection, project, filter_on(ANSWERED)) <= _MOST_IN_A_SNAPSHOT:
        return None
    exports = connection.client.projects.exports
    made = connection.ask(exports.create, project, **_WHOLE)
    try:
        if not _is_complete(connection, project, made):
            return None
        return _read(connection, partial(exports.download, project, made.id, export_type="JSON"))
    finally:
        connection.ask(exports.delete, project, made.id)


def _is_complete(connection: StudioConnection, project: int, made: Any) -> bool:  # noqa: ANN401 - the vendor's export
    """Wait for a snapshot; False where the server could not make it or is too busy for it."""
    end = time.monotonic() + _PATIENCE
    while made.status in ("created", "in_progress") and time.monotonic() < end:
        time.sleep(_PAUSE)
        made = connection.ask(connection.client.projects.exports.get, project, made.id)
    return str(made.status) == "completed"


def _read(connection: StudioConnection, download: Callable[[], Iterable[bytes]]) -> list[Json]:
    """The tasks of a download; one that broke off is asked for again."""

    def whole() -> list[Json]:
        try:
            return list(orjson.loads(b"".join(download())))
        except orjson.JSONDecodeError as error:
            raise interrupted(connection.url, error) from error

    return connection.ask(whole)
