"""Builds of questions over whole catalogs."""

from pathlib import Path
from typing import Any

import pytest

from callwright.flows.recipe import parse_recipe, read_recipe
from callwright.flows.run.land import BuildReport
from callwright.flows.settings import Settings
from callwright.generators.catalogs.own_catalogs import domain_tools, load_domains
from callwright.generators.kinds import all_kinds
from callwright.generators.routing import ROUTING_EASY, ROUTING_HARD, ROUTING_MEDIUM
from callwright.generators.routing.making import share_over_domains
from callwright.generators.routing.tool_graph import unknown_arguments
from callwright.warehouse.errors import ConfigurationError
from tests.support.flows.small_builds import TOP, accepted_samples, build, one, settings_of

QUESTIONS = {ROUTING_EASY: 6, ROUTING_MEDIUM: 4, ROUTING_HARD: 4}
CHANGED = {"routing_easy_SO_case1": 2, "routing_medium_SO_case1": 2, "routing_hard_SO_case1": 2}
SAMPLES = {**QUESTIONS, **CHANGED}
RECIPE: dict[str, Any] = {
    "name": "routed",
    "seed": 4,
    "tools": [{"domains": ["Bank", "Clinic"]}],
    "languages": ["en"],
    "samples": SAMPLES,
    "spare": 2.0,
    "shard_size": 20,
    "candidates_per_sample": 3,
}


class RoutingBuild:
    def __init__(self, home: Path) -> None:
        self.settings: Settings = settings_of(home)
        self.recipe = parse_recipe(RECIPE, Path(), "routed")
        self.report: BuildReport = build(self.recipe, self.settings)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> RoutingBuild:
    return RoutingBuild(tmp_path_factory.mktemp("routed"))


def test_every_difficulty_lands_as_often_as_asked_for_beside_the_papers_count(
    built: RoutingBuild,
) -> None:
    assert {row.kind: row.landed for row in built.report.composition} == SAMPLES
    assert {row.kind: row.paper for row in built.report.composition if row.kind in QUESTIONS} == {
        ROUTING_EASY: 456,
        ROUTING_MEDIUM: 188,
        ROUTING_HARD: 85,
    }


def test_what_lands_is_proved_by_the_check_of_routing(built: RoutingBuild) -> None:
    sql = """
        select count(*) from accepted_samples a join verdicts v on v.subject = a.key
        where v.check_name = 'routing' and v.decision = 'proved'
    """
    assert one(built.settings, sql) == sum(SAMPLES.values())
    for sample in accepted_samples(built.settings):
        unknown = [name for call in sample.gold for name in unknown_arguments(call)]
        assert bool(unknown) == sample.kind.startswith(ROUTING_HARD)


def test_shifts_take_questions_of_every_difficulty(built: RoutingBuild) -> None:
    changed = [sample for sample in accepted_samples(built.settings) if sample.kind in CHANGED]
    assert len(changed) == sum(CHANGED.values())
    for sample in changed:
        assert len(sample.gold) > 1 or sample.kind.startswith(ROUTING_EASY)


def test_the_recipe_of_callnavi_has_the_composition_of_the_papers_table() -> None:
    recipe = read_recipe(TOP / "recipes" / "callnavi.yaml")
    assert recipe.samples == {name: all_kinds()[name].paper for name in QUESTIONS}
    for kind, count in recipe.samples.items():
        shares = _shares(kind, count)
        difficulty = kind.removeprefix("routing_")
        assert shares == {
            ("en", domain.name): domain.composition[difficulty] for domain in load_domains()
        }


def _shares(kind: str, count: int) -> dict[tuple[str, str], int]:
    shares = share_over_domains(all_kinds()[kind], count, ("en",), domain_tools())
    return {(share.language, share.place): share.samples for share in shares}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"tools": [{"seed": ["Banking"]}]},
            r"need the whole catalog of a domain.*Add `- domains: all`",
        ),
        ({"languages": ["zh"]}, r"template/v1 .*zh"),
    ],
)
def test_a_recipe_without_whole_catalogs_is_told_what_to_add(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    recipe = parse_recipe(RECIPE | changes, Path(), "routed")
    with pytest.raises(ConfigurationError, match=said):
        build(recipe, settings_of(tmp_path))
