"""Samples become review tasks: what an annotator is shown, all of it as plain text."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from annotation.dialogue_editing import write_dialogue
from annotation.picks import has_steps
from annotation.rendering import Line, describe_tool, is_dialogue, name_tool, tell_calls, tell_conversation, tell_steps
from annotation.screens import SAMPLE_REVIEW
from annotation.words import Words, words_in
from warehouse.records import GoldCall, Language, Record, Sample, Tool, Verdict

_MOST_OF_TOOLS = 12_000  # characters
_WORST_FIRST = ("contradicted", "unproved", "proved")


class Returned(Record):
    """An edit that could not be used: what was typed, why it came back, and in which version of the task.

    `request` is the whole conversation as lines where there is more to it than one request; then `calls` is "".
    """

    request: str
    calls: str
    problem: str
    version: int


class Task(Protocol):
    """A task of any review kind, as it is pushed."""

    @property
    def callwright_key(self) -> str:
        """The name under which it is found again."""
        ...

    def data(self) -> dict[str, JsonValue]:
        """The task as Label Studio imports it."""
        ...


class QueuedTask(NamedTuple):
    """A task with its place in the queue (`priority`, 0 to 1, the highest first) and how many people shall answer it."""

    task: Task
    priority: float = 0.5
    reviewers: int = 1

    @property
    def callwright_key(self) -> str:
        """The name under which the task is found again."""
        return self.task.callwright_key

    def data(self) -> dict[str, JsonValue]:
        """The task as Label Studio imports it; it sorts the priority as text."""
        return {**self.task.data(), "priority": f"{self.priority:.4f}"}


class ReviewTask(Record):
    """One task for annotators; `request` and `calls` are what they find in the boxes for editing.

    Of a conversation `request` holds all lines, and `calls` nothing. `tools` are those of the calls due; where none is
    due in the end, all candidates in short.
    """

    subject: str
    kind: str = SAMPLE_REVIEW
    version: int = 1
    title: str
    why: str
    conversation: tuple[Line, ...]
    calls_shown: str
    tools: str
    other_tools: str
    failed: str
    passed: str
    request: str
    calls: str

    @property
    def callwright_key(self) -> str:
        """The name of this task in Label Studio: the same content is never pushed twice under it."""
        return task_key(self.kind, self.subject, self.version)

    def data(self) -> dict[str, JsonValue]:
        """The task as Label Studio imports it."""
        fields = self.model_dump(mode="json", exclude={"kind"})
        return {"callwright_key": self.callwright_key, **fields}


def task_key(kind: str, subject: str, version: int) -> str:
    """The key under which a task is found again in Label Studio."""
    return f"{kind}:{subject}:{version}"


def review_task(
    sample: Sample,
    tools: Sequence[Tool],
    verdicts: Sequence[Verdict],
    *,
    reason: str,
    language: Language = "en",
    returned: Returned | None = None,
) -> ReviewTask:
    """The task that asks people about `sample`; with `returned`, the task that hands an unusable edit back."""
    words = words_in(language)
    why = words.in_doubt if _is_said(reason, verdicts) else reason
    before = boxes(sample, language)
    compared, others = _tools(sample, tools, words)
    return ReviewTask(
        subject=sample.key,
        version=returned.version + 1 if returned else 1,
        title=" · ".join(filter(None, [sample.category, sample.kind, _about(sample.kind, words)])),
        why=f"{words.returned.format(problem=returned.problem)}\n{why}" if returned else why,
        conversation=tuple(tell_steps(sample, words) if has_steps(sample) else tell_conversation(sample, words)),
        calls_shown=tell_calls(sample, verdicts, words),
        tools=compared or words.none,
        other_tools=others or words.none,
        failed="\n".join(_check_lines(verdicts, words, passed=False)) or words.none,
        passed="\n".join(_check_lines(verdicts, words, passed=True)) or words.none,
        request=returned.request if returned else before.request,
        calls=returned.calls if returned else before.calls,
    )


class Boxes(NamedTuple):
    """What stands in the two boxes before a person edits it."""

    request: str
    calls: str


def boxes(sample: Sample, language: Language = "en") -> Boxes:
    """A request and its calls as JSON, or a whole conversation as lines and nothing."""
    if is_dialogue(sample):
        return Boxes(write_dialogue(sample, words_in(language)), "")
    return Boxes(sample.request, write_calls(sample.gold))


def write_calls(calls: Sequence[GoldCall]) -> str:
    """The calls as people read and edit them: an indented JSON list."""
    value = [{"tool": call.tool, "arguments": dict(call.arguments)} for call in calls]
    return json.dumps(value, ensure_ascii=False, indent=2)


def _about(kind: str, words: Words) -> str:
    """What a kind of samples is like; one that was made of another kind (`mQmA_SO_case1`) is told by its own part."""
    parts = kind.split("_")
    names = ("_".join(parts[start:]) for start in range(len(parts)))
    return next((words.kind[name] for name in names if name in words.kind), "")


def _tools(sample: Sample, tools: Sequence[Tool], words: Words) -> tuple[str, str]:
    """The tools that a reviewer compares with, and those folded away.

    Where no call is due in the end, all are compared: in one line each, and in full below.
    """
    called = {call.tool for snapshot in sample.snapshots() for call in snapshot.calls}
    due, others = [tool for tool in tools if tool.name in called], [tool for tool in tools if tool.name not in called]
    if sample.gold:
        return _described(due, words), _described(others, words)
    return "\n".join(name_tool(tool) for tool in (*due, *others)), _described([*due, *others], words)


def _described(tools: Sequence[Tool], words: Words) -> str:
    """The tools in full; where that is more than anybody reads, a line for each, as far as there is room."""
    full = "\n\n".join(describe_tool(tool, words) for tool in tools)
    if len(full) <= _MOST_OF_TOOLS:
        return full
    short = "\n".join(name_tool(tool) for tool in tools)
    return short if len(short) <= _MOST_OF_TOOLS else f"{short[:_MOST_OF_TOOLS]}…"


def _is_said(reason: str, verdicts: Sequence[Verdict]) -> bool:
    """Whether a reason holds nothing but what the checks that did not pass say by themselves."""
    if not reason:
        return False
    for verdict in verdicts:
        if verdict.decision != "proved" and verdict.reason:
            reason = reason.replace(f"{verdict.check}: {verdict.reason}", "").replace(verdict.reason, "")
    return not reason.strip()


def _check_lines(verdicts: Sequence[Verdict], words: Words, *, passed: bool) -> Iterator[str]:
    wanted = [verdict for verdict in verdicts if (verdict.decision == "proved") == passed]
    for verdict in sorted(wanted, key=lambda verdict: (_WORST_FIRST.index(verdict.decision), verdict.check)):
        score = "" if verdict.score is None else f" {verdict.score:.2f}"
        reason = f": {verdict.reason}" if verdict.reason else ""
        yield f"{words.decision[verdict.decision]} · {verdict.check}{score}{reason}"
