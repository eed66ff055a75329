"""Builds of multi-step samples in the world of travel: goals by domain, ten variants, paths as
long as the paper's.
"""

from pathlib import Path

import pytest

from callwright.flows.recipe import parse_recipe, read_recipe
from callwright.flows.run.land import BuildReport
from callwright.flows.settings import Settings
from callwright.warehouse.records import CallTurn, ReplyTurn, ResultTurn, Sample, UserTurn
from tests.support.flows.small_builds import build, row_counts, settings_of, warehouse_of

TOP = Path(__file__).parents[3]
SAMPLES = {"multi_step": 4, "multi_step_cross": 3}
RECIPE = {
    "name": "paths",
    "seed": 4,
    "tools": [{"environment": "travel"}],
    "samples": SAMPLES,
    "variants": 3,
    "spare": 0.5,
    "shard_size": 8,
}


class PathBuild:
    """One build that the tests of this file look at."""

    def __init__(self, home: Path) -> None:
        self.settings: Settings = settings_of(home)
        self.recipe = parse_recipe(RECIPE, Path(), "paths")
        self.report: BuildReport = build(self.recipe, self.settings)
        self.warehouse = warehouse_of(self.settings)

    def samples(self) -> list[Sample]:
        """What has landed."""
        rows = self.warehouse.rows(
            "select s.body from samples s join acceptances a on a.subject = s.key"
        )
        return [Sample.model_validate_json(row["body"]) for row in rows]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> PathBuild:
    return PathBuild(tmp_path_factory.mktemp("paths"))


def test_as_many_land_as_were_asked_for_the_same_from_each_domain(built: PathBuild) -> None:
    assert {row.kind: row.landed for row in built.report.composition} == SAMPLES
    landed = {row.domain: row.samples for row in built.report.paths}
    assert landed == {
        "Hotels": 1,
        "Flights": 1,
        "Car Rental": 1,
        "Attraction": 1,
        "Cross": 3,
        "Total": 7,
    }


def test_steps_and_calls_stand_beside_the_papers(built: PathBuild) -> None:
    rows = {row.domain: row for row in built.report.paths}
    assert (rows["Cross"].paper_steps, rows["Cross"].paper_calls) == (3.5, 6.0)
    assert (rows["Total"].paper_steps, rows["Total"].paper_calls) == (3.26, 5.07)
    for sample in built.samples():
        assert sum(isinstance(turn, CallTurn) for turn in sample.turns) >= 2
    counted = sum(
        len(snapshot.calls) for sample in built.samples() for snapshot in sample.snapshots()
    )
    assert rows["Total"].calls * rows["Total"].samples == pytest.approx(counted)


def test_nothing_is_lost_and_a_goal_counts_for_its_variants(built: PathBuild) -> None:
    for row in built.report.funnel:
        assert row.entered == row.passed + row.rejected + row.failed + row.waiting, row
    made = built.warehouse.rows("select count(*) as made from samples")[0]["made"]
    assert built.report.planned >= made >= sum(SAMPLES.values())


def test_each_call_was_answered_and_the_answer_tells_of_it(built: PathBuild) -> None:
    for sample in built.samples():
        user, *steps, reply = sample.turns
        assert isinstance(user, UserTurn)
        assert isinstance(reply, ReplyTurn)
        assert reply.text not in {"", "Done."}
        for calls, results in zip(steps[::2], steps[1::2], strict=True):
            assert isinstance(calls, CallTurn)
            assert isinstance(results, ResultTurn)
            assert calls.executed
            assert len(calls.calls) == len(results.results)


def test_every_check_has_proved_what_landed(built: PathBuild) -> None:
    rows = built.warehouse.rows(
        "select distinct v.decision from verdicts v join acceptances a on a.subject = v.subject"
        " join stages s on s.name = v.check_name where not s.is_left_to_readers"
    )
    assert rows == [{"decision": "proved"}]


def test_the_same_recipe_again_makes_nothing_new(built: PathBuild) -> None:
    before = row_counts(built.settings)
    assert build(built.recipe, built.settings) == built.report
    assert row_counts(built.settings) == before


def test_the_lineage_of_a_variant_goes_up_to_its_goal(built: PathBuild) -> None:
    rows = built.warehouse.rows("select list(distinct type) as types from lineage group by sample")
    assert len(rows) >= sum(SAMPLES.values())
    for row in rows:
        assert {"Goal", "WordedGoal", "TracedGoal", "GoalPath", "Tool"} <= set(row["types"])


def test_the_recipe_that_comes_along_has_the_papers_thousand() -> None:
    recipe = read_recipe(TOP / "recipes" / "complexfuncbench.yaml")
    assert recipe.samples == {"multi_step": 600, "multi_step_cross": 400}
    assert recipe.variants == 10
