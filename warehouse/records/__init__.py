"""The domain model: every stored type, in one place."""

from warehouse.records.base import Record, content_key
from warehouse.records.checks import Decision, Failure, Verdict
from warehouse.records.derivations import (
    Derivation,
    EntityKind,
    EntityReference,
    ExternalMessage,
    Slot,
    SlotPlan,
    Transform,
    ValueChange,
)
from warehouse.records.drafts import Draft
from warehouse.records.evaluation import JudgeVerdict, Prediction, Score, SnapshotsScored, ToolsShown
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
from warehouse.records.toolset import DescribedTool, NamedTool, ParameterisedTool, ToolsetPlan

__all__ = [
    "Arguments",
    "Assignment",
    "Call",
    "CallTurn",
    "Decision",
    "Derivation",
    "DescribedTool",
    "DialogueAct",
    "Draft",
    "DraftCall",
    "EntityKind",
    "EntityReference",
    "Evidence",
    "ExternalMessage",
    "Failure",
    "GoldCall",
    "JsonSchema",
    "JudgeVerdict",
    "Language",
    "LlmCall",
    "Message",
    "NamedTool",
    "Origin",
    "ParameterChoice",
    "ParameterisedTool",
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
    "Slot",
    "SlotPlan",
    "Snapshot",
    "SnapshotsScored",
    "Tool",
    "ToolsShown",
    "ToolsetPlan",
    "Transform",
    "Turn",
    "UserTurn",
    "ValueChange",
    "Verdict",
    "content_key",
]
