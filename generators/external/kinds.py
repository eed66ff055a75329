"""The nine kinds of entities and the apps that a message may come from: data, in both languages."""

from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, NamedTuple, get_args

import yaml

from warehouse.errors import ConfigurationError
from warehouse.records import EntityKind, Language

APPS_FILE = "apps.yaml"
ENTITIES_FILE = "entities.yaml"
KINDS: tuple[EntityKind, ...] = get_args(EntityKind)


class App(NamedTuple):
    """A place where messages are found: its key, what people call it, how often it is taken, and never for what."""

    name: str
    names: dict[Language, str]
    weight: int
    without: tuple[EntityKind, ...] = ()


class Entity(NamedTuple):
    """A kind of thing that can be pointed at, with its description by language."""

    kind: EntityKind
    descriptions: dict[Language, str]


@cache
def apps() -> dict[str, App]:
    """The apps by key, in the order of the file."""
    return {
        name: App(name, entry["names"], int(entry["weight"]), tuple(entry.get("without", ())))
        for name, entry in _read(APPS_FILE).items()
    }


@cache
def entities() -> dict[EntityKind, Entity]:
    """The kinds of entities, each exactly once. Raises ConfigurationError where the file has others."""
    read = _read(ENTITIES_FILE)
    if set(read) != set(KINDS):
        raise ConfigurationError(f"{ENTITIES_FILE} describes {sorted(read)}; it must describe {sorted(KINDS)}.")
    return {kind: Entity(kind, read[kind]) for kind in KINDS}


def app_named(name: str) -> App:
    """The app with this key. Raises ConfigurationError that lists the known ones."""
    if name not in apps():
        raise ConfigurationError(f"There is no app {name!r}; the apps are {', '.join(apps())}.")
    return apps()[name]


def pick_app(allowed: list[App], rng: Random) -> App:
    """One of the allowed apps, the paper's five more often than others."""
    return rng.choices(allowed, weights=[app.weight for app in allowed])[0]


def _read(name: str) -> dict[str, Any]:
    text = files("generators.external").joinpath(name).read_text(encoding="utf-8")
    read: dict[str, Any] = yaml.safe_load(text)
    return read
