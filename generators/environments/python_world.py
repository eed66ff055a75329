"""Worlds written in Python: a class with typed state, whose marked methods are the tools.

    class Library(PythonWorld[Shelves, WorldSettings]):
        def start(self, rng: Random) -> Shelves: ...

        @writes
        def lend_book(self, book_id: str, member: str) -> Book:
            \"\"\"Lend a book to a member.\"\"\"

A tool is made of a method as of any function (`tool_from`): its types, defaults and docstring. What
the method returns is the response, and `RefusalError` refuses the call: nothing of it is kept. The
state is a pydantic model; each of its fields that is a `dict[str, …]` of models holds things of a
kind by their ids.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, JsonValue, ValidationError, validate_call
from pydantic_core import to_jsonable_python

from callwright.generators.catalogs.python_tools import tool_from
from callwright.generators.environments.endpoints import endpoints_of
from callwright.generators.environments.episodes import (
    Fields,
    Overlaid,
    RefusalError,
    ThingKey,
    WorldEpisode,
    WorldState,
    state_of,
)
from callwright.generators.environments.linking import find_links, words_of
from callwright.generators.environments.protocol import (
    CallResponse,
    Environment,
    Secret,
    World,
    WorldSettings,
    without_tool,
)
from callwright.generators.tools import argument_problems
from callwright.warehouse.errors import CallwrightError, ConfigurationError, RecordError
from callwright.warehouse.records import Call, Link, Tool
from callwright.warehouse.registry import blame, guarded

State = TypeVar("State", bound=BaseModel)
Settings = TypeVar("Settings", bound=WorldSettings)
Method = TypeVar("Method", bound=Callable[..., Any])
_MARK = "__callwright_writes__"
_STARTS = 8  # beginnings that are kept at hand, of as many seeds
_VALUE = "value"  # the field of what is no thing of a kind
_WORLD = "world"


def reads(method: Method) -> Method:
    """Mark a method as a tool that changes nothing."""
    setattr(method, _MARK, False)
    return method


def writes(method: Method) -> Method:
    """Mark a method as a tool that changes the state."""
    setattr(method, _MARK, True)
    return method


class PythonWorld(Generic[State, Settings]):
    """A world to write: `start` returns its first state, marked methods answer and change it.

    Subclass `PythonWorld[State, Settings]` with the class of its state and that of its recipe
    settings, `WorldSettings` if there are no others.
    """

    category: ClassVar[str] = ""  # the domain of its tools, its class's name unless set
    state: State

    def __init__(self, settings: Settings) -> None:
        """Create the world; `settings` are those that a recipe states."""
        self.settings = settings

    def start(self, rng: Random) -> State:
        """Return the first state of the world; `rng` is seeded by the episode's seed."""
        problem = f"{type(self).__name__} has no `start`, which gives the state at first."
        raise NotImplementedError(problem)


def python_world(
    name: str, written: type[PythonWorld[Any, Any]], settings: type[WorldSettings] = WorldSettings
) -> World:
    """Return the row that recipes find a `written` world by: WORLD, in a file or a package."""

    def open_world(stated: WorldSettings, _store: Path, _secret: Secret) -> Environment:
        return PythonEnvironment(written, stated)

    return World(name, settings, open_world)


class _Method(NamedTuple):
    writes: bool
    call: Callable[..., Any]  # its arguments are validated by their types
    written: Callable[..., Any]
    tool: Tool


class PythonEnvironment:
    """A world written in Python; it answers each call of a build in a new episode."""

    unclear: tuple[str, ...] = ()  # what writes is marked

    def __init__(self, written: type[PythonWorld[Any, Any]], settings: WorldSettings) -> None:
        """Read the tools from the class.

        Raises ConfigurationError, which names class and method, if one can't be read.
        """
        self.name, self._written, self._settings = settings.name, written, settings
        self.methods = {one.tool.name: one for one in _methods(written, settings)}
        self.tools: tuple[Tool, ...] = tuple(one.tool for one in self.methods.values())
        self.first = lru_cache(_STARTS)(self._first)

    @property
    def links(self) -> tuple[Link, ...]:
        """The results that provide parameters with values, found by names of things and types."""
        return find_links(endpoints_of(self.tools, [("", "")] * len(self.tools)))

    async def answer(self, call: Call) -> CallResponse:
        """Return the answer of a new episode."""
        return self.begin().answer(call)

    @property
    def seed(self) -> int:
        """The seed of the settings, or 0 if they have none."""
        return int(getattr(self._settings, "seed", 0))

    def begin(self, seed: int | None = None) -> "PythonEpisode":
        """Begin an episode, by default with the world's own seed."""
        return PythonEpisode(self, self.seed if seed is None else seed)

    def writes(self, tool: str) -> bool:
        """Whether a tool's method is marked as writing."""
        return tool in self.methods and self.methods[tool].writes

    def started(self, seed: int) -> PythonWorld[Any, Any]:
        """Return the world in its first state, which shares nothing with other episodes."""
        world = self._written(self._settings)
        world.state = deepcopy(self.first(seed))
        return world

    def _first(self, seed: int) -> BaseModel:
        """Return the first state under a seed, which must not be changed."""
        with guarded(f"environment {self.name!r}", self._written.start):
            start_state = self._written(self._settings).start(Random(seed))
        if not isinstance(start_state, BaseModel):
            raise ConfigurationError(
                f"`start` of {self._written.__name__} gives {start_state!r}, no pydantic model."
            )
        return start_state


