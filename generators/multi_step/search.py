"""Search an environment's answers for the shortest paths to a goal (ComplexFuncBench 2.1.2).

A call can use what the user said, defaults, and values that a link finds in the response to an
earlier call: the value that the goal's conditions pick, or one that they would pick as well. A
path has what every wanted call needs and no more; fewest steps come first, then fewest calls.
Two paths are the same if they make the same calls.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.picking import (
    Entry,
    choose,
    entries_of,
    has,
    rendered,
    retold,
    rivals,
    value_at,
)
from callwright.generators.environments.protocol import Environment
from callwright.generators.multi_step.resolving import (
    KnownValues,
    Resolved,
    SourceLeaf,
    leaves_of,
    pattern_of,
    resolve,
    shifted,
    sources_in,
    values_of,
    with_changed_leaves,
    with_leaves,
)
from callwright.generators.multi_step.tool_graph import is_making
from callwright.warehouse.records import (
    Call,
    Default,
    Exchange,
    Goal,
    Link,
    Picked,
    PlannedCall,
    StatedValue,
    Tool,
    ValueSource,
)

MOST_PLANS = 512
Path = tuple[Exchange, ...]
MOST_WAYS = 16
MOST_COMBINATIONS = 256
MOST_RIVALS = 4  # one is enough to tell that a path is not the only one
MOST_BUILT = 12


class PossibleCall(NamedTuple):
    """A possible call; in `planned`, a picked value's `call` is an index into `needs`."""

    planned: PlannedCall
    call: Call
    needs: tuple["PossibleCall", ...]
    step: int
    name: str

    @property
    def stated(self) -> frozenset[str]:
        """Everything that the user states for this call, and for the calls that it needs."""
        sources = [leaf.source for leaf in leaves_of(0, self.planned.arguments)]
        own = frozenset(repr(source.value) for source in sources if isinstance(source, StatedValue))
        return own.union(*(need.stated for need in self.needs))

    def with_tool(self, tool: str) -> "PossibleCall":
        """Return a call of another tool with the same arguments."""
        call = Call(tool=tool, arguments=self.call.arguments)
        return _made(self.planned.with_changes(tool=tool), call, self.needs)

    def with_stated(self, argument: str, stated: StatedValue) -> "PossibleCall":
        """Return the same call with another stated value for an argument (not for part of one)."""
        call = Call(tool=self.call.tool, arguments={**self.call.arguments, argument: stated.value})
        arguments = {**self.planned.arguments, argument: stated}
        return _made(self.planned.with_changes(arguments=arguments), call, self.needs)


class ArgumentOption(NamedTuple):
    """A possible value of an argument, picked from entry `entry` of `supplier`'s response."""

    value: JsonValue
    supplier: PossibleCall
    picked: Picked
    entry: int


class ShortestPath(NamedTuple):
    """A shortest path, and the goal whose planned path it is."""

    goal: Goal
    path: Path


async def find_plans(
    goal: Goal, environment: Environment, candidates: Sequence[Tool], limit: int = 2
) -> list[ShortestPath]:
    """Return the shortest paths with the goals that plan them; see `shortest_paths`."""
    resolved = await resolve(goal, environment)
    ways = Ways(goal, resolved, environment, candidates)
    wanted = wanted_of(goal)
    choices = [await ways.of(index) for index in wanted]
    if not all(choices):
        return []
    call_sets: dict[frozenset[str], list[PossibleCall]] = {}
    for chosen in _combinations(choices):
        calls = _calls(chosen)
        name = frozenset(made.call.key for made in calls)
        if name not in call_sets or sum(one.step for one in calls) < sum(
            one.step for one in call_sets[name]
        ):
            call_sets[name] = calls
    plans: list[ShortestPath] = []
    best: tuple[int, int] | None = None
    # the sort is stable: what is planned stays before its equals
    for calls in sorted(call_sets.values(), key=_length):
        if len(plans) == limit or best not in (None, _length(calls)):
            break
        plan = await _plan(goal, resolved, calls, environment)
        if plan is not None:
            plans.append(plan)
            best = _length(calls)
    return plans


def wanted_of(goal: Goal) -> list[int]:
    """Return the wanted calls or, if none is marked, those whose responses no call needs."""
    wanted = [index for index, planned in enumerate(goal.calls) if planned.wanted]
    used = {picked.call for _, picked in sources_in(goal, Picked)}
    return wanted or [index for index in range(len(goal.calls)) if index not in used]


