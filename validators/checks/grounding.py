"""Grounding: every gold argument must have been stated, be a default, or stand in an earlier result.

One that nobody can know yet must be returned by an earlier call of its turn (CallNavi 4.1).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from generators.environments.picking import read_rule, value_at
from generators.multi_step.samples import schema_of
from generators.multi_step.sources import JOINT, as_text, shifted
from generators.stages import StageContext
from language.dates import DATE, YEARLESS, find_dates
from language.numbers import find_numbers
from language.schemas import Kind, choices_of, kind_of
from language.text import VERBATIM
from language.times import find_times
from language.values import read_value
from validators.checks.evidence import TOO_WEAK, Claim, UserText, by_earlier_call, find_evidence, stated_in
from warehouse.errors import RecordError
from warehouse.records import (
    Arguments,
    Evidence,
    GoldCall,
    ResultTurn,
    Sample,
    Snapshot,
    Tool,
    Turn,
    Verdict,
)

CHECK = "grounding"
VERSION = "1"
_TYPED: frozenset[Kind] = frozenset({"integer", "number", "date", "time"})


class _Finding(NamedTuple):
    evidence: Evidence | None
    doubt: str = ""
    contradiction: str = ""


async def check_grounding(sample: Sample, context: StageContext) -> list[Verdict]:
    """Prove every gold argument of every snapshot by what was stated before it."""
    return [ground(sample, context.toolset(sample.candidates))]


def all_proved(arguments: int, *, is_due: bool) -> str:
    """What is stated where every gold argument is proved; `is_due`: a call is due in the end."""
    if arguments:
        return f"Each of the {arguments} arguments has evidence."
    return "There is no argument to prove." if is_due else "No call is due, so there is nothing to prove."


def ground(sample: Sample, tools: Sequence[Tool]) -> Verdict:
    """The verdict on `sample`, whose calls are of `tools`."""
    by_name = {tool.name: tool for tool in tools}
    findings: list[_Finding] = []
    for snapshot in sample.snapshots():
        texts = stated_in(snapshot.prefix)
        for call in snapshot.calls:
            findings.extend(_ground_call(call, by_name, texts, snapshot))
    return _verdict(sample, findings)


def _ground_call(
    call: GoldCall, tools: Mapping[str, Tool], texts: list[UserText], snapshot: Snapshot
) -> Iterator[_Finding]:
    tool = tools.get(call.tool)
    if tool is None:
        yield _Finding(None, contradiction=f"The tool {call.tool!r} is not among the candidates.")
        return
    for name, value in call.arguments.items():
        if name not in tool.properties:
            yield _Finding(None, contradiction=f"The tool {call.tool!r} declares no parameter {name!r}.")
            continue
        for claim in claims_of(name, value, call, tool):
            unknown = by_earlier_call(claim, snapshot.calls, tools)
            yield _Finding(unknown) if unknown else _ground_claim(claim, texts, snapshot)


def _ground_claim(claim: Claim, texts: list[UserText], snapshot: Snapshot) -> _Finding:
    evidence = by_rule(claim, snapshot.prefix) or find_evidence(claim, texts, snapshot.prefix)
    if evidence and evidence.rule not in TOO_WEAK:
        return _Finding(evidence)
    contradiction = "" if evidence else _contradiction(claim, texts)
    weakness = f" ({evidence.quote!r} is a {evidence.rule})" if evidence else ""
    return _Finding(None, f"{claim.name!r} = {claim.value!r} at turn {snapshot.turn}{weakness}", contradiction)


def _contradiction(claim: Claim, texts: list[UserText]) -> str:
    """Why this value can't be right, "" where that is not certain."""
    kind = kind_of(claim.schema)
    if kind in _TYPED:
        stated = {value for one in texts for value in _typed_values(kind, one.text)}
        other = next(iter(stated)) if len(stated) == 1 else None
        if other is not None and other != claim.value and not _explained(other, kind, claim):
            return f"{claim.name!r} is {claim.value!r}, but {other!r} is the only {kind} that was said."
    if texts and _is_forbidden(claim, kind):
        stated_here = read_value(texts[0].text, claim.schema)
        if stated_here is not None and stated_here != claim.value:
            return f"{claim.name!r} is {claim.value!r}, which its schema forbids, and {stated_here!r} was said."
    return ""


