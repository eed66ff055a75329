"""Grounding: every gold argument must have been stated, be a default, or stand in an earlier result.

One that nobody can know yet must be returned by an earlier call of its turn (CallNavi 4.1). A value is proved where its words can
mean no other parameter; one that is only stated is left to who reads the words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.picking import read_rule, value_at
from callwright.generators.multi_step.resolving import JOINT, as_text, shifted
from callwright.generators.multi_step.samples import schema_of
from callwright.generators.stages import StageContext
from callwright.language.schemas import scalars
from callwright.language.values import locate
from callwright.validators.checks.declaring import ARGUMENTS, rule
from callwright.validators.checks.evidence import Claim, by_earlier_call, find_elsewhere
from callwright.validators.checks.verdicts import Answer
from callwright.validators.values.parameters import Leaf, Parameter, leaves_within, set_beside
from callwright.validators.values.said import Said, Span, hear
from callwright.validators.values.standing import STANDINGS, ValueReading, read_values
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
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
_PICKED_BY = re.compile(r'"([^"\\]+)"')  # the texts in a rule of `picking`
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2})?")


class _Finding(NamedTuple):
    argument: str
    evidence: Evidence | None
    doubt: str = ""
    contradiction: str = ""
    fact: DoubtedFact | None = None


@rule(
    "grounding", "9", "Is there evidence for every gold argument?",
    source="HammerBench 4.2.1, 5",
    settles=ARGUMENTS,
    left_to="readers",
    doubts={
        "only_stated": "{name} = {value} is said, but the words may mean something else by it.",
        "other_said": "Another value than {name} = {value} is said{where}.",
    },
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
    texts = [*_texts(sample)]
    briefing = [hear(sample.system_message, sample.language, _now(sample))] if sample.system_message else []
    names = _names_of(sample)
    findings: list[_Finding] = []
    for snapshot in sample.snapshots():
        before = [one for one in texts if one.turn < len(snapshot.prefix)]
        for call in snapshot.calls:
            findings.extend(_ground_call(call, by_name, _Before(snapshot, before, briefing, names)))
    return _answer(sample, findings)


class _Before(NamedTuple):
    """What stands before a snapshot: `texts` are the user's, `briefing` is what the assistant was told.

    `names` are all that calls of the conversation have.
    """

    snapshot: Snapshot
    texts: Sequence[Said]
    briefing: Sequence[Said]
    names: frozenset[str]


def _names_of(sample: Sample) -> frozenset[str]:
    """The words that calls of a conversation have, and those by which their evidence picks what they have."""
    calls = [call for snapshot in sample.snapshots() for call in snapshot.calls]
    texts = {one for call in calls for one in scalars(call.arguments) if isinstance(one, str)}
    picked = {name for call in calls for one in call.evidence for name in _PICKED_BY.findall(one.rule)}
    return frozenset(one for one in texts | picked if one and not one.isspace())


def _texts(sample: Sample) -> Iterator[Said]:
    """All that the user said or handed over, each beside the question that it answers."""
    question, now = "", _now(sample)
    for index, turn in enumerate(sample.turns):
        if isinstance(turn, ReplyTurn):
            question = turn.text
        elif isinstance(turn, UserTurn):
            message = turn.external.text if turn.external else ""
            yield hear(turn.text, sample.language, now, question=question, message=message, turn=index)
            question = ""


def _now(sample: Sample) -> datetime | None:
    """When the conversation takes place, None where the sample does not say."""
    stated = sample.trait("reference_time")
    return datetime.fromisoformat(stated).replace(tzinfo=UTC) if _MOMENT.fullmatch(stated) else None


def _ground_call(call: GoldCall, tools: Mapping[str, Tool], before: _Before) -> Iterator[_Finding]:
    tool, snapshot = tools.get(call.tool), before.snapshot
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
    yield from _read_claims(claims, before, tool)


def _read_claims(claims: Sequence[Claim], before: _Before, tool: Tool) -> Iterator[_Finding]:
    """What the words before a call say of claims of it, seen beside each other."""
    parts = [[*leaves_within(_leaf(claim))] for claim in claims]
    leaves = set_beside([leaf for part in parts for leaf in part], tool)
    readings, told = (read_values(leaves, texts, before.names) for texts in (before.texts, before.briefing))
    at = 0
    for claim, part in zip(claims, parts, strict=True):
        places = slice(at, at := at + len(part))
        evidence = (
            _evidence(claim, readings[places], before.texts, "span")
            or find_elsewhere(claim, before.snapshot.prefix)
            or _evidence(claim, told[places], before.briefing, "context")
        )
        yield _Finding(root_of(claim.name), evidence) if evidence else _open(claim, readings[places], before)


def _leaf(claim: Claim) -> Leaf:
    """The value of a claim, where it stands in the call: "fromId" of "legs[0].fromId"."""
    parent, _, name = re.sub(r"(\[\d+\])+$", "", claim.name).rpartition(".")
    return Leaf(root_of(claim.name), claim.name, claim.value, Parameter(name, claim.schema, parent))


def _evidence(
    claim: Claim, readings: Sequence[ValueReading], texts: Sequence[Said], kind: Literal["span", "context"]
) -> Evidence | None:
    """The evidence that words are where they prove each part of a value: those of the last text that has any of them."""
    if not readings or any(one.standing != "proved" for one in readings):
        return None
    turn = max(one.turn for one in readings)
    said = next((one for one in texts if one.turn == turn), None)
    spans = [span for one in readings if one.turn == turn for span in one.spans]
    if said is None or not spans:
        return None  # by default: nothing was said
    whole = Span(min(span.start for span in spans), max(span.end for span in spans))
    in_message = whole.start > said.own
    first = said.own + 1 if in_message else 0
    found = locate(claim.value, claim.schema, said.quote(whole))
    how = found.rule if found else READ
    return Evidence(
        argument=claim.name, kind="normalised" if how and kind == "span" else kind,
        turn=turn if kind == "span" else None, start=whole.start - first, end=whole.end - first,
        quote=said.quote(whole), in_message=in_message, rule=how,
    )  # fmt: skip


def _open(claim: Claim, readings: Sequence[ValueReading], before: _Before) -> _Finding:
    """What is left to say of a claim that nothing proves: stated, contradicted, or said nowhere."""
    snapshot = before.snapshot
    weakest = min(readings, key=lambda one: STANDINGS.index(one.standing))
    # Several texts, or calls, may have the words that seem to speak against it.
    is_against = weakest.standing == "contradicted" and len(before.texts) == len(snapshot.calls) == 1
    kind = "other_said" if is_against else "only_stated" if weakest.standing == "stated" else "unstated"
    fact = DoubtedFact(kind=kind, turn=snapshot.turn, argument=claim.name, value=claim.value)
    is_told = weakest.standing == "stated" or is_against
    told = weakest.reason if is_told else f"Nothing says {claim.name} = {claim.value!r}."
    reason = f"Before turn {snapshot.turn}: {told}"
    return _Finding(root_of(claim.name), None, reason, reason if is_against else "", fact)


def _answer(sample: Sample, findings: list[_Finding]) -> Answer:
    proofs = [finding.evidence for finding in findings if finding.evidence]
    contradictions = [finding.contradiction for finding in findings if finding.contradiction]
    doubts = [finding.doubt for finding in findings if finding.doubt]
    return Answer(
        decision="contradicted" if contradictions else "unproved" if doubts else "proved",
        score=len(proofs) / len(findings) if findings else 1.0,
        reason=" ".join(dict.fromkeys([*contradictions, *doubts]))
        or all_proved(len(findings), is_due=bool(sample.gold)),
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