class PythonEpisode(WorldEpisode):
    """One run in a Python world."""

    def __init__(self, environment: PythonEnvironment, seed: int) -> None:
        self._environment, self._seed, self._clock = environment, seed, 0
        self._world = environment.started(seed)

    @property
    def state(self) -> WorldState:
        """The differences between the things of the state and their first state."""
        first, now = _things(self._environment.first(self._seed)), _things(self._world.state)
        return state_of(first, now, self._clock)

    def restore(self, snapshot: WorldState) -> None:
        """Return to an earlier state of this world. Raises RecordError for any other state."""
        first = self._environment.first(self._seed)
        whole = _with(first.model_dump(mode="json"), snapshot.things, _kinds(type(first)))
        try:
            self._world.state = type(first).model_validate(whole)
        except ValidationError as error:
            problem = f"This is no state of {self._environment.name!r} ({error})."
            raise RecordError(problem) from error
        self._clock = snapshot.clock

    def answer(self, call: Call) -> CallResponse:
        """Return the method's result; a refused call leaves the state as it was."""
        method = self._environment.methods.get(call.tool)
        if method is None:
            return without_tool(self._environment.name, call)
        problems = argument_problems(method.tool, call.arguments, partial=False)
        if problems:
            return CallResponse(problem=" ".join(problems), error="invalid_value")
        state_before = deepcopy(self._world.state) if method.writes else None
        try:
            result: JsonValue = to_jsonable_python(method.call(self._world, **call.arguments))
        except (ValidationError, RefusalError) as error:
            self._world.state = self._world.state if state_before is None else state_before
            return CallResponse(problem=str(error), error=getattr(error, "error", "invalid_value"))
        except CallwrightError:
            raise
        except Exception as error:
            self._world.state = self._world.state if state_before is None else state_before
            raise RecordError(f"{blame(f'tool {call.tool!r}', method.written, error)}.") from error
        self._clock += 1
        return CallResponse(result)


def _methods(written: type[PythonWorld[Any, Any]], settings: WorldSettings) -> Iterator[_Method]:
    members = {name: one for base in reversed(written.__mro__) for name, one in vars(base).items()}
    marked = {name: getattr(one, _MARK) for name, one in members.items() if hasattr(one, _MARK)}
    if not marked:
        problem = f"{written.__name__} has no method that is marked by @reads or @writes."
        raise ConfigurationError(problem)
    with guarded(f"environment {settings.name!r}", written.__init__):
        world = written(settings)
    for name, is_writing in marked.items():
        tool = tool_from(getattr(world, name), category=written.category or written.__name__)
        own = tool.with_changes(source=f"environment:{settings.name}")
        yield _Method(is_writing, validate_call(members[name]), members[name], own)


def _kinds(state: type[BaseModel]) -> Mapping[str, str]:
    """Return the fields that hold things by their ids, by kind: "book" is in `books`."""
    return {
        " ".join(words_of(name)): name
        for name, field in state.model_fields.items()
        if (parts := get_args(field.annotation)) and parts[0] is str and inspect.isclass(parts[1])
        if issubclass(parts[1], BaseModel)
    }


def _things(state: BaseModel) -> dict[ThingKey, Fields]:
    dumped, found = state.model_dump(mode="json"), dict[ThingKey, Fields]()
    for kind, name in _kinds(type(state)).items():
        found |= {ThingKey(kind, id_): fields for id_, fields in dumped.pop(name).items()}
    return found | {ThingKey(_WORLD, name): {_VALUE: value} for name, value in dumped.items()}


def _with(
    dumped: dict[str, Any], things: Mapping[ThingKey, Overlaid], kinds: Mapping[str, str]
) -> dict[str, Any]:
    """Return a dumped state with its things changed by an overlay."""
    for key, overlaid in things.items():
        if key.kind == _WORLD:
            dumped[key.id] = (overlaid.after or {}).get(_VALUE)
        elif key.kind in kinds and overlaid.after is None:
            dumped[kinds[key.kind]].pop(key.id, None)
        elif key.kind in kinds and overlaid.after is not None:
            held = dumped[kinds[key.kind]]
            held[key.id] = {**held.get(key.id, {}), **overlaid.after}
    return dumped
