"""Whether a message that came along is the one that the user points to: by the app it came by, and by who sent it.

Rules read it by the language's words for apps and services and by signatures; what they can't tell a judge reads.
"""

from collections.abc import Iterator

from pydantic import BaseModel

from callwright.generators.stages import StageContext
from callwright.generators.transcripts import conversation_text
from callwright.language.calls.channels import message_doubts
from callwright.validators.checks.verdicts import CheckName, Finding, contradicted, unproved, verdict_of
from callwright.validators.judges import MESSAGE, ask_opinion
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DoubtedFact, Message, Sample, UserTurn, Verdict

CHECK, FIT = "message", "message_fit"
VERSION, FIT_VERSION = "1", "1"


class MessageFit(BaseModel):
    """Whether a message can be the one that is pointed to, and why."""

    reason: str
    fits: bool


def applies_to(sample: Sample) -> bool:
    """Whether the user points to a message."""
    return any(_pointed(sample))


async def check_message(sample: Sample, context: StageContext) -> list[Verdict]:
    """Hold each message against the words that point to it, by rules."""
    findings = [found for turn, message in _pointed(sample) for found in _findings(turn, message, sample)]
    proof = "The app and the sender are those that the words speak of."
    return [verdict_of(sample, CheckName(CHECK, VERSION), findings, proof)]


async def check_message_fit(sample: Sample, context: StageContext) -> list[Verdict]:
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
    proof = "The judge finds that the messages can be those meant."
    return [verdict_of(sample, CheckName(FIT, FIT_VERSION), findings, proof)]


def _pointed(sample: Sample) -> Iterator[tuple[UserTurn, Message]]:
    for turn in sample.turns:
        if isinstance(turn, UserTurn) and turn.external is not None:
            yield turn, turn.external


def _findings(turn: UserTurn, message: Message, sample: Sample) -> list[Finding]:
    doubts = message_doubts(turn.text, message.app, message.text, sample.language)
    fact = DoubtedFact(kind="other_message", value=message.app)
    return [contradicted(one.reason, fact) if one.is_clash else unproved(one.reason, fact) for one in doubts]
