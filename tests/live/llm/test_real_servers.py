"""llama.cpp's own OpenAI server, as the package xllamacpp brings it, with the smallest of models
behind it.
"""

from typing import Literal

import pytest
from pydantic import BaseModel

import callwright
from callwright.llm.answers import parse_answer
from callwright.llm.chat import ChatMessage, ChatRequest
from callwright.llm.models import open_adapter, read_model
from callwright.warehouse.errors import ReplyError


class Place(BaseModel):
    """What the small model is made to say, sense or not."""

    city: Literal["Lyon", "Oslo"]


def serve(gguf, context):
    """A server with so many tokens of context; it ends when nothing holds it."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(gguf)
    settings.n_ctx, settings.n_parallel = context, 1
    settings.offline, settings.warmup, settings.verbosity = True, False, -1
    return xllamacpp.Server(settings)


@pytest.fixture(scope="module")
def server(gguf):
    """A small one; it ends with the module."""
    return serve(gguf, 512)


@pytest.mark.local_model
@pytest.mark.parametrize("transport", ["lean", pytest.param("litellm", marks=pytest.mark.slow)])
async def test_a_real_server_holds_a_model_to_a_schema_and_tells_what_is_too_long(
    server, transport
):
    base = f"{server.listening_address}/v1"
    model = open_adapter(
        read_model("openai/small", {"api_base": base, "transport": transport, "timeout": 600})
    )

    def asked(text):
        options = (("api_base", base), ("max_tokens", 12), ("temperature", 0.0))
        messages = (ChatMessage(role="user", content=text),)
        return ChatRequest("openai/small", messages, Place.model_json_schema(), (), options, 0)

    reply = await model.send(asked("A city?"))
    with pytest.raises(ReplyError, match="longer than openai/small can read"):
        await model.send(asked("word " * 2000))
    await model.close()

    assert parse_answer(reply.text, Place).city
    assert (reply.prompt_tokens > 5, reply.completion_tokens > 2, reply.calls) == (True, True, None)


@pytest.mark.local_model
def test_a_build_of_six_by_a_real_server_ends_and_tells_why_each_sample_failed(gguf, tmp_path):
    server = serve(gguf, 4096)
    small = {
        "name": "local_openai/small",
        "api_base": f"{server.listening_address}/v1",
        "max_tokens": 60,
        "timeout": 600,
        "concurrency": 1,
    }
    models = dict.fromkeys(("generator", "checker", "judge"), small)
    recipe = callwright.make_recipe(
        "real", tools=[{"seed": ["Weather"]}], samples={"perfect": 6}, models=models
    )

    report = callwright.build(recipe, home=tmp_path)

    made = sum(row.made for row in report.composition)
    lost = sum(row.failed + row.rejected for row in report.funnel)
    assert report.asked == report.planned == 6
    assert made <= 6 <= made + lost, "what so small a model does not make is counted"
    assert report.landed == 0, "no model settles what its own words mean"
    assert all(failure.reason for failure in report.failures)
    assert report.spending is not None
    assert report.spending.calls >= 6
    assert report.spending.cost == 0
