"""The tools of an environment as a graph: which response feeds which tool, and what each does."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from callwright.generators.environments.linking import is_opaque, is_told, words_of
from callwright.generators.environments.protocol import Environment
from callwright.generators.families import tools_for
from callwright.language.calls.entries import is_number_of_thing, is_query
from callwright.language.names import deed_of, function_words
from callwright.warehouse.records import JsonSchema, Link, Tool
from callwright.warehouse.records.drafts import ElementKind

SHARED = "Shared"  # the category of tools that belong to every domain
Element = Callable[[str, str], ElementKind]  # what a tool's parameter is
_MAKING = frozenset({"place", "post", "submit", "insert", "request", "upload"})


class ToolGraph:
    """The tools of an environment with the links between them."""

    def __init__(
        self,
        environment: Environment,
        domains: Iterable[str],
        language: str,
        element: Element | None = None,
        writing: Collection[str] = (),
    ) -> None:
        """Take the tools of `domains` (of all, if it is empty) in `language`.

        With `element`, tools of other domains are added as `lent`: lists that give the
        identifiers that those tools take and none of them gives. No link starts at a `writing`
        tool: no other call of a task uses what it creates.
        """
        wanted = {*domains, SHARED} if domains else set()
        spoken = {tool.name: tool for tool in tools_for(environment.tools, language)}
        self.tools: Mapping[str, Tool] = {
            name: tool for name, tool in spoken.items() if not wanted or tool.category in wanted
        }
        every: dict[tuple[str, str], list[Link]] = {}
        for link in environment.links:
            if link.tool in spoken and link.source in spoken and link.source not in writing:
                every.setdefault((link.tool, link.parameter), []).append(link)
        self.lent = (
            _lent(self.tools, spoken, every, element) if wanted and element is not None else {}
        )
        self.tools = {**self.tools, **self.lent}
        inside = {
            at: [link for link in some if link.source in self.tools] for at, some in every.items()
        }
        self._links = {at: some for at, some in inside.items() if some and at[0] in self.tools}
        self._lookups = frozenset(name for name in self.tools if self._finds_by_name(name))
        self._told = frozenset(self._out_of_reach())

    def links(self, tool: str, parameter: str) -> Sequence[Link]:
        """Return where the parameter's value can come from; works for "legs[].fromId" too."""
        return self._links.get((tool, parameter), ())

    def schema(self, tool: str, parameter: str) -> JsonSchema:
        """Return the schema of a parameter; works for "legs[].fromId" too."""
        first, _, member = parameter.partition("[].")
        schema = self.tools[tool].properties[first]
        return (
            (schema.get("items") or {}).get("properties", {}).get(member, {}) if member else schema
        )

    def members(self, tool: str, parameter: str) -> tuple[str, ...]:
        """Return the required members (else all) of a list parameter's objects; () if no list."""
        items = self.tools[tool].properties[parameter].get("items") or {}
        return tuple(items.get("required") or items.get("properties") or ())

    def is_told(self, tool: str, parameter: str) -> bool:
        """Whether the user knows an id from elsewhere, since no calls lead to its source."""
        return (tool, parameter) in self._told

    def tell_ids(self) -> None:
        """Let the user know every required id: where results don't tell one thing from another."""
        self._told = frozenset(
            (name, one)
            for name, tool in self.tools.items()
            for one in tool.required
            if is_told(one)
        )

    def _out_of_reach(self) -> Iterator[tuple[str, str]]:
        reached: set[str] = set()

        def missing(tool: str) -> list[str]:
            return [
                name
                for name in self.tools[tool].required
                if is_told(name)
                and not any(link.source in reached for link in self.links(tool, name))
            ]

        while more := {one for one in self.tools if one not in reached and not missing(one)}:
            reached |= more
        yield from ((tool, name) for tool in self.tools for name in missing(tool))

    def is_lookup(self, tool: str) -> bool:
        """Whether the tool finds a thing by the single text that names it."""
        return tool in self._lookups

    def _finds_by_name(self, tool: str) -> bool:
        required = self.tools[tool].required
        if len(required) != 1 or is_making(tool):
            return False
        schema, linked = self.schema(tool, required[0]), bool(self.links(tool, required[0]))
        return is_query(required[0], schema, linked=linked) and not is_opaque(required[0])

    def is_inside(self, source: str, tool: str, parameter: str) -> bool:
        """Whether `tool` takes, besides `parameter`, everything that a call of `source` needs."""
        parameters = self.tools[tool].properties
        needed = self.tools[source].required
        # one of all that there are is chosen like any other
        if not needed and is_number_of_thing(parameter):
            return False
        return not self.is_lookup(source) and all(
            name in parameters and name != parameter for name in needed
        )

    def is_through(self, source: str, tool: str, parameter: str) -> bool:
        """Whether the source gives the parameter by a whole response only, not by list entries."""
        return not any(
            self.is_listed(link) for link in self.links(tool, parameter) if link.source == source
        )

    def is_listed(self, link: Link) -> bool:
        """Whether the value is one of a list, so that a goal must say which is meant."""
        return is_listed(link, self.tools[link.source])

    def is_source(self, tool: str) -> bool:
        """Whether another tool takes a value from its response."""
        return any(link.source == tool for links in self._links.values() for link in links)

    def refers(self, tool: str, parameter: str) -> bool:
        """Whether an optional parameter takes another thing's id from a list ("petId")."""
        is_optional = parameter in self.tools[tool].optional
        is_named = is_opaque(parameter) and len(words_of(parameter)) > 1
        return (
            is_optional
            and is_named
            and any(self.is_listed(link) for link in self.links(tool, parameter))
        )

    def domain(self, tool: str) -> str:
        """Return the domain of a tool."""
        return self.tools[tool].category


