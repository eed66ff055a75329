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
from callwright.generators.kinds import traits_of
from callwright.generators.multi_step.resolving import JOINT, as_text, shifted
from callwright.generators.multi_step.samples import schema_of
from callwright.generators.routing.tool_graph import UNKNOWN, feeds, unknown_arguments
from callwright.generators.stages import StageContext
from callwright.generators.stated_values import found_evidence
from callwright.generators.transcripts import walk
from callwright.language.dates import HALF_DAY
from callwright.language.schemas import scalars
from callwright.language.text import Found
from callwright.language.values import ANSWERED, is_about, locate
from callwright.validators.checks.declaring import ARGUMENTS, rule
from callwright.validators.checks.verdicts import Answer
from callwright.validators.values.parameters import Leaf, Parameter, leaves_within, set_beside
from callwright.validators.values.said import Said, Span, hear
from callwright.validators.values.standing import STANDINGS, ValueReading, read_values
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Arguments,
    DoubtedFact,
    Evidence,
    GoldCall,
    JsonSchema,
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
TOO_WEAK = frozenset({HALF_DAY})  # these may mean two values: good enough to point at, not to prove


class Claim(NamedTuple):
    """An argument of a gold call, what its schema says, and where the generator says it was worded."""

    name: str
    value: JsonValue
    schema: JsonSchema
    hint: Evidence | None
    call: GoldCall


class UserText(NamedTuple):
    """A text of the user's: a turn's own words, or the external message that comes with it."""

    turn: int
    text: str
    in_message: bool
    question: str


class _Finding(NamedTuple):
    argument: str
    evidence: Evidence | None
    doubt: str = ""
    contradiction: str = ""
    fact: DoubtedFact | None = None


