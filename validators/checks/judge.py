"""Whether a second model, the judge, means the same call (HammerBench 4.2.1 and appendix D.4).

The judge first makes the call itself from the conversation alone, so that nothing it is shown can lead it. Where its
call is the gold call, that is the proof. Where the two differ in writing, it is asked whether they differ in meaning. After
the first snapshot that stays unproved it is asked no more: nothing could prove the sample then.
"""

from typing import NamedTuple

from pydantic import BaseModel

from generators.stage_context import StageContext
from llm.prompts import render
from validators.checks.decisions import weakest
from validators.checks.executed import was_made_already
from validators.conversations import conversation_text
from validators.matching.calls import compare_calls
from validators.proposals import PROMPTS, ZERO_SHOT, due_call, has_one_call_at_most, propose_call, shown_tools
from warehouse.records import Call, Decision, JsonSchema, Sample, Snapshot, Verdict

CHECK = "meaning"
VERSION = "2"
TEMPLATE = "judge_calls"
EXACT = 1.0  # any other writing of free text goes to the question about meaning


class Judgement(BaseModel):
    """Whether two calls do the same for the user, and why."""

    agree: bool
    reason: str


class Opinion(NamedTuple):
    """What came of one snapshot."""

    decision: Decision
    reason: str


def applies_to(sample: Sample) -> bool:
    """Whether this check can say something: at every snapshot one call is due at most, and none was made already."""
    return has_one_call_at_most(sample) and not was_made_already(sample)


async def check_meaning(sample: Sample, context: StageContext) -> list[Verdict]:
    """Let the judge make every call of the sample, and say whether it means what the gold means."""
    if not applies_to(sample):
        opinions = [
            Opinion(
                "unproved", "This check reads one call a turn; the sample has no call turn, or several calls in one."
            )
        ]
    else:
        opinions = []
        for snapshot in sample.snapshots():
            opinions.append(await _judge(snapshot, sample, context))
            if opinions[-1].decision != "proved":
                break
    decision = weakest([opinion.decision for opinion in opinions])
    reasons = [opinion.reason for opinion in opinions if opinion.decision == decision]
    return [
        Verdict(
            subject=sample.key,
            check=CHECK,
            decision=decision,
            score=sum(opinion.decision == "proved" for opinion in opinions) / len(opinions),
            reason=" ".join(dict.fromkeys(reasons)),
            version=VERSION,
        )
    ]


async def _judge(snapshot: Snapshot, sample: Sample, context: StageContext) -> Opinion:
    gold, own = due_call(snapshot), await propose_call(ZERO_SHOT, sample, snapshot, context)
    difference = compare_calls(gold, own, _schemas(gold, sample, context), threshold=EXACT)
    if difference.is_same:
        return Opinion("proved", "The judge's own call is the gold call.")
    if gold is None or own is None or not difference.has_same_tool:
        return Opinion("unproved", f"The judge's own reading {difference.sentence()}.")
    prompt = render(
        PROMPTS,
        TEMPLATE,
        tools=shown_tools(sample, context),
        conversation=conversation_text(snapshot.prefix),
        expected=_shown(gold),
        given=_shown(own),
    )
    judgement = await context.chat.ask(prompt, Judgement)
    if judgement.agree:
        return Opinion(
            "proved", f"The judge's own call {difference.sentence()}, but means the same: {judgement.reason}"
        )
    return Opinion("unproved", f"The judge's own call {difference.sentence()}, and means another: {judgement.reason}")


def _schemas(gold: Call | None, sample: Sample, context: StageContext) -> dict[str, JsonSchema]:
    tools = context.toolset(sample.candidates)
    return next((tool.properties for tool in tools if gold is not None and tool.name == gold.tool), {})


def _shown(call: Call) -> dict[str, object]:
    return {"tool": call.tool, "arguments": call.arguments}
