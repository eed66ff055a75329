"""Flow files, as Prefect loads them, and builds that have nothing to do with Prefect."""

import importlib.metadata
import importlib.util
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from callwright.flows.recipe import read_recipe
from tests.support.flows.small_builds import TOP, environment, run_here, write_unmeasured_recipe

LOADING = """
import json, sys
from collections import defaultdict
from pathlib import Path
from prefect.utilities.importtools import import_object
top = Path(sys.argv[1])
first, *others = sys.argv[2:]
flows = [import_object(f"flows/engine/prefect_flows.py:{first}")]
flows += [getattr(sys.modules["prefect_flows"], name) for name in others]
names = defaultdict(list)
for name, module in list(sys.modules.items()):
    file = getattr(module, "__file__", None)
    if file and Path(file).is_relative_to(top) and ".venv" not in file and name not in ("__main__", "__mp_main__"):
        names[str(Path(file).relative_to(top))].append(name)
described = {
    f"{flow.name} {name}": bool(one.get("description")) for flow in flows for name, one in flow.parameters.properties.items()
}
print(json.dumps({"names": [flow.name for flow in flows], "modules": names, "described": described}))
"""


@pytest.fixture
def dead() -> Iterator[str]:
    """An address of this machine where nobody answers."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/api"


def python(code: str, *words: str, home: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env=environment(home),
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.prefect
def test_prefect_finds_the_flows_in_their_file_and_no_module_is_there_twice(tmp_path: Path) -> None:
    flows = ("build_dataset", "evaluate_models", "pull_reviews")
    loaded = json.loads(python(LOADING, str(TOP), *flows, home=tmp_path))
    assert loaded["names"] == [flow.replace("_", "-") for flow in flows]
    assert loaded["described"] == dict.fromkeys(loaded["described"], True)
    assert loaded["modules"].pop("flows/engine/prefect_flows.py") == ["prefect_flows"]
    twice = {file: names for file, names in loaded["modules"].items() if len(names) > 1}
    assert twice == {}
    assert all(
        name.partition(".")[0] != Path(file).stem
        for file, [name] in loaded["modules"].items()
        if "/" in file
    )


def test_nothing_beside_the_flow_files_hides_somebody_elses_module() -> None:
    # Prefect puts the folder of a flow file first on sys.path.
    folder = TOP / "flows" / "engine"
    ours = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()} - {
        "__init__"
    }
    assert (
        ours & (set(sys.stdlib_module_names) | set(importlib.metadata.packages_distributions()))
        == set()
    )


@pytest.mark.parametrize("words", [("build",), ("deploy",)])
def test_a_dead_prefect_server_is_named_in_one_sentence(
    words: tuple[str, ...], dead: str, tmp_path: Path
) -> None:
    done = run_here(*words, "recipes/demo.yaml", home=tmp_path, PREFECT_API_URL=dead)
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(
        f"callwright: No Prefect server answers at '{dead}', the value of PREFECT_API_URL: "
    )
    assert not (tmp_path / "warehouse.duckdb").exists()


def test_two_recipes_of_one_name_are_not_deployed(tmp_path: Path, dead: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    paths = [str(write_unmeasured_recipe(folder)) for folder in (tmp_path, other)]
    done = run_here("deploy", *paths, home=tmp_path, PREFECT_API_URL=dead)
    assert done.returncode == 2
    assert "Several of these recipes are named 'small'." in done.stderr


def deployments() -> list[dict[str, Any]]:
    return yaml.safe_load((TOP / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]


def test_prefect_yaml_runs_the_demo_when_its_recipe_says() -> None:
    [demo] = [deployment for deployment in deployments() if deployment["name"] == "build-demo"]
    schedule = read_recipe(TOP / demo["parameters"]["recipe"]).schedule
    assert schedule is not None
    assert demo["schedules"] == [{"cron": schedule.cron, "timezone": schedule.timezone}]
