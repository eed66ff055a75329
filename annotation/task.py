"""Samples become review tasks: what an annotator is shown, all of it as plain text."""

import json
from collections.abc import Iterator, Sequence
from typing import assert_never

from pydantic import JsonValue

from annotation.screens import SAMPLE_REVIEW
from annotation.tool_text import describe_tool
from annotation.words import Words, words_in
from warehouse.records import (
    CallTurn,
    Evidence,
    GoldCall,
    Language,
    Message,
    Record,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
    Verdict,
)

_WORST_FIRST = ("contradicted", "unproved", "proved")


class Line(Record):
    """One line of the dialogue shown: who says what."""

    author: str
    text: str


class Returned(Record):
    """An edit that could not be used: what was typed, why it came back, and in which version of the task."""

    request: str
    calls: str
    problem: str
    version: int


class ReviewTask(Record):
    """One task for annotators; `request` and `calls` are what they find in the boxes for editing."""

    subject: str
    kind: str = SAMPLE_REVIEW
    version: int = 1
    title: str
    why: str
    conversation: tuple[Line, ...]
    tools: str
    calls_shown: str
    evidence: str
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
    shown = write_calls(sample.gold)
    why = words.in_doubt if _is_said(reason, verdicts) else reason
    return ReviewTask(
        subject=sample.key,
        version=returned.version + 1 if returned else 1,
        title=" · ".join(filter(None, [sample.category, sample.kind, words.kind.get(sample.kind)])),
        why=f"{words.returned.format(problem=returned.problem)}\n{why}" if returned else why,
        conversation=tuple(_lines(sample.turns, words)),
        tools="\n\n".join(describe_tool(tool, words) for tool in _due_first(tools, sample)) or words.none,
        calls_shown=shown if sample.gold else words.no_calls,
        evidence="\n".join(_evidence_lines(sample, verdicts, words)) or words.none,
        failed="\n".join(_check_lines(verdicts, words, passed=False)) or words.none,
        passed="\n".join(_check_lines(verdicts, words, passed=True)) or words.none,
        request=returned.request if returned else last_request(sample),
        calls=returned.calls if returned else shown,
    )


def last_call_turn(sample: Sample) -> int | None:
    """The index of the call turn under review, None where no turn holds calls."""
    return next((index for index in reversed(range(len(sample.turns))) if sample.turns[index].kind == "calls"), None)


def last_user_turn(sample: Sample) -> int | None:
    """The index of the request under review: the last user turn before the calls, None without one."""
    end = last_call_turn(sample)
    before = range(len(sample.turns) if end is None else end)
    return next((index for index in reversed(before) if sample.turns[index].kind == "user"), None)


def last_request(sample: Sample) -> str:
    """The request under review, "" where no user turn comes before the calls."""
    index = last_user_turn(sample)
    turn = None if index is None else sample.turns[index]
    return turn.text if isinstance(turn, UserTurn) else ""


def write_calls(calls: Sequence[GoldCall]) -> str:
    """The calls as people read and edit them: an indented JSON list."""
    return _indented([{"tool": call.tool, "arguments": dict(call.arguments)} for call in calls])


def _indented(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _lines(turns: Sequence[Turn], words: Words) -> Iterator[Line]:
    last = max((index for index, turn in enumerate(turns) if isinstance(turn, CallTurn)), default=-1)
    for index, turn in enumerate(turns):
        match turn:
            case UserTurn(text=text, external=external):
                yield Line(author=words.user, text=text)
                if external is not None:
                    yield _message_line(external, words)
            case CallTurn(calls=calls):
                if index != last:
                    yield Line(author=words.called, text=write_calls(calls) if calls else words.no_calls)
            case ResultTurn(results=results):
                yield Line(author=words.result, text="\n".join(map(_indented, results)))
            case ReplyTurn(text=text):
                yield Line(author=words.assistant, text=text)
            case _:
                assert_never(turn)


def _due_first(tools: Sequence[Tool], sample: Sample) -> list[Tool]:
    """The tools of the calls due before the others: they are what a reviewer compares with."""
    due = {call.tool for call in sample.gold}
    return sorted(tools, key=lambda tool: tool.name not in due)


def _is_said(reason: str, verdicts: Sequence[Verdict]) -> bool:
    """Whether a reason holds nothing but what the checks that did not pass say by themselves."""
    if not reason:
        return False
    for verdict in verdicts:
        if verdict.decision != "proved" and verdict.reason:
            reason = reason.replace(f"{verdict.check}: {verdict.reason}", "").replace(verdict.reason, "")
    return not reason.strip()


def _message_line(message: Message, words: Words) -> Line:
    return Line(author=words.message.format(app=message.app), text=message.text)


def _check_lines(verdicts: Sequence[Verdict], words: Words, *, passed: bool) -> Iterator[str]:
    wanted = [verdict for verdict in verdicts if (verdict.decision == "proved") == passed]
    for verdict in sorted(wanted, key=lambda verdict: (_WORST_FIRST.index(verdict.decision), verdict.check)):
        score = "" if verdict.score is None else f" {verdict.score:.2f}"
        reason = f": {verdict.reason}" if verdict.reason else ""
        yield f"{words.decision[verdict.decision]} · {verdict.check}{score}{reason}"


def _evidence_lines(sample: Sample, verdicts: Sequence[Verdict], words: Words) -> Iterator[str]:
    proved = {item.argument: item for verdict in verdicts for item in verdict.evidence}
    for call in sample.gold:
        own = {item.argument: item for item in call.evidence}
        for name, value in call.arguments.items():
            found = proved.get(name) or own.get(name)
            yield f"{name} = {json.dumps(value, ensure_ascii=False)} ← {_source(found, words)}"


def _source(evidence: Evidence | None, words: Words) -> str:
    if evidence is None:
        return words.no_evidence
    how = evidence.rule or words.evidence_kind[evidence.kind]
    if evidence.quote:
        return f"“{evidence.quote}” ({how})"
    return f"{evidence.path} ({how})" if evidence.path else how
