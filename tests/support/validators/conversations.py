"""Conversations about one table, snapshot by snapshot, for the tests of what candidates answer."""

from collections.abc import Sequence
from typing import Any

from callwright.validators.metrics.ratios import CandidateRun
from callwright.warehouse.records import (
    NO_FACTS,
    Call,
    CallTurn,
    GoldCall,
    Message,
    Prediction,
    ReplyTurn,
    Sample,
    SampleFacts,
    Tool,
    Turn,
    UserTurn,
)

RUN = CandidateRun(release="v1", candidate="scripted")
ASKED = "Book a table at Lindenhof."
STEPS: tuple[dict[str, Any], ...] = (
    {"restaurant": "Lindenhof"},
    {"restaurant": "Lindenhof", "party_size": 4},
    {"restaurant": "Lindenhof", "party_size": 4, "time": "19:30"},
)


def conversation(
    tools: Sequence[Tool], *, kind: str = "sQsA", facts: SampleFacts = NO_FACTS, **changes: Any
) -> Sample:
    """Three snapshots about a table: the restaurant, then how many come, then when."""
    said = (ASKED, "Four of us.", "At 19:30, as the message says.")
    turns: list[Turn] = []
    for text, arguments in zip(said, STEPS, strict=True):
        message = Message(app="mail", text="We meet at 19:30.") if "message" in text else None
        turns += [
            UserTurn(text=text, external=message),
            CallTurn(calls=(GoldCall(tool="book_table", arguments=arguments),)),
        ]
        turns += [ReplyTurn(text="And then?")] if message is None else []
    fields = {
        "kind": kind,
        "language": "en",
        "category": "Food",
        "candidates": tuple(tool.key for tool in tools),
        "turns": tuple(turns),
        "facts": facts,
    }
    return Sample(**fields | changes)


def intent_shift(tools: Sequence[Tool]) -> Sample:
    """The user turns to the stars after the first snapshot."""
    turns = conversation(tools).turns[:3]
    away = (
        UserTurn(text="Actually, what do the stars say?"),
        CallTurn(),
        ReplyTurn(text="Sorry, I can't."),
    )
    return conversation(tools, kind="IS", facts=SampleFacts(shifts=(1,)), turns=(*turns, *away))


def answers(sample: Sample, *given: Any, run: CandidateRun = RUN) -> list[Prediction]:
    """Predictions at the sample's snapshots: arguments of the table's booking, a call of its
    own, or words.
    """
    turns = [snapshot.turn for snapshot in sample.snapshots()]
    return [_answer(sample, turn, one, run) for turn, one in zip(turns, given, strict=True)]


def _answer(sample: Sample, turn: int, given: Any, run: CandidateRun) -> Prediction:
    if isinstance(given, str):
        return Prediction(**run._asdict(), subject=sample.key, turn=turn, text=given, calls=())
    call = given if isinstance(given, Call) else Call(tool="book_table", arguments=given)
    return Prediction(**run._asdict(), subject=sample.key, turn=turn, text="{}", calls=(call,))
