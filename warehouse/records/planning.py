"""Drafts: the records between a tool and a single-turn, routed or derived sample, and those that a made tool goes through."""

from typing import Literal

from pydantic import Field, JsonValue

from callwright.warehouse.records.base import Record
from callwright.warehouse.records.paths import PlannedCall
from callwright.warehouse.records.samples import Draft, Sample
from callwright.warehouse.records.tools import Arguments, JsonSchema, Language


class Assignment(Draft):
    """What is to be made: a kind of sample about one tool, with the tools that will stand beside it."""

    kind: str
    language: Language
    category: str
    tool: str
    candidates: tuple[str, ...]
    withheld: tuple[str, ...] = ()
    parameter_count: int
    seed: int


class ParameterChoice(Draft):
    """An assignment with the parameters that everyday users would give."""

    assignment: Assignment
    parameters: tuple[str, ...]


class DraftCall(Draft):
    """A choice with a value for each parameter: the gold call, with the words that came with it, "" where none did.

    `mentions` quotes of the request what states each parameter's value.
    """

    assignment: Assignment
    arguments: Arguments
    request: str = ""
    mentions: dict[str, str] = Field(default_factory=dict)


class RoutingPlan(Draft):
    """What a question shall ask for: calls of tools by name, in the order in which they are made.

    A `picked` argument is the `field` of what an earlier call returns. `candidates` are the keys of the domain's tools.
    """

    kind: str
    language: Language
    domain: str
    calls: tuple[PlannedCall, ...] = Field(min_length=1)
    candidates: tuple[str, ...]
    seed: int


class TakenRecord(Draft):
    """A record of others, read before the build: where it stands (file and line) and its sample; None where `problems` say why not.

    `seen` counts the records that say the same; `outcome`, `error` and `feedback` are what a log tells of the conversation,
    `replaced` is how much personal data stood in it, by kind.
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


Transform = str  # the name of what a family makes of samples, as its kinds say it
EntityKind = Literal["person", "company", "product", "plate", "id_number", "time", "location", "song", "singer"]


class Derivation(Draft):
    """What is to be made of which sample; an intent shift (IS) borrows its new request from the sample `other`."""

    transform: Transform
    source: Sample
    other: Sample | None = None
    seed: int


class Slot(Record):
    """A parameter that the assistant will ask for, and the value that the user will answer."""

    parameter: str = Field(min_length=1)
    value: JsonValue


class SlotPlan(Draft):
    """The slots of a single-question-single-answer dialogue, in the order in which they are asked."""

    derivation: Derivation
    slots: tuple[Slot, ...] = Field(min_length=1)


class ValueChange(Draft):
    """An argument that the user will give another value: the call `call` of the call turn `turn` of the source."""

    derivation: Derivation
    turn: int = Field(ge=0)
    call: int = Field(default=0, ge=0)
    argument: str = Field(min_length=1)
    old: JsonValue
    new: JsonValue


class EntityReference(Draft):
    """An argument that the user will only point at: said in the user turn `turn` of the source, to be found in `app`."""

    derivation: Derivation
    turn: int = Field(ge=0)
    argument: str = Field(min_length=1)
    value: JsonValue
    entity: EntityKind
    app: str = Field(min_length=1)


class ExternalMessage(Draft):
    """What the user will say instead of the value, and the message that holds it, from `start` to `end`."""

    reference: EntityReference
    phrase: str = Field(min_length=1)
    message: str = Field(min_length=1)
    start: int = Field(ge=0)
    end: int = Field(gt=0)


class ToolsetPlan(Draft):
    """What is to be made: `count` tools of a category, for these everyday goals and these things people keep there.

    Tool names are English in every language: `english_goals` and `english_resources` say the same as `goals` and
    `resources`, in the same order; both are empty where the plan is in English.
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