def _combinations(choices: list[list[PossibleCall]]) -> Iterator[tuple[PossibleCall, ...]]:
    """Yield ways for all wanted calls: as planned, one varied, then all, at most MOST_PLANS."""
    planned = [ways[0] for ways in choices]
    yield tuple(planned)
    for index, ways in enumerate(choices):
        for way in ways[1:]:
            yield (*planned[:index], way, *planned[index + 1 :])
    yield from islice(product(*choices), MOST_PLANS)


def _calls(chosen: Sequence[PossibleCall]) -> list[PossibleCall]:
    """Return every call that these need, each once, after the calls that it needs itself."""
    needed_calls: dict[str, PossibleCall] = {}

    def visit(made: PossibleCall) -> None:
        for need in made.needs:
            visit(need)
        held = needed_calls.get(made.call.key)
        if held is None or made.step < held.step:
            needed_calls[made.call.key] = made

    for made in chosen:
        visit(made)
    return sorted(needed_calls.values(), key=lambda one: one.step)


def _length(calls: Sequence[PossibleCall]) -> tuple[int, int]:
    return max(made.step for made in calls) + 1, len(calls)


async def _plan(
    goal: Goal, resolved: Resolved, calls: list[PossibleCall], environment: Environment
) -> ShortestPath | None:
    """Return the path of these calls, or None if one of them is not answered."""
    keys = {made.call.key for made in calls}
    if keys == {call.key for exchange in resolved.path for call in exchange.calls}:
        return ShortestPath(goal, resolved.path)
    path: list[Exchange] = []
    for step in range(calls[-1].step + 1):
        step_calls = [one.call for one in calls if one.step == step]
        answers = [await environment.answer(call) for call in step_calls]
        if any(answer.problem for answer in answers):
            return None
        path.append(
            Exchange(
                calls=tuple(step_calls), responses=tuple(answer.response for answer in answers)
            )
        )
    needs = [[need.call.key for need in made.needs] for made in calls]
    names = [made.call.key for made in calls]

    def renumbered(leaf: SourceLeaf) -> StatedValue | Default | Picked:
        if not isinstance(leaf.source, Picked):
            return leaf.source
        return leaf.source.with_changes(call=names.index(needs[leaf.call][leaf.source.call]))

    planned = goal.with_changes(calls=tuple(made.planned for made in calls))
    return ShortestPath(with_changed_leaves(planned, renumbered), tuple(path))


def made_of(planned: PlannedCall, options: Mapping[str, ArgumentOption]) -> PossibleCall:
    """Return the call with a value chosen for each picked argument."""
    needs = tuple({option.supplier.name: option.supplier for option in options.values()}.values())
    names = [need.name for need in needs]
    picks = {
        argument: option.picked.with_changes(call=names.index(option.supplier.name))
        for argument, option in options.items()
    }
    values = {argument: option.value for argument, option in options.items()}
    call = Call(tool=planned.tool, arguments=values_of(planned.arguments, values))
    arguments = with_leaves(planned.arguments, picks)
    return _made(planned.with_changes(arguments=arguments), call, needs)


def _made(planned: PlannedCall, call: Call, needs: tuple[PossibleCall, ...]) -> PossibleCall:
    step = max((need.step + 1 for need in needs), default=0)
    return PossibleCall(
        planned, call, needs, step, f"{call.key}({','.join(sorted(need.name for need in needs))})"
    )


