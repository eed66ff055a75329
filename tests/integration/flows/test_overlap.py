"""Contamination: what a release has in common with a data set, and a build that keeps out what
its recipe avoids.
"""

import json
from pathlib import Path

import pytest

import callwright
from callwright.flows.api.surroundings import settings_of
from tests.support.flows.small_builds import run_here, warehouse_of

TOOLS = [{"seed": ["Weather"]}]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder with the release v1, and as files/ its samples as others would publish them."""
    folder = tmp_path_factory.mktemp("common")
    callwright.build(
        callwright.make_recipe("small", tools=TOOLS, samples={"perfect": 12, "irrelevant": 2}),
        home=folder,
    )
    callwright.create_release("v1", home=folder).export(
        "trl", folder / "files", kinds=["perfect"], with_template=True
    )
    return folder


def test_both_sides_are_told(home: Path) -> None:
    done = run_here(
        "release", "overlap", "v1", "--with", f"trl:{home / 'files'}", "--json", home=home
    )
    assert done.returncode == 0, done.stderr
    [found] = json.loads(done.stdout)
    perfect = callwright.load_release("v1", home=home).count_kinds()["perfect"]
    assert found["others"] == perfect < found["samples"]
    assert found["shared"]["request"] >= perfect <= found["shared"]["call"]
    assert found["shared_others"] == {"tool": perfect, "call": perfect, "request": perfect}
    assert {Path(pair["place"]).name.partition(":")[0] for pair in found["pairs"]} == {"v1.jsonl"}
    words = run_here(
        "release", "overlap", "v1", "--with", f"trl:{home / 'files'}", home=home
    ).stdout
    assert "share of it" in words


def test_what_a_recipe_avoids_does_not_land(home: Path) -> None:
    avoided = [{"from": str(home / "files"), "format": "trl"}]
    recipe = callwright.make_recipe(
        "clean", tools=TOOLS, samples={"perfect": 12, "irrelevant": 2}, avoid=avoided
    )
    report = callwright.build(recipe, home=home)
    [row] = warehouse_of(settings_of(home)).rows(
        "select n_records as records, reason from rejections where build = ? and stage = 'duplicates' and"
        " reason_code = 'taken'",
        [report.build],
    )
    assert "trl has the same" in row["reason"]
    assert "v1.jsonl:" in row["reason"]
    texts = {
        kept.request
        for kept in callwright.load_release("v1", home=home)
        if kept.sample.kind == "perfect"
    }
    landed = {kept.request for kept in callwright.samples("recipe = 'clean'", home=home)}
    assert row["records"] == len(texts)
    assert not texts & landed
