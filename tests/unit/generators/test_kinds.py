"""The table of kinds, and the order in which they can be made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.kinds import all_kinds, brought_along, kind_named, name_of, waves_of
from callwright.warehouse.errors import ConfigurationError

SHIFTS = ("IS", "SO_case1", "SO_case2", "mSv", "external")


def test_the_paper_tells_of_1462_overridings_and_2310_dialogues() -> None:
    assert all_kinds()["SO_case1"].scale + all_kinds()["SO_case2"].scale == 1462
    assert sum(all_kinds()[name].scale for name in ("sQsA", "mQmA", "mQsA", "sQmA")) == 2310


def test_what_a_kind_is_made_of_comes_in_an_earlier_wave() -> None:
    waves = waves_of(all_kinds())
    at = {kind.name: number for number, wave in enumerate(waves) for kind in wave}
    assert at.keys() == all_kinds().keys()
    assert all(
        at[source] < at[name] for name, kind in all_kinds().items() for source in kind.sources
    )


def test_a_kind_brings_along_what_it_is_made_from_as_far_as_it_takes() -> None:
    assert brought_along({"perfect": 2, "mSv": 4, "mQmA": 6}) == {"sQsA": 6, "imperfect": 6}
    assert brought_along({"mQmA_external": 3, "imperfect": 1}) == {"mQmA": 3, "sQsA": 3}


def test_an_unknown_kind_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        ConfigurationError, match="no kind of sample 'imaginary'; the kinds are perfect, imperfect"
    ):
        kind_named("imaginary")


@given(st.sampled_from(sorted(all_kinds())), st.lists(st.sampled_from(SHIFTS), max_size=3))
def test_shifts_and_external_information_take_every_kind(name: str, transforms: list[str]) -> None:
    for transform in transforms:
        source, name = name, name_of(name, transform)  # type: ignore[arg-type]
        made = kind_named(name)
        assert made.transform == transform
        assert source in made.sources


def test_a_kind_made_of_another_has_the_traits_of_both() -> None:
    shifted = kind_named("conversation_SO_case1")
    assert (shifted.traits.asked, shifted.traits.shift, shifted.uses) == (
        "conversation",
        "same_turn",
        3,
    )
    assert shifted.traits.reviews == ("sample_review",)
    assert kind_named("perfect_IS").borrows
    assert kind_named("sQsA_external_mSv").traits.shift == "last"
    assert kind_named("multi_step").traits.reviews == (
        "sample_review",
        "correction",
        "disambiguation",
    )
