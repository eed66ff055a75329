"""Conditions: what is said of an entry singles it out."""

from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.environments.picking import choose, entries_of
from callwright.generators.multi_step.filling import by_name, by_query, by_rank
from callwright.warehouse.records import Condition

NAMES = st.sampled_from(["Swan", "Old Mill", "Harbour", "Red Lion", "Bell", "Swan Inn"])
ENTRIES = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.uuids().map(str),
            "name": NAMES,
            "price": st.integers(1, 9),
            "score": st.integers(1, 5),
        }
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda entry: entry["id"],
)


@given(entries=ENTRIES, seed=st.integers(0, 99))
def test_a_ranked_or_named_entry_is_the_only_one_that_is_meant(
    entries: list[dict[str, Any]], seed: int
):
    listed = entries_of({"list": entries}, "list")  # type: ignore[dict-item]
    where = by_rank(listed, ["id"], (), Random(seed))
    if where is not None:
        assert len(choose(listed, where)) == 1
    elif len(entries) > 1:
        assert all(
            [entry[field] for entry in entries].count(best([entry[field] for entry in entries])) > 1
            for field in ("price", "score")
            for best in (min, max)
        )


@given(entries=ENTRIES, seed=st.integers(0, 99))
def test_an_entry_that_was_meant_before_is_not_meant_again(
    entries: list[dict[str, Any]], seed: int
):
    listed = entries_of({"list": entries}, "list")  # type: ignore[dict-item]
    first = by_rank(listed, ["id"], (), Random(seed))
    if first is None:
        return
    taken = choose(listed, first)[0].index
    second = by_rank(listed, ["id"], [taken], Random(seed))
    assert second is None or choose(listed, second)[0].index != taken


@given(entries=ENTRIES, seed=st.integers(0, 99))
def test_a_name_that_is_said_is_one_entrys_own(entries: list[dict[str, Any]], seed: int):
    where = by_name(entries_of({"list": entries}, "list"), "id", (), Random(seed))  # type: ignore[dict-item]
    if where is not None:
        assert [entry["name"] for entry in entries].count(where[0].value) == 1


@given(entries=ENTRIES, query=NAMES)
def test_what_is_looked_up_is_the_first_entry_of_that_name(
    entries: list[dict[str, Any]], query: str
):
    listed = entries_of({"list": entries}, "list")  # type: ignore[dict-item]
    where = by_query(listed, query, "id")
    named = [at for at, entry in enumerate(entries) if entry["name"] == query]
    if named:
        assert where == (Condition(test="equals", field="name", value=query),)
        assert choose(listed, where)[0].index == named[0]
    elif where is not None:
        assert choose(listed, where)


def test_an_entry_without_the_field_is_not_meant():
    listed = entries_of(
        {"list": [{"name": "A", "price": 1}, {"id": "x", "name": "B", "price": 2}]}, "list"
    )
    assert by_query(listed, "A", "id") is None
    assert by_name(listed, "id", (), Random(1)) == (
        Condition(test="equals", field="name", value="B"),
    )
    assert by_rank(listed, ["id"], (), Random(1)) != (Condition(test="lowest", field="price"),)
