"""A review task as Label Studio gets it: what all review kinds share."""

from typing import NamedTuple

from pydantic import JsonValue

from callwright.warehouse.records import Record


class Returned(Record):
    """An edit that could not be used: what was typed, why it came back, and in which version of the task.

    `request` is the whole conversation as lines where there is more to it than one request; then `calls` is "".
    """

    request: str
    calls: str
    problem: str
    version: int


class ReviewTask(Record):
    """One task for annotators about a subject; each review kind adds the fields that its screen shows."""

    subject: str
    kind: str
    version: int = 1
    title: str
    why: str

    @property
    def callwright_key(self) -> str:
        """The name of this task in Label Studio: the same content is never pushed twice under it."""
        return task_key(self.kind, self.subject, self.version)

    def data(self) -> dict[str, JsonValue]:
        """The task as Label Studio imports it."""
        fields = self.model_dump(mode="json", exclude={"kind"})
        return {"callwright_key": self.callwright_key, **fields}


class QueuedTask(NamedTuple):
    """A task with its place in the queue (`priority`, 0 to 1, the highest first) and how many people shall answer it.

    `language` and `sample_kind` are what the tables of tasks choose by; a tool has no kind.
    """

    task: ReviewTask
    priority: float = 0.5
    reviewers: int = 1
    language: str = ""
    sample_kind: str = ""

    @property
    def callwright_key(self) -> str:
        """The name under which the task is found again."""
        return self.task.callwright_key

    def data(self) -> dict[str, JsonValue]:
        """The task as Label Studio imports it; it sorts the priority as text."""
        chosen_by = {"language": self.language, "sample_kind": self.sample_kind}
        return {**self.task.data(), **chosen_by, "priority": f"{self.priority:.4f}"}


class TaskQueue(NamedTuple):
    """A table of tasks of its own: of these languages and kinds of samples, all where none is named.

    With an `account` it is one person's: what they have not answered, and what not enough people have.
    """

    title: str
    languages: tuple[str, ...] = ()
    sample_kinds: tuple[str, ...] = ()
    account: str = ""


def task_key(kind: str, subject: str, version: int) -> str:
    """The key under which a task is found again in Label Studio."""
    return f"{kind}:{subject}:{version}"


def version_after(returned: Returned | None) -> int:
    """The version of a task: the next one where it hands an edit back."""
    return returned.version + 1 if returned else 1


def why_asked(reason: str, returned: Returned | None, sentence: str) -> str:
    """Why people are asked; an edit that is handed back comes with the `sentence` that says so first."""
    return f"{sentence.format(problem=returned.problem)}\n{reason}" if returned else reason


def shortened(text: str, most: int) -> str:
    """The text, cut where it is longer than anybody reads."""
    return text if len(text) <= most else f"{text[:most]}…"
