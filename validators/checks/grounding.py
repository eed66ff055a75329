"""Grounding: where every gold argument was said, or what it was derived from.

An argument that nobody can know yet must be returned by an earlier call of its turn (CallNavi
4.1). What is found is evidence, not proof: readers decide whether the words mean the value.
"""

from collections.abc import Iterable, Iterator, Sequence

from callwright.generators.stages import StageContext
from callwright.validators.checks.declaring import rule
from callwright.validators.checks.verdicts import Answer
from callwright.validators.evidence import SAID, Standing, ValueFound, find_in_sample, weakest_of
from callwright.validators.origins import root_of
from callwright.warehouse.records import DoubtedFact, Sample, Tool, Verdict


@rule(
    "grounding",
    "14",
    "Where is every gold argument said, or what is it derived from?",
    source="HammerBench 4.2.1, 5",
    applies=lambda sample: bool(sample.all_calls),
    left_to="readers",
    doubts={"other_said": "Another value than {name} = {value} is said{where}."},
)
def check_grounding(sample: Sample, context: StageContext) -> Answer:
    """Find for each gold argument of each snapshot where it was said before, or its source."""
    return _ground(sample, context.toolset(sample.candidates))


def all_found(values: int) -> str:
    """Return the sentence for a sample whose gold arguments are all said or derived."""
    return "Every gold value is said or derived." if values else "There is no argument to look for."


def standings_told(verdicts: Iterable[Verdict]) -> dict[str, Standing]:
    """Return how each argument stands by the grounding verdict, as its weakest value does.

    Empty if there is no grounding verdict.
    """
    grounded = next((one for one in verdicts if one.check == check_grounding.name), None)
    if grounded is None:
        return {}
    standings: list[tuple[str, Standing]] = [
        (root_of(one.argument), "said" if one.kind in SAID else "derived")
        for one in grounded.evidence
    ]
    standings += (
        (root_of(one.argument), "not_said" if one.kind == "unstated" else "contradicted")
        for one in grounded.doubts
        if one.argument
    )
    return weakest_of(standings)


def ground(sample: Sample, tools: Sequence[Tool]) -> Verdict:
    """Return the verdict on `sample`, whose calls are of `tools`."""
    return check_grounding.verdict(sample, _ground(sample, tools))


def _ground(sample: Sample, tools: Sequence[Tool]) -> Answer:
    unknown = [*_unknown_tools(sample, {tool.name for tool in tools})]
    findings = [*find_in_sample(sample, tools)]
    doubted = [(turn, one) for turn, one in findings if one.evidence is None]
    against = [one for _, one in doubted if one.standing == "contradicted"]
    evidence = [one.evidence for _, one in findings if one.evidence]
    reasons = [f"The tool {one.tool!r} is not among the offered tools." for one in unknown]
    reasons += [
        _sentence(turn, one)
        for turn, one in sorted(doubted, key=lambda one: one[1].standing != "contradicted")
    ]
    counted = len(findings) + len(unknown)
    return Answer(
        decision="contradicted" if against or unknown else "unproved" if doubted else "proved",
        score=len(evidence) / counted if counted else 1.0,
        reason=" ".join(dict.fromkeys(reasons)) or all_found(len(findings)),
        evidence=tuple({one.model_dump_json(): one for one in evidence}.values()),
        doubts=(*unknown, *(_fact(turn, one) for turn, one in doubted)),
        open_arguments=tuple(dict.fromkeys(root_of(one.claim.name) for _, one in doubted)),
    )


def _unknown_tools(sample: Sample, known: set[str]) -> Iterator[DoubtedFact]:
    for snapshot in sample.snapshots():
        for call in snapshot.calls:
            if call.tool not in known:
                yield DoubtedFact(kind="tool_unknown", turn=snapshot.turn, tool=call.tool)


def _sentence(turn: int, one: ValueFound) -> str:
    return one.reason if one.is_undeclared else f"Before turn {turn}: {one.reason}"


def _fact(turn: int, one: ValueFound) -> DoubtedFact:
    if one.is_undeclared:
        return DoubtedFact(
            kind="call_unfit", turn=turn, tool=one.claim.call.tool, argument=one.claim.name
        )
    kind = "other_said" if one.standing == "contradicted" else "unstated"
    return DoubtedFact(kind=kind, turn=turn, argument=one.claim.name, value=one.claim.value)
