"""Environments in recipes: explored before a build, their responses landed, asked again where
somebody wants to know.
"""

import asyncio
import json
import shlex
import sys
from pathlib import Path

import pytest

from callwright.flows.catalogs import import_catalog, with_catalogs
from callwright.flows.environments import (
    environment_tools,
    explore_environments,
    open_environments,
    refresh_environments,
    responses_of,
)
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Recipe, parse_recipe
from callwright.flows.run.plan import build_dataset
from callwright.flows.settings import open_warehouse
from callwright.generators.catalogs.choosing import ToolChoice
from callwright.generators.environments.protocol import McpSettings
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call, CallTurn, Sample
from tests.integration.generators.environments.test_opening import Shop, read_shop
from tests.support.flows.small_builds import TOP, run_here, settings_of, warehouse_of
from tests.support.generators.environments.fixtures import Servers, as_json, servers, shop
from tests.support.generators.environments.music import MUSIC, music_answer

__all__ = ["servers", "shop"]  # fixtures

RECIPE = {"name": "shop", "samples": {"multi_step_cross": 2}}


def recipe_for(path: Path, url: str) -> Recipe:
    source = {
        "environment": "http",
        "name": "shop",
        "import": "openapi",
        "path": str(path),
        "base_url": url,
    }
    return parse_recipe(
        {**RECIPE, "tools": [{**source, "allow": ["POST */filter"]}]}, path.parent, "shop"
    )


async def test_what_a_live_server_answers_lands_and_what_changes_is_told(
    servers: Servers, shop: Path, tmp_path: Path
) -> None:
    raised = 0

    async def write(request: str, writer: asyncio.StreamWriter) -> None:
        found = read_shop(request.split()[1])
        if isinstance(found, dict) and "total" in found:
            found = found | {"total": found["total"] + raised}
        writer.write(
            as_json(found) if found is not None else as_json({"detail": "unknown"}, "404 Not Found")
        )

    recipe, settings = recipe_for(shop, await servers.start(write)), settings_of(tmp_path)
    await explore_environments(recipe, settings)
    assert "find_customer" in {tool.name for tool in environment_tools(recipe, settings)["shop"]}
    rows = responses_of(recipe, settings)
    assert len(rows["responses"]) == len({row["key"] for row in rows["responses"]}) > 0
    assert await refresh_environments(recipe, settings) == []
    raised = 5
    drifts = await refresh_environments(recipe, settings)
    assert {drift.call.tool for drift in drifts} == {"read_order"}
    assert all(
        drift.later.response["total"] == drift.earlier.response["total"] + 5 for drift in drifts
    )  # type: ignore[call-overload, index, operator]
    assert len(responses_of(recipe, settings)["responses"]) == len(rows["responses"]) + len(drifts)


async def test_a_server_that_a_catalog_names_has_its_tools_and_its_constants(
    servers: Servers, shop: Path, tmp_path: Path
) -> None:
    server, settings = Shop(), settings_of(tmp_path)
    choice = ToolChoice(
        constants={"list_orders.customer_id": "c1"},
        rename={"read_order": "get_order"},
        exclude=({"name": "*shop*"},),
    )
    warehouse = open_warehouse(settings)
    import_catalog(warehouse, "openapi", shop, choice, name="north")
    source = {
        "environment": "http",
        "name": "shop",
        "catalog": "north",
        "base_url": await servers.start(server.write),
    }
    named = parse_recipe({**RECIPE, "tools": [source]}, tmp_path, "shop")
    recipe = with_catalogs(named, warehouse)
    await explore_environments(named, settings)
    tools = {tool.name: tool for tool in environment_tools(recipe, settings)["shop"]}
    assert "get_order" in tools
    assert not {"read_order", "read_shop"} & set(tools)
    assert tools["list_orders"].constants == {"customer_id": "c1"}
    assert tools["list_orders"].required == ()
    assert {line.split()[1] for line in server.asked if "/orders?" in line} == {
        "/orders?customer_id=c1"
    }
    recorded = [
        row for row in responses_of(recipe, settings)["responses"] if row["tool"] == "list_orders"
    ]
    assert [row["call"] for row in recorded] == [
        '{"tool":"list_orders","arguments":{"customer_id":"c1"}}'
    ]
    with open_environments(recipe, settings.home) as opened:
        made_up = await opened["shop"].answer(
            Call(tool="list_orders", arguments={"customer_id": "c2"})
        )
    assert "has no parameter 'customer_id'" in made_up.problem

    await asyncio.to_thread(shop.write_text, "{}")
    with pytest.raises(ConfigurationError, match="has changed since"):
        with_catalogs(named, warehouse)


