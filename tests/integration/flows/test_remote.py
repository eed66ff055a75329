"""Shards that travel: the same rows as at home, each landed once, whatever becomes of the workers and of the builder."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.chats import roles_of
from flows.progress import Silence
from flows.recipe import Recipe, parse_recipe
from flows.remote.exchange import Exchange
from flows.remote.parcels import share_of, validate_it_can_travel
from flows.settings import Settings, read_settings
from flows.toolmaking import report_tools
from tests.support.flows.distant import Distant, counts, distant
from tests.support.flows.model_server import PRICE, PRICED, ModelServer
from tests.support.flows.small_builds import build, one, settings_of, small_recipe, stub_roles, warehouse_of
from warehouse.errors import ConfigurationError, TransientError

pytestmark = pytest.mark.enable_socket
FEW: dict[str, Any] = {"samples": {"perfect": 4, "imperfect": 2}, "shard_size": 3}
KEPT = (
    "select key, body from samples order by key",
    "select stage, subject, outcome, reason from outcomes order by all",
)


def make_tools(recipe: Recipe, settings: Settings) -> object:
    return asyncio.run(report_tools(recipe, settings, Silence()))


@pytest.fixture
def far(tmp_path: Path) -> Distant:
    return distant(tmp_path)


def kept(one_of: Any) -> list[Any]:
    return list(warehouse_of(one_of).rows_by_name({sql: (sql, []) for sql in KEPT}).values())


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The same build at home."""
    settings = settings_of(tmp_path_factory.mktemp("home"))
    build(small_recipe(**FEW), settings)
    return settings


def assert_alike(far: Distant, home: Settings) -> None:
    """What was built far away is, row by row, what a build at home keeps."""
    assert kept(far.settings) == kept(home)
    ours, theirs = counts(far.settings), counts(home)
    assert ours.pop("landed_shards") > theirs.pop("landed_shards") == 0
    assert ours == theirs


def test_a_build_far_away_keeps_what_one_at_home_keeps_and_leaves_nothing_behind(far: Distant, home: Settings) -> None:
    report = far.build(small_recipe(**FEW))
    assert report.landed == 6
    assert_alike(far, home)
    assert far.left() == []
    assert list(far.scratch.rglob("shard-*")) == []
    assert str(far.settings.home) not in str(list(far.scratch.rglob("*")))


def test_no_path_of_the_builder_goes_along(far: Distant) -> None:
    seen: list[bytes] = []

    async def send(place: str) -> None:
        parcel = far.exchange.get(f"{place}/parcel")
        assert parcel is not None
        hidden = far.settings.home.with_name("nowhere")
        far.settings.home.rename(hidden)
        try:
            await far.work(place)
        finally:
            shutil.rmtree(far.settings.home, ignore_errors=True)
            hidden.rename(far.settings.home)
        result = far.exchange.get(f"{place}/result")
        assert result is not None
        seen.extend([*parcel.values(), *result.values()])

    assert far.build(small_recipe(samples={"perfect": 3}), send, slots=1).landed == 3
    assert not [body for body in seen if str(far.settings.home).encode() in body]


def test_a_shard_that_is_delivered_twice_lands_once(far: Distant, home: Settings, tmp_path: Path) -> None:
    other = far._replace(scratch=tmp_path / "other")
    delivered: dict[str, Any] = {}

    async def send(place: str) -> None:
        await far.work(place)
        first = far.exchange.get(f"{place}/result")
        assert first is not None
        far.exchange.remove([f"{place}/result"])
        await other.work(place)
        far.exchange.put(f"{place}/result", first)  # and the slower one delivers as well
        delivered[place] = first

    far.build(small_recipe(**FEW), send)
    assert_alike(far, home)
    # Once more, after all has landed: whoever comes next finds it, and drops it.
    before = counts(far.settings)
    for place, result in delivered.items():
        far.exchange.put(f"{place}/result", result)
    far.build(small_recipe(**FEW))
    assert counts(far.settings) == before
    assert far.left() == []


