"""Make multi-step samples: goals of linked successful calls, then paths in an environment.

Goals have the wanted depth and width on average (ComplexFuncBench 2.1).
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from itertools import product
from math import ceil
from random import Random
from typing import NamedTuple

from callwright.generators.environments.document_world import DocumentWorld
from callwright.generators.environments.episodes import (
    StatefulWorld,
    draw_seed,
    is_changeable,
    unwrapped,
)
from callwright.generators.environments.joined import JoinedEnvironment, JoinedWorld
from callwright.generators.environments.protocol import Environment
from callwright.generators.environments.vocabularies import Vocabulary, Wish, vocabulary_of
from callwright.generators.families import Family, Kind, Order, Share, Traits, shared_evenly
from callwright.generators.multi_step import (
    CROSS_TASK,
    GROUP,
    ONE_DOMAIN,
    SEVERAL_DOMAINS,
    TASK,
    TASKS,
)
from callwright.generators.multi_step.correction import correct_paths, trace_goals
from callwright.generators.multi_step.disambiguation import disambiguate, single_path
from callwright.generators.multi_step.filling import Filling
from callwright.generators.multi_step.generalisation import generalise
from callwright.generators.multi_step.resolving import steps_of
from callwright.generators.multi_step.samples import CROSS, kind_of_domain
from callwright.generators.multi_step.sketches import GoalSketch, Sketcher, Take
from callwright.generators.multi_step.tasks import BegunWorld, is_sound
from callwright.generators.multi_step.tool_graph import SHARED, ToolGraph, is_making
from callwright.generators.multi_step.wording import word_goals
from callwright.generators.stages import Step, in_a_row
from callwright.generators.telling_apart import unclear_tools
from callwright.generators.whole_calls import state_rule_of
from callwright.language.names import deed_of, function_words
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Goal, Language, Link, Origin, Picked, PlannedCall, Tool

STAGE = "goals"


class Shape(NamedTuple):
    """The average number of steps and calls in a goal."""

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
_FAILURES = 400  # attempts in a row without a new goal after which a domain is exhausted
_FIRST_FAILURES = 100  # the same while there is no goal yet
_TRIES_IN_A_WORLD = 4
_LAST = frozenset({"Car Rental", "Taxi"})  # domains that need to know where the others lead
_FEWEST_CALLS = 2
_MOST_CALLS = 11
_FEWEST_DOMAINS = 2  # in a goal across domains
_MOST_SHOWN = 4  # missing parameters that an error names
_REPETITION = 0.4  # what an overused tool weighs, against one step or call off the average


async def plan_goals(
    domain: str,
    language: Language,
    count: int,
    environment: Environment,
    *,
    seed: int,
    worlds: int = 0,
) -> AsyncIterator[Goal]:
    """Yield up to `count` different goals of a domain, or of several at once for "Cross".

    There are fewer if the world has no more. In a world that has begun they are tasks, which
    change it; each is sought in a world of its own, or in one of so many `worlds`. Raises
    ConfigurationError if the environment has no tools for the domain.
    """
    async for goal in _Plan(domain, language, environment, seed, worlds).goals(count):
        yield goal


def find_obstacle(domain: str, language: Language, environment: Environment) -> str:
    """Return why a domain allows no goal, such as a missing link."""
    return f"{domain} ({language}): {_Plan(domain, language, environment, 0).obstacle()}"


class _Plan:
    def __init__(
        self, domain: str, language: Language, environment: Environment, seed: int, worlds: int = 0
    ) -> None:
        self._domain, self._language = domain, language
        self._environment, self._seed = environment, seed
        self._vocabulary: Vocabulary = vocabulary_of(environment)
        self._worlds = worlds
        self._world_at = lru_cache(1)(self._world)
        world = environment.inner if isinstance(environment, BegunWorld) else None
        if world is None:
            writing_tools = []
        else:
            writing_tools = [tool.name for tool in environment.tools if world.writes(tool.name)]
        domains = () if domain == CROSS else (domain,)
        self._bound = _bound_tools(environment)
        sources = (*writing_tools, *self._bound)
        self._graph = ToolGraph(environment, domains, language, self._vocabulary.element, sources)
        if not self._graph.tools:
            known = ", ".join(sorted({tool.category for tool in environment.tools}))
            raise ConfigurationError(
                f"The environment {environment.name!r} has no tools for the domain {domain!r} in"
                f" {language!r}; it has {known}."
            )
        is_known = domain in PAPER and any(tool.category in PAPER for tool in environment.tools)
        self._shape = PAPER[domain] if is_known else OTHERS
        self._goals = self._steps = self._calls = 0  # how many there are, with how many in all
        self._used: Counter[str] = Counter()
        self._given: dict[str, list[Link]] = {}
        for link in environment.links:
            self._given.setdefault(link.source, []).append(link)
        self._makers = {name for name in self._graph.tools if is_making(name)}
        self._wanted = [
            name
            for name in self._graph.tools
            if self._is_wanted(name) and name not in {*self._graph.lent, *self._bound}
        ]
        self.kind, self._writing = "", list[str]()
        if world is not None:
            self.kind = CROSS_TASK if domain == CROSS else TASK
            self._writing = [name for name in self._wanted if world.writes(name)]
            if domain == CROSS and len(self._domains(self._writing)) < _FEWEST_DOMAINS:
                self._writing = []
            self._wanted = (
                [name for name in self._wanted if name not in world.unclear]
                if self._writing
                else []
            )

    def _is_wanted(self, name: str) -> bool:
        """Whether the tool can be a goal: it needs another's response, and lists no choices."""
        graph, tool = self._graph, self._graph.tools[name]
        offers = {
            self._vocabulary.element(link.tool, link.parameter)
            for link in self._given.get(name, ())
        }
        if offers & {"filter", "sort"} or graph.is_lookup(name):
            return False
        members = [
            f"{one}[].{member}" for one in tool.required for member in graph.members(name, one)
        ]
        is_linked = any(graph.links(name, one) for one in (*tool.required, *members))
        return is_linked or any(graph.refers(name, one) for one in tool.properties)

    async def goals(self, count: int) -> AsyncIterator[Goal]:
        seen: set[bytes] = set()
        failures = attempt = number = 0
        while (
            self._wanted
            and self._goals < count
            and failures < (_FAILURES if seen else _FIRST_FAILURES)
        ):
            attempt += 1
            rng = Random(f"{self._seed} {self._domain} {attempt}")
            goal = await self._next(rng, number)
            content = blake2b(repr(goal and goal.calls).encode(), digest_size=16).digest()
            if goal is None or content in seen:
                failures += 1
                if not seen and failures == _FIRST_FAILURES // 2:
                    self._graph.tell_ids()
                number += failures % _TRIES_IN_A_WORLD == 0
                continue
            failures, number = 0, number + 1
            seen.add(content)
            self._goals += 1
            self._steps += max(steps_of(goal)) + 1
            self._calls += len(goal.calls)
            self._used.update(call.tool for call in goal.calls if call.wanted)
            yield goal

    def _world(self, number: int) -> Environment:
        """Return a world to seek a goal in; those of one seed begin with the environment's own."""
        environment = self._environment
        if not isinstance(environment, BegunWorld) or environment.is_alone:
            return environment
        name, own = environment.name, environment.inner.seed
        if not self._worlds:
            told = (self._seed, name, self._domain, self._language, number)
            return environment.at(draw_seed("task", own, *told))
        at = number % self._worlds
        return environment.at(draw_seed("world", own, name, at)) if at else environment

    async def _next(self, rng: Random, number: int) -> Goal | None:
        """Return a goal in the world of this number, or None if none of the offered is possible."""
        environment = self._world_at(number)
        offered = [sketch for _ in range(_OFFERED) if (sketch := self._sketch(rng)) is not None]
        for sketch in sorted(offered, key=self._badness)[:3]:
            filling = Filling(self._graph, vocabulary_of(environment), environment, rng)
            calls = await filling.fill(sketch)
            if (
                calls is not None
                and not self._repeats(calls)
                and await self._is_provable(goal := self._goal(calls, environment), environment)
            ):
                return goal
        return None

    def _goal(self, calls: tuple[PlannedCall, ...], environment: Environment) -> Goal:
        """Return the goal of these calls, with all tools of their domains as candidates.

        Tools lent to a call are candidates too.
        """
        graph = self._graph
        domains = {graph.domain(call.tool) for call in calls if call.tool not in graph.lent}
        called = dict.fromkeys(graph.tools[call.tool].key for call in calls)
        shown = [
            tool.key
            for tool in graph.tools.values()
            if tool.category in domains or tool.key in called
        ]
        return Goal(
            environment=environment.name,
            language=self._language,
            domain=self._domain,
            calls=calls,
            candidates=tuple(shown),
            seed=Random(f"{self._seed} {calls!r}").randrange(2**31),
            kind=self.kind,
            world=environment.inner.seed if isinstance(environment, BegunWorld) else None,
            origin=Origin(stage=STAGE, parents=tuple(called), seed=self._seed),
        )

    def _repeats(self, calls: Sequence[PlannedCall]) -> bool:
        """Whether a call passes a created thing a value that it was already created with."""
        return any(
            call.arguments.get(name) == source
            for call in calls
            for taken in call.arguments.values()
            if isinstance(taken, Picked) and calls[taken.call].tool in self._makers
            for name, source in calls[taken.call].arguments.items()
        )

    async def _is_provable(self, goal: Goal, environment: Environment) -> bool:
        """Whether the calls can be made the only shortest path and, for tasks, change the world."""
        tools = [tool for tool in environment.tools if tool.key in goal.candidates]
        found = await single_path(goal, environment, tools)
        as_task = self.kind in TASKS
        return found is not None and is_sound(
            found.resolved.path, found.strikes, environment, as_task=as_task
        )

    def _sketch(self, rng: Random) -> GoalSketch | None:
        sketch = Sketcher(
            self._graph, self._vocabulary.element, rng, crosses=self._domain == CROSS
        ).draw(self._wants(rng))
        if (
            sketch is None
            or not _FEWEST_CALLS <= len(sketch.calls) <= _MOST_CALLS
            or sketch.steps < _FEWEST_CALLS
        ):
            return None
        if self._deletes_what_is_needed(sketch):
            return None
        tools = [
            call.tool for call in sketch.calls if not self._writing or call.tool in self._writing
        ]
        if self._domain == CROSS and len(self._domains(tools)) < _FEWEST_DOMAINS:
            return None
        return sketch

    def _deletes_what_is_needed(self, sketch: GoalSketch) -> bool:
        """Whether a call deletes a thing that another call of the sketch is about, or makes."""
        things = [
            {(slot.source, slot.mark) for slot in call.slots.values() if isinstance(slot, Take)}
            for call in sketch.calls
        ]
        for at, call in enumerate(sketch.calls):
            if deed_of(next(iter(function_words(call.tool)), "")) != "drop":
                continue
            others = [one for place, one in enumerate(things) if place != at]
            is_made_here = any(sketch.calls[maker].tool in self._makers for maker, _ in things[at])
            if is_made_here or any(things[at] & one for one in others):
                return True
        return False

    def _wants(self, rng: Random) -> list[str]:
        """Draw the one to three tools that a goal is to end in; a task's first one writes."""
        count = rng.choices((1, 2, 3), (3, 4, 2))[0]
        if self._writing and self._domain == CROSS:
            chosen = rng.sample(self._domains(self._writing), _FEWEST_DOMAINS)
            own = [
                [name for name in self._writing if self._graph.domain(name) == one]
                for one in chosen
            ]
            return [
                *map(rng.choice, own),
                *(rng.choice(self._wanted) for _ in range(count - _FEWEST_DOMAINS)),
            ]
        if self._writing:
            return [
                rng.choice(self._writing),
                *(rng.choice(self._wanted) for _ in range(count - 1)),
            ]
        if self._domain != CROSS:
            return [rng.choice(self._wanted) for _ in range(count)]
        domains = self._domains(self._wanted)
        # a ride comes after the place that it leads to
        chosen = sorted(
            rng.sample(domains, min(len(domains), max(_FEWEST_DOMAINS, count))),
            key=lambda one: (one in _LAST, domains.index(one)),
        )
        return [
            rng.choice([name for name in self._wanted if self._graph.domain(name) == one])
            for one in chosen
        ]

    def _domains(self, tools: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(self._graph.domain(name) for name in tools))

    def _badness(self, sketch: GoalSketch) -> float:
        """Return how far the sketch moves the averages off target, plus how used its tools are."""
        goals = self._goals + 1
        steps = (self._steps + sketch.steps) / goals
        calls = (self._calls + len(sketch.calls)) / goals
        wanted = [call.tool for call in sketch.calls if call.wanted]
        often = sum(self._used[tool] for tool in wanted) / len(wanted)
        usual = sum(self._used.values()) / max(1, len(self._wanted))
        apart = abs(steps - self._shape.steps) + abs(calls - self._shape.calls)
        return goals * apart + _REPETITION * often / max(1.0, usual)

    def obstacle(self) -> str:
        """Return why no goal can be planned, such as no tool taking another one's results."""
        if self._wanted:
            return (
                "its tools' results do not tell one thing from another, so no goal in steps can be"
                " planned."
            )
        if self.kind == CROSS_TASK:
            return (
                "there are no two domains with a tool each that changes its domain and takes what"
                " another tool returns, so no task can span both."
            )
        if self.kind == TASK:
            return (
                "no tool that changes its world takes what another tool returns, so no task can be"
                " planned."
            )
        if bound := [name for name in self._bound if name in self._graph.tools]:
            return (
                f"{count_of(len(bound), 'tool')} ({bound[0]} …) left out, since no simulated world"
                " knows in which states of its things they work, and no other one requires what"
                " another one returns, so no goal in steps can be planned."
            )
        missing = [
            f"`{name}` of {tool.name}"
            for tool in self._graph.tools.values()
            for name in tool.required
            if self._is_out_of_reach(tool.name, name)
        ]
        if not missing:
            return "no tool requires what another one returns, so no goal in steps can be planned."
        more = f" and {len(missing) - _MOST_SHOWN} more" if len(missing) > _MOST_SHOWN else ""
        shown = ", ".join(missing[:_MOST_SHOWN])
        return f"no result gives {shown}{more}; no goal in steps can be planned."

    def _is_out_of_reach(self, tool: str, parameter: str) -> bool:
        """Whether no result gives a parameter its value, no default does, and no user would."""
        element = self._vocabulary.element(tool, parameter)
        schema = self._graph.schema(tool, parameter)
        if self._graph.links(tool, parameter) or "default" in schema:
            return False
        wish = Wish(element, "main", tool, parameter, 0, schema)
        return element == "identifier" or self._vocabulary.trip(Random(0)).say(wish) is None


