"""Starting files for your own rows: complete and working, for docs/extending and `init`.

docs/extending shows them and `callwright init` writes them.
"""

import re
from importlib.resources import files
from pathlib import Path
from typing import Literal

from callwright.warehouse.errors import ConfigurationError

Sort = Literal["kind", "export", "importer", "environment", "model", "check", "metric"]
ROWS: dict[Sort, str] = {  # with what the row of each is named in its file
    "kind": "FAMILY",
    "check": "check",
    "export": "FORMAT",
    "importer": "FORMAT",
    "environment": "WORLD",
    "model": "PROVIDER",
    "metric": "METRIC",
}
_HERE = files(__name__)
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def scaffold(sort: Sort, name: str = "example") -> str:
    """Return the text of a file with an example row of a sort, under a name of your choice.

    Raises ConfigurationError if the name can't be used.
    """
    return _text(f"{sort}.py", name)


def write_scaffold(sort: Sort, name: str, folder: Path) -> Path:
    """Write the file into the folder, with a test beside it if there is one; return its path.

    Raises ConfigurationError if a file exists already.
    """
    path = folder / f"{name}.py"
    texts = {path: scaffold(sort, name)}
    if (_HERE / f"{sort}_test.txt").is_file():
        texts[folder / f"test_{name}.py"] = _text(f"{sort}_test.txt", name)
    for target_path in texts:
        if target_path.exists():
            raise ConfigurationError(f"{str(target_path)!r} exists. Give another name.")
    folder.mkdir(parents=True, exist_ok=True)
    for target_path, text in texts.items():
        target_path.write_text(text, encoding="utf-8")
    return path


def _text(file: str, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{name!r} is no name: it takes lower-case letters, digits and _, as in"
            f" 'my_{file[:-3]}'."
        )
    return re.sub(r"\bexample\b", name, (_HERE / file).read_text(encoding="utf-8"))
