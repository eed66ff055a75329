"""Importing tool catalogs: one reader a format, each reporting item by item what it found odd."""

from collections.abc import Callable, Mapping
from pathlib import Path

from callwright.generators.catalogs.bfcl import read_bfcl
from callwright.generators.catalogs.callnavi import read_callnavi
from callwright.generators.catalogs.catalog import Catalog, Problem
from callwright.generators.catalogs.checks import check_catalog
from callwright.generators.catalogs.hammerbench import read_hammerbench_tools
from callwright.generators.catalogs.openapi import read_openapi
from callwright.generators.catalogs.tool_lists import read_mcp, read_openai
from callwright.warehouse.errors import ConfigurationError

FORMATS: Mapping[str, Callable[[Path], Catalog]] = {
    "bfcl": read_bfcl,
    "callnavi": read_callnavi,
    "hammerbench": read_hammerbench_tools,
    "mcp": read_mcp,
    "openai": read_openai,
    "openapi": read_openapi,
}

__all__ = ["FORMATS", "Catalog", "Problem", "check_catalog", "read_catalog"]


def read_catalog(format: str, path: Path) -> Catalog:  # noqa: A002 - the word that the command line uses
    """The tools at `path`; ConfigurationError where the format is unknown or the path holds none of its tools."""
    if format not in FORMATS:
        known = ", ".join(FORMATS)
        raise ConfigurationError(f"There is no catalog format {format!r}; the formats are {known}.")
    return FORMATS[format](path)
