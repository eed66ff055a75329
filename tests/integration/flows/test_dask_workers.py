"""Shards on a Dask cluster: the same rows as at home, whatever becomes of the workers, and
nothing paid for twice.
"""

import asyncio
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import psutil
import pytest

from callwright.flows.environments import STORE, explore_environments
from callwright.flows.progress import SilentProgress
from callwright.flows.run import dask_cluster
from callwright.flows.run.carry import InProcess, open_carrier
from callwright.flows.run.dask_cluster import DaskCluster, share_of, validate_scheduler
from callwright.flows.run.plan import build_dataset, make_samples, open_build
from callwright.flows.run.work import AHEAD
from callwright.flows.settings import read_settings
from callwright.generators.environments.protocol import CallResponse
from callwright.generators.environments.response_store import (
    ResponseStore,
    merge_responses,
    pack_responses,
)
from callwright.llm.ledger import answers_after, keep_answers
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call
from tests.support.flows.model_server import PRICED, ModelServer
from tests.support.flows.small_builds import (
    one,
    row_counts,
    run_here,
    settings_of,
    start,
    stub_roles,
    unmeasured_recipe,
    untimed,
    warehouse_of,
    write_unmeasured_recipe,
)

pytestmark = pytest.mark.enable_socket
LIBRARY = Path(__file__).parents[3] / "docs" / "first-dataset" / "library.yaml"
KEPT = (
    "select key, body from samples order by key",
    "select subject, recipe, grade, accepted_by from acceptances order by all",
    "select * from funnel order by all",
    "select count(*) as calls, sum(cost) as cost from llm_calls where not cached",
)


def kept(home: Path) -> list[Any]:
    return list(
        warehouse_of(settings_of(home)).rows_by_name({sql: (sql, []) for sql in KEPT}).values()
    )


