"""The domain model: every stored type, in one place."""

from warehouse.records.base import Record, content_key
from warehouse.records.checks import Decision, Failure, Verdict
from warehouse.records.evaluation import Prediction, Score
from warehouse.records.llm_calls import LlmCall
from warehouse.records.releases import Release
from warehouse.records.reviews import Review, ReviewDecision
from warehouse.records.samples import (
    CallTurn,
    DialogueAct,
    Evidence,
    GoldCall,
    Message,
    Origin,
    ReplyTurn,
    ResultTurn,
    Sample,
    Snapshot,
    Turn,
    UserTurn,
)
from warehouse.records.single_turn import Assignment, DraftCall, ParameterChoice, SingleTurnKind
from warehouse.records.tools import Arguments, Call, JsonSchema, Language, Tool

__all__ = [
    "Arguments",
    "Assignment",
    "Call",
    "CallTurn",
    "Decision",
    "DialogueAct",
    "DraftCall",
    "Evidence",
    "Failure",
    "GoldCall",
    "JsonSchema",
    "Language",
    "LlmCall",
    "Message",
    "Origin",
    "ParameterChoice",
    "Prediction",
    "Record",
    "Release",
    "ReplyTurn",
    "ResultTurn",
    "Review",
    "ReviewDecision",
    "Sample",
    "Score",
    "SingleTurnKind",
    "Snapshot",
    "Tool",
    "Turn",
    "UserTurn",
    "Verdict",
    "content_key",
]
