"""Splits: in proportion, the same whatever the order, and relatives are never parted."""

import random
from collections import Counter
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Tool
from callwright.warehouse.releases import (
    Selection,
    SplitBy,
    Terms,
    create_release,
    make_release,
    parse_shares,
)
from callwright.warehouse.releases.freezing import next_version
from callwright.warehouse.releases.splits import assign_groups, group_relatives, plan_splits
from callwright.warehouse.rows import Row
from tests.support.warehouse.landed_builds import Landed, sample_row, started

SHARES = {"train": 0.8, "validation": 0.1, "test": 0.1}
NONE = -1


@st.composite
def linked_samples(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]], list[int]]:
    """How many samples, which of them have which of some ancestors, and the kind of each."""
    count = draw(st.integers(30, 200))
    links = draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, 80)), max_size=60))
    kinds = draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    return count, links, kinds


def split(
    count: int, links: list[tuple[int, int]], kinds: list[int], shares: list[float]
) -> tuple[list[int], list[int]]:
    ends = np.array(links, dtype=np.uint64).reshape(-1, 2)
    groups = group_relatives(
        np.arange(count, dtype=np.uint64), ends[:, 0], ends[:, 1] + np.uint64(1000)
    )
    levels = [np.zeros(count, dtype=np.int64), np.array(kinds, dtype=np.int64)]
    chosen = assign_groups(groups, levels, shares, np.full(count, NONE))
    return groups.tolist(), chosen.tolist()


@given(linked_samples(), st.sampled_from([[0.8, 0.1, 0.1], [0.5, 0.5], [0.9, 0.1]]), st.randoms())
def test_no_relative_straddles_and_the_order_of_links_is_free(
    made: tuple[int, list[tuple[int, int]], list[int]], shares: list[float], shuffled: random.Random
) -> None:
    count, links, kinds = made
    groups, chosen = split(count, links, kinds, shares)
    of_ancestor: dict[int, set[int]] = {}
    for sample, ancestor in links:
        of_ancestor.setdefault(ancestor, set()).add(sample)
    for samples in of_ancestor.values():
        assert len({groups[one] for one in samples}) == 1
        assert len({chosen[one] for one in samples}) == 1
    mixed = list(links)
    shuffled.shuffle(mixed)
    assert split(count, mixed, kinds, shares) == (groups, chosen)


@given(linked_samples(), st.sampled_from([[0.8, 0.1, 0.1], [0.5, 0.5], [0.9, 0.1]]))
def test_shares_are_met_within_the_largest_group(
    made: tuple[int, list[tuple[int, int]], list[int]], shares: list[float]
) -> None:
    count, links, kinds = made
    groups, chosen = split(count, links, kinds, shares)
    largest = max(Counter(groups).values())
    for place, share in enumerate(shares):
        assert abs(chosen.count(place) - share * count) <= largest + 2
        for kind in set(kinds):
            of_kind = [one for one, its in zip(chosen, kinds, strict=True) if its == kind]
            assert abs(of_kind.count(place) - share * len(of_kind)) <= largest + 2


def test_what_was_in_a_split_stays_there_whatever_the_shares() -> None:
    groups, nothing = np.arange(4), np.zeros(4, dtype=np.int64)
    assert assign_groups(groups, [nothing], [0.5, 0.5], np.full(4, 1)).tolist() == [1, 1, 1, 1]


def body(tool: str, said: str = "", **stated: JsonValue) -> str:
    call = {"tool": tool, "arguments": {}, "evidence": [{"quote": said}] if said else []}
    turns = [{"kind": "calls", "calls": [call], "executed": False}]
    return orjson.dumps({"candidates": [], "withheld": [], "turns": turns, **stated}).decode()


