"""The records of simulated conversations: scenarios with a required complexity, and the moves that act them out (CONFETTI 3.1)."""

from typing import Literal

from pydantic import Field, JsonValue

from callwright.warehouse.records.base import Record
from callwright.warehouse.records.samples import DialogueAct, Draft, Turn
from callwright.warehouse.records.tools import Arguments, Language

Complexity = Literal[
    "exception_in_execution", "failed_conversation", "confirmation", "goal_switching", "no_target_complexity",
    "goal_correction", "goal_stacking", "ambiguous_goal", "follow_up_question", "implicit_descriptive_goal", "overfill",
    "underfill", "goal_not_supported",
]  # fmt: skip
EpisodeShape = Literal[
    "exception", "failed", "confirmation", "switch", "plain", "correction", "stacked", "ambiguous", "follow_up",
    "implicit", "overfill", "underfill", "unsupported", "chained", "compared", "thanks",
]  # fmt: skip
ErrorCode = Literal["not_found", "invalid_value", "conflict", "too_many_requests", "unavailable"]
Intent = Literal[
    "request", "describe", "hint", "answer", "approve", "switch", "correct", "retry", "ask_more", "give_up", "thank",
    "ask_parameters", "ask_which", "ask_approval", "inform", "tell_error", "refuse", "acknowledge",
]  # fmt: skip


class Episode(Record):
    """A part of a conversation: a shape, and the tools that it takes, by key. `count` is how many values are compared.

    A switch drops the first tool for the second; a chain feeds the second from the first; in an ambiguous episode the
    first is meant and the second could be; an overfilled request says something that only the second could use.
    """

    shape: EpisodeShape
    tools: tuple[str, ...] = ()
    count: int = 1


class Scenario(Draft):
    """What a conversation is to show: APIs, a required complexity, when it takes place, and how long it is at least.

    `minimum_turns` counts the user's turns. The tools in `withheld` are asked for, but stand for nobody to call.
    """

    complexity: Complexity
    language: Language
    category: str
    episodes: tuple[Episode, ...] = Field(min_length=1)
    candidates: tuple[str, ...]
    withheld: tuple[str, ...] = ()
    reference_time: str
    minimum_turns: int = Field(ge=1)
    seed: int


class Part(Record):
    """A tool and values that are said for it, asked for, or read back."""

    tool: str
    arguments: Arguments = Field(default_factory=dict)


class Fact(Record):
    """A value out of a result that the agent tells, and what it is called."""

    label: str
    value: JsonValue


class SimulatedCall(Record):
    """A call with what it returns; `linked` are the arguments that an earlier result gives."""

    tool: str
    arguments: Arguments
    result: JsonValue
    linked: tuple[str, ...] = ()


class Move(Record):
    """One turn before it is worded: who makes it, what for, and what exactly it says, calls or tells.

    `asked` are the parameters that a question is about; `options` the tools that it offers; `extra` is said beside the
    point. `error` is the message of a call that went wrong.
    """

    speaker: Literal["user", "agent", "calls"]
    intent: Intent | None = None
    parts: tuple[Part, ...] = ()
    asked: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    extra: Part | None = None
    facts: tuple[Fact, ...] = ()
    error: str = ""
    calls: tuple[SimulatedCall, ...] = ()
    acts: tuple[DialogueAct, ...] = ()


class ConversationPlan(Draft):
    """A scenario with every value, call, result and act of its conversation; only the words are lacking."""

    scenario: Scenario
    moves: tuple[Move, ...]


class WordedScenario(Draft):
    """A plan with the user's goal in words."""

    plan: ConversationPlan
    goal: str


class Conversation(Draft):
    """A worded conversation; `tags` tell at which turns what is asked for. Replies without acts are yet to be labelled."""

    worded: WordedScenario
    turns: tuple[Turn, ...]
    tags: tuple[str, ...] = ()
