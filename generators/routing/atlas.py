"""What of a domain leads where: which lookups return what which tools take."""

from collections.abc import Sequence
from typing import NamedTuple

from generators.routing.unknowns import feeds
from language.names import split_name
from warehouse.records import Tool

_READING = frozenset({"find", "get", "look", "lookup", "search", "list", "retrieve", "query", "fetch"})


class Road(NamedTuple):
    """A parameter of a tool, and the lookup whose answer holds its value."""

    parameter: str
    source: Tool


class Atlas:
    """The tools of a domain, and the roads to each."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        """Look up which tool feeds which."""
        self.tools = tuple(tools)
        lookups = [tool for tool in tools if split_name(tool.name)[0] in _READING]
        self._roads = {
            tool.name: tuple(
                Road(parameter, source)
                for parameter in tool.required
                for source in lookups
                if source.name != tool.name and feeds(parameter, source, parameter, tool)
            )
            for tool in tools
        }

    def roads(self, tool: Tool) -> tuple[Road, ...]:
        """What a tool takes that lookups of the domain return."""
        return self._roads[tool.name]

    def are_linked(self, tools: Sequence[Tool]) -> bool:
        """Whether one of these returns what another of them takes."""
        names = {tool.name for tool in tools}
        return any(road.source.name in names for tool in tools for road in self._roads[tool.name])
