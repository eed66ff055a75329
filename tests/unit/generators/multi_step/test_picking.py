"""Which entries of a response are meant by conditions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.environments.picking import choose, entries_of, value_at
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


def test_conditions_compare_first_and_rank_then() -> None:
    assert chosen(NAMED) == [0]
    assert chosen(Condition(test="contains", field="name", value="SEA")) == [0, 1]
    assert chosen(CHEAPEST) == [2]
    assert chosen(CHEAPEST, Condition(test="contains", field="name", value="sea")) == [1]
    assert chosen(Condition(test="highest", field="price")) == [0]
    assert chosen(Condition(test="only")) == [0, 1, 2]
    assert chosen(Condition(test="equals", field="price", value=True)) == []


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


def test_only_moments_can_be_later() -> None:
    with pytest.raises(RecordError, match="'soon' is no date and time"):
        shifted("soon", 5)
