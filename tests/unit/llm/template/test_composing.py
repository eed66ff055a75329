"""Requests read as people speak: nobody asks for help to show himself something, and plurals agree."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from callwright.language.calls.tools import view_of
from callwright.llm.template.stating import requests_in
from callwright.llm.template.wording import compose

TOOL = {
    "name": "getOrders",
    "description": "Retrieve orders.",
    "parameters": {"type": "object", "properties": {"orderDetails": {"type": "string"}, "shop": {"type": "string"}}},
}
WISHES = tuple(
    wish.partition("{a}")[0] for wish in requests_in("en").wishes if wish.partition("{a}")[0] != "Could you "
)


@given(st.integers(0, 2**32))
def test_what_is_shown_to_me_is_not_wished_for_by_me(seed: int) -> None:
    composed = compose(view_of(TOOL), {"shop": "Adler"}, "en", Random(seed), action="show me orders")
    assert not composed.request.startswith(WISHES)


@given(st.integers(0, 2**32))
def test_details_are_and_a_shop_is(seed: int) -> None:
    request = compose(view_of(TOOL), {"orderDetails": "two tents", "shop": "Adler"}, "en", Random(seed)).request
    assert "details is " not in request
    assert "shop are " not in request
