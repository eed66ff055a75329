"""Drafts: records on the way to samples and tools, such as goals, paths, plans and scenarios.

In multi-step samples a step is a list of calls that can be made at once, and a path a list of
steps (ComplexFuncBench 2.1). In conversations a scenario has a required complexity, and moves
act it out (CONFETTI 3.1).
"""

from operator import not_
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from callwright.warehouse.records.base import Arguments, Call, JsonSchema, Language, Record
from callwright.warehouse.records.samples import (
    NO_FACTS,
    Condition,
    DialogueAct,
    Draft,
    EntryRule,
    Facts,
    Fault,
    GoldCall,
    Sample,
    Turn,
)

ElementKind = Literal[
    "city",
    "place",
    "airport",
    "hotel",
    "chain",
    "attraction",
    "keyword",
    "company",
    "person",
    "date",
    "time",
    "duration",
    "age",
    "people",
    "count",
    "price",
    "distance",
    "sort",
    "cabin",
    "filter",
    "language",
    "currency",
    "identifier",
    "text",
    "number",
    "flag",
]


class Link(Record):
    """A source of a parameter's value: the `field` of an entry of a tool's response.

    `source` is the tool that returns the list `entries`. `parameter` may lie deeper
    ("legs[].fromId"). `entries` is a dotted path from the response's root, "" if the response
    itself is the only entry; `field` is a dotted path inside an entry ("" is the entry itself).
    """

    tool: str
    parameter: str
    source: str
    entries: str
    field: str


class StatedValue(Record):
    """A value that the user says.

    An element that is not `replaceable` stays as it is in every variant.
    """

    kind: Literal["said"] = "said"
    value: JsonValue
    element: ElementKind
    replaceable: bool = True


class Default(Record):
    """A value that nobody says, from the schema's default or the tool's description."""

    kind: Literal["default"] = "default"
    value: JsonValue


class Picked(Record):
    """A value from an earlier call's response: the `field` of the chosen entry of `entries`.

    `call` is an index into the goal's calls. `later_by` is added, in minutes, to a date and
    time.
    """

    kind: Literal["picked"] = "picked"
    call: int = Field(ge=0)
    entries: str
    field: str
    where: tuple[Condition, ...] = ()
    later_by: int = 0

    @property
    def rule(self) -> EntryRule:
        """What tells the value in the response, whichever call returned it."""
        return EntryRule(
            entries=self.entries, field=self.field, where=self.where, later_by=self.later_by
        )


class Composed(Record):
    """A value composed of others: a list, an object by name, or a text joined by commas."""

    kind: Literal["composed"] = "composed"
    shape: Literal["list", "object", "joined"]
    names: tuple[str, ...] = ()
    parts: tuple["ValueSource", ...]


ValueSource = Annotated[StatedValue | Default | Picked | Composed, Field(discriminator="kind")]


class PlannedCall(Record):
    """A call that the goal needs; `wanted` says that the user asks for what it returns.

    `asked` are the fields of the response that the user wants to be told: dotted paths from its
    root, "[]" behind a list of which every entry is meant ("data.days[].date").
    """

    tool: str
    arguments: dict[str, ValueSource]
    wanted: bool = False
    asked: tuple[str, ...] = Field(default=(), exclude_if=not_)


class Goal(Draft):
    """What a user wants, before it is worded: calls in a possible order, each after its sources.

    `environment` answers the calls. `domain` is one of its domains or "Cross". `candidates` are
    keys of tools. `variants` is how many samples are to be made of it, itself included
    (ComplexFuncBench 2.1.3). `kind` is that of its samples, "" if the domain determines it.
    `world` is the seed of the world that a task plays in, None for the environment's own.
    """

    environment: str
    language: Language
    domain: str
    calls: tuple[PlannedCall, ...] = Field(min_length=1)
    candidates: tuple[str, ...]
    variants: int = Field(default=1, ge=1)
    seed: int = 0
    kind: str = Field(default="", exclude_if=not_)
    world: int | None = Field(default=None, exclude_if=lambda seed: seed is None)


class WordedGoal(Draft):
    """A goal and the request that asks for it."""

    goal: Goal
    request: str


class Exchange(Record):
    """One step: calls made at once with responses, or what the assistant `said` and was `told`."""

    calls: tuple[Call, ...]
    responses: tuple[JsonValue, ...]
    said: str = Field(default="", exclude_if=not_)
    told: str = Field(default="", exclude_if=not_)


