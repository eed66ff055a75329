"""Records exchanged with Label Studio: projects, annotations, task states, push and pull."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.warehouse.errors import AnnotationError
from callwright.warehouse.records import Record

_SAVED_AT_ONCE = timedelta(seconds=1)  # the two moments of one saving are a few microseconds apart
_MARK = re.compile(r"^callwright:(?P<kind>\w+) interface:(?P<print>[0-9a-f]+)$", re.MULTILINE)
_PRINT_BYTES = 8
Json = Mapping[str, Any]  # a foreign server's JSON


class PulledAnnotation(Record):
    """One annotation of one of our tasks; `result` is what the controls of the screen hold."""

    server: str
    task_id: int
    annotation_id: int
    kind: str
    subject: str
    version: int
    reviewer: str
    reviewed_at: datetime
    seconds: float
    skipped: bool = False
    result: tuple[dict[str, JsonValue], ...]


class TaskState(Record):
    """The state of one of our tasks: annotations submitted, and how many were skipped or begun."""

    task_id: int
    kind: str
    subject: str
    version: int
    submitted: tuple[int, ...]
    skipped: int
    drafts: int


def read_state(task: Json) -> TaskState:
    """Return the state of an exported task. Raises AnnotationError if it isn't as we pushed it."""
    task_id = _whole(task, "id", "?")
    kind, subject, version = read_key(
        task_id, _field(_field(task, "data", task_id), "callwright_key", task_id)
    )
    annotations = [one for one in _list(task, "annotations", task_id) if isinstance(one, Mapping)]
    submitted = tuple(
        _whole(one, "id", task_id) for one in annotations if not one.get("was_cancelled")
    )
    return TaskState(
        task_id=task_id,
        kind=kind,
        subject=subject,
        version=version,
        submitted=submitted,
        skipped=len(annotations) - len(submitted),
        drafts=len(_list(task, "drafts", task_id)),
    )


def read_annotation(
    task: Json, annotation: Json, reviewers: Mapping[int, str], server: str
) -> PulledAnnotation:
    """Return the record of an exported annotation.

    Raises AnnotationError that names the task and the field that do not fit.
    """
    task_id = _whole(task, "id", "?")
    key = _field(_field(task, "data", task_id), "callwright_key", task_id)
    kind, subject, version = read_key(task_id, key)
    result = _field(annotation, "result", task_id)
    if not isinstance(result, list) or not all(isinstance(item, dict) for item in result):
        raise _misfit(task_id, "result", result, "a list of objects")
    reviewer = _reviewer(annotation, task_id)
    value = annotation.get("lead_time") or 0.0
    if not isinstance(value, int | float):
        raise _misfit(task_id, "lead_time", value, "a number")
    return PulledAnnotation(
        server=server,
        task_id=task_id,
        annotation_id=_whole(annotation, "id", task_id),
        kind=kind,
        subject=subject,
        version=version,
        reviewer=reviewers.get(reviewer, str(reviewer)),
        reviewed_at=_moment(annotation, task_id),
        seconds=float(value),
        skipped=bool(annotation.get("was_cancelled")),
        result=tuple(result),
    )


class Held(NamedTuple):
    """The contents of exported tasks; `problems` says what does not fit, and why."""

    annotations: tuple[PulledAnnotation, ...]
    states: tuple[TaskState, ...]
    problems: tuple[str, ...]


def read_tasks(tasks: Iterable[Json], reviewers: Mapping[int, str], server: str) -> Held:
    """Return the annotations and states of exported tasks; one misfit doesn't affect the others."""
    found, states, problems = list[PulledAnnotation](), list[TaskState](), list[str]()
    for task in tasks:
        try:
            states.append(read_state(task))
        except AnnotationError as error:
            problems.append(str(error))
            continue
        for annotation in task.get("annotations") or ():
            try:
                found.append(read_annotation(task, annotation, reviewers, server))
            except AnnotationError as error:
                problems.append(str(error))
    return Held(tuple(found), tuple(states), tuple(problems))


def read_key(task_id: int | str, key: object) -> tuple[str, str, int]:
    """Return the review kind, the subject's key and the version in a `callwright_key`.

    Raises AnnotationError for a key in another form.
    """
    kind, _, rest = str(key).partition(":")
    subject, _, version = rest.partition(":")
    if not (kind and subject and version.isdecimal()):
        raise _misfit(task_id, "data.callwright_key", key, "kind:subject:version")
    return kind, subject, int(version)