def _bound_tools(environment: Environment | StatefulWorld) -> list[str]:
    """Return the tools that no goal asks for.

    They work in some states of a simulated world only, which it can't know, or no request says
    which of several is meant.
    """
    world = unwrapped(environment)
    if isinstance(world, JoinedWorld):
        return [name for one in world.worlds for name in _bound_tools(one)]
    if not isinstance(world, DocumentWorld):
        return []
    unclear = unclear_tools(world.tools)
    is_unknowing = world.rules is None
    return [
        one.name
        for one in world.tools
        if one.key in unclear or (is_unknowing and state_rule_of(one))
    ]


_SOURCE = "environment:"
_UNCHANGEABLE = (
    "calls change none of its environments, so no task can be planned; simulate a document."
)
# a domain with fewer tools has a part in others' goals only, as the paper's taxis have
_OWN_DOMAIN = 4


def share_over_domains(
    kind: Kind, count: int, languages: Sequence[Language], tools: Sequence[Tool]
) -> Iterator[Share]:
    """Divide a kind's count among the languages and the domains that an environment answers for.

    Raises ConfigurationError if there is none.
    """
    answered = [tool for tool in tools if tool.source.startswith(_SOURCE)]
    # A language with tools of its own does not borrow the domains of other languages.
    own = {tool.language for tool in answered} & {*languages}
    of_domain = {(tool.category, tool.language) for tool in answered}
    places = [
        (language, domain)
        for language, domain in product(languages, domains_for(kind, tools))
        if domain == CROSS or language not in own or (domain, language) in of_domain
    ]
    for (language, domain), share in zip(places, shared_evenly(count, len(places)), strict=True):
        yield Share(language, share, domain)