class TracedGoal(Draft):
    """A worded goal and the preliminary path: a model's calls, step by step, from the request."""

    worded: WordedGoal
    trace: tuple[Exchange, ...]
    problem: str = ""  # why the model got no further, "" where it ended by itself


CorrectionKind = Literal["missing", "needless", "order", "value", "type", "function", "request"]


class Correction(Record):
    """A difference between the preliminary and the shortest path, at a `step` of either, from 0."""

    kind: CorrectionKind
    step: int | None = None
    before: str = ""
    after: str = ""


class Strike(Record):
    """An entry struck from a response: entry `entry` (as returned, from 0) of `entries`.

    The response is that of call `call` of step `step`.
    """

    step: int
    call: int
    entries: str
    entry: int
    reason: str


class GoalPath(Draft):
    """A goal with its shortest path, corrected and disambiguated (ComplexFuncBench 2.1.2).

    `path` holds the responses without what was struck. `removed` are the keys of tools taken out of
    the candidates.
    """

    traced: TracedGoal
    request: str
    path: tuple[Exchange, ...]
    corrections: tuple[Correction, ...] = ()
    strikes: tuple[Strike, ...] = ()
    removed: tuple[str, ...] = ()


class Assignment(Draft):
    """What to make: a kind of sample about one tool, with the tools shown beside it.

    Assignments that differ in their `value_set` alone share one wording.
    """

    kind: str
    language: Language
    category: str
    tool: str
    candidates: tuple[str, ...]
    withheld: tuple[str, ...] = ()
    parameter_count: int
    seed: int
    value_set: int = Field(default=0, exclude_if=not_)


class ParameterChoice(Draft):
    """An assignment with the parameters that everyday users would give."""

    assignment: Assignment
    parameters: tuple[str, ...]


class DraftCall(Draft):
    """A choice with a value for each parameter: the gold call."""

    assignment: Assignment
    arguments: Arguments


class RoutingPlan(Draft):
    """What a question shall ask for: calls of tools by name, in the order in which they are made.

    A `picked` argument is the `field` of what an earlier call returns. `candidates` are the keys of
    the domain's tools. Plans that differ in `value_set` and values alone share one wording.
    """

    kind: str
    language: Language
    domain: str
    calls: tuple[PlannedCall, ...] = Field(min_length=1)
    candidates: tuple[str, ...]
    seed: int
    value_set: int = Field(default=0, exclude_if=not_)


Transform = str  # the name of what a family makes of samples, as its kinds say it
EntityKind = Literal[
    "person", "company", "product", "plate", "id_number", "time", "location", "song", "singer"
]


class Derivation(Draft):
    """What to make of which sample; an intent shift (IS) takes its new request from `other`."""

    transform: Transform
    source: Sample
    other: Sample | None = None
    seed: int


class PlantedFault(Draft):
    """What goes wrong in which sample, before it is worded, and the gold calls that follow.

    The calls are listed step by step. `tools` are keys of those shown besides the source's.
    `entry` is the name of the thing that a text belongs to.
    """

    derivation: Derivation
    fault: Fault
    steps: tuple[tuple[GoldCall, ...], ...]
    tools: tuple[str, ...] = ()
    entry: str = ""


class Slot(Record):
    """A parameter that the assistant will ask for, and the value that the user will answer."""

    parameter: str = Field(min_length=1)
    value: JsonValue


class SlotPlan(Draft):
    """The slots of a single-question-single-answer dialogue, in the order they are asked."""

    derivation: Derivation
    slots: tuple[Slot, ...] = Field(min_length=1)


class ValueChange(Draft):
    """An argument that the user will change: call `call` of the source's call turn `turn`."""

    derivation: Derivation
    turn: int = Field(ge=0)
    call: int = Field(default=0, ge=0)
    argument: str = Field(min_length=1)
    old: JsonValue
    new: JsonValue


class EntityReference(Draft):
    """An argument to be found in `app`, which the user only refers to in the source's `turn`."""

    derivation: Derivation
    turn: int = Field(ge=0)
    argument: str = Field(min_length=1)
    value: JsonValue
    entity: EntityKind
    app: str = Field(min_length=1)


class ExternalMessage(Draft):
    """What the user will say instead of the value, and the message with it at `start`..`end`."""

    reference: EntityReference
    phrase: str = Field(min_length=1)
    message: str = Field(min_length=1)
    start: int = Field(ge=0)
    end: int = Field(gt=0)


