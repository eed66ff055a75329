"""The protocol for what answers calls (simulated, live or stored), and its recipe settings."""

from collections.abc import Callable, Mapping, Sequence
from operator import not_
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Protocol, Self, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    SerializeAsAny,
    ValidationError,
    WrapValidator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticKnownError

from callwright.generators.catalogs.choosing import SentencePaths, ToolChoice
from callwright.warehouse.errors import ConfigurationError, first_problem
from callwright.warehouse.records import Call, ErrorCode, Link, Tool, content_key
from callwright.warehouse.registry import Registry

NAME = r"^[a-z0-9][a-z0-9_-]*$"
PATIENCE = 20.0  # seconds
LARGEST = 2**20  # bytes of a response
ResponseSize = Literal["short", "medium", "long"]
Deed = Literal["reads", "creates", "updates", "deletes", "links", "unlinks"]
_DEEDS: tuple[Deed, ...] = get_args(Deed)


class CallResponse(NamedTuple):
    """The answer to a call.

    `problem` says why it was refused and `error` is the code; both are "" if it was not.

    `response` is then the error's body, if there is one. `passing` means that a problem is not
    the answer to this call: another try or another setup may get a different one.
    """

    response: JsonValue = None
    problem: str = ""
    passing: bool = False
    error: ErrorCode | Literal[""] = ""


def without_tool(name: str, call: Call) -> CallResponse:
    """Return an environment's answer to a call whose tool it lacks."""
    return CallResponse(problem=f"{name} has no tool {call.tool!r}.", error="not_found")


class Made(NamedTuple):
    """A call that was made, and its answer."""

    call: Call
    answer: CallResponse


class Environment(Protocol):
    """Source of answers to calls of its tools, always the same for the same call.

    Answers that change are stored the first time. An environment that knows what people say in
    it also has a `vocabulary` (vocabularies.py).
    """

    @property
    def name(self) -> str:
        """The name in recipes and samples."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the environment; their `category` is the domain."""

    @property
    def links(self) -> tuple[Link, ...]:
        """Every place in a response that can provide a parameter's value."""

    async def answer(self, call: Call) -> CallResponse:
        """Return the response, never raise; any failure is stated in `problem`."""


class WrappedEnvironment:
    """Wrapper that describes itself as its environment does, but answers calls in its own way."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    @property
    def name(self) -> str:
        """The name of the wrapped environment."""
        return self._environment.name

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the environment."""
        return self._environment.tools

    @property
    def links(self) -> tuple[Link, ...]:
        """The links of the environment."""
        return self._environment.links


class EnvironmentPart(BaseModel):
    """A part of a recipe: unknown words are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TravelSettings(EnvironmentPart):
    """The simulated world of travel."""

    environment: Literal["travel"] = Field(description="The simulated world of travel.")
    response_size: ResponseSize = Field(default="short", description="How much a response holds.")
    seed: int = Field(default=0, description="All that the world holds depends on it.")
    sentences: SentencePaths = ()

    @property
    def name(self) -> str:
        """The name in samples."""
        return self.environment


class ServerSettings(EnvironmentPart, ToolChoice):
    """What servers have in common: which tools are meant, their names, and fixed parameters.

    `catalog` names a catalog in the warehouse: its document or server, and what was chosen of
    it, replace these settings. `values` are values of parameters (PARAMETER or TOOL.PARAMETER)
    that nothing else gives.
    """

    catalog: str = Field(
        default="",
        description="The name of a catalog that was imported from this server's document.",
    )
    values: Mapping[str, tuple[JsonValue, ...]] = Field(
        default_factory=dict, description="Values to ask for, by PARAMETER or TOOL.PARAMETER."
    )
    sentences: SentencePaths = ()

    def _validate_origin(self, **origins: object) -> None:
        stated = [name for name, value in {"catalog": self.catalog, **origins}.items() if value]
        if len(stated) != 1:
            raise ValueError(
                f"one of {', '.join([*origins, 'catalog'])} says which server it is; {len(stated)}"
                " are given"
            )
        if self.catalog and self.choice != ToolChoice():
            raise ValueError("what is taken of a catalog is chosen where it is imported")

    @property
    def choice(self) -> ToolChoice:
        """The choice among the server's tools."""
        return ToolChoice(**{name: getattr(self, name) for name in ToolChoice.model_fields})

    @property
    def stated(self) -> dict[str, JsonValue]:
        """The settings that enter a build's key, without empty optional ones."""
        stated: dict[str, JsonValue] = self.model_dump(mode="json")
        optional = {*ToolChoice.model_fields, *ServerSettings.__annotations__}
        return {name: value for name, value in stated.items() if value or name not in optional}


