"""Plan questions over a domain's whole catalog: tools, values and feeds (CallNavi 4.1).

The n-th plan depends only on the domain, the seed and n, not on how many are wanted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.catalogs.own_catalogs import DOMAINS, load_domains
from callwright.generators.environments.linking import is_opaque
from callwright.generators.families import (
    Family,
    Kind,
    Order,
    Share,
    Traits,
    plan_each,
    tools_for,
    usable_tools,
    value_obstacle,
)
from callwright.generators.kinds import traits_of
from callwright.generators.own_values import OwnValues
from callwright.generators.routing import GROUP, ROUTING_EASY, ROUTING_HARD, ROUTING_MEDIUM
from callwright.generators.routing.tool_graph import DomainGraph, Road, feeds
from callwright.generators.routing.wording import word_routing
from callwright.generators.stages import Step, in_a_row
from callwright.generators.stated_values import QUOTES_PATH
from callwright.generators.tools import are_contradictory, enough_of
from callwright.generators.wording import FREE, ONE, PATHS, SEVERAL
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import (
    Arguments,
    ElementKind,
    Language,
    Origin,
    Picked,
    PlannedCall,
    RoutingPlan,
    StatedValue,
    Tool,
    ValueSource,
)

STAGE = "routing_plans"
# Shares of the published data set's questions by how many calls are due (EVALUATORS 3.1: 207, 48,
# 16 and 1 of two to five).
_MEDIUM_CALLS, _MEDIUM_SHARES = (2, 3, 4), (80, 16, 4)
_HARD_CALLS, _HARD_SHARES = (2, 3, 4, 5), (52, 30, 13, 5)
# single tools, none of which returns what another one takes
NO_CATALOGS = frozenset({"seed", "generated"})
_OWN_DOMAIN = 4  # a category with fewer tools is no catalog to choose from
_SHARED_SHARE = 0.6
_TRIES = 60
_MOST_SHOWN = 4
_STATED: ElementKind = "text"


class _ValueDraw(NamedTuple):
    """The inputs for drawing a plan's values."""

    language: Language
    rng: Random
    own_values: OwnValues

    def fill(self, tool: Tool, names: Sequence[str], known: Arguments | None = None) -> Arguments:
        """Return a value for each of these parameters."""
        return self.own_values.fill(tool, names, self.language, self.rng, known)


