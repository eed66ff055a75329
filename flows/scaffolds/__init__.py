"""Rows of one's own to begin with: whole files that work, as docs/extending shows them and `callwright init` writes them."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Literal

from callwright.warehouse.errors import ConfigurationError

Sort = Literal["kind", "export", "importer", "environment", "model"]
ROWS: dict[Sort, str] = {  # with what the row of each is named in its file
    "kind": "FAMILY",
    "export": "FORMAT",
    "importer": "FORMAT",
    "environment": "WORLD",
    "model": "PROVIDER",
}
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def scaffold(sort: Sort, name: str = "example") -> str:
    """The text of a file with a row of a sort, under a name of one's own. Raises ConfigurationError where it can be none."""
    if not _NAME.fullmatch(name):
        raise ConfigurationError(f"{name!r} is no name: it takes lower-case letters, digits and _, as in 'my_{sort}'.")
    text = files(__package__).joinpath(f"{sort}.py").read_text(encoding="utf-8")
    return re.sub(r"\bexample\b", name, text)


def write_scaffold(sort: Sort, name: str, folder: Path) -> Path:
    """Write the file into the folder. Raises ConfigurationError where there is one already."""
    path, text = folder / f"{name}.py", scaffold(sort, name)
    if path.exists():
        raise ConfigurationError(f"{str(path)!r} exists. Give another name.")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