class HttpSettings(ServerSettings):
    """A live server with its OpenAPI document; `path` is relative to the recipe.

    Another server takes another `name`.

    `secrets` gives headers and the environment variables that hold their values. `allow` names what
    may be asked besides GET and HEAD: methods, or a method with a path pattern ("POST */filter").
    `tools` are patterns of names, none for all.
    """

    environment: Literal["http"] = Field(description="A live server with its OpenAPI document.")
    name: str = Field(default="http", pattern=NAME, description="The name that samples call it by.")
    format: Literal["openapi"] = Field(
        default="openapi", alias="import", description="The format of its document."
    )
    path: Path | None = Field(
        default=None, description="The server's OpenAPI document, relative to the recipe."
    )
    base_url: str = Field(description="The server's address, such as http://127.0.0.1:4200/api.")
    secrets: Mapping[str, str] = Field(
        default_factory=dict,
        description="Headers, and the environment variables that hold their values.",
    )
    allow: tuple[str, ...] = Field(
        default=(),
        description=(
            "What may be asked besides GET and HEAD: methods, or a method with a path pattern."
        ),
    )
    tools: tuple[str, ...] = Field(
        default=(), description="Patterns of the names of its tools, none for all."
    )
    timeout: float = Field(default=PATIENCE, gt=0, le=600, description="Seconds for a call.")
    max_bytes: int = Field(
        default=LARGEST, ge=1, le=64 * 2**20, description="The largest response."
    )

    @model_validator(mode="after")
    def _is_one_document(self) -> "HttpSettings":
        self._validate_origin(path=self.path)
        return self

    @property
    def document(self) -> Path:
        """The server's document.

        Raises ConfigurationError if its catalog was not looked up.
        """
        if self.path is None:
            raise ConfigurationError(
                f"The catalog {self.catalog!r} of the environment {self.name!r} was not looked up."
            )
        return self.path


class Reset(EnvironmentPart):
    """How an MCP server gets back to its first state, so that calls may change it.

    It is one of three. `folder` is copied to a temporary one for every episode, and the server's
    command is started in it; `{folder}` in the command is this copy. `command` is run where the
    server's own command runs, which is then started anew; a server with a `url` keeps running.
    `tool` is a tool of the server, called with `arguments`.
    """

    folder: Path | None = Field(
        default=None,
        description=(
            "A folder that the server is started in a fresh copy of, relative to the recipe."
        ),
    )
    command: tuple[str, ...] = Field(default=(), description="A command that is run, word by word.")
    tool: str = Field(default="", description="A tool of the server.")
    arguments: Mapping[str, JsonValue] = Field(
        default_factory=dict, description="The arguments that it is called with."
    )

    @model_validator(mode="after")
    def _is_one_way(self) -> Self:
        stated = [name for name in ("folder", "command", "tool") if getattr(self, name)]
        if len(stated) != 1:
            raise ValueError(
                f"it says {' and '.join(stated) or 'none'} of folder, command and tool, and needs"
                " one of them"
            )
        if self.arguments and not self.tool:
            raise ValueError("`arguments` are those of a `tool`, and it names none")
        return self


class ServerCall(EnvironmentPart):
    """A call of a server's tool."""

    tool: str = Field(min_length=1, description="The tool's name.")
    arguments: Mapping[str, JsonValue] = Field(
        default_factory=dict, description="The arguments that it is called with."
    )


