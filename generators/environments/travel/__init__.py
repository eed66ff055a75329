"""A simulated travel world of hotels, flights, cars, attractions and taxis, with its rules."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from callwright.generators.catalogs import read_catalog
from callwright.generators.catalogs.choosing import listed_tools
from callwright.generators.environments.document_world import DocumentWorld
from callwright.generators.environments.endpoints import Endpoint, endpoints_of
from callwright.generators.environments.linking import with_hints
from callwright.generators.environments.rules import CompiledRules, read_rules

NAME = "travel"


def open_travel(seed: int = 0, response_size: str = "medium") -> DocumentWorld:
    """Open the travel world of a seed.

    Responses are "short", "medium" (usually 1 to 6 kB) or "long" (100 kB and more). Raises
    ConfigurationError for any other size.
    """
    endpoints, rules = _read()
    return DocumentWorld(
        NAME, endpoints, rules.links(endpoints), seed=seed, rules=rules.sized(response_size)
    )


@cache
def _read() -> tuple[tuple[Endpoint, ...], CompiledRules]:
    folder = Path(str(files(__name__)))
    catalog, rules = (
        read_catalog("openapi", folder / "openapi.yaml"),
        read_rules(folder / "world.yaml"),
    )
    tools, listed = (
        [tool.with_changes(source=f"environment:{NAME}") for tool in catalog.tools],
        listed_tools(catalog),
    )
    operations, errors = [(one.method, one.path) for one in listed], [one.errors for one in listed]
    bare = endpoints_of(tools, operations, errors=errors)
    hinted = with_hints([one.tool for one in bare], rules.links(bare))
    return tuple(one._replace(tool=tool) for one, tool in zip(bare, hinted, strict=True)), rules
