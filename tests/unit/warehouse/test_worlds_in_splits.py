"""Splits part worlds: which values count, what is joined by them, and what is left out."""

from pathlib import Path
from string import ascii_lowercase

import numpy as np
import pytest
from pydantic import JsonValue

from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import (
    AskedField,
    CallTurn,
    GoldCall,
    ResultTurn,
    Sample,
    SampleFacts,
    Tool,
    UserTurn,
)
from callwright.warehouse.releases import MadeRelease, Selection, Terms, make_release
from callwright.warehouse.releases.worlds import find_shared, gold_values, join_sharing
from tests.support.warehouse.landed_builds import Landed, sample_row, started

HALVES = {"train": 0.5, "test": 0.5}
PLACE = Tool(
    name="place_order",
    description="Place an order.",
    category="shop",
    parameters={
        "type": "object",
        "properties": {
            "book_id": {"type": "string"},
            "size": {"type": "string", "enum": ["small"]},
            "note": {"type": "string", "examples": ["gift"]},
            "copies": {"type": "integer"},
            "price": {"type": "number"},
            "due": {"type": "string", "format": "date"},
            "is_gift": {"type": "boolean"},
            "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {}}}},
        },
    },
)


def task(number: int, world: int, result: JsonValue = None, **arguments: JsonValue) -> Sample:
    call = GoldCall(tool="place_order", arguments=arguments)
    return Sample(
        kind="task",
        language="en",
        category="shop",
        candidates=(PLACE.key,),
        turns=(
            UserTurn(text=f"Please see to {ascii_lowercase[number] * 4}."),
            CallTurn(calls=(call,), executed=True),
            ResultTurn(results=(result,)),
        ),
        facts=SampleFacts(
            environment="shop",
            simulation=world,
            asked=(AskedField(0, 0, "name"), AskedField(0, 0, "total"), AskedField(0, 0, "text")),
        ),
    )


def test_ids_names_and_amounts_count_and_what_a_schema_lists_does_not() -> None:
    sample = task(
        1,
        1,
        {"name": "Misty Fern", "total": 17.5, "text": "soon"},
        book_id="b1",
        size="small",
        note="gift",
        copies=12,
        price=120,
        due="2027-03-01",
        is_gift=True,
        lines=[{"sku": "s1"}],
    )
    assert gold_values(sample, {PLACE.name: PLACE}) == {"b1", "120", "s1", "Misty Fern", "17.5"}


def test_samples_that_share_a_value_are_joined_while_they_are_few() -> None:
    values = [frozenset(one) for one in ("a", "ab", "b", "c", "c")]
    groups = np.arange(5)
    assert join_sharing(groups, values, 3).tolist() == [0, 0, 0, 3, 3]
    assert join_sharing(groups, values, 2).tolist() == [0, 0, 2, 3, 3]
    assert join_sharing(groups, values, 1).tolist() == [0, 1, 2, 3, 4]


def test_what_shares_a_value_with_a_larger_split_is_left_out() -> None:
    values = {"1": frozenset("ab"), "2": frozenset("b"), "3": frozenset("c")}
    shares = {"train": 0.8, "test": 0.2}
    (found,) = find_shared(["1", "2", "3"], ["train", "test", "test"], values, shares)
    assert found == ("2", "test", "b", "train")


def released(folder: Path, samples: list[Sample], name: str = "v1") -> tuple[Landed, MadeRelease]:
    landed = Landed(folder)
    landed.warehouse.put([PLACE])
    rows = [
        sample_row(f"{number:03}", "task", "en")
        | {"body": one.model_dump_json(), "request": one.request}
        for number, one in enumerate(samples)
    ]
    landed.warehouse.put_rows({"samples": rows})
    landed.add(started("1full", 1), *(row["key"] for row in rows))
    made = make_release(landed.warehouse, name, Selection(), Terms(shares=HALVES))
    return landed, made


def test_the_samples_of_a_world_are_in_one_split(tmp_path: Path) -> None:
    samples = [task(at, at // 4 + 1, book_id=f"b{at}") for at in range(16)]
    landed, _ = released(tmp_path, samples)
    rows = landed.warehouse.rows(
        "select sample_fact(body, 'simulation') as world, count(distinct split) as splits"
        " from release_samples r join samples s on s.key = r.subject group by 1"
    )
    assert [row["splits"] for row in rows] == [1] * 4


def test_the_samples_of_the_only_world_are_parted_by_their_relatives(tmp_path: Path) -> None:
    _, made = released(tmp_path, [task(at, 1, book_id=f"b{at}") for at in range(16)])
    assert made.splits == {"train": 8, "test": 8}


def test_worlds_that_hold_the_same_things_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="such as 'b1'"):
        released(tmp_path, [task(at, at + 1, book_id="b1", copies=at) for at in range(16)])


def test_a_value_that_all_share_costs_the_smaller_split_its_samples(tmp_path: Path) -> None:
    samples = [
        task(at, at + 1, book_id="common" if at % 4 == 0 else f"b{at}", copies=at)
        for at in range(16)
    ]
    _, made = released(tmp_path, samples)
    left_out = made.left_out
    assert len(left_out) in (0, 1, 2)
    assert {one.value for one in left_out} <= {"common"}
    assert made.release.samples == 16 - len(left_out)
