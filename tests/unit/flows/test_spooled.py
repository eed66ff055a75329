"""Records that wait in a file."""

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.flows.planning.planner import Spooled
from callwright.generators.derivations import plan_derivations
from callwright.generators.kinds import kind_named
from callwright.warehouse.records import Call, Sample
from callwright.warehouse.rows import body_of
from tests.unit.generators.test_derivations import KEYS, SOURCES, TOOLS, sample


@given(tools=st.lists(st.text(min_size=1, max_size=5), max_size=6), at=st.integers(-7, 7))
def test_they_are_read_like_a_list(
    tmp_path_factory: pytest.TempPathFactory, tools: list[str], at: int
) -> None:
    calls = [Call(tool=tool, arguments={}) for tool in tools]
    with Spooled(Call, tmp_path_factory.getbasetemp()) as spooled:
        for call in calls:
            spooled.add(body_of(call))
        assert list(spooled) == calls
        assert spooled[at:] == calls[at:]
        assert [*reversed(spooled)] == calls[::-1]
        if -len(calls) <= at < len(calls):
            assert spooled[at] == calls[at]
        else:
            with pytest.raises(IndexError):
                spooled[at]


@pytest.mark.parametrize("name", ["sQsA", "mSv", "IS"])
def test_what_is_derived_of_them_is_what_is_derived_of_a_list(tmp_path: Path, name: str) -> None:
    others = [sample(100, gold=1), sample(101, gold=3, candidates=KEYS)]
    with Spooled(Sample, tmp_path) as sources, Spooled(Sample, tmp_path) as lent:
        for one in SOURCES:
            sources.add(body_of(one))
        for one in others:
            lent.add(body_of(one))
        kind, rest = kind_named(name), {"seed": 4, "obstacle": lambda *_: ""}
        spooled = list(plan_derivations(kind, sources, TOOLS, others=lent, **rest))
        assert spooled == list(plan_derivations(kind, SOURCES, TOOLS, others=others, **rest))
        assert len(spooled) >= len(SOURCES)


class Watched(Spooled[Sample]):
    read = 0

    def __getitem__(self, position):
        self.read += 1
        return super().__getitem__(position)


def test_sources_whose_keys_are_known_are_put_in_order_without_being_read(tmp_path: Path) -> None:
    kind, rest = kind_named("mSv"), {"seed": 4, "obstacle": lambda *_: ""}
    with Watched(Sample, tmp_path) as sources:
        for one in SOURCES:
            sources.add(body_of(one), one.key)
        assert list(sources.keys()) == [one.key for one in SOURCES]
        planned = plan_derivations(kind, sources, TOOLS, keys=sources.keys(), **rest)
        assert next(planned) == next(plan_derivations(kind, SOURCES, TOOLS, **rest))
        assert sources.read == 1


def test_little_of_a_source_stays_in_memory_while_derivations_are_planned(tmp_path: Path) -> None:
    with Spooled(Sample, tmp_path) as sources:
        for number in range(2_000):
            sources.add(body_of(sample(number, given=1 + number % 2)))
        kind, rest = kind_named("sQsA"), {"seed": 4, "obstacle": lambda *_: ""}
        next(plan_derivations(kind, sources, TOOLS, **rest))
        tracemalloc.start()
        try:
            assert sum(1 for _ in plan_derivations(kind, sources, TOOLS, **rest)) == 2_000
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak / 2_000 < 150  # a list of them has 5,000 bytes a sample
