"""A family that can't make its samples, or stand beside others, is refused with a sentence."""

from dataclasses import replace
from typing import Any

import pytest

from callwright.generators.families import Family, Kind, Traits, problem_of_family
from callwright.generators.kinds import FAMILIES, all_kinds, family_of, kind_named, traits_of
from callwright.generators.stages import Step, in_a_row
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Draft, RoutingPlan, Sample


async def make(_plan: RoutingPlan, _context: Any) -> list[Sample]:
    return []


STAGES = in_a_row("own", "RoutingPlan", Step("own_requests", "Make it.", "Sample", "", make))
OWN = Family(
    "own",
    (Kind("own", "a kind of one's own", "own", Traits()),),
    STAGES,
    drafts=RoutingPlan,
    plan=lambda _order: iter(()),
)


class Scenario(Draft):
    kind: str = "own"


def stage(**changes: Any) -> Family:
    return OWN._replace(stages=(replace(STAGES[0], **changes),))


def test_each_of_our_families_is_whole() -> None:
    families = FAMILIES.rows()
    assert len(families) == 12
    assert [
        problem_of_family(one, [other for other in families if other is not one])
        for one in families
    ] == [""] * 12


@pytest.mark.parametrize(
    ("family", "wrong"),
    [
        (OWN._replace(kinds=()), "it has no kinds"),
        (
            OWN._replace(stages=()),
            "'own' is made by the group 'own', of which the family has no stages",
        ),
        (OWN._replace(plan=None), "nothing plans its kind 'own': give the family a `plan`"),
        (stage(function=None), "its stage 'own_requests' has no function that is an `async def`"),
        (
            stage(function=lambda _plan, _context: []),
            "its stage 'own_requests' has no function that is an `async def`",
        ),
        (
            stage(reads="Goal"),
            "its stage 'own_requests' reads 'Goal', and what is planned is 'RoutingPlan'",
        ),
        (stage(yields="Goal"), "the last of the group 'own', and yields 'Goal', no 'Sample'"),
        (
            OWN._replace(kinds=(OWN.kinds[0]._replace(sources=("perfect",), transform="again"),)),
            "made of other samples by the transform 'again', of which `obstacles` says nothing",
        ),
        (
            OWN._replace(
                kinds=(OWN.kinds[0]._replace(sources=("perfect",), transform="again"),),
                obstacles={"again": lambda _sample: ""},
            ),
            "its obstacle to 'again' takes 1 arguments; give it a sample, its tools and, where",
        ),
        (
            OWN._replace(kinds=(OWN.kinds[0]._replace(name="perfect"),)),
            "there is a kind 'perfect' in the family 'single_turn'",
        ),
        (stage(name="values"), "there is a stage 'values' in the family 'single_turn'"),
        (
            stage(reads="Scenario")._replace(drafts=Scenario),
            "another class of drafts is named 'Scenario'",
        ),
    ],
)
def test_an_incomplete_family_is_refused_with_a_sentence(family: Family, wrong: str) -> None:
    assert wrong in problem_of_family(family, FAMILIES.rows())


@pytest.mark.parametrize(
    ("stated", "wrong"),
    [
        (
            {"is_task": True, "is_executed": True, "asked": "conversation"},
            "is_task says that a change of a world is wanted, which is asked as a 'path', and asked"
            " is 'conversation'",
        ),
        ({"is_whole": True, "is_idle": True}, "is_whole and is_idle exclude each other"),
        ({"is_ruled": True}, "is_ruled says that policies hold for a task"),
        ({"asked": "path"}, "asked is 'path', whose calls have results, and is_executed is False"),
        ({"has_acts": True}, "has_acts says that replies of a 'conversation' carry dialogue acts"),
    ],
)
def test_traits_that_no_sample_can_have_are_refused(stated: dict[str, Any], wrong: str) -> None:
    with pytest.raises(ConfigurationError, match=f"can't be those of one kind: {wrong}"):
        Traits(**stated)


def test_a_family_of_somebody_else_is_asked_as_ours_are() -> None:
    assert problem_of_family(OWN, FAMILIES.rows()) == ""
    with FAMILIES.including(OWN):
        assert kind_named("own").group == "own"
        assert traits_of("own") == Traits()
        assert family_of("own") is OWN
        assert kind_named("own_mSv").sources == ("own",)
        assert [*all_kinds()][-1] == "own"
    assert "own" not in all_kinds()
