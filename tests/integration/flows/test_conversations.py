"""Builds of simulated conversations."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.recipe import Recipe, parse_recipe
from callwright.flows.run.land import BuildReport
from callwright.flows.settings import Settings
from callwright.generators.conversations import CONVERSATION
from callwright.generators.conversations.scenarios import PAPER
from callwright.warehouse.errors import ConfigurationError
from tests.support.flows.model_server import ModelServer, ServedRequest
from tests.support.flows.small_builds import (
    accepted_samples,
    build,
    settings_of,
    stub_settings,
    warehouse_of,
)

RECIPE: dict[str, Any] = {
    "name": "talks",
    "seed": 5,
    "tools": [{"seed": ["Hotels", "Flights", "Restaurants", "Shopping"]}],
    "languages": ["en", "zh"],
    "samples": {CONVERSATION: 16},
    "spare": 2.0,
    "shard_size": 20,
}

MOST = 14  # of the 16: what the template reads wrongly waits for people


class ConversationBuild:
    def __init__(self, home: Path) -> None:
        self.settings: Settings = settings_of(home)
        self.recipe: Recipe = parse_recipe(RECIPE, Path(), "talks")
        self.report: BuildReport = build(self.recipe, self.settings)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> ConversationBuild:
    return ConversationBuild(tmp_path_factory.mktemp("talks"))


def test_as_many_land_as_are_asked_for_in_both_languages(built: ConversationBuild) -> None:
    (row,) = built.report.composition
    assert (row.kind, row.asked, row.paper) == (CONVERSATION, 16, 109)
    assert row.landed >= MOST
    assert {sample.language for sample in accepted_samples(built.settings)} == {"en", "zh"}


def test_each_complexity_lands_as_often_as_its_share(built: ConversationBuild) -> None:
    told = {row.figure.removeprefix("complexity="): row.ours for row in built.report.conversations}
    landed = {name: told[name] for name in PAPER}
    assert sum(landed.values()) >= MOST
    assert sum(not count for count in landed.values()) <= 1, landed
    assert landed["goal_not_supported"] == max(landed.values())


def test_what_lands_has_its_complexity_proved(built: ConversationBuild) -> None:
    sql = """
        select count(*) as proved from accepted_samples a join verdicts v on v.subject = a.key
        where v.check_name = 'complexity' and v.decision = 'proved'
    """
    assert warehouse_of(built.settings).rows(sql) == [{"proved": built.report.landed}]


def test_a_catalog_without_words_of_a_language_is_told_of_before_anything_is_made(
    tmp_path: Path,
) -> None:
    recipe = parse_recipe(
        {**RECIPE, "languages": ["en"], "tools": [{"domains": ["Bank"]}]}, Path(), "talks"
    )
    bare = recipe.model_copy(update={"languages": ("zh",)})
    with pytest.raises(ConfigurationError, match="can't write requests in 'zh'"):
        build(bare, settings_of(tmp_path))


def test_each_conversation_comes_of_a_scenario_that_was_proved_before(
    built: ConversationBuild,
) -> None:
    sql = """
        select count(*) as made, count(*) filter (v.decision = 'proved') as proved
        from outcomes f join verdicts v on v.subject = f.subject and v.check_name = 'scenario'
        where f.stage = 'conversations'
    """
    (row,) = warehouse_of(built.settings).rows(sql)
    assert row["made"] >= 16
    assert row["proved"] == row["made"]


def test_a_scenario_that_is_not_proved_makes_no_conversation_and_says_why(
    tmp_path: Path, model_server: ModelServer
) -> None:
    readings = count()

    def reads_every_second(asked: ServedRequest) -> str | None:
        return '{"wants": []}' if asked.title == "ScenarioReading" and next(readings) % 2 else None

    model_server.behaviour = reads_every_second
    changes = {
        "samples": {CONVERSATION: 6},
        "spare": 0.0,
        "models": {"judge": stub_settings(model_server)},
    }
    settings = settings_of(tmp_path)
    report = build(parse_recipe(RECIPE | changes, Path(), "talks"), settings)
    warehouse = warehouse_of(settings)
    sql = (
        "select outcome, reason, count(*) as scenarios from outcomes where stage = 'scenario' group"
        " by all order by outcome"
    )
    passed, *rejected = warehouse.rows(sql)
    assert (passed["outcome"], passed["scenarios"]) == ("passed", 3)
    assert 0 < report.landed <= passed["scenarios"]
    assert {row["outcome"] for row in rejected} == {"rejected"}
    assert all("The judge finds no wish in the goal" in row["reason"] for row in rejected)
    (row,) = warehouse.rows(
        "select n_entered as entered, n_passed as passed, n_rejected as rejected, n_waiting as waiting"
        " from funnel where stage = 'scenario'"
    )
    assert row == {"entered": 6, "passed": 3, "rejected": 3, "waiting": 0}
    (row,) = warehouse.rows("select n_entered as entered from funnel where stage = 'conversations'")
    assert row == {"entered": 3}
    kept = (
        "select count(*) as kept from verdicts where check_name = 'scenario' and decision ="
        " 'unproved'"
    )
    assert warehouse.rows(kept) == [{"kept": 3}]
