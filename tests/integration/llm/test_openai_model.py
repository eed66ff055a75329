"""What only the lean way does: one session, its own reading of replies, and prices without
litellm.
"""

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from callwright.llm.answers import LONGEST, validate_text
from callwright.llm.chat import ChatMessage, ChatRequest
from callwright.llm.models import open_adapter, read_model
from callwright.llm.prices import read_price
from callwright.warehouse.errors import ConfigurationError, ReplyError, TransientError
from tests.support.llm.names import PLAIN, PLAIN_ONES, THINKING

pytestmark = pytest.mark.xdist_group("litellm")  # which takes seconds to load, once in the run


@pytest.fixture
async def open_lean(server):
    """A lean model of the test's server."""
    opened = []

    def open_one(name=PLAIN, **told):
        settings = read_model(name, {"api_base": server.url, "transport": "lean"} | told)
        opened.append(open_adapter(settings))
        return opened[-1], ChatRequest(
            name, (ChatMessage(role="user", content="Hi"),), None, (), settings.options, 0
        )

    yield open_one
    for adapter in opened:
        await adapter.close()


def saying(content, **usage):
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": content},
    }
    return {"choices": [choice], "usage": {"prompt_tokens": 100, "completion_tokens": 20, **usage}}


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ('<think>Well.\nHm.</think>\n{"a":1}', '\n{"a":1}'),
        ("<thinking>x</thinking>yes", "yes"),
        ("a <think>b</think>", "a <think>b</think>"),
        ("<think>never ends", "<think>never ends"),
        (None, ""),
    ],
)
async def test_thoughts_before_the_answer_are_left_out(open_lean, server, said, text):
    model, request = open_lean()
    server.script = [saying(said)]

    assert (await model.send(request)).text == text


@pytest.mark.parametrize(
    ("message", "thought"),
    [
        ({"content": "yes", "reasoning_content": "Well."}, "Well."),
        ({"content": "yes", "reasoning": "Well."}, "Well."),
        ({"content": "<think>Well.</think>yes"}, "Well."),
        ({"content": "Well.</think>yes"}, "Well."),
        ({"content": "yes", "reasoning_content": {"no": "text"}}, ""),
        ({"content": "yes"}, ""),
    ],
)
async def test_what_was_thought_is_kept_apart(open_lean, server, message, thought):
    model, request = open_lean()
    answer = saying("")
    answer["choices"][0]["message"] |= message
    server.script = [answer]

    reply = await model.send(request)

    assert (reply.text, reply.reasoning) == ("yes", thought)


async def test_a_body_without_end_is_not_read_to_its_end(open_lean, server):
    model, request = open_lean()
    server.script = [saying("x" * 20_000_000)]

    with pytest.raises(ReplyError, match="more than 16 MB") as raised:
        await model.send(request)

    assert raised.value.may_be_charged


async def test_of_a_reply_past_its_bound_so_much_is_kept_that_it_stays_past_it(open_lean, server):
    model, request = open_lean()
    server.script = [saying("x" * 5_000_000)]

    reply = await model.send(request)

    assert len(reply.text) == LONGEST + 1
    with pytest.raises(ReplyError, match="at most 400000 are read"):
        validate_text(reply.text)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ("none of your business", (0, 0)),
        ([1, 2], (0, 0)),
        ({"prompt_tokens": "100", "completion_tokens": 20.0}, (100, 20)),
        ({"prompt_tokens": -5, "completion_tokens": "many"}, (0, 0)),
        (
            {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": "cached"},
            (100, 20),
        ),
        ({"prompt_tokens": float(10**30), "completion_tokens": [20]}, (0, 0)),
    ],
)
async def test_a_usage_that_is_nonsense_costs_no_reply(open_lean, server, usage, tokens):
    model, request = open_lean()
    server.script = [{**saying("yes"), "usage": usage}]

    reply = await model.send(request)

    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("yes", *tokens)