def read_moment(text: object, task_id: int | str, field: str) -> datetime:
    """Return a time stamp of Label Studio, with its zone. Raises AnnotationError for no time."""
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError as error:
        raise _misfit(task_id, field, text, "an ISO time") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _reviewer(annotation: Json, task_id: int | str) -> int:
    """Return the author of an annotation: whoever changed it last, or else made it.

    `updated_by` of an annotation that was never changed is whoever sent it; for an imported one,
    the importer.
    """
    author = _whole(annotation, "completed_by", task_id)
    if annotation.get("updated_by") is None or not annotation.get("created_at"):
        return author
    created = read_moment(annotation["created_at"], task_id, "created_at")
    if _moment(annotation, task_id) - created < _SAVED_AT_ONCE:
        return author
    return _whole(annotation, "updated_by", task_id)


def _moment(annotation: Json, task_id: int | str) -> datetime:
    text = annotation.get("updated_at") or annotation.get("created_at")
    return read_moment(text, task_id, "updated_at")


def _field(holder: Any, name: str, task_id: int | str) -> Any:  # noqa: ANN401 - a foreign server's JSON
    if not isinstance(holder, Mapping) or name not in holder:
        raise AnnotationError(
            f"Task {task_id} of Label Studio has no field {name!r}. Was its data changed by"
            " hand? Delete the task; the next push creates it again."
        )
    return holder[name]


def _whole(holder: Mapping[str, Any], name: str, task_id: int | str) -> int:
    value = _field(holder, name, task_id)
    value = value.get("id") if isinstance(value, Mapping) else value
    if not isinstance(value, int):
        raise _misfit(task_id, name, value, "a whole number")
    return value


def _list(task: Json, name: str, task_id: int | str) -> list[Any]:
    value = task.get(name) or []
    if not isinstance(value, list):
        raise _misfit(task_id, name, value, "a list")
    return value


def _misfit(task_id: int | str, field: str, value: object, wanted: str) -> AnnotationError:
    return AnnotationError(
        f"Field {field!r} of task {task_id} in Label Studio holds {str(value)[:200]!r} where"
        f" {wanted} was expected. Was the project's data or labeling interface changed by hand?"
    )


class Project(Record):
    """A project of one review kind; `changed_by_hand` if a person altered its labeling config.

    `is_renewed`: until now it had the config of another version, so its tasks may lack fields
    that are shown.
    """

    id: int
    kind: str
    title: str
    url: str
    changed_by_hand: bool = False
    is_renewed: bool = False


class PushResult(Record):
    """How many tasks this push made, how many Label Studio had, and every task's id by its key."""

    created: int
    already_there: int
    task_ids: dict[str, int]


class PullResult(Record):
    """New or changed annotations and their tasks' states; the next pull begins at `cursor`.

    `foreign` are tasks that are not ours; `problems` says which annotations do not fit, and why.
    """

    annotations: tuple[PulledAnnotation, ...]
    cursor: datetime | None
    states: tuple[TaskState, ...] = ()
    foreign: tuple[int, ...] = ()
    problems: tuple[str, ...] = ()


class ProjectStatus(Record):
    """How far people are with a project."""

    project: Project
    tasks: int
    finished: int
    annotations: int
    skipped: int


def description_of(kind: str, config: str, told: str = "") -> str:
    """Return the description of one of our projects: its text, and the mark for callwright."""
    return f"{told}\ncallwright:{kind} interface:{config_print(config)}"


def kind_of(description: str | None) -> str:
    """Return the review kind in a project's description; "" if the project is not ours."""
    found = _MARK.search((description or "").replace("\r", ""))
    return found["kind"] if found else ""


def is_changed_by_hand(description: str | None, config: str | None) -> bool:
    """Whether a labeling interface differs from the one that callwright wrote last."""
    found = _MARK.search((description or "").replace("\r", ""))
    return found is not None and found["print"] != config_print(config or "")


def config_print(config: str) -> str:
    """Return a short hash of a labeling interface, ignoring line ends and outer space."""
    plain = "\n".join(config.strip().splitlines())
    return blake2b(plain.encode(), digest_size=_PRINT_BYTES).hexdigest()


def surplus(holders: Mapping[str, list[tuple[int, int]]]) -> list[int]:
    """Return the IDs of duplicate tasks; per key the annotated ones stay, else the oldest.

    `holders` gives for each key its tasks as (ID, number of annotations).
    """
    doubles: list[int] = []
    for tasks in holders.values():
        annotated = {task for task, annotations in tasks if annotations}
        kept = annotated or {min(task for task, _ in tasks)}
        doubles.extend(task for task, _ in tasks if task not in kept)
    return doubles
