"""Sketch goals: which tools are called, with which parameters said or taken from responses."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Literal, NamedTuple, Union

from pydantic import JsonValue

from callwright.generators.environments.linking import names_thing
from callwright.generators.multi_step.tool_graph import Element, ToolGraph, is_changing, is_making
from callwright.language.calls.entries import affinity
from callwright.language.names import split_name
from callwright.warehouse.records import JsonSchema, Link
from callwright.warehouse.records.drafts import ElementKind

SHOWN = ("type", "format", "enum", "pattern")
# "lookup": found by its name; "inside": an entry called by name; "ranked": chosen among others;
# "through": the whole
Selection = str
_DEEPEST = 5
_OPTIONAL: Mapping[str, float] = {
    "people": 0.45,
    "age": 0.2,
    "sort": 0.3,
    "cabin": 0.5,
    "filter": 0.5,
    "time": 0.5,
    "keyword": 0.4,
    "count": 0.2,
    "price": 0.25,
    "distance": 0.3,
    "currency": 0.12,
    "date": 0.25,
    "company": 0.3,
    "chain": 0.3,
    "duration": 0.2,
    "identifier": 0.5,
}
_MOST_OPTIONAL = 2
_SHARE_OF_BRIDGES = 0.8
# so often a thing is made and then used, where it could be chosen of a list as well
_SHARE_OF_MADE = 0.3
_MOST_TOLD = 2  # ids that a user knows
_LATER = (30, 45, 60, 90, 120)
_FROM = frozenset({"from", "origin", "departure", "depart"})
_BACK = frozenset({"drop", "dropoff", "return", "off"})
_NEVER = frozenset(
    {
        "min",
        "page",
        "locale",
        "language",
        "languagecode",
        "timezone",
        "units",
        "unit",
        "limit",
        "offset",
    }
)


def same_kind(one: JsonSchema, other: JsonSchema) -> bool:
    """Whether two parameters of the same name take the same values."""
    return all(one.get(part) == other.get(part) for part in SHOWN)


def shared_start(one: str, other: str) -> int:
    """Return how many characters two names share at the start."""
    return next(
        (at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
        len(one),
    )


class Say(NamedTuple):
    """A value that the user says; `role` is its city in the trip, equal keys share a value."""

    element: ElementKind
    role: str
    tool: str
    parameter: str
    key: str


class Take(NamedTuple):
    """A value from another call's response; `mark` separates several entries of one response."""

    source: int
    link: Link
    selection: Selection
    mark: int = 0
    later_by: int = 0

    @property
    def entry(self) -> tuple[int, int, str]:
        """The entry that is meant; equal for values from the same entry."""
        return self.source, self.mark, self.link.entries


class Fixed(NamedTuple):
    """A value that the schema itself gives."""

    value: JsonValue


class Group(NamedTuple):
    """Several values combined into one."""

    shape: Literal["object", "joined", "list"]
    names: tuple[str, ...]
    parts: "tuple[Slot, ...]"


Slot = Union[Say, Take, Fixed, Group]  # noqa: UP007 - a forward reference in it


class SketchedCall(NamedTuple):
    """A call with slots for its future values."""

    tool: str
    slots: Mapping[str, Slot]
    wanted: bool


class GoalSketch(NamedTuple):
    """The calls of a goal, each after the calls that it needs."""

    calls: tuple[SketchedCall, ...]

    @property
    def steps(self) -> int:
        """The number of steps if calls are made together wherever possible."""
        depths: list[int] = []
        for call in self.calls:
            depths.append(max((depths[need] + 1 for need in needs(call.slots)), default=0))
        return max(depths, default=0) + 1


def needs(slots: Mapping[str, Slot]) -> set[int]:
    """Return the calls whose responses the slots need."""
    sources: set[int] = set()
    waiting = list(slots.values())
    while waiting:
        slot = waiting.pop()
        if isinstance(slot, Take):
            sources.add(slot.source)
        elif isinstance(slot, Group):
            waiting.extend(slot.parts)
    return sources


def overlaps(calls: Sequence[SketchedCall], graph: ToolGraph, element: Element) -> bool:
    """Whether two calls' tools could give one parameter: two searches for a thing, two look-ups."""
    used = {call.tool for call in calls}
    return any(
        len(used & _rivals(call.tool, name, slot, graph, element)) > 1
        for call in calls
        for name, slot in call.slots.items()
        if isinstance(slot, Take)
    )


def _rivals(tool: str, name: str, take: Take, graph: ToolGraph, element: Element) -> set[str]:
    """Return the tools that could give a parameter its value, taken in the same way."""
    sources = {link.source for link in graph.links(tool, name) if graph.is_listed(link)}
    if take.selection == "lookup":
        asked = _asked(take.link.source, graph, element)
        return {
            one for one in sources if graph.is_lookup(one) and _asked(one, graph, element) == asked
        }
    if take.selection != "ranked" or element(tool, name) != "identifier":
        return set()
    return {one for one in sources if not graph.is_lookup(one)}


