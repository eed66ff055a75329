"""Whether each snapshot follows from the turns before it, replayed by rules alone (HammerBench 4.2.2 to 4.2.4).

A snapshot is the one before it and what was said since: an argument that is new or changed is said in between, one that
was known stays, an answer gives an argument, and each of its sentences accounts for one; so a value that was overridden
is gone, and nothing is known before it is said. The tool stays the same until the user turns to something else.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from generators.stage_context import StageContext
from language.calls.tools import ToolView
from language.text import VERBATIM
from validators.checks.dialogue_answers import Place, beside, declines, left_over, not_given, places_of, unused
from validators.checks.dialogue_owners import Answer, misplaced
from validators.checks.dialogue_steps import Step, given, steps_of, texts_after, user_turns
from validators.checks.dialogue_tools import better_tool, has_turned
from validators.checks.dialogue_words import asked_for
from validators.checks.evidence import TOO_WEAK, Claim, Said, find_evidence, find_spoken, said_in
from validators.checks.executed import was_made_already
from validators.checks.findings import Finding, contradicted, unproved
from validators.checks.statements import view_tool
from warehouse.records import Evidence, GoldCall, ReplyTurn, Sample, Tool, Verdict

CHECK = "dialogue"
VERSION = "1"
_FEWEST_TURNS = 2
_SHOWN = 4


class _Script(NamedTuple):
    """A sample with its tools by name, and how people speak of them."""

    sample: Sample
    tools: Mapping[str, Tool]
    views: Mapping[str, ToolView]


class _Replayed(NamedTuple):
    """What one step has given: what speaks against it, and where its new arguments are said."""

    findings: tuple[Finding, ...]
    evidence: tuple[Evidence, ...] = ()


def applies_to(sample: Sample) -> bool:
    """Whether the user speaks several times, and no call was made yet: snapshots grow, calls with results do not."""
    return user_turns(sample) >= _FEWEST_TURNS and not was_made_already(sample)


async def check_dialogue(sample: Sample, context: StageContext) -> list[Verdict]:
    """Replay the conversation and prove every snapshot by the turns before it."""
    return [replay(sample, context.toolset(sample.candidates))]


def replay(sample: Sample, tools: Sequence[Tool]) -> Verdict:
    """The verdict on `sample`, whose calls are of `tools`."""
    script = _Script(sample, {tool.name: tool for tool in tools}, {tool.name: view_tool(tool) for tool in tools})
    steps = steps_of(sample)
    replayed = [_replay_step(step, script) for step in steps]
    findings = list(dict.fromkeys(finding for one in replayed for finding in one.findings))
    findings += [*_tool_findings(steps, script), *_unanswered(steps, script)]
    broken = [finding.reason for finding in findings if finding.decision == "contradicted"]
    doubtful = [finding.reason for finding in findings if finding.decision == "unproved"]
    shown = (broken or doubtful)[:_SHOWN]
    proved = sum(not one.findings for one in replayed)
    return Verdict(
        subject=sample.key,
        check=CHECK,
        decision="contradicted" if broken else "unproved" if doubtful or not steps else "proved",
        score=proved / len(steps) if steps else 0.0,
        reason=" ".join(shown) or _summary(len(steps)),
        evidence=tuple(dict.fromkeys(evidence for one in replayed for evidence in one.evidence)),
        version=VERSION,
    )


def _summary(steps: int) -> str:
    return f"Each of the {steps} snapshots follows from the turns before it." if steps else "There is no snapshot."


def _replay_step(step: Step, script: _Script) -> _Replayed:
    if not step.snapshot.calls:
        return _Replayed(tuple(_idle_findings(step, script)))
    results = [_replay_call(step, call, before, script) for call, before in step.pairs()]
    findings = [finding for one in results for finding in one.findings]
    gives = any(one.evidence for one in results) or _leaves_open(step, script)
    if step.before and not step.is_free and not gives and not findings:
        findings.append(
            unproved(f"Turn {step.snapshot.turn} has the calls of the snapshot before: the answer gives nothing.")
        )
    return _Replayed(tuple(findings), tuple(evidence for one in results for evidence in one.evidence))


def _leaves_open(step: Step, script: _Script) -> bool:
    """Whether the user says that any value will do; "I don't know how" in another request does not."""
    views = [script.views[call.tool] for call in step.before if call.tool in script.views]
    return declines(step.text) and not any(has_turned(view, step.text, step.question) for view in views)


def _replay_call(step: Step, call: GoldCall, before: GoldCall | None, script: _Script) -> _Replayed:
    tool = script.tools.get(call.tool)
    if tool is None:
        return _Replayed((contradicted(f"The tool {call.tool!r} is not among the candidates."),))
    findings = list(_form_findings(step, call, before, tool))
    if findings:
        return _Replayed(tuple(findings))
    arguments, known = given(call), given(before)
    fresh = [name for name, value in arguments.items() if name not in known or known[name] != value]
    said = said_in(step.snapshot.prefix) if step.is_free else step.said
    spoken: list[Evidence] = []
    for name in fresh:
        claim = _claim(call, name, tool, known)
        evidence = find_evidence(claim, said, step.snapshot.prefix if step.is_free else ())
        if evidence is None or evidence.rule in TOO_WEAK:
            findings.append(_unsaid(claim, known.get(name), evidence, step, script))
        else:
            spoken.append(evidence)
    if not findings and not step.is_free:
        findings += _answer_findings(step, call, before, spoken, script.views[call.tool])
    return _Replayed(tuple(findings), tuple(spoken))


def _form_findings(step: Step, call: GoldCall, before: GoldCall | None, tool: Tool) -> Iterator[Finding]:
    """What is wrong without a look at the words: a parameter that is not declared, another tool, a lost argument."""
    where = f"at turn {step.snapshot.turn}"
    for name in call.arguments:
        if name not in tool.properties:
            yield contradicted(f"The tool {call.tool!r} declares no parameter {name!r} ({where}).")
    if before is None or step.is_free:
        return
    if before.tool != call.tool:
        yield unproved(f"The tool was {before.tool!r} and is {call.tool!r} {where}; nobody turned to something else.")
        return
    for name, value in given(before).items():
        if name not in given(call):
            yield contradicted(f"{name!r} was {value!r} and is lost {where}.")


def _claim(call: GoldCall, name: str, tool: Tool, known: Mapping[str, object]) -> Claim:
    """What has to be said now for the argument: of a list that grew only its new members."""
    value, old = call.arguments[name], known.get(name)
    if isinstance(value, list) and isinstance(old, list) and all(one in value for one in old) and len(old) < len(value):
        value = [one for one in value if one not in old]
    hint = next((one for one in call.evidence if one.argument == name), None)
    return Claim(name, value, {"title": name, **tool.properties[name]}, hint, call)


def _unsaid(claim: Claim, old: JsonValue, weak: Evidence | None, step: Step, script: _Script) -> Finding:
    what = f"{claim.name!r} = {claim.value!r} at turn {step.snapshot.turn}"
    if weak is not None:
        return unproved(f"{what} is not sure: {weak.quote!r} is a {weak.rule}.")
    earlier = find_spoken(claim, [one for one in said_in(step.snapshot.prefix) if one not in step.said])
    if earlier is not None and old is not None and _is_said_nowhere(claim._replace(value=old), script.sample):
        reason = (
            f"{claim.name!r} was {old!r}, which nobody says, and becomes {claim.value!r} at turn {step.snapshot.turn}"
        )
        return contradicted(f"{reason}, which was said at turn {earlier.turn}.")
    if earlier is not None:
        return unproved(f"{what} was said at turn {earlier.turn}, and the snapshot after that does not have it.")
    later = find_spoken(claim, texts_after(script.sample, step.snapshot.turn))
    if later is not None and later.rule == VERBATIM and len(later.quote) > 1:
        return contradicted(f"{what} is said only at turn {later.turn}.")
    return unproved(f"Nothing was said for {what}.")


def _is_said_nowhere(claim: Claim, sample: Sample) -> bool:
    return find_spoken(claim, said_in(sample.turns)) is None


def _answer_findings(
    step: Step, call: GoldCall, before: GoldCall | None, spoken: Sequence[Evidence], view: ToolView
) -> Iterator[Finding]:
    """Whether the words of the turn and the arguments that it gives account for each other."""
    arguments, known = given(call), given(before)
    unknown = [one for one in view.parameters if one.name not in arguments]
    placed = {said: places_of(view, arguments, known, spoken, said) for said in step.said}
    for said, places in placed.items():
        own, pointed = _of_turn(placed, said.turn)
        pointing = beside(own.text, placed[own]) if said.in_message else own.text
        answer = Answer(said, pointing, step.question, tuple(places))
        for reason in misplaced(answer, view, unknown):
            yield unproved(f"At turn {said.turn} {reason}")
        if not said.in_message:
            for words in not_given(said.text, places, view, unknown):
                yield unproved(f"At turn {said.turn} {words!r} is said for a parameter that the call lacks.")
            for words in unused(said.text, places, unknown):
                yield unproved(f"At turn {said.turn} {words!r} is said, and the call has no argument of it.")
            for words in left_over(said.text, places, view, pointed, is_first=before is None):
                yield unproved(f"At turn {said.turn} {words!r} gives no argument.")


def _of_turn(placed: Mapping[Said, list[Place]], turn: int) -> tuple[Said, list[Place]]:
    """What the user says himself in a turn, and the places in the message that comes with it."""
    own = next(said for said in placed if said.turn == turn and not said.in_message)
    return own, [place for said, places in placed.items() if said.turn == turn and said.in_message for place in places]


def _tool_findings(steps: Sequence[Step], script: _Script) -> list[Finding]:
    """Whether request and questions are about the tool that is called first."""
    first = next((step for step in steps if step.snapshot.calls), None)
    if first is None or first.is_free or len(first.snapshot.calls) > 1:
        return []
    tool = first.snapshot.calls[0].tool
    replies = [turn.text for turn in script.sample.turns if isinstance(turn, ReplyTurn)]
    if steps and not steps[-1].snapshot.calls:
        replies = replies[:-1]  # the refusal
    named = {name for step in steps for call in step.snapshot.calls for name in given(call)}
    said = [first.text, *replies]
    better = better_tool(tuple(script.views.values()), tool, named, said) if tool in script.views else ""
    return [unproved(f"Request and questions speak of {better!r} rather than of {tool!r}.")] if better else []


def _unanswered(steps: Sequence[Step], script: _Script) -> Iterator[Finding]:
    """Parameters that were asked for and that the last call still lacks, though the user has gone on answering."""
    last = steps[-1] if steps else None
    if last is None or len(last.snapshot.calls) != 1 or last.is_free or last.snapshot.calls[0].tool not in script.views:
        return
    call = last.snapshot.calls[0]
    view = script.views[call.tool]
    for step in steps[1:]:
        for name in asked_for(step.question, view.parameters):
            if name not in given(call) and not declines(step.text):
                yield unproved(f"{name!r} was asked for before turn {step.snapshot.turn}, and the last call lacks it.")


def _idle_findings(step: Step, script: _Script) -> Iterator[Finding]:
    """Whether the user has really turned to something else where no call is due any more."""
    for call in step.before:
        view = script.views.get(call.tool)
        if view is not None and not has_turned(view, step.text, step.question):
            yield unproved(f"Turn {step.snapshot.turn} has no call, but what was said still suits {call.tool!r}.")
