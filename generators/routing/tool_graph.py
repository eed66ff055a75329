"""The links within a domain: which lookups return what which tools take."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from callwright.generators.catalogs.papers import UNKNOWN_VALUE
from callwright.language.names import split_name
from callwright.warehouse.records import Arguments, Evidence, FeedRule, GoldCall, JsonSchema, Tool

_READING = frozenset(
    {"find", "get", "look", "lookup", "search", "list", "retrieve", "query", "fetch"}
)


class Road(NamedTuple):
    """A parameter of a tool, and the lookup that returns its value."""

    parameter: str
    source: Tool


class DomainGraph:
    """The tools of a domain, and the roads to each."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        """Find out which tool feeds which."""
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
        """Return the parameters of a tool that lookups of the domain return."""
        return self._roads[tool.name]

    def are_linked(self, tools: Sequence[Tool]) -> bool:
        """Whether one of these tools returns what another takes."""
        names = {tool.name for tool in tools}
        return any(road.source.name in names for tool in tools for road in self._roads[tool.name])


UNKNOWN = UNKNOWN_VALUE


def unknown_evidence(argument: str, call: int, field: str) -> Evidence:
    """Why an argument has no value yet: `field` of what the call at this place returns is it."""
    return Evidence(argument=argument, kind="response", rule=FeedRule(call=call, field=field))


def unknown_arguments(call: GoldCall) -> dict[str, FeedRule]:
    """Return a call's unknown arguments with the feed that their evidence names."""
    return {
        evidence.argument: evidence.rule
        for evidence in call.evidence
        if call.arguments.get(evidence.argument) == UNKNOWN and isinstance(evidence.rule, FeedRule)
    }


def returned_fields(tool: Tool) -> dict[str, JsonSchema]:
    """Return the schema of each field that a tool returns, by name."""
    found = (tool.returns or {}).get("properties", {})
    return found if isinstance(found, dict) else {}


def feeds(field: str, source: Tool, parameter: str, target: Tool) -> bool:
    """Whether a field that `source` returns is what `target` takes as this parameter.

    Both must have the same name and shape: the same pattern or, without any, the same type and
    the name of an id. It must not be required by `source`.
    """
    returned, taken = returned_fields(source).get(field), target.properties.get(parameter)
    if returned is None or taken is None or field != parameter or field in source.required:
        return False
    if "pattern" in returned or "pattern" in taken:
        return returned.get("pattern") == taken.get("pattern")
    # "id" alone is the id of whatever the tool is about: an album's is no artist's
    return (
        returned.get("type") == taken.get("type")
        and field.lower().endswith("id")
        and len(split_name(field)) > 1
    )


def known_arguments(call: GoldCall) -> Arguments:
    """Return a call's arguments but those with the unknown sign and evidence of their source."""
    unknown = unknown_arguments(call)
    return {name: value for name, value in call.arguments.items() if name not in unknown}


def feed_problem(
    argument: str, call: GoldCall, calls: Sequence[GoldCall], tools: Mapping[str, Tool]
) -> str:
    """Return why nothing can feed an unknown argument, or "" if an earlier call does."""
    feed = unknown_arguments(call).get(argument)
    if feed is None:
        return (
            f"{argument!r} of {call.tool} is {UNKNOWN!r}, and its evidence names no call that"
            " returns it."
        )
    place = next(index for index, one in enumerate(calls) if one is call)
    if feed.call >= place:
        return (
            f"{argument!r} of {call.tool} shall come of call {feed.call}, which is not made before"
            f" call {place}."
        )
    source, target = tools.get(calls[feed.call].tool), tools.get(call.tool)
    if source is None or target is None or not feeds(feed.field, source, argument, target):
        return (
            f"{calls[feed.call].tool} returns no {feed.field!r} that {call.tool} takes as"
            f" {argument!r}."
        )
    return ""
