"""What an episode earns: needless writes cost, guessed ids earn nothing, cheats get what they
deserve, and no argument of any kind changes a reward.
"""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright import cheats
from callwright.flows.evaluation.cheats import figures_of_cheats, play
from callwright.flows.evaluation.rewards import MOST_NEEDLESS, Shown, ids_in
from callwright.flows.evaluation.tasks import Episode, Task
from callwright.generators.environments.episodes import StatefulWorld, world_of
from callwright.warehouse.records import AskedField, Call
from tests.support.generators.multi_step.workshop import (
    bicycles,
    open_workshop,
    painting,
    repairs,
    task,
)


@pytest.fixture
def painted(tmp_path: Path) -> Task:
    workshop = open_workshop(tmp_path)
    return Task(painting(workshop), world_of(workshop), workshop.tools)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Task, Task]:
    """Two tasks: one bicycle is found, painted, and its repairs are told."""
    workshop = open_workshop(tmp_path_factory.mktemp("told"))
    world = world_of(workshop)
    found = [one for one in bicycles(world) if len(repairs(world, one["id"])) > 1][:2]
    tasks = []
    for one in found:
        colour = "white" if one["colour"] != "white" else "black"
        listed = repairs(world, one["id"])
        sample = task(
            workshop,
            [("list_bicycles", {})],
            [
                ("update_bicycle", {"bicycle_id": one["id"], "colour": colour}),
                ("list_repairs", {"bicycle_id": one["id"]}),
            ],
            [("create_repair", {"bicycle_id": one["id"], "part": "chain"})],
            [("delete_repair", {"repair_id": listed[0]["id"]})],
            asked=(AskedField(1, 1, "[].part"), AskedField(1, 1, "[].status")),
            reply="; ".join(f"{one['part']}: {one['status']}" for one in listed),
        )
        tasks.append(Task(sample, world, workshop.tools))
    return tasks[0], tasks[1]


def paint(episode: Episode, colour: str) -> None:
    [bicycle] = {call.arguments["bicycle_id"] for call in episode.task.gold if call.arguments}
    answer = episode.step("update_bicycle", {"bicycle_id": bicycle, "colour": colour})
    assert not answer.is_error


def add_and_remove(episode: Episode, world: StatefulWorld) -> None:
    made: Any = episode.step(
        "create_repair", {"bicycle_id": bicycles(world)[0]["id"], "part": "lights"}
    ).response
    assert not episode.step("delete_repair", {"repair_id": made["id"]}).is_error


def test_a_mistake_that_is_put_right_costs_half_and_who_churns_gets_nothing(painted: Task) -> None:
    with painted.begin() as episode:
        episode.step("list_bicycles", {})
        paint(episode, "green" if bicycles(painted.world)[0]["colour"] != "green" else "red")
        episode.play(painted.gold)
        grade = episode.grade()
        assert (grade.reward, grade.needless_writes) == (0.5, 1)
        assert grade.reason == "1 writes were needless."
        add_and_remove(episode, painted.world)
        assert (episode.reward(), episode.needless_writes) == (0.125, 3)
        add_and_remove(episode, painted.world)
        assert episode.needless_writes >= MOST_NEEDLESS
        assert (episode.reward(), episode.end_reached) == (0.0, True)


def test_a_write_repeated_for_nothing_is_needless_and_two_for_one_are_not(painted: Task) -> None:
    with painted.begin() as episode:
        episode.play(painted.gold)
        paint(episode, next(call.arguments["colour"] for call in painted.gold[1:2]))  # type: ignore[arg-type]
        assert (episode.reward(), episode.needless_writes) == (0.5, 1)


def test_writes_from_memory_earn_nothing_until_their_ids_were_shown(painted: Task) -> None:
    with painted.begin() as episode:
        episode.play([call for call in painted.gold if painted.world.writes(call.tool)])
        grade = episode.grade()
        assert (grade.reward, grade.end_reached) == (0.0, True)
        assert grade.reason.startswith("Unseen id: ")
        dumped = episode.snapshot().dumped()
        episode.reset()
        bicycle = bicycles(painted.world)[0]["id"]
        episode.step("get_bicycle", {"bicycle_id": bicycle})  # the answer to a guess shows nothing
        episode.play(painted.gold[1:])
        assert episode.reward() == 0.0
        episode.reset()
        episode.play(painted.gold)
        assert episode.reward() == 1.0
    with painted.begin() as later:
        later.restore(dumped)
        assert later.grade().unseen_ids == grade.unseen_ids
        assert later.snapshot().dumped() == dumped


