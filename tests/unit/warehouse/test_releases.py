"""Releases are what they were: a manifest of row hashes notices every change."""

from pathlib import Path

import pytest

from callwright.warehouse.errors import StoreError
from callwright.warehouse.records import Tool
from callwright.warehouse.releases import (
    changed_samples,
    create_release,
    diff_releases,
    require_intact,
    verify_release,
)
from callwright.warehouse.rows import Row
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
