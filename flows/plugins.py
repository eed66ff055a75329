"""The tables to which other packages add rows by entry points, and what they brought."""

from typing import Any

from callwright.warehouse.registry import Plugin, Registry


def tables() -> tuple[Registry[Any], ...]:
    """Every table; each has rows of its own class."""
    from callwright.generators.catalogs import FORMATS
    from callwright.warehouse.exports.formats import EXPORTS

    return (EXPORTS, FORMATS)


def plugins() -> tuple[Plugin, ...]:
    """What other packages bring, table by table, with what is wrong with it."""
    return tuple(plugin for table in tables() for plugin in table.plugins())
