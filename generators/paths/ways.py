"""The ways in which a call of a goal can be made: with which values, out of the responses of which other calls."""

from itertools import islice, product

from pydantic import JsonValue

from generators.environments.protocol import Environment
from generators.paths.known import pattern_of
from generators.paths.picking import Entry, choose, has, retold, rivals, told, value_at
from generators.paths.resolving import Resolved
from generators.paths.sources import leaves_of, shifted
from generators.paths.suppliers import Made, Option, Suppliers, made_of
from warehouse.records import Goal, Link, Picked, PlannedCall

MOST_WAYS = 16
MOST_COMBINATIONS = 256
MOST_RIVALS = 4  # one is enough to tell that a path is not the only one


class Ways:
    """Every way to make each call of a resolved goal with the tools of `suppliers` alone."""

    def __init__(self, goal: Goal, resolved: Resolved, environment: Environment, suppliers: Suppliers) -> None:
        """Start from the planned way of each call."""
        self.goal, self.resolved, self.environment, self.suppliers = goal, resolved, environment, suppliers
        self._ways: dict[int, list[Made]] = {}

    async def of(self, index: int) -> list[Made]:
        """The ways to make a call of the goal, the planned one first."""
        if index not in self._ways:
            found = {way.name: way for way in [*await self._combined(index), *await self._twins(index)]}
            self._ways[index] = list(found.values())[:MOST_WAYS]
        return self._ways[index]

    async def _combined(self, index: int) -> list[Made]:
        planned = self.goal.calls[index]
        if planned.tool not in self.suppliers.tools:
            return []
        options: dict[str, list[Option]] = {}
        for leaf in leaves_of(index, planned.arguments):
            if isinstance(leaf.source, Picked):
                own = await self._own(leaf.source)
                options[leaf.argument] = own + await self._elsewhere(index, leaf.argument, leaf.source)
        names = list(options)
        combinations = [
            dict(zip(names, chosen, strict=True))
            for chosen in islice(product(*options.values()), MOST_COMBINATIONS)
            if _is_consistent(chosen)
        ]
        return [made_of(planned, chosen) for chosen in combinations]

    async def _own(self, source: Picked) -> list[Option]:
        """The values that the response of the planned call, made in any way, gives by the conditions."""
        found: list[Option] = []
        for way in await self.of(source.call):
            entries = await self.suppliers.entries(way, source.entries)
            fitting = choose(entries, source.where)
            if fitting:
                rest = rivals(entries, source.where, fitting[0].index)[:MOST_RIVALS]
                found += _options([fitting[0], *rest], way, source)
        return found

    async def _elsewhere(self, index: int, argument: str, source: Picked) -> list[Option]:
        """The planned value, or one that the conditions tell as well, out of the responses of other calls."""
        place = next(one for one in self.resolved.places if one.leaf.call == index and one.leaf.argument == argument)
        planned = value_at(self.resolved.response(source.call), place.path)
        own = self.resolved.call(source.call)
        found: list[Option] = []
        for link in self._links(self.goal.calls[index], argument):
            for supplier in await self.suppliers.of(link.source, index):
                if supplier.call != own:
                    found += await self._from(supplier, link, source, planned)
        return found

    def _links(self, planned: PlannedCall, argument: str) -> list[Link]:
        pattern = pattern_of(argument)
        return [link for link in self.suppliers.links.get(planned.tool, ()) if link.parameter == pattern]

    async def _from(self, supplier: Made, link: Link, source: Picked, planned: JsonValue) -> list[Option]:
        entries = [one for one in await self.suppliers.entries(supplier, link.entries) if has(one.value, link.field)]
        same = [one for one in entries if value_at(one.value, link.field) == planned]
        if not source.where:  # nothing was said of the entry: it is the first that the call finds
            same = [one for one in same if one.index == 0]
        if not same and self._tells_as_much(supplier, self.suppliers.planned[source.call]):
            same = told(entries, source.where)
        if not same:
            return []
        where = retold(entries, same[0], source.where)
        picked = Picked(call=0, entries=link.entries, field=link.field, where=where, later_by=source.later_by)
        return _options(same[:1], supplier, picked)

    def _tells_as_much(self, supplier: Made, own: Made) -> bool:
        """Whether a reader may take this call for the planned one: an overlapping tool, or nothing said is left out."""
        return supplier.call.tool not in self.suppliers.planned_tools or own.said <= supplier.said

    async def _twins(self, index: int) -> list[Made]:
        """The ways in which another tool gives the very same response to the very same arguments."""
        planned, own = self.goal.calls[index], self.suppliers.planned[index]
        if not planned.wanted:
            return []
        wanted = await self.environment.answer(own.call)
        found: list[Made] = []
        for tool in self.suppliers.tools.values():
            fits = set(tool.required) <= set(planned.arguments) <= set(tool.properties)
            if tool.name == planned.tool or not fits:
                continue
            twin = own.with_tool(tool.name)
            answer = await self.environment.answer(twin.call)
            if not answer.problem and answer.response == wanted.response:
                found.append(twin)
        return found


def _options(entries: list[Entry], supplier: Made, picked: Picked) -> list[Option]:
    """One option for each entry that holds the field; its value is what the conditions lead to."""
    return [
        Option(shifted(value_at(entry.value, picked.field), picked.later_by), supplier, picked, entry.index)
        for entry in entries
        if has(entry.value, picked.field)
    ]


def _is_consistent(chosen: tuple[Option, ...]) -> bool:
    """Whether values picked by the same conditions from the same list come from the same entry."""
    entries: dict[tuple[str, str, str], int] = {}
    for option in chosen:
        where = repr(option.picked.where)
        if entries.setdefault((option.supplier.name, option.picked.entries, where), option.entry) != option.entry:
            return False
    return True
