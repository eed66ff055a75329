"""Which entries of a response are meant by conditions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.environments.picking import (
    choose,
    entries_of,
    join,
    rendered,
    retold,
    rivals,
    value_at,
)
from callwright.generators.multi_step.resolving import original_index, shifted, strike_out
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Condition, Strike

RESPONSE = {
    "data": {
        "hotels": [
            {"name": "Sea View", "price": 90},
            {"name": "Sea View Annex", "price": 70},
            {"price": 1},
        ]
    }
}
HOTELS = entries_of(RESPONSE, "data.hotels")
NAMED = Condition(test="equals", field="name", value="sea view")
CHEAPEST = Condition(test="lowest", field="price")


def chosen(*where: Condition) -> list[int]:
    return [entry.index for entry in choose(HOTELS, where)]


def test_a_path_leads_to_a_value_and_a_wrong_one_says_where_it_ends() -> None:
    assert (
        value_at(RESPONSE, "data.hotels[1].price")
        == value_at(RESPONSE, "data.hotels.1.price")
        == 70
    )
    with pytest.raises(RecordError, match="'rooms' is missing"):
        value_at(RESPONSE, "data.rooms")


def test_what_is_no_list_is_one_entry() -> None:
    assert [(entry.index, entry.place) for entry in entries_of({"a": {"b": 1}}, "a")] == [(0, "a")]
    assert [entry.place for entry in entries_of([7, 8], "")] == ["[0]", "[1]"]
    assert join("[0]", "id") == "[0].id"


def test_conditions_compare_first_and_rank_then() -> None:
    assert chosen(NAMED) == [0]
    assert chosen(Condition(test="contains", field="name", value="SEA")) == [0, 1]
    assert chosen(CHEAPEST) == [2]
    assert chosen(CHEAPEST, Condition(test="contains", field="name", value="sea")) == [1]
    assert chosen(Condition(test="highest", field="price")) == [0]
    assert chosen(Condition(test="only")) == [0, 1, 2]
    assert chosen(Condition(test="equals", field="price", value=True)) == []


def test_a_reader_may_take_a_longer_name_for_the_shorter() -> None:
    assert [entry.index for entry in rivals(HOTELS, (NAMED,), 0)] == [1]
    assert [entry.index for entry in rivals(HOTELS, (NAMED, CHEAPEST), 0)] == [1]
    assert rivals(HOTELS, (CHEAPEST,), 2) == []


def test_other_lists_tell_by_text_anywhere_in_an_entry() -> None:
    others = entries_of([{"label": "Hotel Sea View, Oslo"}, {"label": "Elsewhere"}], "")
    assert [entry.index for entry in rendered(others, (NAMED,))] == [0]
    assert rendered(others, (CHEAPEST,)) == []
    assert retold(others, others[0], (NAMED,)) == (
        Condition(test="contains", field="label", value="sea view"),
    )


@given(
    st.lists(st.integers(), min_size=1, max_size=12).flatmap(
        lambda held: st.tuples(st.just(held), st.sets(st.integers(0, len(held) - 1)))
    )
)
def test_what_is_struck_is_gone_and_what_stays_knows_where_it_was(
    case: tuple[list[int], set[int]],
) -> None:
    held, gone = case
    strikes = [Strike(step=0, call=0, entries="a.b", entry=index, reason="x") for index in gone]
    response = {"a": {"b": held, "c": 1}}
    left = value_at(strike_out(response, strikes), "a.b")
    assert left == [value for index, value in enumerate(held) if index not in gone]
    assert [held[original_index(index, gone)] for index in range(len(left))] == left
    assert response == {"a": {"b": held, "c": 1}}


@pytest.mark.parametrize(
    ("value", "later"),
    [("2027-03-01 23:30", "2027-03-02 01:00"), ("2027-03-01T10:00:00", "2027-03-01T11:30:00")],
)
def test_a_moment_later_keeps_its_form(value: str, later: str) -> None:
    assert shifted(value, 90) == later
    assert shifted(value, 0) == value


def test_only_moments_can_be_later() -> None:
    with pytest.raises(RecordError, match="'soon' is no date and time"):
        shifted("soon", 5)
