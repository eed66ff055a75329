"""The folder that an agent works in: which of its paths and recipes it may name."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from callwright.flows.plugins import names_function
from callwright.flows.recipe import Recipe, read_recipe_file
from callwright.flows.recipe.problems import YamlFault, read_yaml
from callwright.flows.recipe.reading import CheckedRecipe
from callwright.generators.environments.protocol import HttpSettings, McpSettings
from callwright.warehouse.errors import ConfigurationError

_STARTING = {"command", "reset"}  # settings of an MCP server that run a command
_BY_HAND = "Whoever trusts it builds it with the command line."


class AgentFolder(NamedTuple):
    """A folder whose files an agent may name; `may_write` says whether it may change anything."""

    root: Path
    may_write: bool = False

    def path(self, stated: str) -> Path:
        """Return the path of a file or folder below this one, relative to it.

        Raises ConfigurationError for a place elsewhere, also through a link, and for hidden files.
        """
        try:
            inside = (self.root / stated).resolve().relative_to(self.root)
        except (ValueError, OSError) as error:
            raise self._elsewhere(stated) from error
        if ".." in Path(stated).parts:
            raise self._elsewhere(stated)
        if any(part.startswith(".") for part in inside.parts):
            raise ConfigurationError(f"{stated!r} is hidden. Name a file that is not.")
        for link in _links_below(self.root / inside):
            if not link.resolve().is_relative_to(self.root):
                raise self._elsewhere(str(link.relative_to(self.root)))
        return inside

    def path_or_name(self, stated: str) -> str:
        """Return a path below this folder, or a name of something that is no file.

        Raises ConfigurationError as `path` does.
        """
        is_path = len(Path(stated).parts) != 1 or (self.root / stated).exists()
        return str(self.path(stated)) if is_path else stated

    def _elsewhere(self, stated: str) -> ConfigurationError:
        return ConfigurationError(
            f"{stated!r} is not in the folder {str(self.root)!r}. Name a path below it, such as"
            " 'api.yaml'."
        )

    def check_recipe(self, stated: str) -> CheckedRecipe:
        """Read a recipe as `recipe check` does, and return what is wrong with it.

        Raises ConfigurationError if it runs code, or names files elsewhere or live servers.
        """
        path = self.path(stated)
        try:
            text = (self.root / path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            text = ""  # told where it is read
        self.require_plain(text, path)
        checked = read_recipe_file(path, with_files=True)
        if checked.recipe is not None:
            self._require_sources(checked.recipe, path)
        return checked

    def recipe(self, stated: str) -> Recipe:
        """Return a recipe to build. Raises ConfigurationError that names all that is wrong."""
        return self.check_recipe(stated).required

    def require_plain(self, text: str, path: Path) -> None:
        """Refuse the text of a recipe that runs code or names files elsewhere.

        Nothing that it names is read or run before. Raises ConfigurationError.
        """
        try:
            data = read_yaml(text).data
        except YamlFault:
            return  # told where it is read
        if isinstance(data, dict):
            sources = data.get("tools")
            listed = sources if isinstance(sources, list) else []
            starts = any(isinstance(one, dict) and one.keys() & _STARTING for one in listed)
            if data.get("extensions") or starts:
                what = "starts an MCP server by its command" if starts else "runs Python files"
                raise ConfigurationError(f"{str(path)!r} {what}. {_BY_HAND}")
        for word in _texts_in(data):
            try:
                named = self.root / path.parent / word
                is_elsewhere = named.exists() and not named.resolve().is_relative_to(self.root)
            except (OSError, ValueError):
                continue  # no path
            if is_elsewhere:
                raise self._elsewhere(word)

    def _require_sources(self, recipe: Recipe, path: Path) -> None:
        """Refuse what a recipe reads, writes or asks if it is elsewhere."""
        for source in recipe.tools:
            if isinstance(source, HttpSettings | McpSettings) and not self.may_write:
                problem = f"{str(path)!r} asks a live server. `callwright mcp --allow-writes` does."
                raise ConfigurationError(problem)
        for place in _paths_in(recipe):
            where = os.path.relpath(self.root / path.parent / place, self.root)
            self.path(where if place.is_absolute() else str(path.parent / place))

    def models(self, names: Sequence[str]) -> Sequence[str]:
        """Return names of models. Raises ConfigurationError for one that is a Python function."""
        for name in names:
            if names_function(name):
                raise ConfigurationError(f"{name!r} is a Python function. {_BY_HAND}")
        return names


def _links_below(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        yield from (one for name in (*folders, *files) if (one := Path(place, name)).is_symlink())


def _texts_in(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from _texts_in(inner)
        case list():
            for inner in value:
                yield from _texts_in(inner)
        case _:
            return


def _paths_in(value: object) -> Iterator[Path]:
    """Yield the paths in the settings of a recipe, wherever they stand."""
    match value:
        case Path():
            yield value
        case BaseModel():
            for inner in vars(value).values():
                yield from _paths_in(inner)
        case dict():
            for inner in value.values():
                yield from _paths_in(inner)
        case list() | tuple():
            for inner in value:
                yield from _paths_in(inner)
        case _:
            return
