"""Builds that go in waves: dialogues, shifts and external information, made of samples that
passed.
"""

import asyncio
import json
from pathlib import Path

import pytest

from callwright.flows.planning.planner import Planner
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import parse_recipe, read_recipe
from callwright.flows.run.carry import open_local_carrier
from callwright.flows.run.land import BuildReport
from callwright.flows.run.plan import build_dataset, make_samples, open_build
from callwright.flows.settings import Settings
from callwright.flows.stages import all_stages, stages_of
from callwright.generators.kinds import all_kinds
from callwright.warehouse.records import Sample
from callwright.warehouse.store import Warehouse
from tests.support.flows.small_builds import (
    TOP,
    build,
    row_counts,
    run_here,
    settings_of,
    warehouse_of,
    write_unmeasured_recipe,
)

SAMPLES = {
    "perfect": 8,
    "imperfect": 14,
    "irrelevant": 2,
    "external": 4,
    "sQsA": 10,
    "mQmA": 2,
    "mQsA": 2,
    "sQmA": 2,
    "IS": 4,
    "SO_case1": 4,
    "SO_case2": 2,
    "mSv": 4,
    "sQsA_external": 2,
    "perfect_SO_case1": 2,
}
HAMMERBENCH = {kind.name for kind in all_kinds().values() if kind.scale}
RECIPE = {
    "name": "waves",
    "seed": 6,
    "tools": [{"seed": "all"}],
    "languages": ["en", "zh"],
    "samples": SAMPLES,
    "spare": 1.0,
    "shard_size": 20,
}


class WavesBuild:
    """One build that the tests of this file look at."""

    def __init__(self, home: Path) -> None:
        self.settings: Settings = settings_of(home)
        self.recipe = parse_recipe(RECIPE, Path(), "waves")
        self.report: BuildReport = build(self.recipe, self.settings)
        self.warehouse: Warehouse = warehouse_of(self.settings)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> WavesBuild:
    return WavesBuild(tmp_path_factory.mktemp("waves"))


def test_every_kind_lands_as_often_as_asked_for(built: WavesBuild) -> None:
    assert {row.kind: row.landed for row in built.report.composition} == SAMPLES
    assert {row.kind: row.paper for row in built.report.composition if row.kind in all_kinds()} == {
        name: all_kinds()[name].paper for name in HAMMERBENCH
    }


def test_each_kind_comes_in_both_languages_half_and_half(built: WavesBuild) -> None:
    rows = built.warehouse.rows("select kind, language, landed from composition")
    assert {(row["kind"], row["language"]): row["landed"] for row in rows} == {
        (kind, language): count // 2 for kind, count in SAMPLES.items() for language in ("en", "zh")
    }


def test_at_each_stage_nothing_is_lost(built: WavesBuild) -> None:
    for row in built.report.funnel:
        assert row.entered == row.passed + row.rejected + row.failed + row.waiting, row
    passed = {row.stage: row.passed for row in built.report.funnel}
    entered = {row.stage: row.entered for row in built.report.funnel}
    makers = {stage.name for stage in all_stages() if stage.yields == "Sample"}
    assert entered["format"] == sum(passed.get(name, 0) for name in makers)
    ended = sum(row.rejected + row.failed + row.waiting for row in built.report.funnel)
    assert built.report.planned == built.report.landed + ended


def test_what_is_derived_comes_of_samples_only_that_rules_or_a_model_settle(
    built: WavesBuild,
) -> None:
    rows = built.warehouse.rows("""
            select distinct g.grade from drafts d join sample_grades g on g.subject = d.body ->> 'source'
            where d.type = 'Derivation' order by all
        """)
    assert {row["grade"] for row in rows} == {"judged"}


@pytest.mark.parametrize("kind", ["sQsA", "sQmA", "IS", "mSv", "sQsA_external", "perfect_SO_case1"])
def test_the_lineage_of_a_derived_sample_goes_down_to_its_tool(
    built: WavesBuild, kind: str
) -> None:
    rows = built.warehouse.rows(
        "select list(distinct l.type) as types from lineage l join samples s on s.key = l.sample"
        " where s.kind = ? group by l.sample",
        [kind],
    )
    assert rows
    for row in rows:
        assert {"Sample", "Derivation", "Assignment", "Tool"} <= set(row["types"])


def test_each_argument_of_each_snapshot_has_its_evidence_before_it(built: WavesBuild) -> None:
    for body in (
        row["body"]
        for row in built.warehouse.rows("select body from samples where kind <> 'irrelevant'")
    ):
        sample = Sample.model_validate_json(body)
        for snapshot in sample.snapshots():
            for call in snapshot.calls:
                assert {one.argument for one in call.evidence} == set(call.arguments), sample
                assert all(
                    one.turn is not None and one.turn < snapshot.turn for one in call.evidence
                )


