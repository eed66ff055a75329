"""Grounding: every gold argument must have been said, be a default, or stand in an earlier result."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from generators.desk import Desk
from llm.language.booleans import ANSWERED, is_about
from llm.language.dates import DATE, YEARLESS, find_dates
from llm.language.found import VERBATIM, Found
from llm.language.kinds import Kind, choices_of, kind_of
from llm.language.locating import locate
from llm.language.numbers import find_numbers
from llm.language.reading import read_value
from llm.language.times import HALF_DAY, find_times
from validators.checks.responses import find_in_results
from warehouse.records import (
    Arguments,
    Evidence,
    GoldCall,
    JsonSchema,
    ReplyTurn,
    Sample,
    Snapshot,
    Tool,
    Turn,
    UserTurn,
    Verdict,
)

CHECK = "grounding"
VERSION = "1"
TOO_WEAK = frozenset({HALF_DAY})  # these may mean two values: good enough to point at, not to prove
_TYPED: frozenset[Kind] = frozenset({"integer", "number", "date", "time"})


class _Claim(NamedTuple):
    """An argument of a gold call, what its schema says, and where the generator says it was worded."""

    name: str
    value: JsonValue
    schema: JsonSchema
    hint: Evidence | None
    call: GoldCall


class _Said(NamedTuple):
    """A text of the user's: a turn's own words, or the external message that comes with it."""

    turn: int
    text: str
    in_message: bool
    question: str


class _Finding(NamedTuple):
    evidence: Evidence | None
    doubt: str = ""
    contradiction: str = ""


async def check_grounding(sample: Sample, desk: Desk) -> list[Verdict]:
    """Prove every gold argument of every snapshot by what was said before it."""
    return [ground(sample, desk.toolset(sample.candidates))]


def ground(sample: Sample, tools: Sequence[Tool]) -> Verdict:
    """The verdict on `sample`, whose calls are of `tools`."""
    by_name = {tool.name: tool for tool in tools}
    findings: list[_Finding] = []
    for snapshot in sample.snapshots():
        said = _said(snapshot.prefix)
        for call in snapshot.calls:
            findings.extend(_ground_call(call, by_name.get(call.tool), said, snapshot))
    return _verdict(sample, findings)


def _ground_call(call: GoldCall, tool: Tool | None, said: list[_Said], snapshot: Snapshot) -> Iterator[_Finding]:
    if tool is None:
        yield _Finding(None, contradiction=f"The tool {call.tool!r} is not among the candidates.")
        return
    hints = {evidence.argument: evidence for evidence in call.evidence}
    for name, value in call.arguments.items():
        if name not in tool.properties:
            yield _Finding(None, contradiction=f"The tool {call.tool!r} declares no parameter {name!r}.")
            continue
        schema = {"title": name, **tool.properties[name]}
        yield _ground_claim(_Claim(name, value, schema, hints.get(name), call), said, snapshot)


def _ground_claim(claim: _Claim, said: list[_Said], snapshot: Snapshot) -> _Finding:
    evidence = _spoken(claim, said) or _by_default(claim) or _in_results(claim, snapshot.prefix)
    if evidence and evidence.rule not in TOO_WEAK:
        return _Finding(evidence)
    contradiction = "" if evidence else _contradiction(claim, said)
    weakness = f" ({evidence.quote!r} is a {evidence.rule})" if evidence else ""
    return _Finding(None, f"{claim.name!r} = {claim.value!r} at turn {snapshot.turn}{weakness}", contradiction)


def _said(prefix: Sequence[Turn]) -> list[_Said]:
    """All that the user said or handed over, the latest first."""
    texts: list[_Said] = []
    question = ""
    for index, turn in enumerate(prefix):
        if isinstance(turn, ReplyTurn):
            question = turn.text
        elif isinstance(turn, UserTurn):
            texts.append(_Said(index, turn.text, in_message=False, question=question))
            if turn.external:
                texts.append(_Said(index, turn.external.text, in_message=True, question=""))
    return texts[::-1]


def _spoken(claim: _Claim, said: list[_Said]) -> Evidence | None:
    weak: Evidence | None = None
    for one in said:
        found = _locate(claim, one)
        if found is None:
            continue
        evidence = _evidence(claim, one, found)
        if found.rule not in TOO_WEAK:
            return evidence
        weak = weak or evidence
    return weak or _spoken_in_parts(claim, said)


def _locate(claim: _Claim, said: _Said) -> Found | None:
    found = locate(claim.value, claim.schema, said.text)
    if found is None or (found.rule == ANSWERED and not is_about(claim.schema, said.question)):
        return None
    return _hinted(claim, said) or found


def _hinted(claim: _Claim, said: _Said) -> Found | None:
    """The place that the generator names, where the text says the value there too."""
    hint = claim.hint
    if hint is None or hint.start is None or hint.end is None:
        return None
    if (hint.turn, hint.in_message) != (said.turn, said.in_message) or not 0 <= hint.start < hint.end <= len(said.text):
        return None
    found = locate(claim.value, claim.schema, said.text[hint.start : hint.end])
    return found and found._replace(start=found.start + hint.start, end=found.end + hint.start)


def _spoken_in_parts(claim: _Claim, said: list[_Said]) -> Evidence | None:
    """A list whose members were said in several turns: evidence for the last said stands for all."""
    if not isinstance(claim.value, list) or len(claim.value) < 2:  # noqa: PLR2004
        return None
    items = claim.schema.get("items") or {}
    places = [
        next(((one, found) for one in said if (found := locate(item, items, one.text))), None) for item in claim.value
    ]
    if None in places or not places[-1]:
        return None
    return _evidence(claim, *places[-1]).with_changes(rule="list over several turns")


def _evidence(claim: _Claim, said: _Said, found: Found) -> Evidence:
    return Evidence(
        argument=claim.name,
        kind="span" if found.rule == VERBATIM else "normalised",
        turn=said.turn,
        start=found.start,
        end=found.end,
        quote=said.text[found.start : found.end],
        in_message=said.in_message,
        rule=found.rule,
    )


def _by_default(claim: _Claim) -> Evidence | None:
    for keyword in ("default", "const"):
        if keyword in claim.schema and _same(claim.schema[keyword], claim.value):
            return Evidence(argument=claim.name, kind="default", rule=keyword)
    return None


def _same(one: JsonValue, other: JsonValue) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _in_results(claim: _Claim, prefix: Sequence[Turn]) -> Evidence | None:
    place = find_in_results(claim.value, prefix)
    return place and Evidence(argument=claim.name, kind="response", turn=place.turn, path=place.path)


def _contradiction(claim: _Claim, said: list[_Said]) -> str:
    """Why this value can't be right, "" where that is not certain."""
    kind = kind_of(claim.schema)
    if kind in _TYPED:
        stated = {value for one in said for value in _typed_values(kind, one.text)}
        other = next(iter(stated)) if len(stated) == 1 else None
        if other is not None and other != claim.value and not _explained(other, kind, claim):
            return f"{claim.name!r} is {claim.value!r}, but {other!r} is the only {kind} that was said."
    if said and _is_forbidden(claim, kind):
        stated_here = read_value(said[0].text, claim.schema)
        if stated_here is not None and stated_here != claim.value:
            return f"{claim.name!r} is {claim.value!r}, which its schema forbids, and {stated_here!r} was said."
    return ""


