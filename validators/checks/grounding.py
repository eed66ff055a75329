"""Grounding: every gold argument must have been stated, be a default, or stand in an earlier result.

One that nobody can know yet must be returned by an earlier call of its turn (CallNavi 4.1).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.picking import read_rule, value_at
from callwright.generators.kinds import traits_of
from callwright.generators.multi_step.samples import schema_of
from callwright.generators.multi_step.sources import JOINT, as_text, shifted
from callwright.generators.stages import StageContext
from callwright.language.dates import DATE, YEARLESS, find_dates
from callwright.language.numbers import find_numbers
from callwright.language.readers.moments import HALF_DAY, find_times
from callwright.language.schemas import Kind, choices_of, kind_of
from callwright.language.text import VERBATIM
from callwright.language.values import locate, read_value
from callwright.validators.checks.declaring import ARGUMENTS, rule
from callwright.validators.checks.evidence import (
    TOO_WEAK,
    Claim,
    by_earlier_call,
    find_elsewhere,
    find_spoken,
    stated_in,
)
from callwright.validators.checks.verdicts import Answer
from callwright.validators.readings.request_reading import read_leaves
from callwright.validators.readings.request_text import (
    ArgumentLeaf,
    ArgumentReading,
    RequestText,
    Span,
    leaves_within,
    parse_request,
    set_beside,
)
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Arguments,
    DoubtedFact,
    Evidence,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Snapshot,
    Tool,
    Turn,
    UserTurn,
    Verdict,
)

READ = "strict reading"  # proves, and no list of rules names how
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2})?")
_TYPED: frozenset[Kind] = frozenset({"integer", "number", "date", "time"})


class _Finding(NamedTuple):
    argument: str
    evidence: Evidence | None
    doubt: str = ""
    contradiction: str = ""
    fact: DoubtedFact | None = None


class _StatedText(NamedTuple):
    """What the user said at a turn, with the message that came along, as rules read it."""

    turn: int
    text: RequestText

    def evidence(self, claim: Claim, span: Span) -> Evidence:
        """The evidence that a stretch of the text is; its rule tells how the words mean the value."""
        in_message = span.start > self.text.own
        first = self.text.own + 1 if in_message else 0
        found = locate(claim.value, claim.schema, self.text.quote(span))
        rule = found.rule if found else READ
        return Evidence(
            argument=claim.name, kind="normalised" if rule else "span", turn=self.turn, start=span.start - first,
            end=span.end - first, quote=self.text.quote(span), in_message=in_message, rule=rule,
        )  # fmt: skip


@rule(
    "grounding", "5", "Is there evidence for every gold argument?",
    source="HammerBench 4.2.1, 5",
    settles=ARGUMENTS,
    left_to="readers",
)  # fmt: skip
def check_grounding(sample: Sample, context: StageContext) -> Answer:
    """Prove every gold argument of every snapshot by what was stated before it."""
    return _ground(sample, context.toolset(sample.candidates))


def all_proved(arguments: int, *, is_due: bool) -> str:
    """What is stated where every gold argument is proved; `is_due`: a call is due in the end."""
    if arguments:
        return f"Each of the {arguments} arguments has evidence."
    return "There is no argument to prove." if is_due else "No call is due, so there is nothing to prove."


def ground(sample: Sample, tools: Sequence[Tool]) -> Verdict:
    """The verdict on `sample`, whose calls are of `tools`."""
    return check_grounding.verdict(sample, _ground(sample, tools))


def _ground(sample: Sample, tools: Sequence[Tool]) -> Answer:
    by_name = {tool.name: tool for tool in tools}
    findings: list[_Finding] = []
    is_lenient = (
        traits_of(sample.kind).asked != "call"
    )  # the check of wishes binds each value to its call and parameter
    for snapshot in sample.snapshots():
        texts = [*_texts(snapshot.prefix, sample)]
        for call in snapshot.calls:
            findings.extend(_ground_call(call, by_name, texts, snapshot, is_lenient=is_lenient))
    return _answer(sample, findings)


def _texts(prefix: Sequence[Turn], sample: Sample) -> Iterator[_StatedText]:
    """All that the user said or handed over, each beside the question that it answers."""
    question, now = "", _now(sample)
    for index, turn in enumerate(prefix):
        if isinstance(turn, ReplyTurn):
            question = turn.text
        elif isinstance(turn, UserTurn):
            message = turn.external.text if turn.external else ""
            yield _StatedText(index, parse_request(turn.text, sample.language, now, question=question, message=message))
            question = ""


def _now(sample: Sample) -> datetime | None:
    """When the conversation takes place, None where the sample does not say."""
    stated = sample.trait("reference_time")
    return datetime.fromisoformat(stated).replace(tzinfo=UTC) if _MOMENT.fullmatch(stated) else None


def _ground_call(
    call: GoldCall, tools: Mapping[str, Tool], texts: Sequence[_StatedText], snapshot: Snapshot, *, is_lenient: bool
) -> Iterator[_Finding]:
    tool = tools.get(call.tool)
    if tool is None:
        fact = DoubtedFact(kind="tool_unknown", turn=snapshot.turn, tool=call.tool)
        yield _Finding("", None, contradiction=f"The tool {call.tool!r} is not among the candidates.", fact=fact)
        return
    claims: list[Claim] = []
    for name, value in call.arguments.items():
        if name not in tool.properties:
            fact = DoubtedFact(kind="call_unfit", turn=snapshot.turn, tool=call.tool, argument=name)
            yield _Finding(
                name, None, contradiction=f"The tool {call.tool!r} declares no parameter {name!r}.", fact=fact
            )
            continue
        for claim in claims_of(name, value, call, tool):
            known = by_earlier_call(claim, snapshot.calls, tools) or by_rule(claim, snapshot.prefix)
            if known:
                yield _Finding(name, known)
            else:
                claims.append(claim)
    yield from _read_claims(claims, texts, snapshot, tool, is_lenient=is_lenient)


def _read_claims(
    claims: Sequence[Claim], texts: Sequence[_StatedText], snapshot: Snapshot, tool: Tool, *, is_lenient: bool
) -> Iterator[_Finding]:
    """What the user's words say of claims of one call, seen beside each other; each text is read for itself."""
    parts = [[*leaves_within(ArgumentLeaf(one.name, _last_name(one), one.value, one.schema))] for one in claims]
    leaves = set_beside([leaf for part in parts for leaf in part], tool)
    readings = [(stated, read_leaves(leaves, stated.text)) for stated in reversed(texts)]
    at = 0
    for claim, part in zip(claims, parts, strict=True):
        places = range(at, at := at + len(part))
        found = _ground_claim(
            claim, [[(stated, read[place]) for stated, read in readings] for place in places], snapshot
        )
        if found.evidence is None and is_lenient:
            spoken = find_spoken(claim, stated_in(snapshot.prefix))
            found = _Finding(found.argument, spoken) if spoken and spoken.rule not in TOO_WEAK else found
        yield found


