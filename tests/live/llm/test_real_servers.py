"""llama.cpp's own OpenAI server, as the package xllamacpp brings it, with the smallest of models behind it."""

from typing import Literal

import pytest
from pydantic import BaseModel

from callwright.llm.answers import parse_answer
from callwright.llm.chat import ChatMessage, ChatRequest
from callwright.llm.models import open_adapter, read_model
from callwright.warehouse.errors import ReplyError


class Place(BaseModel):
    """What the small model is made to say, sense or not."""

    city: Literal["Lyon", "Oslo"]


@pytest.fixture(scope="module")
def server(gguf):
    """The server's address; it ends with the module."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(gguf)
    settings.n_ctx, settings.n_parallel = 512, 1
    settings.offline, settings.warmup, settings.verbosity = True, False, -1
    return xllamacpp.Server(settings)


@pytest.mark.local_model
@pytest.mark.parametrize("transport", ["lean", pytest.param("litellm", marks=pytest.mark.slow)])
async def test_a_real_server_holds_a_model_to_a_schema_and_tells_what_is_too_long(server, transport):
    base = f"{server.listening_address}/v1"
    model = open_adapter(read_model("openai/small", {"api_base": base, "transport": transport, "timeout": 600}))

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
