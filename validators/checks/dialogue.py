"""Whether each snapshot follows from the turns before it, by rules (HammerBench 4.2.2 to 4.2.4).

A snapshot is the one before it plus what was stated since: a new or changed argument is stated
in between, a known one stays, an answer gives an argument, and each of its sentences accounts
for one. So an overridden value is gone, and nothing is known before it is stated. The tool stays
the same until the user turns to something else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.shifts.turns import was_made_already
from callwright.generators.stages import StageContext
from callwright.language.text import VERBATIM
from callwright.validators.checks.declaring import rule
from callwright.validators.checks.verdicts import Answer, Finding, answer_of, contradicted, unproved
from callwright.validators.evidence import Scene, UserText, find_said, scene_of, stated_in
from callwright.validators.origins import Claim, find_elsewhere
from callwright.warehouse.records import (
    Arguments,
    CallTurn,
    DoubtedFact,
    Evidence,
    GoldCall,
    Sample,
    Snapshot,
    Tool,
    UserTurn,
    Verdict,
)

_FEWEST_TURNS = 2


class SnapshotStep(NamedTuple):
    """A snapshot, the texts since the one before (latest first), and the calls of that one.

    A step is `free` if calls are executed on the way: then anything that was stated or returned
    may be used.
    """

    snapshot: Snapshot
    stated: tuple[UserText, ...]
    before: tuple[GoldCall, ...]
    is_free: bool

    def pairs(self) -> Iterator[tuple[GoldCall, GoldCall | None]]:
        """Yield each due call with the same call at the snapshot before, None if there was none.

        If the numbers of calls differ, for example because one call of a plan is wanted again,
        it is the call of the same tool.
        """
        same_number = len(self.before) == len(self.snapshot.calls)
        for index, call in enumerate(self.snapshot.calls):
            of_tool = [one for one in self.before if one.tool == call.tool]
            yield (
                call,
                self.before[index] if same_number else of_tool[0] if len(of_tool) == 1 else None,
            )


class _Script(NamedTuple):
    """A sample with its tools by name, and the scene in which its texts are read."""

    sample: Sample
    tools: Mapping[str, Tool]
    scene: Scene


def applies_to(sample: Sample) -> bool:
    """Whether the user speaks several times and no call was executed yet, so snapshots grow."""
    return sum(
        isinstance(turn, UserTurn) for turn in sample.turns
    ) >= _FEWEST_TURNS and not was_made_already(sample)


@rule(
    "dialogue",
    "2",
    "Does each snapshot follow from the turns before it?",
    source="HammerBench 4.2.2, 4.2.3",
    applies=applies_to,
    left_to="readers",
    doubts={
        "lost": "{name} was {value} and is gone after{where}.",
        "used_early": "The calls have {name} = {value} before the user says so (“{words}”{where}).",
        "used_late": (
            "The user says {name} = {value} (“{words}”{where}), but the calls have it only later."
        ),
        "turn_gives_nothing": "What the user answers{where} changes nothing in the call.",
        "tool_changes": (
            "The calls go from {other} to {tool}, though the user turns to nothing else{where}."
        ),
    },
)
def check_dialogue(sample: Sample, context: StageContext) -> Answer:
    """Replay the conversation and look for what every snapshot has more in the turns before it."""
    return _replay(sample, context.toolset(sample.candidates))


def replay(sample: Sample, tools: Sequence[Tool]) -> Verdict:
    """Return the verdict on `sample`, whose calls are of `tools`."""
    return check_dialogue.verdict(sample, _replay(sample, tools))


def _replay(sample: Sample, tools: Sequence[Tool]) -> Answer:
    script = _Script(sample, {tool.name: tool for tool in tools}, scene_of(sample, tools))
    findings: list[Finding] = []
    proofs: list[Evidence] = []
    steps, proved = _steps_of(sample), 0
    for step in steps:
        results = [_replay_call(step, call, before, script) for call, before in step.pairs()]
        against = [finding for found, _ in results for finding in found]
        gives = [evidence for _, spoken in results for evidence in spoken]
        if step.snapshot.calls and step.before and not step.is_free and not gives and not against:
            reason = (
                f"Turn {step.snapshot.turn} has the calls of the snapshot before: the answer gives"
                " nothing."
            )
            against.append(
                unproved(reason, DoubtedFact(kind="turn_gives_nothing", turn=step.snapshot.turn))
            )
        findings, proofs, proved = [*findings, *against], [*proofs, *gives], proved + (not against)
    if not steps:
        findings.append(unproved("There is no snapshot.", DoubtedFact(kind="kind_amiss")))
    answer = answer_of(
        findings, f"Each of the {len(steps)} snapshots follows from the turns before it."
    )
    return replace(
        answer, score=proved / len(steps) if steps else 0.0, evidence=tuple(dict.fromkeys(proofs))
    )


def _replay_call(
    step: SnapshotStep, call: GoldCall, before: GoldCall | None, script: _Script
) -> tuple[list[Finding], list[Evidence]]:
    """Return what speaks against a call at a step, and where its new arguments are stated."""
    tool = script.tools.get(call.tool)
    if tool is None:
        unknown = DoubtedFact(kind="tool_unknown", tool=call.tool)
        return [
            contradicted(f"The tool {call.tool!r} is not among the offered tools.", unknown)
        ], []
    findings = list(_form_findings(step, call, before, tool))
    if findings:
        return findings, []
    values_before = _given(before)
    user_texts = stated_in(step.snapshot.prefix) if step.is_free else step.stated
    spoken: list[Evidence] = []
    for name, value in _given(call).items():
        if name in values_before and values_before[name] == value:
            continue
        claim = _claim(call, name, tool, values_before)
        results = step.snapshot.prefix if step.is_free else ()
        evidence = find_said(claim, user_texts, script.scene) or find_elsewhere(claim, results)
        if evidence is None:
            findings.append(_unstated(claim, values_before.get(name), step, script))
        else:
            spoken.append(evidence)
    return findings, spoken


def _form_findings(
    step: SnapshotStep, call: GoldCall, before: GoldCall | None, tool: Tool
) -> Iterator[Finding]:
    """Yield what is wrong apart from the words: undeclared parameter, other tool, lost argument."""
    where = f"at turn {step.snapshot.turn}"
    for name in call.arguments:
        if name not in tool.properties:
            fact = DoubtedFact(
                kind="call_unfit", turn=step.snapshot.turn, tool=call.tool, argument=name
            )
            yield contradicted(
                f"The tool {call.tool!r} declares no parameter {name!r} ({where}).", fact
            )
    if before is None or step.is_free:
        return
    if before.tool != call.tool:
        reason = (
            f"The tool was {before.tool!r} and is {call.tool!r} {where}; nobody turned to something"
            " else."
        )
        fact = DoubtedFact(
            kind="tool_changes", turn=step.snapshot.turn, tool=call.tool, other=before.tool
        )
        yield unproved(reason, fact)
        return
    for name, value in _given(before).items():
        if name not in _given(call):
            fact = DoubtedFact(kind="lost", turn=step.snapshot.turn, argument=name, value=value)
            yield contradicted(f"{name!r} was {value!r} and is lost {where}.", fact)


def _claim(call: GoldCall, name: str, tool: Tool, known: Mapping[str, object]) -> Claim:
    """Return what must be stated now for the argument; for a list that grew, only new members."""
    value, old = call.arguments[name], known.get(name)
    if (
        isinstance(value, list)
        and isinstance(old, list)
        and all(one in value for one in old)
        and len(old) < len(value)
    ):
        value = [one for one in value if one not in old]
    hint = next((one for one in call.evidence if one.argument == name), None)
    return Claim(name, value, {"title": name, **tool.properties[name]}, hint, call)


def _unstated(claim: Claim, old: JsonValue, step: SnapshotStep, script: _Script) -> Finding:
    what = f"{claim.name!r} = {claim.value!r} at turn {step.snapshot.turn}"
    fact = DoubtedFact(
        kind="unstated", turn=step.snapshot.turn, argument=claim.name, value=claim.value
    )
    everything = stated_in(script.sample.turns)
    earlier = find_said(
        claim,
        [one for one in stated_in(step.snapshot.prefix) if one not in step.stated],
        script.scene,
    )
    if earlier is not None:
        late = fact.with_changes(kind="used_late", quote=earlier.quote)
        if (
            old is not None
            and find_said(claim._replace(value=old), everything, script.scene) is None
        ):
            becomes = (
                f"becomes {claim.value!r} at turn {step.snapshot.turn}, which was said at turn"
                f" {earlier.turn}."
            )
            return contradicted(
                f"{claim.name!r} was {old!r}, which nobody says, and {becomes}", late
            )
        return unproved(
            f"{what} was said at turn {earlier.turn}, and the snapshot after that does not"
            " have it.",
            late,
        )
    later = find_said(
        claim, [one for one in everything if one.turn > step.snapshot.turn], script.scene
    )
    if later is not None and later.rule == VERBATIM and len(later.quote) > 1:
        early = fact.with_changes(kind="used_early", quote=later.quote, turn=None)
        return contradicted(f"{what} is said only at turn {later.turn}.", early)
    return unproved(f"Nothing was said for {what}.", fact)


_NOTHING: tuple[JsonValue, ...] = (None, "", [], {})


def _steps_of(sample: Sample) -> list[SnapshotStep]:
    """Return the steps of a conversation, one per snapshot."""
    steps: list[SnapshotStep] = []
    before: tuple[GoldCall, ...] = ()
    turn_before, is_free = -1, False
    for snapshot in sample.snapshots():
        stated = tuple(one for one in stated_in(snapshot.prefix) if one.turn > turn_before)
        turn = sample.turns[snapshot.turn]
        is_free = is_free or (isinstance(turn, CallTurn) and turn.executed)
        steps.append(SnapshotStep(snapshot, stated, before, is_free))
        turn_before, before = snapshot.turn, snapshot.calls
    return steps


def _given(call: GoldCall | None) -> Arguments:
    """Return a call's arguments that have a value; labels of published data contain empty ones."""
    if call is None:
        return {}
    return {name: value for name, value in call.arguments.items() if value not in _NOTHING}
