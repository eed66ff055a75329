"""A first recipe to edit."""

from importlib.resources import files
from pathlib import Path

from warehouse.errors import ConfigurationError


def write_first_recipe(folder: Path) -> Path:
    """Write `recipe.yaml` into the folder. Raises ConfigurationError where there is one already."""
    path = folder / "recipe.yaml"
    if path.exists():
        raise ConfigurationError(f"{str(path)!r} exists. Edit it, or name another folder: callwright init FOLDER")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(files("flows").joinpath("first_recipe.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    return path
