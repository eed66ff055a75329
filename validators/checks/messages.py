"""Whether a message that came along is the one that the user points to: by the app it came by, and by who sent it.

Rules read it by the language's words for apps and services and by signatures; what they can't tell a judge reads.
"""

from collections.abc import Iterator

from pydantic import BaseModel

from generators.stages import StageContext
from generators.transcripts import conversation_text
from language.calls.channels import message_doubts
from validators.checks.verdicts import SHOWN, Finding, contradicted, deciding, unproved
from validators.judges import MESSAGE, ask_opinion
from warehouse.errors import ReplyError
from warehouse.records import Message, Sample, UserTurn, Verdict

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
    return [_verdict(sample, (CHECK, VERSION), findings, "The app and the sender are those that the words speak of.")]


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
            findings.append(unproved(f"The judge gave no answer about the message that can be read: {error}"))
            continue
        if not opinion.fits:
            findings.append(
                unproved(f"The judge finds that the message by {message.app} is not meant: {opinion.reason}")
            )
    return [_verdict(sample, (FIT, FIT_VERSION), findings, "The judge finds that the messages can be those meant.")]


def _pointed(sample: Sample) -> Iterator[tuple[UserTurn, Message]]:
    for turn in sample.turns:
        if isinstance(turn, UserTurn) and turn.external is not None:
            yield turn, turn.external


def _findings(turn: UserTurn, message: Message, sample: Sample) -> list[Finding]:
    doubts = message_doubts(turn.text, message.app, message.text, sample.language)
    return [contradicted(one.reason) if one.is_clash else unproved(one.reason) for one in doubts]


def _verdict(sample: Sample, check: tuple[str, str], findings: list[Finding], proof: str) -> Verdict:
    (name, version), (decision, reasons) = check, deciding(findings)
    reason = " ".join(reasons[:SHOWN]) or proof
    return Verdict(subject=sample.key, check=name, decision=decision, reason=reason, version=version)
