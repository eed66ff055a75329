"""Tasks that are played: an episode answers, remembers, goes back, is judged by its end, and
says no once it is closed.
"""

from pathlib import Path
from typing import Any

import orjson
import pytest

from callwright import ConfigurationError
from callwright.flows.evaluation.tasks import OVER, Task
from callwright.generators.environments.episodes import world_of
from callwright.warehouse.records import Call, Tool
from tests.support.generators.multi_step.workshop import bicycles, open_workshop, painting, telling


@pytest.fixture
def task(tmp_path: Path) -> Task:
    workshop = open_workshop(tmp_path)
    return Task(painting(workshop), world_of(workshop), workshop.tools)


def test_the_gold_scores_1_and_nothing_at_all_scores_0(task: Task) -> None:
    with task.begin() as episode:
        assert (episode.reward(), episode.end_reached, episode.changes) == (0.0, False, ())
        assert not any(answer.is_error for answer in episode.play(task.gold))
        assert (episode.reward(), episode.needless_changes) == (1.0, 0)


def test_each_planted_defect_scores_0_and_each_lacks_something(task: Task) -> None:
    defects = list(task.defects())
    assert {"call_dropped", "other_value", "other_tool"} & {one.name for one in defects}
    for defect in defects:
        with task.begin() as episode:
            episode.play([one for one in defect.turns if isinstance(one, Call)])
            assert episode.reward() == 0.0, defect


def test_a_change_that_nobody_wants_is_counted_and_spoils_the_task(task: Task) -> None:
    with task.begin() as episode:
        episode.play(task.gold)
        other = bicycles(task.world)[1]
        episode.step("create_repair", {"bicycle_id": other["id"], "part": "lights"})
        assert (episode.reward(), episode.needless_changes) == (0.0, 1)


def test_arguments_may_be_json_text_and_what_cannot_be_read_is_an_answer(task: Task) -> None:
    with task.begin() as episode:
        listed = episode.step("list_bicycles", "{}")
        assert not listed.is_error
        assert orjson.loads(listed.text) == listed.response
        assert episode.step("list_bicycles", "{").response == {
            "error": "The arguments of 'list_bicycles' are no JSON."
        }
        assert episode.step("list_bicycles", None).is_error
        assert episode.step("no_such_tool", {}).is_error
        assert episode.step("get_bicycle", {"bicycle_id": "nobody"}).is_error
        assert episode.changes == ()


def test_an_episode_goes_back_to_a_snapshot_to_a_dumped_one_and_to_its_beginning(
    task: Task,
) -> None:
    with task.begin() as episode:
        before = episode.snapshot()
        episode.play(task.gold)
        after = orjson.loads(orjson.dumps(episode.snapshot().dumped()))
        episode.restore(before)
        assert episode.reward() == 0.0
        episode.restore(after)
        assert episode.reward() == 1.0
        episode.reset()
        assert episode.changes == ()


def test_what_was_asked_for_has_to_be_told_as_it_was_returned(tmp_path: Path) -> None:
    workshop = open_workshop(tmp_path)
    task = Task(telling(workshop), world_of(workshop), workshop.tools)
    second = bicycles(task.world)[1]
    with task.begin() as episode:
        episode.play(task.gold)
        assert (episode.reward(task.reply), episode.reward("Done."), episode.reward()) == (
            1.0,
            0.0,
            1.0,
        )
        assert (episode.untold(task.reply), episode.untold("Done.")) == (0, 2)
        episode.reset()
        episode.step("update_bicycle", {"bicycle_id": second["id"], "colour": "white"})
        episode.step("get_bicycle", {"bicycle_id": second["id"]})
        dumped = orjson.loads(orjson.dumps(episode.snapshot().dumped()))
    with task.begin() as later:
        later.restore(dumped)
        assert later.snapshot().dumped() == dumped
        assert list(later.snapshot().told) == [*task.asked]


def test_after_the_last_word_calls_are_errors_and_the_reward_stays(task: Task) -> None:
    with task.begin() as episode:
        episode.play(task.gold)
        assert not episode.done
        assert (episode.say(task.reply), episode.done) == (None, True)
        changes = episode.changes
        for call in task.gold:
            late = episode.step(call.tool, call.arguments)
            assert (late.is_error, late.response) == (True, {"error": OVER})
        assert episode.reply({"text": "No, wait."}).is_error
        assert episode.say("No, wait.") is None
        assert (episode.reward(), episode.finish("Else."), episode.changes) == (1.0, 1.0, changes)
        dumped = orjson.loads(orjson.dumps(episode.snapshot().dumped()))
        episode.reset()
        assert not episode.done
        episode.restore(dumped)
        assert (episode.done, episode.reward()) == (True, 1.0)


DEEP: list[object] = []
for _ in range(100_000):
    DEEP = [DEEP]
JUNK: list[object] = [
    None, True, 7, -1e308, float("nan"), 10**400, "", "{", "\ud800", "[" * 100_000, [], [{}],
    {"bicycle_id": {"a": []}}, {"bicycle_id": 10**30}, {"bicycle_id": float("inf")},
    {"bicycle_id": "\ud800"}, {"bicycle_id": "x" * 1_000_000}, {"": None}, {"bicycle_id": DEEP},
    {f"p{number}": number for number in range(10_000)},
]  # fmt: skip


@pytest.mark.parametrize("arguments", JUNK, ids=range(len(JUNK)))
def test_arguments_of_any_type_and_size_are_answered(task: Task, arguments: Any) -> None:
    with task.begin() as episode:
        for tool in ("get_bicycle", "update_bicycle", "list_repairs", "no_such_tool"):
            assert episode.step(tool, arguments).is_error
        assert episode.reply(arguments).is_error
        assert episode.reply({"text": arguments}).is_error or isinstance(arguments, str)
        assert (episode.changes, episode.finish()) == ((), 0.0)
        orjson.dumps(episode.snapshot().dumped())


@pytest.mark.parametrize("tool", [None, 7, ["list_bicycles"], {"name": "list_bicycles"}])
def test_what_is_no_name_of_a_tool_is_answered(task: Task, tool: Any) -> None:
    with task.begin() as episode:
        assert episode.step(tool, {}).is_error


def test_two_episodes_share_nothing(task: Task) -> None:
    with task.begin() as one, task.begin() as other:
        one.play(task.gold)
        assert (one.reward(), other.reward()) == (1.0, 0.0)


def test_an_episode_that_is_closed_says_so_with_the_name_of_the_tool(task: Task) -> None:
    episode = task.begin()
    episode.close()
    episode.close()
    with pytest.raises(
        ConfigurationError,
        match=rf"The episode of the task {task.key} is closed, .* 'list_bicycles'",
    ):
        episode.step("list_bicycles", {})
    for use in (episode.reward, episode.reset, episode.snapshot):
        with pytest.raises(ConfigurationError, match="closed"):
            use()


def test_tools_have_names_that_any_library_takes(tmp_path: Path) -> None:
    from callwright.warehouse.exports.tasks import names_in_episodes

    tools = [
        Tool(name=name, description="x", parameters={}, category="c")
        for name in ("a.b", "reset", "class", "2fa", "plain")
    ]
    assert names_in_episodes(tools) == {
        "a.b": "a_b",
        "reset": "tool_reset",
        "class": "tool__class",
        "2fa": "tool__2fa",
        "plain": "plain",
    }
