"""The house itself: names that are ours, doors that open, and nothing heavy behind the front door."""

import importlib.metadata
import importlib.util
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
PACKAGES = ("annotation", "flows", "generators", "language", "llm", "validators", "warehouse")
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


def flow_files() -> list[Path]:
    return [path for path in sorted((TOP / "flows").rglob("*.py")) if "@flow" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("package", PACKAGES)
def test_each_of_our_names_imports_our_folder(package: str) -> None:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    assert [Path(place) for place in spec.submodule_search_locations] == [TOP / package]


def test_no_other_distribution_owns_our_names() -> None:
    owners = importlib.metadata.packages_distributions()
    assert {package: set(owners.get(package, [])) - {"callwright"} for package in PACKAGES} == {
        package: set() for package in PACKAGES
    }


def test_the_flows_stand_in_one_file_whose_folder_hides_no_other_module() -> None:
    [path] = flow_files()
    assert path.relative_to(TOP).as_posix() == "flows/engine/prefect_flows.py"
    # Prefect loads a flow file under its stem, with its folder first on sys.path.
    for beside in path.parent.glob("*.py"):
        found = importlib.util.find_spec(beside.stem) if beside.stem != "__init__" else None
        assert found is None or (found.origin or "").startswith(str(TOP / "flows"))


def test_the_front_door_imports_nothing_heavy() -> None:
    code = "import sys, json, callwright.flows.cli.main; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=TOP)
    assert not HEAVY & set(json.loads(done.stdout))


def test_the_version_is_written_once() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert importlib.metadata.version("callwright") == project["version"]


def test_the_lock_pins_every_dependency_with_a_hash_and_names_no_host() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lock = (TOP / "requirements.lock").read_text(encoding="utf-8")
    pinned = {line.partition("==")[0] for line in lock.splitlines() if "==" in line and not line.startswith(" ")}
    wanted = {line.partition("=")[0].partition("<")[0].partition(">")[0] for line in project["dependencies"]}
    assert wanted <= pinned
    assert "://" not in lock
    assert lock.count("==") <= lock.count("--hash=")
