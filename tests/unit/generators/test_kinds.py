"""The table of kinds, and the order in which they can be made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.kinds import KINDS, kind_named, name_of, waves_of
from warehouse.errors import ConfigurationError

SHIFTS = ("IS", "SO_case1", "SO_case2", "mSv", "external")


def test_the_paper_tells_of_1462_overridings_and_2310_dialogues() -> None:
    assert KINDS["SO_case1"].scale + KINDS["SO_case2"].scale == 1462
    assert sum(KINDS[name].scale for name in ("sQsA", "mQmA", "mQsA", "sQmA")) == 2310


def test_what_a_kind_is_made_of_comes_in_an_earlier_wave() -> None:
    waves = waves_of(KINDS)
    at = {kind.name: number for number, wave in enumerate(waves) for kind in wave}
    assert at.keys() == KINDS.keys()
    assert all(at[source] < at[name] for name, kind in KINDS.items() for source in kind.sources)


def test_a_kind_without_its_sources_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="'mSv' are made of the kinds sQsA; ask for one of them too"):
        waves_of(["perfect", "mSv"])


def test_one_of_several_sources_is_enough() -> None:
    assert [[kind.name for kind in wave] for wave in waves_of(["external", "perfect"])] == [["perfect"], ["external"]]


def test_an_unknown_kind_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="no kind of sample 'imaginary'; the kinds are perfect, imperfect"):
        kind_named("imaginary")


@given(st.sampled_from(sorted(KINDS)), st.lists(st.sampled_from(SHIFTS), max_size=3))
def test_shifts_and_external_information_take_every_kind(name: str, transforms: list[str]) -> None:
    for transform in transforms:
        source, name = name, name_of(name, transform)  # type: ignore[arg-type]
        made = kind_named(name)
        assert made.transform == transform
        assert source in made.sources


def test_a_kind_that_has_a_name_of_its_own_has_no_second_one() -> None:
    for second in ("sQsA_mSv", "perfect_external", "sQsA_IS"):
        with pytest.raises(ConfigurationError, match=f"no kind of sample '{second}'"):
            kind_named(second)
