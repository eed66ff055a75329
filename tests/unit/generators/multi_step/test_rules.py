"""Rules of picked values: what is written can be read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.environments.picking import read_rule, write_rule
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Condition, Picked

PATHS = st.one_of(
    st.from_regex(r"[a-z_]{1,6}(\.[a-z_]{1,6}){0,2}", fullmatch=True), st.text(max_size=6)
)
VALUES = st.one_of(st.none(), st.booleans(), st.integers(-(10**6), 10**6), st.text(max_size=8))
CONDITIONS = st.one_of(
    st.builds(Condition, test=st.sampled_from(["equals", "contains"]), field=PATHS, value=VALUES),
    st.builds(
        Condition, test=st.sampled_from(["lowest", "highest", "earliest", "latest"]), field=PATHS
    ),
    st.just(Condition(test="only")),
)


@given(
    st.builds(
        Picked,
        call=st.integers(0, 5),
        entries=PATHS,
        field=PATHS,
        where=st.lists(CONDITIONS, max_size=3).map(tuple),
        later_by=st.integers(-500, 500),
    )
)
def test_a_rule_is_read_back_as_it_was_written(picked: Picked) -> None:
    assert read_rule(write_rule(picked), picked.call) == picked


def test_a_rule_can_be_read_by_people() -> None:
    where = (
        Condition(test="contains", field="name", value="Rome"),
        Condition(test="lowest", field="price"),
    )
    picked = Picked(call=1, entries="data.hotels", field="hotel_id", where=where, later_by=90)
    assert (
        write_rule(picked)
        == 'hotel_id of data.hotels: name contains "Rome"; lowest price; 90 minutes later'
    )


@pytest.mark.parametrize(
    "rule", ["", "a", "a of", "a of b: nicest c", 'a of b: c equals "', "a of b! c"]
)
def test_what_is_no_rule_is_told(rule: str) -> None:
    with pytest.raises(RecordError, match="rule"):
        read_rule(rule, 0)