def _is_forbidden(claim: Claim, kind: Kind) -> bool:
    if kind == "enum":
        return claim.value not in choices_of(claim.schema)
    if kind == "boolean":
        return not isinstance(claim.value, bool)
    return kind in ("integer", "number") and not isinstance(claim.value, int | float)


def _typed_values(kind: Kind, text: str) -> list[str | float]:
    if kind == "date":
        return [str(found.value) for found in find_dates(text) if found.rule in (DATE, VERBATIM, YEARLESS)]
    if kind == "time":
        return [str(found.value) for found in find_times(text)]
    return [float(str(found.value)) for found in find_numbers(text)]


def _explained(value: str | float, kind: Kind, claim: Claim) -> bool:
    """Whether another argument of the call accounts for the value that was stated."""
    others: Arguments = {name: other for name, other in claim.call.arguments.items() if name != claim.name}
    return any(value in _typed_values(kind, str(other)) for other in others.values())


def _verdict(sample: Sample, findings: list[_Finding]) -> Verdict:
    proofs = [finding.evidence for finding in findings if finding.evidence]
    contradictions = [finding.contradiction for finding in findings if finding.contradiction]
    doubts = [finding.doubt for finding in findings if finding.doubt and not finding.contradiction]
    reasons = list(dict.fromkeys(contradictions))
    if doubts:
        reasons.append(f"Nothing was said, by default or in a result for {'; '.join(doubts)}.")
    return Verdict(
        subject=sample.key,
        check=CHECK,
        decision="contradicted" if contradictions else "unproved" if doubts else "proved",
        score=len(proofs) / len(findings) if findings else 1.0,
        reason=" ".join(reasons) or all_proved(len(findings), is_due=bool(sample.gold)),
        evidence=tuple(dict.fromkeys(proofs)),
        version=VERSION,
    )


_RESULT = re.compile(r"turns\[(\d+)\]\.results\[(\d+)\]\.?(.*)", re.DOTALL)


class ResultOrigin(NamedTuple):
    """The result that a path points into, and the rest of the path: turn, place among its results, path in the result."""

    turn: int
    position: int
    path: str


def claims_of(name: str, value: JsonValue, call: GoldCall, tool: Tool) -> Iterator[Claim]:
    """The claim that an argument makes, or one for each part of it that has evidence of its own."""
    hints = {evidence.argument: evidence for evidence in call.evidence}
    parts = list(_parts(name, value, hints)) if name not in hints else []
    for part, held in parts or [(name, value)]:
        yield Claim(part, held, schema_of(tool, part), hints.get(part), call)


def root_of(argument: str) -> str:
    """The argument that a part belongs to: "legs" for "legs[0].fromId"."""
    return re.split(r"[.\[]", argument, maxsplit=1)[0]


def origin_of(path: str) -> ResultOrigin | None:
    """What a path such as "turns[2].results[0].data.id" points into, None where it is no such path."""
    found = _RESULT.fullmatch(path)
    return ResultOrigin(int(found[1]), int(found[2]), found[3]) if found else None


def by_rule(claim: Claim, prefix: Sequence[Turn]) -> Evidence | None:
    """The claim's own evidence where the rule it names leads from a result before the call to the value."""
    hint = claim.hint
    origin = origin_of(hint.path) if hint and hint.kind == "response" and hint.rule else None
    if hint is None or origin is None or origin.turn >= len(prefix):
        return None
    results = prefix[origin.turn]
    if not isinstance(results, ResultTurn) or origin.position >= len(results.results):
        return None
    try:
        picked = read_rule(hint.rule, 0)
        value = shifted(value_at(results.results[origin.position], origin.path), picked.later_by)
    except RecordError:
        return None
    return hint if value == claim.value or as_text(value) == claim.value else None


def _parts(name: str, value: JsonValue, hints: dict[str, Evidence]) -> Iterator[tuple[str, JsonValue]]:
    """The parts of a value down to those that have evidence; nothing where none of them has."""
    if not any(hint.startswith((f"{name}.", f"{name}[")) for hint in hints):
        return
    if isinstance(value, dict):
        members = [(f"{name}.{key}", member) for key, member in value.items()]
    elif isinstance(value, list):
        members = [(f"{name}[{index}]", member) for index, member in enumerate(value)]
    else:
        pieces = str(value).split(JOINT)
        members = [(f"{name}[{index}]", piece) for index, piece in enumerate(pieces)]
    for part, member in members:
        inner = list(_parts(part, member, hints)) if part not in hints else []
        yield from inner or [(part, member)]