def _last_name(claim: Claim) -> str:
    """The name of what holds the value: "fromId" of "legs[0].fromId"."""
    return re.split(r"\.", re.sub(r"\[\d+\]$", "", claim.name))[-1]


def _ground_claim(
    claim: Claim, parts: Sequence[Sequence[tuple[_StatedText, ArgumentReading]]], snapshot: Snapshot
) -> _Finding:
    """The finding about a claim by what each text, the latest first, says of each of its parts."""
    proofs = [next(((stated, one) for stated, one in readings if one.grade == "proved"), None) for readings in parts]
    argument = root_of(claim.name)
    if proofs and all(proofs):
        stated = [(text, one.spans[0]) for text, one in (proof for proof in proofs if proof) if one.spans]
        if stated:
            return _Finding(argument, stated[-1][0].evidence(claim, _joined(stated)))
    elsewhere = find_elsewhere(claim, snapshot.prefix)
    if elsewhere:
        return _Finding(argument, elsewhere)
    texts = [text for readings in parts[:1] for text, _ in readings]
    against = next((one.reason for readings in parts for _, one in readings[:1] if one.grade == "contradicted"), "")
    open_reasons = [one.reason for readings in parts for _, one in readings[:1] if one.grade != "proved" and one.reason]
    why = f" ({open_reasons[0].rstrip('.')})" if open_reasons else ""
    doubt = f"{claim.name!r} = {claim.value!r} at turn {snapshot.turn}{why}"
    is_alone = len(texts) == len(snapshot.calls) == 1  # nothing else can have the words that speak against it
    fact = DoubtedFact(kind="unstated", turn=snapshot.turn, argument=claim.name, value=claim.value)
    return _Finding(argument, None, doubt, (against if is_alone else "") or _contradiction(claim, texts), fact)


def _joined(stated: Sequence[tuple[_StatedText, Span]]) -> Span:
    """The stretch of the last text that holds all parts which stand in it."""
    last = [span for text, span in stated if text is stated[-1][0]]
    return Span(min(span.start for span in last), max(span.end for span in last))


def _contradiction(claim: Claim, texts: Sequence[_StatedText]) -> str:
    """Why this value can't be right, "" where that is not certain."""
    kind = kind_of(claim.schema)
    if kind in _TYPED:
        stated = {value for one in texts for value in _typed_values(kind, one.text.text)}
        other = next(iter(stated)) if len(stated) == 1 else None
        if other is not None and other != claim.value and not _explained(other, kind, claim):
            return f"{claim.name!r} is {claim.value!r}, but {other!r} is the only {kind} that was said."
    if texts and _is_forbidden(claim, kind):
        stated_here = read_value(texts[0].text.text, claim.schema)
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
        return [str(found.value) for found in find_times(text) if found.rule != HALF_DAY]
    return [float(str(found.value)) for found in find_numbers(text)]


def _explained(value: str | float, kind: Kind, claim: Claim) -> bool:
    """Whether another argument of the call accounts for the value that was stated."""
    others: Arguments = {name: other for name, other in claim.call.arguments.items() if name != claim.name}
    return any(value in _typed_values(kind, str(other)) for other in others.values())


def _answer(sample: Sample, findings: list[_Finding]) -> Answer:
    proofs = [finding.evidence for finding in findings if finding.evidence]
    contradictions = [finding.contradiction for finding in findings if finding.contradiction]
    doubts = [finding.doubt for finding in findings if finding.doubt and not finding.contradiction]
    reasons = list(dict.fromkeys(contradictions))
    if doubts:
        reasons.append(f"Nothing was said, by default or in a result for {'; '.join(doubts)}.")
    return Answer(
        decision="contradicted" if contradictions else "unproved" if doubts else "proved",
        score=len(proofs) / len(findings) if findings else 1.0,
        reason=" ".join(reasons) or all_proved(len(findings), is_due=bool(sample.gold)),
        evidence=tuple(dict.fromkeys(proofs)),
        doubts=tuple(one.fact for one in findings if one.fact),
        open_arguments=tuple(dict.fromkeys(one.argument for one in findings if one.evidence is None and one.argument)),
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
