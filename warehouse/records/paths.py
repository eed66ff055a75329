"""The records of multi-step samples: where arguments come from, what a user wants, and the path that gets there.

A step is a list of calls that can be made at once; a path is a list of steps (ComplexFuncBench 2.1).
"""

from operator import not_
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from callwright.warehouse.records.base import Record
from callwright.warehouse.records.samples import Draft
from callwright.warehouse.records.tools import Call, Language

ElementKind = Literal[
    "city", "place", "airport", "hotel", "chain", "attraction", "keyword", "company", "person", "date", "time",
    "duration", "age", "people", "count", "price", "distance", "sort", "cabin", "filter", "language", "currency",
    "identifier", "text", "number", "flag",
]  # fmt: skip
Test = Literal["equals", "contains", "lowest", "highest", "earliest", "latest", "only"]


class Link(Record):
    """Where the value of a parameter can come from: the `field` of an entry of the list `entries` that `source` returns.

    `parameter` may lie deeper ("legs[].fromId"). `entries` is a dotted path from the response's root, "" where the
    response itself is the one entry; `field` is a dotted path inside an entry ("" is the entry itself).
    """

    tool: str
    parameter: str
    source: str
    entries: str
    field: str


class Condition(Record):
    """Which entry of a list is meant: by `test` of the value at the dotted path `field` of each entry.

    `equals` and `contains` compare with `value`; `lowest` to `latest` rank; `only` says that the list has one entry.
    """

    test: Test
    field: str = ""
    value: JsonValue = None


class StatedValue(Record):
    """A value that the user says. An element that is not `replaceable` stays as it is in every variant."""

    kind: Literal["said"] = "said"
    value: JsonValue
    element: ElementKind
    replaceable: bool = True


class Default(Record):
    """A value that nobody says: the parameter's schema gives it as its default, or the tool's description demands it."""

    kind: Literal["default"] = "default"
    value: JsonValue


class Picked(Record):
    """A value out of the response of an earlier call of the goal: the `field` of the entry of `entries` that is meant.

    `call` is an index into the goal's calls. `later_by` is added, in minutes, to a date and time.
    """

    kind: Literal["picked"] = "picked"
    call: int = Field(ge=0)
    entries: str
    field: str
    where: tuple[Condition, ...] = ()
    later_by: int = 0


class Composed(Record):
    """A value put together of others: a list of them, an object of them by name, or a text of them joined by a comma."""

    kind: Literal["composed"] = "composed"
    shape: Literal["list", "object", "joined"]
    names: tuple[str, ...] = ()
    parts: tuple["ValueSource", ...]


ValueSource = Annotated[StatedValue | Default | Picked | Composed, Field(discriminator="kind")]


class PlannedCall(Record):
    """A call that the goal needs; `wanted` says that the user asks for what it returns.

    `asked` are the fields of the response that the user wants to be told: dotted paths from its root, "[]" behind a list
    of which every entry is meant ("data.days[].date").
    """

    tool: str
    arguments: dict[str, ValueSource]
    wanted: bool = False
    asked: tuple[str, ...] = Field(default=(), exclude_if=not_)


class Goal(Draft):
    """What a user wants, before anybody words it: calls in an order in which they can be made, each after its sources.

    `environment` answers the calls. `domain` is one of its domains or "Cross". `candidates` are keys of tools.
    `variants` is how many samples are to be made of it, itself among them (ComplexFuncBench 2.1.3).
    """

    environment: str
    language: Language
    domain: str
    calls: tuple[PlannedCall, ...] = Field(min_length=1)
    candidates: tuple[str, ...]
    variants: int = Field(default=1, ge=1)
    seed: int = 0


class WordedGoal(Draft):
    """A goal and the request that asks for it."""

    goal: Goal
    request: str


class Exchange(Record):
    """One step: calls made at once, and a response for each."""

    calls: tuple[Call, ...]
    responses: tuple[JsonValue, ...]


class TracedGoal(Draft):
    """A worded goal and the preliminary path: what a model called, step by step, from the request alone."""

    worded: WordedGoal
    trace: tuple[Exchange, ...]
    problem: str = ""  # why the model got no further, "" where it ended by itself


CorrectionKind = Literal["missing", "needless", "order", "value", "type", "function", "request"]


class Correction(Record):
    """A difference between the preliminary path and the shortest: `step` is the step of either, from 0."""

    kind: CorrectionKind
    step: int | None = None
    before: str = ""
    after: str = ""


class Strike(Record):
    """An entry struck from a response: entry `entry` (as returned, from 0) of `entries` in response `call` of step `step`."""

    step: int
    call: int
    entries: str
    entry: int
    reason: str


class GoalPath(Draft):
    """A goal with its shortest path, corrected and disambiguated (ComplexFuncBench 2.1.2).

    `path` holds the responses without what was struck. `removed` are the keys of tools taken out of the candidates.
    """

    traced: TracedGoal
    request: str
    path: tuple[Exchange, ...]
    corrections: tuple[Correction, ...] = ()
    strikes: tuple[Strike, ...] = ()
    removed: tuple[str, ...] = ()