def domains_for(kind: Kind, tools: Sequence[Tool]) -> list[str]:
    """Return the domains that share a kind's count. Raises ConfigurationError if there is none."""
    counts = Counter(tool.category for tool in tools if tool.source.startswith(_SOURCE))
    domains = [
        domain for domain, count in counts.items() if count >= _OWN_DOMAIN and domain != SHARED
    ]
    crosses, about = kind.traits.is_cross_domain, f"Samples of the kind {kind.name!r} need"
    if not counts:
        raise ConfigurationError(
            f"{about} an environment that answers calls, with tools of"
            f" {'several domains' if crosses else 'a domain'}; the recipe's tools have none. Add `-"
            " environment: travel` to its tools, or simulate a document of yours: `-"
            " {environment: simulated, import: openapi, path: api.yaml}`."
        )
    there = ", ".join(f"{domain!r} ({count})" for domain, count in counts.items())
    if crosses and len(counts) < 2:  # noqa: PLR2004 - across domains takes two, small or not
        raise ConfigurationError(
            f"{about} tools of several domains; all tools whose calls are answered are of {there}. "
            f"Ask for {ONE_DOMAIN!r}, or sort the tools by `categories`."
        )
    if not crosses and not domains:
        raise ConfigurationError(
            f"{about} a domain with {_OWN_DOMAIN} tools or more whose calls are answered; there are"
            f" {there}. Put tools that go together into one category by `categories`, or ask for"
            f" {SEVERAL_DOMAINS!r}."
        )
    return [CROSS] if crosses else domains


