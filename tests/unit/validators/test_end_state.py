"""The check of how worlds end: the gold leads there, and nothing that is almost the gold does."""

from pathlib import Path
from typing import Any

import pytest

from callwright.generators.environments.episodes import world_of
from callwright.generators.environments.protocol import Environment
from callwright.generators.kinds import all_kinds
from callwright.generators.multi_step.making import domains_for
from callwright.validators.checks.episodes import check_end_state
from callwright.warehouse.records import AskedField, Call, Sample, SampleFacts, Verdict
from tests.support.flows.inn_world import inn_sample
from tests.support.generators.dialogue_parts import RecordingTemplateChat
from tests.support.generators.multi_step.operations import (
    ID,
    TEXT,
    listed,
    thing,
    world_of_operations,
)
from tests.support.generators.multi_step.workshop import (
    bicycles,
    context_of,
    open_workshop,
    painting,
    task,
    telling,
)


@pytest.fixture
def workshop(tmp_path: Path) -> Environment:
    return open_workshop(tmp_path)


async def judged(sample: Sample, environment: Environment) -> Verdict:
    (verdict,) = await check_end_state(sample, context_of(environment, RecordingTemplateChat()))
    return verdict


def doubts(verdict: Verdict) -> set[str]:
    return {one.kind for one in verdict.doubts}


async def test_a_task_whose_gold_alone_leads_to_its_end_is_proved(workshop: Environment) -> None:
    verdict = await judged(painting(workshop), workshop)
    assert verdict.decision == "proved", verdict.reason
    assert "The gold calls in 3 orders lead to the end that is wanted" in verdict.reason
    assert " 0 near misses" not in verdict.reason


async def test_an_end_that_the_gold_does_not_lead_to_is_contradicted(workshop: Environment) -> None:
    sample = painting(workshop)
    verdict = await judged(sample.with_changes(changes=sample.changes[:1]), workshop)
    assert (verdict.decision, doubts(verdict)) == ("contradicted", {"end_missed"})


async def test_a_gold_call_that_the_world_refuses_is_contradicted(workshop: Environment) -> None:
    verdict = await judged(task(workshop, [("delete_repair", {"repair_id": "none"})]), workshop)
    assert (verdict.decision, doubts(verdict)) == ("contradicted", {"end_missed"})
    assert "There is no repair 'none'" in verdict.reason


async def test_a_task_that_wants_nothing_to_change_is_contradicted(workshop: Environment) -> None:
    verdict = await judged(task(workshop, [("list_bicycles", {})]), workshop)
    assert (verdict.decision, doubts(verdict)) == ("contradicted", {"end_idle"})


async def test_a_writing_call_that_can_be_left_out_is_not_proved(workshop: Environment) -> None:
    first, second, *_ = bicycles(world_of(workshop))
    other = "white" if second["colour"] != "white" else "black"
    idle = ("update_bicycle", {"bicycle_id": first["id"], "colour": first["colour"]})
    sample = task(
        workshop, [idle, ("update_bicycle", {"bicycle_id": second["id"], "colour": other})]
    )
    verdict = await judged(sample, workshop)
    assert (verdict.decision, doubts(verdict)) == ("unproved", {"end_alike"})


async def test_calls_of_a_step_whose_order_counts_are_contradicted(workshop: Environment) -> None:
    first = bicycles(world_of(workshop))[0]
    one, other = [colour for colour in ("red", "white", "green") if colour != first["colour"]][:2]
    step: list[tuple[str, dict[str, Any]]] = [
        ("update_bicycle", {"bicycle_id": first["id"], "colour": colour}) for colour in (one, other)
    ]
    verdict = await judged(task(workshop, step), workshop)
    assert (verdict.decision, doubts(verdict)) == ("contradicted", {"end_ordered"})


async def test_without_its_world_a_task_is_not_proved(workshop: Environment) -> None:
    sample = painting(workshop)
    elsewhere = sample.with_changes(facts=SampleFacts(environment="nowhere"))
    verdict = await judged(elsewhere, workshop)
    assert (verdict.decision, doubts(verdict)) == ("unproved", {"end_unseen"})


async def test_only_tasks_are_judged_by_their_ends(workshop: Environment) -> None:
    assert check_end_state.applies(painting(workshop))
    assert not check_end_state.applies(inn_sample("Rome"))
    assert domains_for(all_kinds()["task"], workshop.tools) == ["workshop"]


async def test_what_another_call_would_tell_as_well_is_not_proved(workshop: Environment) -> None:
    assert (await judged(telling(workshop), workshop)).decision == "proved"
    first, second, *others = bicycles(world_of(workshop))
    assert second["colour"] in {one["colour"] for one in others}
    colour = "white" if first["colour"] != "white" else "black"
    painted = ("update_bicycle", {"bicycle_id": first["id"], "colour": colour})
    steps = [("list_bicycles", {})], [painted, ("get_bicycle", {"bicycle_id": second["id"]})]
    sample = task(
        workshop, *steps, asked=[AskedField(1, 1, "colour")], reply=f"It is {second['colour']}."
    )
    verdict = await judged(sample, workshop)
    assert (verdict.decision, doubts(verdict)) == ("unproved", {"told_alike"})


async def test_a_call_that_only_says_more_and_looks_at_the_same_is_no_doubt() -> None:
    office = world_of_operations(
        ("Teams list_teams", "get", "/teams", listed(thing(name=TEXT)), {}),
        ("Teams delete_team", "delete", "/teams/{team_id}", None, {"team_id!": ID}),
        (
            "Teams list_members",
            "get",
            "/teams/{team_id}/members",
            listed(thing(name=TEXT)),
            {"team_id!": ID, "limit": {"type": "integer", "minimum": 20, "maximum": 90}},
        ),
    )
    first, second, *_ = office.begin().answer(Call(tool="list_teams")).response  # type: ignore[misc]
    steps = (
        [("list_teams", {})],
        [("delete_team", {"team_id": first["id"]}), ("list_members", {"team_id": second["id"]})],
    )
    sample = task(office, *steps, asked=[AskedField(1, 1, "[].name")], reply="These are in it.")
    verdict = await judged(sample, office)
    assert verdict.decision == "proved", verdict.reason
