"""Worlds to be taken along: what one is made of as JSON, so that tasks are played where neither recipe nor document is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import JsonValue, ValidationError

from callwright.generators.environments.episodes import StatefulWorld, world_of
from callwright.generators.environments.joined import JoinedEnvironment, JoinedWorld
from callwright.generators.environments.opening import world_of_description
from callwright.generators.environments.protocol import (
    WORLDS,
    Environment,
    EnvironmentSettings,
    SimulatedSettings,
    World,
)
from callwright.generators.environments.response_store import description_from, dumped_description
from callwright.generators.environments.rules import CompiledRules, rules_of
from callwright.generators.environments.server_world import ServerWorld
from callwright.generators.environments.stored import DescribedEnvironment
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.exports.tasks import names_in_episodes
from callwright.warehouse.registry import file_of, row_in_file
from callwright.warehouse.releases import ShippedWorld


def ship_world(environment: Environment, settings: EnvironmentSettings) -> ShippedWorld:
    """What a world is opened by elsewhere: a simulated document whole, any other by its settings and the file that it stands in.

    Raises ConfigurationError where calls can't change it.
    """
    world = world_of(environment)
    if isinstance(world, ServerWorld):
        raise ConfigurationError(
            f"The world {world.name!r} is a server, which can't be taken along: its tasks are evaluated where it was recorded or"
            " can be started. Leave their kind out."
        )
    names = names_in_episodes(world.tools)
    if isinstance(settings, SimulatedSettings) and isinstance(environment, DescribedEnvironment):
        effects: JsonValue = {name: one.model_dump(mode="json") for name, one in settings.effects.items()}
        about: dict[str, JsonValue] = {"environment": settings.environment, "name": world.name, "seed": world.seed}
        described: dict[str, JsonValue] = {
            "effects": effects,
            "description": dumped_description(environment.description),
        }
        rules = getattr(world, "rules", None)
        if isinstance(rules, CompiledRules):
            told: JsonValue = rules.stated.model_dump(mode="json", by_alias=True, exclude_defaults=True)
            described |= {"rules": told, "response_size": settings.response_size}
        return ShippedWorld(about | described, names)
    stated: dict[str, JsonValue] = settings.model_dump(mode="json")
    source = WORLDS.source_of(settings.environment)
    if source is None:  # a package brings it, which has to be there as well
        return ShippedWorld(stated, names)
    path, name = file_of(source.place, Path())
    text = path.read_text(encoding="utf-8")
    return ShippedWorld(stated | {"extension": f"{path.name}:{name}"}, names, {path.name: text})


def join_shipped(environment: JoinedEnvironment, shipped: Mapping[str, ShippedWorld]) -> ShippedWorld:
    """What a world made of worlds is opened by: what those are that were shipped already."""
    own = [shipped[world.name] for world in environment.inner.worlds]
    files = {name: text for one in own for name, text in one.files.items()}
    document: dict[str, JsonValue] = {"name": environment.name, "worlds": [dict(one.document) for one in own]}
    parts = tuple(world.name for world in environment.inner.worlds)
    return ShippedWorld(document, names_in_episodes(environment.tools), files, parts)


def open_shipped(shipped: Mapping[str, Any], folder: Path) -> StatefulWorld:
    """A world that was shipped, a file that it stands in looked for in `folder`. Raises ConfigurationError where it is none."""
    try:
        if "worlds" in shipped:
            return JoinedWorld([open_shipped(one, folder) for one in shipped["worlds"]])
        if "description" in shipped:
            own = {name: shipped[name] for name in ("environment", "name", "seed", "effects")}
            size = shipped.get("response_size", "")
            settings = SimulatedSettings.model_validate(own | {"catalog": "shipped", "response_size": size})
            rules = rules_of(shipped["rules"], shipped["name"]) if "rules" in shipped else None
            return world_of_description(settings, description_from(shipped["description"]), rules)
        stated = {name: value for name, value in shipped.items() if name != "extension"}
        if "extension" in shipped:
            found = row_in_file(*file_of(shipped["extension"], folder))
            if not isinstance(found.row, World):
                raise TypeError(f"{shipped['extension']!r} is no World")
            WORLDS.add(found.row, found.source)
        row = WORLDS.named(stated["environment"])
        return world_of(row.open(row.settings.model_validate(stated), folder, str))
    except (ValidationError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"The world {shipped.get('name')!r} can't be opened: {error}") from error