@pytest.fixture
def landed(tmp_path: Path) -> Landed:
    """Forty samples that nothing links, and relatives of each sort."""
    made = Landed(tmp_path)
    tool = Tool(name="seen", description="Sees.", category="Weather", parameters={"type": "object"})
    made.warehouse.put([tool])
    words = ["oak", "elm", "ash", "fir", "yew", "bay", "fig", "gum", "box", "may"]
    alone: list[Row] = [
        {
            "request": f"What of the {word} and the {other}?",
            "body": body(f"{word} {other}"),
            "parents": [tool.key],
        }
        for word in words
        for other in words[:4]
    ]
    related: list[Row] = [
        {"request": "A wish of its own", "parents": ["draft one"], "body": body("a")},
        {"request": "And another wish", "parents": ["draft two"], "body": body("b")},
        {"request": "Ring me at noon tomorrow", "body": body("c", said="noon")},
        {"request": "Ring me at dawn tomorrow", "body": body("d", said="dawn")},
        {
            "request": "So many ways",
            "body": body("e"),
            "gold": '[{"tool":"go","arguments":{"to":"Oslo"}}]',
        },
        {
            "request": "to say the same",
            "body": body("f"),
            "gold": '[{"tool":"go","arguments":{"to":"Oslo"}}]',
        },
        {"request": "Made of a template", "body": body("g", tags=["template=t1"])},
        {"request": "and made of it again", "body": body("h", facts={"template": "t1"})},
        {"request": "A tool is called", "body": body("same tool")},
        {"request": "and called once more", "body": body("same tool")},
    ]
    rows = [
        sample_row(f"{number:03}", "perfect", "en") | row
        for rows in (alone, related)
        for number, row in enumerate(rows, 0 if rows is alone else 100)
    ]
    drafts = [
        {
            "key": f"draft {name}",
            "type": "Draft",
            "body": "{}",
            "stage": "values",
            "parents": ["one plan", tool.key],
            "model": "",
            "prompt_version": "",
            "planted": "",
        }
        for name in ("one", "two")
    ]
    made.warehouse.put_rows({"samples": rows, "drafts": drafts})
    made.add(started("1full", 1), *(row["key"] for row in rows))
    return made


@pytest.mark.parametrize(("by", "pairs"), [("relatives", 4), ("tool", 5)])
def test_samples_of_one_parent_goal_text_template_or_tool_stand_together(
    landed: Landed, by: SplitBy, pairs: int
) -> None:
    made = make_release(landed.warehouse, "v1", Selection(), Terms(shares=SHARES, by=by))
    rows = landed.warehouse.rows(
        "select split_group, count(*) as n, count(distinct split) as splits, list(subject order by"
        " subject) as keys from release_samples group by all having n > 1 order by keys"
    )
    assert [(row["splits"], row["keys"]) for row in rows] == [
        (1, [f"{number:03}", f"{number + 1:03}"]) for number in range(100, 100 + 2 * pairs, 2)
    ]
    assert made.groups == 50 - pairs
    assert sum(made.splits.values()) == 50
    assert made.release.content_hash != create_release(landed.warehouse, "v2").content_hash


def test_the_same_samples_are_split_the_same_way_in_another_warehouse(
    landed: Landed, tmp_path: Path
) -> None:
    keys = [row["key"] for row in landed.warehouse.rows("select key from samples order by key")]
    plan = plan_splits(landed.warehouse, keys, SHARES)
    other = Landed(tmp_path / "other")
    for table in ("tools", "drafts", "samples"):
        rows = landed.warehouse.rows(f"from {table} order by key desc")
        other.warehouse.put_rows({table: rows})
    assert plan_splits(other.warehouse, keys, SHARES) == plan


