"""Importing tool catalogs: one reader a format, each reporting item by item what it found odd."""

from pathlib import Path

from callwright.generators.catalogs.catalog import Catalog, CatalogFormat, Problem
from callwright.generators.catalogs.checks import check_catalog
from callwright.warehouse.registry import Registry

FORMATS = Registry("catalogs", CatalogFormat, "catalog format", "formats")

__all__ = ["FORMATS", "Catalog", "Problem", "check_catalog", "read_catalog"]


def read_catalog(format: str, path: Path) -> Catalog:  # noqa: A002 - the word that the command line uses
    """The tools at `path`; ConfigurationError where the format is unknown or the path holds none of its tools."""
    return FORMATS.named(format).read(path)