async def _plan(order: Order) -> AsyncIterator[Goal]:
    """Yield goals for the order's samples; the last one makes fewer if they don't divide."""
    fitting: list[Environment] = []
    for one in order.environments.values():
        domains = {tool.category for tool in one.tools}
        if len(domains) > 1 if order.place == CROSS else order.place in domains:
            fitting.append(one)
    is_task = order.kind.traits.is_task
    if is_task:
        fitting = [one for one in fitting if is_changeable(one)]
        if order.kind.traits.is_cross_domain:
            fitting.sort(key=lambda one: not isinstance(one, JoinedEnvironment))
        fitting = [BegunWorld(one) for one in fitting]
    speaking = [
        one for one in fitting if any(tool.language == order.language for tool in one.tools)
    ]
    environment = next(iter(speaking or fitting), None)
    if environment is None and order.samples and is_task:
        order.misses(f"{order.place} ({order.language}): {_UNCHANGEABLE}", samples=order.samples)
    if environment is None or not order.samples:
        return
    variants, planned = order.variants, 0
    count = ceil(order.samples / variants)
    async for goal in plan_goals(
        order.place, order.language, count, environment, seed=order.seed, worlds=order.worlds
    ):
        left = order.samples - planned * variants
        planned += 1
        yield goal.with_changes(variants=min(variants, left))
    if not planned:
        order.misses(find_obstacle(order.place, order.language, environment), samples=order.samples)


