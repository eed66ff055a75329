"""How like texts of calls are, by the encoder that our own runs use."""

import pytest

from callwright.validators.embeddings import likeness

FLIGHT = '{"name": "Search_Flights", "arguments": {"fromId": "SYD.AIRPORT", "toId": "MEL.CITY"}}'
OTHER_FLIGHT = (
    '{"name": "Search_Flights", "arguments": {"fromId": "SYD.AIRPORT", "toId": "AVV.AIRPORT"}}'
)
HOTEL = '{"name": "Get_Hotel_Reviews", "arguments": {"hotel_id": "177"}}'


def test_a_call_is_most_like_itself_and_then_like_one_of_its_function() -> None:
    [row] = likeness([FLIGHT], [HOTEL, FLIGHT, OTHER_FLIGHT])
    assert row[1] == pytest.approx(1.0, abs=1e-3)
    assert row[1] > row[2] > row[0]


def test_long_tokens_are_told_apart_by_their_ends() -> None:
    token, other, end = "a" + "x" * 50_000, "b" + "x" * 50_000, "a" + "x" * 49_999 + "y"
    [row] = likeness([token], [token, other, end])
    assert row[0] == pytest.approx(1.0, abs=1e-3)
    assert row[0] > max(row[1:])


def test_nothing_is_like_nothing() -> None:
    assert likeness([], ["a"]) == []
    assert likeness(["a"], []) == [[]]
    assert len(likeness(["", "a"], ["", "b"])) == 2
