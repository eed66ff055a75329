"""A model's stand-in for dry runs: template/v1 answers, and the model's own usage is counted."""

from typing import Any

import orjson

from callwright.llm.asking import LedgeredChat
from callwright.llm.chat import ChatRequest, RawReply
from callwright.llm.models import ModelSettings, open_chat
from callwright.llm.prices import Price, TokenEstimates, find_price
from callwright.llm.template.model import TemplateModel
from callwright.warehouse.errors import ReplyError

_DEEPEST = 20
_PLAIN: dict[str, Any] = {"string": "Plain.", "boolean": True, "null": None}


class StandIn:
    """An Adapter at the model's price that answers by template/v1, or else by the schema."""

    def __init__(self, settings: ModelSettings) -> None:
        """Stand in for the model that these settings name."""
        self._template = TemplateModel(seed=settings.seed or 0, sentences=settings.sentences)
        self._tokens = TokenEstimates(settings.name)
        self._price = price_of(settings)

    async def send(self, request: ChatRequest) -> RawReply:
        """Answer at once, with the tokens and cost of a model's answer of this length."""
        plain = filled(request.schema) if request.schema else {}
        try:
            reply = await self._template.send(request)
        except ReplyError:  # only models that read language are asked this
            reply = RawReply(orjson.dumps(plain).decode() if request.schema else "Plain.")
        if plain:  # nor does the template know all that they are asked besides
            reply = reply._replace(text=orjson.dumps(plain | orjson.loads(reply.text)).decode())
        took = await self._tokens.of(request, reply)
        cost = self._price.of(took.prompt, took.reply)
        return reply._replace(prompt_tokens=took.prompt, completion_tokens=took.reply, cost=cost)

    async def close(self) -> None:
        """Do nothing; there is nothing to close."""


def open_stand_in(settings: ModelSettings, **around: Any) -> LedgeredChat:  # noqa: ANN401 - the arguments of open_chat
    """Open a chat as open_chat does, with a stand-in for the model."""
    return open_chat(settings, stand_in=StandIn(settings), **around)


def price_of(settings: ModelSettings) -> Price:
    """Return the price of the model's tokens, which may be unknown."""
    return find_price(settings.name, own=settings.price, in_batches=settings.path == "batch")


def filled(schema: dict[str, Any], root: dict[str, Any] | None = None, depth: int = 0) -> Any:  # noqa: ANN401 - any JSON
    """Return the simplest value for a pydantic JSON Schema: last choice, largest number."""
    root = root or schema
    if depth > _DEEPEST:
        return None
    if "$ref" in schema:
        return filled(root["$defs"][schema["$ref"].rpartition("/")[2]], root, depth + 1)
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], root, depth + 1)
    if "const" in schema or schema.get("enum"):
        return schema.get("const", (schema.get("enum") or [None])[-1])
    return _of_type(schema, root, depth)


def _of_type(schema: dict[str, Any], root: dict[str, Any], depth: int) -> Any:  # noqa: ANN401 - any JSON
    kind = schema.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {
            name: filled(part, root, depth + 1)
            for name, part in schema.get("properties", {}).items()
        }
    if kind == "array":
        return [filled(schema.get("items", {}), root, depth + 1)] * int(schema.get("minItems", 0))
    if kind in {"integer", "number"}:
        return schema.get("maximum", schema.get("minimum", 1))
    return _PLAIN.get(kind)
