"""Whether a multi-step sample has exactly one shortest path, the one it holds (ComplexFuncBench 2.1.2).

All from the sample: its request, its candidates, the responses as it records them, and the rules of its evidence. The
environment gives its links, and answers the calls that other paths would make.
"""

from collections.abc import Sequence

from pydantic import JsonValue

from generators.environments.protocol import Environment
from generators.multi_step.picking import entries_of, has, rivals, value_at
from generators.multi_step.resolving import PickedPlace, RememberedEnvironment, Resolved, resolve
from generators.multi_step.search import Plan, find_plans
from generators.stage_context import StageContext
from language.dates import DATE, find_dates
from language.text import VERBATIM
from validators.checks.executed import ENVIRONMENT_TAG, is_path, tag_of
from validators.checks.findings import Finding, contradicted, unproved
from validators.checks.path_reading import calls_at, read_goal
from warehouse.errors import RecordError
from warehouse.records import Call, Goal, ResultTurn, Sample, Tool, Verdict

CHECK = "path"
VERSION = "1"
SHOWN = 4
CallKeys = list[frozenset[str]]


def applies_to(sample: Sample) -> bool:
    """Whether the sample's calls were made in an environment."""
    return is_path(sample)


async def check_path(sample: Sample, context: StageContext) -> list[Verdict]:
    """Prove each value by its evidence, and by search that no other path is as short."""
    name = tag_of(sample, ENVIRONMENT_TAG)
    if name not in context.environments:
        return [_verdict(sample, [unproved(f"There is no environment {name!r} to search in.")])]
    findings = await find_in_path(sample, context.environments[name], context.toolset(sample.candidates))
    return [_verdict(sample, findings)]


async def find_in_path(sample: Sample, environment: Environment, tools: Sequence[Tool]) -> list[Finding]:
    """What speaks against the sample's path being the only shortest one; nothing where it is."""
    reading = read_goal(sample, {tool.name: tool for tool in tools})
    if reading.goal is None:
        return reading.findings
    remembered = RememberedEnvironment(environment, _recorded(sample))
    try:
        resolved = await resolve(reading.goal, remembered)
    except RecordError as error:
        return [contradicted(str(error))]
    findings = [*_differences(sample, resolved), *_choices(resolved), *_unused(sample, reading.goal)]
    if not findings:
        findings += _others(await find_plans(reading.goal, remembered, tools), _keys(resolved))
    return findings


def _recorded(sample: Sample) -> list[tuple[Call, JsonValue]]:
    """Every call of the sample with the response that it records."""
    pairs: list[tuple[Call, JsonValue]] = []
    for index, turn in enumerate(sample.turns):
        if isinstance(turn, ResultTurn):
            due = calls_at(sample, index - 1)
            pairs += [
                (Call(tool=call.tool, arguments=call.arguments), result)
                for call, result in zip(due, turn.results, strict=False)
            ]
    return pairs


def _differences(sample: Sample, resolved: Resolved) -> list[Finding]:
    """Where the evidence leads to other calls than the gold, or to the same at another step."""
    gold: CallKeys = [
        frozenset(Call(tool=call.tool, arguments=call.arguments).key for call in snapshot.calls)
        for snapshot in sample.snapshots()
    ]
    if gold == _keys(resolved):
        return []
    if frozenset().union(*gold) == frozenset().union(*_keys(resolved)):
        return [contradicted("The calls can be made at other steps than they are: the order is not the shortest.")]
    led = {call.key: call for exchange in resolved.path for call in exchange.calls}
    other = next(call for key, call in led.items() if key not in frozenset().union(*gold))
    return [
        contradicted(f"The rules lead to {other.tool} with {other.arguments!r}, which is not among the gold calls.")
    ]


def _keys(resolved: Resolved) -> CallKeys:
    return [frozenset(call.key for call in exchange.calls) for exchange in resolved.path]


def _choices(resolved: Resolved) -> list[Finding]:
    """The picks that leave a choice: another entry fits as well, and has another value."""
    return [finding for place in resolved.places if (finding := _choice(resolved, place))]


def _choice(resolved: Resolved, place: PickedPlace) -> Finding | None:
    source = place.source
    entries = entries_of(resolved.path[place.step].responses[place.call], source.entries)
    value = value_at(entries[place.entry].value, source.field)
    others = [
        entry.index
        for entry in rivals(entries, source.where, place.entry)
        if has(entry.value, source.field) and value_at(entry.value, source.field) != value
    ]
    if not others:
        return None
    call = resolved.path[place.step].calls[place.call]
    return unproved(
        f"For {place.leaf.argument!r} of {resolved.call(place.leaf.call).tool}, entry {others[0]} of"
        f" {source.entries or 'the response'!r} of {call.tool} fits as well as entry {place.entry}."
    )


def _unused(sample: Sample, goal: Goal) -> list[Finding]:
    """Dates that the user says and no call takes: a call may be missing."""
    held = repr([planned.arguments for planned in goal.calls])
    dates = [found for found in find_dates(sample.request) if found.rule in (DATE, VERBATIM)]
    return [
        unproved(f"The user says {sample.request[found.start : found.end]!r}, which no call takes.")
        for found in dates
        if str(found.value) not in held
    ]


def _others(plans: Sequence[Plan], own: CallKeys) -> list[Finding]:
    if not plans:
        return [unproved("The search found no path at all with these candidates.")]
    sets = [[frozenset(call.key for call in exchange.calls) for exchange in plan.path] for plan in plans]
    if own not in sets:
        shorter = [call.tool for exchange in plans[0].path for call in exchange.calls]
        return [contradicted(f"A shorter path meets the request: {', '.join(shorter)}.")]
    if len(plans) > 1:
        other = next(plan for plan, names in zip(plans, sets, strict=True) if names != own)
        return [unproved(f"Another path is as short: {_told(other, own)}.")]
    return []


def _told(plan: Plan, own: CallKeys) -> str:
    """The calls of another path that the sample's does not make."""
    known = frozenset().union(*own)
    calls = [call for exchange in plan.path for call in exchange.calls if call.key not in known]
    return "; ".join(f"{call.tool} with {call.arguments!r}" for call in calls)


def _verdict(sample: Sample, findings: Sequence[Finding]) -> Verdict:
    broken = [finding.reason for finding in findings if finding.decision == "contradicted"]
    doubtful = [finding.reason for finding in findings if finding.decision == "unproved"]
    shown = list(dict.fromkeys(broken or doubtful))[:SHOWN]
    calls = [len(snapshot.calls) for snapshot in sample.snapshots()]
    return Verdict(
        subject=sample.key,
        check=CHECK,
        decision="contradicted" if broken else "unproved" if doubtful else "proved",
        reason=" ".join(shown) or f"No other path has {len(calls)} steps and {sum(calls)} calls or fewer.",
        version=VERSION,
    )
