"""The base of every stored record: frozen, strict, keyed by content; also tools and calls."""

from functools import cached_property
from hashlib import blake2b
from operator import not_
from typing import Annotated, Any, ClassVar, Literal, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

KEY_BYTES = 12
FOR_KEYS = object()  # the context in which records are serialized for their keys


def content_key(value: JsonValue) -> str:
    """Return the key of a JSON value: 24 hex digits that depend only on its content."""
    text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return blake2b(text, digest_size=KEY_BYTES).hexdigest()


class Record(BaseModel):
    """A stored fact. Two records with the same content have the same `key`, whoever made them."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    UNKEYED: ClassVar[frozenset[str]] = frozenset({"origin"})

    @cached_property
    def key(self) -> str:
        """The content hash, which ignores the fields of UNKEYED (who made it, when)."""
        # Fields bear the names, and facts the texts, that keys were first made of.
        body = self.model_dump(
            mode="json", exclude=set(self.UNKEYED), by_alias=True, context=FOR_KEYS
        )
        return content_key({"type": type(self).__name__, "body": body})

    @classmethod
    def kept(cls, key: str, body: str | bytes) -> Self:
        """Return the record stored under `key`, from its JSON, without hashing it anew (slow)."""
        record = cls.model_validate_json(body)
        vars(record)["key"] = key
        return record

    def with_changes(self, **changes: Any) -> Self:  # noqa: ANN401 - field values of any record
        """Return a new, validated record that differs in the fields given."""
        # dict(self) has a cached key as well
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self).model_validate({**fields, **changes})


# a folder of language/ that holds language.yaml; recipes are checked against those that there are
Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")]
# where nothing says another; names in code are in it, whatever people speak
DEFAULT_LANGUAGE: Language = "en"
Arguments = dict[str, JsonValue]
JsonSchema = dict[str, Any]  # a JSON Schema document (draft 2020-12); its members have any type


class Original(Record):
    """The schema of a whole call as its document has it, where a tool's parameters say less.

    `schema_of_call` describes an object and refers to nothing outside itself; a parameter stands in
    this object at its path in `places`, or under its own name. Recursion, alternatives of bodies
    and what lies too deep are whole in it (docs/decisions/0069).
    """

    schema_of_call: JsonSchema
    places: dict[str, tuple[str, ...]] = Field(default_factory=dict, exclude_if=not_)


class Tool(Record):
    """A tool (the papers also say API or function) with JSON-Schema parameters (an object schema).

    `constants` are parameters with fixed values: no part of `parameters`, so that nobody says them
    and no model sees them; each gold call of the tool carries them beside its arguments
    (docs/decisions/0021). `plumbing` are parameters that nobody says, such as paging and field
    masks: they stay in the signature, and no plan chooses them (docs/decisions/0033). Calls fit
    `original` as well, if there is one.
    """

    name: str = Field(min_length=1)
    description: str
    parameters: JsonSchema
    returns: JsonSchema | None = None
    category: str
    language: Language = DEFAULT_LANGUAGE
    source: str = ""
    constants: Arguments = Field(default_factory=dict, exclude_if=not_)
    plumbing: tuple[str, ...] = Field(default=(), exclude_if=not_)
    original: Original | None = Field(default=None, exclude_if=not_)

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def properties(self) -> dict[str, JsonSchema]:
        """The schema of each parameter, by name, in the order declared."""
        found = self.parameters.get("properties", {})
        return found if isinstance(found, dict) else {}

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the parameters that a full call must give."""
        return tuple(self.parameters.get("required", ()))

    @property
    def choosable(self) -> tuple[str, ...]:
        """The parameters that a plan may give, in the order declared: all but optional plumbing."""
        if not self.plumbing:
            return tuple(self.properties)
        required = self.required
        found = (name for name in self.properties if name in required or name not in self.plumbing)
        return tuple(found)

    @property
    def optional(self) -> tuple[str, ...]:
        """The names of the parameters that a plan may choose beside the required ones."""
        required = self.required
        return tuple(name for name in self.choosable if name not in required)

    @property
    def fewest(self) -> int:
        """The fewest parameters of a call: the required ones, or more if the schema demands it."""
        stated = self.parameters.get("minProperties", 0)
        least = stated if isinstance(stated, int) else 0
        return max(len(self.required), min(least, len(self.choosable)))

    @property
    def signature(self) -> dict[str, Any]:
        """Name, description and parameters, as prompts, requests and documents show the tool."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}

    @property
    def sayable(self) -> dict[str, Any]:
        """The signature without what nobody says, for models that word or read requests."""
        if not self.plumbing:
            return self.signature
        kept = {name: self.properties[name] for name in self.choosable}
        return self.signature | {"parameters": self.parameters | {"properties": kept}}


class Call(Record):
    """One call of a tool: the tool's name and its arguments."""

    tool: str = Field(min_length=1)
    arguments: Arguments = Field(default_factory=dict)


class Change(Record):
    """One difference between two states of a world: a thing was created, deleted or updated.

    `kind` and `id` name the thing ("order", "7"). If it was `updated`, `field` is what differs,
    from `before` to `after`; if it was `created`, `after` holds what it was given; if it was
    `deleted`, `before` holds what is known of it, each as an object of fields, and `field` is
    "".
    """

    sort: Literal["created", "updated", "deleted"]
    kind: str
    id: str
    field: str = ""
    before: Any = None  # any JSON; JsonValue would copy and check what a world has made itself
    after: Any = None
