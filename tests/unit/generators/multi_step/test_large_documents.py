"""Goals of documents that sort their tools by many tags, as those of large services do."""

from random import Random

import pytest
from pydantic import JsonValue

from callwright.generators.environments.protocol import Environment
from callwright.generators.environments.vocabularies import GoalValues, Wish, vocabulary_of
from callwright.generators.multi_step.filling import Filling
from callwright.generators.multi_step.making import find_obstacle, plan_goals
from callwright.generators.multi_step.sketches import Say, Sketcher, Take
from callwright.generators.multi_step.tasks import BegunWorld
from callwright.generators.multi_step.tool_graph import ToolGraph
from callwright.warehouse.records import Call, Goal, JsonSchema, Picked
from tests.support.generators.multi_step.operations import (
    ID,
    TEXT,
    listed,
    thing,
    world_of_operations,
)

ACCOUNT, USER = thing(name=TEXT), thing(name=TEXT, phone=TEXT)
OFFICE = (
    ("Accounts list_accounts", "get", "/accounts", listed(ACCOUNT), {}),
    ("Accounts create_account", "post", "/accounts", ACCOUNT, {"name!": TEXT}),
    ("Users list_users", "get", "/accounts/{account_id}/users", listed(USER), {"account_id!": ID}),
    (
        "Users get_user",
        "get",
        "/accounts/{account_id}/users/{user_id}",
        USER,
        {"account_id!": ID, "user_id!": ID},
    ),
    (
        "Users update_user",
        "patch",
        "/accounts/{account_id}/users/{user_id}",
        USER,
        {
            "account_id!": ID,
            "user_id!": ID,
            "phone": {"type": "string", "examples": ["555-0101", "555-0102"]},
        },
    ),
    (
        "Users delete_user",
        "delete",
        "/accounts/{account_id}/users/{user_id}",
        None,
        {"account_id!": ID, "user_id!": ID},
    ),
)


async def goals_of(environment: Environment, domain: str, count: int = 5) -> list[Goal]:
    return [goal async for goal in plan_goals(domain, "en", count, environment, seed=3)]


async def test_what_no_tool_of_a_domain_gives_the_list_of_another_domain_gives() -> None:
    world = world_of_operations(*OFFICE)
    keys = {tool.key: tool.name for tool in world.tools}
    goals = await goals_of(world, "Users")
    assert len(goals) == 5, find_obstacle("Users", "en", world)
    for goal in goals:
        assert any(call.tool == "list_accounts" for call in goal.calls)
        shown = {keys[key] for key in goal.candidates}
        assert shown == {
            "list_accounts",
            *(name for name in keys.values() if name.endswith(("user", "users"))),
        }


def test_an_id_that_nothing_gives_is_told_once_for_all_calls_of_a_goal() -> None:
    world = world_of_operations(*OFFICE[2:])
    graph, element = ToolGraph(world, ("Users",), "en"), vocabulary_of(world).element
    for seed in range(5):
        sketch = Sketcher(graph, element, Random(seed)).draw(["get_user", "update_user"])
        assert sketch is not None
        accounts = [call.slots["account_id"] for call in sketch.calls]
        assert isinstance(accounts[0], Say)
        assert all(one == accounts[0] for one in accounts)
        users = [call.slots["user_id"] for call in sketch.calls if "user_id" in call.slots]
        assert users
        assert all(isinstance(one, Take) for one in users)


def test_an_id_that_a_list_gives_is_told_only_where_nothing_tells_its_things_apart() -> None:
    world = world_of_operations(*OFFICE)
    graph = ToolGraph(world, ("Users", "Accounts"), "en")
    assert not graph.is_told("list_users", "account_id")
    graph.tell_ids()
    assert graph.is_told("list_users", "account_id")


async def test_no_call_of_a_task_takes_what_another_one_has_made() -> None:
    world = world_of_operations(
        (
            "Notes create_note",
            "post",
            "/notes",
            thing(name=TEXT),
            {"name": {"type": "string", "examples": ["Red", "Blue"]}},
        ),
        ("Notes get_note", "get", "/notes/{note_id}", thing(name=TEXT), {"note_id!": ID}),
        (
            "Notes update_note",
            "patch",
            "/notes/{note_id}",
            thing(name=TEXT),
            {"note_id!": ID, "name": TEXT},
        ),
        ("Notes delete_note", "delete", "/notes/{note_id}", None, {"note_id!": ID}),
    )
    assert await goals_of(world, "Notes")
    assert await goals_of(BegunWorld(world), "Notes") == []
    assert "no tool that changes its world takes what another tool returns" in find_obstacle(
        "Notes", "en", BegunWorld(world)
    )


