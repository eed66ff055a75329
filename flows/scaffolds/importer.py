"""Your own importer: a CSV file, a line per parameter, `tool,description,parameter,type`."""

import csv
from pathlib import Path

from callwright.generators.catalogs.catalog import Catalog, CatalogFormat
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import JsonSchema, Tool


def read(path: Path) -> Catalog:
    """The tools of a file. Raises ConfigurationError where it has none."""
    with path.open(encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    if not rows or {"tool", "description", "parameter", "type"} - {*rows[0]}:
        raise ConfigurationError(f"{path} has no lines of tool, description, parameter and type.")
    tools = []
    for name in dict.fromkeys(row["tool"] for row in rows):
        own = [row for row in rows if row["tool"] == name]
        properties: dict[str, JsonSchema] = {row["parameter"]: {"type": row["type"]} for row in own}
        schema: JsonSchema = {"type": "object", "properties": properties, "required": [*properties]}
        tools.append(
            Tool(
                name=name, description=own[0]["description"], parameters=schema, category=path.stem
            )
        )
    return Catalog(tools=tuple(tools), entries=len(tools), distinct=len(tools), files=(path,))


FORMAT = CatalogFormat("example", read)