def test_an_id_is_a_value_of_an_identifying_field_and_shown_where_it_stands_as_a_word() -> None:
    arguments: Any = {"order_id": 7, "items": [{"sku": "a1"}], "name": "Ann", "notes": ["id"]}
    assert [*ids_in(arguments)] == [("order_id", "7"), ("sku", "a1")]
    shown = Shown([{"text": "Order 7 has a1-b2."}, "Please see to k3Vd69g."])
    assert all(one in shown for one in ("7", "a1", "k3Vd69g"))
    assert not any(one in shown for one in ("a", "k3Vd69", "8"))


def test_no_cheat_gets_more_than_it_deserves(told: tuple[Task, Task]) -> None:
    names = set()
    for one in told:
        with one.begin() as episode:
            assert not any(answer.is_error for answer in episode.play(one.gold))
            assert episode.grade(one.reply).reward == 1.0, episode.grade(one.reply)
        for cheat in cheats(one, told):
            names.add(cheat.name)
            assert play(one, cheat) <= cheat.deserves, cheat.name
    assert {"writes from memory", "word dump", "churn", "delete and recreate"} <= names
    figures = figures_of_cheats(told)
    assert {one.name for one in figures} == names
    assert {one.mean_reward for one in figures} == {0.0}


def test_what_is_told_wrongly_earns_nothing_and_says_so(told: tuple[Task, Task]) -> None:
    task, _ = told
    with task.begin() as episode:
        episode.play(task.gold)
        assert episode.grade("Done.").untold == 2
        grade = episode.grade(f"{task.reply}; saddle, brakes, tyres, lights, chain: waiting")
        assert grade.reward == 0.0
        assert grade.reason.startswith("The last word says what is not so: ")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
NAMES = st.sampled_from(["update_bicycle", "create_repair", "list_bicycles", "no_such_tool", ""])
PARAMETERS = st.dictionaries(
    st.sampled_from(["bicycle_id", "colour", "part", "x"]), ANYTHING, max_size=4
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(calls=st.lists(st.tuples(NAMES, ANYTHING | PARAMETERS), max_size=4), text=st.text())
def test_any_arguments_get_an_answer_and_no_reward(
    told: tuple[Task, Task], calls: list[tuple[str, Any]], text: str
) -> None:
    task, _ = told
    with task.begin() as episode:
        for tool, arguments in calls:
            answer = episode.step(tool, arguments)
            assert answer.is_error or tool == "list_bicycles"
            assert answer.text
        assert (episode.reward(text), episode.reward(task.reply)) == (0.0, 0.0)
        episode.reset()
        episode.play(task.gold)
        assert episode.reward(task.reply) == 1.0


@pytest.mark.parametrize(
    "value",
    ["x" * 1_000_000, [[]] * 10_000, float("nan"), float("inf"), b"\xff", 10**400, {"a": object()}],
)
def test_huge_and_strange_arguments_get_a_plain_answer(painted: Task, value: Any) -> None:
    nested: Any = value
    for _ in range(3000):
        nested = [nested]
    with painted.begin() as episode:
        for argument in (value, nested):
            for arguments in (argument, {"bicycle_id": argument, "colour": argument}):
                assert episode.step("update_bicycle", arguments).is_error
        assert (episode.reward("x" * 1_000_000), episode.changes) == (0.0, ())


def test_calls_after_the_end_change_no_earlier_grade(painted: Task) -> None:
    with painted.begin() as episode:
        episode.play(painted.gold)
        grade = episode.grade(painted.reply)
        episode.play([Call(tool="no_such_tool"), *painted.gold[:1]])
        assert episode.grade(painted.reply) == grade
