"""When HammerBench counts arguments as right."""

from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.metrics.hammerbench.scores import arguments_match, hallucinated_names

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
