"""The tables to which other packages add rows by entry points, and files of one's own by
`path.py:name`.
"""

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field

from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.registry import Plugin, PluginError, Registry, classes_of, row_in_file


def tables() -> tuple[Registry[Any], ...]:
    """Every table; each has rows of its own class."""
    from callwright.generators.catalogs import FORMATS
    from callwright.generators.environments.protocol import WORLDS
    from callwright.generators.imports.reading import SOURCES
    from callwright.generators.kinds import FAMILIES
    from callwright.llm.models import PROVIDERS
    from callwright.validators.checks.table import CHECKS
    from callwright.validators.metrics.table import METRICS
    from callwright.warehouse.exports.formats import EXPORTS

    return (FAMILIES, CHECKS, EXPORTS, SOURCES, FORMATS, WORLDS, PROVIDERS, METRICS)


def plugins() -> tuple[Plugin, ...]:
    """What other packages bring, table by table, with what is wrong with it."""
    return tuple(plugin for table in tables() for plugin in table.plugins())


class Extension(BaseModel):
    """A row of a table in a Python file of one's own: a kind, a check, an export, an importer, a
    world or a model.

    `digest` is the key of what the file held when the recipe was read, `table` is the one that the
    row is of.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: Path = Field(description="A Python file, relative to the recipe. It is run, as you.")
    name: str = Field(description="The name that it has in the file.")
    digest: str = Field(default="", repr=False, description="Set by callwright.")
    table: str = Field(default="", repr=False, description="Set by callwright.")


def add_all(extensions: Iterable[Extension]) -> None:
    """Add the rows of a recipe's files in this process.

    Raises ConfigurationError where a file has changed since it was read.
    """
    for one in extensions:
        if add_from_file(one.file, one.name).digest != one.digest:
            raise ConfigurationError(
                f"{str(one.file)!r} has changed since the build began. Build again."
            )


def add_from_file(path: Path, name: str) -> Extension:
    """Add the row that a file holds under a name to the table of its class, for this process.

    Raises PluginError where there is no such file or name, running it raises, or no table has such
    rows.
    """
    found = row_in_file(path, name)
    for table in tables():
        if isinstance(found.row, table.form):
            table.add(found.row, found.source)
            return Extension(file=path, name=name, digest=found.source.digest, table=table.table)
    wanted = [one.__qualname__ for table in tables() for one in classes_of(table.form)]
    raise PluginError(
        f"{path}:{found.line}: {name!r} is a {type(found.row).__name__}; it must be one of"
        f" {', '.join(wanted)}."
    )


def function_named(stated: str) -> Callable[..., Any] | None:
    """The function that `agent.py:answer` or `package.module:answer` names, None where it names
    none.

    Modules are looked for in the present folder, too. Raises ConfigurationError where there is no
    such function.
    """
    place, _, name = stated.rpartition(":")
    if not name.isidentifier():
        return None
    if place.endswith(".py"):
        found = row_in_file(Path(place), name).row
    elif place and all(part.isidentifier() for part in place.split(".")):
        found = getattr(_module_named(place), name, None)
    else:
        return None
    if not callable(found):
        raise ConfigurationError(f"There is no function {name!r} in {place!r}.")
    return cast("Callable[..., Any]", found)


def _module_named(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return import_module(name)
    except Exception as error:  # somebody else's code
        raise ConfigurationError(
            f"The module {name!r} can't be imported: {type(error).__name__}: {error}."
        ) from error
