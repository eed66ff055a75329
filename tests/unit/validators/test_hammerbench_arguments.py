"""When HammerBench counts arguments as right."""

from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.metrics.hammerbench.scores import (
    arguments_match,
    hallucinated_names,
    missing_names,
)

ARGUMENTS = st.dictionaries(
    st.text(max_size=5),
    st.one_of(
        st.text(max_size=8), st.integers(), st.booleans(), st.lists(st.text(max_size=3), max_size=2)
    ),
    max_size=5,
)


@given(arguments=ARGUMENTS)
def test_arguments_match_themselves_in_any_order(arguments: dict) -> None:
    backwards = dict(reversed(arguments.items()))
    assert arguments_match(arguments, backwards, "en")
    assert arguments_match(arguments, backwards, "zh")


@given(arguments=ARGUMENTS, extra=st.text(min_size=1))
def test_a_name_that_the_label_lacks_is_never_right(arguments: dict, extra: str) -> None:
    given_arguments = {**arguments, "not in the label": extra}
    assert not arguments_match(arguments, given_arguments, "en")
    assert hallucinated_names(arguments, given_arguments) == 1


@given(
    arguments=ARGUMENTS.filter(lambda arguments: any(value != "" for value in arguments.values()))
)
def test_nothing_said_is_wrong_where_something_was_due(arguments: dict) -> None:
    assert not arguments_match(arguments, {}, "en")
    assert missing_names(arguments, {}) == len(arguments)


def test_what_is_no_object_never_matches() -> None:
    assert not arguments_match({}, ["city"], "en")
    assert not arguments_match({}, None, "en")


def test_empty_values_count_as_left_out() -> None:
    assert arguments_match({"city": "Bergen", "price": ""}, {"city": "Bergen"}, "en")


def test_the_catch_all_is_not_compared_where_the_label_has_it() -> None:
    label = {"city": "Bergen", "kwargs": "high floor"}
    assert arguments_match(label, {"city": "Bergen", "kwargs": "no smoking"}, "en")
    assert arguments_match(label, {"city": "Bergen"}, "en")
    assert not arguments_match({"city": "Bergen"}, {"city": "Bergen", "kwargs": "no smoking"}, "en")


def test_values_are_compared_as_texts() -> None:
    assert arguments_match({"nights": 3}, {"nights": "3"}, "en")
    assert not arguments_match({"room": "double"}, {"room": ["double"]}, "en")


def test_values_may_differ_by_a_word_in_many() -> None:
    assert arguments_match({"note": "water the plants"}, {"note": "water plants"}, "en")
    assert not arguments_match({"note": "water the plants"}, {"note": "call the plumber"}, "en")