def until(found: Any, patience: float = 60) -> Any:
    end = time.monotonic() + patience
    while not (result := found()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return result


def workers_of(pid: int) -> list[psutil.Process]:
    """The worker processes of a build's Dask cluster."""
    children = psutil.Process(pid).children(recursive=True)
    return [one for one in children if "spawn_main" in " ".join(one.cmdline())]


def test_a_cluster_of_two_workers_of_which_one_is_killed_keeps_the_rows_of_a_build_at_home(
    tmp_path: Path,
) -> None:
    recipe = write_unmeasured_recipe(
        tmp_path, name="dasked", samples={"perfect": 20, "imperfect": 8}, shard_size=7
    )
    plain = run_here("build", str(recipe), "--no-review", home=tmp_path / "plain")
    dask = {"CALLWRIGHT_WORKERS": "dask:2", "CALLWRIGHT_SCRATCH": str(tmp_path / "scratch")}
    building = start("build", str(recipe), "--no-review", home=tmp_path / "far", **dask)
    until(lambda: list((tmp_path / "scratch").rglob("lock")))
    workers_of(building.pid)[-1].kill()
    stdout, stderr = building.communicate(timeout=120)
    assert (building.returncode, untimed(stdout)) == (0, untimed(plain.stdout)), stderr
    assert kept(tmp_path / "far") == kept(tmp_path / "plain")
    assert row_counts(settings_of(tmp_path / "far")) == row_counts(settings_of(tmp_path / "plain"))


@pytest.mark.slow
def test_what_a_killed_worker_has_paid_for_is_not_paid_again(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.delay = 0.1
    models = stub_roles(model_server, name=PRICED, concurrency=4)
    recipe = write_unmeasured_recipe(
        tmp_path, name="paid", models=models, samples={"perfect": 60}, shard_size=30
    )
    dask = {"CALLWRIGHT_WORKERS": "dask:2", "CALLWRIGHT_SCRATCH": str(tmp_path / "scratch")}
    building = start("build", str(recipe), "--no-review", home=tmp_path / "far", **dask)
    until(lambda: model_server.answered.total() > 30)
    workers_of(building.pid)[-1].kill()
    _, stderr = building.communicate(timeout=120)
    assert building.returncode == 0, stderr
    settings = settings_of(tmp_path / "far")
    assert one(settings, "select count(*) from samples") == 60
    again = model_server.answered.total() - len(model_server.answered)
    # Four in the slots, and as many whose answers were on their way to the disk.
    assert again <= AHEAD * 4, "what was under way, and no more"
    noted = one(settings, "select count(distinct request) from llm_calls where cost > 0")
    assert len(model_server.answered) - AHEAD * 4 <= noted <= len(model_server.answered), (
        "what was paid for is known"
    )
    answers, _ = answers_after(settings.ledger, 0)
    assert len(answers.splitlines()) == len(model_server.answered), (
        "all of it came home to the builder's ledger"
    )


class Nearby:
    """A Dask client whose tasks are worked in this process, in threads, with a scratch folder of
    their own.
    """

    def submit(self, function: Any, *given: Any, pure: bool) -> "Future[Any]":
        future: Future[Any] = Future()
        given = tuple(self._arrived(value) for value in given)
        try:
            future.set_result(function(*given))
        except Exception as error:  # noqa: BLE001 - the task's own
            future.set_exception(error)
        return future

    def _arrived(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._arrived(member) for member in value]
        return value.result() if isinstance(value, Future) else value


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLWRIGHT_SCRATCH", str(tmp_path / "scratch"))
    return tmp_path / "scratch"


def test_what_is_known_at_home_is_not_asked_far_away(
    scratch: Path, model_server: ModelServer, tmp_path: Path
) -> None:
    recipe = unmeasured_recipe(
        models=stub_roles(model_server, name=PRICED, concurrency=1), samples={"perfect": 3}
    )
    settings = settings_of(tmp_path / "home")
    asyncio.run(build_dataset(recipe, settings, SilentProgress()))
    asked = model_server.requests
    settings.warehouse.unlink()

    cluster = DaskCluster(Nearby(), 2)  # type: ignore[arg-type]  # all that it needs of a client
    opened = open_build(recipe, settings, SilentProgress())
    asyncio.run(make_samples(opened, cluster, ["perfect"]))
    assert (model_server.requests, one(settings, "select count(*) from samples")) == (asked, 3)
    assert not [path for path in scratch.rglob("*") if path.name in {"source.jsonl", "facts"}], (
        "workers tidy up"
    )


def test_a_simulated_environment_of_a_catalog_is_opened_far_away(
    scratch: Path, tmp_path: Path
) -> None:
    settings = settings_of(tmp_path / "home")
    imported = run_here(
        "tools", "import", "openapi", str(LIBRARY), "--name", "library", home=settings.home
    )
    assert imported.returncode == 0, imported.stderr
    recipe = unmeasured_recipe(
        tools=[{"environment": "simulated", "catalog": "library"}],
        languages=["en"],
        samples={"multi_step": 2},
        variants=1,
    )
    asyncio.run(explore_environments(recipe, settings))
    cluster = DaskCluster(Nearby(), 2)  # type: ignore[arg-type]  # all that it needs of a client
    opened = open_build(recipe, settings, SilentProgress())
    asyncio.run(make_samples(opened, cluster, ["multi_step"]))
    assert one(settings, "select count(*) from samples") == 2
    assert list(scratch.rglob(STORE))


def test_an_environment_s_files_and_responses_go_along_and_come_back(tmp_path: Path) -> None:
    home, far = tmp_path / "home.sqlite", tmp_path / "far.sqlite"
    known, new = Call(tool="a", arguments={"x": 1}), Call(tool="a", arguments={"x": 2})
    for path in (home, far):
        ResponseStore(path).close()
    store = ResponseStore(home)
    store.put("shop", known, CallResponse({"y": 1}, ""))
    store.put("other", known, CallResponse({"y": 9}, ""))
    merge_responses(far, pack_responses(home, ["shop"]))
    there = ResponseStore(far)
    assert there.environments() == ["shop"]
    began = time.time()
    there.put("shop", new, CallResponse({"y": 2}, ""))
    there.note_lapse("shop", new, "It was away.")
    merge_responses(home, pack_responses(far, ["shop"], since=began))
    assert store.get("shop", new) == CallResponse({"y": 2}, "")
    assert [lapse.problem for lapse in store.lapses("shop")] == ["It was away."]
    assert store.drifts("shop") == []
    for opened in (store, there):
        opened.close()


def test_answers_travel_as_lines_and_the_first_one_stays(tmp_path: Path) -> None:
    home, far = tmp_path / "home.sqlite", tmp_path / "far.sqlite"
    lines = [b"%032x %s" % (number, b"[1]") for number in range(1_200)]
    keep_answers(home, lines)
    sent, newest = answers_after(home, 0)
    assert (len(sent.splitlines()), newest) == (1_200, 1_200)
    keep_answers(far, [b"%032x [0]" % 7])
    keep_answers(far, sent.splitlines())
    kept_there, _ = answers_after(far, 0)
    assert b"%032x [0]\n" % 7 in kept_there
    assert answers_after(home, newest) == (b"", newest)


def test_all_workers_together_keep_the_limits_and_the_budget() -> None:
    model = {
        "name": "openai/x",
        "concurrency": 16,
        "requests_per_minute": 100,
        "tokens_per_minute": 3,
    }
    roles = dict.fromkeys(("generator", "checker", "judge"), model)
    part = share_of(unmeasured_recipe(models=roles, budget=10.0), 4, 2.0)
    judge = part.models.judge
    assert (judge.concurrency, judge.requests_per_minute, judge.tokens_per_minute, part.budget) == (
        4,
        25,
        1,
        4.0,
    )
    assert share_of(unmeasured_recipe(), 4, 0.0) == unmeasured_recipe()


def test_a_scheduler_that_does_not_authenticate_is_refused_unless_the_settings_trust_it() -> None:
    with pytest.raises(
        ConfigurationError, match=r"does not authenticate.*CALLWRIGHT_DASK_UNAUTHENTICATED=1"
    ):
        validate_scheduler("tcp://10.0.0.1:8786", is_trusted=False)
    validate_scheduler("tcp://10.0.0.1:8786", is_trusted=True)
    validate_scheduler("tls://10.0.0.1:8786", is_trusted=False)


def test_the_cluster_of_this_machine_lets_nobody_in_without_its_certificate(tmp_path: Path) -> None:
    from distributed import Client

    settings = settings_of(tmp_path, CALLWRIGHT_WORKERS="dask:1")
    with open_carrier(unmeasured_recipe(), settings, SilentProgress()) as carrier:
        address = carrier._client.scheduler.address  # type: ignore[attr-defined]  # a bound method's object
        assert address.startswith("tls://127.0.0.1")
        with pytest.raises((TypeError, OSError)):
            Client(address, timeout=2, set_as_default=False)


@pytest.mark.parametrize(
    ("given", "place", "workers"),
    [
        ("3", "local", 3),
        ("local", "local", None),
        ("dask:4", "dask", 4),
        ("dask:tls://10.0.0.1:8786", "dask:tls://10.0.0.1:8786", None),
    ],
)
def test_one_setting_says_who_works_shards(given: str, place: str, workers: int | None) -> None:
    settings = read_settings({"CALLWRIGHT_WORKERS": given})
    assert settings.workplace == place
    assert workers in {None, settings.workers}


@pytest.mark.parametrize("given", ["dask:far", "local:x", "-1", "many"])
def test_a_wrong_workplace_is_answered_with_the_right_ones(given: str) -> None:
    with pytest.raises(ConfigurationError, match=r"dask:tls://host:port"):
        read_settings({"CALLWRIGHT_WORKERS": given})


def test_a_pool_is_told_to_take_whole_builds() -> None:
    with pytest.raises(ConfigurationError, match="callwright deploy RECIPE --pool NAME"):
        read_settings({"CALLWRIGHT_WORKERS": "pool:builders"})


def test_a_recipe_that_asks_in_batches_is_worked_here(tmp_path: Path) -> None:
    models = {"judge": {"name": PRICED, "api_base": "http://127.0.0.1:9/v1", "batch": True}}
    settings = settings_of(tmp_path, CALLWRIGHT_WORKERS="dask:tls://10.0.0.1:8786")
    with open_carrier(unmeasured_recipe(models=models), settings, SilentProgress()) as carrier:
        assert isinstance(carrier, InProcess)


def test_a_scheduler_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "_PATIENCE", 0.5)
    settings = settings_of(
        tmp_path, CALLWRIGHT_WORKERS="dask:tcp://127.0.0.1:9", CALLWRIGHT_DASK_UNAUTHENTICATED="1"
    )
    with (
        pytest.raises(Exception, match="No Dask scheduler answers"),
        open_carrier(unmeasured_recipe(), settings, SilentProgress()),
    ):
        pass
