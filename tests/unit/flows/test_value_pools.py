"""Values that a model thinks up for parameters of which nothing tells the values."""

from pathlib import Path

import orjson
import pytest

from callwright.flows.planning.value_pools import collect_pools, with_pools
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import parse_recipe
from callwright.flows.settings import open_warehouse
from callwright.generators.own_values import OwnValues, missing_values
from callwright.generators.sentences.value_pools import ThoughtUpValues, think_up_values
from callwright.llm.chat import ChatRequest, RawReply
from callwright.llm.models import PROVIDERS, Provider
from callwright.testing import ScriptedModel
from callwright.warehouse.records import Tool
from tests.support.flows.small_builds import settings_of

ROLE = {"type": "string", "maxLength": 12, "examples": ["reader"]}
TOOL = {
    "name": "give_grant",
    "description": "Give a person a grant.",
    "category": "Home",
    "parameters": {
        "type": "object",
        "properties": {"grant": {"type": "string", "maxLength": 12}, "city": {"type": "string"}},
        "required": ["grant", "city"],
    },
}
VALUES = ["travel", "housing", "travel", "", "a grant for a very long research visit", "study"]


async def test_usable_values_of_a_reply_are_kept() -> None:
    parameters = {"type": "object", "properties": {"role": ROLE, "duty": ROLE}}
    tool = Tool(name="hire", description="Hire.", category="A", parameters=parameters)
    listed = ["writer", "reader", "editor", "writer", "a librarian by night", "lender"]
    reply = ThoughtUpValues(values={"role": [*listed], "duty": ["cook"]})
    chat = ScriptedModel({"think_up_values": [reply]})
    pools = await think_up_values(tool, ["role", "duty"], "en", chat)
    assert pools == {"role": ["writer", "editor", "lender"], "duty": ["cook"]}
    (prompt,) = chat.asked
    assert "role" in prompt.messages[-1].content


class Answering:
    """A model that answers everything with the same values."""

    def __init__(self) -> None:
        self.asked = 0

    async def send(self, _request: ChatRequest) -> RawReply:
        self.asked += 1
        return RawReply(orjson.dumps({"values": {"grant": VALUES}}).decode(), None, 10, 10, 0.5)

    async def close(self) -> None:
        """Nothing to give back."""


NOTE = {
    "description": "Leave a note at the desk.",
    "category": "Home",
    "parameters": {
        "type": "object",
        "properties": {"note": {"type": "string", "description": "What the note says."}},
        "required": ["note"],
    },
}


@pytest.mark.parametrize(("tools", "asked"), [(1, 1), (2, 2), (3, 0)])
async def test_free_texts_are_asked_for_unless_most_tools_go_unused(
    tmp_path: Path, tools: int, asked: int
) -> None:
    own = [{"name": f"leave_note_{number}", **NOTE} for number in range(tools)]
    stated = {"name": "notes", "tools": [{"own": own}], "samples": {"perfect": 1}}
    model = Answering()
    with PROVIDERS.including(Provider("answering", lambda _settings: model)):
        recipe = parse_recipe(stated | {"models": {"generator": "answering/x"}}, Path(), "notes")
        await collect_pools(recipe, settings_of(tmp_path), SilentProgress())
    assert model.asked == asked


async def test_a_tool_that_lacks_values_is_asked_about_once(tmp_path: Path) -> None:
    settings, model = settings_of(tmp_path), Answering()
    stated = {"name": "grants", "tools": [{"own": [TOOL]}], "samples": {"perfect": 1}}
    tool = Tool.model_validate(TOOL)
    with PROVIDERS.including(Provider("answering", lambda _settings: model)):
        recipe = parse_recipe(stated | {"models": {"generator": "answering/x"}}, Path(), "grants")
        assert [one.parameter for one in missing_values([tool])] == ["give_grant.grant"]
        for _ in range(2):
            await collect_pools(recipe, settings, SilentProgress())
        tool = tool.with_changes(source="own")
        found = with_pools(recipe, [tool], open_warehouse(settings))
    assert model.asked == 1
    assert found.own_values == {"give_grant.grant": ["travel", "housing", "study"]}
    assert not missing_values([tool], OwnValues(found.own_values))
    plain = parse_recipe(stated, Path(), "grants")
    assert with_pools(plain, [tool], open_warehouse(settings)) == plain
