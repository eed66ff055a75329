"""The house itself: names that are ours, doors that open, and nothing heavy behind the front
door.
"""

import ast
import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from callwright.warehouse.extras import EXTRAS

TOP = Path(__file__).parents[2]
FOLDERS = (
    "annotation",
    "flows",
    "generators",
    "language",
    "llm",
    "recipes",
    "validators",
    "warehouse",
)
HEAVY = {
    "pydantic",
    "duckdb",
    "prefect",
    "litellm",
    "label_studio_sdk",
    "rouge_score",
    "pyarrow",
    "jsonschema",
    "rich",
    "plotly",
}


def sources(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((TOP / folder).rglob("*.py"))]


def flow_files() -> list[Path]:
    imported = re.compile(r"^from prefect import .*\bflow\b", re.MULTILINE)
    return [one for one in sources("flows") if imported.search(one.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_folder_is_a_part_of_the_one_package(folder: str) -> None:
    spec = importlib.util.find_spec(f"callwright.{folder}")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    assert [Path(place) for place in spec.submodule_search_locations] == [TOP / folder]


def test_what_is_installed_is_one_name_and_nobody_elses() -> None:
    owners = importlib.metadata.packages_distributions()
    assert [name for name, whose in owners.items() if "callwright" in whose] == ["callwright"]
    assert set(owners["callwright"]) == {"callwright"}


def test_no_import_names_a_folder_without_the_package() -> None:
    # In a checkout `import llm` would find the folder, elsewhere somebody else's package. Few files
    # are worth parsing.
    suspect = re.compile(
        rf"^\s*(?:import|from)\b.*(?<![.\w])(?:{'|'.join(FOLDERS)})\b", re.MULTILINE
    )
    found = {
        f"{path.relative_to(TOP)}:{node.lineno}"
        for path in sources(*FOLDERS, "bench", "callwright", "tests")
        if suspect.search(text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [one.name for one in node.names]
        )
        if name.partition(".")[0] in FOLDERS
    }
    assert sorted(found) == []


def test_what_checks_types_and_directions_sees_every_module() -> None:
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    subprocess.run(["make", "-s", ".cache/house/ready"], cwd=TOP, env=quiet, check=True)
    code = (
        "import grimp; print(*sorted(grimp.build_graph('callwright', cache_dir=None).modules),"
        " sep='\\n')"
    )
    seen = subprocess.run(
        [sys.executable, "-c", code],
        cwd=TOP / ".cache" / "house",
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    files = [path.relative_to(TOP) for path in sources(*FOLDERS, "callwright")]
    there = [".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files]
    assert seen == sorted(
        name if name.startswith("callwright") else f"callwright.{name}" for name in there
    )


def test_the_flows_stand_in_one_file_whose_folder_hides_no_other_module() -> None:
    [path] = flow_files()
    assert path.relative_to(TOP).as_posix() == "flows/engine/prefect_flows.py"
    # Prefect loads a flow file under its stem, with its folder first on sys.path.
    for beside in path.parent.glob("*.py"):
        found = importlib.util.find_spec(beside.stem) if beside.stem != "__init__" else None
        assert found is None or (found.origin or "").startswith(str(TOP / "flows"))


def test_the_front_door_imports_nothing_heavy() -> None:
    code = (
        "import sys, json, callwright.flows.cli.main; print(json.dumps([name.partition('.')[0] for"
        " name in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=TOP
    )
    assert not HEAVY & set(json.loads(done.stdout))


def test_the_lock_pins_every_dependency_with_a_hash_and_names_no_host() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lock = (TOP / "requirements.lock").read_text(encoding="utf-8")
    pinned = {
        line.partition("==")[0]
        for line in lock.splitlines()
        if "==" in line and not line.startswith(" ")
    }
    extras = {
        name: wanted for name, wanted in project["optional-dependencies"].items() if name != "all"
    }
    assert set(extras) == set(EXTRAS)
    assert project["optional-dependencies"]["all"] == [f"callwright[{','.join(sorted(extras))}]"]
    wanted = {
        re.split("[<>=]", line)[0] for line in (*project["dependencies"], *chain(*extras.values()))
    }
    assert wanted <= pinned
    assert "://" not in lock
    assert lock.count("==") <= lock.count("--hash=")


def test_ci_runs_what_the_readme_says_keeps_main_green() -> None:
    readme = (TOP / "README.md").read_text(encoding="utf-8")
    [told] = re.findall(
        r"^(.*\S) +# everything that keeps the main branch green$", readme, re.MULTILINE
    )
    last = (TOP / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]
    assert last == f"exec {told}"


def test_make_test_runs_every_folder_of_tests_and_shows_how_it_ended() -> None:
    recipe = re.split(
        r"^test:.*\n", (TOP / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE
    )[1]
    [line] = [line for line in recipe.split("\n\n")[0].splitlines() if "$(TESTS)" in line]
    folders = {
        path.parent.relative_to(TOP / "tests").parts[0]
        for path in (TOP / "tests").rglob("test_*.py")
    }
    assert set(re.findall(r"tests/(\w+)", line)) == folders - {"slow", "support"}
    assert not re.search(r"[^&]>|\s\|\s| -q", line), (
        "pytest's own words, its closing line among them, are not hidden"
    )
