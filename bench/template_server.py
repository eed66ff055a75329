"""A chat server that answers what stages ask and prints its address.

Usage: `python -m bench.template_server [--port N] [--delay 0.05]`. template/v1 words each answer
once; a repeated request costs next to nothing, so a second run measures its client. GET …/asked
returns all request bodies, one per line.
"""

import argparse
import asyncio
from collections.abc import Coroutine
from typing import Any, ClassVar

import orjson

from bench.chat_server import Connection, http, serve
from bench.slot_answers import slot_answer
from callwright.llm.chat import ChatMessage, ChatRequest, RawReply
from callwright.llm.template.model import TemplateModel

_MODEL = "openai/bench"


class TemplateConnection(Connection):
    """One connection; all connections share the answers."""

    answers: ClassVar[dict[bytes, bytes]] = {}
    model: ClassVar[TemplateModel] = TemplateModel()

    def rendered(self, head: bytes) -> bytes:
        """Return the answer to a GET request: the counts, or everything that was asked."""
        return (
            b"\n".join(self.answers)
            if b"/asked" in head.split(b"\r\n", 1)[0]
            else super().rendered(head)
        )

    def well(self, body: bytes) -> bytes:
        """Return the template's answer."""
        known = self.answers.get(body)
        if known is None:
            known = self.answers[body] = _completion(self._reply(_request(body)))
        return known

    def _reply(self, request: ChatRequest) -> RawReply:
        worded = slot_answer(str((request.schema or {}).get("title")), request.messages)
        if worded is not None:
            return RawReply(orjson.dumps(worded).decode(), None, 100, 20)
        return _at_once(self.model.send(request))


def _request(body: bytes) -> ChatRequest:
    asked = orjson.loads(body)
    schema = (asked.get("response_format") or {}).get("json_schema", {}).get("schema")
    messages = tuple(ChatMessage(**message) for message in asked["messages"])
    return ChatRequest(_MODEL, messages, schema, (), (), 0)


def _at_once(coroutine: Coroutine[Any, Any, RawReply]) -> RawReply:
    """Return the result of a coroutine that awaits nothing."""
    try:
        coroutine.send(None)
    except StopIteration as ended:
        reply: RawReply = ended.value
        return reply
    raise AssertionError("the template model waits for nothing")


def _completion(reply: RawReply) -> bytes:
    message = {"role": "assistant", "content": reply.text}
    usage = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens}
    document = {
        "id": "chatcmpl-bench",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "bench",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": usage | {"total_tokens": sum(usage.values())},
    }
    return http(200, orjson.dumps(document))


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.05, help="seconds")
    chosen = parser.parse_args()
    asyncio.run(serve(chosen.port, chosen.delay, {}, TemplateConnection))


if __name__ == "__main__":
    main()