def plan_routing(order: Order) -> Iterator[RoutingPlan]:
    """Yield the first plans of an order over the tools of its domain, the order's place.

    Raises ConfigurationError if the domain's tools allow none.
    """
    kind, language, domain, seed = order.kind.name, order.language, order.place, order.seed
    tools = tools_for(
        [tool for tool in catalog_tools(order.tools) if tool.category == domain], language
    )
    if not order.samples:
        return
    usable = usable_tools(order, tools, value_obstacle)
    graph = DomainGraph(usable)
    finals = usable
    if order.kind.traits.difficulty == "hard":
        finals = [tool for tool in usable if graph.roads(tool)]
    if not finals:
        raise ConfigurationError(
            f"In the domain {domain!r} no tool takes what another one returns{_unlinked(tools)}, so"
            f" it allows no samples of the kind {kind!r}."
        )
    turns = Random(f"{seed}:{domain}:{kind}:{language}").sample(finals, len(finals))

    def plan_set(number: int) -> RoutingPlan:
        wording, value_set = divmod(number, order.value_sets)
        planned = plan(wording)
        return with_other_values(planned, tools, order, value_set) if value_set else planned

    def plan(number: int) -> RoutingPlan:
        draw = _ValueDraw(
            language, Random(f"{seed}:{domain}:{kind}:{language}:{number}"), order.own_values
        )
        calls = _calls(kind, turns[number % len(turns)], graph, draw)
        called = {call.tool for call in calls}
        return RoutingPlan(
            kind=kind,
            language=language,
            domain=domain,
            calls=tuple(calls),
            candidates=tuple(tool.key for tool in tools),
            seed=draw.rng.getrandbits(32),
            origin=Origin(
                stage=STAGE,
                parents=tuple(tool.key for tool in tools if tool.name in called),
                seed=seed,
            ),
        )

    yield from plan_each(
        order, lambda number: turns[number // order.value_sets % len(turns)].name, plan_set
    )


def with_other_values(
    plan: RoutingPlan, tools: Iterable[Tool], order: Order, value_set: int
) -> RoutingPlan:
    """Return the plan with new values, the same where they were the same, for the same words."""
    draw = _ValueDraw(plan.language, Random(f"{plan.seed}:{value_set}:values"), order.own_values)
    by_name = {tool.name: tool for tool in tools}
    new_values: dict[tuple[str, str], JsonValue] = {}
    calls = []
    for call in plan.calls:
        said = {
            name: (name, str(one.value))
            for name, one in call.arguments.items()
            if isinstance(one, StatedValue)
        }
        known = {name: new_values[was] for name, was in said.items() if was in new_values}
        lacking = [name for name in said if name not in known]
        drawn = known | draw.fill(by_name[call.tool], lacking, known)
        new_values |= {was: drawn[name] for name, was in said.items() if name in drawn}
        found = {name: one for name, one in call.arguments.items() if name not in said}
        calls.append(_planned(by_name[call.tool], drawn, found))
    return plan.with_changes(calls=tuple(calls), value_set=value_set)


def _unlinked(tools: Sequence[Tool]) -> str:
    """Return a phrase with the required ids that no result gives under their names, or ""."""
    lacking = [
        f"`{name}` of {tool.name}" for tool in tools for name in tool.required if is_opaque(name)
    ]
    return (
        f" under its name (no result gives {', '.join(lacking[:_MOST_SHOWN])})" if lacking else ""
    )


def _calls(kind: str, tool: Tool, graph: DomainGraph, draw: _ValueDraw) -> list[PlannedCall]:
    difficulty = traits_of(kind).difficulty
    if difficulty == "easy":
        return _stated_calls([tool], draw)
    if difficulty == "hard":
        return _nested_calls(tool, graph, draw)
    chosen = [tool]
    wanted = draw.rng.choices(_MEDIUM_CALLS, _MEDIUM_SHARES)[0]
    near = [one for one in graph.tools if set(one.required) & set(tool.required)]
    for _ in range(_TRIES):
        if len(chosen) == wanted:
            break
        candidate = draw.rng.choice(
            near if near and draw.rng.random() < _SHARED_SHARE else graph.tools
        )
        against = any(are_contradictory(candidate, other) for other in chosen)
        if candidate not in chosen and not against and not graph.are_linked([*chosen, candidate]):
            chosen.append(candidate)
    return _stated_calls(chosen, draw)


def _stated_calls(tools: Sequence[Tool], draw: _ValueDraw) -> list[PlannedCall]:
    """Return calls whose arguments are all stated; a value that several take is the same."""
    shared_values: dict[str, JsonValue] = {}
    calls = []
    for tool in tools:
        patterned = [name for name in tool.required if "pattern" in tool.properties[name]]
        shared = {name: value for name, value in shared_values.items() if name in patterned}
        lacking = [name for name in enough_of(tool, tool.required, draw.rng) if name not in shared]
        values = shared | draw.fill(tool, lacking, shared)
        shared_values.update(values)
        calls.append(_planned(tool, values, {}))
    return calls


def _nested_calls(last: Tool, graph: DomainGraph, draw: _ValueDraw) -> list[PlannedCall]:
    """Return a chain of lookups up to a tool, filled up with more uses of what it found."""
    rng = draw.rng
    wanted = rng.choices(_HARD_CALLS, _HARD_SHARES)[0]
    roads = _chain(last, graph, wanted, rng)
    taken = [road.source for road in reversed(roads)]
    calls = [_call_on_road(tool, taken[:at], draw) for at, tool in enumerate([*taken, last])]
    goal = roads[0]
    others = [
        one
        for one in graph.tools
        if one.name != last.name
        and any(road == goal for road in graph.roads(one))
        and one not in taken
    ]
    more = rng.sample(others, min(len(others), wanted - len(calls), 1))
    return calls + [_call_on_road(tool, taken, draw) for tool in more]


def _chain(last: Tool, graph: DomainGraph, wanted: int, rng: Random) -> list[Road]:
    """Return the roads from a tool back to a lookup with sayable arguments, without repetitions."""
    best: list[Road] = []
    for _ in range(_TRIES):
        roads = [rng.choice(graph.roads(last))]
        while len(roads) < wanted - 1:
            known = {road.parameter for road in roads}
            further = [
                road for road in graph.roads(roads[-1].source) if road.parameter not in known
            ]
            if not further:
                break
            roads.append(rng.choice(further))
        if len(roads) > len(best):
            best = roads
        if len(best) == wanted - 1:
            break
    return best


def _call_on_road(tool: Tool, before: Sequence[Tool], draw: _ValueDraw) -> PlannedCall:
    """Return a call that takes the last call's results, with all other arguments stated."""
    at = len(before) - 1
    fed = [name for name in tool.required if before and feeds(name, before[at], name, tool)]
    stated = draw.fill(
        tool, [name for name in enough_of(tool, tool.required, draw.rng) if name not in fed]
    )
    return _planned(tool, stated, {name: Picked(call=at, entries="", field=name) for name in fed})


def _planned(tool: Tool, stated: Arguments, found: Mapping[str, ValueSource]) -> PlannedCall:
    sources: dict[str, ValueSource] = {
        name: StatedValue(value=one, element=_STATED) for name, one in stated.items()
    }
    sources |= found
    names = (*tool.required, *(name for name in sources if name not in tool.required))
    return PlannedCall(tool=tool.name, arguments={name: sources[name] for name in names})


def share_over_domains(
    kind: Kind, count: int, languages: Sequence[Language], tools: Sequence[Tool]
) -> Iterator[Share]:
    """Share questions over languages and domains in CallNavi's proportions (Table 2).

    Raises ConfigurationError if there is no domain.
    """
    catalogs = catalog_tools(tools)
    # languages that have none are translated by themselves
    own = {tool.language for tool in catalogs} & {*languages}
    by_domain: dict[tuple[Language, str], list[Tool]] = {}
    for language in languages:
        for tool in tools_for(catalogs, language) if language in own or not own else ():
            by_domain.setdefault((language, tool.category), []).append(tool)
    places = [
        place
        for place, catalog in by_domain.items()
        if kind.traits.difficulty != "hard" or any(map(DomainGraph(catalog).roads, catalog))
    ]
    if not places and count and catalogs:
        raise ConfigurationError(
            f"In no category does a tool take what another one returns{_unlinked(catalogs)}, so the"
            f" recipe's tools allow no samples of the kind {kind.name!r}."
        )
    if not places and count:
        raise ConfigurationError(
            f"Samples of the kind {kind.name!r} need the whole catalog of a domain; the recipe's"
            " tools have none. Add `- domains: all` to its tools, or a catalog of yours of which a"
            f" category has {_OWN_DOMAIN} tools or more."
        )
    known = {
        domain.name: domain.composition.get(kind.traits.difficulty, 0) for domain in load_domains()
    }
    weights = {(language, domain): known.get(domain, 0) for language, domain in places}
    if not any(weights.values()):  # catalogs of one's own: by how many tools there are
        sizes = Counter(tool.category for tool in catalogs)
        weights = {(language, domain): sizes[domain] for language, domain in places}
    # Whole shares by weight; what is left goes to those whose shares were cut the most.
    total = sum(weights.values()) or 1
    shares = {place: count * weight // total for place, weight in weights.items()}
    by_rest = sorted(weights, key=lambda place: -(count * weights[place] % total))
    for place in by_rest[: count - sum(shares.values())]:
        shares[place] += 1
    for (language, domain), share in shares.items():
        yield Share(language, share, domain)


def catalog_tools(tools: Sequence[Tool]) -> list[Tool]:
    """Return the tools of business domains, else of imported categories that are large enough."""
    counts = Counter(tool.category for tool in tools if tool.source not in NO_CATALOGS)
    domains = [tool for tool in tools if tool.source == DOMAINS]
    own = (tool for tool in tools if tool.source not in NO_CATALOGS)
    return domains or [tool for tool in own if counts[tool.category] >= _OWN_DOMAIN]


_EASY = Traits(
    "CallNavi",
    calls="sequence",
    asked="plan",
    has_catalog=True,
    spread="category",
    difficulty="easy",
)
_MEDIUM, _HARD = replace(_EASY, difficulty="medium"), replace(_EASY, difficulty="hard")

FAMILY = Family(
    "routing",
    (
        Kind(ROUTING_EASY, "one call out of a domain's whole catalog", GROUP, _EASY, paper=456),
        Kind(
            ROUTING_MEDIUM,
            "several calls out of a whole catalog, every argument said",
            GROUP,
            _MEDIUM,
            paper=188,
        ),
        Kind(
            ROUTING_HARD,
            "nested calls out of a whole catalog, some arguments unknown",
            GROUP,
            _HARD,
            paper=85,
        ),
    ),
    stages=in_a_row(
        "routing",
        "RoutingPlan",
        Step(
            "routing_requests",
            "Word calls of a domain's whole catalog as one question that says all values.",
            "Sample",
            "CallNavi 4.1",
            word_routing,
            (*PATHS, QUOTES_PATH),
            voiced=(ONE, SEVERAL, FREE),
        ),
    ),
    drafts=RoutingPlan,
    plan=plan_routing,
    tool_obstacle=value_obstacle,
    shares=share_over_domains,
)
