"""How a server takes schemas is found out once a model, and kept."""

import pytest

from callwright.llm.chat import ChatMessage, ChatRequest
from callwright.llm.models import open_adapter, read_model
from tests.support.llm.names import PLAIN

pytestmark = pytest.mark.xdist_group("litellm")  # which takes seconds to load, once in the run

SCHEMA = {
    "title": "Trip",
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
ANYTHING = {"title": "Any", "type": "object", "properties": {"city": {}}}


@pytest.fixture
async def open_model(server, tmp_path):
    """A model of the test's server, by one way or the other; the ledger is the same."""
    opened = []

    def open_one(transport="lean", name=PLAIN, **told):
        settings = read_model(name, {"api_base": server.url, "transport": transport} | told)
        opened.append(open_adapter(settings, tmp_path / "ledger.sqlite"))
        request = ChatRequest(
            name, (ChatMessage(role="user", content="Hi"),), SCHEMA, (), settings.options, 0
        )
        return opened[-1], request

    yield open_one
    for adapter in opened:
        await adapter.close()


def form_of(body):
    shape = body.get("response_format", {})
    stated = shape.get("json_schema", {}).get("strict", shape.get("type", "words"))
    return {True: "strict", False: "schema", "json_object": "object"}.get(stated, stated)


def is_told(body):
    return "Trip" in str(body["messages"]) or "Any" in str(body["messages"])


@pytest.mark.parametrize("refusal", ["no schemas", "unknown format"])
@pytest.mark.parametrize("transport", ["lean", "litellm"])
async def test_a_server_that_takes_no_schemas_is_asked_down_to_words_and_never_again(
    open_model, server, transport, refusal
):
    model, request = open_model(transport)
    server.script = [refusal] * 3

    await model.send(request)
    await model.send(request)
    other, _ = open_model(transport)
    await other.send(request)

    assert [form_of(body) for body in server.bodies] == [
        "strict",
        "schema",
        "object",
        "words",
        "words",
        "words",
    ]
    assert [is_told(body) for body in server.bodies] == [False, False, True, True, True, True]


async def test_a_schema_that_a_server_refuses_costs_that_request_only(open_model, server):
    model, request = open_model()
    server.script = ["well", "bad schema"]

    for _ in range(3):
        await model.send(request)

    assert [form_of(body) for body in server.bodies] == ["strict", "strict", "schema", "strict"]


async def test_what_has_no_strict_form_is_stated_as_it_is(open_model, server):
    model, request = open_model()

    await model.send(request._replace(schema=ANYTHING))
    await model.send(request)

    assert [form_of(body) for body in server.bodies] == ["schema", "strict"]
    assert server.bodies[0]["response_format"]["json_schema"]["schema"] == ANYTHING


async def test_a_server_that_passes_over_schemas_is_told_them_in_words(open_model, server):
    model, request = open_model()
    server.script = [
        {"choices": [{"message": {"content": "A fine city!"}, "finish_reason": "stop"}]}
    ]

    await model.send(request)
    await model.send(request)

    assert [(form_of(body), is_told(body)) for body in server.bodies] == [
        ("strict", False),
        ("object", True),
    ]


async def test_a_model_that_nobody_knows_gets_the_words_besides(open_model, server):
    model, request = open_model(name="openai/mine")

    await model.send(request)

    assert [(form_of(body), is_told(body)) for body in server.bodies] == [("strict", True)]
