"""Builds that exist and meet checks that are new, changed or moved: each runs alone, and the
funnel balances.
"""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

import callwright.flows.stages
from callwright.flows.progress import Progress
from callwright.flows.review.questions import DRAWN, SPOT_CHECK, ReviewQuestion, request_row
from callwright.flows.review.resolutions import settle_decisions
from callwright.flows.run.land import BuildReport
from callwright.flows.settings import Settings
from callwright.generators.stages import StageContext
from callwright.validators.checks.declaring import Check, rule
from callwright.validators.checks.table import all_checks
from callwright.validators.checks.verdicts import Answer
from callwright.warehouse.records import Decision, Review, Sample
from tests.support.flows.small_builds import (
    assert_balanced,
    build,
    one,
    settings_of,
    unmeasured_recipe,
    warehouse_of,
)
from tests.support.sampling import sampled

PLACES = range(len(all_checks()) + 1)
SOME_PLACES = {PLACES[0], PLACES[len(PLACES) // 2], PLACES[-1]}
RECIPE = unmeasured_recipe(samples={"perfect": 8, "irrelevant": 4}, languages=["en"])
RESTS = {
    check.name for check in all_checks() if check.only_rest
}  # asked where rules leave something open
DECISIONS: tuple[Decision, ...] = ("proved", "proved", "unproved", "contradicted")


class CheckProgress(Progress):
    """What a build says."""

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.groups: list[str] = []

    def say(self, text: str) -> None:
        self.sentences.append(text)

    def begin(self, group: str, total: int) -> None:
        self.groups.append(group)

    def advance(self, count: int) -> None:
        pass


def decided(sample: str, seed: int) -> Decision:
    """What the made-up check decides: any of the three, by the sample's key."""
    return DECISIONS[blake2b(f"{seed}:{sample}".encode()).digest()[0] % len(DECISIONS)]


def made_up(seed: int, version: str = "1") -> Check[Sample]:
    @rule("luck", version, "Is it lucky?")
    def check_luck(sample: Sample, _context: StageContext) -> Answer:
        return Answer(decision=decided(sample.key, seed), reason=f"Drawn: {seed}.")

    return check_luck


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("built")
    build(RECIPE, settings_of(home))
    return home


@pytest.fixture
def settings(built: Path, tmp_path: Path) -> Settings:
    shutil.copytree(built, tmp_path / "home")
    return settings_of(tmp_path / "home")


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    known = callwright.flows.stages.all_stages()

    def with_check(check: Check[Sample], place: int) -> None:
        first = known.index(all_checks()[0])
        at = first + place
        changed = (*known[:at], check, *known[at:])
        monkeypatch.setattr(callwright.flows.stages, "_stages_of", lambda *_versions: changed)

    return with_check


def again(settings: Settings, said: CheckProgress | None = None) -> BuildReport:
    report = build(RECIPE, settings, said or CheckProgress())
    assert_balanced(report, settings)
    return report


def landed(settings: Settings) -> set[str]:
    rows = warehouse_of(settings).rows("select subject from acceptances where withdrawn_at is null")
    return {row["subject"] for row in rows}


def outcomes(settings: Settings) -> set[tuple[str, str, str, str]]:
    rows = warehouse_of(settings).rows("select subject, stage, outcome, reason_code from outcomes")
    return {(row["subject"], row["stage"], row["outcome"], row["reason_code"]) for row in rows}


@pytest.mark.parametrize("place", sampled(PLACES, SOME_PLACES))
def test_a_check_may_come_at_any_place_and_what_lands_has_passed_it(
    table: Any, settings: Settings, place: int
) -> None:
    before, said = landed(settings), CheckProgress()
    asked = one(settings, "select count(*) from llm_calls")
    table(made_up(place), place)
    again(settings, said)
    assert said.groups == ["consistency"]
    assert "luck. 12 samples" in said.sentences[-1]
    assert one(settings, "select count(*) from llm_calls") == asked
    assert landed(settings) == {key for key in before if decided(key, place) == "proved"}
    waiting = {
        row["subject"] for row in warehouse_of(settings).rows("select subject from review_requests")
    }
    assert {key for key in before if decided(key, place) != "proved"} <= waiting


def test_a_fresh_build_with_the_check_comes_to_the_same(
    table: Any, settings: Settings, tmp_path: Path
) -> None:
    """But for what a model was asked before the check came, and is not asked where the check
    leaves a sample to people.
    """
    needless = {
        (key, stage, "passed", "not_applicable")
        for key, stage, _, code in outcomes(settings)
        if stage in RESTS and code != "not_applicable" and decided(key, 7) == "unproved"
    }
    table(made_up(7), 4)
    fresh = settings_of(tmp_path / "fresh")
    known, anew = again(settings).funnel, again(fresh).funnel
    assert [row._replace(not_applicable=0) for row in known] == [
        row._replace(not_applicable=0) for row in anew
    ]
    assert outcomes(fresh) - outcomes(settings) == needless
    assert landed(settings) == landed(fresh)


def test_a_changed_check_decides_anew_and_what_it_proves_by_now_lands(
    table: Any, settings: Settings
) -> None:
    at_first = landed(settings)
    table(made_up(1), 3)
    again(settings)
    table(made_up(2, "2"), 9)  # changed and moved
    report = again(settings)
    assert landed(settings) == {key for key in at_first if decided(key, 2) == "proved"}
    assert report.landed == len(landed(settings))


def test_what_a_person_accepted_stays_when_a_new_check_contradicts_it(
    table: Any, settings: Settings
) -> None:
    before = landed(settings)
    contradicted = next(key for key in sorted(before) if decided(key, 5) == "contradicted")
    said = Review(
        subject=contradicted,
        kind="sample_review",
        decision="accept",
        reviewer="ann",
        reviewed_at=datetime.now(UTC),
        annotation_id=1,
        task_id=1,
        server="s",
    )
    warehouse = warehouse_of(settings)
    warehouse.put_rows(
        {"review_requests": [request_row(ReviewQuestion(contradicted, SPOT_CHECK, DRAWN))]}
    )
    warehouse.put([said])
    settle_decisions(warehouse)
    table(made_up(5), 6)
    again(settings)
    assert landed(settings) == {key for key in before if decided(key, 5) == "proved"} | {
        contradicted
    }
    [kept] = warehouse.rows(
        "select accepted_by, grade from acceptances where subject = ?", [contradicted]
    )
    assert kept == {"accepted_by": "ann", "grade": "vouched"}