@pytest.mark.parametrize("name", [7, ["f"]])
async def test_the_name_of_a_call_that_is_no_text_is_what_the_model_called(open_lean, server, name):
    model, request = open_lean()
    body = saying("")
    body["choices"][0]["message"]["tool_calls"] = [
        {"function": {"name": name, "arguments": {"a": 1}}}
    ]
    server.script = [body]

    assert [call.arguments for call in (await model.send(request)).calls] == [{"a": 1}]


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        ({"error": {"message": "Too many", "code": 429}}, TransientError, "Too many"),
        (
            {"error": {"message": "No such key", "code": "401"}},
            ConfigurationError,
            "refuses the key",
        ),
        ({"error": "out of memory"}, TransientError, "out of memory"),
        ({"choices": [{"message": None}]}, TransientError, "without a choice"),
        ({"choices": None}, TransientError, "without a choice"),
        ({}, TransientError, "without a choice"),
    ],
)
async def test_an_error_in_a_good_reply_is_an_error(open_lean, server, body, error, words):
    model, request = open_lean()
    server.script = [body]

    with pytest.raises(error, match=words):
        await model.send(request)


async def test_what_is_extra_goes_into_the_body_and_extra_headers_into_the_head(open_lean, server):
    extra = {
        "top_k": 3,
        "extra_body": {"chat_template_kwargs": {"x": 1}},
        "extra_headers": {"Authorization": "${MINE}"},
    }
    model, request = open_lean("hosted_vllm/org/model", extra=extra, header_values={"MINE": "Mine"})

    await model.send(request)

    [body] = server.bodies
    assert (body["model"], body["top_k"], body["chat_template_kwargs"]) == (
        "org/model",
        3,
        {"x": 1},
    )
    assert not {"extra_body", "extra_headers"} & set(body)
    assert server.keys == ["Mine"]


async def test_a_header_that_a_server_sends_back_is_seen_by_nobody(open_lean, server):
    told = {
        "extra": {"extra_headers": {"X-Key": "${MINE}"}},
        "header_values": {"MINE": "very-secret-words"},
    }
    model, request = open_lean(**told)
    server.script = [saying("You sent very-secret-words")]

    assert (await model.send(request)).text == "You sent ***"
    assert "very-secret" not in str(dict(request.options))


async def test_a_redirect_is_not_followed_and_gets_no_key(
    unused_tcp_port_factory, open_lean, server
):
    app = web.Application()
    app.router.add_post("/chat/completions", _redirect_to(server.url))
    runner = web.AppRunner(app)
    await runner.setup()
    port = unused_tcp_port_factory()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    model, request = open_lean(api_base=f"http://127.0.0.1:{port}", api_key="sk-secret")

    with pytest.raises(ConfigurationError, match="see its name and api_base"):
        await model.send(request)
    await runner.cleanup()

    assert server.bodies == []


async def test_a_servers_proxy_is_the_systems_and_this_machine_needs_none(
    open_lean, server, monkeypatch
):
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, server.url.removesuffix("/v1"))
    near, request = open_lean(api_base="http://127.0.0.1:9/v1")
    far, _ = open_lean(api_base="http://models.invalid/v1", timeout=5.0)

    with pytest.raises(TransientError, match="can't be reached"):
        await near.send(request)
    assert (await far.send(request)).text
    assert len(server.bodies) == 1, "the proxy"


def _redirect_to(address):
    async def answer(request):
        raise web.HTTPTemporaryRedirect(f"{address}/chat/completions")

    return answer


# Some models cost more beyond 200,000 tokens of a prompt, which none of ours comes near.
@given(
    st.sampled_from([*PLAIN_ONES, THINKING]),
    st.integers(0, 10**5),
    st.integers(0, 10**6),
    st.floats(0, 1),
)
def test_prices_are_litellms_own(name, prompt_tokens, completion_tokens, known_share):
    from callwright.llm.litellm_model import load_litellm

    cached = int(prompt_tokens * known_share)
    price = read_price(name)
    litellm = load_litellm()
    usage = litellm.Usage(
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        prompt_tokens_details={"cached_tokens": cached},
    )
    theirs = sum(litellm.cost_per_token(model=name, usage_object=usage))

    assert price.of(prompt_tokens, completion_tokens, cached) == pytest.approx(theirs)
    assert price.takes_schemas == litellm.supports_response_schema(name)


async def test_a_recipe_that_insists_on_schemas_gets_the_refusal(open_lean, server):
    model, request = open_lean(structured="schema")
    server.script = ["no schemas"]

    with pytest.raises(ReplyError, match="must be 'text'"):
        await model.send(request._replace(schema={"title": "Trip", "type": "object"}))
