"""Questions over a whole catalog: worded with every value, none that is unknown, and evidence
for each argument.
"""

import pytest

from callwright.generators.routing import ROUTING_EASY, ROUTING_HARD, ROUTING_MEDIUM
from callwright.generators.routing.tool_graph import UNKNOWN, unknown_arguments
from callwright.generators.routing.wording import RoutingWording, routing_problem, word_routing
from callwright.testing import ScriptedModel
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import RoutingPlan, StatedValue
from tests.support.generators.routing.asking import context_of, plans_of, questions

KINDS = (ROUTING_EASY, ROUTING_MEDIUM, ROUTING_HARD)


@pytest.mark.parametrize("kind", KINDS)
async def test_every_argument_has_evidence_in_the_request_or_in_what_is_returned(kind: str) -> None:
    for sample in await questions(kind):
        for call in sample.gold:
            assert [one.argument for one in call.evidence] == list(call.arguments)
            for one in call.evidence:
                if one.kind == "response":
                    assert call.arguments[one.argument] == UNKNOWN
                else:
                    assert sample.request[one.start : one.end] == one.quote != ""


async def test_what_a_lookup_finds_is_spoken_of_and_not_stated() -> None:
    for sample in await questions(ROUTING_HARD):
        unknown = [one for call in sample.gold for one in unknown_arguments(call)]
        assert unknown
        assert UNKNOWN not in sample.request


def hard_plan() -> RoutingPlan:
    return next(plan for plan in plans_of(ROUTING_HARD, count=20) if len(plan.calls) == 2)


def value_of(plan: RoutingPlan) -> str:
    return next(
        str(one.value)
        for call in plan.calls
        for one in call.arguments.values()
        if isinstance(one, StatedValue)
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda text, plan: "", "1 to 2500 are allowed"),
        (lambda text, plan: f"{text} 谢谢", "not in the language 'en'"),
        (lambda text, plan: text.replace(value_of(plan), "it"), "nothing in it says"),
        (lambda text, plan: f"{text} Use {plan.calls[0].tool}.", "it says a name as code has it"),
    ],
)
async def test_a_wording_that_breaks_a_rule_is_told_why(change, problem: str) -> None:  # type: ignore[no-untyped-def]
    plan, context = hard_plan(), context_of("Bank")
    [sample] = await word_routing(plan, context)
    tools = {tool.name: tool for tool in context.toolset(plan.candidates)}
    assert routing_problem(sample.request, plan, tools, {}) == ""
    assert problem in routing_problem(change(sample.request, plan), plan, tools, {})


async def test_a_wording_that_gives_an_unknown_value_away_is_asked_anew() -> None:
    plan, context = hard_plan(), context_of("Bank")
    [sample] = await word_routing(plan, context)
    [(name, _)] = unknown_arguments(sample.gold[-1]).items()
    pattern = context.toolset(plan.candidates)
    schema = next(tool.properties[name] for tool in pattern if tool.name == sample.gold[-1].tool)
    digits = schema["pattern"].count("[0-9]")
    given = schema["pattern"].removeprefix("^").split("[0-9]")[0] + "7" * digits
    away = f"{sample.request} Its number is {given}."
    chat = ScriptedModel(
        {"word_routing": [RoutingWording(request=away), RoutingWording(request=sample.request)]}
    )
    assert [one.request for one in await word_routing(plan, context_of("Bank", chat))] == [
        sample.request
    ]
    chat = ScriptedModel({"word_routing": [RoutingWording(request=away)] * 3})
    with pytest.raises(ReplyError, match=f"it gives {name!r} of .* away: '{given}'"):
        await word_routing(plan, context_of("Bank", chat))
