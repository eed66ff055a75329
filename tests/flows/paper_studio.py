"""A stand-in for Label Studio: a drawer of tasks on which tests write what an annotator would have."""

from datetime import UTC, datetime, timedelta
from typing import Any, Self

from annotation.projects import Project, ProjectStatus, PullResult, PushResult
from annotation.pulled import PulledAnnotation, read_key

START = datetime(2026, 11, 21, 12, tzinfo=UTC)


class PaperStudio:
    """Keeps tasks by their keys and annotations by their ids; each annotation is a minute after the one before."""

    def __init__(self, name: str = "local") -> None:
        self.name = self.url = name
        self.tasks: dict[str, dict[str, Any]] = {}
        self.annotations: dict[int, PulledAnnotation] = {}
        self.clock = START
        self.projects: dict[str, Project] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def signed_in_as(self) -> str:
        return "nobody@localhost"

    def find_project(self, kind: str) -> Project | None:
        return self.projects.get(kind)

    def ensure_project(self, screen: Any) -> Project:
        number = len(self.projects) + 1
        made = Project(id=number, kind=screen.kind, title=screen.title, url=f"{self.name}/projects/{number}/data")
        return self.projects.setdefault(screen.kind, made)

    def push(self, _project: Project, tasks: Any) -> PushResult:
        new = [task for task in tasks if task.callwright_key not in self.tasks]
        self.tasks |= {task.callwright_key: task.data() for task in new}
        ids = {key: number for number, key in enumerate(self.tasks, 1)}
        return PushResult(created=len(new), already_there=len(tasks) - len(new), task_ids=ids)

    def pull(self, project: Project, since: datetime | None = None) -> PullResult:
        ours = [one for one in self.annotations.values() if one.kind == project.kind]
        found = tuple(one for one in ours if since is None or one.reviewed_at >= since)
        return PullResult(annotations=found, cursor=max((one.reviewed_at for one in found), default=since))

    def status(self, project: Project) -> ProjectStatus:
        return ProjectStatus(
            project=project, tasks=len(self.tasks), finished=0, annotations=len(self.annotations), skipped=0
        )

    def newest_task(self, subject: str) -> dict[str, Any]:
        return max(
            (task for task in self.tasks.values() if task["subject"] == subject), key=lambda task: task["version"]
        )

    def annotate(
        self, subject: str, verdict: str = "", *, by: str = "ann", change: int = 0, skipped: bool = False, **typed: Any
    ) -> int:
        """Write an annotation on the newest task of a sample, or `change` the one with this id; its id."""
        kind, _, version = read_key(0, self.newest_task(subject)["callwright_key"])
        self.clock += timedelta(minutes=1)
        number = change or len(self.annotations) + 1
        controls = {"verdict": [verdict]} if verdict else {}
        controls |= {name: value if isinstance(value, list) else [value] for name, value in typed.items()}
        self.annotations[number] = PulledAnnotation(
            server=self.name, task_id=number, annotation_id=number, kind=kind, subject=subject, version=version,
            reviewer=by, reviewed_at=self.clock, seconds=9.5, skipped=skipped,
            result=tuple(control_result(name, values) for name, values in controls.items()),
        )  # fmt: skip
        return number


def control_result(name: str, values: list[str]) -> dict[str, Any]:
    """What a control of the screen holds, as Label Studio writes it."""
    kind = "choices" if name in ("verdict", "reasons", "strikes") else "text"
    return {
        "from_name": name,
        "to_name": "conversation",
        "type": "choices" if kind == "choices" else "textarea",
        "value": {kind: values},
    }
