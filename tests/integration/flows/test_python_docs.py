"""What README, docs/python.md and the package's own docstring show of the Python API runs, block
after block.
"""

import io
import re
import runpy
from contextlib import chdir, redirect_stdout
from pathlib import Path

import pytest

from tests.support.flows.model_server import serve_model
from tests.support.flows.small_builds import TOP


def blocks(path: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


def run_script(text: str, folder: Path) -> str:
    """What a script prints; it runs in a folder of its own, as written by a user."""
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    printed = io.StringIO()
    with chdir(folder), redirect_stdout(printed):
        runpy.run_path(str(script), run_name="__main__")
    return printed.getvalue()


def test_the_page_runs_from_top_to_bottom(tmp_path: Path) -> None:
    shown = blocks(TOP / "docs" / "python.md")
    assert len(shown) >= 8
    printed = run_script("\n".join(shown), tmp_path)
    assert "| city span" in printed
    assert (tmp_path / "exported" / "records" / "train.jsonl").is_file()


def test_five_lines_of_the_readme_give_five_samples_without_a_key(tmp_path: Path) -> None:
    first, _ = blocks(TOP / "README.md")
    assert len([line for line in first.splitlines() if line.strip()]) == 5
    assert len(run_script(first, tmp_path).splitlines()) == 5


@pytest.mark.parametrize("asked", ["local", "provider"])
def test_the_same_lines_ask_a_server_of_ones_own_or_a_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    first, models = blocks(TOP / "README.md")
    with serve_model() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        models = models.replace("http://127.0.0.1:8080/v1", server.url)
        lines = first.replace('{"perfect": 5}', f'{{"perfect": 5}}, models={asked}')
        assert run_script(models + lines, tmp_path).splitlines()
        assert server.answered.total() >= 5