async def test_what_has_no_name_is_called_by_its_heading_and_each_has_another() -> None:
    event = thing(summary={"type": "string", "examples": ["Weekly call"]}, link=TEXT)
    world = world_of_operations(
        ("Events list_events", "get", "/events", listed(event), {}),
        ("Events get_event", "get", "/events/{event_id}", event, {"event_id!": ID}),
        ("Events delete_event", "delete", "/events/{event_id}", None, {"event_id!": ID}),
        (
            "Events read_guests",
            "get",
            "/events/{event_id}/guests",
            listed(thing(name=TEXT)),
            {"event_id!": ID},
        ),
    )
    goals = await goals_of(BegunWorld(world), "Events")
    tests = [
        one
        for goal in goals
        for call in goal.calls
        for taken in call.arguments.values()
        if isinstance(taken, Picked)
        for one in taken.where
    ]
    assert {one.field for one in tests if one.test == "equals"} == {"summary"}
    assert len({one.value for one in tests}) > 1


def test_what_a_result_holds_and_nothing_else_is_what_the_call_is_about() -> None:
    layer = thing(start=TEXT)
    plan: JsonSchema = {
        "type": "object",
        "properties": {"plan": thing(name=TEXT, layers=listed(layer))},
    }
    world = world_of_operations(
        (
            "Plans list_plans",
            "get",
            "/plans",
            {"type": "object", "properties": {"plans": listed(thing(name=TEXT))}},
            {},
        ),
        ("Plans create_plan", "post", "/plans", plan, {"name!": TEXT}),
        ("Plans get_plan", "get", "/plans/{id}", plan, {"id!": ID}),
    )
    assert world.writes("create_plan")
    episode = world.begin()
    made = episode.answer(Call(tool="create_plan", arguments={"name": "Night shift"}))
    assert made.problem == ""
    assert made.response["plan"]["name"] == "Night shift"  # type: ignore[index,call-overload]


async def test_a_task_asks_for_nothing_that_is_the_same_of_every_thing() -> None:
    state: JsonSchema = {
        "type": "object",
        "properties": {"state": {"type": "string", "const": "ready"}},
    }
    since: JsonSchema = {"type": "string", "format": "date"}
    world = world_of_operations(
        ("Rooms list_rooms", "get", "/rooms", listed(thing(name=TEXT)), {}),
        ("Rooms delete_room", "delete", "/rooms/{room_id}", None, {"room_id!": ID}),
        ("Rooms get_state", "get", "/rooms/{room_id}/state", state, {"room_id!": ID}),
        (
            "Rooms list_keys",
            "get",
            "/rooms/{room_id}/keys",
            listed(thing(name=TEXT)),
            {"room_id!": ID, "since": since},
        ),
    )
    goals = await goals_of(BegunWorld(world), "Rooms")
    calls = [call for goal in goals for call in goal.calls if call.wanted and call.asked]
    assert {call.tool for call in calls} == {"list_keys"}
    assert all("since" not in call.arguments for call in calls)


class _OneWord(GoalValues):
    """Says the same for everything, as things do that are called by few words."""

    def say(self, wish: Wish) -> JsonValue:
        return "Rook"

    def instead_of(self, old: JsonValue, wish: Wish) -> None:
        return None


@pytest.mark.parametrize("labels", [("label",), ("label", "nickname")])
async def test_no_call_of_a_goal_says_one_text_for_two_parameters(labels: tuple[str, ...]) -> None:
    named = {f"{one}!": TEXT for one in labels}
    world = world_of_operations(("Notes add_note", "post", "/notes", thing(name=TEXT), named))
    graph = ToolGraph(world, ("Notes",), "en")
    usual = vocabulary_of(world)
    vocabulary = usual._replace(trip=lambda _rng: _OneWord())
    sketch = Sketcher(graph, usual.element, Random(1)).draw(["add_note"])
    assert sketch is not None
    calls = await Filling(graph, vocabulary, world, Random(1)).fill(sketch)
    assert (calls is None) is (len(labels) > 1)