def test_the_same_recipe_again_makes_nothing_new(built: WavesBuild) -> None:
    before = row_counts(built.settings)
    again = build(built.recipe, built.settings)
    assert again == built.report
    assert row_counts(built.settings) == before


def test_a_build_whose_plan_was_another_is_not_planned_anew(tmp_path: Path) -> None:
    recipe = parse_recipe(RECIPE | {"samples": {"perfect": 6}}, Path(), "waves")
    settings = settings_of(tmp_path)
    build(recipe, settings)
    warehouse = warehouse_of(settings)
    for table, column in (("drafts", "key"), ("outcomes", "subject")):
        warehouse.execute(
            f"update {table} set {column} = 'old ' || {column} where "
            + ("type = 'Assignment'" if table == "drafts" else "stage = 'parameters'")
        )
    run = open_build(recipe, settings, SilentProgress())
    drafts = asyncio.run(
        Planner(run, ["perfect"]).drafts("single_turn", stages_of("single_turn")[0])
    )
    assert list(drafts) == []


def test_a_build_that_ended_between_making_and_checking_goes_on(
    built: WavesBuild, tmp_path: Path
) -> None:
    settings = settings_of(tmp_path)

    async def make_first_wave() -> None:
        with open_local_carrier(built.recipe, settings) as carrier:
            await make_samples(
                open_build(built.recipe, settings, SilentProgress()),
                carrier,
                ["perfect", "imperfect", "irrelevant"],
            )

    asyncio.run(make_first_wave())
    assert asyncio.run(build_dataset(built.recipe, settings, SilentProgress())) == built.report


def test_more_dialogues_than_their_sources_allow_are_told_of_and_no_error(tmp_path: Path) -> None:
    progress = WavesProgress()
    recipe = parse_recipe(
        RECIPE | {"samples": {"imperfect": 4, "sQsA": 30}, "spare": 0}, Path(), "waves"
    )
    report = build(recipe, settings_of(tmp_path), progress)
    imperfect, dialogues = (row.made for row in report.composition)
    assert imperfect == 4 >= dialogues > 0
    assert [
        one
        for one in progress.sentences
        if "sQsA (en): " in one and "samples can't be planned" in one
    ]


class WavesProgress(SilentProgress):
    """Progress that are kept."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)


def test_the_scale_of_the_paper_takes_the_place_of_the_counts(tmp_path: Path) -> None:
    recipe = read_recipe(write_unmeasured_recipe(tmp_path, scale="paper"))
    assert recipe.samples == {name: all_kinds()[name].scale for name in HAMMERBENCH}
    assert recipe.with_limit(3).samples == dict.fromkeys(HAMMERBENCH, 3)
    again = type(recipe).model_validate_json(recipe.with_limit(3).model_dump_json(by_alias=True))
    assert again.samples == dict.fromkeys(HAMMERBENCH, 3)


def test_a_kind_whose_sources_are_not_asked_for_brings_them_along(tmp_path: Path) -> None:
    recipe = read_recipe(write_unmeasured_recipe(tmp_path, samples={"mSv": 3}))
    assert recipe.samples == {"mSv": 3, "sQsA": 3, "imperfect": 3}
    assert recipe.brought == {"sQsA": 3, "imperfect": 3}
    assert recipe.with_limit(2).brought == {"sQsA": 2, "imperfect": 2}
    whole = read_recipe(write_unmeasured_recipe(tmp_path, samples=recipe.samples))
    assert (whole.samples, whole.brought) == (recipe.samples, {})


def test_whoever_checks_estimates_or_builds_is_told_what_is_brought_along(tmp_path: Path) -> None:
    path, home = write_unmeasured_recipe(tmp_path, samples={"mQsA": 2}), tmp_path / "home"
    told = [
        "2 sQsA samples are added, because mQsA samples are made from them.",
        "2 imperfect samples are added, because sQsA samples are made from them.",
    ]
    checked, estimated = (
        run_here(*words, str(path), home=home) for words in (("recipe", "check"), ("estimate",))
    )
    built = run_here("build", str(path), "--no-review", home=home)
    for sentence in told:
        assert sentence.rstrip(".") in checked.stdout
        assert sentence in estimated.stdout
        assert sentence in built.stderr
    assert json.loads(
        run_here(
            "query",
            "select count(*) as n from accepted_samples where kind = 'mQsA'",
            "--json",
            home=home,
        ).stdout
    ) == [{"n": 2}]


def test_the_recipe_that_comes_along_has_every_kind() -> None:
    assert set(read_recipe(TOP / "recipes" / "hammerbench.yaml").samples) == HAMMERBENCH