def test_half_a_result_is_none_and_the_shard_goes_out_again(far: Distant, home: Settings) -> None:
    sent: list[str] = []

    async def send(place: str) -> None:
        sent.append(place)
        await far.work(place)
        if sent.count(place) == 1:
            path = far.exchange._path(f"{place}/result")
            whole = far.exchange._files.cat_file(path)
            far.exchange._files.pipe_file(path, whole[: len(whole) // 2])

    far.build(small_recipe(**FEW), send)
    assert set(map(sent.count, sent)) == {2}
    assert_alike(far, home)


def test_a_shard_that_nobody_delivers_stops_the_build_and_the_next_one_goes_on(far: Distant, home: Settings) -> None:
    async def send(place: str) -> None:
        """Whoever takes it is lost at once."""

    with pytest.raises(TransientError, match="3 workers ended over the shard"):
        far.build(small_recipe(**FEW), send)
    far.build(small_recipe(**FEW))
    assert_alike(far, home)
    assert far.left() == []


def test_a_builder_that_dies_before_it_lands_finds_the_results_again(far: Distant, home: Settings) -> None:
    async def send(place: str) -> None:
        await far.work(place)
        raise RuntimeError("The builder is gone.")

    with pytest.raises(ExceptionGroup):
        far.build(small_recipe(**FEW), send, slots=1)
    assert one(far.settings, "select count(*) from samples") == 0
    far.build(small_recipe(**FEW))
    assert_alike(far, home)
    assert far.left() == []


def paid_recipe(server: ModelServer, **changes: Any) -> Any:
    return small_recipe(models=stub_roles(server, name=PRICED, concurrency=1), samples={"perfect": 3}, **changes)


async def test_what_a_lost_worker_has_paid_for_is_not_paid_again(
    far: Distant, model_server: ModelServer, tmp_path: Path
) -> None:
    """A machine is lost with its disk; only what its courier has carried is left of it."""
    model_server.delay = 0.1
    machine = far._replace(scratch=tmp_path / "lost")
    carried: list[int] = []
    answered: list[int] = []

    async def send(place: str) -> None:
        if carried:
            await far.work(place)
            return
        work = asyncio.create_task(machine.work(place))
        while not [name for name in far.exchange.names(place) if "/notes-" in name]:  # noqa: ASYNC110 - from outside
            await asyncio.sleep(0.02)
        work.cancel()
        await asyncio.wait([work])
        shutil.rmtree(machine.scratch)
        answered.append(model_server.answered.total())
        notes = [name for name in far.exchange.names(place) if "/notes-" in name]
        carried.append(sum(len((far.exchange.get(name) or {})["answers.txt"].splitlines()) for name in notes))

    await asyncio.to_thread(far.build, paid_recipe(model_server), send, slots=1)
    again = sum(times - 1 for times in model_server.answered.values())
    assert carried[0] > 0
    assert again <= answered[0] - carried[0] + 1, "what came after the courier's last way, and what was under way"
    paid = "select count(*) as calls, count(distinct request) as questions, sum(cost) as cost from llm_calls where cost > 0"
    [row] = warehouse_of(far.settings).rows(paid)
    assert row["questions"] == len(model_server.answered)
    assert row["calls"] == row["questions"], "what was carried lands once"
    assert row["cost"] == pytest.approx(PRICE * row["calls"])


def test_what_is_known_at_home_is_not_asked_far_away(far: Distant, model_server: ModelServer) -> None:
    far.build(paid_recipe(model_server))
    asked = model_server.requests
    assert asked > 0
    shutil.rmtree(far.scratch)
    far.settings.warehouse.unlink()
    far.build(paid_recipe(model_server))
    assert model_server.requests == asked


def test_all_workers_together_keep_the_limits_and_the_budget() -> None:
    model = {"name": "openai/x", "concurrency": 16, "requests_per_minute": 100, "tokens_per_minute": 3}
    roles = dict.fromkeys(("generator", "checker", "judge"), model)
    part = share_of(small_recipe(models=roles, budget=10.0), 4, 2.0)
    judge = part.models.judge
    assert (judge.concurrency, judge.requests_per_minute, judge.tokens_per_minute, part.budget) == (4, 25, 1, 4.0)
    assert share_of(small_recipe(), 4, 0.0) == small_recipe()


@pytest.mark.parametrize(
    ("given", "place", "workers"),
    [
        ("3", "local", 3),
        ("local", "local", None),
        ("dask:4", "dask", 4),
        ("dask:tcp://10.0.0.1:8786", "dask:tcp://10.0.0.1:8786", None),
        ("pool:builders", "pool:builders", None),
    ],
)
def test_one_setting_says_who_works_shards(
    monkeypatch: pytest.MonkeyPatch, given: str, place: str, workers: int | None
) -> None:
    monkeypatch.setenv("CALLWRIGHT_WORKERS", given)
    settings = read_settings()
    assert settings.workplace == place
    assert workers in {None, settings.workers}


@pytest.mark.parametrize("given", ["pool:", "dask:far", "local:x", "-1", "many"])
def test_a_wrong_workplace_is_answered_with_the_right_ones(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("CALLWRIGHT_WORKERS", given)
    with pytest.raises(ConfigurationError, match=r"dask:tcp://host:port.*pool:NAME"):
        read_settings()


def test_an_exchange_of_no_known_kind_is_a_wrong_setting() -> None:
    with pytest.raises(ConfigurationError, match="CALLWRIGHT_EXCHANGE is 'carrier-pigeon://roof'"):
        Exchange("carrier-pigeon://roof")


def test_a_folder_is_an_exchange_too(tmp_path: Path) -> None:
    exchange = Exchange(f"file://{tmp_path}/ex change")
    assert (exchange.names("a"), exchange.get("a/b"), exchange.has("a/b")) == ([], None, False)
    exchange.put("a/b", {"x": b"1"})
    exchange.put("a/c/d", {"y": b"2"})
    assert exchange.names("a") == ["a/b", "a/c/d"]
    assert (exchange.get("a/b"), exchange.has("a/b")) == ({"x": b"1"}, True)
    exchange.remove(["a/b", "a/b"])
    exchange.remove_folder("a/c")
    exchange.remove_folder("a/c")
    assert exchange.names("a") == []


def test_a_recipe_that_needs_files_of_this_machine_stays_at_home(tmp_path: Path) -> None:
    recipe = parse_recipe(
        {"name": "live", "tools": [{"environment": "recorded", "path": "r.jsonl"}], "samples": {"perfect": 1}},
        tmp_path,
        "live",
    )
    with pytest.raises(ConfigurationError, match="CALLWRIGHT_WORKERS=local"):
        validate_it_can_travel(recipe)


@pytest.mark.parametrize("workplace", ["dask", "pool:builders"])
@pytest.mark.parametrize("start", [build, make_tools])
def test_a_recipe_that_asks_in_batches_stays_at_home_and_begins_nothing_elsewhere(
    start: Callable[[Recipe, Settings], object], workplace: str, tmp_path: Path
) -> None:
    models = {"judge": {"name": PRICED, "api_base": "http://127.0.0.1:9/v1", "transport": "batch"}}
    recipe = small_recipe(models=models, tools=[{"generate": ["Clock"], "tools_per_category": 2}])
    settings = settings_of(tmp_path / "home")._replace(workplace=workplace, exchange=f"file://{tmp_path}/exchange")

    with pytest.raises(ConfigurationError, match=f"asks its judge '{PRICED}' in batches.*CALLWRIGHT_WORKERS=local"):
        start(recipe, settings)

    assert list(tmp_path.rglob("*")) == []


def test_the_same_models_go_elsewhere_one_request_at_a_time() -> None:
    recipe = small_recipe(models={"judge": {"name": PRICED, "hedge_after": 8.0}})
    validate_it_can_travel(recipe)  # raises where it can't
    travelled = share_of(recipe, 2, spent=0.0)
    assert [(model.name, model.path) for _, model in roles_of(travelled)] == [
        (model.name, model.path) for _, model in roles_of(recipe)
    ]
    assert travelled.models.judge.hedge_after == 8.0
