"""Nights of a schedule that grows, with outages: each is a run of the deployment, started with
the time that it is for.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from callwright.warehouse.queries import sql
from tests.support.flows.model_server import ModelServer
from tests.support.flows.paper_studio import PaperStudio
from tests.support.flows.prefect_api import PrefectRecords
from tests.support.flows.review_sites import ReviewSite, open_site
from tests.support.flows.small_builds import (
    environment,
    one,
    run,
    settings_of,
    stub_settings,
    warehouse_of,
    write_unmeasured_recipe,
)
from tests.support.sampling import slow
from tests.support.servers import HeardPrefect

pytestmark = [pytest.mark.prefect, pytest.mark.enable_socket]
FIRST = datetime(2026, 11, 1, 3, tzinfo=UTC)
PATIENCE = 240.0
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")


@contextmanager
def a_worker(home: Path, pool: str, shown: dict[str, str]) -> Iterator[None]:
    """A worker that carries out what is due, until the end of the test."""
    words = ["worker", "start", "--pool", pool, "--type", "process"]
    told = (home.parent / "worker.log").open("w")
    process = subprocess.Popen(
        [sys.executable, "-m", "prefect", *words],
        env=environment(home) | {"PATH": os.environ["PATH"], **shown},
        cwd=home,
        stdout=told,
        stderr=subprocess.STDOUT,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)
        told.close()


class Nights:
    """A deployment whose runs are started by hand, and what Prefect knows of them."""

    def __init__(self, known: PrefectRecords, deployment: str) -> None:
        self.known = known
        self.deployment = known.ask(f"deployments/name/{deployment}")["id"]

    def start(self, night: int) -> str:
        due = FIRST + timedelta(days=night - 1)
        asked = {"parameters": {"due": due.isoformat()}, "state": {"type": "SCHEDULED"}}
        made = self.known.ask(f"deployments/{self.deployment}/create_flow_run", asked)
        return str(made["id"])

    def ended(self, run_id: str) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while (found := self.known.ask(f"flow_runs/{run_id}"))["state_type"] not in ENDED:
            assert time.monotonic() < end, found["state"]
            time.sleep(0.5)
        return found

    def later_try(self) -> dict[str, Any]:
        """The next try that a failed run has planned."""
        found = self.known.ask(
            "flow_runs/filter",
            {
                "deployments": {"id": {"any_": [self.deployment]}},
                "flow_runs": {"state": {"type": {"any_": ["SCHEDULED"]}}},
            },
        )
        [planned] = [one for one in found if one["parameters"].get("tries")]  # others are by cron
        return planned

    def try_now(self, planned: dict[str, Any]) -> dict[str, Any]:
        """The planned try, started at once as by the button of Prefect's page, and ended."""
        details = {"scheduled_time": datetime.now(UTC).isoformat()}
        state = {"type": "SCHEDULED", "state_details": details}
        self.known.ask(f"flow_runs/{planned['id']}/set_state", {"state": state, "force": True})
        return self.ended(planned["id"])


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


class Plan(NamedTuple):
    """How many nights there are, in which the model is away, and when the tools change."""

    nights: int
    short_outage: int
    tools_change: int
    long_outage: int = 0  # it is away for the next try, too


