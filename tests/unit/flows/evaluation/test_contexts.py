"""Which tools a candidate sees at each snapshot."""

import pytest

from callwright.flows.evaluation.predictions import predict
from callwright.testing import ScriptedModel, context_of
from callwright.warehouse.records import CallTurn, GoldCall, ResultTurn, Sample, Tool, UserTurn
from tests.support.validators.conversations import RUN, conversation, intent_shift


async def shown(
    sample: Sample, tools: dict[str, Tool], tools_shown: str = "first"
) -> list[tuple[str, ...]]:
    """The names of the tools in each prompt."""
    snapshots = len(list(sample.snapshots()))
    chat = ScriptedModel({"answer_as_candidate": ["Sorry."] * snapshots})
    await predict(sample, context_of(tools, chat), run=RUN._replace(tools_shown=tools_shown))
    systems = [prompt.messages[0].content for prompt in chat.asked]
    return [
        tuple(name for name in ("book_table", "order_taxi") if f'"name":"{name}"' in text)
        for text in systems
    ]


async def test_all_candidates_are_shown_first_and_the_one_tool_after(
    table: Tool, taxi: Tool, tools
) -> None:
    both, one = ("book_table", "order_taxi"), ("book_table",)
    assert await shown(conversation([table, taxi]), tools) == [both, one, one]
    assert await shown(conversation([table, taxi]), tools, "always") == [both, both, both]


async def test_at_an_intent_shift_the_conversations_tool_is_shown(
    table: Tool, taxi: Tool, tools
) -> None:
    assert await shown(intent_shift([table, taxi]), tools) == [
        ("book_table", "order_taxi"),
        ("book_table",),
    ]


@pytest.mark.parametrize("executed", [True, False])
async def test_a_conversation_of_several_tools_or_of_executed_calls_keeps_all(
    table: Tool, taxi: Tool, tools, executed: bool
) -> None:
    calls = [GoldCall(tool="book_table"), GoldCall(tool="book_table" if executed else "order_taxi")]
    turns = [
        turn
        for call in calls
        for turn in (
            UserTurn(text="Go on."),
            CallTurn(calls=(call,), executed=executed),
            ResultTurn(results=({},)),
        )
    ]
    sample = conversation([table, taxi], turns=tuple(turns))
    assert await shown(sample, tools) == [("book_table", "order_taxi")] * 2
