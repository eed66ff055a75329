"""Read tool catalogs: one reader for each format, which reports problems item by item."""

import re
from collections.abc import Sequence
from pathlib import Path

from callwright.generators.catalogs.catalog import (
    FATAL,
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
_MOST_TOLD = 3

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

    Raises ConfigurationError if no reader finds any; it says why the tools met can't be used.
    """
    if path.is_file() and _OPENAPI.search(
        path.read_text(encoding="utf-8", errors="replace")[:_HEAD]
    ):
        return "openapi"
    lost: list[Problem] = []
    for name in FORMATS.names:
        try:
            catalog = read_catalog(name, path)
        except ConfigurationError:
            continue
        if catalog.tools:
            return name
        lost += (problem for problem in catalog.problems if problem.kind in FATAL and problem.tool)
    message = f"{str(path)!r} has no tools in a known format ({', '.join(FORMATS.names)})."
    if lost:
        why = dict.fromkeys(f"{one.tool}: {one.message}" for one in lost)
        message = f"No tool in {str(path)!r} can be used. {' '.join([*why][:_MOST_TOLD])}"
    raise ConfigurationError(message)
