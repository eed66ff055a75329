"""What a recipe brings of its own: a system message, values, examples of its domain.

All of it names the build.
"""

import json
from pathlib import Path
from typing import Any

from callwright.flows.api.releases import create_release
from callwright.flows.run.plan import build_key
from callwright.warehouse.records import Sample
from tests.support.flows.small_builds import build, settings_of, unmeasured_recipe, warehouse_of
from tests.support.llm.names import PLAIN

KINDS = {"perfect": 3, "imperfect": 3, "sQsA": 2}


def samples_of(home: Path, **changes: Any) -> list[Sample]:
    settings = settings_of(home)
    build(unmeasured_recipe(**{"languages": ["en"], "samples": KINDS, **changes}), settings)
    rows = warehouse_of(settings).rows("select body from samples order by key")
    return [Sample.model_validate_json(row["body"]) for row in rows]


def test_rows_of_training_begin_with_drawn_messages_unless_the_recipe_wants_none(
    tmp_path: Path,
) -> None:
    for name, told in (("drawn", ""), ("none", "none")):
        settings = settings_of(tmp_path / name)
        build(
            unmeasured_recipe(languages=["en"], samples={"perfect": 12}, system_message=told),
            settings,
        )
        release = create_release("v1", home=settings.home)
        release.export("openai", tmp_path / name / "out", with_template=True)
        rows = [
            json.loads(line)["messages"]
            for line in (tmp_path / name / "out" / "v1.jsonl").read_text().splitlines()
        ]
        begun = {row[0]["content"] for row in rows if row[0]["role"] == "system"}
        assert len(begun) > 1 if name == "drawn" else not begun
        assert all(not kept.sample.system_message for kept in release)


def test_a_system_message_stands_in_every_sample_and_changes_nothing_else(tmp_path: Path) -> None:
    usual = samples_of(tmp_path / "usual")
    led = samples_of(tmp_path / "led", system_message="You are the assistant of Acme.")
    assert {sample.system_message for sample in led} == {"You are the assistant of Acme."}
    requests = [
        {one.request for one in found if one.kind in ("perfect", "imperfect")}
        for found in (led, usual)
    ]
    assert requests[0] == requests[1]
    assert {sample.key for sample in led}.isdisjoint(sample.key for sample in usual)


CITIES = ["Bielefeld", "Wuppertal", "Saarbrücken", "Osnabrück", "Heilbronn", "Ludwigshafen"]


def test_values_of_ones_own_are_all_that_samples_say_for_a_parameter(tmp_path: Path) -> None:
    samples = samples_of(
        tmp_path,
        values={"city": CITIES},
        tools=[{"seed": ["Weather"]}],
        samples={**KINDS, "mSv": 1, "parallel": 3},
    )
    said = [
        call.arguments["city"]
        for sample in samples
        for snapshot in sample.snapshots()
        for call in snapshot.calls
        if "city" in call.arguments
    ]
    assert len(said) > 3
    assert set(said) <= set(CITIES)


def test_values_and_examples_name_the_build(tmp_path: Path) -> None:
    path = tmp_path / "examples.jsonl"
    path.write_text('{"request": "Rain?", "tool": "get_weather"}\n', encoding="utf-8")
    model = {"models": {"generator": PLAIN}}
    usual = build_key(unmeasured_recipe(), [])
    assert build_key(unmeasured_recipe(values={}), []) == usual
    keys = {
        usual,
        build_key(unmeasured_recipe(values={"city": ["Ulm"]}), []),
        build_key(unmeasured_recipe(values={"city": ["Ulm", "Kiel"]}), []),
        build_key(unmeasured_recipe(**model), []),
        build_key(unmeasured_recipe(**model, examples=str(path)), []),
    }
    assert len(keys) == 5
    assert build_key(unmeasured_recipe(examples=str(path)), []) == usual, (
        "the template model is shown none"
    )
