"""How a model is told the shape of its answer: by the provider's JSON-schema mode, or in words."""

from collections.abc import Sequence
from typing import Any

import orjson

from llm.chat import ChatMessage

# Their servers take schemas for any model.
_TAKE_SCHEMAS = frozenset({"hosted_vllm", "lm_studio", "ollama_chat"})


def takes_schemas(name: str, structured: str, *, is_known_to: bool) -> bool:
    """Whether the model gets a schema as one; `is_known_to` is what the price map says of it."""
    if structured != "auto":
        return structured == "schema"
    return name.split("/", maxsplit=1)[0] in _TAKE_SCHEMAS or is_known_to


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema as OpenAI's chat format has it."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": False}}


def wire_messages(messages: Sequence[ChatMessage]) -> list[dict[str, str]]:
    """The messages as OpenAI's chat format has them."""
    return [{"role": message.role, "content": message.content} for message in messages]


def with_schema(messages: Sequence[ChatMessage], schema: dict[str, Any]) -> list[dict[str, str]]:
    """The messages with the schema told in the first one, for providers that take none."""
    wish = f"Reply with nothing but a JSON object that fits this JSON Schema:\n{orjson.dumps(schema).decode()}"
    said = wire_messages(messages)
    if said and said[0]["role"] == "system":
        return [{"role": "system", "content": f"{said[0]['content']}\n\n{wish}"}, *said[1:]]
    return [{"role": "system", "content": wish}, *said]