def _is_forbidden(claim: _Claim, kind: Kind) -> bool:
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


def _explained(value: str | float, kind: Kind, claim: _Claim) -> bool:
    """Whether another argument of the call accounts for the value that was said."""
    others: Arguments = {name: other for name, other in claim.call.arguments.items() if name != claim.name}
    return any(value in _typed_values(kind, str(other)) for other in others.values())


def _verdict(sample: Sample, findings: list[_Finding]) -> Verdict:
    proofs = [finding.evidence for finding in findings if finding.evidence]
    contradictions = [finding.contradiction for finding in findings if finding.contradiction]
    doubts = [finding.doubt for finding in findings if finding.doubt and not finding.contradiction]
    reasons = list(dict.fromkeys(contradictions))
    if doubts:
        reasons.append(f"Nothing was said, by default or in a result for {'; '.join(doubts)}.")
    if not findings:
        reasons = ["There is no argument to prove." if sample.gold else "No call is due, so there is nothing to prove."]
    return Verdict(
        subject=sample.key,
        check=CHECK,
        decision="contradicted" if contradictions else "unproved" if doubts else "proved",
        score=len(proofs) / len(findings) if findings else 1.0,
        reason=" ".join(reasons) or f"Each of the {len(findings)} arguments has evidence.",
        evidence=tuple(dict.fromkeys(proofs)),
        version=VERSION,
    )
