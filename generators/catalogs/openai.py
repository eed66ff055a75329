"""Tools in the shape of OpenAI's `tools` parameter, wrapped or bare."""

from pathlib import Path

from pydantic import JsonValue

from generators.catalogs.builder import CatalogBuilder, ToolDraft
from generators.catalogs.catalog import Catalog, Problem, shown
from generators.catalogs.documents import read_json, the_file
from warehouse.errors import ConfigurationError

EXPECTED = "a JSON list of OpenAI tools ({'type': 'function', 'function': {...}}) or of bare functions"


def read_openai(path: Path) -> Catalog:
    """The functions of a list, alone or under `tools` or `functions`; all in one category, the file's name."""
    loaded = read_json(the_file(path, EXPECTED))
    if isinstance(loaded, Problem):
        raise ConfigurationError(loaded.message)
    listed, pointer = _listed(loaded)
    if listed is None:
        raise ConfigurationError(f"{str(path)!r} holds {shown(loaded)}; {EXPECTED} is expected.")
    builder = CatalogBuilder("openai")
    for index, stated in enumerate(listed):
        _put(stated, f"{path}#{pointer}/{index}", path.stem, builder)
    return builder.catalog(path, EXPECTED)


def _listed(loaded: JsonValue) -> tuple[list[JsonValue] | None, str]:
    if isinstance(loaded, list):
        return loaded, ""
    if isinstance(loaded, dict):
        for key in ("tools", "functions"):
            listed = loaded.get(key)
            if isinstance(listed, list):
                return listed, f"/{key}"
    return None, ""


def _put(stated: JsonValue, where: str, category: str, builder: CatalogBuilder) -> None:
    if not isinstance(stated, dict):
        builder.refuse(where, stated)
        return
    function, kind = stated.get("function", stated), stated.get("type", "function")
    if kind != "function" or not isinstance(function, dict):
        builder.entries += 1
        message = f"A tool of type {shown(kind)} is no function with parameters; left out."
        builder.report(where, "unsupported", message)
        return
    draft = ToolDraft(
        where=where,
        category=category,
        name=function.get("name"),
        description=function.get("description"),
        # OpenAI's reference: leaving the parameters out defines a function without any.
        parameters=function.get("parameters", {"type": "object", "properties": {}}),
    )
    builder.put(draft)