_PATH = Traits("ComplexFuncBench", calls="set", asked="path", is_executed=True, spread="category")
_CROSS = replace(_PATH, is_cross_domain=True)
_TASK = replace(_PATH, paper="", is_task=True)
_CROSS_TASK = replace(_TASK, is_cross_domain=True)

FAMILY = Family(
    "multi_step",
    (
        Kind(
            ONE_DOMAIN, "several steps in one domain, each call answered", GROUP, _PATH, paper=600
        ),
        Kind(
            SEVERAL_DOMAINS,
            "several steps in several domains, each call answered",
            GROUP,
            _CROSS,
            paper=400,
        ),
        Kind(
            TASK,
            "several steps in one domain that change its world, judged by how that ends",
            GROUP,
            _TASK,
        ),
        Kind(
            CROSS_TASK,
            "the same in several worlds or domains, at least two of which are changed",
            GROUP,
            _CROSS_TASK,
        ),
    ),
    stages=in_a_row(
        "multi_step",
        "Goal",
        Step(
            "goal_requests",
            "Word what a user wants as a request that says every value and every condition.",
            "WordedGoal",
            "ComplexFuncBench 2.1.1, A.3",
            word_goals,
            ("word_goal",),
            voiced=("word_goal",),
        ),
        Step(
            "traces",
            "Let a model call step by step, each call answered by the environment.",
            "TracedGoal",
            "ComplexFuncBench 2.1.1",
            trace_goals,
            ("call_next",),
        ),
        Step(
            "corrections",
            "Find the shortest path by search, compare, and reword a request that lacks a detail.",
            "GoalPath",
            "ComplexFuncBench 2.1.2",
            correct_paths,
            ("rewrite_goal",),
        ),
        Step(
            "disambiguation",
            "Remove tools that overlap, and strike entries that leave an argument open.",
            "GoalPath",
            "ComplexFuncBench 2.1.2",
            disambiguate,
        ),
        Step(
            "generalisation",
            "Replace what may be replaced, call again, and prove each variant anew.",
            "Sample",
            "ComplexFuncBench 2.1.3, A.4",
            generalise,
        ),
    ),
    drafts=Goal,
    plan=_plan,
    shares=share_over_domains,
    kind_at=kind_of_domain,
    has_variants=True,
    has_fixed_words=True,
)
