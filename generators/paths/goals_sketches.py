"""Backward chaining: from the tools whose responses are wanted to the calls that they need, before any value is known."""

from collections.abc import Callable, Mapping, Sequence
from random import Random

from generators.paths.goals_atlas import Atlas, same_kind, shared_start
from generators.paths.goals_overlaps import overlaps
from generators.paths.goals_slots import Fixed, Group, Say, Sketch, SketchedCall, Slot, Take
from llm.template.names import split_name
from llm.template.steps_tools import affinity
from warehouse.records import Link
from warehouse.records.paths import ElementKind

_DEEPEST = 5
_OPTIONAL: Mapping[str, float] = {
    "people": 0.45, "age": 0.2, "sort": 0.3, "cabin": 0.5, "filter": 0.5, "time": 0.5, "keyword": 0.4, "count": 0.2,
    "price": 0.25, "distance": 0.3, "currency": 0.12, "date": 0.25, "company": 0.3, "chain": 0.3, "duration": 0.2,
    "identifier": 0.5,
}  # fmt: skip
_MOST_OPTIONAL = 2
_SHARE_OF_BRIDGES = 0.8
_LATER = (30, 45, 60, 90, 120)
_FROM = frozenset({"from", "origin", "departure", "depart"})
_BACK = frozenset({"drop", "dropoff", "return", "off"})
_NEVER = frozenset(
    {"min", "page", "locale", "language", "languagecode", "timezone", "units", "unit", "limit", "offset"}
)


class UnsayableError(Exception):
    """The tool needs a value that neither a user says nor a response gives; the sketch is given up."""


