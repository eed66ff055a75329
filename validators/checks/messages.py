"""Whether a message that came along is the one that the user points to: by the app it came by, and by who sent it."""

from collections.abc import Iterator

from pydantic import BaseModel

from callwright.generators.stages import StageContext
from callwright.generators.transcripts import conversation_text
from callwright.validators.checks.declaring import reader
from callwright.validators.checks.verdicts import Finding, unproved
from callwright.validators.judges import MESSAGE, ask_opinion
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DoubtedFact, Message, Sample, UserTurn


class MessageFit(BaseModel):
    """Whether a message can be the one that is pointed to, and why."""

    reason: str
    fits: bool


def applies_to(sample: Sample) -> bool:
    """Whether the user points to a message."""
    return any(_pointed(sample))


@reader(
    "message_fit", "2", "Can the message be the one that the user points to?",
    source="HammerBench 4.2.4",
    role="judge",
    prompts=(MESSAGE,),
    applies=applies_to,
    settles=("message",),
    proof="The judge finds that the messages can be those meant.",
    doubts={"judged_message": "A model finds that another message is meant: {said}"},
)  # fmt: skip
async def check_message_fit(sample: Sample, context: StageContext) -> list[Finding]:
    """Let the judge read each message beside the words that point to it."""
    findings: list[Finding] = []
    for turn, message in _pointed(sample):
        shown = conversation_text([turn])
        try:
            opinion = await ask_opinion(context.chat, MESSAGE, MessageFit, language=sample.language, conversation=shown)
        except ReplyError as error:
            reason = f"The judge gave no answer about the message that can be read: {error}"
            findings.append(unproved(reason, DoubtedFact(kind="unread")))
            continue
        if not opinion.fits:
            reason = f"The judge finds that the message by {message.app} is not meant: {opinion.reason}"
            findings.append(unproved(reason, DoubtedFact(kind="judged_message", other=opinion.reason)))
    return findings


def _pointed(sample: Sample) -> Iterator[tuple[UserTurn, Message]]:
    for turn in sample.turns:
        if isinstance(turn, UserTurn) and turn.external is not None:
            yield turn, turn.external
