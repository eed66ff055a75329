"""Worlds of other seeds: their own things, ids that nobody guesses, goals each in one of its own."""

import re
from math import log2
from pathlib import Path
from random import Random
from typing import Any

import pytest

from callwright.generators.environments.episodes import draw_seed, world_of
from callwright.generators.environments.population import id_form
from callwright.generators.environments.protocol import Environment
from callwright.generators.multi_step.making import plan_goals
from callwright.generators.multi_step.tasks import BegunWorld
from callwright.warehouse.records import Call, Goal
from tests.support.generators.multi_step.workshop import bicycles, open_workshop

LIST = Call(tool="list_bicycles")


@pytest.fixture
def workshop(tmp_path: Path) -> Environment:
    return open_workshop(tmp_path)


async def goals(workshop: Environment, worlds: int, count: int = 6) -> list[Goal]:
    place = BegunWorld(workshop)
    planned = plan_goals("workshop", "en", count, place, seed=7, worlds=worlds)
    return [goal async for goal in planned]


async def test_each_goal_has_a_world_of_its_own_and_the_same_one_the_next_time(
    workshop: Environment,
) -> None:
    found = await goals(workshop, 0)
    assert len({goal.world for goal in found}) == len(found) == 6
    assert await goals(workshop, 0) == found


async def test_a_number_of_worlds_begins_with_the_environments_own(workshop: Environment) -> None:
    assert {goal.world for goal in await goals(workshop, 1, 3)} == {0}
    assert {goal.world for goal in await goals(workshop, 2)} == {
        0,
        draw_seed("world", 0, "workshop", 1),
    }


def test_worlds_share_no_id_and_hardly_a_name(workshop: Environment) -> None:
    seen = [bicycles(BegunWorld(workshop, seed).inner) for seed in range(1, 9)]
    ids, names = ([one[field] for world in seen for one in world] for field in ("id", "name"))
    assert len(set(ids)) == len(ids) == 8 * 24
    assert len(set(names)) > 0.95 * len(names)


def test_episodes_at_once_know_nothing_of_each_other(workshop: Environment) -> None:
    world = world_of(workshop)
    alone = [world.begin(seed).answer(LIST).response for seed in (1, 2)]
    first, second = world.begin(1), world.begin(2)
    listed: Any = first.answer(LIST).response
    first.answer(Call(tool="delete_repair", arguments={"repair_id": "none"}))
    changed = {"bicycle_id": listed[0]["id"], "colour": "black"}
    assert second.answer(Call(tool="update_bicycle", arguments=changed)).error == "not_found"
    assert not first.answer(Call(tool="update_bicycle", arguments=changed)).problem
    assert [world.begin(1).answer(LIST).response, second.answer(LIST).response] == alone


@pytest.mark.parametrize(
    ("schema", "examples", "form"),
    [
        ({"type": "string"}, ["b7Kq21x"], r"[a-z]\d[A-Z][a-z]\d\d[a-z]{2}\d[A-Z]"),
        ({"type": "string"}, ["cus_81b"], r"cus_[a-z\d]{9,}"),
        (
            {"type": "string"},
            ["A6C1E0B2-7d1f-4a53-8a0e-1f2d3c4b5a69"],
            r"[a-f\d]{8}-[a-f\d]{4}-4[a-f\d]{3}-a[a-f\d]{3}-[a-f\d]{12}",
        ),
        ({"type": "string"}, [], r"ORD-?\d{10,}"),
        ({"type": "string", "maxLength": 6}, ["ab12"], r"[a-z]{2}\d\d[a-z]{2}"),
    ],
)
def test_an_id_looks_like_the_documents(
    schema: dict[str, Any], examples: list[str], form: str
) -> None:
    found = id_form("order_id", schema, examples)
    assert found is not None
    drawn = [found.draw(Random(number)) for number in range(200)]
    assert all(re.fullmatch(form, one) for one in drawn)
    assert len(set(drawn)) == len(drawn)
    if "maxLength" not in schema:
        assert sum(log2(len(one)) for one in found.among) >= 40