def _asked(lookup: str, graph: ToolGraph, element: Element) -> ElementKind:
    """Return the kind of thing that a lookup takes."""
    return element(lookup, graph.tools[lookup].required[0])


class UnsayableError(Exception):
    """The tool needs a value that no user says and no response gives; the sketch is dropped."""


class Sketcher:
    """Draws one sketch; each sketch needs a new instance."""

    def __init__(
        self, graph: ToolGraph, element: Element, rng: Random, *, crosses: bool = False
    ) -> None:
        """Start a sketch; `crosses` lets one domain's search name things looked up in another."""
        self._crosses, self._bridged = crosses, set[tuple[str, str]]()
        self._graph, self._element, self._rng = graph, element, rng
        self._calls: list[SketchedCall] = []
        self._known: dict[tuple[str, str], int] = {}
        self._marks: dict[int, int] = {}
        self._given: dict[str, list[str]] = {}
        self._building: list[str] = []
        self._ids: set[str] = set()
        self._turn = 0

    def draw(self, wants: Sequence[str]) -> GoalSketch | None:
        """Draw a goal that wants these tools' responses, or None if one can't be called."""
        try:
            for tool in wants:
                self._turn += 1
                known = self._known.get((tool, "search"))
                if known is not None and self._graph.is_source(tool):
                    self._calls[known] = self._calls[known]._replace(wanted=True)
                else:
                    self._known.setdefault(
                        (tool, "search"), self._build(tool, wanted=True, depth=0)
                    )
        except UnsayableError:
            return None
        if overlaps(self._calls, self._graph, self._element):
            return None
        return GoalSketch(tuple(self._calls))

    def _build(self, tool: str, *, wanted: bool, depth: int) -> int:
        if depth > _DEEPEST:
            raise UnsayableError
        self._building.append(tool)
        slots: dict[str, Slot] = {}
        chosen = self._chosen(tool)
        linked = [
            name
            for name in chosen
            if self._graph.links(tool, name) and not self._comes_inside(tool, name)
        ]
        hidden = [name for name in linked if self._is_hidden(tool, name)]
        given = [name for name in hidden if not self._graph.is_told(tool, name)]
        # a goal begins with an id that the user knows, so its last call takes one from a response
        self._take_linked(tool, given if given or depth else hidden[-1:], slots, depth)
        chosen = [
            name for name in chosen if name in slots or not self._is_settled(tool, name, slots)
        ]
        for name in chosen:
            if name not in slots and not self._comes_inside(tool, name):
                slots[name] = self._stated(tool, name)
        for name in chosen:
            if name not in slots:
                slots[name] = self._inside(tool, name, slots)
        ordered = {
            name: slots[name] for name in self._graph.tools[tool].properties if name in slots
        }
        self._building.pop()
        return self._kept(SketchedCall(tool, ordered, wanted))

    def _is_settled(self, tool: str, name: str, slots: Mapping[str, Slot]) -> bool:
        """Whether the search before the tool could already have been given this parameter."""
        if name in self._graph.tools[tool].required or is_changing(tool):
            return False
        searches = {
            slot.source
            for slot in slots.values()
            if isinstance(slot, Take) and slot.selection != "lookup"
        }
        return any(name in self._graph.tools[self._calls[at].tool].properties for at in searches)

    def _kept(self, call: SketchedCall) -> int:
        for index, known in enumerate(self._calls):
            if (known.tool, known.slots) == (call.tool, call.slots):
                self._calls[index] = known._replace(wanted=known.wanted or call.wanted)
                return index
        self._calls.append(call)
        return len(self._calls) - 1

    def _chosen(self, tool: str) -> list[str]:
        """Return every required parameter and some optional ones, the same for each call."""
        if tool in self._given:
            return self._given[tool]
        shown = self._graph.tools[tool]
        others = [name for name in shown.optional if self._is_worth_saying(tool, name)]
        self._rng.shuffle(others)
        extra = [
            name
            for name in others
            if self._rng.random() < _OPTIONAL.get(self._element(tool, name), 0.0)
        ]
        if (
            not extra
            and is_changing(tool)
            and all(self._graph.links(tool, name) for name in shown.required)
        ):
            extra = others[:1]  # a change is given more than which thing it is of
        if not any(self._graph.links(tool, name) for name in shown.required):
            extra = extra or [name for name in others if self._graph.refers(tool, name)][:1]
        if is_making(tool) and not shown.required and not extra:
            raise UnsayableError  # made of nothing
        chosen = {*shown.required, *extra[:_MOST_OPTIONAL]}
        self._given[tool] = [name for name in shown.properties if name in chosen]
        return self._given[tool]

    def _is_worth_saying(self, tool: str, name: str) -> bool:
        if _NEVER & set(split_name(name)) or self._graph.members(tool, name):
            return False
        if self._graph.links(tool, name) and self._is_hidden(tool, name):
            is_open = self._graph.refers(tool, name) and bool(self._open_links(tool, name))
            return is_open or self._comes_inside(tool, name)
        return self._element(tool, name) != "identifier"

    def _is_hidden(self, tool: str, name: str) -> bool:
        """Whether nobody would say the value, so it must come from a response."""
        return self._element(tool, name) in {"identifier", "filter", "sort", "number", "text"}

    def _comes_inside(self, tool: str, name: str) -> bool:
        return not self._graph.is_told(tool, name) and any(
            self._graph.is_inside(link.source, tool, name) for link in self._graph.links(tool, name)
        )

    def _take_linked(
        self, tool: str, names: Sequence[str], slots: dict[str, Slot], depth: int
    ) -> None:
        for source, group in self._groups(tool, names):
            links = {name: self._link(tool, name, source) for name in group}
            if self._graph.is_lookup(source):
                call = self._bridge(source, tool, group[0]) if self._crosses else None
                if call is None:
                    call = self._lookup(source, self._role(tool, group[0]))
                slots.update({name: Take(call, link, "lookup") for name, link in links.items()})
                continue
            call = self._known.get((source, "search"))
            if call is None:
                call = self._build(source, wanted=is_making(source), depth=depth + 1)
                self._known[source, "search"] = call
            is_through = all(self._graph.is_through(source, tool, name) for name in group)
            mark = 0 if is_through else self._mark(call)
            selection = "through" if is_through else "ranked"
            slots.update({name: Take(call, link, selection, mark) for name, link in links.items()})
            properties, theirs = (self._graph.tools[one].properties for one in (tool, source))
            # what the search was given counts for its entries
            for name, slot in self._calls[call].slots.items():
                if (
                    name in properties
                    and name not in slots
                    and same_kind(properties[name], theirs[name])
                ):
                    slots[name] = slot

    def _groups(self, tool: str, names: Sequence[str]) -> list[tuple[str, list[str]]]:
        """Group the parameters that one entry gives; two with the same field need two entries."""
        groups: list[tuple[str, list[str]]] = []
        for name in names:
            source = self._source(tool, name, [known for known, _ in groups])
            field = self._link(tool, name, source).field
            of_source = [group for known, group in groups if known == source]
            free = [
                one
                for one in of_source
                if all(self._link(tool, other, source).field != field for other in one)
            ]
            if free:
                max(free, key=lambda group: shared_start(group[0], name)).append(name)
            else:
                groups.append((source, [name]))
        return groups

    def _source(self, tool: str, name: str, taken: Sequence[str]) -> str:
        """Return the tool that gives a value: one already used, else a look-up or a search.

        A search gives identifiers if there is one; other values come from a look-up first. At
        times it is a tool that makes a thing.
        """
        links = self._open_links(tool, name) or self._graph.links(tool, name)
        makers = [
            link.source
            for link in links
            if not self._graph.is_listed(link) and is_making(link.source)
        ]
        if makers and self._rng.random() < _SHARE_OF_MADE:
            return self._rng.choice(makers)
        together = [link.source for link in links if link.source in taken]
        if together:
            return together[0]
        listed = list(dict.fromkeys(link.source for link in links if self._graph.is_listed(link)))
        sources = listed or [link.source for link in links]
        searches = [source for source in sources if not self._graph.is_lookup(source)]
        lookups = [source for source in sources if self._graph.is_lookup(source)]
        known_searches = [source for source in searches if (source, "search") in self._known]
        if self._crosses and lookups and known_searches and self._rng.random() < _SHARE_OF_BRIDGES:
            return known_searches[0]
        if lookups and (not searches or self._element(tool, name) != "identifier"):
            return max(lookups, key=lambda source: affinity(tool, source))
        return self._rng.choice(known_searches or searches)

    def _open_links(self, tool: str, name: str) -> list[Link]:
        """Return a parameter's links, except those from calls that need this call."""
        return [link for link in self._graph.links(tool, name) if link.source not in self._building]

    def _link(self, tool: str, name: str, source: str) -> Link:
        return next(link for link in self._graph.links(tool, name) if link.source == source)

    def _lookup(self, tool: str, role: str) -> int:
        if (tool, role) not in self._known:
            query = self._graph.tools[tool].required[0]
            say = Say(self._element(tool, query), role, tool, query, f"{role} of {tool}")
            self._known[tool, role] = self._kept(SketchedCall(tool, {query: say}, wanted=False))
        return self._known[tool, role]

    def _bridge(self, tool: str, user: str, parameter: str) -> int | None:
        """Return a look-up of what an earlier search's entry names, such as a flight's airport.

        None if there is none, or if it would not be the shortest way.
        """
        query = self._graph.tools[tool].required[0]
        direct = {
            link.source
            for link in self._graph.links(user, parameter)
            if not self._graph.is_lookup(link.source)
        }
        # these give the value without a look-up: that is shorter
        domains = {self._graph.domain(one) for one in direct}
        for link in self._graph.links(tool, query):
            search = self._known.get((link.source, "search"))
            if (
                not self._graph.is_listed(link)
                or search is None
                or (tool, link.source) in self._bridged
            ):
                continue
            if self._graph.domain(link.source) in domains:
                continue
            self._bridged.add((tool, link.source))
            if self._rng.random() < _SHARE_OF_BRIDGES:
                take = Take(search, link, "ranked", self._marks.setdefault(search, 0))
                return self._kept(SketchedCall(tool, {query: take}, wanted=False))
        return None

    def _mark(self, call: int) -> int:
        """Return the entry that is meant: usually the one before, sometimes a new one."""
        mark = self._marks.get(call)
        if mark is None or self._rng.random() < 0.25:  # noqa: PLR2004 - one want in four is of another entry
            self._marks[call] = 0 if mark is None else mark + 1
        return self._marks[call]

    def _stated(self, tool: str, name: str) -> Slot:
        schema = self._graph.schema(tool, name)
        if self._graph.members(tool, name):
            roles = self._rng.choice(
                (
                    ("home", "main", "home"),
                    ("home", "main", "other"),
                    ("home", "main", "other", "home"),
                )
            )
            parts = [
                self._leg(tool, name, (roles[at], roles[at + 1]), at)
                for at in range(len(roles) - 1)
            ]
            return Group("list", (), tuple(parts))
        if name in self._graph.tools[tool].required and "default" in schema:
            return Fixed(schema["default"])
        element = self._element(tool, name)
        if element == "identifier":
            return self._told(tool, name)
        if self._crosses:
            for link in self._graph.links(tool, name):
                search = self._known.get((link.source, "search"))
                if (
                    self._graph.is_listed(link)
                    and search is not None
                    and self._rng.random() < _SHARE_OF_BRIDGES
                ):
                    later = self._rng.choice(_LATER) if element == "time" else 0
                    return Take(search, link, "ranked", self._marks.setdefault(search, 0), later)
        return Say(
            element, self._role(tool, name), tool, name, f"{name} of {self._graph.domain(tool)}"
        )

    def _told(self, tool: str, name: str) -> Say:
        """Return an id that the user knows from elsewhere. Raises UnsayableError for one too many.

        Calls that name its thing alike share it.
        """
        key = name if names_thing(name) else f"{name} of {tool}"
        self._ids.add(key)
        if not self._graph.is_told(tool, name) or len(self._ids) > _MOST_TOLD:
            raise UnsayableError
        return Say("identifier", self._role(tool, name), tool, name, key)

    def _leg(self, tool: str, name: str, roles: tuple[str, str], at: int) -> Group:
        members = self._graph.members(tool, name)
        parts: list[Slot] = []
        for member in members:
            full = f"{name}[].{member}"
            links = [
                link for link in self._graph.links(tool, full) if self._graph.is_lookup(link.source)
            ]
            if links:
                role = roles[0] if _FROM & set(split_name(member)) else roles[1]
                parts.append(Take(self._lookup(links[0].source, role), links[0], "lookup"))
            elif self._element(tool, full) == "identifier":
                raise UnsayableError
            else:
                parts.append(
                    Say(self._element(tool, full), roles[1], tool, full, f"{full} {at} of {tool}")
                )
        return Group("object", members, tuple(parts))

    def _inside(self, tool: str, name: str, slots: Mapping[str, Slot]) -> Slot:
        """Return an entry from a call with the same values: a filter, an order, a currency.

        Raises UnsayableError if one of the values is missing.
        """
        link = next(
            one
            for one in self._graph.links(tool, name)
            if self._graph.is_inside(one.source, tool, name)
        )
        required = self._graph.tools[link.source].required
        if any(need not in slots for need in required):
            raise UnsayableError
        call = self._kept(
            SketchedCall(link.source, {need: slots[need] for need in required}, wanted=False)
        )
        if self._element(tool, name) == "filter" and self._rng.random() < 0.5:  # noqa: PLR2004 - every second time two
            return Group(
                "joined", (), (Take(call, link, "inside", 0), Take(call, link, "inside", 1))
            )
        return Take(call, link, "inside")

    def _role(self, tool: str, name: str) -> str:
        words = set(split_name(name))
        if words & _FROM:
            return "home"
        return "main again" if words & _BACK and self._turn % 2 else "main"
