"""A stand-in for Label Studio: a drawer of tasks on which tests write what an annotator would
have.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from callwright.annotation.studio.records import (
    Project,
    ProjectStatus,
    PulledAnnotation,
    PullResult,
    PushResult,
    TaskState,
    read_key,
)
from callwright.annotation.studio.tasks import Doubles

START = datetime(2026, 11, 21, 12, tzinfo=UTC)


class PaperStudio:
    """Keeps tasks by their keys and annotations by their ids; each annotation is a minute after
    the one before.
    """

    def __init__(self, name: str = "local") -> None:
        self.name = self.url = name
        self.tasks: dict[str, dict[str, Any]] = {}
        self.numbers: dict[str, int] = {}
        self.overlaps: dict[int, int] = {}
        self.annotations: dict[int, PulledAnnotation] = {}
        self.clock = START
        self.projects: dict[str, Project] = {}
        self.queues: dict[str, tuple[Any, ...]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def signed_in_as(self) -> str:
        return "nobody@localhost"

    def find_project(self, kind: str) -> Project | None:
        return self.projects.get(kind)

    def find_projects(self) -> dict[str, Project]:
        return self.projects

    def accounts(self) -> set[str]:
        return {one.reviewer for one in self.annotations.values()}

    def ensure_project(self, screen: Any, queues: Any = ()) -> Project:
        self.queues[screen.kind] = tuple(queues)
        number = len(self.projects) + 1
        made = Project(
            id=number,
            kind=screen.kind,
            title=screen.title,
            url=f"{self.name}/projects/{number}/data",
        )
        return self.projects.setdefault(screen.kind, made)

    def push(self, _project: Project, tasks: Any) -> PushResult:
        new = [task for task in tasks if task.callwright_key not in self.tasks]
        self.tasks |= {task.callwright_key: task.data() for task in new}
        for task in tasks:
            self.numbers.setdefault(task.callwright_key, len(self.numbers) + 1)
            self.overlaps[self.numbers[task.callwright_key]] = task.reviewers
        ids = {task.callwright_key: self.numbers[task.callwright_key] for task in tasks}
        return PushResult(created=len(new), already_there=len(tasks) - len(new), task_ids=ids)

    def pull(self, project: Project, since: datetime | None = None) -> PullResult:
        ours = [one for one in self.annotations.values() if one.kind == project.kind]
        found = tuple(one for one in ours if since is None or one.reviewed_at >= since)
        cursor = max((one.reviewed_at for one in found), default=since)
        return PullResult(annotations=found, cursor=cursor, states=tuple(self._states(project)))

    def _states(self, project: Project) -> Iterator[TaskState]:
        """Of every task: what changed is told again, and so is what did not."""
        for key in self.tasks:
            kind, subject, version = read_key(0, key)
            number = self.numbers[key]
            held = [one for one in self.annotations.values() if one.task_id == number]
            submitted = tuple(one.annotation_id for one in held if not one.skipped)
            if kind == project.kind:
                yield TaskState(
                    task_id=number,
                    kind=kind,
                    subject=subject,
                    version=version,
                    submitted=submitted,
                    skipped=len(held) - len(submitted),
                    drafts=0,
                )

    def ask_several(self, reviewers: dict[int, int]) -> None:
        self.overlaps |= reviewers

    def gone(self, project: Project, task_ids: set[int]) -> set[int]:
        there = {self.numbers[key] for key in self.tasks if read_key(0, key)[0] == project.kind}
        return set(task_ids) - there

    def remove_doubles(self, _project: Project, _keys: list[str]) -> Doubles:
        return Doubles()

    def status(self, project: Project) -> ProjectStatus:
        return ProjectStatus(
            project=project,
            tasks=len(self.tasks),
            finished=0,
            annotations=len(self.annotations),
            skipped=0,
        )

    def newest_task(self, subject: str, kind: str = "") -> dict[str, Any]:
        """The newest task about a subject; where there are several review kinds, that of `kind`."""
        found = [
            task
            for key, task in self.tasks.items()
            if task["subject"] == subject and key.startswith(kind)
        ]
        return max(found, key=lambda task: task["version"])

    def annotate(
        self,
        subject: str,
        verdict: str = "",
        *,
        by: str = "ann",
        change: int = 0,
        skipped: bool = False,
        kind: str = "",
        seconds: float = 9.5,
        **typed: Any,
    ) -> int:
        """Write an annotation on the newest task of a sample, or `change` the one with this id;
        its id.
        """
        key = self.newest_task(subject, kind)["callwright_key"]
        kind, _, version = read_key(0, key)
        self.clock += timedelta(minutes=1)
        number = change or max(self.annotations, default=0) + 1
        controls = {"verdict": [verdict]} if verdict else {}
        controls |= {
            name: value if isinstance(value, list) else [value] for name, value in typed.items()
        }
        self.annotations[number] = PulledAnnotation(
            server=self.name,
            task_id=self.numbers[key],
            annotation_id=number,
            kind=kind,
            subject=subject,
            version=version,
            reviewer=by,
            reviewed_at=self.clock,
            seconds=seconds,
            skipped=skipped,
            result=tuple(control_result(name, values) for name, values in controls.items()),
        )
        return number

    def delete(self, *annotations: int) -> None:
        """Delete annotations, as a person may do."""
        for number in annotations:
            del self.annotations[number]

    def drop(self, subject: str) -> None:
        """Delete the newest task about a subject, with what was written on it."""
        key = self.newest_task(subject)["callwright_key"]
        number = self.numbers.pop(key)
        del self.tasks[key]
        self.delete(*(at for at, one in self.annotations.items() if one.task_id == number))


def control_result(name: str, values: list[str]) -> dict[str, Any]:
    """What a control of the screen holds, as Label Studio writes it."""
    is_choice = name in ("verdict", "reasons", "strikes") or name.startswith("choice_")
    kind = "choices" if is_choice else "text"
    return {
        "from_name": name,
        "to_name": "conversation",
        "type": "choices" if kind == "choices" else "textarea",
        "value": {kind: values},
    }
