"""Sixty categories of everyday goals, in both languages."""

import pytest

from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.generators.toolset.sketches import category_named, load_categories, plan_toolset
from callwright.warehouse.errors import ConfigurationError

FEWEST_GOALS, MOST_GOALS = 10, 14

LANGUAGES = ("en", "zh")


def test_there_are_sixty_categories_and_those_of_the_seed_catalog_are_among_them() -> None:
    names = [category.name for category in load_categories()]
    assert len(names) == len(set(names)) == 60
    assert {tool.category for tool in seed_tools()} <= set(names)


def test_each_category_has_enough_goals_and_things_to_keep() -> None:
    sizes = {
        category.name: (len(category.goals), len(category.resources))
        for category in load_categories()
    }
    assert [
        name for name, (goals, _) in sizes.items() if not FEWEST_GOALS <= goals <= MOST_GOALS
    ] == []
    assert [name for name, (_, resources) in sizes.items() if resources < 3] == []


def test_a_plan_says_everything_in_its_language_and_names_in_english() -> None:
    clock = category_named("Clock")
    english, chinese = (plan_toolset(clock, language, 12, seed=1) for language in LANGUAGES)
    assert english.goals == chinese.english_goals
    assert english.english_goals == ()
    assert len(chinese.goals) == len(chinese.english_goals)
    assert len(chinese.resources) == len(chinese.english_resources)
    assert english.key != chinese.key


def test_an_unknown_category_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        ConfigurationError, match=r"no category 'Knitting'; the categories are AppStore, .*Weather"
    ):
        category_named("Knitting")
