"""The functional categories for which tools are made: what people do with their phones (HammerBench 4.2)."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from callwright.language.packs import known, of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import DEFAULT_LANGUAGE, Language, ToolsetPlan

FOLDER = "callwright.generators.toolset.everyday"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


Wording = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Category(BaseModel):
    """A functional category, in English: the goals that people have there, and the things that they keep there.

    Other languages have their words for each text in everyday.yaml of their folder.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[A-Z][A-Za-z]*$")
    description: Wording
    goals: tuple[Wording, ...] = Field(min_length=1)
    resources: tuple[Wording, ...]

    def stated(self, text: str, language: Language) -> str:
        """A text of the category in this language, in English where it has no words for it."""
        own: Mapping[str, str] = of(language).data.get("everyday", {}).get(self.name, {})
        return own.get(text, text)


def load_categories() -> tuple[Category, ...]:
    """Every category, in alphabetical order. Raises ConfigurationError, naming the file, where one is broken."""
    return _shipped()


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


@lru_cache(1)
def _shipped() -> tuple[Category, ...]:
    return read_categories(files(FOLDER))


def read_categories(folder: Traversable) -> tuple[Category, ...]:
    """The categories of every YAML file in `folder`, sorted by name; raises ConfigurationError."""
    found: dict[str, Category] = {}
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".yaml"):
            continue
        for raw in _listed(file):
            category = _category(raw, file.name)
            if category.name in found:
                raise ConfigurationError(f"The category {category.name!r} in {file.name} is written twice; drop one.")
            found[category.name] = category
    return tuple(found[name] for name in sorted(found))


def _listed(file: Traversable) -> list[Any]:  # the parsed YAML, before anything is known of it
    try:
        content = yaml.load(file.read_text(encoding="utf-8"), _LOADER)  # noqa: S506 - a safe loader, the fast one
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{file.name} of the categories is not YAML: {error}.") from error
    if not isinstance(content, list):
        raise ConfigurationError(f"{file.name} holds {type(content).__name__}, not a list of categories.")
    return content


def _category(raw: object, file_name: str) -> Category:
    name = raw.get("name") if isinstance(raw, dict) else raw
    try:
        category = Category.model_validate(raw)
    except ValidationError as error:
        raise ConfigurationError(
            f"The category {name!r} in {file_name} is not written as it must be: {error}."
        ) from error
    for kind, wordings in (("goals", category.goals), ("resources", category.resources)):
        for language in known():
            _refuse_repeated(
                [category.stated(one, language).lower() for one in wordings], f"{kind} of {name!r} in {file_name}"
            )
    return category


def _refuse_repeated(stated: Sequence[str], where: str) -> None:
    repeated = sorted({words for words in stated if stated.count(words) > 1})
    if repeated:
        raise ConfigurationError(f"Among the {where}, {repeated} stand twice; drop or reword one.")
