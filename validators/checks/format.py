"""Whether a sample is well-formed, all decided by code (HammerBench 4.2.1, format verification)."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

from generators.schemas import argument_problems
from generators.shifts.turns import is_conversation
from generators.stage_context import StageContext
from validators.checks.findings import Finding, contradicted, unproved
from validators.checks.format_language import language_findings
from validators.checks.format_turns import turn_findings
from validators.checks.grounding_parts import root_of
from validators.checks.unknowns import known_arguments
from warehouse.records import GoldCall, Sample, Snapshot, Tool, Verdict

CHECK = "format"
VERSION = "1"
SHOWN = 4
FULL_KINDS = frozenset({"perfect"})
PARTIAL_KIND = "imperfect"
IDLE_KIND = "irrelevant"


class Subject(NamedTuple):
    """A sample with the tools that its candidate and withheld keys stand for; unknown keys are left out."""

    sample: Sample
    tools: dict[str, Tool]
    withheld: dict[str, Tool]

    def named(self, name: str) -> Tool | None:
        """The candidate of this name, None where no candidate has it."""
        return next((tool for tool in self.tools.values() if tool.name == name), None)


async def check_format(sample: Sample, context: StageContext) -> list[Verdict]:
    """Prove that the sample's parts fit each other and the catalog."""
    subject = Subject(
        sample,
        {key: context.tools[key] for key in sample.candidates if key in context.tools},
        {key: context.tools[key] for key in sample.withheld if key in context.tools},
    )
    return [format_verdict(subject)]


def format_verdict(subject: Subject) -> Verdict:
    """The verdict on a sample's form: contradicted where a rule is broken, unproved where one can't be applied."""
    findings = list(dict.fromkeys(chain.from_iterable(rule(subject) for rule in _RULES)))
    broken = [finding.reason for finding in findings if finding.decision == "contradicted"]
    doubtful = [finding.reason for finding in findings if finding.decision == "unproved"]
    shown = broken or doubtful
    reason = " ".join(shown[:SHOWN]) + (f" And {len(shown) - SHOWN} more." if len(shown) > SHOWN else "")
    return Verdict(
        subject=subject.sample.key,
        check=CHECK,
        decision="contradicted" if broken else "unproved" if doubtful else "proved",
        reason=reason or _summary(subject.sample),
        version=VERSION,
    )


def _candidates(subject: Subject) -> Iterator[Finding]:
    sample = subject.sample
    for key in (*sample.candidates, *sample.withheld):
        if key not in subject.tools and key not in subject.withheld:
            yield contradicted(f"The catalog has no tool with the key {key!r}.")
    if not sample.candidates:
        yield contradicted("There are no candidate tools.")
    names = [tool.name for tool in map(subject.tools.get, sample.candidates) if tool is not None]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield contradicted(f"The candidate {name!r} is there {names.count(name)} times.")
    for tool in subject.withheld.values():
        if tool.name in names:
            yield contradicted(f"The withheld tool {tool.name!r} is among the candidates.")


def _calls(subject: Subject) -> Iterator[Finding]:
    snapshots = list(subject.sample.snapshots())
    for index, snapshot in enumerate(snapshots):
        for call in snapshot.calls:
            yield from _call_findings(call, subject, is_last=index == len(snapshots) - 1)
    if not any(snapshot.calls for snapshot in snapshots) and subject.sample.kind in FULL_KINDS | {PARTIAL_KIND}:
        yield contradicted(f"No call is due, but the sample is of the kind {subject.sample.kind!r}.")
    if subject.sample.kind == IDLE_KIND and any(snapshot.calls for snapshot in snapshots):
        yield contradicted(f"A call is due, but the sample is of the kind {IDLE_KIND!r}.")


def _call_findings(call: GoldCall, subject: Subject, *, is_last: bool) -> Iterator[Finding]:
    tool = subject.named(call.tool)
    if tool is None:
        yield contradicted(f"The gold tool {call.tool!r} is not among the candidates.")
        return
    kind = subject.sample.kind
    partial = not (is_conversation(subject.sample) or (is_last and kind in FULL_KINDS))
    known = known_arguments(call)
    yield from (contradicted(problem) for problem in argument_problems(tool, known, partial=partial))
    for name, value in call.arguments.items():
        if value is None or value in ("", [], {}):
            yield contradicted(f"The gold value of {name!r} is empty: {value!r}.")
    if kind == PARTIAL_KIND and is_last:
        yield from _imperfect_findings(call, tool)


def _imperfect_findings(call: GoldCall, tool: Tool) -> Iterator[Finding]:
    if not tool.required:
        yield unproved(f"{tool.name!r} requires no parameter, so that nothing can be missing from the request.")
    elif set(tool.required) <= set(call.arguments):
        yield contradicted(f"The request is imperfect, but every required parameter of {tool.name!r} is given.")


def _evidence(subject: Subject) -> Iterator[Finding]:
    for snapshot in subject.sample.snapshots():
        for call in snapshot.calls:
            yield from _evidence_findings(call, snapshot)


def _evidence_findings(call: GoldCall, snapshot: Snapshot) -> Iterator[Finding]:
    for evidence in call.evidence:
        if root_of(evidence.argument) not in call.arguments:
            yield contradicted(f"There is evidence for {evidence.argument!r}, which is no argument of the call.")
        if evidence.turn is None or evidence.start is None or evidence.end is None:
            continue
        text = _text_of(snapshot, evidence.turn, in_message=evidence.in_message)
        if text is None:
            yield contradicted(f"The evidence for {evidence.argument!r} points at turn {evidence.turn}: nobody spoke.")
        elif text[evidence.start : evidence.end] != evidence.quote or not evidence.quote:
            yield contradicted(
                f"The evidence for {evidence.argument!r} quotes {evidence.quote!r}, but {evidence.start} to"
                f" {evidence.end} of turn {evidence.turn} is {text[evidence.start : evidence.end]!r}."
            )


def _text_of(snapshot: Snapshot, index: int, *, in_message: bool) -> str | None:
    """What the user said, or the message held, at a turn before the call; None where there is no such text."""
    turn = snapshot.prefix[index] if 0 <= index < len(snapshot.prefix) else None
    if turn is None or turn.kind != "user":
        return None
    if in_message:
        return turn.external.text if turn.external is not None else None
    return turn.text


def _turns(subject: Subject) -> Iterator[Finding]:
    return turn_findings(subject.sample.turns)


def _language(subject: Subject) -> Iterator[Finding]:
    return language_findings(subject.sample, [*subject.tools.values(), *subject.withheld.values()])


def _summary(sample: Sample) -> str:
    calls = [call for snapshot in sample.snapshots() for call in snapshot.calls]
    spans = sum(len(call.evidence) for call in calls)
    arguments = sum(len(call.arguments) for call in calls)
    return (
        f"{len(sample.candidates)} candidates, {len(sample.turns)} turns, {len(calls)} calls due with {arguments} valid"
        f" arguments, and {spans} quotes that stand where they are said to."
    )


_RULES: tuple[Callable[[Subject], Iterator[Finding]], ...] = (_candidates, _turns, _calls, _evidence, _language)
