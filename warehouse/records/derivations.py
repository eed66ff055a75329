"""The records on the way from a sample to what is made of it: dialogues, shifts, external information (HammerBench 4.2)."""

from typing import Literal

from pydantic import Field, JsonValue

from warehouse.records.base import Record
from warehouse.records.drafts import Draft
from warehouse.records.samples import Sample

Transform = Literal["sQsA", "mQmA", "mQsA", "sQmA", "IS", "SO_case1", "SO_case2", "mSv", "external"]
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
