"""A build: what it lands, what it proves, and that the same recipe makes the same dataset."""

from collections import Counter
from pathlib import Path

import orjson
import pytest

from callwright.flows.run.land import BuildReport
from callwright.flows.settings import Settings
from callwright.warehouse.records import Sample
from callwright.warehouse.releases import Selection, Terms, make_release
from callwright.warehouse.store import Warehouse
from tests.support.flows.small_builds import (
    KINDS,
    assert_balanced,
    build,
    leftovers,
    one,
    row_counts,
    sample_keys,
    settings_of,
    unmeasured_recipe,
    warehouse_of,
)
from tests.support.sampling import slow

ERRING = {
    "wrong_argument": 0.1,
    "extra_argument": 0.1,
    "missing_argument": 0.05,
    "malformed_json": 0.1,
}


class SmallBuild:
    """One build that the tests of this file look at."""

    def __init__(self, home: Path) -> None:
        self.settings: Settings = settings_of(home)
        self.report: BuildReport = build(unmeasured_recipe(), self.settings)
        self.warehouse: Warehouse = warehouse_of(self.settings)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> SmallBuild:
    return SmallBuild(tmp_path_factory.mktemp("built"))


def test_the_funnel_is_balanced_and_every_assignment_has_an_end(built: SmallBuild) -> None:
    assert built.report.planned == sum(KINDS.values())
    assert_balanced(built.report, built.settings)
    assert leftovers(built.settings) == []


def test_the_funnel_stays_balanced_where_the_generator_errs(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    samples = {"perfect": 20, "imperfect": 10, "irrelevant": 10}
    models = {"generator": {"name": "template/v1", "error_rate": ERRING}}
    report = build(
        unmeasured_recipe(samples=samples, models=models, tools=[{"seed": "all"}]), settings
    )
    assert_balanced(report, settings)
    outcomes = {
        name: sum(getattr(row, name) for row in report.funnel) for name in ("failed", "waiting")
    }
    assert outcomes["waiting"] > 0
    assert one(settings, "select count(*) from failures") == outcomes["failed"]
    assert (
        one(settings, "select count(*) from review_requests where cause = 'doubtful'")
        == outcomes["waiting"]
    )
    unproved = """
        select count(*) from acceptances a join verdicts v on v.subject = a.subject
        where a.grade = 'proved' and v.decision <> 'proved'
    """
    assert one(settings, unproved) == 0


def test_what_lands_is_settled_and_what_is_proved_has_evidence_for_each_gold_argument(
    built: SmallBuild,
) -> None:
    grades = built.warehouse.rows(
        "select kind, list(distinct grade order by grade) as grades from accepted_samples group by"
        " kind"
    )
    found = {row["kind"]: row["grades"] for row in grades}
    assert found.pop("irrelevant") == ["judged"], "that no tool serves is for a model to say"
    assert all(one == ["judged"] for one in found.values()), "what words mean is read"
    rows = built.warehouse.rows("select body, evidence, grade from accepted_samples")
    assert len(rows) == built.report.landed > 0
    for row in rows:
        sample = Sample.model_validate_json(row["body"])
        evidence = orjson.loads(row["evidence"])
        said = {name for call in sample.gold for name in call.arguments}
        assert said <= {item["argument"] for item in evidence} or row["grade"] != "proved"
        for item in evidence:
            if item["kind"] == "span":
                assert sample.request[item["start"] : item["end"]] == item["quote"]


def test_an_irrelevant_request_that_a_candidate_resembles_waits(built: SmallBuild) -> None:
    rows = built.warehouse.rows(
        "select s.kind, count(*) filter (a.key is null) as waiting, count(*) as made from samples s"
        " left join accepted_samples a using (key) group by all"
    )
    assert {row["kind"]: row["made"] for row in rows} == KINDS
    assert {row["kind"] for row in rows if row["waiting"]} <= {"irrelevant"}


def test_a_kind_is_what_its_name_says(built: SmallBuild) -> None:
    tools = {
        row["key"]: row for row in built.warehouse.rows("select key, name, parameters from tools")
    }
    kinds: Counter[str] = Counter()
    for row in built.warehouse.rows("select body from accepted_samples"):
        sample = Sample.model_validate_json(row["body"])
        kinds[sample.kind] += 1
        names = {tools[key]["name"]: tools[key] for key in sample.candidates}
        assert len(sample.candidates) == 5
        if sample.kind == "irrelevant":
            assert sample.gold == ()
            assert len(sample.withheld) == 1
            assert not set(sample.withheld) & set(sample.candidates)
            continue
        [call] = sample.gold
        assert call.tool in names
        required = set(orjson.loads(names[call.tool]["parameters"]).get("required", ()))
        assert (required <= set(call.arguments)) == (sample.kind == "perfect")
    assert kinds.keys() == KINDS.keys()


def test_lineage_reaches_the_assignment_and_its_tool(built: SmallBuild) -> None:
    rows = built.warehouse.rows("""
        select sample, list(coalesce(type, 'Tool') order by distance) as types, arg_max(ancestor, distance) as oldest
        from lineage where sample in (select key from accepted_samples) group by sample
        """)
    assert len(rows) == built.report.landed
    for row in rows:
        assert row["types"] == ["Sample", "DraftCall", "ParameterChoice", "Assignment", "Tool"]
    known = {row["key"] for row in built.warehouse.rows("select key from tools")}
    assert {row["oldest"] for row in rows} <= known


def test_the_same_recipe_again_changes_nothing(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    recipe = unmeasured_recipe(models={"generator": {"name": "template/v1", "error_rate": ERRING}})
    first = build(recipe, settings)
    before = row_counts(settings)
    again = build(recipe, settings)
    assert again == first
    assert row_counts(settings) == before
    assert leftovers(settings) == []


@pytest.mark.parametrize("workers", [slow(1), 2])
def test_the_same_recipe_elsewhere_makes_the_same_samples_with_any_number_of_workers(
    built: SmallBuild, tmp_path: Path, workers: int
) -> None:
    settings = settings_of(tmp_path, CALLWRIGHT_WORKERS=str(workers))
    report = build(unmeasured_recipe(shard_size=4), settings)
    assert report == built.report
    assert sample_keys(settings) == sample_keys(built.settings)
    terms = Terms(shares={"train": 0.5, "test": 0.5})
    mine, theirs = (
        make_release(warehouse, f"by-{workers}", Selection(), terms)
        for warehouse in (warehouse_of(settings), built.warehouse)
    )
    assert mine.release.content_hash == theirs.release.content_hash
    assert (mine.release.manifest_hash, mine.splits) == (
        theirs.release.manifest_hash,
        theirs.splits,
    )


def test_raising_a_count_keeps_what_there_was_and_lands_the_rest(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    few = build(unmeasured_recipe(samples={"perfect": 4}), settings)
    before = set(sample_keys(settings))
    more = build(unmeasured_recipe(samples={"perfect": 6}), settings)
    assert few.build != more.build
    assert (few.landed, more.landed) == (4, 6)
    assert before < set(sample_keys(settings))
    assert_balanced(more, settings)
