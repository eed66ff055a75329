"""Reading a recipe: a YAML file, read strictly, its paths made absolute and its prompts read with it."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from flows.recipe.parts import ImportedTools, PromptFile, Recipe, ToolSource
from generators.environments.protocol import EnvironmentPart, located
from warehouse.errors import ConfigurationError


def read_recipe(path: Path) -> Recipe:
    """The recipe in a YAML file, its paths made absolute. Raises ConfigurationError that names file, place and value."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"The recipe {str(path)!r} can't be read: {error}.") from error
    try:
        loaded = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigurationError(f"The recipe {str(path)!r} is not YAML: {error}.") from error
    if not isinstance(loaded, dict):
        raise ConfigurationError(
            f"The recipe {str(path)!r} must be a mapping of settings, not {type(loaded).__name__}."
        )
    return parse_recipe(loaded, path.absolute().parent, str(path))


def parse_recipe(loaded: dict[str, Any], folder: Path, named: str) -> Recipe:
    """A recipe from its settings; `folder` is what its paths are relative to, `named` what errors call it."""
    try:
        recipe = Recipe.model_validate(loaded)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "the top"
        known = (
            f" The settings are {', '.join(sorted(Recipe.model_fields))}." if first["type"] == "extra_forbidden" else ""
        )
        raise ConfigurationError(
            f"The recipe {named!r} is wrong at {place}: {first['msg']} (it has {first.get('input')!r}).{known}"
        ) from error
    located = {"tools": tuple(_located(source, folder) for source in recipe.tools)}
    return recipe.model_copy(update={**located, "prompts": _read_prompts(recipe, folder, named)})


def _read_prompts(recipe: Recipe, folder: Path, named: str) -> dict[str, PromptFile]:
    """The prompts of a recipe with their texts. Raises ConfigurationError that names prompt, file and line."""
    if not recipe.prompts:
        return {}
    from flows.stages import prompt_paths
    from llm.prompts import validate_own_prompt

    known, read = prompt_paths(), {}
    for name, prompt in recipe.prompts.items():
        place = f"The recipe {named!r} is wrong at prompts.{name}"
        if name not in known:
            raise ConfigurationError(f"{place}: there is no such prompt. The prompts are {', '.join(sorted(known))}.")
        path = (folder / prompt.file).absolute()
        try:
            text = path.read_text(encoding="utf-8")
            validate_own_prompt(known[name], text)
        except (OSError, ValueError) as error:  # a text that is not UTF-8 is a ValueError
            raise ConfigurationError(f"{place}: {str(path)!r} can't be used: {str(error).rstrip('.')}.") from error
        read[name] = PromptFile(file=path, text=text)
    return read


def _located(source: ToolSource, folder: Path) -> ToolSource:
    if isinstance(source, EnvironmentPart):
        return located(source, folder)
    if not isinstance(source, ImportedTools):
        return source
    return source.model_copy(update={"path": (folder / source.path).absolute()})


def write_first_recipe(folder: Path) -> Path:
    """Write `recipe.yaml` into the folder. Raises ConfigurationError where there is one already."""
    path = folder / "recipe.yaml"
    if path.exists():
        raise ConfigurationError(f"{str(path)!r} exists. Edit it, or name another folder: callwright init FOLDER")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(files("flows.recipe").joinpath("first_recipe.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    return path