@rule(
    "grounding", "12", "Is there evidence for every gold argument?",
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
        return "Every gold argument has evidence."
    return "There is no argument to prove." if is_due else "No call is due, so there is nothing to prove."


def ground(sample: Sample, tools: Sequence[Tool]) -> Verdict:
    """The verdict on `sample`, whose calls are of `tools`."""
    return check_grounding.verdict(sample, _ground(sample, tools))


def _ground(sample: Sample, tools: Sequence[Tool]) -> Answer:
    by_name = {tool.name: tool for tool in tools}
    texts = [*_texts(sample)]
    briefing = [hear(sample.system_message, sample.language, _now(sample))] if sample.system_message else []
    # the words that calls of the conversation have, and those by which their evidence picks what they have
    held = {one for call in sample.all_calls for one in scalars(call.arguments) if isinstance(one, str)}
    held |= {name for call in sample.all_calls for one in call.evidence for name in _PICKED_BY.findall(one.rule)}
    names = frozenset(one for one in held if one and not one.isspace())
    findings: list[_Finding] = []
    for snapshot in sample.snapshots():
        before = [one for one in texts if one.turn < len(snapshot.prefix)]
        for call in snapshot.calls:
            findings.extend(_ground_call(call, by_name, _Before(snapshot, before, briefing, names)))
    proofs = [finding.evidence for finding in findings if finding.evidence]
    against = [finding.contradiction for finding in findings if finding.contradiction]
    doubts = [finding.doubt for finding in findings if finding.doubt]
    proof = all_proved(len(findings), is_due=bool(sample.gold))
    return Answer(
        decision="contradicted" if against else "unproved" if doubts else "proved",
        score=len(proofs) / len(findings) if findings else 1.0,
        reason=" ".join(dict.fromkeys([*against, *doubts])) or proof,
        evidence=tuple(dict.fromkeys(proofs)),
        doubts=tuple(one.fact for one in findings if one.fact),
        open_arguments=tuple(dict.fromkeys(one.argument for one in findings if one.evidence is None and one.argument)),
    )


class _Before(NamedTuple):
    """What stands before a snapshot: `texts` are the user's, `briefing` is what the assistant was told.

    `names` are all that calls of the conversation have.
    """

    snapshot: Snapshot
    texts: Sequence[Said]
    briefing: Sequence[Said]
    names: frozenset[str]


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
            undeclared = f"The tool {call.tool!r} declares no parameter {name!r}."
            yield _Finding(name, None, contradiction=undeclared, fact=fact)
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
    parts: list[list[Leaf]] = []
    for claim in claims:  # where it stands in the call: "fromId" of "legs[0].fromId"
        parent, _, name = re.sub(r"(\[\d+\])+$", "", claim.name).rpartition(".")
        whole = Leaf(root_of(claim.name), claim.name, claim.value, Parameter(name, claim.schema, parent))
        parts.append([*leaves_within(whole)])
    leaves = set_beside([leaf for part in parts for leaf in part], tool)
    readings, told = (read_values(leaves, texts, before.names) for texts in (before.texts, before.briefing))
    at = 0
    for claim, part in zip(claims, parts, strict=True):
        places = slice(at, at := at + len(part))
        evidence = (
            _proof(claim, readings[places], before.texts, "span")
            or find_elsewhere(claim, before.snapshot.prefix)
            or _proof(claim, told[places], before.briefing, "context")
        )
        yield _Finding(root_of(claim.name), evidence) if evidence else _open(claim, readings[places], before)


def _proof(
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


def find_elsewhere(claim: Claim, prefix: Sequence[Turn]) -> Evidence | None:
    """Why the claim holds though nobody said it: by default, or by the latest result of `prefix` that has the value.

    What is empty, or only true or false, no result proves.
    """
    value = claim.value
    for keyword in ("default", "const"):
        given = claim.schema.get(keyword)
        if keyword in claim.schema and given == value and isinstance(given, bool) == isinstance(value, bool):
            return Evidence(argument=claim.name, kind="default", rule=keyword)
    if value in (None, "", [], {}) or isinstance(value, bool):
        return None
    for index, turn in reversed([*enumerate(prefix)]):
        for number, result in enumerate(turn.results if isinstance(turn, ResultTurn) else ()):
            for path, held in walk(result, f"turns[{index}].results[{number}]"):
                if held == value and not isinstance(held, bool):
                    return Evidence(argument=claim.name, kind="response", turn=index, path=path)
    return None


def stated_in(prefix: Sequence[Turn]) -> list[UserText]:
    """All that the user said or handed over, the latest first."""
    texts: list[UserText] = []
    question = ""
    for index, turn in enumerate(prefix):
        if isinstance(turn, ReplyTurn):
            question = turn.text
        elif isinstance(turn, UserTurn):
            texts.append(UserText(index, turn.text, in_message=False, question=question))
            if turn.external:
                texts.append(UserText(index, turn.external.text, in_message=True, question=""))
    return texts[::-1]


def find_spoken(claim: Claim, stated: Sequence[UserText]) -> Evidence | None:
    """Where one of these texts says the claim, the first text that proves it before any that only points."""
    weak: Evidence | None = None
    for one in stated:
        found = _locate(claim, one)
        if found is None:
            continue
        evidence = found_evidence(claim.name, found, one.text, one.turn, in_message=one.in_message)
        if found.rule not in TOO_WEAK:
            return evidence
        weak = weak or evidence
    return weak or _spoken_in_parts(claim, stated)


def _locate(claim: Claim, stated: UserText) -> Found | None:
    found = locate(claim.value, claim.schema, stated.text)
    if found is None or (found.rule == ANSWERED and not is_about(claim.schema, stated.question)):
        return None
    hint = claim.hint  # the place that the generator names, where the text says the value there too
    if hint is None or hint.start is None or hint.end is None:
        return found
    is_here = (hint.turn, hint.in_message) == (stated.turn, stated.in_message)
    if not is_here or not 0 <= hint.start < hint.end <= len(stated.text):
        return found
    named = locate(claim.value, claim.schema, stated.text[hint.start : hint.end])
    return named._replace(start=named.start + hint.start, end=named.end + hint.start) if named else found


def _spoken_in_parts(claim: Claim, stated: Sequence[UserText]) -> Evidence | None:
    """A list whose members were stated in several turns: evidence for the last said stands for all."""
    if not isinstance(claim.value, list) or len(claim.value) < 2:  # noqa: PLR2004
        return None
    items = claim.schema.get("items") or {}
    places = [
        next(((one, found) for one in stated if (found := locate(item, items, one.text))), None) for item in claim.value
    ]
    if None in places or not places[-1]:
        return None
    one, found = places[-1]
    evidence = found_evidence(claim.name, found, one.text, one.turn, in_message=one.in_message)
    return evidence.with_changes(rule="list over several turns")


def is_routed(sample: Sample) -> bool:
    """Whether the sample's calls are to be chosen out of a whole catalog."""
    traits = traits_of(sample.kind)
    return traits.has_catalog and not traits.is_changed


def known_arguments(call: GoldCall) -> Arguments:
    """The arguments of a call that have a value; those with the sign and no evidence of a source count among them."""
    unknown = unknown_arguments(call)
    return {name: value for name, value in call.arguments.items() if name not in unknown}


def by_earlier_call(claim: Claim, calls: Sequence[GoldCall], tools: Mapping[str, Tool]) -> Evidence | None:
    """The claim's own evidence where its value is unknown and an earlier call of the same turn returns it."""
    if claim.value != UNKNOWN or claim.hint is None or claim.hint.argument != claim.name:
        return None
    return None if feed_problem(claim.name, claim.call, calls, tools) else claim.hint


def feed_problem(argument: str, call: GoldCall, calls: Sequence[GoldCall], tools: Mapping[str, Tool]) -> str:
    """Why nothing can feed an unknown argument, "" where a call before it does."""
    feed = unknown_arguments(call).get(argument)
    if feed is None:
        return f"{argument!r} of {call.tool} is {UNKNOWN!r}, and its evidence names no call that returns it."
    place = next(index for index, one in enumerate(calls) if one is call)
    if feed.call >= place:
        return f"{argument!r} of {call.tool} shall come of call {feed.call}, which is not made before call {place}."
    source, target = tools.get(calls[feed.call].tool), tools.get(call.tool)
    if source is None or target is None or not feeds(feed.field, source, argument, target):
        return f"{calls[feed.call].tool} returns no {feed.field!r} that {call.tool} takes as {argument!r}."
    return ""