def test_the_next_version_leaves_each_sample_in_its_split(landed: Landed) -> None:
    keys = [row["key"] for row in landed.warehouse.rows("select key from samples order by key")]
    landed.add(started("2less", 2), *keys[: -len(keys) // 2])
    first = make_release(landed.warehouse, "v1", Selection(), Terms(shares=SHARES))
    landed.add(started("3more", 3), *keys)
    second = make_release(landed.warehouse, "v2", Selection(), Terms(shares=SHARES))
    assert (second.release.version, second.release.follows) == ("1.1.0", "v1")
    moved = landed.warehouse.rows(
        "select * from release_samples a join release_samples b using (subject) "
        "where a.release = 'v1' and b.release = 'v2' and a.split <> b.split"
    )
    assert first.release.samples < second.release.samples
    assert moved == []
    landed.warehouse.execute("delete from samples where key = ?", [keys[0]])
    landed.add(started("4anew", 4), *keys[1:])
    third = make_release(landed.warehouse, "v3", Selection(), Terms(shares=SHARES))
    assert (third.release.version, third.release.follows, third.release.samples) == (
        "2.0.0",
        "v2",
        49,
    )


@pytest.mark.parametrize(
    ("before", "now", "version"),
    [
        ({"a": "train"}, {"a": "train"}, "1.2.4"),
        ({"a": ""}, {"a": "train"}, "1.2.4"),
        ({"a": "train"}, {"a": "train", "b": "test"}, "1.3.0"),
        ({"a": "train"}, {"b": "train"}, "2.0.0"),
        ({"a": "train"}, {"a": "test"}, "2.0.0"),
    ],
)
def test_a_version_tells_whether_scores_can_be_compared(
    before: dict[str, str], now: dict[str, str], version: str
) -> None:
    assert next_version("1.2.3", before, now) == version


def test_near_duplicates_across_splits_are_found(landed: Landed) -> None:
    near = [
        sample_row(f"{number}", "perfect", "en")
        | {
            "request": f"Would you kindly water the {word} tree behind the old garden shed",
            "body": body(f"w{number}"),
        }
        for number, word in enumerate(
            ("oak", "elm", "ash", "fir", "yew", "bay", "fig", "gum", "box", "may"), 200
        )
    ]
    landed.warehouse.put_rows({"samples": near})
    landed.add(started("2near", 2), *(row["key"] for row in near))
    made = make_release(
        landed.warehouse, "v1", Selection(), Terms(shares={"train": 0.5, "test": 0.5})
    )
    assert {found.subject for found in made.duplicates} <= {row["key"] for row in near}
    assert len(made.duplicates) == 5
    kept = landed.warehouse.rows(
        "select subject, split, other, other_split, likeness from release_duplicates"
    )
    assert [tuple(row.values()) for row in kept] == [tuple(found) for found in made.duplicates]


@pytest.mark.parametrize(
    "text",
    [
        "train=0.8",
        "train=0.8,test=0.1",
        "train=0.8,train=0.2",
        "Train=0.5,test=0.5",
        "a=1,b=0",
        "x",
    ],
)
def test_shares_that_make_no_whole_are_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="--splits"):
        parse_shares(text)


def test_what_can_not_be_parted_can_not_be_split(landed: Landed) -> None:
    keys = ["100", "101"]
    with pytest.raises(
        ConfigurationError, match=r"'test' would stay empty: .* the 2 samples are 1 group of them"
    ):
        plan_splits(landed.warehouse, keys, {"train": 0.5, "test": 0.5})


def test_a_release_tells_what_recipes_share_and_why_a_split_misses_its_share(
    landed: Landed,
) -> None:
    landed.add(started("2other", 2) | {"recipe": "other"}, "100", "101", "102")
    made = make_release(
        landed.warehouse, "v1", Selection(), Terms(shares={"train": 0.97, "test": 0.03})
    )
    assert sum(share.taken for share in made.selected.builds) == 53
    assert (made.shared, made.release.samples) == (3, 50)
    assert made.largest_group == 2
    three = Selection(where="key in ('000', '104', '105')")
    few = make_release(landed.warehouse, "v2", three, Terms(shares={"train": 0.5, "test": 0.5}))
    assert {name: abs(by) for name, by in few.missed.items()} == {
        "train": pytest.approx(1 / 6),
        "test": pytest.approx(1 / 6),
    }
    assert made.missed == {}
