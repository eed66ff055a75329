"""Ask a model once per tool for values that people give for parameters that tell too little."""

from collections.abc import Sequence

from pydantic import BaseModel, JsonValue

from callwright.generators.tools import EMPTY, mended
from callwright.generators.whole_calls import made_problems
from callwright.llm.answer_schemas import arguments_schema, narrowed
from callwright.llm.chat import ChatModel
from callwright.llm.prompts import render
from callwright.warehouse.records import JsonSchema, Language, Tool

PROMPTS = "callwright.generators.sentences.prompts"
STAGE = "think_up_values"
_WANTED = 10


class ThoughtUpValues(BaseModel):
    """Lists of values by parameter."""

    values: dict[str, list[JsonValue]]


async def think_up_values(
    tool: Tool, names: Sequence[str], language: Language, chat: ChatModel
) -> dict[str, list[JsonValue]]:
    """Return several values for each of the parameters, as far as the reply has usable ones.

    A value is usable if its schema takes it; examples of the schema are left out, and so are
    parameters without a usable value. Raises ReplyError if the reply is unreadable.
    """
    schemas = arguments_schema(tool, names)["properties"]
    lists: JsonSchema = {
        name: {"type": "array", "items": schemas[name], "minItems": 1, "maxItems": _WANTED}
        for name in names
    }
    form = {"type": "object", "properties": lists, "required": [*names]}
    prompt = render(PROMPTS, STAGE, tool=tool, names=names, language=language, count=_WANTED)
    reply = await chat.ask(prompt, narrowed(ThoughtUpValues, {"values": form}))
    pools = {name: _usable(tool, name, reply.values.get(name, ())) for name in names}
    return {name: pool for name, pool in pools.items() if pool}


def _usable(tool: Tool, name: str, listed: Sequence[JsonValue]) -> list[JsonValue]:
    schema, usable = tool.properties[name], list[JsonValue]()
    shown = schema.get("examples") or ()
    for value in (mended(one, schema) for one in listed):
        is_new = value not in usable and value not in shown and value not in EMPTY
        if is_new and not made_problems(tool, {name: value}, partial=True):
            usable.append(value)
    return usable
