"""Small worlds of operations that are written down in a line each."""

from collections.abc import Mapping

from pydantic import JsonValue

from callwright.generators.environments.document_world import DocumentWorld
from callwright.generators.environments.endpoints import endpoints_of
from callwright.generators.environments.linking import find_links
from callwright.warehouse.records import JsonSchema, Tool

TEXT: JsonSchema = {"type": "string"}
ID: JsonSchema = {"type": "string", "examples": ["b4Kf92"]}


def thing(**fields: JsonSchema) -> JsonSchema:
    return {"type": "object", "properties": {"id": ID, **fields}}


def listed(schema: JsonSchema) -> JsonSchema:
    return {"type": "array", "items": schema}


def world_of_operations(
    *operations: tuple[str, str, str, JsonSchema | None, Mapping[str, JsonValue]],
) -> DocumentWorld:
    """A world of operations: the tag and the tool's name, method, path, result and parameters
    ("!" marks one that is required).
    """
    tools = [
        Tool(
            name=name.split()[1],
            description=name.split()[1].replace("_", " "),
            category=name.split()[0],
            parameters={
                "type": "object",
                "properties": {one.removesuffix("!"): schema for one, schema in parameters.items()},
                "required": [one.removesuffix("!") for one in parameters if one.endswith("!")],
            },
            returns=returns,
        )
        for name, _, _, returns, parameters in operations
    ]
    endpoints = endpoints_of(tools, [(method, path) for _, method, path, _, _ in operations])
    return DocumentWorld("office", endpoints, find_links(endpoints))