class McpSettings(ServerSettings):
    """An MCP server: a `command` that is started in `folder` (relative to the recipe), or a `url`.

    `secrets` gives headers, or variables of the command, and the environment variables that hold
    their values. Only tools that the server marks as read-only are called, and those whose names
    fit `reads` or `allow`; all of them where a `reset` says how the server comes to hold what it
    held at first. Then `state` are the calls whose answers tell what it holds.
    """

    environment: Literal["mcp"] = Field(description="An MCP server.")
    name: str = Field(default="mcp", pattern=NAME, description="The name that samples call it by.")
    command: tuple[str, ...] = Field(
        default=(), description="The command that starts it, word by word."
    )
    url: str = Field(
        default="",
        pattern=r"^(https?://\S+)?$",
        description="Its address, such as http://127.0.0.1:8000/mcp.",
    )
    folder: Path = Field(
        default=Path(), description="Where the command runs, relative to the recipe."
    )
    secrets: Mapping[str, str] = Field(
        default_factory=dict,
        description=(
            "Headers, or variables of the command, and the environment variables that hold their"
            " values."
        ),
    )
    allow: tuple[str, ...] = Field(
        default=(),
        description=(
            "Patterns of the names of tools that may be called though they are not marked"
            " read-only."
        ),
    )
    reads: tuple[str, ...] = Field(
        default=(),
        exclude_if=not_,
        description=(
            "Patterns of the names of tools that change nothing though they are not marked"
            " read-only."
        ),
    )
    reset: Reset | None = Field(
        default=None,
        exclude_if=not_,
        description="How it comes to hold what it held at first: all tools are called.",
    )
    state: tuple[str | ServerCall, ...] = Field(
        default=(),
        exclude_if=not_,
        description="Tools, or calls of tools, whose answers tell what the server holds.",
    )
    timeout: float = Field(default=PATIENCE, gt=0, le=600, description="Seconds for a call.")
    max_bytes: int = Field(
        default=LARGEST, ge=1, le=64 * 2**20, description="The largest response."
    )

    @model_validator(mode="after")
    def _is_one_server(self) -> "McpSettings":
        self._validate_origin(command=self.command, url=self.url)
        if self.reset and self.reset.folder and self.url:
            raise ValueError(
                "`reset` copies a `folder` for a command, and a server with a `url` runs elsewhere"
            )
        if self.state and not self.reset:
            problem = "`state` tells what calls have made of a server, which takes a `reset`"
            raise ValueError(problem)
        return self

    @property
    def asked_for_state(self) -> tuple[Call, ...]:
        """The calls of `state`, which report what the server holds."""
        stated = [ServerCall(tool=one) if isinstance(one, str) else one for one in self.state]
        return tuple(Call(tool=one.tool, arguments=dict(one.arguments)) for one in stated)


class RecordedSettings(EnvironmentPart):
    """Responses recorded earlier: a response store or JSON lines, `path` relative to the recipe."""

    environment: Literal["recorded"] = Field(description="Responses that were recorded earlier.")
    name: str = Field(
        default="recorded", pattern=NAME, description="The name that samples call it by."
    )
    path: Path = Field(description="A response store, or JSON lines, relative to the recipe.")
    sentences: SentencePaths = ()


def _later(description: str) -> Any:  # noqa: ANN401 - a field of any type
    """Return a field added later; if it is empty, a build's key stays as it was."""
    return Field(default="", exclude_if=not_, description=description)