@pytest.mark.parametrize(
    "plan", [Plan(2, 2, 2), slow(Plan(14, 5, 7, long_outage=10))], ids=("2", "14")
)
def test_nights_grow_a_data_set_through_outages_and_ask_nothing_twice(
    prefect_server: HeardPrefect, model_server: ModelServer, tmp_path: Path, plan: Plan
) -> None:
    known, home = PrefectRecords(prefect_server), tmp_path / "home"
    shown = prefect_server.environment | {
        "PREFECT_API_URL": prefect_server.server.api,
        "HOME": str(tmp_path),
    }
    model_server.is_steady, model_server.delay = True, 0.1
    tools, name = tmp_path / "tools.json", f"airport-{plan.nights}"
    write_tools(tools, nights=0)
    imported = run("tools", "import", "openai", str(tools), "--name", "shop", home=home)
    assert imported.returncode == 0, imported.stderr
    recipe = write_nightly_recipe(tmp_path, name, model_server)
    told = run("deploy", str(recipe), "--pool", name, "--json", home=home, **shown)
    assert told.returncode == 0, told.stderr
    names = [found["name"] for found in json.loads(told.stdout)]
    assert names == [f"grow-dataset/grow-{name}", "pull-reviews/pull-reviews-of-home"]
    nights, settings = Nights(known, names[0]), settings_of(home)
    site, answered = open_site(home, PaperStudio()), 0
    with a_worker(home, name, shown):
        for night in range(1, plan.nights + 1):
            if night == plan.tools_change:
                write_tools(tools, nights=night)
            started, asked = nights.start(night), model_server.requests
            if night in (plan.short_outage, plan.long_outage):
                until(lambda: model_server.requests > asked + 2)  # noqa: B023 - within the night
                is_long = night == plan.long_outage
                ended = sit_out(nights, model_server, started, is_long=is_long)
            else:
                ended = nights.ended(started)
            assert ended["state_type"] == "COMPLETED", ended["state"]
            [shows] = [one for one in known.artifacts(ended) if one["key"] == f"run-{name}"]
            assert shows["data"].startswith(f"# {name}, run {night} (2026-11-{night:02} 03:00): ")
            assert f"{answered} question{'s were' if answered != 1 else ' was'}" in shows["data"]
            answered = answer_all(site)
            is_told = "1 tool is new: find_market." in shows["data"]
            assert is_told == (night == plan.tools_change), shows["data"]
        again = nights.ended(nights.start(plan.nights))
        assert again["state"]["name"] == "Nothing to do"
    assert max(model_server.answered.values()) == 1, "no answer was asked for twice"
    runs = warehouse_of(settings).rows(sql("scheduled_runs.figures"), [name])
    assert [row["run"] for row in runs] == [*range(1, plan.nights + 1)]
    made = [row["landed"] + row["waiting"] + row["rejected"] + row["failed"] for row in runs]
    assert made == [12] + [6] * (plan.nights - 1)
    accepted = one(settings, "select count(*) from accepted_samples")
    assert accepted == sum(row["landed"] for row in runs)
    releases = warehouse_of(settings).rows("select * from releases order by samples")
    assert (releases[-1]["name"], releases[-1]["samples"]) == (
        f"{name}-run-{plan.nights}",
        accepted,
    )
    assert [one["follows"] for one in releases] == ["", *[one["name"] for one in releases[:-1]]]
    assert [row["release"] for row in runs if row["release"]] == [one["name"] for one in releases]
    assert all(bool(row["release"]) == bool(row["evaluated_at"]) for row in runs)


def sit_out(
    nights: Nights, model_server: ModelServer, started: str, *, is_long: bool
) -> dict[str, Any]:
    """The run that carries out the night in which the model went away; a long outage fails two."""
    model_server.go_away()
    assert_told(nights.known, nights.ended(started))
    planned = nights.later_try()
    if is_long:
        assert nights.try_now(planned)["state_type"] == "FAILED"
        planned = nights.later_try()
        assert planned["parameters"]["tries"] == 2
    model_server.come_back()
    return nights.try_now(planned)


def answer_all(site: ReviewSite) -> int:
    """People accept all that they are asked about by now; how many questions that were."""
    site.push()
    asked = site.rows("select subject from review_queue where is_current and not is_answered")
    for row in asked:
        site.studio.clock = datetime.now(UTC) - timedelta(minutes=1)  # it adds a minute to each
        site.studio.annotate(row["subject"], "accept")
    site.pull()
    return len(asked)


def write_nightly_recipe(folder: Path, name: str, model_server: ModelServer) -> Path:
    """A recipe that grows each night, by the tools of a shop as well."""
    return write_unmeasured_recipe(
        folder,
        name=name,
        languages=["en"],
        tools=[{"seed": ["Weather", "Banking", "Music", "Trains"]}, {"catalog": "shop"}],
        models={"generator": stub_settings(model_server, concurrency=2, patience=2)},
        samples={"perfect": 8, "imperfect": 4},
        review={"spot_checks": 0},
        candidates=[{"label": "template", "model": "template/v1"}],
        schedule={
            "cron": "0 3 1 1 *",
            "each": {"grow": 6, "tools": "refresh"},
            "release": "when reviewed",
        },
    )


def assert_told(known: PrefectRecords, failed: dict[str, Any]) -> None:
    """A run that failed says when it is tried again and what is kept, and its shard is red."""
    assert failed["state_type"] == "FAILED", failed["state"]
    assert "The next try begins at" in failed["state"]["message"]
    [failure] = [one for one in known.artifacts(failed) if one["key"] == "failure"]
    assert "What is kept" in failure["data"]
    build = known.runs("build-dataset")[0]
    assert build["state_type"] == "FAILED"
    shards = known.tasks(known.groups(build)["make-samples"])
    assert "FAILED" in {task["state_type"] for task in shards}


def write_tools(path: Path, *, nights: int) -> None:
    """The tools of a shop; after seven nights one of them asks for more, and there is another."""

    def tool(name: str, about: str, **parameters: str) -> dict[str, Any]:
        properties = {
            word: {"type": "string", "description": said} for word, said in parameters.items()
        }
        return {
            "type": "function",
            "function": {
                "name": name,
                "description": about,
                "parameters": {
                    "type": "object",
                    "properties": properties,
                    "required": [*parameters],
                },
            },
        }

    more = {"colour": "The colour"} if nights else {}
    shop = [tool("find_shop", "Find a shop in a city", city="The city", **more)]
    shop += [tool("find_market", "Find a market in a city", city="The city")] if nights else []
    path.write_text(json.dumps(shop), encoding="utf-8")