class ToolsetPlan(Draft):
    """What to make: `count` tools of a category, for these everyday goals and stored things.

    Tool names are English in every language: `english_goals` and `english_resources` say the
    same as `goals` and `resources`, in the same order; both are empty if the plan is in English.
    """

    category: str = Field(pattern=r"^[A-Z][A-Za-z]*$")
    description: str = Field(min_length=1)
    goals: tuple[str, ...] = Field(min_length=1)
    resources: tuple[str, ...] = ()
    english_goals: tuple[str, ...] = ()
    english_resources: tuple[str, ...] = ()
    language: Language
    count: int = Field(ge=1)
    seed: int


class NamedTool(Draft):
    """A tool that has a name, `Category.SubArea.functionName`, and the goal that it serves."""

    plan: ToolsetPlan
    name: str = Field(min_length=1)
    goal: str = Field(min_length=1)


class DescribedTool(Draft):
    """A named tool with its description: a short command in the plan's language."""

    named: NamedTool
    description: str = Field(min_length=1)


class ParameterisedTool(Draft):
    """A described tool with its parameters, an object schema."""

    described: DescribedTool
    parameters: JsonSchema


Complexity = Literal[
    "exception_in_execution",
    "failed_conversation",
    "confirmation",
    "goal_switching",
    "no_target_complexity",
    "goal_correction",
    "goal_stacking",
    "ambiguous_goal",
    "follow_up_question",
    "implicit_descriptive_goal",
    "overfill",
    "underfill",
    "goal_not_supported",
]
EpisodeShape = Literal[
    "exception",
    "failed",
    "confirmation",
    "switch",
    "plain",
    "correction",
    "stacked",
    "ambiguous",
    "follow_up",
    "implicit",
    "overfill",
    "underfill",
    "unsupported",
    "chained",
    "compared",
    "thanks",
]
ErrorCode = Literal["not_found", "invalid_value", "conflict", "too_many_requests", "unavailable"]
Intent = Literal[
    "request",
    "describe",
    "hint",
    "answer",
    "approve",
    "switch",
    "correct",
    "retry",
    "ask_more",
    "give_up",
    "thank",
    "ask_parameters",
    "ask_which",
    "ask_approval",
    "inform",
    "tell_error",
    "refuse",
    "acknowledge",
]


class EpisodePlan(Record):
    """A part of a conversation: a shape, and the tools that it takes, by key.

    `count` is how many values are compared.

    A switch drops the first tool for the second; a chain feeds the second from the first; in an
    ambiguous episode the first is meant and the second could be; an overfilled request says
    something that only the second could use.
    """

    shape: EpisodeShape
    tools: tuple[str, ...] = ()
    count: int = 1


class Scenario(Draft):
    """What a conversation must show: APIs, complexity, time and minimum length.

    `minimum_turns` counts the user's turns. The tools in `withheld` are asked for, but are not
    available.
    """

    complexity: Complexity
    language: Language
    category: str
    episodes: tuple[EpisodePlan, ...] = Field(min_length=1)
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
    """One turn before it is worded: its speaker, its purpose, and what it says, calls or tells.

    `asked` are the parameters that a question is about; `options` are the tools that it offers;
    `extra` is an aside. `error` is the message of a call that went wrong.
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
    """A scenario with all values, calls, results and acts of its conversation, but no words."""

    scenario: Scenario
    moves: tuple[Move, ...]


class WordedScenario(Draft):
    """A plan with the user's goal in words."""

    plan: ConversationPlan
    goal: str


class Conversation(Draft):
    """A worded conversation; `facts` tell at which turns what is asked for.

    Replies without acts are yet to be labelled.
    """

    worded: WordedScenario
    turns: tuple[Turn, ...]
    facts: Facts = NO_FACTS


class TakenRecord(Draft):
    """Another project's record, read before the build: its place (file and line) and sample.

    The sample is None if `problems` say why not. `seen` counts the records that say the same;
    `outcome`, `error` and `feedback` are what a log tells about the conversation, and `replaced`
    is how much personal data it contained, by kind.
    """

    where: str
    format: str
    kind: str = ""
    language: str = ""
    sample: Sample | None = None
    problems: tuple[str, ...] = ()
    seen: int = 1
    outcome: str = ""
    error: str = ""
    feedback: str = ""
    replaced: dict[str, int] = Field(default_factory=dict)
