"""Trials and releases: what a release takes of each build and what it leaves out, and which
build of a recipe counts.
"""

from datetime import timedelta
from pathlib import Path

import pytest

from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.releases import BuildShare, Selection, create_release, select_samples
from tests.support.warehouse.landed_builds import NOON, Landed, started

FULL = ("perfect-en-1", "perfect-en-2", "perfect-zh-3", "irrelevant-en-4")


@pytest.fixture
def landed(tmp_path: Path) -> Landed:
    """A whole build, a trial after it with a sample of its own, an older build, and another
    recipe's.
    """
    return land_builds(tmp_path)


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory: pytest.TempPathFactory) -> Landed:
    """The same for tests that change nothing of it."""
    return land_builds(tmp_path_factory.mktemp("looked at"))


def land_builds(home: Path) -> Landed:
    made = Landed(home)
    made.add(started("0old", 0), "perfect-en-0", "perfect-en-1")
    made.add(started("1full", 1), *FULL)
    made.add(started("2trial", 2, is_trial=True), "perfect-en-1", "perfect-en-9")
    made.add(started("3other", 3, "other"), "perfect-en-7")
    return made


def test_a_trial_never_stands_for_its_recipe_where_a_whole_build_has_ended(landed: Landed) -> None:
    assert landed.latest() == {"small": "1full", "other": "3other"}
    landed.add(started("4cut", 4, is_done=False))
    assert landed.latest()["small"] == "1full"
    landed.add(started("5full", 5), "perfect-en-1")
    assert landed.latest()["small"] == "5full"


def test_a_trial_counts_where_there_is_nothing_else(tmp_path: Path) -> None:
    made = Landed(tmp_path)
    made.add(started("1trial", 1, is_trial=True), "perfect-en-1")
    made.add(started("2cut", 2, is_done=False))
    assert made.latest() == {"small": "1trial"}


def test_a_release_takes_the_whole_builds_and_says_what_it_leaves_out(landed: Landed) -> None:
    keys, shares = landed.taken()
    assert keys == tuple(sorted((*FULL, "perfect-en-7")))
    assert shares == {
        "1full": (4, ""),
        "2trial": (1, "trial"),
        "0old": (1, "older"),
        "3other": (1, ""),
    }
    assert create_release(landed.warehouse, "v1").samples == 5


def test_a_release_takes_nothing_that_was_withdrawn(landed: Landed) -> None:
    landed.warehouse.execute(
        "update acceptances set withdrawn_at = now() where subject = 'perfect-en-2'"
    )
    keys, shares = landed.taken()
    assert keys == ("irrelevant-en-4", "perfect-en-1", "perfect-en-7", "perfect-zh-3")
    assert shares["1full"] == (3, "")


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        ({"recipes": ("other",)}, ["perfect-en-7"]),
        ({"kinds": ("irrelevant",)}, ["irrelevant-en-4"]),
        ({"languages": ("zh",)}, ["perfect-zh-3"]),
        ({"where": "request like '%-2?'"}, ["perfect-en-2"]),
        (
            {
                "kinds": ("perfect",),
                "recipes": ("small",),
                "where": "language = 'en' -- all of them",
            },
            ["perfect-en-1", "perfect-en-2"],
        ),
        ({"builds": ("0old",), "where": "key <> 'perfect-en-1'"}, ["perfect-en-0"]),
    ],
)
def test_a_release_is_chosen_by_recipe_build_kind_language_and_condition(
    looked_at: Landed, asked: dict[str, object], keys: list[str]
) -> None:
    assert list(looked_at.taken(**asked)[0]) == keys


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ({"recipes": ("smal",)}, "of the recipe 'smal'. There are some of other, small"),
        ({"kinds": ("perfekt",)}, "of the kind 'perfekt'. There are some of irrelevant, perfect"),
        ({"languages": ("fr",)}, "of the language 'fr'. There are some of en, zh"),
        (
            {"builds": ("9",)},
            r"No build with accepted samples begins with '9'. The builds are .*2trial \(small, a trial\)",
        ),
        ({"builds": ("1full",), "recipes": ("other",)}, "No build named by --build"),
        (
            {"where": "kin = 'x'"},
            "The condition .* can't be used on accepted samples; their columns are key, kind",
        ),
        ({"where": "true); drop table samples; --"}, "The condition .* can't be read"),
        ({"where": "true); attach 'x.db'; select (1"}, "The condition .* can't be read"),
        (
            {"where": "1=1) union select key from samples where (1=1"},
            "The condition .* can't be read",
        ),
        ({"where": "1=1 union select key from samples"}, "must be one SQL expression"),
        ({"where": "true; select true"}, "must be one SQL expression"),
        ({"where": "true, true"}, "must be one SQL expression"),
        ({"where": "true as mine"}, "must be one SQL expression"),
        ({"where": "key from samples"}, "must be one SQL expression"),
        ({"where": "true order by 1"}, "must be one SQL expression"),
        ({"where": "distinct true"}, "must be one SQL expression"),
        ({"where": "*"}, "The condition .* can't be used"),
        ({"where": " "}, "The condition .* can't be read"),
        (
            {"where": "key in (select content from read_text('/etc/hostname'))"},
            "The condition .* can't be used",
        ),
        ({"where": "false"}, "No accepted sample matches"),
    ],
)
def test_what_a_selection_names_wrongly_is_answered_with_what_there_is(
    looked_at: Landed, asked: dict[str, object], answer: str
) -> None:
    with pytest.raises(ConfigurationError, match=answer):
        looked_at.taken(**asked)
    assert len(looked_at.taken()[0]) == 5, "nothing is changed"


def test_trials_alone_are_no_release_unless_one_is_named(tmp_path: Path) -> None:
    made = Landed(tmp_path)
    with pytest.raises(ConfigurationError, match="There are no accepted samples"):
        made.taken()
    made.add(started("1trial", 1, is_trial=True), "perfect-en-1")
    with pytest.raises(
        ConfigurationError, match=r"Only trial builds.*1trial \(small, 1 sample\).*--build 1trial"
    ):
        create_release(made.warehouse, "v1")
    assert select_samples(made.warehouse, Selection(builds=("1trial",))).builds == (
        BuildShare("1trial", "small", True, NOON + timedelta(hours=1, minutes=1), 1, 1, ""),
    )
