"""Whether, where no call is due, really none of the candidates can do what is asked (HammerBench appendix D.5).

Code answers first: a candidate that is the withheld tool under another name contradicts the sample. Then the judge is
asked, turn by turn; the first tool that it names is an opinion, so the sample is unproved and goes to people.
"""

from generators.stages import StageContext
from generators.tools import are_redundant
from generators.transcripts import conversation_text, shown_tools
from validators.judges import RELEVANCE, Relevance, ask_opinion
from warehouse.records import Decision, Sample, Snapshot, Tool, Verdict

CHECK = "relevance"
VERSION = "2"


def applies_to(sample: Sample) -> bool:
    """Whether the sample has a turn at which no call is due."""
    return any(not snapshot.calls for snapshot in sample.snapshots())


async def check_relevance(sample: Sample, context: StageContext) -> list[Verdict]:
    """Prove that no candidate can do what is asked where none is to be called."""
    idle = [snapshot for snapshot in sample.snapshots() if not snapshot.calls]
    if not idle:
        return [_verdict(sample, "proved", "A call is due at every turn, so nothing is to be refused.")]
    duplicate = find_duplicate_tool(context.toolset(sample.withheld), context.toolset(sample.candidates))
    if duplicate:
        return [_verdict(sample, "contradicted", f"The withheld tool is still among the candidates: {duplicate}.")]
    reasons = []
    for snapshot in idle:
        opinion = await _ask(snapshot, sample, context)
        if opinion.tool:
            return [_verdict(sample, "unproved", f"The judge says that {opinion.tool!r} fits: {opinion.reason}")]
        reasons.append(f"None fits: {opinion.reason}")
    return [_verdict(sample, "proved", " ".join(reasons))]


def find_duplicate_tool(withheld: list[Tool], candidates: list[Tool]) -> str:
    """Which candidate could stand for which withheld tool, as a clause; "" where none could."""
    pairs = ((hidden, shown) for hidden in withheld for shown in candidates if are_redundant(hidden, shown))
    return next((f"{shown.name!r} serves what {hidden.name!r} serves" for hidden, shown in pairs), "")


async def _ask(snapshot: Snapshot, sample: Sample, context: StageContext) -> Relevance:
    return await ask_opinion(
        context.chat,
        RELEVANCE,
        Relevance,
        tools=shown_tools(context.toolset(sample.candidates)),
        conversation=conversation_text(snapshot.prefix),
    )


def _verdict(sample: Sample, decision: Decision, reason: str) -> Verdict:
    return Verdict(subject=sample.key, check=CHECK, decision=decision, reason=reason, version=VERSION)
