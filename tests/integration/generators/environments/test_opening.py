"""Opening what a recipe names: secrets by the names of variables, exploring a live server once,
replaying it after.
"""

import asyncio
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from callwright.generators.environments.exploring import explore_environment
from callwright.generators.environments.linking import MOST_HINTS
from callwright.generators.environments.opening import open_environment
from callwright.generators.environments.protocol import EnvironmentSettings, HttpSettings
from callwright.generators.environments.response_store import Description
from callwright.generators.environments.stored import RecordedEnvironment, StoredEnvironment
from callwright.generators.environments.vocabularies import Wish, vocabulary_of_calls
from callwright.warehouse.errors import ConfigurationError, TransientError
from callwright.warehouse.records import Call
from tests.support.flows.small_builds import TOP
from tests.support.generators.environments.fixtures import Servers, as_json
from tests.support.generators.environments.recordings import write_recording

SETTINGS: TypeAdapter[EnvironmentSettings] = TypeAdapter(EnvironmentSettings)
CUSTOMERS = {
    "c1": {"id": "c1", "name": "Ada", "shop_name": "North"},
    "c2": {"id": "c2", "name": "Grace", "shop_name": None},
}
ORDERS = [{"id": 7, "customer_id": "c1", "total": 12.5}, {"id": 8, "customer_id": "c9", "total": 3}]


def read_shop(path: str) -> Any:
    """What a working shop says to a path, None for what it does not know."""
    if path == "/customers":
        return {"data": list(CUSTOMERS.values())}
    if found := re.fullmatch(r"/customers/(\w+)", path):
        return CUSTOMERS.get(found[1])
    if found := re.fullmatch(r"/customers/name/(\w+)", path):
        return next((one for one in CUSTOMERS.values() if one["name"] == found[1]), None)
    if found := re.fullmatch(r"/orders\?customer_id=(\w+)", path):
        return [one for one in ORDERS if one["customer_id"] == found[1]]
    if found := re.fullmatch(r"/orders/(\d+)", path):
        return next((one for one in ORDERS if str(one["id"]) == found[1]), None)
    return {"/orders/filter": ORDERS, "/shops/North": {"city": "Oslo"}}.get(path)


