"""Candidates in a task's world: how it ends decides, whichever calls lead there."""

from pathlib import Path
from typing import Any

import pytest

from callwright.generators.environments.episodes import world_of
from callwright.generators.environments.protocol import Environment
from callwright.validators.path_runs import PathRun, run_path
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import AskedField, MultiStepRun, ReplyTurn, Sample
from tests.support.flows.inn_world import Err, Guide, gold_steps
from tests.support.generators.multi_step.workshop import bicycles, context_of, open_workshop, painting, task, telling

BOTH = pytest.mark.parametrize(
    "run", [PathRun("tasks", "guide"), PathRun("tasks", "guide", mode="as_published_code")], ids=["paper", "code"]
)
RUN = PathRun("tasks", "guide")
Calls = list[dict[str, Any]]


@pytest.fixture
def workshop(tmp_path: Path) -> Environment:
    return open_workshop(tmp_path)


async def drive(
    workshop: Environment, err: Err | None = None, *, run: PathRun = RUN, sample: Sample | None = None, **options: Any
) -> MultiStepRun:
    sample = sample or painting(workshop)
    records = await run_path(sample, context_of(workshop, Guide([sample], err, **options)), run=run)
    [kept] = [one for one in records if isinstance(one, MultiStepRun)]
    return kept


def writing(change: dict[str, Any]) -> Err:
    """The gold but for arguments of the call that paints."""

    def err(step: int, calls: Calls, tries: int) -> Calls:
        for call in calls:
            if call["name"] == "update_bicycle":
                call["arguments"] |= change
        return calls

    return err


@BOTH
async def test_the_gold_ends_the_world_as_it_should(workshop: Environment, run: PathRun) -> None:
    kept = await drive(workshop, run=run)
    assert (kept.success, kept.needless_changes, kept.error_type) == (True, 0, "")
    assert (kept.correct_calls, kept.total_calls, kept.steps, kept.shortest) == (3, 3, 2, 2)


@BOTH
async def test_who_does_nothing_has_not_done_the_task(workshop: Environment, run: PathRun) -> None:
    kept = await drive(workshop, run=run, stop_after=0)
    assert (kept.success, kept.needless_changes, kept.error_type) == (False, 0, "stop_early")


@BOTH
async def test_one_wrong_write_is_a_failure_and_a_needless_change(workshop: Environment, run: PathRun) -> None:
    other = bicycles(world_of(workshop))[1]
    colour = "white" if other["colour"] != "white" else "black"
    kept = await drive(workshop, writing({"bicycle_id": other["id"], "colour": colour}), run=run)
    assert (kept.success, kept.needless_changes) == (False, 1)
    assert kept.error_type


async def test_a_needless_write_besides_is_a_failure_and_is_counted(workshop: Environment) -> None:
    other = bicycles(world_of(workshop))[1]
    besides = {"name": "create_repair", "arguments": {"bicycle_id": other["id"], "part": "lights"}}
    kept = await drive(workshop, lambda step, calls, tries: [*calls, besides] if step else calls)
    assert (kept.success, kept.needless_changes, kept.correct_calls) == (False, 1, 3)


async def test_other_calls_that_lead_to_the_same_end_count(workshop: Environment) -> None:
    def roundabout(step: int, calls: Calls, tries: int) -> Calls:
        if step == 0:
            return [{"name": "list_bicycles", "arguments": {"colour": colour}} for colour in ("red", "blue")]
        first = {"name": "update_bicycle", "arguments": {**calls[0]["arguments"], "colour": "blue"}}
        return [first, *reversed(calls)]

    kept = await drive(workshop, roundabout)
    assert (kept.success, kept.needless_changes) == (True, 0)
    assert kept.correct_calls < kept.total_calls, "ComplexEval's figure beside it still tells them apart"


async def test_what_the_world_refuses_is_told_and_can_be_made_good(workshop: Environment) -> None:
    def err(step: int, calls: Calls, tries: int) -> Calls:
        unknown = {"name": "update_bicycle", "arguments": {"bicycle_id": "none", "colour": "red"}}
        return [unknown, *calls] if step == 0 else calls

    kept = await drive(workshop, err)
    assert (kept.success, kept.needless_changes) == (True, 0)
    assert "There is no bicycle 'none'" in str(kept.messages[0].calls[0].observation)


async def test_what_reads_as_no_call_changes_nothing(workshop: Environment) -> None:
    def err(step: int, calls: Calls, tries: int) -> Calls:
        return [*calls, {"name": "paint_it", "arguments": {}}] if step == 0 else calls

    kept = await drive(workshop, err)
    assert (kept.success, kept.needless_changes) == (True, 0)


async def test_who_goes_on_calling_until_the_limit_has_not_done_the_task(workshop: Environment) -> None:
    forever = [{"name": "update_bicycle", "arguments": {}}]
    kept = await drive(workshop, lambda step, calls, tries: forever if step else calls, run=RUN._replace(turn_limit=4))
    assert (kept.success, kept.turns) == (False, 4)


async def test_who_tells_what_the_user_asked_for_has_done_the_task(workshop: Environment) -> None:
    kept = await drive(workshop, sample=telling(workshop))
    assert (kept.success, kept.end_reached, kept.untold) == (True, True, 0)


async def test_who_does_all_and_tells_nothing_has_not_done_the_task(workshop: Environment) -> None:
    sample = telling(workshop)
    silent = sample.with_changes(turns=(*sample.turns[:-1], ReplyTurn(text="It is done.")))
    kept = await drive(workshop, sample=silent)
    assert (kept.success, kept.end_reached, kept.untold, kept.error_type) == (False, True, 2, "stop_early")


async def test_who_tells_all_and_changes_nothing_has_not_done_the_task(workshop: Environment) -> None:
    kept = await drive(workshop, sample=telling(workshop), stop_after=0)
    assert (kept.success, kept.end_reached, kept.untold) == (False, False, 0)


async def test_what_the_same_call_returned_later_may_be_told_as_well(workshop: Environment) -> None:
    """The gold looks before the bicycle is painted; who looks afterwards tells the new colour."""
    first = bicycles(world_of(workshop))[0]
    colour = "white" if first["colour"] != "white" else "black"
    sample = task(
        workshop,
        [("get_bicycle", {"bicycle_id": first["id"]})],
        [("update_bicycle", {"bicycle_id": first["id"], "colour": colour})],
        asked=(AskedField(0, 0, "colour"),),
        reply=f"It is {colour}.",
    )

    def err(step: int, calls: Calls, tries: int) -> Calls:
        return gold_steps(sample)[1 - step]

    assert (await drive(workshop, sample=sample)).untold == 1
    kept = await drive(workshop, err, sample=sample)
    assert (kept.success, kept.untold) == (True, 0)


async def test_without_its_world_nobody_can_be_judged(workshop: Environment) -> None:
    sample = painting(workshop).with_changes(tags=("environment=nowhere",))
    with pytest.raises(ConfigurationError, match="judged by how the world 'nowhere' ends"):
        await drive(workshop, sample=sample)
