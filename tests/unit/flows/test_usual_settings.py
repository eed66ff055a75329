"""Tests run what users run: a test that sets anything otherwise than a new user has it says so
in its name.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from callwright.flows.recipe import parse_recipe
from callwright.flows.settings import Settings, read_settings
from tests.support.flows.small_builds import (
    environment,
    settings_in_recipe,
    settings_of,
    small_recipe,
)

TESTS = Path(__file__).parents[2]
# Where things are, who is let in, how long is waited: these differ from machine to machine.
PLACES = {
    "home",
    "ledger",
    "scratch",
    "label_studio_url",
    "label_studio_token",
    "prefect_api_url",
    "patience",
}
ANYWHERE = {
    "CALLWRIGHT_HOME",
    "CALLWRIGHT_SCRATCH",
    "CALLWRIGHT_PATIENCE",
    "CALLWRIGHT_REVIEW_EVERY",
    "CALLWRIGHT_SECRETS",
    "CALLWRIGHT_WEBHOOK_SECRET",
}
# What else can be set, with the words one of which stands in the name of each function, fixture or
# constant that sets it.
NAMED = {
    "CALLWRIGHT_WORKERS": (
        "worker|crew|place|shard|pool|cluster|dask|process|processes|builds_at_once|setting|core"
    ),
    "CALLWRIGHT_PUBLISH_EVERY": "publish",
    "CALLWRIGHT_DUCKDB_MEMORY": "duckdb|memory|setting",
    "CALLWRIGHT_DUCKDB_THREADS": "duckdb|threads",
    "CALLWRIGHT_REVIEW_HOURLY_COST": "cost|hour|worth|money",
    "CALLWRIGHT_REVIEW_LANGUAGE": "language|chinese|spanish",
    "CALLWRIGHT_DASK_UNAUTHENTICATED": "trust|authenticat|scheduler",
    "publish_every": "publish",
    "review_hourly_cost": "cost|hour|worth|money",
    "readers": "unmeasured|measuring",
}
_VARIABLE = re.compile(r"CALLWRIGHT_[A-Z_]+")


class Set(NamedTuple):
    """Something that a test sets: what, in which file, and under which name."""

    what: str
    file: str
    within: str


def test_settings_of_tests_are_those_of_who_has_set_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    usual, ours = read_settings({}), settings_of(tmp_path)
    differing = {name for name in Settings._fields if getattr(usual, name) != getattr(ours, name)}
    assert differing - PLACES <= {"workers"}, (
        "one worker: a machine's cores are shared by those of a run"
    )


def test_commands_of_tests_are_started_in_the_environment_of_who_has_set_nothing(
    tmp_path: Path,
) -> None:
    assert set(environment(tmp_path)) == {"PATH", "HOME", "CALLWRIGHT_HOME", "CALLWRIGHT_WORKERS"}


def test_a_small_recipe_says_what_is_made_and_nothing_about_how() -> None:
    assert set(settings_in_recipe()) == {
        "name",
        "seed",
        "tools",
        "languages",
        "samples",
        "shard_size",
    }
    assert (
        small_recipe().readers
        == parse_recipe(
            {"name": "x", "tools": [{"seed": "all"}], "samples": {"perfect": 1}}, Path(), "x"
        ).readers
    )


def _sets_in(path: Path) -> Iterator[Set]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    where = str(path.relative_to(TESTS))
    for top in tree.body:
        names = [getattr(top, "name", "")]
        if isinstance(top, ast.Assign):
            names = [one.id for one in top.targets if isinstance(one, ast.Name)]
        if isinstance(top, ast.AnnAssign) and isinstance(top.target, ast.Name):
            names = [top.target.id]
        for node in ast.walk(top):
            for what in _set_by(node):
                yield Set(what, where, " ".join(filter(None, names)))


def _set_by(node: ast.AST) -> Iterator[str]:
    """What a call or a dictionary sets; of readers that they are not measured."""
    pairs: list[tuple[object, ast.AST]] = []
    if isinstance(node, ast.Call):
        pairs = [(word.arg, word.value) for word in node.keywords]
        if getattr(node.func, "attr", "") == "setenv":
            pairs.append((getattr(node.args[0], "value", None), node.args[1]))
    if isinstance(node, ast.Dict):
        pairs = [
            (getattr(key, "value", None), value)
            for key, value in zip(node.keys, node.values, strict=True)
        ]
    for name, value in pairs:
        is_left_out = name == "readers" and ast.unparse(value) != "{'planted': 0}"
        if (
            isinstance(name, str)
            and (_VARIABLE.fullmatch(name) or name in NAMED)
            and not is_left_out
        ):
            yield name


SETS = [
    one
    for path in sorted(TESTS.rglob("*.py"))
    for one in _sets_in(path)
    if path.name != Path(__file__).name
]


def test_whoever_sets_something_otherwise_says_so_in_the_name() -> None:
    assert {one.what for one in SETS} >= {"CALLWRIGHT_WORKERS", "CALLWRIGHT_HOME", "readers"}, (
        "they are found"
    )
    unnamed = [
        one
        for one in SETS
        if one.what in NAMED and not re.search(NAMED[one.what], f"{one.file} {one.within}".lower())
    ]
    assert unnamed == []
    unknown = (
        {one.what for one in SETS if one.what.startswith("CALLWRIGHT_")} - ANYWHERE - NAMED.keys()
    )
    assert unknown == set()
