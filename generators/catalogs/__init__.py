"""Read tool catalogs: one reader for each format, which reports problems item by item."""

import re
from collections.abc import Sequence
from pathlib import Path

from callwright.generators.catalogs.catalog import (
    Catalog,
    CatalogFormat,
    Problem,
    check_catalog,
    merged,
    shown,
)
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.registry import Registry, guarded, whose

FORMATS = Registry("catalogs", CatalogFormat, "catalog format", "formats")

_OPENAPI = re.compile(r"""["']?(openapi|swagger)["']?\s*:\s*["']?\d""")
_HEAD = 4_000

__all__ = ["FORMATS", "Catalog", "Problem", "check_catalog", "read_catalog", "recognise"]


def read_catalog(format: str, path: Path | Sequence[Path]) -> Catalog:  # noqa: A002 - the word that the command line uses
    """Read the tools at one or several paths into a catalog.

    Raises ConfigurationError for an unknown format or a path without tools of that format.
    """
    form = FORMATS.named(format)
    return (
        _read(form, path) if isinstance(path, Path) else merged([_read(form, one) for one in path])
    )


def _read(form: CatalogFormat, path: Path) -> Catalog:
    what = f"catalog format {form.name!r}"
    with guarded(what, form.read):
        form_catalog = form.read(path)
    if not isinstance(form_catalog, Catalog):
        problem = f"{whose(what, form.read)} gives {shown(form_catalog)}; it gives a Catalog."
        raise ConfigurationError(problem)
    return form_catalog


def recognise(path: Path) -> str:
    """Return the format of a file or folder, by its first words or by a reader that finds tools.

    Raises ConfigurationError if no reader finds any.
    """
    if path.is_file() and _OPENAPI.search(
        path.read_text(encoding="utf-8", errors="replace")[:_HEAD]
    ):
        return "openapi"
    for name in FORMATS.names:
        try:
            if read_catalog(name, path).tools:
                return name
        except ConfigurationError:
            continue
    message = f"{str(path)!r} has no tools in a known format ({', '.join(FORMATS.names)})."
    raise ConfigurationError(message)
