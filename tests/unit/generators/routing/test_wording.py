"""Questions over a whole catalog: worded with every value, none that is unknown, and evidence
for each argument.
"""

import pytest

from callwright.generators.routing import ROUTING_EASY, ROUTING_HARD, ROUTING_MEDIUM
from callwright.generators.routing.tool_graph import UNKNOWN, unknown_arguments
from callwright.generators.routing.wording import word_routing
from callwright.generators.slots import SlottedRequest
from callwright.testing import ScriptedModel
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Picked, RoutingPlan
from tests.support.generators.multi_step.asking import ErringTemplateChat
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


async def test_what_an_earlier_call_finds_has_no_slot_and_is_only_named() -> None:
    plan = hard_plan()
    chat = ScriptedModel({"word_requests": [SlottedRequest(request="Nothing of it.")] * 3})
    with pytest.raises(ReplyError, match="has no usable wording"):
        await word_routing(plan, context_of("Bank", chat))
    shown = chat.asked[0].messages[-1].content
    picked = [name for name, one in plan.calls[1].arguments.items() if isinstance(one, Picked)]
    assert picked
    assert "found by 1" in shown
    assert not any(f"[{name}]" in shown for name in picked)


async def test_a_wording_that_invents_a_number_is_asked_anew() -> None:
    plan = hard_plan()
    [sample] = await word_routing(plan, context_of("Bank"))
    first = await slotted_request(plan)
    away = f"{first} Its number is AC-77777."
    chat = ScriptedModel(
        {"word_requests": [SlottedRequest(request=away), SlottedRequest(request=first)]}
    )
    assert [one.request for one in await word_routing(plan, context_of("Bank", chat))] == [
        sample.request
    ]
    assert "'77777', which is none of the details" in chat.asked[1].messages[-1].content


async def slotted_request(plan: RoutingPlan) -> str:
    """The template model's wording before the values are put in."""
    heard: list[str] = []

    class Hearing(ErringTemplateChat):
        async def ask(self, prompt, answer, *, sample_index=0):  # type: ignore[no-untyped-def]
            reply = await super().ask(prompt, answer, sample_index=sample_index)
            heard.append(reply.request)
            return reply

    await word_routing(plan, context_of("Bank", Hearing()))
    return heard[0]
