"""The local Prefect server: started once, found again, ended with all that belongs to it; and
its pages.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from callwright.flows.engine.deploying import running_prefect, start_prefect, stop_prefect
from callwright.flows.settings import Settings
from callwright.warehouse.errors import CallwrightError
from tests.support.browsers import open_browser
from tests.support.flows.fixtures import ShownBuild
from tests.support.flows.prefect_api import PrefectRecords
from tests.support.flows.small_builds import TOP, run, settings_of, write_unmeasured_recipe
from tests.support.servers import HeardPrefect

pytestmark = [pytest.mark.prefect, pytest.mark.enable_socket]


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    settings = settings_of(tmp_path)
    yield settings
    stop_prefect(settings)


def processes_of(folder: Path) -> list[str]:
    """The command lines of the processes that were started for what lies in `folder`."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            environment = (entry / "environ").read_bytes() if entry.name.isdecimal() else b""
            if str(folder).encode() in environment:
                found.append((entry / "cmdline").read_text(encoding="utf-8").replace("\0", " "))
        except OSError:
            continue
    return [command for command in found if command]


def test_a_server_is_started_once_found_again_and_ended_whole(
    settings: Settings, tmp_path: Path
) -> None:
    progress: list[str] = []
    with ThreadPoolExecutor(2) as both:
        first, second = both.map(
            lambda say: start_prefect(settings, say), (progress.append, progress.append)
        )
    assert first == second == start_prefect(settings, progress.append) == running_prefect(settings)
    assert progress == ["Starting a Prefect server."]
    assert len(processes_of(tmp_path)) == 2, "the server and its supervisor"
    assert stop_prefect(settings)
    assert processes_of(tmp_path) == []
    assert running_prefect(settings) is None
    assert not stop_prefect(settings)


def test_a_server_that_can_t_come_up_is_told_with_the_end_of_its_log(
    settings: Settings, tmp_path: Path
) -> None:
    data = tmp_path / "prefect" / "data"
    data.mkdir(parents=True)
    (data / "prefect.db").write_text("This is no database. " * 100, encoding="utf-8")
    with pytest.raises(
        CallwrightError,
        match=r"(?s)did not start:.*file is not a database.*The log is .*server\.log",
    ):
        start_prefect(settings, print)
    assert processes_of(tmp_path) == []


@pytest.mark.browser
def test_the_pages_ask_the_server_that_serves_them_and_nobody_else(
    prefect_server: HeardPrefect, shown_build: ShownBuild
) -> None:
    server = prefect_server.server
    assert shown_build.done.returncode == 0, shown_build.done.stderr
    [*_, build] = [
        run
        for run in PrefectRecords(prefect_server).runs("build-dataset")
        if run["name"] == "alike"
    ]
    asked: set[str] = set()
    with open_browser() as browser:
        page = browser.new_page()  # type: ignore[attr-defined]
        page.on("request", lambda request: asked.add(request.url))
        for address, words in (
            ("", "Dashboard"),
            ("/runs", "alike"),
            ("/artifacts", "funnel-alike"),
        ):
            page.goto(server.url + address)
            page.get_by_text(words).first.wait_for()
        page.goto(f"{server.url}/runs/flow-run/{build['id']}")
        page.get_by_text("Finished in state Completed()").first.wait_for()
        assert page.get_by_text("Upgrade").count() == 0
    assert any(url.startswith(server.api) for url in asked)
    assert {
        url for url in asked if not url.startswith((f"{server.url}/", "data:", "blob:"))
    } == set()


def test_deploying_finds_the_server_of_the_work_folder_and_removes_deployments_of_old_names(
    prefect_server: HeardPrefect, tmp_path: Path
) -> None:
    home, known = prefect_server.heard.parent, PrefectRecords(prefect_server)
    recipe = write_unmeasured_recipe(tmp_path, name="found")
    flow = known.ask("flows/", {"name": "build-dataset"})
    known.ask("deployments/", {"name": "found", "flow_id": flow["id"]})
    done = run("deploy", str(recipe), "--pool", "found", home=home, HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    api = prefect_server.server.api
    assert f"PREFECT_API_URL={api} prefect worker start --pool found" in done.stdout
    asked = {"deployments": {"tags": {}}, "flows": {"name": {"any_": ["build-dataset"]}}}
    names = {one["name"] for one in known.ask("deployments/filter", asked)}
    assert "build-found" in names
    assert "found" not in names


def test_prefect_deploy_registers_what_prefect_yaml_names(
    prefect_server: HeardPrefect, tmp_path: Path
) -> None:
    shown = prefect_server.environment | {
        "PREFECT_API_URL": prefect_server.server.api,
        "HOME": str(tmp_path),
    }
    assert run("deploy", "recipes/demo.yaml", home=tmp_path, **shown).returncode == 0
    before = PrefectRecords(prefect_server).ask("deployments/name/build-dataset/build-demo")
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all"]
    environment = {"PATH": os.environ["PATH"], **shown}
    done = subprocess.run(
        command, env=environment, cwd=TOP, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    known = PrefectRecords(prefect_server)
    after = known.ask("deployments/name/build-dataset/build-demo")
    assert after["id"] == before["id"]
    assert [found["schedule"] for found in after["schedules"]] == [
        found["schedule"] for found in before["schedules"]
    ]
    assert known.ask("deployments/name/pull-reviews/pull-reviews")["work_pool_name"] == "callwright"
    assert known.ask("deployments/name/evaluate-models/evaluate-models")["entrypoint"].startswith(
        "flows/engine/prefect_flows.py"
    )
