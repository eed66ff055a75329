"""Importing tool catalogs: one reader a format, each reporting item by item what it found odd."""

from collections.abc import Sequence
from pathlib import Path

from callwright.generators.catalogs.catalog import Catalog, CatalogFormat, Problem, merged
from callwright.generators.catalogs.checks import check_catalog
from callwright.warehouse.registry import Registry

FORMATS = Registry("catalogs", CatalogFormat, "catalog format", "formats")

__all__ = ["FORMATS", "Catalog", "Problem", "check_catalog", "read_catalog"]


def read_catalog(format: str, path: Path | Sequence[Path]) -> Catalog:  # noqa: A002 - the word that the command line uses
    """The tools at a path, or at several; ConfigurationError where the format is unknown or a path holds none of its tools."""
    read = FORMATS.named(format).read
    return read(path) if isinstance(path, Path) else merged([read(one) for one in path])