class Sketcher:
    """Draws one sketch; made anew for each."""

    def __init__(
        self, atlas: Atlas, element: Callable[[str, str], ElementKind], rng: Random, *, crosses: bool = False
    ) -> None:
        """`crosses` lets a search of one domain name what is looked up in another."""
        self._crosses, self._bridged = crosses, set[tuple[str, str]]()
        self._atlas, self._element, self._rng = atlas, element, rng
        self._calls: list[SketchedCall] = []
        self._known: dict[tuple[str, str], int] = {}
        self._marks: dict[int, int] = {}
        self._given: dict[str, list[str]] = {}
        self._turn = 0

    def draw(self, wants: Sequence[str]) -> Sketch | None:
        """The sketch of a goal that wants these tools' responses, None where one of them can't be called."""
        try:
            for tool in wants:
                self._turn += 1
                self._want(tool)
        except UnsayableError:
            return None
        return None if overlaps(self._calls, self._atlas, self._element) else Sketch(tuple(self._calls))

    def _want(self, tool: str) -> None:
        known = self._known.get((tool, "search"))
        if known is not None and self._atlas.is_source(tool):
            self._calls[known] = self._calls[known]._replace(wanted=True)
        else:
            self._known.setdefault((tool, "search"), self._build(tool, wanted=True, depth=0))

    def _build(self, tool: str, *, wanted: bool, depth: int) -> int:
        if depth > _DEEPEST:
            raise UnsayableError
        slots: dict[str, Slot] = {}
        chosen = self._chosen(tool)
        self._take_linked(tool, [name for name in chosen if self._is_taken(tool, name)], slots, depth)
        chosen = [name for name in chosen if name in slots or not self._is_settled(tool, name, slots)]
        for name in chosen:
            if name not in slots and not self._comes_inside(tool, name):
                slots[name] = self._said(tool, name, depth)
        for name in chosen:
            if name not in slots:
                slots[name] = self._inside(tool, name, slots)
        ordered = {name: slots[name] for name in self._atlas.tools[tool].properties if name in slots}
        return self._kept(SketchedCall(tool, ordered, wanted))

    def _is_settled(self, tool: str, name: str, slots: Mapping[str, Slot]) -> bool:
        """Whether the search that the tool follows could have been told this already."""
        if name in self._atlas.tools[tool].required:
            return False
        searches = {slot.source for slot in slots.values() if isinstance(slot, Take) and slot.manner != "lookup"}
        return any(name in self._atlas.tools[self._calls[at].tool].properties for at in searches)

    def _kept(self, call: SketchedCall) -> int:
        for index, known in enumerate(self._calls):
            if (known.tool, known.slots) == (call.tool, call.slots):
                self._calls[index] = known._replace(wanted=known.wanted or call.wanted)
                return index
        self._calls.append(call)
        return len(self._calls) - 1

    def _chosen(self, tool: str) -> list[str]:
        """Every required parameter and some of the others, the same each time."""
        if tool in self._given:
            return self._given[tool]
        shown = self._atlas.tools[tool]
        others = [name for name in shown.properties if name not in shown.required and self._is_worth_saying(tool, name)]
        self._rng.shuffle(others)
        extra = [name for name in others if self._rng.random() < _OPTIONAL.get(self._element(tool, name), 0.0)]
        chosen = {*shown.required, *extra[:_MOST_OPTIONAL]}
        self._given[tool] = [name for name in shown.properties if name in chosen]
        return self._given[tool]

    def _is_worth_saying(self, tool: str, name: str) -> bool:
        if _NEVER & set(split_name(name)) or self._atlas.members(tool, name):
            return False
        if self._atlas.links(tool, name) and self._is_hidden(tool, name):
            return self._comes_inside(tool, name)
        return self._element(tool, name) != "identifier"

    def _is_taken(self, tool: str, name: str) -> bool:
        links = self._atlas.links(tool, name)
        return bool(links) and not self._comes_inside(tool, name) and self._is_hidden(tool, name)

    def _is_hidden(self, tool: str, name: str) -> bool:
        """Whether nobody would say the value: it has to come out of a response."""
        return self._element(tool, name) in {"identifier", "filter", "sort", "number", "text"}

    def _comes_inside(self, tool: str, name: str) -> bool:
        return any(self._atlas.is_inside(link.source, tool, name) for link in self._atlas.links(tool, name))

    def _take_linked(self, tool: str, names: Sequence[str], slots: dict[str, Slot], depth: int) -> None:
        for source, group in self._groups(tool, names):
            links = {name: self._link(tool, name, source) for name in group}
            if self._atlas.is_lookup(source):
                call = self._bridge(source, tool, group[0]) if self._crosses else None
                if call is None:
                    call = self._lookup(source, self._role(tool, group[0]))
                slots.update({name: Take(call, link, "lookup") for name, link in links.items()})
                continue
            call = self._search(source, depth)
            is_through = all(self._atlas.is_through(source, tool, name) for name in group)
            mark = 0 if is_through else self._mark(call)
            manner = "through" if is_through else "ranked"
            slots.update({name: Take(call, link, manner, mark) for name, link in links.items()})
            self._inherit(tool, call, slots)

    def _groups(self, tool: str, names: Sequence[str]) -> list[tuple[str, list[str]]]:
        """Parameters that one entry gives together: two that take the same field are of two entries."""
        groups: list[tuple[str, list[str]]] = []
        for name in names:
            source = self._source(tool, name, [known for known, _ in groups])
            field = self._link(tool, name, source).field
            free = [
                group
                for known, group in groups
                if known == source and all(self._link(tool, other, source).field != field for other in group)
            ]
            best = max(free, key=lambda group: shared_start(group[0], name), default=None)
            if best is None:
                groups.append((source, [name]))
            else:
                best.append(name)
        return groups

    def _source(self, tool: str, name: str, taken: Sequence[str]) -> str:
        """The tool whose response gives the value: one that gives others already, else a search, else a look-up."""
        links = self._atlas.links(tool, name)
        sources = list(dict.fromkeys(link.source for link in links if self._atlas.is_listed(link))) or [
            link.source for link in links
        ]
        together = [link.source for link in links if link.source in taken]
        if together:
            return together[0]
        searches = [source for source in sources if not self._atlas.is_lookup(source)]
        lookups = [source for source in sources if self._atlas.is_lookup(source)]
        found = [source for source in searches if (source, "search") in self._known]
        if self._crosses and lookups and found and self._rng.random() < _SHARE_OF_BRIDGES:
            return found[0]
        if lookups and (not searches or self._element(tool, name) != "identifier"):
            return max(lookups, key=lambda source: affinity(tool, source))
        known = [source for source in searches if (source, "search") in self._known]
        return self._rng.choice(known or searches)

    def _link(self, tool: str, name: str, source: str) -> Link:
        return next(link for link in self._atlas.links(tool, name) if link.source == source)

    def _lookup(self, tool: str, role: str) -> int:
        known = self._known.get((tool, role))
        if known is not None:
            return known
        query = self._atlas.tools[tool].required[0]
        say = Say(self._element(tool, query), role, tool, query, f"{role} of {tool}")
        self._known[tool, role] = self._kept(SketchedCall(tool, {query: say}, wanted=False))
        return self._known[tool, role]

    def _bridge(self, tool: str, user: str, parameter: str) -> int | None:
        """A look-up of what an entry of an earlier search is called: the airport of a flight, the hotel that was found."""
        query = self._atlas.tools[tool].required[0]
        for link in self._atlas.links(tool, query):
            search = self._known.get((link.source, "search"))
            if not self._atlas.is_listed(link) or search is None or (tool, link.source) in self._bridged:
                continue
            if self._is_direct(user, parameter, self._atlas.domain(link.source)):
                continue
            self._bridged.add((tool, link.source))
            if self._rng.random() < _SHARE_OF_BRIDGES:
                take = Take(search, link, "ranked", self._marks.setdefault(search, 0))
                return self._kept(SketchedCall(tool, {query: take}, wanted=False))
        return None

    def _is_direct(self, tool: str, parameter: str, domain: str) -> bool:
        """Whether the domain gives the parameter its value without anything being looked up: that way is shorter."""
        sources = {link.source for link in self._atlas.links(tool, parameter)}
        return any(self._atlas.domain(one) == domain and not self._atlas.is_lookup(one) for one in sources)

    def _search(self, tool: str, depth: int) -> int:
        known = self._known.get((tool, "search"))
        if known is None:
            known = self._build(tool, wanted=False, depth=depth + 1)
            self._known[tool, "search"] = known
        return known

    def _mark(self, call: int) -> int:
        """Mostly the entry that was meant before, now and then another one."""
        mark = self._marks.get(call)
        if mark is None or self._rng.random() < 0.25:  # noqa: PLR2004 - one want in four is of another entry
            self._marks[call] = 0 if mark is None else mark + 1
        return self._marks[call]

    def _inherit(self, tool: str, source: int, slots: dict[str, Slot]) -> None:
        """What the search was told counts for what is asked of its entries."""
        for name, slot in self._calls[source].slots.items():
            properties = self._atlas.tools[tool].properties
            theirs = self._atlas.tools[self._calls[source].tool].properties
            if name in properties and name not in slots and same_kind(properties[name], theirs[name]):
                slots[name] = slot

    def _said(self, tool: str, name: str, depth: int) -> Slot:
        schema = self._atlas.schema(tool, name)
        if self._atlas.members(tool, name):
            return self._legs(tool, name, depth)
        if name in self._atlas.tools[tool].required and "default" in schema:
            return Fixed(schema["default"])
        element = self._element(tool, name)
        if element == "identifier":
            raise UnsayableError
        if self._crosses:
            for link in self._atlas.links(tool, name):
                search = self._known.get((link.source, "search"))
                if self._atlas.is_listed(link) and search is not None and self._rng.random() < _SHARE_OF_BRIDGES:
                    later = self._rng.choice(_LATER) if element == "time" else 0
                    return Take(search, link, "ranked", self._marks.setdefault(search, 0), later)
        role = self._role(tool, name)
        return Say(element, role, tool, name, f"{name} of {self._atlas.domain(tool)}")

    def _legs(self, tool: str, name: str, depth: int) -> Group:
        roles = self._rng.choice(
            (("home", "main", "home"), ("home", "main", "other"), ("home", "main", "other", "home"))
        )
        parts = [self._leg(tool, name, (roles[at], roles[at + 1]), at) for at in range(len(roles) - 1)]
        return Group("list", (), tuple(parts))

    def _leg(self, tool: str, name: str, roles: tuple[str, str], at: int) -> Group:
        members = self._atlas.members(tool, name)
        parts: list[Slot] = []
        for member in members:
            full = f"{name}[].{member}"
            links = [link for link in self._atlas.links(tool, full) if self._atlas.is_lookup(link.source)]
            if links:
                role = roles[0] if _FROM & set(split_name(member)) else roles[1]
                parts.append(Take(self._lookup(links[0].source, role), links[0], "lookup"))
            elif self._element(tool, full) == "identifier":
                raise UnsayableError
            else:
                parts.append(Say(self._element(tool, full), roles[1], tool, full, f"{full} {at} of {tool}"))
        return Group("object", members, tuple(parts))

    def _inside(self, tool: str, name: str, slots: Mapping[str, Slot]) -> Slot:
        """An entry of a list that a call with the same values gives: a filter, an order, a currency."""
        link = next(one for one in self._atlas.links(tool, name) if self._atlas.is_inside(one.source, tool, name))
        required = self._atlas.tools[link.source].required
        if any(need not in slots for need in required):
            raise UnsayableError
        call = self._kept(SketchedCall(link.source, {need: slots[need] for need in required}, wanted=False))
        if self._element(tool, name) == "filter" and self._rng.random() < 0.5:  # noqa: PLR2004 - every second time two
            return Group("joined", (), (Take(call, link, "inside", 0), Take(call, link, "inside", 1)))
        return Take(call, link, "inside")

    def _role(self, tool: str, name: str) -> str:
        words = set(split_name(name))
        if words & _FROM:
            return "home"
        return "main again" if words & _BACK and self._turn % 2 else "main"