class Effect(EnvironmentPart):
    """What a call of a tool does, as `{updates: order, id: order_id, sets: {status: cancelled}}`.

    One of the first six says what: it changes nothing, or it creates, updates or deletes a thing of
    a kind, or puts one among those of another or takes it from there. The `id` of the thing is what
    this parameter gives; one that is created without gets a new one. `fields` says which field each
    parameter gives its value to: a list where both are called alike. `sets` are fields that get the
    same value whatever the call says, and no two things have the same value of a field that is
    `unique`.

    Where a parameter lists things (`each`), all this is done to each, and `id` and `fields` name
    members of an entry. `to` is the parameter that names the other thing, and `under` what its list
    is called ("member"), where not as the kind. `parts` says what becomes of the things that belong
    to one which is deleted.
    """

    reads: bool = Field(
        default=False, description="Whether it changes nothing, whatever its method says."
    )
    creates: str = Field(default="", description="The kind of thing that it creates.")
    updates: str = Field(default="", description="The kind of thing that it changes.")
    deletes: str = Field(default="", description="The kind of thing that it removes.")
    links: str = _later("The kind of thing that it puts among those of another.")
    unlinks: str = _later("The kind of thing that it takes from those of another.")
    id: str = Field(default="", description="The parameter that says which thing.")
    fields: Mapping[str, str] = Field(
        default_factory=dict,
        description=(
            "The field that each parameter gives its value to; a list where both are called alike."
        ),
        json_schema_extra={
            "anyOf": [{"type": "object"}, {"type": "array", "items": {"type": "string"}}]
        },
    )
    sets: Mapping[str, JsonValue] = Field(
        default_factory=dict, description="Fields that get this value."
    )
    unique: tuple[str, ...] = Field(
        default=(), description="Fields whose value no two things share."
    )
    each: str = _later("The parameter that is a list, to each entry of which it is done.")
    to: str = _later(
        "The parameter that names the other thing, where things are put among those of another."
    )
    under: str = _later(
        "What the other thing's list is called, in the singular; as the kind unless set."
    )
    parts: Literal["", "deletes", "refuses", "keeps"] = _later(
        "What becomes of what belongs to a thing that is deleted: it is deleted too, the call is"
        " refused, or it is kept."
    )

    @model_validator(mode="before")
    @classmethod
    def _with_named_fields(cls, stated: object) -> object:
        if isinstance(stated, dict) and isinstance(stated.get("fields"), list | tuple):
            return {**stated, "fields": {str(name): str(name) for name in stated["fields"]}}
        return stated

    @model_validator(mode="after")
    def _does_one_thing(self) -> Self:
        stated_deeds = [name for name in _DEEDS if getattr(self, name)]
        if len(stated_deeds) != 1:
            known = f"{', '.join(_DEEDS[:-1])} and {_DEEDS[-1]}"
            raise ValueError(
                f"it says {' and '.join(stated_deeds) or 'none'} of {known}, and needs one of them"
            )
        if not (self.creates or self.updates) and (self.fields or self.sets or self.unique):
            raise ValueError(f"what {stated_deeds[0]} has no fields to be given, set or unique")
        if self.reads and (self.id or self.each):
            raise ValueError("what reads has no `id` and no `each`")
        if (self.to or self.under) and not (self.links or self.unlinks):
            raise ValueError(
                f"what {stated_deeds[0]} has no `to` and no `under`; what links or unlinks has"
            )
        if self.parts and not self.deletes:
            raise ValueError(f"what {stated_deeds[0]} says nothing of `parts`; what deletes may")
        return self

    @property
    def deed(self) -> Deed:
        """The deed that is stated."""
        return next(deed for deed in _DEEDS if getattr(self, deed))

    @property
    def kind(self) -> str:
        """The kind of the affected thing, or "" if there is none."""
        return self.creates or self.updates or self.deletes or self.links or self.unlinks


class SimulatedSettings(EnvironmentPart, ToolChoice):
    """A world made of a document's own schemas.

    `path` is a file or folder relative to the recipe, or `catalog` names a catalog. The tools
    are chosen as others are (include, exclude, rename, categories, constants). `effects` say
    what calls do to the world where method, path and schemas don't tell, `rules` what its things
    are like and how they are found.
    """

    environment: Literal["simulated"] = Field(
        description="A world made of a document's own schemas."
    )
    name: str = Field(
        default="simulated", pattern=NAME, description="The name that samples call it by."
    )
    format: str = Field(
        default="openapi", alias="import", description="The format of the file or folder."
    )
    path: Path | None = Field(
        default=None, description="The file or folder to read tools from, relative to the recipe."
    )
    catalog: str = Field(
        default="", description="The name of a catalog in the warehouse, in the place of a path."
    )
    seed: int = Field(default=0, description="All that the world holds depends on it.")
    effects: Mapping[str, Effect] = Field(
        default_factory=dict, description="What calls of a tool, by its name, do to the world."
    )
    rules: Path | None = Field(
        default=None,
        exclude_if=not_,
        description=(
            "A file of what the document can't tell: what there is, how it is found, what it costs."
        ),
    )
    response_size: str = Field(
        default="",
        exclude_if=not_,
        description="How much a response holds: a size of the rules, their first unless set.",
    )
    sentences: SentencePaths = ()

    @property
    def stated(self) -> dict[str, JsonValue]:
        """The settings that enter a build's key; rules count by content, wherever they are."""
        stated: dict[str, JsonValue] = self.model_dump(mode="json")
        if self.rules is not None:
            stated["rules"] = content_key(self.rules.read_text(encoding="utf-8", errors="replace"))
        return stated

    @property
    def described_as(self) -> str:
        """The description's name in the store; answers are recomputed rather than stored."""
        return f"simulated {self.name}"

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if (self.path is None) == (not self.catalog):
            raise ValueError(
                "a simulated environment takes its tools from a `path` or from a `catalog`, and"
                " needs one of them"
            )
        return self


