"""Whether a person would say this to this assistant, and whether each value is plausible for its parameter.

A judge reads the request beside its calls and gives two scores with anchors, each with its reason. It is asked only of models
that read language: a grammar has no opinion of how people speak, and where one sits in the judge's place the check says nothing.
"""

from typing import Annotated

from pydantic import BaseModel, Field

from generators.stages import StageContext
from generators.transcripts import conversation_text, shown_call, shown_tools
from validators.judges import NATURAL, ask_opinion
from warehouse.records import Decision, GoldCall, Sample, Verdict

CHECK = "natural"
VERSION = "1"
LEAST = 3  # a score below it is a doubt
NONSENSE = 1  # this one contradicts the sample


class NaturalReading(BaseModel):
    """How natural a request is and how plausible its values, each from 1 to 5 with its reason."""

    wording_reason: str
    wording: Annotated[int, Field(ge=1, le=5)]
    values_reason: str
    values: Annotated[int, Field(ge=1, le=5)]


async def check_natural(sample: Sample, context: StageContext) -> list[Verdict]:
    """Ask the judge how a request sounds and how plausible its values are; the lower of the two scores decides."""
    calls = [call for snapshot in sample.snapshots() for call in snapshot.calls]
    reading = await ask_opinion(
        context.chat,
        NATURAL,
        NaturalReading,
        tools=shown_tools(tool for tool in context.toolset(sample.candidates) if _is_called(tool.name, calls)),
        calls=[shown_call(call) for call in calls],
        conversation=conversation_text(sample.turns),
    )
    return [
        Verdict(
            subject=sample.key,
            check=CHECK,
            decision=decision_of(reading),
            reason=f"Wording {reading.wording} of 5: {reading.wording_reason} "
            f"Values {reading.values} of 5: {reading.values_reason}",
            version=VERSION,
        )
    ]


def _is_called(name: str, calls: list[GoldCall]) -> bool:
    return any(call.tool == name for call in calls)


def decision_of(reading: NaturalReading) -> Decision:
    """What the lower of the two scores says of a sample."""
    lowest = min(reading.wording, reading.values)
    if lowest >= LEAST:
        return "proved"
    return "contradicted" if lowest == NONSENSE else "unproved"
