"""Builds that Prefect shows, and builds that Prefect starts: the same rows as the command line's
own.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.run.prefect_tasks import limit_name
from callwright.flows.settings import Settings
from tests.support.flows.fixtures import ShownBuild
from tests.support.flows.model_server import ILL, PRICED, ModelServer, ServedRequest
from tests.support.flows.prefect_api import PrefectRecords
from tests.support.flows.small_builds import (
    TOP,
    leftovers,
    one,
    run,
    run_here,
    settings_of,
    start,
    stub_roles,
    untimed,
    warehouse_of,
    write_unmeasured_recipe,
)
from tests.support.sampling import slow
from tests.support.servers import HeardPrefect

pytestmark = [pytest.mark.prefect, pytest.mark.enable_socket]
HELD = 5  # requests, after which a model gives one more answer and no other
EVERY = "CALLWRIGHT_REVIEW_EVERY"
LOOPBACK = {"127.0.0.1", "localhost", "::1"}
KEPT = (
    "select key, body from samples order by key",
    "select build, stage, subject, outcome, reason from outcomes order by all",
    "select subject, recipe, grade, accepted_by from acceptances order by all",
    "select subject, cause, reason from review_requests order by all",
)


def kept(home: Path) -> list[list[dict[str, Any]]]:
    warehouse = warehouse_of(settings_of(home))
    return [warehouse.rows(sql) for sql in KEPT]


def without_whole(told: str) -> list[str]:
    """The lines of a build but for those on all its phases together: Prefect shows these as
    flows, in its own page.
    """
    return [line for line in told.splitlines() if not line.startswith("Build: ")]


def until(found: Any, seconds: float = 20) -> Any:
    """What `found` gives once it gives something: Prefect's server writes some things down a
    moment later.
    """
    end = time.monotonic() + seconds
    while not (result := found()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.2)
    return result


def start_worker(home: Path, pool: str, shown: dict[str, str]) -> str:
    """Let a worker carry out what waits, and end; what it said."""
    command = [
        sys.executable,
        "-m",
        "prefect",
        "worker",
        "start",
        "--pool",
        pool,
        "--type",
        "process",
        "--run-once",
    ]
    environment = {"PATH": os.environ["PATH"], **shown}
    done = subprocess.run(
        command, env=environment, cwd=home, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_a_build_that_prefect_shows_keeps_and_prints_what_one_without_it_does_and_makes_its_tools_once(
    known: PrefectRecords, shown: dict[str, str], shown_build: ShownBuild, tmp_path: Path
) -> None:
    recipe, home, seen = shown_build
    plain = run_here("build", str(recipe), "--no-review", home=tmp_path / "plain")
    assert (seen.returncode, untimed(seen.stdout)) == (0, untimed(plain.stdout)), seen.stderr
    assert set(without_whole(plain.stderr)) <= set(seen.stderr.splitlines())
    assert "prefect" not in seen.stderr.lower()
    assert kept(home) == kept(tmp_path / "plain")

    [build] = [found for found in known.runs("build-dataset") if found["name"] == "alike"]
    groups = known.groups(build)
    assert {flow: found["name"] for flow, found in groups.items()} == {
        "make-samples": "alike, irrelevant and perfect",
        "check-samples": "alike",
        "measure-readers": "alike",
        "land-samples": "alike",
    }
    shards = until(lambda: [task["name"] for task in known.tasks(groups["make-samples"])])
    assert sorted(shards) == [
        f"{group}, shard {n} of 2" for group in ("single_turn", "toolset") for n in (1, 2)
    ]
    assert (
        known.tasks(groups["check-samples"]) == []
    )  # each sample is checked as soon as it is made
    shows = {one["key"]: one for one in known.artifacts(build)}
    assert {key: one["type"] for key, one in shows.items()} == {
        "funnel-alike": "table",
        "build-alike": "markdown",
    }
    stages = json.loads(shows["funnel-alike"]["data"])
    assert stages[-1]["stage"] == "land"
    assert "path" not in [row["stage"] for row in stages], "no sample of these kinds has one"
    assert "| perfect |" in shows["build-alike"]["data"]
    landing = until(lambda: [line for line in known.logs(build) if line.startswith("land: ")])
    assert landing[0].split(" ")[1] == str(stages[-1]["entered"])
    told = known.artifacts(groups["make-samples"])
    assert {(progress["type"], progress["data"]) for progress in told} == {("progress", 100.0)}

    again = run("build", str(recipe), "--no-review", home=home, **shown)
    assert (again.returncode, untimed(again.stdout)) == (0, untimed(plain.stdout)), again.stderr
    [idle, _] = [found for found in known.runs("build-dataset") if found["name"] == "alike"]
    assert (idle["state"]["name"], idle["state"]["type"]) == ("Nothing to do", "COMPLETED")
    nothing = "Nothing to do: recipe, tools, models, prompts and checks have not changed"
    assert idle["state"]["message"].startswith(nothing)
    assert known.groups(idle) == {}


@pytest.mark.parametrize(
    ("change", "group"),
    [
        ({"tools": [{"catalog": "lost"}]}, "make-samples"),
        slow(
            {"tools": [{"import": "openai", "path": str(TOP / "pyproject.toml")}]}, "make-samples"
        ),
    ],
)
def test_what_goes_wrong_is_said_in_the_same_sentence_with_prefect_and_without(
    known: PrefectRecords, shown: dict[str, str], tmp_path: Path, change: dict[str, Any], group: str
) -> None:
    recipe = write_unmeasured_recipe(tmp_path, **change)
    plain = run_here("build", str(recipe), home=tmp_path / "plain")
    seen = run("build", str(recipe), home=tmp_path / "seen", **shown)
    assert (seen.returncode, seen.stdout) == (plain.returncode, plain.stdout)
    assert seen.stderr.splitlines() == without_whole(plain.stderr)
    assert plain.returncode == 2
    sentence = plain.stderr.splitlines()[-1].removeprefix("callwright: ")
    for flow in ("build-dataset", group):
        newest = known.runs(flow)[0]
        assert (newest["state_type"], newest["state"]["message"]) == ("FAILED", sentence)
        assert not [line for line in known.logs(newest) if "Traceback" in line]


def test_a_shard_is_tried_again_after_a_passing_fault_and_loses_nothing_and_a_model_s_limit_is_kept(
    known: PrefectRecords, shown: dict[str, str], model_server: ModelServer, tmp_path: Path
) -> None:
    known.ask("v2/concurrency_limits/", {"name": limit_name(PRICED), "limit": 2})
    model_server.delay = 0.05
    ill: set[str] = set()

    def behave(asked: ServedRequest) -> Any:
        """The third question is refused for as long as a model's own tries last, and once more."""
        if asked.number == 3:
            ill.add(asked.question)
        return ILL if asked.question in ill and asked.times < 3 else None

    model_server.behaviour = behave
    recipe = write_unmeasured_recipe(
        tmp_path,
        name="again",
        models=stub_roles(model_server, name=PRICED, concurrency=8),
        samples={"perfect": 4},
        shard_size=3,
    )
    done = run("build", str(recipe), "--no-review", "--json", home=tmp_path / "home", **shown)
    assert done.returncode == 0, done.stderr
    settings: Settings = settings_of(tmp_path / "home")
    assert json.loads(done.stdout)["planned"] == 4
    assert one(settings, "select count(*) from outcomes where stage = 'parameters'") == 4
    assert set(model_server.answered.values()) == {1}
    assert 0 < model_server.most_at_once <= 2
    assert (
        one(
            settings, "select count(*) from llm_calls where not cached and coalesce(error, '') = ''"
        )
        == model_server.answered.total()
    )
    [estimate] = [line for line in done.stderr.splitlines() if line.startswith("Estimate for ")]
    assert any(estimate in line for line in known.logs(known.runs("build-dataset")[0])), (
        "schedules tell it too"
    )
    making = next(
        found for found in known.runs("make-samples") if found["name"] == "again, perfect"
    )
    assert sorted(task["run_count"] for task in until(lambda: known.tasks(making))) == [1, 2]


