"""What callwright and a Label Studio tell each other about a project, and the mark by which it is found again."""

import re
from collections.abc import Mapping
from datetime import datetime
from hashlib import blake2b

from annotation.pulled import PulledAnnotation, TaskState
from warehouse.records import Record

_MARK = re.compile(r"^callwright:(?P<kind>\w+) interface:(?P<print>[0-9a-f]+)$", re.MULTILINE)
_PRINT_BYTES = 8


class Project(Record):
    """A project of one review kind; `changed_by_hand` where a person altered its labeling interface."""

    id: int
    kind: str
    title: str
    url: str
    changed_by_hand: bool = False


class PushResult(Record):
    """How many tasks this push made, how many Label Studio had, and every task's id by its key."""

    created: int
    already_there: int
    task_ids: dict[str, int]


class PullResult(Record):
    """Annotations that are new or changed, and the states of their tasks; `cursor` is where the next pull begins.

    `foreign` are not our tasks; `problems` says which annotations do not fit, and why.
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


def description_of(kind: str, config: str) -> str:
    """What a project of ours is described as: a sentence for people and the mark for callwright."""
    return (
        "Made by callwright, which finds this project by the next line. Please leave it as it is.\n"
        f"callwright:{kind} interface:{config_print(config)}"
    )


def kind_of(description: str | None) -> str:
    """The review kind that a project's description names, "" where it is not ours."""
    found = _MARK.search((description or "").replace("\r", ""))
    return found["kind"] if found else ""


def is_changed_by_hand(description: str | None, config: str | None) -> bool:
    """Whether a labeling interface differs from the one that callwright wrote last."""
    found = _MARK.search((description or "").replace("\r", ""))
    return found is not None and found["print"] != config_print(config or "")


def config_print(config: str) -> str:
    """A short hash of a labeling interface, blind to line ends and outer space."""
    plain = "\n".join(config.strip().splitlines())
    return blake2b(plain.encode(), digest_size=_PRINT_BYTES).hexdigest()


def surplus(holders: Mapping[str, list[tuple[int, int]]]) -> list[int]:
    """The ids of tasks that stand a second time; of each key the annotated ones stay, else the oldest.

    `holders` gives for each key its tasks as (id, number of annotations).
    """
    doubles: list[int] = []
    for tasks in holders.values():
        annotated = {task for task, annotations in tasks if annotations}
        kept = annotated or {min(task for task, _ in tasks)}
        doubles.extend(task for task, _ in tasks if task not in kept)
    return doubles
