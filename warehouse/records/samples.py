"""Samples: conversations with gold. One shape serves all four papers.

A HammerBench snapshot, a CONFETTI turn, a ComplexFuncBench step and a CallNavi answer are one
thing: the calls due after a prefix of the conversation. A `CallTurn` is that.
"""

from collections.abc import Iterator
from operator import not_
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import (
    AliasChoices,
    Field,
    JsonValue,
    PlainSerializer,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from callwright.warehouse.errors import RecordError
from callwright.warehouse.records.base import FOR_KEYS, Arguments, Call, Change, Language, Record
from callwright.warehouse.records.texts import (
    read_facts,
    read_rule,
    write_entry_rule,
    write_facts,
    write_feed_rule,
)

EvidenceKind = Literal["span", "normalised", "default", "response", "context", "person"]
DialogueAct = Literal["seek", "inform", "reject", "other", "call"]


Test = Literal["equals", "contains", "lowest", "highest", "earliest", "latest", "only"]


class Condition(Record):
    """Which entry of a list is meant: the one that passes `test` at the dotted path `field`.

    `equals` and `contains` compare with `value`; `lowest` to `latest` rank; `only` says that the
    list has one entry.
    """

    test: Test
    field: str = ""
    value: JsonValue = None


class EntryRule(Record):
    """A value is the `field` of the entry of the list `entries` that meets all of `where`.

    Paths are dotted, from the root of the response and from the entry; "" is the whole of it.
    `later_by` is added, in minutes, to a date and time.
    """

    kind: Literal["entry"] = "entry"
    entries: str
    field: str
    where: tuple[Condition, ...] = Field(default=(), exclude_if=not_)
    later_by: int = Field(default=0, exclude_if=not_)

    @model_serializer(mode="wrap")
    def _serialize(
        self, handler: SerializerFunctionWrapHandler, info: SerializationInfo
    ) -> dict[str, Any] | str:
        fields: dict[str, Any] = handler(self)
        return write_entry_rule(self) if info.context is FOR_KEYS else fields


class FeedRule(Record):
    """The value is the `field` of what call `call` (from 0) of the same turn will return."""

    kind: Literal["feed"] = "feed"
    call: int
    field: str

    @model_serializer(mode="wrap")
    def _serialize(
        self, handler: SerializerFunctionWrapHandler, info: SerializationInfo
    ) -> dict[str, Any] | str:
        fields: dict[str, Any] = handler(self)
        return write_feed_rule(self.call, self.field) if info.context is FOR_KEYS else fields


class Evidence(Record):
    """Why an argument has its value: where it was said, or which rule gives it.

    `turn` is the index into the sample's turns; `start` and `end` are character offsets into that
    turn's text (or its external message, when `in_message`); `path` addresses a value in an earlier
    result; `rule` names a normalisation, or tells which value of the result is meant.
    """

    argument: str
    kind: EvidenceKind
    turn: int | None = None
    start: int | None = None
    end: int | None = None
    quote: str = ""
    in_message: bool = False
    path: str = ""
    rule: str | Annotated[EntryRule | FeedRule, Field(discriminator="kind")] = ""

    @field_validator("rule", mode="before")
    @classmethod
    def _read_older(cls, stated: object, info: ValidationInfo) -> object:
        is_text = isinstance(stated, str) and info.data.get("kind") == "response"
        return read_rule(str(stated)) if is_text else stated


class GoldCall(Record):
    """A call that is due, with the place where the generator says each argument was worded.

    `constants` are the fixed values of the tool's hidden parameters: whoever makes the call adds
    them, no model is asked for them.
    """

    tool: str = Field(min_length=1)
    arguments: Arguments = Field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    constants: Arguments = Field(default_factory=dict, exclude_if=not_)

    @property
    def bare(self) -> Call:
        """The call as it is made, without its evidence."""
        return Call(tool=self.tool, arguments=self.arguments)


class Message(Record):
    """A message outside the conversation that a user turn refers to."""

    app: str
    text: str


class UserTurn(Record):
    """What the user says, and the external message it leans on (HammerBench 4.2.4)."""

    kind: Literal["user"] = "user"
    text: str
    external: Message | None = None


class CallTurn(Record):
    """The calls due here; none at all says that no candidate tool fits.

    A snapshot is not executed.
    """

    kind: Literal["calls"] = "calls"
    calls: tuple[GoldCall, ...] = ()
    executed: bool = False


class ResultTurn(Record):
    """What the calls of the turn before returned, one value a call."""

    kind: Literal["result"] = "result"
    results: tuple[JsonValue, ...]


class ReplyTurn(Record):
    """What the assistant says to the user, with its dialogue acts."""

    kind: Literal["reply"] = "reply"
    text: str
    acts: tuple[DialogueAct, ...] = ()


Turn = Annotated[UserTurn | CallTurn | ResultTurn | ReplyTurn, Field(discriminator="kind")]


class Origin(Record):
    """Who made a record and from what: the stage, the parents' keys, the model and the seed.

    `planted` names the defect that the template model was told to make, "" where it made none; no
    check reads it.
    """

    stage: str
    build: str = ""
    parents: tuple[str, ...] = ()
    seed: int = 0
    model: str = ""
    prompt_version: str = ""
    planted: str = ""


FaultSort = Literal[
    "timeout",
    "unsure",
    "validation",
    "empty",
    "stale_id",
    "gone",
    "unavailable",
    "injected",
    "delegated",
    "harmless",
]
FaultDue = Literal["retry", "look", "repair", "search", "other_tool", "tell", "ignore", "obey"]


class Fault(Record):
    """What goes wrong in a sample; from turn `until` on it must be handled as `due` says.

    Turns before `until` are given. It begins when `at` calls were answered. `call` is the one
    that goes wrong and is answered with `told` (with `takes_effect` it is done all the same), or
    the order that a text gives. Where answers have `value` they have `instead`, for an injected
    text under `field` alone; where a call may have been done all the same, `value` is what shows
    that. `source` is the sample without the fault, which was proved before.
    """

    sort: FaultSort
    due: FaultDue
    until: int
    at: int = 0
    call: GoldCall | None = None
    told: JsonValue = None
    takes_effect: bool = False
    field: str = ""
    value: JsonValue = None
    instead: JsonValue = None
    source: "Sample"

    @property
    def is_text(self) -> bool:
        """Whether it is a text that may mislead, and not an error."""
        return self.sort in ("injected", "delegated", "harmless")

    @property
    def is_own(self) -> bool:
        """Whether it is a mistake of the assistant itself, and nothing is wrong with the world."""
        return self.sort in ("validation", "empty")


class Policy(Record):
    """A rule of an assistant: which calls of some tools it may make in which state of the world.

    A call is allowed if `only_if` holds, an expression over the call's arguments (`given`) and
    what reading tools answer at that moment; `let` names what it uses. With `ask_first` the user
    has to give leave before the call. `says` is the sentence that the assistant is told.
    """

    name: str = Field(pattern=r"^\w+$", description="What figures call it.")
    tools: tuple[str, ...] = Field(min_length=1, description="The tools whose calls it is about.")
    let: dict[str, str] = Field(default_factory=dict, description="Names for what `only_if` takes.")
    only_if: str = Field(
        default="", description="An expression that holds where a call is allowed."
    )
    ask_first: bool = Field(
        default=False, description="Whether the user has to give leave before the call."
    )
    says: str = Field(
        min_length=1, max_length=500, description="The sentence that tells the assistant."
    )


PolicySort = Literal["allowed", "urged", "refused", "tempted"]
PolicyDue = Literal["call", "ask", "refuse"]


class PolicyCase(Record):
    """Policies that an assistant must follow in a sample, and their effect on a wanted call.

    `policy` is the name of the one at issue, `call` the call. It is allowed, or refused; users
    who urge are `urged` if it is allowed, `tempted` if it is not. From `until` on it is the
    assistant's turn: turns before it are given, and contain the user's leave for the call if
    `has_leave`. `source` is the sample without policies, which was proved before.
    """

    sort: PolicySort
    due: PolicyDue
    policies: tuple[Policy, ...]
    policy: str
    call: GoldCall
    until: int = 0
    has_leave: bool = False
    source: "Sample"

    @property
    def is_pressed(self) -> bool:
        """Whether the user urges after a first refusal, before `until`."""
        return self.sort == "tempted" and self.until > 0

    @property
    def is_declined(self) -> bool:
        """Whether the user says no when asked for leave, before `until`."""
        return self.sort == "refused" and self.until > 0

    @property
    def leave(self) -> Call | None:
        """The call that the user has allowed, or None."""
        return self.call.bare if self.has_leave else None


class Snapshot(NamedTuple):
    """A prefix of a conversation and the calls due after it; `turn` is the call turn's index."""

    turn: int
    prefix: tuple[Turn, ...]
    calls: tuple[GoldCall, ...]


class CallPlace(NamedTuple):
    """A call by its step and its place among the calls of the step, both counted from 0."""

    step: int
    place: int


class AskedField(NamedTuple):
    """A field that the user wants to be told: step and place of the call, path in its result."""

    step: int
    place: int
    path: str


class SpokenPart(NamedTuple):
    """What a user turn asks for (the name of a tool), or words that it says beside the point."""

    turn: int
    words: str


class UserWordings(NamedTuple):
    """How often a model worded what a simulated user says, and how often that was refused."""

    wordings: int
    refused: int


Paper = Literal["callnavi", "complexfuncbench", "confetti", "hammerbench"]


class PaperId(NamedTuple):
    """What a sample is called in the data of the paper that it was imported from."""

    paper: Paper
    id: JsonValue


TIME_SENTENCE = "Current date and time: {}"
_POLICIES = "Policies:"
_GOLD = ("wanted", "asked", "goals", "extras", "shifts")
_BY_NAME = PlainSerializer(lambda value: value._asdict())


class SampleFacts(Record):
    """What else is known of a sample; left out of JSON where nothing is.

    Gold that refers to turns and calls of the sample by number: `wanted` are the calls that the
    user asks for, `asked` the fields of results that the user wants to be told, `goals` the tools
    that a conversation's turns ask for, `extras` what they say beside the point, `shifts` the
    snapshots (from 0) at which a change of mind takes effect.

    Circumstances: `environment` is the world in which the calls were made, `simulation` the seed of
    its results, `template` the key of the goal that a variant was made of, `reference_time` when
    the conversation takes place (YYYY-MM-DD HH:MM), `complexity` what a conversation was made to
    have, `difficulty` how hard CallNavi finds the request; `persona` and `style` say who speaks.
    `hammerbench_labels` are labels of calls that none of the candidates can make. `labels` are read
    by people alone.
    """

    wanted: tuple[Annotated[CallPlace, _BY_NAME], ...] = ()
    asked: tuple[Annotated[AskedField, _BY_NAME], ...] = ()
    goals: tuple[Annotated[SpokenPart, _BY_NAME], ...] = ()
    extras: tuple[Annotated[SpokenPart, _BY_NAME], ...] = ()
    shifts: tuple[int, ...] = ()
    environment: str = ""
    simulation: int | None = None
    template: str = ""
    reference_time: str = ""
    complexity: str = ""
    difficulty: str = ""
    persona: str = ""
    style: str = ""
    user: Annotated[UserWordings, _BY_NAME] | None = None
    paper_id: Annotated[PaperId, _BY_NAME] | None = None
    hammerbench_labels: tuple[Call, ...] = ()
    labels: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _read_older(cls, stated: object) -> object:
        return read_facts(stated) if isinstance(stated, list | tuple) else stated

    @model_serializer(mode="wrap")
    def _serialize(
        self, handler: SerializerFunctionWrapHandler, info: SerializationInfo
    ) -> dict[str, Any] | list[str]:
        """Return what is known by name, or for keys the texts that they were first made of."""
        if info.context is FOR_KEYS:
            return write_facts(vars(self))
        return {name: value for name, value in handler(self).items() if value or value == 0}

    @property
    def has_gold(self) -> bool:
        """Whether some of the facts are gold that refers to turns or calls by number."""
        return any(getattr(self, name) for name in _GOLD)

    def without_gold(self) -> "SampleFacts":
        """The circumstances alone, for a sample of other turns or calls."""
        return self.with_changes(**dict.fromkeys(_GOLD, ())) if self.has_gold else self

    def asked_of(self, step: int, place: int) -> tuple[str, ...]:
        """Return the paths of the requested fields in the result of one call."""
        return tuple(one.path for one in self.asked if (one.step, one.place) == (step, place))


NO_FACTS = SampleFacts()
Facts = Annotated[
    SampleFacts, Field(validation_alias=AliasChoices("facts", "tags"), serialization_alias="tags")
]


class Sample(Record):
    """A conversation with gold: the candidate tools by key, the turns, and what kind of item it is.

    What else is known of it stands in its `facts`, which its key covers. The `system_message` is
    what an assistant is shown before the conversation, where a recipe has one. The `changes` are
    how the world of a task has to end; the `fault` is what goes wrong on the way, None where
    nothing does; the `policy_case` are the policies that the assistant has to follow, None where it
    has none.
    """

    kind: str
    language: Language
    category: str
    candidates: tuple[str, ...]
    turns: tuple[Turn, ...]
    withheld: tuple[str, ...] = ()
    facts: Facts = NO_FACTS
    origin: Origin | None = None
    system_message: str = Field(default="", exclude_if=not_)
    changes: tuple[Change, ...] = Field(default=(), exclude_if=not_)
    fault: Fault | None = Field(default=None, exclude_if=not_)
    policy_case: PolicyCase | None = Field(default=None, exclude_if=not_)

    def with_changes(self, **changes: Any) -> Self:  # noqa: ANN401 - field values of any record
        """A new, validated sample that differs in the fields given.

        Raises RecordError where another kind is made of a sample whose facts hold gold, and `facts`
        does not say which of them it keeps.
        """
        is_derived = changes.get("kind", self.kind) != self.kind
        if is_derived and "facts" not in changes and self.facts.has_gold:
            raise RecordError(
                f"A sample of the kind {changes['kind']!r} is made of one of the kind {self.kind!r}"
                " whose facts are gold for its own turns; say which it keeps, such as"
                " facts=source.facts or facts=source.facts.without_gold()."
            )
        return super().with_changes(**changes)

    @property
    def underlying(self) -> "Sample":
        """The sample without its fault or policies, proved before; itself if it has neither."""
        laid = self.fault or self.policy_case
        return laid.source if laid else self

    @property
    def begins(self) -> int:
        """The number of given turns before the candidate's turn; 0 if the request comes first."""
        laid = self.fault or self.policy_case
        return laid.until if laid else 0

    @property
    def request(self) -> str:
        """The first thing the user says, or "" if the user does not open the conversation."""
        return next((turn.text for turn in self.turns if isinstance(turn, UserTurn)), "")

    @property
    def gold(self) -> tuple[GoldCall, ...]:
        """The calls due at the last call turn, possibly none."""
        return next((turn.calls for turn in reversed(self.turns) if isinstance(turn, CallTurn)), ())

    @property
    def call_turns(self) -> tuple[tuple[int, CallTurn], ...]:
        """The call turns, each with its index; their positions are the step numbers of a path."""
        return tuple((at, turn) for at, turn in enumerate(self.turns) if isinstance(turn, CallTurn))

    def calls_at(self, index: int) -> tuple[GoldCall, ...]:
        """Return the calls of a turn, or none if it is of another kind."""
        turn = self.turns[index]
        return turn.calls if isinstance(turn, CallTurn) else ()

    @property
    def all_calls(self) -> tuple[GoldCall, ...]:
        """The calls of all turns, in order."""
        return tuple(call for _, turn in self.call_turns for call in turn.calls)

    @property
    def time_sentence(self) -> str:
        """The sentence that tells when the conversation takes place (what "tomorrow" means).

        "" if the sample does not say.
        """
        now = self.facts.reference_time
        return TIME_SENTENCE.format(now) if now else ""

    def briefing_after(self, system_message: str) -> str:
        """Return a system message with what else an assistant is told: policies and the time."""
        stated = self.policy_case.policies if self.policy_case else ()
        policies = "\n- ".join((_POLICIES, *(one.says for one in stated))) if stated else ""
        return "\n".join(filter(None, (system_message, policies, self.time_sentence)))

    @property
    def briefing(self) -> str:
        """What an assistant is told before the conversation."""
        return self.briefing_after(self.system_message)

    @property
    def simulation_seed(self) -> int | None:
        """The seed of a conversation's simulated results, None if it is unknown."""
        known = self.facts.simulation
        return self.origin.seed if known is None and self.origin else known

    def snapshots(self) -> Iterator[Snapshot]:
        """Yield every call turn with the turns before it."""
        return (Snapshot(at, self.turns[:at], turn.calls) for at, turn in self.call_turns)


PLAIN = frozenset(
    {str, int, float, bool, tuple, list, dict, type(None)}
)  # asking a model class about each takes long


class Draft(Record):
    """A record on the way to a sample or a tool, stored for lineage and never read back."""

    origin: Origin | None = None

    def stored_body(self) -> str:
        """Return the draft as JSON with only the keys of samples, which have their own table."""
        return self.without_samples().model_dump_json(
            warnings=False
        )  # a key where a sample is declared

    def without_samples(self) -> "Draft":
        """Return a copy for storage only, in which keys replace samples."""
        named: dict[str, str | Draft] = {}
        for name, value in vars(self).items():
            if type(value) in PLAIN:
                continue
            if isinstance(value, Sample):
                named[name] = value.key
            elif isinstance(value, Draft) and (kept := value.without_samples()) is not value:
                named[name] = kept
        return self.model_construct(**{**dict(self), **named}) if named else self