@pytest.mark.parametrize("sign", [signal.SIGTERM, slow(signal.SIGHUP)])
def test_a_build_that_prefect_shows_ends_as_by_ctrl_c(
    known: PrefectRecords,
    shown: dict[str, str],
    model_server: ModelServer,
    tmp_path: Path,
    sign: signal.Signals,
) -> None:
    def hold(_asked: ServedRequest) -> None:
        model_server.is_holding = (
            model_server.requests > HELD
        )  # so that the build can't end before it is stopped

    model_server.is_steady = True
    model_server.behaviour = hold
    name = f"stopped-{sign.name.lower()}"
    models = stub_roles(model_server, name=PRICED, concurrency=1)
    recipe = write_unmeasured_recipe(tmp_path, name=name, models=models, samples={"perfect": 6})
    with start("build", str(recipe), "--no-review", home=tmp_path / "home", **shown) as process:
        try:
            # One more is asked once the answer before it has arrived.
            until(lambda: model_server.requests > HELD + 1 or process.poll() is not None, 300)
            process.send_signal(sign)
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert errors.splitlines()[-1].startswith("Stopped.")
    states = {found["state_type"] for found in known.runs("build-dataset") if found["name"] == name}
    assert states == {"CRASHED"}
    model_server.behaviour, model_server.is_holding = lambda _asked: None, False
    done = run_here("build", str(recipe), "--no-review", "--json", home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert max(model_server.answered.values()) == 1, "nothing that was answered is asked again"
    assert leftovers(settings_of(tmp_path / "home")) == []


def test_recipes_are_deployed_once_and_updated_after_that_and_reviews_are_pulled_on_a_schedule(
    known: PrefectRecords, shown: dict[str, str], tmp_path: Path
) -> None:
    home = tmp_path / "site" / ".callwright"
    told_of_pulls = {"2.5": "every 2.5 minutes", "0": ""}

    def deployed(every: str, **change: Any) -> dict[str, Any]:
        recipe = write_unmeasured_recipe(tmp_path, name="nightly", **change)
        done = run(
            "deploy", str(recipe), "--pool", "nights", "--json", home=home, **shown | {EVERY: every}
        )
        assert done.returncode == 0, done.stderr
        told, pulling = json.loads(done.stdout)
        assert (told["name"], pulling["name"]) == (
            "build-dataset/build-nightly",
            "pull-reviews/pull-reviews-of-site",
        )
        assert pulling["schedule"] == told_of_pulls[every]
        [found] = known.ask(
            "deployments/filter", {"deployments": {"name": {"any_": ["build-nightly"]}}}
        )
        assert told["url"].endswith(found["id"])
        return found

    def pulled() -> list[dict[str, Any]]:
        found = known.ask("deployments/name/pull-reviews/pull-reviews-of-site")
        assert found["job_variables"]["env"]["CALLWRIGHT_HOME"] == str(home)
        assert found["work_pool_name"] == "nights"
        return [schedule["schedule"]["interval"] for schedule in found["schedules"]]

    first = deployed("2.5", schedule={"cron": "0 3 * * *", "timezone": "Europe/Berlin"})
    [schedule] = first["schedules"]
    assert (schedule["schedule"]["cron"], schedule["schedule"]["timezone"]) == (
        "0 3 * * *",
        "Europe/Berlin",
    )
    assert first["parameters"] == {
        "recipe": str(tmp_path / "nightly.yaml"),
        "limit": 0,
        "model": "",
        "review": True,
    }
    properties = first["parameter_openapi_schema"]["properties"]
    assert all(properties[name]["description"] for name in first["parameters"])
    assert first["job_variables"]["env"]["CALLWRIGHT_HOME"] == str(home)
    assert known.ask("work_pools/nights")["type"] == "process"
    assert pulled() == [150]

    second = deployed("0", schedule={"cron": "30 4 * * 1"}, description="Now on Mondays.")
    assert second["id"] == first["id"]
    assert [found["schedule"]["cron"] for found in second["schedules"]] == ["30 4 * * 1"]
    assert second["description"] == "Now on Mondays."
    assert pulled() == []


def test_a_worker_builds_the_same_rows_as_the_command_line_and_pulls(
    prefect_server: HeardPrefect, known: PrefectRecords, shown: dict[str, str], tmp_path: Path
) -> None:
    recipe = write_unmeasured_recipe(tmp_path, name="worked")
    assert (
        run("deploy", str(recipe), "--pool", "works", home=tmp_path / "worked", **shown).returncode
        == 0
    )

    def started(name: str, **parameters: Any) -> str:
        deployment = known.ask(f"deployments/name/{name}")
        return known.ask(
            f"deployments/{deployment['id']}/create_flow_run", {"parameters": parameters}
        )["id"]

    building, pulling = (
        started("build-dataset/build-worked", limit=4),
        started("pull-reviews/pull-reviews-of-worked"),
    )
    told = start_worker(tmp_path, "works", shown)
    assert "leaked" not in told
    built, pulled = (known.ask(f"flow_runs/{run_id}") for run_id in (building, pulling))
    assert (built["state_type"], built["name"]) == ("COMPLETED", "worked, at most 4 a kind"), told
    assert pulled["state_type"] == "COMPLETED", (
        told
    )  # nobody was asked yet, so there is nothing to fail at
    assert until(
        lambda: [line for line in known.logs(pulled) if "there is nothing to pull" in line]
    )
    plain = run_here("build", str(recipe), "--limit", "4", "--no-review", home=tmp_path / "plain")
    assert plain.returncode == 0
    assert kept(tmp_path / "worked") == kept(tmp_path / "plain")
    # By now the server, command lines, a worker and its flow have been at work, and all of them
    # were listened to.
    assert prefect_server.addresses() - LOOPBACK == set()
    assert prefect_server.addresses()


def test_candidates_are_scored_by_a_flow_that_shows_the_leaderboard_and_what_cannot_be_done_fails_in_one_sentence(
    known: PrefectRecords, shown: dict[str, str], tmp_path: Path
) -> None:
    recipe = write_unmeasured_recipe(tmp_path, name="scored")
    home = tmp_path / "home"
    assert run_here("build", str(recipe), "--no-review", home=home).returncode == 0
    made = run("release", "create", "v1", home=home, **shown)
    assert made.returncode == 0, made.stderr
    [run_of_release] = [one for one in known.runs("create-release") if one["name"] == "v1"]
    assert [one["key"] for one in until(lambda: known.artifacts(run_of_release))] == ["release-v1"]
    code = (
        "import asyncio; from callwright.flows.engine.prefect_flows import evaluate_models,"
        " pull_reviews\nprint(asyncio.run(evaluate_models('v1',"
        " ['template/v1']))[0]['n_predictions'])\ntry: asyncio.run(pull_reviews())\nexcept Exception"
        " as error: print(error)\nasyncio.run(evaluate_models('v2', ['template/v1']))"
    )
    environment = {"CALLWRIGHT_HOME": str(home), "PATH": os.environ["PATH"], **shown}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    scored_ones, refusal = done.stdout.splitlines()
    assert int(scored_ones) > 0, done.stderr
    assert refusal.startswith("No Label Studio is set or running.")
    assert known.runs("pull-reviews")[0]["state"]["message"] == refusal
    assert "No release is named 'v2'" in done.stderr.splitlines()[-1]
    failed, scored = known.runs("evaluate-models")
    assert (failed["name"], failed["state_type"], scored["name"]) == ("v2", "FAILED", "v1")
    assert failed["state"]["message"].startswith("No release is named 'v2'")
    [shows] = known.artifacts(scored)
    assert shows["key"] == "scores-v1"
    assert "| template/v1 | direct |" in shows["data"]
    assert str(home / "report.html") in shows["data"]
    assert not [line for line in known.logs(failed) if "Traceback" in line]
    assert (home / "report.html").is_file()
