"""Fourteen nights of a schedule that grows, with two outages: each night is a run of the
deployment, started by the time that it is for.
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
from typing import Any

import pytest

from tests.support.flows.model_server import ModelServer
from tests.support.flows.prefect_api import PrefectRecords
from tests.support.flows.small_builds import (
    environment,
    one,
    run,
    settings_of,
    stub_roles,
    warehouse_of,
    write_unmeasured_recipe,
)
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
        """Start the run of a night."""
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
        [planned] = self.known.ask(
            "flow_runs/filter",
            {
                "deployments": {"id": {"any_": [self.deployment]}},
                "flow_runs": {"state": {"type": {"any_": ["SCHEDULED"]}}},
            },
        )
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


def test_fourteen_nights_grow_a_data_set_through_two_outages_and_ask_nothing_twice(
    prefect_server: HeardPrefect, model_server: ModelServer, tmp_path: Path
) -> None:
    known, home = PrefectRecords(prefect_server), tmp_path / "home"
    shown = prefect_server.environment | {
        "PREFECT_API_URL": prefect_server.server.api,
        "HOME": str(tmp_path),
    }
    nights_wanted = int(os.environ.get("NIGHTS", "14"))
    model_server.is_steady, model_server.delay = True, 0.1
    tools = tmp_path / "tools.json"
    write_tools(tools, nights=0)
    imported = run("tools", "import", "openai", str(tools), "--name", "shop", home=home)
    assert imported.returncode == 0, imported.stderr
    recipe = write_unmeasured_recipe(
        tmp_path,
        name="airport",
        languages=["en"],
        tools=[{"seed": ["Weather", "Banking", "Music", "Trains"]}, {"catalog": "shop"}],
        models=stub_roles(model_server, concurrency=4, patience=2),
        samples={"perfect": 8, "imperfect": 4},
        review={"spot_checks": 0},
        candidates=[{"label": "template", "model": "template/v1"}],
        schedule={
            "cron": "0 3 * * *",
            "each": {"grow": 6, "tools": "refresh"},
            "release": "when reviewed",
        },
    )
    told = run("deploy", str(recipe), "--pool", "nights-pool", "--json", home=home, **shown)
    assert told.returncode == 0, told.stderr
    names = [found["name"] for found in json.loads(told.stdout)]
    assert names == ["grow-dataset/grow-airport", "pull-reviews/pull-reviews-of-home"]
    nights, settings = Nights(known, names[0]), settings_of(home)
    with a_worker(home, "nights-pool", shown):
        for night in range(1, nights_wanted + 1):
            if night == 7:
                write_tools(tools, nights=7)
            before = one(settings, "select count(*) from scheduled_runs") if night > 1 else 0
            asked, started = model_server.requests, nights.start(night)
            if night in (5, 10):
                until(lambda: model_server.requests > asked + 6)  # noqa: B023 - done within the night
                model_server.go_away()
            ended = nights.ended(started)
            if night in (5, 10):
                assert ended["state_type"] == "FAILED", ended["state"]
                assert "The next try begins at" in ended["state"]["message"]
                [failure] = known.artifacts(ended)
                assert failure["key"] == "failure"
                assert "What is kept" in failure["data"]
                planned = nights.later_try()
                if night == 10:  # it is away for hours
                    ended = nights.try_now(planned)
                    assert ended["state_type"] == "FAILED"
                    assert nights.later_try()["parameters"]["tries"] == 2
                    planned = nights.later_try()
                model_server.come_back()
                ended = nights.try_now(planned)
            assert ended["state_type"] == "COMPLETED", ended["state"]
            assert one(settings, "select count(*) from scheduled_runs") == before + 1
    rows = warehouse_of(settings).rows("from scheduled_runs order by run")
    print(json.dumps(rows, default=str, indent=1))
    print(
        warehouse_of(settings).rows(
            "select name, samples, version, follows from releases order by created_at"
        )
    )


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
