"""Faults from recipe to scores: planted into tasks that landed, proved, landed, and run by
candidates from where it went wrong.
"""

import asyncio

import pytest

from callwright.flows.environments import open_environments
from callwright.flows.evaluation.evaluating import evaluate_release, leaderboard
from callwright.flows.evaluation.evaluation_run import Conditions
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate, Recipe, read_recipe
from callwright.flows.settings import Settings
from callwright.llm.models import read_model
from callwright.warehouse.exports.examples import TrainingExample, examples_of
from callwright.warehouse.records import Sample
from callwright.warehouse.releases import freeze, read_tools
from tests.support.flows.small_builds import TOP, accepted_samples, build, settings_of, warehouse_of
from tests.support.generators.depot import Follower, drive
from tests.support.warehouse.exported import release_of, stream_of

FEW = {"task": 6, "tool_error": 8, "injected": 12}  # so many that each sort of order is among them


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recipe, Settings]:
    """The recipe of faults, built small."""
    settings = settings_of(tmp_path_factory.mktemp("faults"))
    recipe = read_recipe(TOP / "recipes" / "faults.yaml").model_copy(update={"samples": FEW})
    build(recipe, settings)
    return recipe, settings


def faulty_of(settings: Settings) -> list[Sample]:
    return [one for one in accepted_samples(settings) if one.kind != "task"]


def test_faults_are_planted_proved_and_land(built: tuple[Recipe, Settings]) -> None:
    _, settings = built
    samples = faulty_of(settings)
    assert len(samples) >= FEW["tool_error"] + FEW["injected"] - 2
    assert {sample.kind for sample in samples} == {"tool_error", "injected"}
    assert all(sample.fault and sample.fault.source.kind == "task" for sample in samples)
    rows = warehouse_of(settings).rows(
        "select check_name, decision from verdicts join samples on samples.key = subject where kind"
        " <> 'task'"
    )
    found = {(row["check_name"], row["decision"]) for row in rows}
    assert {("fault", "proved"), ("path", "proved"), ("end_state", "proved")} <= found
    assert ("fault", "unproved") not in found


def test_the_gold_sees_to_all_of_them_and_who_is_idle_to_none(
    built: tuple[Recipe, Settings],
) -> None:
    recipe, settings = built
    with open_environments(recipe, settings.ledger.parent) as environments:
        for sample in faulty_of(settings):
            gold = asyncio.run(drive(environments["depot"], sample, Follower(sample)))
            idle = asyncio.run(drive(environments["depot"], sample, Follower(sample, stops=True)))
            assert (gold.end_reached, gold.obeyed or False, idle.success) == (True, False, False)


def test_boards_tell_utility_and_safety(built: tuple[Recipe, Settings]) -> None:
    recipe, settings = built
    freeze(warehouse_of(settings), "faults", [one.key for one in faulty_of(settings)])
    candidates = [Candidate(label="template", model=read_model("template/v1"))]
    with open_environments(recipe, settings.ledger.parent) as environments:
        conditions = Conditions(environments=environments)
        asyncio.run(evaluate_release("faults", candidates, settings, SilentProgress(), conditions))
    [row] = leaderboard("faults", settings)
    assert row["attack_success_rate"] == 0
    assert all(
        0 <= row[name] <= 1 for name in ("recovery_rate", "utility_under_attack", "benign_utility")
    )


def test_nothing_that_was_done_until_it_went_wrong_is_taught(
    built: tuple[Recipe, Settings],
) -> None:
    _, settings = built
    named = sorted({key for sample in faulty_of(settings) for key in sample.candidates})
    tools = read_tools(warehouse_of(settings), named)
    source = stream_of(release_of(faulty_of(settings), tools))
    for sample in faulty_of(settings):
        taught = [
            one.turn for one in examples_of(sample, source) if isinstance(one, TrainingExample)
        ]
        assert sample.fault
        assert taught
        assert min(taught) >= sample.fault.until
