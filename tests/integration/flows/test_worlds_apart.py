"""Each task has a world of its own, and nothing of a world that is tested is learned from."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.recipe import read_recipe
from callwright.flows.settings import Settings
from callwright.generators.environments.protocol import SimulatedSettings
from callwright.language.schemas import scalars
from callwright.warehouse.records import Sample, Tool
from callwright.warehouse.releases import MadeRelease, Selection, Terms, make_release, read_tools
from tests.support.flows.small_builds import TOP, build, settings_of, warehouse_of

DAY = re.compile(r"\d{4}-\d\d-\d\d.*")
SPLITS = {"train": 0.7, "test": 0.3}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Tasks of two documents, and what people say in the course of some."""
    settings = settings_of(tmp_path_factory.mktemp("worlds"))
    sources = tuple(
        SimulatedSettings.model_validate(
            {
                "environment": "simulated",
                "name": name,
                "path": TOP / "recipes" / "documents" / f"{name}.yaml",
            }
        )
        for name in ("workshop", "depot")
    )
    asked = {"tools": sources, "samples": {"task": 16, "live_task": 4}}
    build(read_recipe(TOP / "recipes" / "tasks.yaml").model_copy(update=asked), settings)
    return settings


def released(settings: Settings, name: str) -> tuple[MadeRelease, dict[str, list[Sample]]]:
    made = make_release(warehouse_of(settings), name, Selection(), Terms(shares=SPLITS))
    rows = warehouse_of(settings).rows(
        "select split, body from release_samples r join samples s on s.key = r.subject"
        " where release = ?",
        [name],
    )
    samples: dict[str, list[Sample]] = {split: [] for split in SPLITS}
    for row in rows:
        samples[row["split"]].append(Sample.model_validate_json(row["body"]))
    return made, samples


def test_no_world_and_no_value_of_a_test_gold_stands_in_a_train_gold(built: Settings) -> None:
    made, samples = released(built, "apart")
    worlds, values = (
        {split: set().union(*map(found, own)) for split, own in samples.items()}
        for found in (world_of, lambda one: {*gold_of(one, tools_of(built, one))})
    )
    assert min(map(len, samples.values())) >= 3
    assert sum(map(len, samples.values())) + len(made.left_out) == 20
    assert worlds["train"].isdisjoint(worlds["test"])
    assert min(map(len, values.values())) >= 5
    assert values["train"].isdisjoint(values["test"])


def test_what_is_made_of_a_task_plays_in_its_world(built: Settings) -> None:
    rows = warehouse_of(built).rows("select body from samples")
    samples = [Sample.model_validate_json(row["body"]) for row in rows]
    worlds = {kind: set[tuple[str, int | None]]() for kind in ("task", "live_task")}
    for sample in samples:
        worlds[sample.kind] |= world_of(sample)
    assert worlds["live_task"]
    assert worlds["live_task"] <= worlds["task"]


def world_of(sample: Sample) -> set[tuple[str, int | None]]:
    return {(sample.facts.environment, sample.facts.simulation)}


def tools_of(settings: Settings, sample: Sample) -> Mapping[str, Tool]:
    return {one.name: one for one in read_tools(warehouse_of(settings), sample.candidates).values()}


def gold_of(sample: Sample, tools: Mapping[str, Tool]) -> Iterator[str]:
    """The ids, names and amounts of a gold: what no schema lists and what counts nothing."""
    yield from (str(change.id) for change in sample.changes)
    for call in sample.all_calls:
        schemas = json.dumps(tools[call.tool].parameters)
        for value in scalars(dict(call.arguments)):
            if not is_plain(value) and json.dumps(value) not in schemas:
                yield str(value)


def is_plain(value: Any) -> bool:
    if isinstance(value, str):
        return DAY.fullmatch(value) is not None
    return value is None or isinstance(value, bool) or (value % 1 == 0 and abs(value) < 100)


def test_one_world_for_all_is_the_environments_own(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    asked = {"samples": {"task": 4}, "worlds": 1}
    build(read_recipe(TOP / "recipes" / "tasks.yaml").model_copy(update=asked), settings)
    rows = warehouse_of(settings).rows("select body from samples")
    samples = [Sample.model_validate_json(row["body"]) for row in rows]
    assert {one.facts.simulation for one in samples} == {0}
