"""Looking for twins over all samples of a build, and over what has a place already."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from callwright.flows.progress import SilentProgress
from callwright.flows.run.carry import GroupRun
from callwright.flows.run.land import decide_duplicates, has_undecided
from callwright.flows.stages import LANDING, stages_of
from callwright.validators.checks.declaring import GROUP as CHECKS
from callwright.warehouse.outcomes import outcome_row
from callwright.warehouse.records import CallTurn, GoldCall, Outcome, Sample, UserTurn
from callwright.warehouse.rows import Row
from tests.support.flows.small_builds import settings_of, unmeasured_recipe, warehouse_of
from tests.support.sampling import slow

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def sample(text: str) -> Sample:
    turns = (UserTurn(text=text), CallTurn(calls=(GoldCall(tool="book"),)))
    return Sample(kind="perfect", language="en", category="Food", candidates=("a",), turns=turns)


def landing_of(home: Path) -> GroupRun:
    recipe, settings = unmeasured_recipe(), settings_of(home)
    warehouse = warehouse_of(settings)
    return GroupRun("b", recipe, settings, warehouse, (), home / "tools", SilentProgress(), NOW)


def check_duplicates(landing: GroupRun) -> None:
    if has_undecided(landing):
        decide_duplicates(landing)


def passed(stage: str, one: Sample) -> Row:
    return outcome_row(Outcome(build="b", stage=stage, subject=one.key, outcome="passed"))


def pass_checks(landing: GroupRun, *samples: Sample, accepted_by_recipe: str = "") -> None:
    landing.warehouse.put(samples)
    outcomes = [passed(stages_of(CHECKS)[-1].name, one) for one in samples]
    accepted = [
        {
            "subject": one.key,
            "build": "o",
            "recipe": accepted_by_recipe,
            "grade": "proved",
            "judged_by": [],
            "accepted_by": "machine",
            "accepted_at": NOW,
            "withdrawn_at": None,
        }
        for one in samples
    ]
    landing.warehouse.put_rows(
        {"acceptances": accepted} if accepted_by_recipe else {"outcomes": outcomes}
    )


def outcomes(landing: GroupRun) -> dict[str, tuple[str, str]]:
    rows = landing.warehouse.rows(
        "select subject, outcome, reason from outcomes where stage = 'duplicates'"
    )
    return {row["subject"]: (row["outcome"], row["reason"]) for row in rows}


def decided(landing: GroupRun) -> dict[str, str]:
    return {subject: outcome for subject, (outcome, _) in outcomes(landing).items()}


def rows_of(landing: GroupRun) -> list[dict[str, str]]:
    return landing.warehouse.rows("select subject from outcomes where stage = 'duplicates'")


def newest_reasons(landing: GroupRun) -> list[dict[str, str]]:
    return landing.warehouse.rows("""
        select subject, arg_max(reason, made_at) as reason from verdicts where check_name = 'duplicates'
        group by subject order by subject
        """)


def test_of_twins_in_a_build_the_first_by_key_stays(tmp_path: Path) -> None:
    landing, twins = landing_of(tmp_path), [sample("Book it"), sample("book IT!")]
    pass_checks(landing, *twins, sample("Cancel it"))
    check_duplicates(landing)
    first, second = sorted(one.key for one in twins)
    found = outcomes(landing)
    assert [outcome for outcome, _ in found.values()].count("passed") == 2
    assert found[second] == (
        "rejected",
        f"It says what {first} says, word for word, to the same end.",
    )


ALIKE = [
    sample(text) for text in ("Book it", "book IT!", "BOOK it", "Cancel it", "cancel it.", "Pay it")
]


@pytest.mark.parametrize(("turned", "cut"), [(True, 1), (False, 2), slow(True, 4)])
def test_which_of_two_stays_does_not_depend_on_where_a_build_was_cut_off(
    tmp_path: Path, *, turned: bool, cut: int
) -> None:
    made = sorted(ALIKE, key=lambda one: one.key, reverse=turned)
    whole, resumed = landing_of(tmp_path / "whole"), landing_of(tmp_path / "resumed")
    pass_checks(whole, *made)
    check_duplicates(whole)
    for some in (made[:cut], made[cut:]):
        pass_checks(resumed, *some)
        check_duplicates(resumed)
    assert outcomes(resumed) == outcomes(whole), "and which sample it repeats"
    assert newest_reasons(resumed) == newest_reasons(whole)
    assert len(outcomes(resumed)) == len(rows_of(resumed)) == len(made), "each has one outcome"


def test_what_other_samples_are_made_of_stays_whatever_comes_after_it(tmp_path: Path) -> None:
    landing = landing_of(tmp_path)
    landing = landing._replace(recipe=unmeasured_recipe(samples={"imperfect": 3, "sQsA": 3}))
    source = sample("Book it").with_changes(kind="imperfect")
    turns = (UserTurn(text="Book it"), CallTurn(calls=(GoldCall(tool="book", arguments={"n": 2}),)))
    ambiguous = (source.with_changes(kind="sQsA", category=f"{n}", turns=turns) for n in range(40))
    made = next(one for one in ambiguous if one.key < source.key)
    pass_checks(landing, source)
    check_duplicates(landing)
    pass_checks(landing, made)
    check_duplicates(landing)
    assert decided(landing) == {source.key: "passed", made.key: "rejected"}


def test_what_came_before_keeps_its_place_and_gets_no_further_verdict(tmp_path: Path) -> None:
    landing = landing_of(tmp_path)
    ours, theirs = sample("Book it"), sample("Cancel it")
    pass_checks(landing, theirs, accepted_by_recipe="another")
    pass_checks(landing, ours)
    check_duplicates(landing)
    landing.warehouse.put_rows({"outcomes": [passed(LANDING.review, ours)]})
    later = [sample("book it"), sample("cancel it"), sample("Pay it")]
    pass_checks(landing, *later)
    check_duplicates(landing)
    found = outcomes(landing)
    assert theirs.key not in found
    assert [found[one.key][0] for one in (ours, *later)] == [
        "passed",
        "rejected",
        "rejected",
        "passed",
    ]
    assert theirs.key in found[later[1].key][1]
    checked = landing.warehouse.rows("select subject from verdicts where check_name = 'duplicates'")
    assert len(checked) == len(found) == 4


def test_a_sample_that_another_recipe_landed_too_is_no_twin_of_itself(tmp_path: Path) -> None:
    landing, one = landing_of(tmp_path), sample("Book it")
    pass_checks(landing, one, accepted_by_recipe="another")
    pass_checks(landing, one, sample("Cancel it"))
    check_duplicates(landing)
    assert {outcome for outcome, _ in outcomes(landing).values()} == {"passed"}


def test_looking_for_twins_leaves_nothing_but_the_warehouse(tmp_path: Path) -> None:
    landing = landing_of(tmp_path)
    pass_checks(landing, sample("Book it"))
    check_duplicates(landing)
    assert list(landing.warehouse.path.parent.iterdir()) == [landing.warehouse.path]
