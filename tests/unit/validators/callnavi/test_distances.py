"""Distances of many pairs at once are those of the usual table, whatever their lengths and characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validators.metrics.callnavi.distances import FEW, distances
from validators.metrics.callnavi.stability import Stability, measure_all, measure_stability

TEXTS = st.text(st.sampled_from("ab{}北京é\0\ud83d"), max_size=12)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), max_size=3 * FEW)


def by_the_table(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for number, wanted in enumerate(one, 1):
        before, row[0] = row[0], number
        for at, said in enumerate(other, 1):
            before, row[at] = row[at], min(before + (wanted != said), row[at] + 1, row[at - 1] + 1)
    return row[-1]


@given(PAIRS)
def test_many_pairs_have_the_distances_that_each_has(pairs: list[tuple[str, str]]) -> None:
    assert distances(pairs) == [by_the_table(*pair) for pair in pairs]


@pytest.mark.parametrize("alphabet", [2, 300])
def test_texts_of_several_words_of_bits_are_carried_over(alphabet: int) -> None:
    def text(length: int, step: int) -> str:
        return "".join(chr(0x4E00 + at * step % alphabet) for at in range(length))

    lengths = (1, 63, 64, 65, 127, 128, 129, 200)
    pairs = [(text(one, 11), text(other, 7)) for one in lengths for other in lengths]
    assert distances(pairs) == [by_the_table(*pair) for pair in pairs]


@pytest.mark.parametrize("changed", [1, 100, 130, 600])
def test_texts_far_from_each_other_are_as_far_as_the_table_says(changed: int) -> None:
    """What is put in or taken out moves all that follows away from the diagonal, near which distances are looked for first."""
    text = "".join(chr(0x4E00 + at * at % 97) for at in range(700))
    moved = [text[:at] + "-" * changed + text[at:] for at in range(50, 700, 90)]
    cut = [text[:at] + "?" + text[at + changed : -1] for at in range(0, 700, 90)]
    pairs = [(text, other) for other in (*moved, *cut)] + list(zip(moved, cut, strict=False))[:2]
    assert len(pairs) > FEW
    assert distances(pairs) == [by_the_table(*pair) for pair in pairs]


@given(st.lists(st.lists(TEXTS, max_size=5), max_size=8))
def test_questions_measured_together_are_as_steady_as_each_alone(answered: list[list[str]]) -> None:
    assert measure_all(answered) == [measure_stability(answers) for answers in answered]
    assert measure_all([]) == []
    assert measure_all([[], ["a"]]) == [Stability(0.0, 0.0), Stability(1.0, 1.0)]
