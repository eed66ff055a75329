"""The notebook opens the published copy and draws six plots, with samples and without."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.pages.notebook import notebook_cells, write_notebook
from callwright.flows.settings import Settings
from callwright.warehouse.publish import publish
from tests.support.flows.small_builds import warehouse_of


def figures_of(notebook: Path) -> list[tuple[int, str]]:
    """Run all code cells; how many traces each figure has, and its title."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {}
    exec("\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"), names)  # noqa: S102 - ours
    return [(len(figure.data), figure.layout.title.text) for figure in names["figures"]]


def test_six_plots_are_drawn_of_all_four_recipes(four_recipes: Settings, tmp_path: Path) -> None:
    database = publish(warehouse_of(four_recipes), tmp_path / "published").database
    drawn = figures_of(write_notebook(database, tmp_path / "figures.ipynb"))
    assert len(drawn) == 6
    assert all(traces for traces, _ in drawn)
    assert {title: traces for traces, title in drawn}["Scores with 95 % intervals"] == 2


def test_nbconvert_executes_it_and_the_plots_stand_in_the_page(
    four_recipes: Settings, tmp_path: Path
) -> None:
    database = publish(warehouse_of(four_recipes), tmp_path / "published").database
    notebook = write_notebook(database, tmp_path / "figures.ipynb")
    words = [
        sys.executable,
        "-m",
        "nbconvert",
        "--execute",
        "--to",
        "html",
        "--output",
        "figures.html",
        str(notebook),
    ]
    folders = {
        f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")
    }
    own = (
        os.environ
        | folders
        | {"IPYTHONDIR": str(tmp_path / "ipython"), "JUPYTER_PLATFORM_DIRS": "1"}
    )
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=own)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "figures.html").read_text(encoding="utf-8")
    assert page.count("Plotly.newPlot(") == 6
    assert "Traceback" not in page


def test_the_notebook_has_the_form_that_jupyter_reads(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "it's.duckdb", tmp_path / "figures.ipynb")
    body = json.loads(path.read_text(encoding="utf-8"))
    assert (body["nbformat"], body["nbformat_minor"], body["metadata"]["kernelspec"]["name"]) == (
        4,
        5,
        "python3",
    )
    assert [cell["cell_type"] for cell in body["cells"]] == ["markdown", "code"] * 7
    assert len({cell["id"] for cell in body["cells"]}) == 14
    for cell in body["cells"]:
        wanted = {"cell_type", "id", "metadata", "source"}
        assert set(cell) == (
            wanted | {"execution_count", "outputs"} if cell["cell_type"] == "code" else wanted
        )
    compile(
        "\n".join(
            "".join(cell["source"]) for cell in notebook_cells(path) if cell["cell_type"] == "code"
        ),
        "notebook",
        "exec",
    )


def test_the_session_of_the_docs_runs(
    four_recipes: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(warehouse_of(four_recipes), tmp_path / ".callwright" / "published")
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[3] / "docs" / "sql.md").read_text(encoding="utf-8")
    session = page.partition("## A session")[2].partition("\n## ")[0]
    cells = re.findall(r"```python\n(.*?)```", session, re.DOTALL)
    names: dict[str, Any] = {}
    for cell in cells:
        exec(cell, names)  # noqa: S102 - ours
    assert len(cells) == 3
    for name in ("views", "board", "errors", "answers", "prices", "kinds"):
        assert len(names[name]), name
    assert "leaderboard" in set(names["views"]["view_name"])
    assert "made_by" not in set(names["views"]["view_name"])
    assert names["board"]["right_share"][0] == names["board"]["right_share"].max()
    assert set(names["prices"]["purpose"]) >= {"making", "checking"}
    assert "perfect" in names["kinds"].index
