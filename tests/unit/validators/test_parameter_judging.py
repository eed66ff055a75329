"""A judge's word on the parameters of a call."""

from callwright.testing import ScriptedModel
from callwright.validators.judges import PARAMETERS, MadeUp, find_made_up, opinion_versions
from callwright.warehouse.records import Call, Tool, UserTurn

SAID = [UserTurn(text="A table at Luigi's for four.")]


async def test_a_judge_names_the_parameters_that_nothing_states(table: Tool) -> None:
    call = Call(
        tool="book_table", arguments={"restaurant": "Luigi's", "party_size": 4, "time": "19:30"}
    )
    chat = ScriptedModel(
        {"judge_parameters": [MadeUp(parameters=["date", "time"], reason="No time was said.")]}
    )
    assert await find_made_up(chat, SAID, call, table) == ["time"]
    asked = chat.asked[0].messages[1].content
    assert "Luigi's for four" in asked
    assert '"time":"19:30"' in asked
    assert opinion_versions(PARAMETERS)[0]