class WorldSettings(EnvironmentPart):
    """A recipe's settings of a world that callwright does not ship; subclasses add the world's."""

    environment: str = Field(description="The name of the world.")
    name: str = Field(
        default="", description="The name that samples call it by; the world's own unless set."
    )
    sentences: SentencePaths = ()

    @model_validator(mode="before")
    @classmethod
    def _named(cls, given: Any) -> Any:  # noqa: ANN401 - not validated yet
        return {"name": given.get("environment"), **given} if isinstance(given, dict) else given

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema for settings of any known outside world, checking only its name."""
        if cls is not WorldSettings:
            return handler(core)
        names: list[JsonValue] = [*other_worlds()]
        if not names:
            return {"not": {}}
        return {"properties": {"environment": {"enum": names}}, "required": ["environment"]}


Secret = Callable[[str], str]  # the value of a variable of the environment, "" where it is not set


class World(NamedTuple):
    """A type of environment: its word in recipes, its settings, and the function that opens it.

    `open` is given the settings, the file in which answers may be kept, and a lookup for
    secrets. `alone` are the settings that it may have been opened with if only its name is
    known, as with samples.
    """

    name: str
    settings: type[EnvironmentPart]
    open: Callable[[Any, Path, Secret], Environment]  # each world has settings of its own class
    alone: tuple[EnvironmentPart, ...] = ()


def _problem_of_world(world: World, _others: Sequence[World]) -> str:
    if hasattr(world.settings, "model_validate"):
        return ""
    return "its `settings` are no class of WorldSettings"


WORLDS = Registry(
    "environments", World, "environment", "environments", problem_of=_problem_of_world
)


def other_worlds() -> tuple[str, ...]:
    """Return the names of the worlds that are not packaged with callwright."""
    return tuple(name for name in WORLDS if not WORLDS.is_own(name))


def settings_of_world(stated: Mapping[str, Any]) -> WorldSettings | None:
    """Read a recipe's settings of a world outside callwright; None if it names no such world.

    Raises ValueError with what is wrong and which settings exist.
    """
    if stated.get("environment") not in other_worlds():
        return None
    form = WORLDS.named(stated["environment"]).settings
    try:
        settings = form.model_validate(stated)
    except ValidationError as error:
        problem = f"{first_problem(error)}; its settings are {', '.join(form.model_fields)}"
        raise ValueError(problem) from error
    if not isinstance(settings, WorldSettings):
        raise ValueError(
            f"the settings of {stated['environment']!r} are {form.__name__}, no class of"
            " WorldSettings"
        )
    return settings


def _read_already(value: object, _handler: object) -> WorldSettings:
    """Accept settings read with their own class, leaving other errors to other tool sources."""
    if isinstance(value, WorldSettings):
        return value
    raise PydanticKnownError("model_type", {"class_name": "WorldSettings"})


EnvironmentSettings = (
    Annotated[
        TravelSettings | HttpSettings | McpSettings | RecordedSettings | SimulatedSettings,
        Field(discriminator="environment"),
    ]
    | Annotated[SerializeAsAny[WorldSettings], WrapValidator(_read_already)]
)


def located(settings: EnvironmentSettings, folder: Path) -> EnvironmentSettings:
    """Return the same settings with relative paths resolved against `folder`."""
    absolute_paths: dict[str, object] = {
        name: (folder / value).absolute() for name, value in settings if isinstance(value, Path)
    }
    reset = settings.reset if isinstance(settings, McpSettings) else None
    if reset is not None and reset.folder is not None:
        absolute_paths["reset"] = reset.model_copy(
            update={"folder": (folder / reset.folder).absolute()}
        )
    return settings.model_copy(update=absolute_paths)
