"""Tools for the tests of toolsets, in few words."""

from typing import Any

from callwright.warehouse.records import Language, Tool


def tool(name: str, description: str, *, language: Language = "en", category: str = "Any", **properties: Any) -> Tool:
    """A tool whose parameters are described, and none required, unless a schema under `required` says so."""
    required = properties.pop("required", [])
    described = {
        parameter: {"type": "string", "description": parameter} | (schema or {})
        for parameter, schema in properties.items()
    }
    parameters = {"type": "object", "properties": described, "required": list(required)}
    return Tool(name=name, description=description, category=category, language=language, parameters=parameters)
