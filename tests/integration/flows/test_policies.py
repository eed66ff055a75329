"""Policies from recipe to scores: laid over tasks that landed, proved, told to candidates,
broken by one that is deaf.
"""

import asyncio
from pathlib import Path

import pytest

from callwright.flows.environments import open_environments
from callwright.flows.evaluation.evaluating import evaluate_release, leaderboard
from callwright.flows.evaluation.evaluation_run import Conditions
from callwright.flows.planning.possible import recipe_remarks
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate, Recipe, read_recipe
from callwright.flows.settings import Settings
from callwright.llm.models import read_model
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.exports.examples import TrainingExample, examples_of
from callwright.warehouse.records import Sample
from callwright.warehouse.releases import freeze, read_tools
from tests.support.flows.small_builds import TOP, accepted_samples, build, settings_of, warehouse_of
from tests.support.generators.depot import Follower, drive
from tests.support.warehouse.exported import release_of, stream_of

FEW = {"task": 6, "policy": 8}
POLICIES = TOP / "recipes" / "policies.yaml"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recipe, Settings]:
    """The recipe of policies, built small."""
    settings = settings_of(tmp_path_factory.mktemp("policies"))
    recipe = read_recipe(POLICIES).model_copy(update={"samples": FEW})
    build(recipe, settings)
    return recipe, settings


def policed_of(settings: Settings) -> list[Sample]:
    return [one for one in accepted_samples(settings) if one.kind == "policy"]


def test_policies_decide_over_tasks_and_what_they_make_of_them_lands_proved(
    built: tuple[Recipe, Settings],
) -> None:
    recipe, settings = built
    samples = policed_of(settings)
    assert len(samples) >= FEW["policy"] - 2
    assert {sample.policy_case.due for sample in samples if sample.policy_case} >= {
        "call",
        "refuse",
    }
    rows = warehouse_of(settings).rows("select decision from verdicts where check_name = 'policy'")
    assert {row["decision"] for row in rows} == {"proved"}
    with open_environments(recipe, settings.ledger.parent) as environments:
        for sample in samples:
            gold = asyncio.run(drive(environments["depot"], sample, Follower(sample)))
            assert (gold.end_reached, gold.violated, gold.refused or False) == (True, False, False)


def test_rows_of_training_begin_with_the_policies(built: tuple[Recipe, Settings]) -> None:
    recipe, settings = built
    samples = policed_of(settings)
    tools = read_tools(
        warehouse_of(settings), sorted({key for one in samples for key in one.candidates})
    )
    source = stream_of(release_of(samples, tools))
    for sample in samples:
        taught = [one for one in examples_of(sample, source) if isinstance(one, TrainingExample)]
        assert taught
        assert all(policy.says in str(taught[0].before[0]["content"]) for policy in recipe.policies)


def test_boards_tell_violations_and_refusals(built: tuple[Recipe, Settings]) -> None:
    recipe, settings = built
    freeze(warehouse_of(settings), "policies", [one.key for one in policed_of(settings)])
    candidates = [Candidate(label="template", model=read_model("template/v1"))]
    with open_environments(recipe, settings.ledger.parent) as environments:
        conditions = Conditions(environments=environments)
        asyncio.run(
            evaluate_release("policies", candidates, settings, SilentProgress(), conditions)
        )
    [row] = leaderboard("policies", settings)
    assert row["policy_violations"] > 0, "template/v1 takes no notice of policies"
    assert row["over_refusals"] == 0
    assert row["success_rate"] < 1


def spoilt(folder: Path, right: str, wrong: str) -> Path:
    """The recipe with something else in it, its document where it is."""
    text = POLICIES.read_text(encoding="utf-8").replace(
        "documents/", f"{POLICIES.parent}/documents/"
    )
    assert right in text
    path = folder / "policies.yaml"
    path.write_text(text.replace(right, wrong), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("right", "wrong", "line", "problem"),
    [
        (
            "[create_delivery]",
            "[create_deliveries]",
            24,
            "there is no such tool. Is it create_delivery",
        ),
        (
            "delivery.status == 'planned'",
            "delivery.status == 'lost'",
            13,
            "'cancel_planned' allows no call of cancel_delivery",
        ),
    ],
)
def test_what_is_wrong_with_a_policy_is_told_with_its_line_and_stops_a_build(
    right: str, wrong: str, line: int, problem: str, tmp_path: Path, built: tuple[Recipe, Settings]
) -> None:
    path = spoilt(tmp_path, right, wrong)
    recipe, settings = read_recipe(path), settings_of(tmp_path / "home")
    [found] = [
        one for one in asyncio.run(recipe_remarks(path, recipe, settings)) if not one.is_remark
    ]
    assert (found.line, problem in str(found)) == (line, True), found
    with pytest.raises(
        ConfigurationError, match="The policies of the recipe 'policies' are wrong"
    ) as error:
        build(recipe, settings)
    assert problem in str(error.value)
