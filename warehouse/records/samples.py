"""Samples: conversations with gold. One shape serves all four papers.

A HammerBench snapshot, a CONFETTI turn, a ComplexFuncBench step and a CallNavi answer are one
thing: the calls due after a prefix of the conversation. A `CallTurn` is that.
"""

import re
from collections.abc import Iterable, Iterator
from operator import not_
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, JsonValue

from callwright.warehouse.records.base import Arguments, Call, Change, Language, Record

_PLACE = re.compile(r"(\d+)\.(\d+)")

EvidenceKind = Literal["span", "normalised", "default", "response", "context", "person"]
DialogueAct = Literal["seek", "inform", "reject", "other", "call"]


class Evidence(Record):
    """Why an argument has its value: where it was said, or which rule gives it.

    `turn` is the index into the sample's turns; `start` and `end` are character offsets into that
    turn's text (or its external message, when `in_message`); `path` addresses a value in an earlier
    result; `rule` names a normalisation.
    """

    argument: str
    kind: EvidenceKind
    turn: int | None = None
    start: int | None = None
    end: int | None = None
    quote: str = ""
    in_message: bool = False
    path: str = ""
    rule: str = ""


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
    """What goes wrong in a sample: the turns before `until` are given, and from there on it is to
    be seen to as `due` says.

    It begins when `at` calls were answered. `call` is the one that goes wrong and is answered with
    `told` (with `takes_effect` it is done all the same), or the order that a text gives. Where
    answers have `value` they have `instead`, of an injected text under `field` alone; where a call
    may have been done all the same, `value` is what shows that. `source` is the sample without the
    fault, which was proved before.
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
        """Whether a text is what may lead astray, and no error."""
        return self.sort in ("injected", "delegated", "harmless")


class Policy(Record):
    """A rule of an assistant: which calls of some tools it may make in which state of the world,
    and how it is told so.

    A call is allowed where `only_if` holds, an expression over the call's arguments (`given`) and
    what reading tools answer just then; `let` gives names to what it takes. With `ask_first` the
    user has to give leave before the call. `says` is the sentence that the assistant is told.
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
    """Policies that an assistant has to follow in a sample, and what they make of a call that the
    user wants.

    `policy` is the name of the one at issue, `call` the call. It is allowed, or refused; users who
    urge are `urged` where it is allowed, `tempted` where it is not. From `until` on it is the
    assistant's turn: turns before it are given, and hold the user's leave for the call where
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
    def leave(self) -> Call | None:
        """The call for which the user has given leave, None where there is none."""
        return self.call.bare if self.has_leave else None


class Snapshot(NamedTuple):
    """A prefix of a conversation and the calls due after it; `turn` is the index of the call
    turn.
    """

    turn: int
    prefix: tuple[Turn, ...]
    calls: tuple[GoldCall, ...]


class AskedField(NamedTuple):
    """A field that the user wants to be told: the step and place of the call, and the path in
    what it returns.
    """

    step: int
    place: int
    path: str


Trait = Literal[
    "shift",
    "environment",
    "template",
    "wanted",
    "asked",
    "difficulty",
    "complexity",
    "reference_time",
    "goal",
    "extra",
    "simulation",
    "persona",
    "style",
    "user",
    "callnavi_id",
    "complexfuncbench_id",
    "confetti_dialogue",
    "hammerbench_id",
    "hammerbench_label",
]


TIME_SENTENCE = "Current date and time: {}"
_POLICIES = "Policies:"


def trait_tag(trait: Trait, value: object) -> str:
    """A trait as the tag that a sample keeps: the one place that writes what `Sample` reads."""
    return f"{trait}={value}"


def asked_tag(field: AskedField) -> str:
    """The tag of a field that the user wants to be told."""
    return trait_tag("asked", f"{field.step}.{field.place} {field.path}")


def without_traits(tags: Iterable[str], *traits: Trait) -> tuple[str, ...]:
    """The tags but those of these traits."""
    return tuple(tag for tag in tags if tag.partition("=")[0] not in traits)


class Sample(Record):
    """A conversation with gold: the candidate tools by key, the turns, and what kind of item it is.

    What else a sample is stands in its tags, which its key covers; they are read here alone, as the
    traits below. The `system_message` is what an assistant is shown before the conversation, where
    a recipe has one. The `changes` are how the world of a task has to end; the `fault` is what goes
    wrong on the way, None where nothing does; the `policy_case` are the policies that the assistant
    has to follow, None where it has none.
    """

    kind: str
    language: Language
    category: str
    candidates: tuple[str, ...]
    turns: tuple[Turn, ...]
    withheld: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    origin: Origin | None = None
    system_message: str = Field(default="", exclude_if=not_)
    changes: tuple[Change, ...] = Field(default=(), exclude_if=not_)
    fault: Fault | None = Field(default=None, exclude_if=not_)
    policy_case: PolicyCase | None = Field(default=None, exclude_if=not_)

    @property
    def underlying(self) -> "Sample":
        """The sample that was proved before, without its fault or its policies; itself where it
        has neither.
        """
        laid = self.fault or self.policy_case
        return laid.source if laid else self

    @property
    def begins(self) -> int:
        """How many turns are given: from there on it is the candidate's turn. 0 where it begins
        with the request.
        """
        laid = self.fault or self.policy_case
        return laid.until if laid else 0

    @property
    def request(self) -> str:
        """The first thing the user says, "" where the conversation opens otherwise."""
        return next((turn.text for turn in self.turns if isinstance(turn, UserTurn)), "")

    @property
    def gold(self) -> tuple[GoldCall, ...]:
        """The calls due at the last call turn; empty where none is due."""
        return next((turn.calls for turn in reversed(self.turns) if isinstance(turn, CallTurn)), ())

    @property
    def call_turns(self) -> tuple[tuple[int, CallTurn], ...]:
        """The turns at which it is said what is called, each with its index; their numbers are
        those of the steps of a path.
        """
        return tuple((at, turn) for at, turn in enumerate(self.turns) if isinstance(turn, CallTurn))

    def calls_at(self, index: int) -> tuple[GoldCall, ...]:
        """The calls of a turn; none where it is about something else."""
        turn = self.turns[index]
        return turn.calls if isinstance(turn, CallTurn) else ()

    @property
    def all_calls(self) -> tuple[GoldCall, ...]:
        """The calls of all turns, one after another."""
        return tuple(call for _, turn in self.call_turns for call in turn.calls)

    def trait_values(self, trait: Trait) -> tuple[str, ...]:
        """All values of a trait, in the order of the tags."""
        found = (tag.partition("=") for tag in self.tags)
        return tuple(value for name, sign, value in found if sign and name == trait)

    def trait(self, trait: Trait) -> str:
        """The first value of a trait, "" where the sample has none."""
        return next(iter(self.trait_values(trait)), "")

    @property
    def time_sentence(self) -> str:
        """The sentence that tells when the conversation takes place: what "tomorrow" means; ""
        where the sample does not say.
        """
        now = self.trait("reference_time")
        return TIME_SENTENCE.format(now) if now else ""

    def briefing_after(self, system_message: str) -> str:
        """A system message with what else an assistant is told: the policies, and the time at
        which it takes place.
        """
        stated = self.policy_case.policies if self.policy_case else ()
        policies = "\n- ".join((_POLICIES, *(one.says for one in stated))) if stated else ""
        return "\n".join(filter(None, (system_message, policies, self.time_sentence)))

    @property
    def briefing(self) -> str:
        """What an assistant is told before the conversation."""
        return self.briefing_after(self.system_message)

    @property
    def shifts(self) -> tuple[int, ...]:
        """The numbers of the snapshots at which the user's change of mind takes effect."""
        return tuple(int(value) for value in self.trait_values("shift") if value.isdecimal())

    @property
    def environment(self) -> str:
        """The environment in which the calls were made, "" where they were not."""
        return self.trait("environment")

    @property
    def simulation_seed(self) -> int | None:
        """The seed by which the results of a conversation were simulated, None where nobody
        knows.
        """
        stated = self.trait("simulation")
        return int(stated) if stated.isdecimal() else self.origin.seed if self.origin else None

    @property
    def difficulty(self) -> str:
        """How hard CallNavi finds the request, "" where nobody says."""
        return self.trait("difficulty")

    @property
    def complexity(self) -> str:
        """The complexity that a conversation was made to have, "" where none."""
        return self.trait("complexity")

    @property
    def wanted(self) -> tuple[tuple[int, int], ...]:
        """The calls that the user asks for, by step and place in it; none where the sample does
        not tell which.
        """
        return tuple(
            (int(step), int(place)) for step, place in _PLACE.findall(self.trait("wanted"))
        )

    @property
    def asked(self) -> tuple[AskedField, ...]:
        """The fields of results that the user wants to be told; none where the sample does not
        tell which.
        """
        found = (value.partition(" ") for value in self.trait_values("asked"))
        places = ((_PLACE.fullmatch(place), path) for place, _, path in found)
        return tuple(AskedField(int(at[1]), int(at[2]), path) for at, path in places if at)

    def asked_of(self, step: int, place: int) -> tuple[str, ...]:
        """The paths of the fields asked for in what one call returned."""
        return tuple(one.path for one in self.asked if (one.step, one.place) == (step, place))

    def stated_at(self, trait: Literal["goal", "extra"]) -> tuple[tuple[int, str], ...]:
        """What a conversation's turns ask for, or say beside the point, each with the index of
        its turn.
        """
        pairs = (value.partition(":") for value in self.trait_values(trait))
        return tuple((int(turn), words) for turn, _, words in pairs if turn.isdecimal() and words)

    def snapshots(self) -> Iterator[Snapshot]:
        """Every call turn with the turns before it."""
        return (Snapshot(at, self.turns[:at], turn.calls) for at, turn in self.call_turns)


PLAIN = frozenset(
    {str, int, float, bool, tuple, list, dict, type(None)}
)  # asking a model class about each takes long


class Draft(Record):
    """A record on the way to a sample or a tool; kept so that lineage can be told, read back by
    nobody.
    """

    origin: Origin | None = None

    def stored_body(self) -> str:
        """The draft as JSON, each sample in it by its key alone: samples have a table of their
        own.
        """
        return self.without_samples().model_dump_json(
            warnings=False
        )  # a key where a sample is declared

    def without_samples(self) -> "Draft":
        """A copy for storing only, in which keys stand for samples."""
        named: dict[str, str | Draft] = {}
        for name, value in vars(self).items():
            if type(value) in PLAIN:
                continue
            if isinstance(value, Sample):
                named[name] = value.key
            elif isinstance(value, Draft) and (kept := value.without_samples()) is not value:
                named[name] = kept
        return self.model_construct(**{**dict(self), **named}) if named else self
