"""Traits of samples: written and read in one place, and part of the key as before."""

from callwright.warehouse.records import Sample, trait_tag, without_traits

TAGS = (
    "shift=3",
    "environment=town",
    "difficulty=hard",
    "complexity=follow_up",
    "wanted=2.0 2.1",
    "goal=4:book",
    "goal=x:no",
    'callnavi_id="a=b"',
    "lent",
    "shift=last",
)


def test_a_sample_tells_its_traits_as_types() -> None:
    sample = Sample(kind="IS", language="en", category="Dining", candidates=(), turns=(), tags=TAGS)
    assert (
        sample.facts.shifts,
        sample.facts.environment,
        sample.facts.difficulty,
        sample.facts.complexity,
    ) == ((3,), "town", "hard", "follow_up")
    assert sample.facts.wanted == ((2, 0), (2, 1))
    assert sample.stated_at("goal") == ((4, "book"),)
    assert sample.trait("callnavi_id") == '"a=b"'
    assert sample.trait("hammerbench_id") == ""


def test_a_trait_is_read_as_it_was_written_and_can_be_left_out() -> None:
    tags = (trait_tag("shift", 2), "lent", trait_tag("complexity", "follow_up"))
    assert tags == ("shift=2", "lent", "complexity=follow_up")
    assert without_traits(tags, "shift", "complexity") == ("lent",)