class Ways:
    """All ways to make each call of a resolved goal with the candidates alone."""

    def __init__(
        self, goal: Goal, resolved: Resolved, environment: Environment, candidates: Sequence[Tool]
    ) -> None:
        """Start from the calls that the goal plans."""
        self.goal, self.resolved, self.environment = goal, resolved, environment
        self.tools = {tool.name: tool for tool in candidates}
        self.links: dict[str, list[Link]] = {}
        for link in environment.links:
            if link.tool in self.tools and link.source in self.tools:
                self.links.setdefault(link.tool, []).append(link)
        self.known = KnownValues(goal, environment.links, environment.tools)
        self.planned_tools = {planned.tool for planned in goal.calls}
        self.planned: list[PossibleCall] = []
        self._ancestors: list[set[int]] = []
        for index, planned in enumerate(goal.calls):
            options: dict[str, ArgumentOption] = {}
            before: set[int] = set()
            for source, place in (
                (one.source, one) for one in resolved.places if one.leaf.call == index
            ):
                value = shifted(
                    value_at(resolved.response(source.call), place.path), source.later_by
                )
                options[place.leaf.argument] = ArgumentOption(
                    value, self.planned[source.call], source, place.entry
                )
                before |= {source.call, *self._ancestors[source.call]}
            self.planned.append(made_of(planned, options))
            self._ancestors.append(before)
        self._built: dict[str, list[PossibleCall]] = {}
        self._ways: dict[int, list[PossibleCall]] = {}

    async def of(self, index: int) -> list[PossibleCall]:
        """Return the ways to make a call of the goal, the planned one first."""
        if index not in self._ways:
            ways_by_name = {
                way.name: way
                for way in [*await self._combined(index), *await self._duplicates(index)]
            }
            self._ways[index] = list(ways_by_name.values())[:MOST_WAYS]
        return self._ways[index]

    async def entries(self, made: PossibleCall, entries: str) -> list[Entry]:
        """Return the entries at a path of the response to a call; [] without path or response."""
        answer = await self.environment.answer(made.call)
        if answer.problem or not has(answer.response, entries):
            return []
        return entries_of(answer.response, entries)

    async def _calls_of(self, tool: str, consumer: int) -> list[PossibleCall]:
        """Return the tool's calls that don't need the response of the goal's call `consumer`."""
        free = [
            self.planned[index]
            for index, planned in enumerate(self.goal.calls)
            if planned.tool == tool and index != consumer and consumer not in self._ancestors[index]
        ]
        return free + (
            self._varied(tool) if tool in self.planned_tools else await self._build(tool)
        )

    def _varied(self, tool: str) -> list[PossibleCall]:
        """Return the tool's planned calls, each with one of its texts replaced by another one."""
        texts, variants = self.known.texts, list[PossibleCall]()
        if is_making(tool):
            return variants
        for planned_call, planned in zip(self.planned, self.goal.calls, strict=True):
            for argument, source in planned.arguments.items() if planned.tool == tool else ():
                others = [
                    stated
                    for stated in texts
                    if isinstance(source, StatedValue) and stated.value != source.value
                ]
                if len(others) < len(texts):  # it is one of the texts
                    variants += [planned_call.with_stated(argument, stated) for stated in others]
        return variants[:MOST_BUILT]

    async def _build(self, name: str) -> list[PossibleCall]:
        """Return the tool's calls that stated values and values found by goal picks allow."""
        if name not in self._built and is_making(name):
            self._built[name] = []  # nobody makes a thing to find one
        if name not in self._built:
            self._built[name] = []  # a tool that feeds itself is not built of itself
            tool = self.tools[name]
            options = [await self._options(tool, parameter) for parameter in tool.required]
            for chosen in islice(product(*options), MOST_BUILT):
                sources = dict(zip(tool.required, chosen, strict=True))
                picked = {
                    parameter: one
                    for parameter, one in sources.items()
                    if isinstance(one, ArgumentOption)
                }
                arguments: dict[str, ValueSource] = {
                    parameter: one.picked if isinstance(one, ArgumentOption) else one
                    for parameter, one in sources.items()
                }
                self._built[name].append(
                    made_of(PlannedCall(tool=name, arguments=arguments), picked)
                )
        return self._built[name]

    async def _options(
        self, tool: Tool, parameter: str
    ) -> list[StatedValue | Default | ArgumentOption]:
        if parameter not in tool.properties:
            return []
        if not self.known.is_linked(tool.name, parameter):
            return list(self.known.values_for(tool, parameter))
        options: list[StatedValue | Default | ArgumentOption] = []
        for link in self.links.get(tool.name, ()):
            if link.parameter == parameter:
                options += self._beside_picks(link) or await self._single(link)
        return options

    def _beside_picks(self, link: Link) -> list[ArgumentOption]:
        """Return the values of a link in the entries that the goal's own picks have found."""
        options: dict[str, ArgumentOption] = {}
        for place in self.resolved.places:
            source = place.source
            if source.entries != link.entries or self.goal.calls[source.call].tool != link.source:
                continue
            entry = entries_of(self.resolved.response(source.call), source.entries)[place.entry]
            if has(entry.value, link.field):
                picked = source.with_changes(field=link.field, later_by=0)
                option = ArgumentOption(
                    value_at(entry.value, link.field),
                    self.planned[source.call],
                    picked,
                    place.entry,
                )
                options.setdefault(repr(option.value), option)
        return list(options.values())

    async def _single(self, link: Link) -> list[ArgumentOption]:
        """Return the value of a link in a response that leaves no choice."""
        options: list[ArgumentOption] = []
        if link.source in self.planned_tools:
            return options
        for supplier in await self._build(link.source):
            entries = [
                one
                for one in await self.entries(supplier, link.entries)
                if has(one.value, link.field)
            ]
            if len(entries) == 1:
                picked = Picked(call=0, entries=link.entries, field=link.field)
                options.append(
                    ArgumentOption(
                        value_at(entries[0].value, link.field), supplier, picked, entries[0].index
                    )
                )
        return options

    async def _combined(self, index: int) -> list[PossibleCall]:
        planned = self.goal.calls[index]
        if planned.tool not in self.tools:
            return []
        options: dict[str, list[ArgumentOption]] = {}
        for argument, source in (
            (leaf.argument, leaf.source) for leaf in leaves_of(index, planned.arguments)
        ):
            if isinstance(source, Picked):
                own: list[
                    ArgumentOption
                ] = []  # what the response of the planned call, made in any way, gives by the conditions  # noqa: E501
                for way in await self.of(source.call):
                    entries = await self.entries(way, source.entries)
                    if fitting := choose(entries, source.where):
                        rest = rivals(entries, source.where, fitting[0].index)[:MOST_RIVALS]
                        own += _options([fitting[0], *rest], way, source)
                options[argument] = own + await self._elsewhere(index, argument, source)
        combinations = islice(product(*options.values()), MOST_COMBINATIONS)
        return [
            made_of(planned, dict(zip(options, chosen, strict=True)))
            for chosen in combinations
            if _is_consistent(chosen)
        ]

    async def _elsewhere(self, index: int, argument: str, source: Picked) -> list[ArgumentOption]:
        """Return the planned value, or one that fits as well, from responses of other calls."""
        place = next(
            one
            for one in self.resolved.places
            if one.leaf.call == index and one.leaf.argument == argument
        )
        planned = value_at(self.resolved.response(source.call), place.path)
        own = self.resolved.call(source.call)
        options: list[ArgumentOption] = []
        for link in self.links.get(self.goal.calls[index].tool, ()):
            if link.parameter == pattern_of(argument):
                for supplier in await self._calls_of(link.source, index):
                    if supplier.call != own:
                        options += await self._from(supplier, link, source, planned)
        return options

    async def _from(
        self, supplier: PossibleCall, link: Link, source: Picked, planned: JsonValue
    ) -> list[ArgumentOption]:
        entries = [
            one for one in await self.entries(supplier, link.entries) if has(one.value, link.field)
        ]
        same = [one for one in entries if value_at(one.value, link.field) == planned]
        if not source.where:  # nothing was stated of the entry: it is the first that the call finds
            same = [one for one in same if one.index == 0]
        # A reader may take this call for the planned one: it is of an overlapping tool, or leaves
        # nothing out that is said.
        overlaps = supplier.call.tool not in self.planned_tools
        if not same and (overlaps or self.planned[source.call].stated <= supplier.stated):
            same = rendered(entries, source.where)
        if not same:
            return []
        where = retold(entries, same[0], source.where)
        picked = Picked(
            call=0, entries=link.entries, field=link.field, where=where, later_by=source.later_by
        )
        return _options(same[:1], supplier, picked)

    async def _duplicates(self, index: int) -> list[PossibleCall]:
        """Return calls of other tools that give the same response to the same arguments."""
        planned, own = self.goal.calls[index], self.planned[index]
        if not planned.wanted:
            return []
        wanted = await self.environment.answer(own.call)
        duplicates: list[PossibleCall] = []
        for tool in self.tools.values():
            fits = set(tool.required) <= set(planned.arguments) <= set(tool.properties)
            if tool.name == planned.tool or not fits:
                continue
            duplicate = own.with_tool(tool.name)
            answer = await self.environment.answer(duplicate.call)
            if not answer.problem and answer.response == wanted.response:
                duplicates.append(duplicate)
        return duplicates


def _options(entries: list[Entry], supplier: PossibleCall, picked: Picked) -> list[ArgumentOption]:
    """Return an option for each entry with the field; its value follows from the conditions."""
    return [
        ArgumentOption(
            shifted(value_at(entry.value, picked.field), picked.later_by),
            supplier,
            picked,
            entry.index,
        )
        for entry in entries
        if has(entry.value, picked.field)
    ]


def _is_consistent(chosen: tuple[ArgumentOption, ...]) -> bool:
    """Whether values picked by equal conditions from the same list come from the same entry."""
    entries: dict[tuple[str, str, str], int] = {}
    for option in chosen:
        where = repr(option.picked.where)
        if (
            entries.setdefault((option.supplier.name, option.picked.entries, where), option.entry)
            != option.entry
        ):
            return False
    return True
