"""The tables that other packages extend by entry points, and users by files, `path.py:name`."""

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
    """Return every table; each has rows of its own class."""
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
    """Return what other packages add, table by table, with its problems."""
    return tuple(plugin for table in tables() for plugin in table.plugins())


class Extension(BaseModel):
    """A row of a table in your own Python file: a kind, check, export, importer, world or model.

    `digest` is the key of the file's content when the recipe was read, `table` is the row's
    table.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: Path = Field(description="A Python file, relative to the recipe. It is run, as you.")
    name: str = Field(description="The name that it has in the file.")
    digest: str = Field(default="", repr=False, description="Set by callwright.")
    table: str = Field(default="", repr=False, description="Set by callwright.")


def add_all(extensions: Iterable[Extension]) -> None:
    """Add the rows of a recipe's files in this process.

    Raises ConfigurationError if a file has changed since it was read.
    """
    for one in extensions:
        if add_from_file(one.file, one.name).digest != one.digest:
            problem = f"{str(one.file)!r} has changed since the build began. Build again."
            raise ConfigurationError(problem)


def add_from_file(path: Path, name: str) -> Extension:
    """Add the named row of a file to the table of its class, for this process.

    Raises PluginError if there is no such file or name, running it fails, or no table has such
    rows.
    """
    file_entry = row_in_file(path, name)
    for table in tables():
        if isinstance(file_entry.row, table.form):
            table.add(file_entry.row, file_entry.source)
            return Extension(
                file=path, name=name, digest=file_entry.source.digest, table=table.table
            )
    wanted = [one.__qualname__ for table in tables() for one in classes_of(table.form)]
    raise PluginError(
        f"{path}:{file_entry.line}: {name!r} is a {type(file_entry.row).__name__}; it must be one"
        f" of {', '.join(wanted)}."
    )


def names_function(stated: str) -> bool:
    """Whether a text has the form of a function's name, such as `agent.py:answer`."""
    place, _, name = stated.rpartition(":")
    is_module = bool(place) and all(part.isidentifier() for part in place.split("."))
    return name.isidentifier() and (place.endswith(".py") or is_module)


def function_named(stated: str) -> Callable[..., Any] | None:
    """Return the function that `agent.py:answer` or `package.module:answer` names, or None.

    None means that the text names no function. Modules are also looked for in the current
    folder. Raises ConfigurationError if there is no such function.
    """
    if not names_function(stated):
        return None
    place, _, name = stated.rpartition(":")
    if place.endswith(".py"):
        named_function = row_in_file(Path(place), name).row
    else:
        named_function = getattr(_module_named(place), name, None)
    if not callable(named_function):
        raise ConfigurationError(f"There is no function {name!r} in {place!r}.")
    return cast("Callable[..., Any]", named_function)


def _module_named(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return import_module(name)
    except Exception as error:  # somebody else's code
        problem = f"The module {name!r} can't be imported: {type(error).__name__}: {error}."
        raise ConfigurationError(problem) from error
