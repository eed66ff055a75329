"""The tables to which other packages add rows by entry points, and files of one's own by `path.py:name`."""

from pathlib import Path
from typing import Any

from callwright.warehouse.registry import (
    Plugin,
    PluginError,
    Registry,
    classes_of,
    file_of,
    row_in_file,
)


def tables() -> tuple[Registry[Any], ...]:
    """Every table; each has rows of its own class."""
    from callwright.generators.catalogs import FORMATS
    from callwright.warehouse.exports.formats import EXPORTS

    return (EXPORTS, FORMATS)


def plugins() -> tuple[Plugin, ...]:
    """What other packages bring, table by table, with what is wrong with it."""
    return tuple(plugin for table in tables() for plugin in table.plugins())


def add_from_file(reference: str, folder: Path) -> str:
    """Add the row `path.py:name` to the table of its class, for this process; the place where it stands.

    Raises PluginError where there is no such file or name, running it raises, or no table has such rows.
    """
    found = row_in_file(*file_of(reference, folder))
    for table in tables():
        if isinstance(found.row, table.form):
            table.add(found.row, found.place)
            return found.place
    wanted = [one.__qualname__ for table in tables() for one in classes_of(table.form)]
    raise PluginError(
        f"{found.place}: {reference.rpartition(':')[2]!r} is a {type(found.row).__name__}; "
        f"it must be one of {', '.join(wanted)}."
    )
