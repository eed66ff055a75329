"""Planning what users want: goals whose calls hang together and succeed, on average as deep and wide as wished."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from hashlib import blake2b
from random import Random
from typing import NamedTuple

from callwright.generators.environments.protocol import Environment
from callwright.generators.environments.vocabularies import Vocabulary, Wish, vocabulary_of
from callwright.generators.multi_step import CROSS_TASK, TASK, TASKS
from callwright.generators.multi_step.disambiguation import single_path
from callwright.generators.multi_step.filling import Filling
from callwright.generators.multi_step.resolving import steps_of
from callwright.generators.multi_step.sketches import GoalSketch, Sketcher, Take, ToolGraph, is_making
from callwright.generators.multi_step.tasks import BegunWorld, is_sound
from callwright.language.names import deed_of, function_words
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import DEFAULT_LANGUAGE, Goal, Language, Link, Origin, Picked, PlannedCall

CROSS = "Cross"
STAGE = "goals"


class Shape(NamedTuple):
    """How many steps and calls a goal has on average."""

    steps: float
    calls: float


# (ComplexFuncBench, table 3)
PAPER: Mapping[str, Shape] = {
    "Hotels": Shape(3.33, 4.29),
    "Flights": Shape(3.33, 5.33),
    "Car Rental": Shape(2.87, 4.57),
    "Attraction": Shape(2.86, 3.6),
    CROSS: Shape(3.5, 6.0),
}
OTHERS = Shape(3.0, 4.0)
_OFFERED = 60  # sketches drawn for a goal; the one that suits the averages best is filled
_FAILURES = 400  # sketches in a row that could not be filled, until there is nothing new to be had
_LAST = frozenset({"Car Rental", "Taxi"})
_FEWEST_CALLS = 2
_FEWEST_DOMAINS = 2  # of a goal over several
_MOST_SHOWN = 4
_MOST_CALLS = 11
_REPETITION = 0.4


async def plan_goals(
    domain: str,
    language: Language,
    count: int,
    environment: Environment,
    *,
    seed: int,
    variants: int = 10,
) -> AsyncIterator[Goal]:
    """`count` different goals of a domain, or of several at once for "Cross"; fewer where the world has no more.

    In a world that has begun they are tasks, which change it.

    Raises ConfigurationError where the environment has no tools for the domain.
    """
    plan = _Plan(domain, language, environment, seed)
    async for calls in plan.goals(count):
        yield Goal(
            environment=environment.name,
            language=language,
            domain=domain,
            calls=calls,
            candidates=plan.candidates(calls),
            variants=variants,
            seed=plan.seed_of(calls),
            kind=plan.kind,
            origin=Origin(stage=STAGE, parents=plan.tools_of(calls), seed=seed),
        )


def find_obstacle(domain: str, language: Language, environment: Environment) -> str:
    """Why a domain allows no goal: which link is missing."""
    return f"{domain} ({language}): {_Plan(domain, language, environment, 0).obstacle()}"


class _Plan:
    def __init__(self, domain: str, language: Language, environment: Environment, seed: int) -> None:
        self._domain, self._language, self._environment, self._seed = domain, language, environment, seed
        self._graph = ToolGraph(environment, () if domain == CROSS else (domain,), language)
        if not self._graph.tools:
            known = ", ".join(sorted({tool.category for tool in environment.tools}))
            raise ConfigurationError(
                f"The environment {environment.name!r} has no tools for the domain {domain!r} in {language!r}; it has {known}."
            )
        self._vocabulary: Vocabulary = vocabulary_of(environment)
        is_known = domain in PAPER and any(tool.category in PAPER for tool in environment.tools)
        self._shape = PAPER[domain] if is_known else OTHERS
        self._goals = self._steps = self._calls = 0  # how many there are, with how many in all
        self._used: Counter[str] = Counter()
        self._given: dict[str, list[Link]] = {}
        for link in environment.links:
            self._given.setdefault(link.source, []).append(link)
        self._makers = {name for name in self._graph.tools if is_making(name)}
        self._wanted = [name for name in self._graph.tools if self._is_wanted(name)]
        self.kind, self._writing = "", list[str]()
        if isinstance(environment, BegunWorld):
            self.kind, world = CROSS_TASK if domain == CROSS else TASK, environment.inner
            self._writing = [name for name in self._wanted if world.writes(name)]
            if domain == CROSS and len(self._domains(self._writing)) < _FEWEST_DOMAINS:
                self._writing = []
            self._wanted = [name for name in self._wanted if name not in world.unclear] if self._writing else []

    def _is_wanted(self, name: str) -> bool:
        """Whether a goal can be about the tool: it needs something of another's response, and is no list of choices."""
        graph, tool = self._graph, self._graph.tools[name]
        offers = {self._vocabulary.element(link.tool, link.parameter) for link in self._given.get(name, ())}
        if offers & {"filter", "sort"} or graph.is_lookup(name):
            return False
        members = [f"{one}[].{member}" for one in tool.required for member in graph.members(name, one)]
        is_linked = any(graph.links(name, one) for one in (*tool.required, *members))
        return is_linked or any(graph.refers(name, one) for one in tool.properties)

    async def goals(self, count: int) -> AsyncIterator[tuple[PlannedCall, ...]]:
        seen: set[bytes] = set()
        failures = attempt = 0
        while self._wanted and self._goals < count and failures < _FAILURES:
            attempt += 1
            rng = Random(f"{self._seed} {self._domain} {attempt}")
            calls = await self._next(rng)
            content = blake2b(repr(calls).encode(), digest_size=16).digest()
            if calls is None or content in seen:
                failures += 1
                continue
            failures = 0
            seen.add(content)
            self._goals += 1
            goal = Goal(environment="", language=DEFAULT_LANGUAGE, domain="", calls=tuple(calls), candidates=())
            self._steps += max(steps_of(goal)) + 1
            self._calls += len(calls)
            self._used.update(call.tool for call in calls if call.wanted)
            yield calls

    async def _next(self, rng: Random) -> tuple[PlannedCall, ...] | None:
        offered = [sketch for _ in range(_OFFERED) if (sketch := self._sketch(rng)) is not None]
        for sketch in sorted(offered, key=self._badness)[:3]:
            filling = Filling(self._graph, self._vocabulary, self._environment, rng)
            calls = await filling.fill(sketch)
            if calls is not None and not self._repeats(calls) and await self._is_provable(calls):
                return calls
        return None

    def _repeats(self, calls: Sequence[PlannedCall]) -> bool:
        """Whether a thing that a call makes is given by another one what it has been given already."""
        return any(
            call.arguments.get(name) == source
            for call in calls
            for taken in call.arguments.values()
            if isinstance(taken, Picked) and calls[taken.call].tool in self._makers
            for name, source in calls[taken.call].arguments.items()
        )

    async def _is_provable(self, calls: tuple[PlannedCall, ...]) -> bool:
        """Whether the calls can be made the only shortest path, and those of a task change the world as they stand."""
        keys, environment = self.candidates(calls), self._environment
        goal = Goal(
            environment=environment.name, language=self._language, domain=self._domain, calls=calls, candidates=keys
        )
        found = await single_path(goal, environment, [tool for tool in environment.tools if tool.key in keys])
        as_task = self.kind in TASKS
        return found is not None and is_sound(found.resolved.path, found.strikes, environment, as_task=as_task)

    def _sketch(self, rng: Random) -> GoalSketch | None:
        sketch = Sketcher(self._graph, self._vocabulary.element, rng, crosses=self._domain == CROSS).draw(
            self._wants(rng)
        )
        if sketch is None or not _FEWEST_CALLS <= len(sketch.calls) <= _MOST_CALLS or sketch.steps < _FEWEST_CALLS:
            return None
        about = [
            {(slot.source, slot.mark) for slot in call.slots.values() if isinstance(slot, Take)}
            for call in sketch.calls
        ]
        if any(  # a thing is deleted that another call is about, or makes
            deed_of(next(iter(function_words(call.tool)), "")) == "drop"
            and (
                any(about[at] & other for place, other in enumerate(about) if place != at)
                or any(sketch.calls[source].tool in self._makers for source, _ in about[at])
            )
            for at, call in enumerate(sketch.calls)
        ):
            return None
        tools = [call.tool for call in sketch.calls if not self._writing or call.tool in self._writing]
        if self._domain == CROSS and len(self._domains(tools)) < _FEWEST_DOMAINS:
            return None
        return sketch

    def _wants(self, rng: Random) -> list[str]:
        count = rng.choices((1, 2, 3), (3, 4, 2))[0]
        if self._writing and self._domain == CROSS:
            chosen = rng.sample(self._domains(self._writing), _FEWEST_DOMAINS)
            own = [[name for name in self._writing if self._graph.domain(name) == one] for one in chosen]
            return [*map(rng.choice, own), *(rng.choice(self._wanted) for _ in range(count - _FEWEST_DOMAINS))]
        if self._writing:
            return [rng.choice(self._writing), *(rng.choice(self._wanted) for _ in range(count - 1))]
        if self._domain != CROSS:
            return [rng.choice(self._wanted) for _ in range(count)]
        domains = self._domains(self._wanted)
        # what is ridden to comes after what it is ridden to is known
        chosen = sorted(
            rng.sample(domains, min(len(domains), max(_FEWEST_DOMAINS, count))),
            key=lambda one: (one in _LAST, domains.index(one)),
        )
        return [rng.choice([name for name in self._wanted if self._graph.domain(name) == one]) for one in chosen]

    def _domains(self, tools: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(self._graph.domain(name) for name in tools))

    def _badness(self, sketch: GoalSketch) -> float:
        """How far the averages would be off with this sketch, and how often its tools were wanted already."""
        goals = self._goals + 1
        steps = (self._steps + sketch.steps) / goals
        calls = (self._calls + len(sketch.calls)) / goals
        wanted = [call.tool for call in sketch.calls if call.wanted]
        often = sum(self._used[tool] for tool in wanted) / len(wanted)
        usual = sum(self._used.values()) / max(1, len(self._wanted))
        apart = abs(steps - self._shape.steps) + abs(calls - self._shape.calls)
        return goals * apart + _REPETITION * often / max(1.0, usual)

    def obstacle(self) -> str:
        """Why no goal can be planned: what no result gives and no user would say, or that no tool takes another's results."""
        if self._wanted:
            return (
                "its tools' results do not let one thing be told from the others, so no goal in steps can be planned."
            )
        if self.kind == CROSS_TASK:
            return "no two domains have a tool that changes them and takes what another one returns, so no task is of both."
        if self.kind == TASK:
            return "no tool that changes its world takes what another tool returns, so no task can be planned."
        missing: list[str] = []  # what no result gives and no user would say
        for tool, name in ((one.name, name) for one in self._graph.tools.values() for name in one.required):
            element, schema = self._vocabulary.element(tool, name), self._graph.schema(tool, name)
            if not self._graph.links(tool, name) and "default" not in schema:
                wish, trip = Wish(element, "main", tool, name, 0, schema), self._vocabulary.trip(Random(0))
                missing += [f"`{name}` of {tool}"] if element == "identifier" or trip.say(wish) is None else []
        if not missing:
            return "no tool requires what another one returns, so no goal in steps can be planned."
        more = f" and {len(missing) - _MOST_SHOWN} more" if len(missing) > _MOST_SHOWN else ""
        shown = ", ".join(missing[:_MOST_SHOWN])
        return f"no result gives {shown}{more}, which no user would say; no goal in steps can be planned."

    def candidates(self, calls: tuple[PlannedCall, ...]) -> tuple[str, ...]:
        """The keys of every tool of the domains that the calls are of."""
        domains = {self._graph.domain(call.tool) for call in calls}
        return tuple(tool.key for tool in self._graph.tools.values() if tool.category in domains)

    def tools_of(self, calls: tuple[PlannedCall, ...]) -> tuple[str, ...]:
        """The keys of the tools that are called."""
        return tuple(dict.fromkeys(self._graph.tools[call.tool].key for call in calls))

    def seed_of(self, calls: tuple[PlannedCall, ...]) -> int:
        """A seed of a goal's own."""
        return Random(f"{self._seed} {calls!r}").randrange(2**31)
