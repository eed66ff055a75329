"""What an environment's tools can be asked for: which parameters a user says, and which come out of responses."""

from collections.abc import Iterable, Mapping, Sequence

from generators.environments.protocol import Environment
from llm.template.steps_tools import is_query
from warehouse.records import JsonSchema, Link, Tool

SHOWN = ("type", "format", "enum", "pattern")
SHARED = "Shared"  # the category of tools that belong to every domain


class Atlas:
    """The tools of an environment with the links between them."""

    def __init__(self, environment: Environment, domains: Iterable[str], language: str) -> None:
        """Of the tools, those of `domains` (all where it is empty) in `language`."""
        wanted = {*domains, SHARED} if domains else set()
        chosen = [
            tool for tool in environment.tools if tool.language == language and (not wanted or tool.category in wanted)
        ]
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in chosen}
        self._links: dict[tuple[str, str], list[Link]] = {}
        for link in environment.links:
            if link.tool in self.tools and link.source in self.tools:
                self._links.setdefault((link.tool, link.parameter), []).append(link)

    def links(self, tool: str, parameter: str) -> Sequence[Link]:
        """Where the parameter's value can come from; of "legs[].fromId" too."""
        return self._links.get((tool, parameter), ())

    def schema(self, tool: str, parameter: str) -> JsonSchema:
        """The schema of a parameter, of "legs[].fromId" too."""
        first, _, member = parameter.partition("[].")
        schema = self.tools[tool].properties[first]
        return (schema.get("items") or {}).get("properties", {}).get(member, {}) if member else schema

    def members(self, tool: str, parameter: str) -> tuple[str, ...]:
        """The required members of the objects that a list parameter holds, () for any other parameter."""
        items = self.tools[tool].properties[parameter].get("items") or {}
        return tuple(items.get("required") or items.get("properties") or ())

    def is_lookup(self, tool: str) -> bool:
        """Whether the tool finds a thing by the one text that names it."""
        required = self.tools[tool].required
        if len(required) != 1:
            return False
        return is_query(required[0], self.schema(tool, required[0]), linked=bool(self.links(tool, required[0])))

    def is_inside(self, source: str, tool: str, parameter: str) -> bool:
        """Whether a call of `tool` says, besides `parameter`, all that a call of `source` needs."""
        known = self.tools[tool].properties
        needed = self.tools[source].required
        return not self.is_lookup(source) and all(name in known and name != parameter for name in needed)

    def is_through(self, source: str, tool: str, parameter: str) -> bool:
        """Whether the parameter only ever comes out of a response as a whole: what one entry leads to."""
        return not any(self.is_listed(link) for link in self.links(tool, parameter) if link.source == source)

    def is_listed(self, link: Link) -> bool:
        """Whether the value is one of a list, so that it has to be said which is meant."""
        return bool(link.entries) or (self.tools[link.source].returns or {}).get("type") == "array"

    def is_source(self, tool: str) -> bool:
        """Whether another tool takes something out of its response."""
        return any(link.source == tool for links in self._links.values() for link in links)

    def domain(self, tool: str) -> str:
        """The domain of a tool."""
        return self.tools[tool].category


def same_kind(one: JsonSchema, other: JsonSchema) -> bool:
    """Whether two parameters of one name take the same values."""
    return all(one.get(part) == other.get(part) for part in SHOWN)


def shared_start(one: str, other: str) -> int:
    """How many characters two names begin with alike."""
    return next((at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), len(one))
