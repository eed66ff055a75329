"""A Jupyter notebook over the published copy with the usual plots, from `notebook.md`."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson

from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import content_key

_CODE = re.compile(r"^```python\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
_FORMAT = {"nbformat": 4, "nbformat_minor": 5}
_KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
_ENDING = ".ipynb"


def write_notebook(database: Path, path: Path) -> Path:
    """Write a notebook that opens a published database.

    Raises ConfigurationError if the name has the wrong ending or the file is not a notebook.
    """
    if path.suffix != _ENDING:
        message = f"The name of a notebook must end with {_ENDING}; {str(path)!r} does not."
        raise ConfigurationError(message)
    if path.exists() and not _is_notebook(path):
        problem = f"{str(path)!r} exists already and is not a notebook. Name another file."
        raise ConfigurationError(problem)
    path.parent.mkdir(parents=True, exist_ok=True)
    body = {"cells": notebook_cells(database), "metadata": _KERNEL, **_FORMAT}
    path.write_bytes(orjson.dumps(body, option=orjson.OPT_INDENT_2) + b"\n")
    return path


def notebook_cells(database: Path) -> list[dict[str, Any]]:
    """Return the notebook's cells, text and code in turn, with the path of the database."""
    page = files("callwright.flows.pages").joinpath("notebook.md").read_text(encoding="utf-8")
    pieces = _CODE.split(page)
    cells = []
    for place, piece in enumerate(pieces):
        text = piece.strip()
        if not text:
            continue
        if place % 2:
            code = text.replace("PATH", repr(str(database.absolute())), 1)
            cells.append(_cell("code", code, place) | {"execution_count": None, "outputs": []})
        else:
            cells.append(_cell("markdown", text, place))
    return cells


def _cell(kind: str, text: str, place: int) -> dict[str, Any]:
    return {
        "cell_type": kind,
        "id": content_key([place, kind]),
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }


def _is_notebook(path: Path) -> bool:
    try:
        return "nbformat" in orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError:
        return False
