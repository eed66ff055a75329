"""Both ways to a provider, litellm and the lean one, against a real server which behaves well
and badly.
"""

import pytest

from callwright.llm.chat import ChatMessage, ChatRequest
from callwright.llm.models import open_adapter, read_model
from callwright.warehouse.errors import (
    ConfigurationError,
    ReplyError,
    TransientError,
    UnavailableError,
)
from callwright.warehouse.records import Call, Tool
from callwright.warehouse.wire_names import wire_names
from tests.support.llm.names import IN, OUT, PLAIN

pytestmark = pytest.mark.xdist_group("litellm")  # which takes seconds to load, once in the run

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


@pytest.fixture(params=["litellm", "lean"])
async def ask(request, server):
    """Ask once, by one of the two ways."""
    opened = []

    async def send(*, name=PLAIN, patience=10.0, key="sk-secret", schema=None, tools=(), **options):
        told = {"api_base": server.url, **options}
        settings = {
            "api_key": key or None,
            "api_key_variable": "OPENAI_API_KEY",
            "timeout": patience,
        }
        model = read_model(name, told | settings | {"transport": request.param})
        opened.append(open_adapter(model))
        messages = (ChatMessage(role="user", content="Which city?"),)
        return await opened[-1].send(
            ChatRequest(name, messages, schema, tuple(tools), model.options, 0)
        )

    yield send
    for adapter in opened:
        await adapter.close()


async def test_a_good_answer_comes_with_its_tokens_and_its_price(ask, server):
    reply = await ask(temperature=0.0, max_tokens=50, seed=3, extra={"top_p": 0.5})

    assert reply.text == '{"city":"Lyon","days":2}'
    assert (reply.calls, reply.prompt_tokens, reply.completion_tokens) == (None, 100, 20)
    assert reply.cost == pytest.approx(100 * IN + 20 * OUT)
    sent = server.bodies[0]
    assert {name: sent[name] for name in ("temperature", "max_tokens", "seed", "top_p")} == {
        "temperature": 0.0,
        "max_tokens": 50,
        "seed": 3,
        "top_p": 0.5,
    }
    assert server.keys == ["Bearer sk-secret"]


@pytest.mark.parametrize(
    ("behaviour", "error", "words"),
    [
        ("busy", UnavailableError, "Rate limit reached"),
        ("ill", TransientError, "The server had an error"),
        ("away", UnavailableError, "Overloaded"),
        ("half", TransientError, "can't answer now"),
        ("page", TransientError, "Gateway"),
        ("cut", TransientError, "can't answer now"),
        ("slow", TransientError, "no answer within 0.3 s"),
        ({"choices": []}, TransientError, "without a choice"),
        ("poor", ConfigurationError, "has no money left"),
        ("wrong key", ConfigurationError, "set OPENAI_API_KEY to a valid one"),
        ("no such model", ConfigurationError, f"no model {PLAIN!r}"),
        ("bad request", ReplyError, "Invalid schema for function"),
        ("too long", ReplyError, f"longer than {PLAIN} can read"),
        ("too long here", ReplyError, f"longer than {PLAIN} can read"),
        ("filtered", ReplyError, "content filter"),
    ],
)
async def test_what_goes_wrong_there_is_the_right_error_here(ask, server, behaviour, error, words):
    server.script = [behaviour]

    with pytest.raises(error, match=words) as caught:
        await ask(patience=0.3 if behaviour == "slow" else 10.0)

    assert type(caught.value) is error
    lost = behaviour in ("half", "page", "cut", "slow", "filtered") or isinstance(behaviour, dict)
    assert getattr(caught.value, "may_be_charged", False) == lost
    assert len(server.bodies) == 1, "nobody but the gate may try again"
    assert "sk-secret" not in str(caught.value)


async def test_the_servers_wish_to_wait_is_kept(ask, server):
    server.script = ["busy", "away", "ill"]
    wishes = []
    for _ in range(3):
        with pytest.raises(TransientError) as caught:
            await ask()
        wishes.append(caught.value.retry_after)

    assert wishes == [7.0, 3.0, None]


async def test_a_schema_goes_out_natively_where_the_model_takes_one(ask, server):
    await ask(schema=SCHEMA)

    told = {"name": "answer", "schema": {**SCHEMA, "additionalProperties": False}, "strict": True}
    assert server.bodies[0]["response_format"] == {"type": "json_schema", "json_schema": told}
    assert len(server.bodies[0]["messages"]) == 1


