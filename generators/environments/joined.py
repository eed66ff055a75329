"""Join several worlds of a recipe, so that one goal can change two of them.

Each call goes to the world that has its tool, and the joint state holds all their states. Kinds
are prefixed by the name of their world: a repair of the world "workshop" is a "workshop repair",
whatever the others call theirs.
"""

from collections.abc import Callable, Sequence
from functools import cached_property

from pydantic import JsonValue

from callwright.generators.environments.episodes import (
    StatefulWorld,
    ThingKey,
    WorldEpisode,
    WorldState,
    world_of,
)
from callwright.generators.environments.protocol import CallResponse, Environment, without_tool
from callwright.generators.environments.vocabularies import (
    GoalValues,
    Vocabulary,
    Wish,
    vocabulary_of,
)
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call, Link

BETWEEN = "+"  # names of worlds that are joined: "workshop+depot"
_CLOCK = "answered"


class JoinedWorld:
    """Several worlds combined into one (`StatefulWorld`)."""

    def __init__(self, worlds: Sequence[StatefulWorld]) -> None:
        """Join the worlds. Raises ConfigurationError if two have a tool of the same name."""
        self.worlds = tuple(worlds)
        self.name = BETWEEN.join(world.name for world in worlds)
        self.tools = tuple(tool for world in worlds for tool in world.tools)
        # where an episode names another one, all are as far from their own
        self.seed = worlds[0].seed
        self.unclear = tuple(name for world in worlds for name in world.unclear)
        self._places: dict[str, int] = {}
        for at, world in enumerate(self.worlds):
            for tool in world.tools:
                if (other := self._places.setdefault(tool.name, at)) != at:
                    raise ConfigurationError(
                        f"The environments {self.worlds[other].name!r} and {world.name!r} both have"
                        f" a tool {tool.name!r}, so that no task can be one of both; give it"
                        " another name by `rename`."
                    )

    def at(self, tool: str) -> int | None:
        """Return the index of the world that has a tool, or None."""
        return self._places.get(tool)

    def begin(self, seed: int | None = None) -> "_JoinedEpisode":
        """Begin an episode in each world."""
        seeds = self.seeds_at(self.seed if seed is None else seed)
        return _JoinedEpisode(
            self, [world.begin(own) for world, own in zip(self.worlds, seeds, strict=True)]
        )

    def seeds_at(self, seed: int) -> list[int]:
        """Return the seed of each world where the first one has `seed`."""
        return [world.seed + seed - self.seed for world in self.worlds]

    def writes(self, tool: str) -> bool:
        """Whether a call of the tool can change the world that has it."""
        at = self.at(tool)
        return at is not None and self.worlds[at].writes(tool)


class _JoinedEpisode(WorldEpisode):
    """One run in all of the worlds."""

    def __init__(self, world: JoinedWorld, episodes: Sequence[WorldEpisode]) -> None:
        self._world, self._episodes = world, tuple(episodes)
        self._besides: dict[str, int] = {}  # what a layer above all of them counts
        self._prefixes = [f"{one.name} " for one in world.worlds]

    def answer(self, call: Call) -> CallResponse:
        """Return the answer of the world that has the tool."""
        at = self._world.at(call.tool)
        return (
            without_tool(self._world.name, call) if at is None else self._episodes[at].answer(call)
        )

    @property
    def state(self) -> WorldState:
        """The states of all worlds in one; each world's count of calls is kept under its name."""
        states = [
            (prefix, one.state) for prefix, one in zip(self._prefixes, self._episodes, strict=True)
        ]
        things = {
            ThingKey(prefix + key.kind, key.id): one
            for prefix, state in states
            for key, one in state.things.items()
        }
        counters = {
            prefix + name: count
            for prefix, state in states
            for name, count in state.counters.items()
        }
        counters |= {prefix + _CLOCK: state.clock for prefix, state in states if state.clock}
        return WorldState(things, counters | self._besides, sum(state.clock for _, state in states))

    def restore(self, snapshot: WorldState) -> None:
        """Return to an earlier state of these worlds."""
        counted, known = snapshot.counters.items(), tuple(self._prefixes)
        self._besides = {name: count for name, count in counted if not name.startswith(known)}
        for prefix, episode in zip(self._prefixes, self._episodes, strict=True):
            counters = {
                name.removeprefix(prefix): count
                for name, count in counted
                if name.startswith(prefix)
            }
            things = {
                ThingKey(key.kind.removeprefix(prefix), key.id): thing
                for key, thing in snapshot.things.items()
                if key.kind.startswith(prefix)
            }
            clock = counters.pop(_CLOCK, 0)
            episode.restore(WorldState(things, counters, clock))


class JoinedEnvironment(JoinedWorld):
    """Several environments of a recipe as one, for the calls of builds and for episodes."""

    def __init__(self, environments: Sequence[Environment]) -> None:
        """Join the environments.

        Raises ConfigurationError if two have a tool of the same name, or calls can't change one
        of them.
        """
        super().__init__([world_of(one) for one in environments])
        self._environments = tuple(environments)
        self.tools = tuple(tool for one in environments for tool in one.tools)

    @property
    def links(self) -> tuple[Link, ...]:
        """The links within each environment; none of its results has a meaning in another."""
        return tuple(link for one in self._environments for link in one.links)

    async def answer(self, call: Call) -> CallResponse:
        """Return the answer of the environment that has the tool."""
        at = self.at(call.tool)
        if at is None:
            return without_tool(self.name, call)
        return await self._environments[at].answer(call)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What people say in each environment."""
        return self.vocabulary_at(self.seed)

    def vocabulary_at(self, seed: int) -> Vocabulary:
        """Return what people say in each environment, in the world of a seed."""
        words = tuple(map(vocabulary_of, self._environments, self.seeds_at(seed)))

        def of(tool: str) -> Vocabulary:
            return words[self.at(tool) or 0]

        return Vocabulary(
            lambda tool, parameter: of(tool).element(tool, parameter),
            lambda rng: _JoinedValues([one.trip(rng) for one in words], self.at),
            lambda tool, parameter: of(tool).is_replaceable(tool, parameter),
            lambda tool: of(tool).asked(tool),
        )


class _JoinedValues:
    """The values of one goal, from each world's own vocabulary."""

    def __init__(self, values: Sequence[GoalValues], at: Callable[[str], int | None]) -> None:
        self._values, self._at = values, at

    def say(self, wish: Wish) -> JsonValue | None:
        """Return the value for a wish in the world that has its tool."""
        return self._values[self._at(wish.tool) or 0].say(wish)

    def instead_of(self, old: JsonValue, wish: Wish) -> JsonValue | None:
        """Return another value in place of an old one."""
        return self._values[self._at(wish.tool) or 0].instead_of(old, wish)
