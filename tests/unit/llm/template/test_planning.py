"""What template/v1 answers as a candidate that plans: all calls, their names, the last one,
those before it, in two notations.
"""

import orjson
import pytest
import yaml

from callwright.llm.chat import ChatRequest
from callwright.llm.prompts import render
from callwright.llm.template.model import TemplateModel

ID = {"type": "string", "pattern": "^C[0-9]+$", "description": "The customer's number"}
PHONE = {"type": "string", "description": "The phone number", "examples": ["555-245-1598"]}


def tool(
    name: str, about: str, returns: dict[str, object] | None = None, /, **properties: object
) -> dict[str, object]:
    schema = {"type": "object", "required": list(properties), "properties": properties}
    returned = {"returns": {"type": "object", "properties": returns}} if returns else {}
    return {"name": name, "description": about, "parameters": schema, **returned}


TOOLS = [
    tool("findCustomerByPhone", "Find a customer by phone.", {"customerNumber": ID}, phone=PHONE),
    tool(
        "openAccount",
        "Open an account.",
        {"accountNumber": {"type": "string"}},
        customerNumber=ID,
        accountType={"type": "string", "enum": ["savings", "checking"]},
    ),
    tool("closePool", "Close the pool.", reason={"type": "string", "enum": ["storm", "repair"]}),
]
NESTED = (
    "Can you open an account for the customer whose phone is 555-245-1598, using account type"
    " savings?"
)
PLAN = [
    {"name": "findCustomerByPhone", "arguments": {"phone": "555-245-1598"}},
    {"name": "openAccount", "arguments": {"customerNumber": "$$$", "accountType": "savings"}},
]


async def answer(
    template: str, request: str, notation: str = "json", setting: str = "plan", **more: object
) -> str:
    listing = yaml.safe_dump(TOOLS, sort_keys=False).rstrip()
    prompt = render(
        "callwright.validators.prompts",
        template,
        tools=TOOLS,
        listing=listing,
        format=notation,
        setting=setting,
        conversation=request if "\n" in request else f"user: {request}",
        **more,
    )
    return (
        await TemplateModel().send(
            ChatRequest("template/v1", prompt.messages, None, (), (), 0, prompt.marks)
        )
    ).text


def read(text: str, notation: str) -> object:
    return orjson.loads(text) if notation == "json" else yaml.safe_load(text)


@pytest.mark.parametrize("notation", ["json", "yaml"])
async def test_what_nobody_says_is_looked_up_first(notation: str) -> None:
    assert read(await answer("answer_with_calls", NESTED, notation), notation) == PLAN


@pytest.mark.parametrize("notation", ["json", "yaml"])
async def test_pieces_of_a_plan_are_answered_piece_by_piece(notation: str) -> None:
    names = read(await answer("name_needed_tools", NESTED, notation), notation)
    assert names == ["findCustomerByPhone", "openAccount"]
    assert read(await answer("call_last", NESTED, notation), notation) == PLAN[1:]
    assert (
        read(await answer("calls_before", NESTED, notation, calls=PLAN[1:]), notation) == PLAN[:1]
    )
    assert read(await answer("calls_before", NESTED, notation, calls=PLAN), notation) == []


async def test_several_wishes_are_several_calls_in_their_order() -> None:
    request = (
        "Close the pool; the reason is storm. Then open an account for customer number C12, account"
        " type checking."
    )
    assert orjson.loads(await answer("answer_with_calls", request)) == [
        {"name": "closePool", "arguments": {"reason": "storm"}},
        {"name": "openAccount", "arguments": {"customerNumber": "C12", "accountType": "checking"}},
    ]


async def test_what_no_tool_does_is_declined() -> None:
    assert (await answer("answer_with_calls", "Sing me a lullaby.")).startswith("Sorry")
    assert orjson.loads(await answer("name_needed_tools", "Sing me a lullaby.")) == []


async def test_in_a_conversation_a_call_is_made_once_and_then_told_of() -> None:
    asked = "user: Close the pool; the reason is storm."
    assert orjson.loads(
        await answer("answer_with_calls", f"{asked}\n", setting="conversation")
    ) == [{"name": "closePool", "arguments": {"reason": "storm"}}]
    made = 'call: {"tool":"closePool","arguments":{"reason":"storm"}}\nresult: {"closed":true}'
    spoken = orjson.loads(
        await answer("answer_with_calls", f"{asked}\n{made}", setting="conversation")
    )
    assert spoken["acts"] == ["inform"]
