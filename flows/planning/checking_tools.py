"""What tools allow: a survey of all kinds, a sample of each that is tried, and what is missing."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from callwright.flows.catalogs import catalogs_in
from callwright.flows.planning.possible import (
    Constant,
    KindRow,
    Survey,
    constants_to_fix,
    survey_recipe,
)
from callwright.flows.planning.trying import TriedKind, try_kinds
from callwright.flows.progress import Progress
from callwright.flows.recipe import OwnTools, Recipe, parse_recipe
from callwright.flows.settings import Settings, open_warehouse
from callwright.flows.toolmaking import find_problems
from callwright.generators.catalogs import FORMATS, Problem, recognise
from callwright.generators.kinds import all_kinds
from callwright.generators.own_values import MissingValues, missing_values
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.releases import read_tools

_ENOUGH = 100  # samples of each kind, so that each category has some


class CheckedTools(NamedTuple):
    """What tools allow: a row a kind, what came of trying it, and what speaks against the tools.

    `constants` are parameters to fix, `values` those that need values of the recipe.
    """

    survey: Survey
    kinds: tuple[KindRow, ...]
    tried: tuple[TriedKind, ...]
    constants: tuple[Constant, ...]
    values: tuple[MissingValues, ...]
    problems: tuple[Problem, ...]


async def check_tools(
    recipe: Recipe,
    settings: Settings,
    progress: Progress | None = None,
    *,
    with_samples: bool = True,
) -> CheckedTools:
    """Survey what a recipe's tools allow, and make a sample of each kind, aside.

    Tools of live servers are not called, so of them no sample is made. Raises ConfigurationError
    if a server can't be asked for its tools.
    """
    survey = await survey_recipe(recipe, settings)
    spoken = tuple(dict.fromkeys(one.language for one in survey.tools))
    if spoken and not {*spoken} & {*recipe.languages}:
        recipe = recipe.model_copy(update={"languages": spoken})
        survey = await survey_recipe(recipe, settings)
    if survey.unheard:
        raise ConfigurationError(survey.unheard[0])
    kinds = tuple(survey.rows())
    is_tried = with_samples and not survey.servers
    return CheckedTools(
        survey,
        kinds,
        await try_kinds(recipe, kinds, settings, progress) if is_tried else (),
        tuple(constants_to_fix(survey.tools)),
        tuple(missing_values(survey.tools)),
        (*survey.problems, *find_problems(survey.tools)),
    )


def recipe_of_tools(words: Sequence[str], settings: Settings) -> Recipe:
    """Return a recipe for every kind with the tools of files, a catalog, or callwright's own.

    `words` are files or a folder, after a format if one is stated; or `seed`, `warehouse` or the
    name of a catalog. Raises ConfigurationError if there is nothing of this name.
    """
    if list(words) == ["seed"]:
        return every_kind({"seed": "all"})
    warehouse = open_warehouse(settings)
    if list(words) == ["warehouse"]:
        asked = "select key from tools order by category, language, name, key"
        keys = [row["key"] for row in warehouse.rows(asked)]
        tools = read_tools(warehouse, keys)
        own = OwnTools.model_construct(own=tuple(tools[key] for key in keys))
        return every_kind({"seed": "all"}).model_copy(update={"tools": (own,)})
    stated = words[0] if len(words) > 1 and words[0] in FORMATS.names else ""
    paths = [Path(word).absolute() for word in words[bool(stated) :]]
    if paths and all(path.exists() for path in paths):
        form = stated or recognise(paths[0])
        if len(paths) > 1:
            return every_kind({"import": form, "path": [*map(str, paths)]})
        return every_kind({"environment": "simulated", "import": form, "path": str(paths[0])})
    names = [one.name for one in catalogs_in(warehouse)]
    if len(words) == 1 and words[0] in names:
        return every_kind({"environment": "simulated", "catalog": words[0]})
    known = f"The catalogs are {', '.join(names)}." if names else "There are no catalogs yet."
    raise ConfigurationError(
        f"No file, folder or catalog is named {' '.join(words)!r}. {known} Give a file such as"
        " api.yaml, a catalog, `seed` for the tools that come with callwright, or an MCP server"
        ' with --server "COMMAND".'
    )


def every_kind(source: dict[str, object]) -> Recipe:
    """Return a recipe that asks for samples of all kinds that can be made of a source of tools."""
    # What is taken comes of no tools, and what policies rule needs a recipe that states them.
    counts = {
        name: _ENOUGH
        for name, kind in all_kinds().items()
        if not (kind.traits.is_taken or kind.traits.is_ruled)
    }
    return parse_recipe({"name": "check", "tools": [source], "samples": counts}, Path(), "check")
