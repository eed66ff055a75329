"""The assignment of calls to gold calls."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.matching import assign

VALUES = st.floats(min_value=-1, max_value=1, allow_nan=False)
MATRICES = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda size: st.lists(
        st.lists(VALUES, min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
    )
)


def best_sum(likeness: list[list[float]]) -> float:
    rows, columns = len(likeness), len(likeness[0])
    if rows > columns:
        return best_sum([list(column) for column in zip(*likeness, strict=True)])
    return max(
        sum(likeness[row][picked[row]] for row in range(rows))
        for picked in permutations(range(columns), rows)
    )


@given(MATRICES)
def test_no_other_assignment_is_better(likeness: list[list[float]]) -> None:
    pairs = assign(likeness)
    assert len(pairs) == min(len(likeness), len(likeness[0]))
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    assert sum(likeness[row][column] for row, column in pairs) == pytest.approx(
        best_sum(likeness), abs=1e-9
    )
