"""The functional categories for which tools are made: what people do with their phones (HammerBench 4.2)."""

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from callwright.language.packs import of, packaged
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import DEFAULT_LANGUAGE, Language, ToolsetPlan

FOLDER = "callwright.generators.toolset.everyday"


class Category(NamedTuple):
    """A functional category, in English: the goals that people have there, and the things that they keep there.

    Other languages have their words for each text in everyday.yaml of their folder.
    """

    name: str
    description: str
    goals: tuple[str, ...]
    resources: tuple[str, ...]

    def stated(self, text: str, language: Language) -> str:
        """A text of the category in this language, in English where it has no words for it."""
        own: Mapping[str, str] = of(language).data.get("everyday", {}).get(self.name, {})
        return own.get(text, text)


@lru_cache(1)
def load_categories() -> tuple[Category, ...]:
    """Every category, in alphabetical order. They are our own: a test checks them."""
    names = [file.name for file in files(FOLDER).iterdir() if file.name.endswith(".yaml")]
    listed = [raw for name in names for raw in packaged(FOLDER, name)]
    found = [Category(raw["name"], raw["description"], tuple(raw["goals"]), tuple(raw["resources"])) for raw in listed]
    return tuple(sorted(found))


def category_named(name: str) -> Category:
    """The category with this name. Raises ConfigurationError that lists the categories there are."""
    known = load_categories()
    for category in known:
        if category.name == name:
            return category
    names = ", ".join(category.name for category in known)
    raise ConfigurationError(f"There is no category {name!r}; the categories are {names}.")


def plan_toolset(category: Category, language: Language, count: int, *, seed: int) -> ToolsetPlan:
    """The plan for `count` tools of a category in a language."""
    goals = tuple(category.stated(goal, language) for goal in category.goals)
    resources = tuple(category.stated(resource, language) for resource in category.resources)
    is_translated = language != DEFAULT_LANGUAGE
    return ToolsetPlan(
        category=category.name,
        description=category.stated(category.description, language),
        goals=goals,
        resources=resources,
        english_goals=category.goals if is_translated else (),
        english_resources=category.resources if is_translated else (),
        language=language,
        count=count,
        seed=seed,
    )
