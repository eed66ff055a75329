"""What a user has said, as values for the parameters of calls that the goal does not name."""

import re
from collections.abc import Iterable, Iterator

from generators.paths.sources import leaves_of
from llm.language.kinds import Kind, choices_of, kind_of
from warehouse.records import Default, Goal, Link, Picked, Said, Tool

_INDEX = re.compile(r"\[\d+\]")


def pattern_of(argument: str) -> str:
    """The place of a leaf as links name it: "legs[0].fromId" is a "legs[].fromId"."""
    return _INDEX.sub("[]", argument)


class KnownValues:
    """The values said in a goal: as arguments, and as texts that conditions compare with."""

    def __init__(self, goal: Goal, links: Iterable[Link], tools: Iterable[Tool]) -> None:
        """Read all of it once; a parameter that a link feeds can't be said."""
        self._linked = {(link.tool, link.parameter) for link in links}
        by_name = {tool.name: tool for tool in tools}
        self._named: dict[str, list[Said | Default]] = {}
        self._by_kind: dict[Kind, list[Said]] = {}
        for index, planned in enumerate(goal.calls):
            for leaf in leaves_of(index, planned.arguments):
                if isinstance(leaf.source, Picked):
                    self._keep_all(_told(leaf.source))
                    continue
                self._named.setdefault(leaf.argument, []).append(leaf.source)
                tool = by_name.get(planned.tool)
                if isinstance(leaf.source, Said) and tool and leaf.argument in tool.properties:
                    self._keep(kind_of(tool.properties[leaf.argument]), leaf.source)

    def is_linked(self, tool: str, parameter: str) -> bool:
        """Whether some response gives this parameter its value."""
        return (tool, parameter) in self._linked

    def values_for(self, tool: Tool, parameter: str) -> list[Said | Default]:
        """What the user said that this parameter can take: for one of the same name, else for one of the same kind."""
        schema = tool.properties[parameter]
        kind = kind_of(schema)
        texts = self.texts if kind == "text" else []
        if parameter in self._named:
            return _unique([*self._named[parameter], *texts])
        if kind == "enum":
            choices = choices_of(schema)
            return [said for held in self._by_kind.values() for said in held if said.value in choices]
        return _unique(texts or (self._by_kind.get(kind, []) if kind in ("date", "time", "date-time") else []))

    @property
    def texts(self) -> list[Said]:
        """Every text that was said."""
        return self._by_kind.get("text", [])

    def _keep_all(self, texts: Iterable[Said]) -> None:
        for said in texts:
            self._keep("text", said)

    def _keep(self, kind: Kind, said: Said) -> None:
        held = self._by_kind.setdefault(kind, [])
        if said.value not in [one.value for one in held]:
            held.append(said)


def _told(picked: Picked) -> Iterator[Said]:
    for condition in picked.where:
        if condition.test in ("equals", "contains") and isinstance(condition.value, str):
            yield Said(value=condition.value, element="text")


def _unique(sources: Iterable[Said | Default]) -> list[Said | Default]:
    found: list[Said | Default] = []
    for source in sources:
        if source.value not in [one.value for one in found]:
            found.append(source)
    return found
