"""Environments in recipes: explored before a build, their responses landed, asked again where somebody wants to know."""

import asyncio
from pathlib import Path

import pytest

from flows.environments import (
    environment_tools,
    explore_environments,
    open_environments,
    refresh_environments,
    responses_of,
)
from flows.recipe import Recipe, parse_recipe
from tests.integration.generators.environments.test_opening import read_shop
from tests.support.flows.small_builds import settings_of
from tests.support.generators.environments.fixtures import Servers, as_json, servers, shop
from warehouse.errors import ConfigurationError

__all__ = ["servers", "shop"]  # fixtures

RECIPE = {"name": "shop", "samples": {"multi_step_cross": 2}}


def recipe_for(path: Path, url: str) -> Recipe:
    source = {"environment": "http", "name": "shop", "import": "openapi", "path": str(path), "base_url": url}
    return parse_recipe({**RECIPE, "tools": [{**source, "allow": ["POST */filter"]}]}, path.parent, "shop")


async def test_what_a_live_server_answers_lands_and_what_changes_is_told(
    servers: Servers, shop: Path, tmp_path: Path
) -> None:
    raised = 0

    async def write(request: str, writer: asyncio.StreamWriter) -> None:
        found = read_shop(request.split()[1])
        if isinstance(found, dict) and "total" in found:
            found = found | {"total": found["total"] + raised}
        writer.write(as_json(found) if found is not None else as_json({"detail": "unknown"}, "404 Not Found"))

    recipe, settings = recipe_for(shop, await servers.start(write)), settings_of(tmp_path)
    await explore_environments(recipe, settings)
    assert "find_customer" in {tool.name for tool in environment_tools(recipe, settings)["shop"]}
    rows = responses_of(recipe, settings)
    assert len(rows["responses"]) == len({row["key"] for row in rows["responses"]}) > 0
    assert await refresh_environments(recipe, settings) == []
    raised = 5
    drifts = await refresh_environments(recipe, settings)
    assert {drift.call.tool for drift in drifts} == {"read_order"}
    assert all(drift.later.response["total"] == drift.earlier.response["total"] + 5 for drift in drifts)  # type: ignore[call-overload, index, operator]
    assert len(responses_of(recipe, settings)["responses"]) == len(rows["responses"]) + len(drifts)


def test_two_environments_of_one_name_are_refused(tmp_path: Path) -> None:
    recipe = parse_recipe(
        {**RECIPE, "tools": [{"environment": "travel"}, {"environment": "travel", "seed": 1}]}, tmp_path, "x"
    )
    with pytest.raises(ConfigurationError, match="are named 'travel'"), open_environments(recipe, tmp_path):
        pass


def test_multi_step_samples_without_an_environment_are_refused(tmp_path: Path) -> None:
    from flows.planning.planner import validate_it_can_be_planned

    recipe = parse_recipe({**RECIPE, "tools": [{"seed": "all"}]}, tmp_path, "x")
    with pytest.raises(ConfigurationError, match="Add `- environment: travel`"):
        validate_it_can_be_planned(recipe, [])
