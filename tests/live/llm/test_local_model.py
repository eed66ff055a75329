"""A model file in this process."""

import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from callwright.llm.chat import ChatMessage, ChatRequest
from callwright.llm.local_model import LocalModel, read_chunks
from callwright.llm.models import open_adapter, read_model
from callwright.warehouse.errors import ConfigurationError, ReplyError, TransientError
from callwright.warehouse.records import Call, Tool

ROOT = Path(__file__).resolve().parents[3]
WITHOUT_EXTRA = """
import asyncio, sys
sys.modules["xllamacpp"] = None
from pathlib import Path
from callwright.llm.local_model import LocalModel
from callwright.warehouse.errors import ConfigurationError
async def main():
    try:
        await LocalModel(Path(sys.argv[1])).send(None)
    except ConfigurationError as error:
        print(error)
asyncio.run(main())
"""


class Weather(BaseModel):
    """What the small model is made to say, sense or not."""

    city: str = Field(max_length=40)
    sky: Literal["sunny", "rainy"]
    degrees: int = Field(ge=-40, le=50)


def _request(text="What is the weather in Lyon?", schema=None, tools=(), **options):
    messages = (
        ChatMessage(role="system", content="Be brief."),
        ChatMessage(role="user", content=text),
    )
    return ChatRequest(
        "local/x.gguf", messages, schema, tuple(tools), tuple(sorted(options.items())), 0
    )


@pytest.mark.local_model
async def test_a_schema_is_kept_however_small_the_model(gguf):
    model = open_adapter(read_model(f"local/{gguf}", {"timeout": 600}))  # a slow machine is no bug
    request = _request(schema=Weather.model_json_schema(), temperature=0.0, seed=1, max_tokens=200)

    reply = await model.send(request)
    await model.close()

    Weather.model_validate_json(reply.text, strict=True)
    assert reply.prompt_tokens > 10
    assert reply.completion_tokens > 5
    assert (reply.cost, reply.calls) == (0.0, None)


@pytest.mark.local_model
async def test_what_the_model_can_not_take_is_an_unusable_reply(gguf):
    model = LocalModel(gguf, context=512)

    with pytest.raises(ReplyError, match="exceeds the available context size"):
        await model.send(_request("word " * 2000, max_tokens=5))
    with pytest.raises(ReplyError, match="can't take the request"):
        await model.send(_request(schema={"$ref": "#/nothing"}, max_tokens=5))
    tool = Tool(name="weather.now", description="", parameters={}, category="weather")
    assert (await model.send(_request(tools=[tool], max_tokens=5))).completion_tokens <= 6
    await model.close()


@pytest.mark.local_model
async def test_a_generation_over_time_is_stopped(gguf):
    model = LocalModel(gguf, timeout=0.2)
    with pytest.raises(TransientError, match=r"did not finish within 0\.2 s"):
        await model.send(
            _request("Tell me a very long story.", max_tokens=4000, extra={"ignore_eos": True})
        )
    await model.close()


@pytest.mark.local_model
async def test_a_file_that_is_no_model_is_a_wrong_setting(gguf, tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(gguf.read_bytes()[:1000])
    model = LocalModel(broken)

    with pytest.raises(ConfigurationError, match=r"llama\.cpp can't load"):
        await model.send(_request())
    await model.close()


def test_a_missing_extra_is_named(tmp_path):
    path = tmp_path / "x.gguf"
    path.write_bytes(b"GGUF")
    child = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRA, str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "pip install 'callwright[local]'" in child.stdout


def test_chunks_make_a_reply_with_calls():
    def chunk(**delta):
        return {"choices": [{"index": 0, "delta": delta}]}

    def called(number, name, arguments):
        return chunk(
            tool_calls=[{"index": number, "function": {"name": name, "arguments": arguments}}]
        )

    chunks = [
        chunk(role="assistant", content=None),
        chunk(content="Let me "),
        chunk(content="see."),
        called(0, "trip_plan", ""),
        called(0, None, '{"city": '),
        called(1, "trip_plan", '{"city": "Metz"}'),
        called(0, None, '"Lyon"}'),
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 9}},
    ]
    reply = read_chunks(chunks, "x.gguf")

    assert reply.text == "Let me see."
    assert reply.calls == tuple(
        Call(tool="trip_plan", arguments={"city": city}) for city in ("Lyon", "Metz")
    )
    assert (reply.prompt_tokens, reply.completion_tokens) == (7, 9)
