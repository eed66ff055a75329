"""Whether a message that came along is the one that the user points to: by the app it came by, and by who sent it.

Rules read it by the language's words for apps and services and by signatures; what they can't tell a judge reads.
"""

from collections.abc import Iterator

from pydantic import BaseModel

from callwright.generators.stages import StageContext
from callwright.generators.transcripts import conversation_text
from callwright.language.calls.channels import message_doubts
from callwright.validators.checks.declaring import reader, rule
from callwright.validators.checks.verdicts import Finding, contradicted, unproved
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


@rule(
    "message", "1",
    "Does a message come by the app, and from whom, the words speak of that point to it?",
    source="HammerBench 4.2.4",
    applies=applies_to,
    settles=("message",),
    left_to="readers",
    proof="The app and the sender are those that the words speak of.",
    doubts={"other_message": "The message by {value} may not be the one that the user points to."},
)  # fmt: skip
def check_message(sample: Sample, _context: StageContext) -> list[Finding]:
    """Hold each message against the words that point to it, by rules."""
    return [found for turn, message in _pointed(sample) for found in _findings(turn, message, sample)]


@reader(
    "message_fit", "1", "Can the message be the one that the user points to?",
    source="HammerBench 4.2.4",
    role="judge",
    prompts=(MESSAGE,),
    applies=applies_to,
    settles=("message",),
    only_rest=True,
    proof="The judge finds that the messages can be those meant.",
    doubts={"judged_message": "A model finds that another message is meant: {said}"},
)  # fmt: skip
async def check_message_fit(sample: Sample, context: StageContext) -> list[Finding]:
    """Let the judge read the messages that rules leave open beside the words that point to them."""
    findings: list[Finding] = []
    for turn, message in _pointed(sample):
        if not _findings(turn, message, sample):
            continue
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


def _findings(turn: UserTurn, message: Message, sample: Sample) -> list[Finding]:
    doubts = message_doubts(turn.text, message.app, message.text, sample.language)
    fact = DoubtedFact(kind="other_message", value=message.app)
    return [contradicted(one.reason, fact) if one.is_clash else unproved(one.reason, fact) for one in doubts]
