"""Questions over a whole catalog, as people see and edit them."""

import pytest

from callwright.annotation.edit_rows import entered_turns
from callwright.annotation.sample_review import review_task
from callwright.generators.catalogs.own_catalogs import domain_tools
from callwright.generators.routing import ROUTING_HARD
from callwright.generators.routing.tool_graph import UNKNOWN
from callwright.warehouse.errors import RecordError
from tests.support.annotation.editing import as_sent
from tests.support.generators.routing.asking import questions

BANK = domain_tools(["Bank"])


async def test_a_task_says_what_returns_an_unknown_value_and_shows_the_due_tools_apart() -> None:
    [sample] = await questions(ROUTING_HARD, count=1)
    task = review_task(sample, BANK, [], reason="A spot check.")
    assert "whole catalog" in task.title
    assert "of what call 1 returns" in task.calls_shown
    assert all(call.tool in task.tools for call in sample.gold)
    assert len(task.tools) < len(task.other_tools)


async def test_calls_with_an_unknown_value_are_read_back_as_they_were_written() -> None:
    for sample in await questions(ROUTING_HARD, count=4):
        sent = as_sent(review_task(sample, BANK, [], reason="-").data()["rows"])
        assert entered_turns(sent, sample, BANK) == sample.turns
        wrong = {name: "???" if text == UNKNOWN else text for name, text in sent.items()}
        with pytest.raises(RecordError, match="does not match"):
            entered_turns(wrong, sample, BANK)