class Shop:
    """A shop that works, and writes down what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def write(self, request: str, writer: asyncio.StreamWriter) -> None:
        self.asked.append(request)
        found = read_shop(request.split()[1])
        writer.write(
            as_json(found) if found is not None else as_json({"detail": "unknown"}, "404 Not Found")
        )


def settings(shop: Path, url: str, **more: Any) -> HttpSettings:
    told = {
        "environment": "http",
        "name": "shop",
        "import": "openapi",
        "path": str(shop),
        "base_url": url,
    }
    read = SETTINGS.validate_python({**told, "allow": ["POST */filter"], **more})
    assert isinstance(read, HttpSettings)
    return read


def no_secret(_: str) -> str:
    return ""


def opened(told: HttpSettings, store: Path) -> StoredEnvironment:
    environment = open_environment(told, store=store, secret=no_secret)
    assert isinstance(environment, StoredEnvironment)
    return environment


async def test_exploring_finds_the_links_that_hold_and_what_people_can_say(
    servers: Servers, shop: Path, tmp_path: Path
) -> None:
    server = Shop()
    told = settings(shop, await servers.start(server.write))
    environment = opened(told, tmp_path / "responses.sqlite")
    stated = {one.key for one in environment.links}
    await explore_environment(told, environment)

    links = {(one.tool, one.parameter, one.source, one.field) for one in environment.links}
    assert {one.key for one in environment.links} < stated
    assert "order_id" not in {one.field for one in environment.links}  # the shop never fills it
    assert ("read_customer", "id", "find_customer", "id") in links
    assert ("read_shop", "name", "find_customer", "shop_name") in links
    assert ("read_customer", "id", "read_order", "customer_id") in links
    tools = {tool.name: tool for tool in environment.tools}
    assert "check_key" not in tools  # it answers nothing without a key
    assert tools["find_customer"].properties["name"]["examples"] == ["Ada", "Grace"]
    assert "in the response of" in tools["read_customer"].properties["id"]["description"]
    assert tools["read_customer"].properties["id"]["description"].count("(`") <= MOST_HINTS
    assert Call(tool="find_customer", arguments={"name": "Ada"}) in environment.known_calls
    environment.close()


async def test_what_was_explored_holds_for_all_who_open_it_later(
    servers: Servers, shop: Path, tmp_path: Path
) -> None:
    server = Shop()
    told = settings(shop, await servers.start(server.write), tools=["find_*", "read_*"])
    first = opened(told, tmp_path / "responses.sqlite")
    await explore_environment(told, first)
    asked = len(server.asked)
    await servers.stop()

    second = opened(told, tmp_path / "responses.sqlite")
    await explore_environment(told, second)
    assert (second.tools, second.links, second.known_calls) == (
        first.tools,
        first.links,
        first.known_calls,
    )
    assert {tool.name for tool in second.tools} == {
        "find_customer",
        "read_customer",
        "read_order",
        "read_shop",
    }
    assert (
        await second.answer(Call(tool="find_customer", arguments={"name": "Ada"}))
    ).response == CUSTOMERS["c1"]
    assert "no tool" in (await second.answer(Call(tool="list_customers"))).problem
    assert len(server.asked) == asked

    path = tmp_path / "shop.jsonl"
    write_recording(
        path, Description(first.tools, first.links, first.known_calls), first.store.stored("shop")
    )
    replay = open_environment(
        SETTINGS.validate_python({"environment": "recorded", "name": "shop", "path": str(path)}),
        store=tmp_path / "unused.sqlite",
        secret=no_secret,
    )
    assert isinstance(replay, RecordedEnvironment)
    assert (replay.tools, replay.links, replay.known_calls) == (
        first.tools,
        first.links,
        first.known_calls,
    )
    assert await replay.answer(first.known_calls[0]) == await first.answer(first.known_calls[0])
    first.close()
    second.close()


async def test_what_people_say_are_values_of_calls_that_were_answered(
    servers: Servers, shop: Path, tmp_path: Path
) -> None:
    told = settings(shop, await servers.start(Shop().write))
    environment = opened(told, tmp_path / "responses.sqlite")
    await explore_environment(told, environment)
    sayable = vocabulary_of_calls(environment.tools, environment.links, environment.known_calls)
    assert sayable.element("find_customer", "name") == "keyword"
    assert sayable.element("read_customer", "id") == "identifier"

    wish = Wish("keyword", "main", "find_customer", "name", 0, {"type": "string"})
    said = {sayable.trip(Random(seed)).say(wish) for seed in range(20)}
    assert said == {"Ada", "Grace"}
    assert len({sayable.trip(Random(3)).say(wish) for _ in range(5)}) == 1
    assert sayable.trip(Random(0)).say(wish._replace(tool="unknown")) is None
    environment.close()


async def test_a_server_that_answers_nothing_can_not_be_explored(
    servers: Servers, shop: Path, tmp_path: Path
) -> None:
    url = await servers.saying(b"")
    await servers.stop()
    told = settings(shop, url)
    environment = opened(told, tmp_path / "responses.sqlite")
    with pytest.raises(ConfigurationError, match=r"'shop' answered no call .*can't be asked"):
        await explore_environment(told, environment)
    assert environment.store.lapses(environment.kept_as)
    environment.close()


async def test_a_server_that_goes_down_while_it_is_explored_is_explored_again(
    servers: Servers, shop: Path, tmp_path: Path
) -> None:
    server = Shop()
    left = [3]

    async def write(request: str, writer: asyncio.StreamWriter) -> None:
        left[0] -= 1
        if left[0] >= 0:
            await server.write(request, writer)

    told = settings(shop, await servers.start(write))
    environment = opened(told, tmp_path / "responses.sqlite")
    with pytest.raises(TransientError, match=r"'shop' stopped answering .* can't be asked"):
        await explore_environment(told, environment)
    assert environment.known_calls == ()

    left[0] = 1000
    await explore_environment(told, environment)
    assert {tool.name for tool in environment.tools} >= {"read_shop", "read_order", "find_customer"}
    environment.close()


async def test_a_secret_is_named_in_the_recipe_and_comes_from_elsewhere(
    servers: Servers, shop: Path, tmp_path: Path
) -> None:
    server = Shop()
    told = settings(shop, await servers.start(server.write), secrets={"Authorization": "SHOP_KEY"})
    with pytest.raises(ConfigurationError, match="SHOP_KEY is not set"):
        opened(told, tmp_path / "responses.sqlite")
    environment = open_environment(
        told, store=tmp_path / "responses.sqlite", secret={"SHOP_KEY": "Bearer abc"}.__getitem__
    )
    await environment.answer(Call(tool="list_customers"))
    assert "Authorization: Bearer abc" in server.asked[0]
    assert isinstance(environment, StoredEnvironment)
    environment.close()
    assert b"Bearer abc" not in (tmp_path / "responses.sqlite").read_bytes()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"environment": "train"}, "environment"),
        ({"environment": "http", "path": "a.json"}, "base_url"),
        (
            {"environment": "http", "path": "a.json", "base_url": "http://h", "retries": 3},
            "retries",
        ),
        (
            {"environment": "http", "path": "a.json", "base_url": "http://h", "import": "soap"},
            "import",
        ),
        ({"environment": "recorded"}, "path"),
        ({"environment": "travel", "response_size": "endless"}, "response_size"),
    ],
)
def test_a_wrong_setting_is_named(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        SETTINGS.validate_python(wrong)


async def test_the_travel_world_keeps_its_answers_apart_by_seed_and_size(tmp_path: Path) -> None:
    store = tmp_path / "responses.sqlite"
    worlds = [
        open_environment(
            SETTINGS.validate_python({"environment": "travel", **more}),
            store=store,
            secret=no_secret,
        )
        for more in ({}, {"seed": 1}, {"response_size": "medium"})
    ]
    kept = []
    for world in worlds:
        assert isinstance(world, StoredEnvironment)
        assert world.name == "travel"
        search = next(tool for tool in world.tools if len(tool.required) == 1)
        first = await world.answer(Call(tool=search.name, arguments={search.required[0]: "Rome"}))
        assert first.problem == ""
        kept.append([one.answer for one in world.store.stored(world.kept_as)])
        assert kept[-1] == [first]
        world.close()
    assert len({str(answers) for answers in kept}) >= 2


async def test_the_lines_that_the_documentation_shows_can_be_replayed(tmp_path: Path) -> None:
    shown = (
        (TOP / "docs" / "environments.md")
        .read_text(encoding="utf-8")
        .partition("```json\n")[2]
        .partition("```")[0]
    )
    path = tmp_path / "responses.jsonl"
    path.write_text(shown, encoding="utf-8")
    told = SETTINGS.validate_python({"environment": "recorded", "name": "shop", "path": str(path)})
    environment = open_environment(told, store=tmp_path / "unused", secret=no_secret)
    assert isinstance(environment, RecordedEnvironment)
    [tool], [link], [known] = environment.tools, environment.links, environment.known_calls
    assert (tool.name, link.source, known.tool) == ("read_order", "list_orders", "list_orders")
    assert (await environment.answer(known)).response == {"orders": [{"id": 7}]}
    assert "404" in (await environment.answer(Call(tool="read_order", arguments={"id": 9}))).problem
    assert (
        "No response is recorded"
        in (await environment.answer(Call(tool="read_order", arguments={"id": 1}))).problem
    )
