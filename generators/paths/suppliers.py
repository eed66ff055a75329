"""Calls whose responses may give a value: those that a goal plans, and those that can be made of what was said."""

from collections.abc import Mapping, Sequence
from itertools import islice, product
from typing import NamedTuple

from pydantic import JsonValue

from generators.environments.protocol import Environment
from generators.paths.known import KnownValues
from generators.paths.picking import Entry, entries_of, has, value_at
from generators.paths.resolving import Resolved
from generators.paths.sources import leaves_of, shifted, values_of, with_leaves
from warehouse.records import Call, Default, Goal, Link, Picked, PlannedCall, Said, Tool, ValueSource

MOST_BUILT = 12


class Made(NamedTuple):
    """A call that can be made; the `call` of each picked value of `planned` is an index into `needs`."""

    planned: PlannedCall
    call: Call
    needs: tuple["Made", ...]
    step: int
    name: str

    @property
    def said(self) -> frozenset[str]:
        """All that the user says for it, and for the calls that it needs."""
        sources = [leaf.source for leaf in leaves_of(0, self.planned.arguments)]
        own = frozenset(repr(source.value) for source in sources if isinstance(source, Said))
        return own.union(*(need.said for need in self.needs))

    def with_tool(self, tool: str) -> "Made":
        """The same arguments for another tool."""
        call = Call(tool=tool, arguments=self.call.arguments)
        return _made(self.planned.with_changes(tool=tool), call, self.needs)

    def with_said(self, argument: str, said: Said) -> "Made":
        """The same call with another value that is said; the argument is one of its own, not a part of one."""
        call = Call(tool=self.call.tool, arguments={**self.call.arguments, argument: said.value})
        arguments = {**self.planned.arguments, argument: said}
        return _made(self.planned.with_changes(arguments=arguments), call, self.needs)


class Option(NamedTuple):
    """A value that an argument may have: picked out of the response of `supplier`, from its entry `entry`."""

    value: JsonValue
    supplier: Made
    picked: Picked
    entry: int


def made_of(planned: PlannedCall, options: Mapping[str, Option]) -> Made:
    """The call with a value chosen for each picked argument."""
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


def _made(planned: PlannedCall, call: Call, needs: tuple[Made, ...]) -> Made:
    step = max((need.step + 1 for need in needs), default=0)
    return Made(planned, call, needs, step, f"{call.key}({','.join(sorted(need.name for need in needs))})")


class Suppliers:
    """The calls that can be made with the candidates alone."""

    def __init__(self, goal: Goal, resolved: Resolved, environment: Environment, candidates: Sequence[Tool]) -> None:
        """Start from the calls as the goal plans them."""
        self.goal, self.resolved, self.environment = goal, resolved, environment
        self.tools = {tool.name: tool for tool in candidates}
        self.links: dict[str, list[Link]] = {}
        for link in environment.links:
            if link.tool in self.tools and link.source in self.tools:
                self.links.setdefault(link.tool, []).append(link)
        self.known = KnownValues(goal, environment.links, environment.tools)
        self.planned_tools = {planned.tool for planned in goal.calls}
        self.planned: list[Made] = []
        self._ancestors: list[set[int]] = []
        for index, planned in enumerate(goal.calls):
            self._plan(index, planned)
        self._built: dict[str, list[Made]] = {}

    def _plan(self, index: int, planned: PlannedCall) -> None:
        options: dict[str, Option] = {}
        before: set[int] = set()
        for place in (one for one in self.resolved.places if one.leaf.call == index):
            source = place.source
            value = shifted(value_at(self.resolved.response(source.call), place.path), source.later_by)
            options[place.leaf.argument] = Option(value, self.planned[source.call], source, place.entry)
            before |= {source.call, *self._ancestors[source.call]}
        self.planned.append(made_of(planned, options))
        self._ancestors.append(before)

    async def entries(self, made: Made, entries: str) -> list[Entry]:
        """The entries that the response to a call has at this path; none where it has no such path or no response."""
        answer = await self.environment.answer(made.call)
        if answer.problem or not has(answer.response, entries):
            return []
        return entries_of(answer.response, entries)

    async def of(self, tool: str, consumer: int) -> list[Made]:
        """The calls of a tool that can be made without the response of the goal's call `consumer`."""
        free = [
            self.planned[index]
            for index, planned in enumerate(self.goal.calls)
            if planned.tool == tool and index != consumer and consumer not in self._ancestors[index]
        ]
        return free + (self._varied(tool) if tool in self.planned_tools else await self._build(tool))

    def _varied(self, tool: str) -> list[Made]:
        """The planned calls of a tool, each with another text that was said in the place of one that they say."""
        found: list[Made] = []
        for index, planned in enumerate(self.goal.calls):
            for argument, source in planned.arguments.items() if planned.tool == tool else ():
                if isinstance(source, Said) and self._is_text(source):
                    others = [said for said in self.known.texts if said.value != source.value]
                    found += [self.planned[index].with_said(argument, said) for said in others]
        return found[:MOST_BUILT]

    def _is_text(self, source: Said) -> bool:
        return any(said.value == source.value for said in self.known.texts)

    async def _build(self, name: str) -> list[Made]:
        """The calls of a tool that can be made of what was said, and of what the goal's picks found."""
        if name not in self._built:
            self._built[name] = []  # a tool that feeds itself is not built of itself
            tool = self.tools[name]
            options = [await self._options(tool, parameter) for parameter in tool.required]
            for chosen in islice(product(*options), MOST_BUILT):
                self._built[name].append(_built(tool, chosen))
        return self._built[name]

    async def _options(self, tool: Tool, parameter: str) -> list[Said | Default | Option]:
        if parameter not in tool.properties:
            return []
        if not self.known.is_linked(tool.name, parameter):
            return list(self.known.values_for(tool, parameter))
        found: list[Said | Default | Option] = []
        for link in self.links.get(tool.name, ()):
            if link.parameter == parameter:
                found += self._beside_picks(link) or await self._single(link)
        return found

    def _beside_picks(self, link: Link) -> list[Option]:
        """The values of a link in the entries that the goal's own picks have found."""
        found: dict[str, Option] = {}
        for place in self.resolved.places:
            source = place.source
            if source.entries != link.entries or self.goal.calls[source.call].tool != link.source:
                continue
            entry = entries_of(self.resolved.response(source.call), source.entries)[place.entry]
            if has(entry.value, link.field):
                picked = source.with_changes(field=link.field, later_by=0)
                option = Option(value_at(entry.value, link.field), self.planned[source.call], picked, place.entry)
                found.setdefault(repr(option.value), option)
        return list(found.values())

    async def _single(self, link: Link) -> list[Option]:
        """The value of a link in a response that leaves no choice."""
        found: list[Option] = []
        if link.source in self.planned_tools:
            return found
        for supplier in await self._build(link.source):
            entries = [one for one in await self.entries(supplier, link.entries) if has(one.value, link.field)]
            if len(entries) == 1:
                picked = Picked(call=0, entries=link.entries, field=link.field)
                found.append(Option(value_at(entries[0].value, link.field), supplier, picked, entries[0].index))
        return found


def _built(tool: Tool, chosen: Sequence[Said | Default | Option]) -> Made:
    arguments: dict[str, ValueSource] = {}
    options: dict[str, Option] = {}
    for parameter, one in zip(tool.required, chosen, strict=True):
        if isinstance(one, Option):
            options[parameter] = one
            arguments[parameter] = one.picked
        else:
            arguments[parameter] = one
    return made_of(PlannedCall(tool=tool.name, arguments=arguments), options)
