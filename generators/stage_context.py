"""What a stage has at hand while it works on one record."""

from collections.abc import Mapping
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from generators.environments.protocol import Environment
from llm.chat import ChatModel
from warehouse.errors import RecordError
from warehouse.records import Tool


class StageContext(NamedTuple):
    """The model of the stage's role, a generator seeded for this record, the tools by key, the environments by name."""

    chat: ChatModel
    rng: Random
    tools: Mapping[str, Tool]
    environments: Mapping[str, Environment] = MappingProxyType({})

    def tool(self, key: str) -> Tool:
        """The tool with this key; RecordError where the catalog lacks it."""
        if key not in self.tools:
            raise RecordError(f"The catalog has no tool with the key {key!r}.")
        return self.tools[key]

    def toolset(self, keys: tuple[str, ...]) -> list[Tool]:
        """The tools with these keys, in their order."""
        return [self.tool(key) for key in keys]

    def environment(self, name: str) -> Environment:
        """The environment of this name; RecordError where the build has none such."""
        if name not in self.environments:
            raise RecordError(f"The build has no environment {name!r}.")
        return self.environments[name]
