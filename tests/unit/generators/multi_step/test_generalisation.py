"""Ten samples of one template: other values, the same path, one path only."""

from datetime import date, timedelta
from random import Random

import pytest

from callwright.generators.multi_step.disambiguation import disambiguate
from callwright.generators.multi_step.generalisation import (
    choose_replacements,
    generalise,
    name_of,
    replace_stated,
)
from callwright.generators.multi_step.resolving import sources_in
from callwright.validators.checks.path import check_path
from callwright.warehouse.records import Goal, Sample, StatedValue
from tests.support.generators.multi_step.town import TOOLS, Town, goal, keys_of, request
from tests.unit.generators.multi_step.test_disambiguation import context, path_of


def ten(wish: Goal) -> Goal:
    return wish.with_changes(variants=10)


async def samples_of(wish: Goal, text: str = "") -> list[Sample]:
    (path,) = await disambiguate(await path_of(wish, text), context())
    return await generalise(path, context())


def values(sample: Sample, argument: str) -> list[object]:
    return [
        call.arguments[argument]
        for one in sample.snapshots()
        for call in one.calls
        if argument in call.arguments
    ]


async def test_a_template_becomes_as_many_as_its_goal_asks_for() -> None:
    samples = await samples_of(ten(goal()))
    assert len({sample.request for sample in samples}) == len(samples) == 10
    assert samples[0].request == request()
    assert {sample.facts.template for sample in samples} == {ten(goal()).key}


async def test_all_variants_are_proved() -> None:
    for sample in await samples_of(ten(goal(candidates=tuple(tool.key for tool in TOOLS)))):
        (verdict,) = await check_path(sample, context())
        assert (verdict.decision, verdict.reason) == (
            "proved",
            "No other path has 3 steps and 4 calls or fewer.",
        )
        assert not set(sample.candidates) & set(keys_of("locate_place", "hotel_card"))


async def test_values_change_in_the_request_and_in_the_calls_alike() -> None:
    samples = await samples_of(ten(goal()))
    for sample in samples:
        (city,) = values(sample, "query")
        assert str(city) in sample.request
    assert len({values(sample, "query")[0] for sample in samples}) > 1
    assert len({values(sample, "check_in")[0] for sample in samples}) > 4


async def test_fewer_come_out_where_there_are_no_more(caplog: pytest.LogCaptureFixture) -> None:
    wish = ten(goal())
    arguments = wish.calls[1].arguments
    still = StatedValue(value="2026-12-05", element="date", replaceable=False)
    calls = (
        wish.calls[0],
        wish.calls[1].with_changes(arguments={**arguments, "check_in": still}),
        *wish.calls[2:],
    )
    samples = await samples_of(wish.with_changes(calls=calls))
    assert 1 <= len(samples) <= 4
    assert "of 10 variants" in caplog.text


async def test_dates_keep_their_order_and_how_far_they_lie_apart() -> None:
    wish = goal()
    days = ("2026-12-05", "2026-12-09", "2026-12-09 10:30")
    arguments = {
        f"d{index}": StatedValue(value=day, element="date") for index, day in enumerate(days)
    }
    wish = wish.with_changes(calls=(wish.calls[0].with_changes(arguments=arguments),))
    for seed in range(5):
        new = choose_replacements(wish, Town(), {"find_place": TOOLS[0]}, frozenset(), Random(seed))
        first, second, third = (str(new[name_of(said)]) for said in arguments.values())
        assert date.fromisoformat(second) - date.fromisoformat(first) == timedelta(days=4)
        assert third == f"{second} 10:30"
        changed = replace_stated(wish, new)
        assert [said.value for _, said in sources_in(changed, StatedValue)] == [
            first,
            second,
            third,
        ]