async def test_steps_through_a_service_begin_with_a_name_and_not_with_an_id_that_nobody_knows(
    servers: Servers, tmp_path: Path
) -> None:
    async def write(request: str, writer: asyncio.StreamWriter) -> None:
        found = music_answer(request.split()[1])
        writer.write(
            as_json(found) if found is not None else as_json({"error": "unknown"}, "404 Not Found")
        )

    await asyncio.to_thread((tmp_path / "music.json").write_text, json.dumps(MUSIC))
    source = {"environment": "http", "name": "music", "import": "openapi", "path": "music.json"}
    stated = {"base_url": await servers.start(write), "constants": {"market": "SE"}}
    recipe = parse_recipe(
        {
            "name": "music",
            "samples": {"multi_step": 2},
            "variants": 1,
            "tools": [{**source, **stated}],
        },
        tmp_path,
        "music",
    )
    settings = settings_of(tmp_path)
    await build_dataset(recipe, settings, SilentProgress())
    rows = warehouse_of(settings).rows("select body from samples")
    samples = [Sample.model_validate_json(row["body"]) for row in rows]
    assert samples
    for sample in samples:
        calls = [call for turn in sample.turns if isinstance(turn, CallTurn) for call in turn.calls]
        assert len(calls) > 1
        assert {call.constants["market"] for call in calls} == {"SE"}
        assert not any("market" in call.arguments for call in calls)
        sources = {one.kind for call in calls for one in call.evidence if one.argument == "id"}
        assert sources == {"response"}


def test_an_mcp_server_is_imported_under_a_name(tmp_path: Path) -> None:
    command = shlex.join(
        [sys.executable, str(TOP / "tests/support/generators/environments/mcp_paged.py")]
    )
    done = run_here(
        "tools",
        "import",
        "mcp",
        "--server",
        command,
        "--name",
        "paged",
        "--exclude",
        "read_third",
        home=tmp_path,
    )
    assert done.stdout.splitlines()[0] == "3 entries read, 2 tools kept as the catalog 'paged'."
    shown = json.loads(run_here("tools", "show", "paged", "--json", home=tmp_path).stdout)
    assert (shown["path"], [tool["name"] for tool in shown["tools"]]) == (
        command,
        ["read_first", "read_second"],
    )

    warehouse = warehouse_of(settings_of(tmp_path))
    named = {"environment": "mcp", "name": "paged", "catalog": "paged", "allow": ["*"]}
    [found] = with_catalogs(
        parse_recipe({**RECIPE, "tools": [named]}, tmp_path, "x"), warehouse
    ).tools
    assert isinstance(found, McpSettings)
    assert (shlex.join(found.command), found.exclude[0].name) == (command, "read_third")
    for words, told in (
        (("mcp",), 'import mcp --server "COMMAND"` or `--url URL'),
        (("openapi", "--url", "http://127.0.0.1:9"), "callwright tools import openapi PATH"),
        (("mcp", "--url", "http://127.0.0.1:9"), "can't be asked"),
    ):
        refused = run_here("tools", "import", *words, home=tmp_path)
        assert (refused.returncode, told in refused.stderr) == (2, True), refused.stderr


def test_two_environments_of_one_name_are_refused(tmp_path: Path) -> None:
    recipe = parse_recipe(
        {**RECIPE, "tools": [{"environment": "travel"}, {"environment": "travel", "seed": 1}]},
        tmp_path,
        "x",
    )
    with (
        pytest.raises(ConfigurationError, match="are named 'travel'"),
        open_environments(recipe, tmp_path),
    ):
        pass


def test_multi_step_samples_without_an_environment_are_refused(tmp_path: Path) -> None:
    from callwright.flows.planning.demands import validate_it_can_be_planned

    recipe = parse_recipe({**RECIPE, "tools": [{"seed": "all"}]}, tmp_path, "x")
    with pytest.raises(ConfigurationError, match="Add `- environment: travel`"):
        validate_it_can_be_planned(recipe, [])
