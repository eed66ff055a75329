"""Releases are what they were: a manifest of row hashes notices every change, and old ones open
after migrations.
"""

from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb
import pytest

from callwright.warehouse.errors import StoreError
from callwright.warehouse.exports.formats import export_release
from callwright.warehouse.records import CallTurn, Sample, Tool, UserTurn
from callwright.warehouse.releases import (
    changed_samples,
    create_release,
    diff_releases,
    require_intact,
    stream_release,
    verify_release,
)
from callwright.warehouse.releases.reading import content_hash
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse
from tests.support.warehouse.landed_builds import Landed, started

WEATHER = Tool(
    name="weather",
    description="Tells the weather.",
    category="Weather",
    parameters={"type": "object"},
)
BODY = f'{{"candidates": ["{WEATHER.key}"], "withheld": []}}'


def row(key: str, **changes: object) -> Row:
    return {
        "key": key,
        "kind": "perfect",
        "language": "en",
        "category": "Weather",
        "request": f"Rain in {key}?",
        "gold": "[]",
        "body": BODY,
        "stage": "request",
        "parents": [f"draft of {key[0]}"],
        "seed": 1,
        "model": "template/v1",
        "prompt_version": "1",
        "planted": "",
    } | changes


@pytest.fixture
def landed(tmp_path: Path) -> Landed:
    made = Landed(tmp_path)
    made.warehouse.put([WEATHER])
    made.warehouse.put_rows({"samples": [row("a"), row("b"), row("c")]})
    made.add(started("0old", 0), "a", "b", "c")
    return made


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        ("update samples set request = 'Snow?' where key = 'a'", [("changed", "samples", "a")]),
        ("update samples set body = '{}' where key = 'b'", [("changed", "samples", "b")]),
        ("delete from samples where key = 'c'", [("missing", "samples", "c")]),
        ("update tools set description = 'Lies.'", [("changed", "tools", WEATHER.key)]),
        (
            "delete from release_samples where subject = 'a'",
            [("added or removed", "release_samples", "")],
        ),
        (
            "insert into release_samples (release, subject) values ('v1', 'd')",
            [("added or removed", "release_samples", "")],
        ),
        (
            "update release_samples set split = 'test' where subject = 'a'",
            [("edited", "release_samples", "")],
        ),
        ("update releases set content_hash = 'x'", [("edited", "release_samples", "")]),
    ],
)
def test_whatever_is_edited_in_a_release_is_noticed(
    landed: Landed, edit: str, found: list[tuple[str, str, str]]
) -> None:
    create_release(landed.warehouse, "v1")
    assert verify_release(landed.warehouse, "v1").is_intact
    landed.warehouse.execute(edit)
    assert [tuple(change) for change in verify_release(landed.warehouse, "v1").changes] == found
    with pytest.raises(StoreError, match="v1 is not as it was frozen: "):
        require_intact(landed.warehouse, "v1")


def test_a_release_of_an_older_schema_is_verified_by_the_manifest_of_its_migration(
    tmp_path: Path,
) -> None:
    path = tmp_path / "warehouse.duckdb"
    about: dict[str, Any] = {
        "kind": "perfect",
        "language": "en",
        "category": "Weather",
        "candidates": (WEATHER.key,),
    }
    scripts = sorted(
        files("callwright.warehouse").joinpath("migrations").iterdir(), key=lambda file: file.name
    )
    with duckdb.connect(str(path)) as old:
        old.execute(
            "create table migrations (name varchar primary key, made_at timestamptz default now())"
        )
        for script in scripts:
            if script.name.endswith(".sql") and script.name < "0012":
                old.execute(script.read_text(encoding="utf-8"))
                old.execute("insert into migrations (name) values (?)", [script.name])
        old.execute(
            "insert into samples by name select unnest(['a', 'b']) as key, 'perfect' as kind, 'en'"
            " as language, 'Weather' as category, 'Rain?' as request, '[]' as gold, ? as body,"
            " 'request' as stage, [] as parents, 1 as seed, '' as model, '' as prompt_version, ''"
            " as planted",
            [Sample(**about, turns=(UserTurn(text="Rain?"), CallTurn())).model_dump_json()],
        )
        old.execute(
            "insert into tools by name select ? as key, 'weather' as name, 'Weather' as category,"
            " 'en' as language, '' as source, 'Tells the weather.' as description, '{}' as"
            " parameters",
            [WEATHER.key],
        )
        old.execute(
            "insert into releases values ('v0', 'k', ?, 2, now(), '')", [content_hash(["a", "b"])]
        )
        old.execute("insert into release_samples values ('v0', 'a'), ('v0', 'b')")
    warehouse = Warehouse(path)
    state = verify_release(warehouse, "v0")
    assert (
        state.sentence
        == "v0 is as it was when its manifest was made: 2 samples, each row as in the manifest."
    )
    assert (state.release.version, state.release.splits) == ("1.0.0", {})
    assert diff_releases(warehouse, "v0", "v0").kept == 2
    assert export_release(stream_release(warehouse, "v0"), "records", tmp_path / "out").rows == 2
    warehouse.execute("update tools set description = 'Lies.'")
    assert [tuple(change) for change in verify_release(warehouse, "v0").changes] == [
        ("changed", "tools", WEATHER.key)
    ]


def test_a_diff_tells_what_came_what_went_and_what_was_made_anew(landed: Landed) -> None:
    create_release(landed.warehouse, "v1")
    landed.warehouse.put_rows(
        {"samples": [row("a2", request="Rain at noon in a?"), row("e", parents=["b"]), row("f")]}
    )
    landed.add(started("1new", 1), "a2", "c", "e", "f")
    create_release(landed.warehouse, "v2")
    found = diff_releases(landed.warehouse, "v1", "v2")
    assert (found.added, found.removed, found.kept) == (("f",), (), 1)
    changed = list(changed_samples(landed.warehouse, "v1", "v2", found.changed))
    assert found.changed == (("a", "a2"), ("b", "e"))
    assert [
        (one.old, one.new, one.kind, [change.field for change in one.fields]) for one in changed
    ] == [("a", "a2", "perfect", ["request"]), ("b", "e", "perfect", ["request"])]
    assert changed[0].fields[0][1:] == ("Rain in a?", "Rain at noon in a?")
    assert found.fields == (("request", 2, "a2", changed[0].fields[0]),)
    assert [tuple(kind) for kind in found.kinds] == [("perfect", 1, 0, 2, 1)]