@pytest.mark.parametrize(("name", "structured"), [("openai/mine", "auto"), (PLAIN, "prompt")])
async def test_a_schema_stands_in_the_prompt_too_where_nobody_knows_that_the_model_takes_one(
    ask, server, name, structured
):
    await ask(name=name, schema=SCHEMA, structured=structured)

    assert ("response_format" in server.bodies[0]) == (structured == "auto")
    assert '"required":["city"]' in server.bodies[0]["messages"][0]["content"]
    assert server.bodies[0]["messages"][1] == {"role": "user", "content": "Which city?"}


async def test_native_calls_come_back_under_the_tools_own_names(ask, server):
    tools = [
        Tool(name=name, description="", parameters={}, category="travel")
        for name in ("trip.plan", "trip plan")
    ]
    names = wire_names(tools)
    server.script = [_calling('{"city": "Lyon"}', names.tool("trip plan"))]

    reply = await ask(tools=tools)

    shown = [tool["function"]["name"] for tool in server.bodies[0]["tools"]]
    assert shown == [names.tool("trip.plan"), names.tool("trip plan")]
    assert reply.calls == (Call(tool=names.tool("trip plan"), arguments={"city": "Lyon"}),)


def _calling(arguments, name="trip_plan_2"):
    called = {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [called]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


CALLED = {
    "id": "c1",
    "type": "function",
    "function": {"name": "trip", "arguments": '{"city": "Lyon"}'},
}
ODD = (
    None,
    True,
    0,
    -1,
    2.5,
    10**25,
    "",
    "x",
    "9" * 5_000,
    "\x00",
    [],
    {},
    [None],
    [[]],
    ["x", 1],
    [{}],
    {"a": 1},
    [{"type": "image_url"}],
    [{"type": "text", "text": 7}],
    {"type": "text", "text": "x"},
    [{"function": "x"}],
    [{"function": {"name": ["x"], "arguments": 3}}],
    [{"function": None}],
    {"code": "9" * 5_000},
    {"code": [1], "message": {}},
)


def whole_reply():
    message = {
        "role": "assistant",
        "content": "Lyon",
        "tool_calls": [CALLED],
        "reasoning_content": "Well.",
        "refusal": None,
    }
    usage = {
        "prompt_tokens": 5,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 1},
    }
    choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": None}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
        "error": None,
    }


def places(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for name in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[name], (*path, name))


def with_value(reply, path, odd):
    if not path:
        return odd
    within = reply
    for name in path[:-1]:
        within = within[name]
    within[path[-1]] = odd
    return reply


# litellm has its own opinion of such replies, and warns of it.
_ODD_CONTENT = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")


@_ODD_CONTENT
@pytest.mark.parametrize(
    "path", [*places(whole_reply())][1:], ids=lambda path: ".".join(map(str, path))
)
async def test_whatever_stands_in_a_reply_it_is_an_answer_or_an_error_that_can_be_explained(
    ask, server, path
):
    for odd in ODD:
        server.script = [with_value(whole_reply(), path, odd)]
        try:
            reply = await ask()
        except (ReplyError, TransientError, ConfigurationError):
            continue
        assert isinstance(reply.text, str)
        assert all(isinstance(call, Call) for call in reply.calls or ())


@_ODD_CONTENT
@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "Ly"}, {"type": "text", "text": "on"}], "Lyon"),
        (
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                {"type": "text", "text": "Lyon"},
            ],
            "Lyon",
        ),
        (["Ly", "on"], "Lyon"),
        ([], ""),
    ],
)
async def test_parts_of_text_are_joined(ask, server, content, text, request):
    reply = whole_reply()
    reply["choices"][0]["message"] = {"role": "assistant", "content": content}
    server.script = [reply]

    if "litellm" in request.node.callspec.id:  # which reads no parts
        with pytest.raises(ReplyError, match="can't be used"):
            await ask()
    else:
        assert (await ask()).text == text


@_ODD_CONTENT
@pytest.mark.parametrize(
    "content", [7, {"a": 1}, [{"type": "image_url", "image_url": {"url": "x"}}], [1]]
)
async def test_a_content_that_is_no_text_is_a_reply_that_can_not_be_used(ask, server, content):
    reply = whole_reply()
    reply["choices"][0]["message"] = {"role": "assistant", "content": content}
    server.script = [reply]

    with pytest.raises(ReplyError, match=r"is no text|can't be used"):
        await ask()