def is_listed(link: Link, source: Tool) -> bool:
    """Whether the value that a link gives is one of a list."""
    return bool(link.entries) or (source.returns or {}).get("type") == "array"


def _lent(
    own: Mapping[str, Tool],
    spoken: Mapping[str, Tool],
    links: Mapping[tuple[str, str], Sequence[Link]],
    element: Element,
) -> dict[str, Tool]:
    """Return tools outside a domain for ids that its `own` need and none gives, recursively.

    Of several that list the ids, those whose entries are the identified things are preferred,
    and of these the one that requires least.
    """
    lent_tools: dict[str, Tool] = {}
    waiting = list(own.values())
    while waiting:
        tool = waiting.pop(0)
        for name in tool.required:
            incoming = links.get((tool.name, name), ())
            if element(tool.name, name) != "identifier" or any(
                link.source in lent_tools or (link.source in own and _is_of_entry(link))
                for link in incoming
            ):
                continue
            listing = [link for link in incoming if is_listed(link, spoken[link.source])]
            if listing:
                nearest = min(
                    listing,
                    key=lambda one: (
                        not _is_of_entry(one),
                        one.field.count("."),
                        len(spoken[one.source].required),
                    ),
                )
                if nearest.source in own:
                    continue
                best = spoken[nearest.source]
                lent_tools[best.name] = best
                waiting.append(best)
    return lent_tools


def _is_of_entry(link: Link) -> bool:
    """Whether a link's value identifies the entry itself, and no other thing that it refers to."""
    *thing, _ = words_of(link.field) or [""]
    around = {*words_of(link.entries.rpartition(".")[2]), *words_of(link.source)}
    return "." not in link.field and around.issuperset(thing)


@lru_cache(4096)
def is_making(tool: str) -> bool:
    """Whether a tool's name says that it makes a thing; then it is called only on request."""
    verb = next(iter(function_words(tool)), "")
    return deed_of(verb) == "make" or verb in _MAKING


@lru_cache(4096)
def is_changing(tool: str) -> bool:
    """Whether a tool's name says that it changes a thing."""
    return deed_of(next(iter(function_words(tool)), "")) == "change"


def is_deed(tool: str) -> bool:
    """Whether a tool's name says that it does something, so its result is never asked for."""
    return (
        is_making(tool)
        or is_changing(tool)
        or deed_of(next(iter(function_words(tool)), "")) == "drop"
    )
