"""Exported tasks pass the tests that they bring and are played by the libraries they are for,
each in an environment of its own.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.warehouse.exports.formats import export_release
from tests.support.warehouse.consuming import ran_in, report_of
from tests.support.warehouse.task_releases import task_stream

pytestmark = pytest.mark.slow
PLACES = {
    "inspect": "environment",
    "nemo-gym": "environment",
    "openenv": "",
    "trl": "environment",
    "verifiers": "",
}


@pytest.fixture
def out(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    export_release(task_stream(tmp_path), request.param, tmp_path / "out")
    return tmp_path / "out"


def played(out: Path, library: str, *words: object) -> Any:
    script = f"play_in_{library}"
    return report_of(script, f"{script}.py", out.parent / "cache", out, *words)


@pytest.mark.parametrize(("out", "name"), [(name, name) for name in PLACES], indirect=["out"])
def test_the_tests_of_a_folder_pass_in_an_environment_of_core_and_library(
    out: Path, name: str
) -> None:
    environment = f"play_in_{name.replace('-', '_')}"
    done = ran_in(
        environment,
        ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", out, out / PLACES[name]],
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert f"{10 if name == 'openenv' else 8} passed" in done.stdout


@pytest.mark.parametrize("out", ["inspect"], indirect=True)
def test_inspect_plays_tasks_in_several_steps(out: Path) -> None:
    report = played(out, "inspect")
    assert (report["status"], report["values"], report["tools"]) == ("success", ["C", "I"], [8, 8])


@pytest.mark.parametrize("out", ["openenv"], indirect=True)
def test_openenv_serves_sessions_that_share_nothing(out: Path) -> None:
    assert played(out, "openenv") == {"gold": [1.0, 1.0], "idle": [0.0, 0.0], "tools": [9, 9]}


@pytest.mark.parametrize("out", ["nemo-gym"], indirect=True)
def test_nemo_gym_serves_sessions_and_judges_their_ends(out: Path) -> None:
    report = played(out, "nemo_gym")
    assert (report["gold"], report["idle"]) == ([1.0, 1.0], [0.0, 0.0])
    status, detail = report["late"]
    assert (status, "can't be called" in detail) == (400, True)


@pytest.mark.parametrize("out", ["nemo-gym"], indirect=True)
def test_nemo_gyms_own_agent_plays_what_its_own_command_serves(out: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    script = "run_nemo_gym.py"
    assert report_of("play_in_nemo_gym", script, tmp_path / "cache", out, tmp_path / "run") == {
        "gold": [1.0, 1.0],
        "idle": [0.0, 0.0],
    }


@pytest.mark.parametrize("out", ["trl"], indirect=True)
def test_trl_trains_a_step_with_the_environments(out: Path) -> None:
    report = played(out, "trl", 2)
    assert (report["rewards"], report["tools"]) == ([1.0, 0.0], 9)
    assert report["logged"]["rewards/WorldWorkshop/mean"] == 0.5


@pytest.mark.parametrize("out", ["verifiers"], indirect=True)
def test_verifiers_runs_whole_episodes_with_the_tools_served(out: Path) -> None:
    report = played(out, "verifiers", 2)
    assert (report["errors"], len(report["offered"])) == ([], 8)
    # The first task asks for something to be told, and the agent is silent.
    assert [one["end_state"].split()[0] for one in report["rewards"]] == ["score=0.0", "score=1.0"]


@pytest.mark.parametrize("out", ["openenv"], indirect=True)
def test_openenvs_validator_passes_what_it_can_judge_without_docker(
    out: Path, tmp_path: Path
) -> None:
    done = ran_in("play_in_openenv", ["-m", "openenv.cli", "validate", out, "--level", "static"])
    assert (done.returncode, "Verdict: PASS" in done.stdout) == (0, True), done.stdout
    report = report_of("play_in_openenv", "validate_openenv.py", tmp_path / "cache", out)
    passed = {name for name, status in report.items() if status == "pass"}
    assert passed >= {
        "static.manifest",
        "runtime.startup",
        "runtime.reward_well_formed",
        "runtime.observation_schema",
        "runtime.state_contract",
    }
    assert {*report.values()} == {"pass", "skip"}


@pytest.mark.parametrize("out", ["openenv"], indirect=True)
def test_the_oracle_of_openenv_earns_all(out: Path) -> None:
    done = ran_in("play_in_openenv", [out / "validation" / "oracle.py"])
    assert (done.returncode, done.stdout.count(" 1.0\n")) == (0, 2), done.stderr


@pytest.mark.parametrize("out", ["verifiers"], indirect=True)
def test_verifiers_validator_finds_golds_valid_and_doing_nothing_worthless(
    out: Path, tmp_path: Path
) -> None:
    where = ["--runtime.type", "subprocess", "--rich", "False", "-o", tmp_path, "--run.name", "run"]
    words = ["-m", "verifiers.v1.cli.validate", "callwright-v1", *where]
    done = ran_in("play_in_verifiers", words, PYTHONPATH=str(out))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    found = {name: one["valid"] for name, one in summary["checks"].items()}
    assert (found, summary["valid_rate"]) == ({"gold": 1, "noop": 1}, 1.0)
