"""Conversations as prompts show them, and every value of a response with its path."""

from collections.abc import Iterable, Iterator
from random import Random
from typing import assert_never

import orjson
from pydantic import JsonValue

from callwright.language.calls.sampling import make_value
from callwright.language.schemas import choices_of
from callwright.llm.chat import ChatMessage
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.exports.writing import user_text
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    JsonSchema,
    Language,
    ReplyTurn,
    ResultTurn,
    Tool,
    Turn,
    UserTurn,
)
from callwright.warehouse.shown_tools import without_examples


def conversation_text(turns: Iterable[Turn]) -> str:
    """Return turns as lines `user: …`, `message (app): …`, `assistant: …`, and JSON for calls.

    Only executed calls and their results are included.
    """
    return "\n".join(line for turn in turns for line in _lines(turn))


def chat_messages(turns: Iterable[Turn]) -> Iterator[ChatMessage]:
    """Yield turns as the messages of a chat; what a user says in a row is one message.

    Only executed calls and their results are included.
    """
    spoken: list[str] = []
    for turn in turns:
        if isinstance(turn, UserTurn):
            spoken.append(user_text(turn))
        elif own := [*_messages(turn)]:
            yield from _said(spoken)
            yield from own
            spoken = []
    yield from _said(spoken)


def _said(spoken: Iterable[str]) -> Iterator[ChatMessage]:
    if text := "\n".join(spoken):
        yield ChatMessage(role="user", content=text)


def _messages(turn: CallTurn | ResultTurn | ReplyTurn) -> Iterator[ChatMessage]:
    match turn:
        case ReplyTurn(text=text):
            yield ChatMessage(role="assistant", content=text)
        case CallTurn(calls=calls, executed=True) if calls:
            made = tuple(Call(tool=one.tool, arguments=one.arguments) for one in calls)
            yield ChatMessage(role="assistant", content="", calls=made)
        case ResultTurn(results=results):
            for result in results:
                told = result if isinstance(result, str) else orjson.dumps(result).decode()
                yield ChatMessage(role="tool", content=told)


def user_texts(turns: Iterable[Turn]) -> list[str]:
    """Return the user's words and the messages pointed to, the sources of gold values, in order."""
    texts: list[str] = []
    for turn in turns:
        if isinstance(turn, UserTurn):
            texts.append(turn.text)
            if turn.external is not None:
                texts.append(turn.external.text)
    return texts


def shown_tools(tools: Iterable[Tool]) -> list[dict[str, JsonValue]]:
    """Return tools as models that read see them."""
    return [without_examples(tool).signature for tool in tools]


def shown_call(call: Call | GoldCall) -> dict[str, JsonValue]:
    """Return a call as models see it, without its evidence."""
    return {"tool": call.tool, "arguments": call.arguments}


def _lines(turn: Turn) -> Iterator[str]:
    match turn:
        case UserTurn(text=text, external=external):
            yield f"user: {_indented(text)}"
            if external is not None:
                yield f"message ({external.app}): {_indented(external.text)}"
        case ReplyTurn(text=text):
            yield f"assistant: {_indented(text)}"
        case CallTurn(calls=calls, executed=True):
            for call in calls:
                yield (
                    "call:"
                    f" {orjson.dumps({'tool': call.tool, 'arguments': call.arguments}).decode()}"
                )
        case CallTurn():
            return
        case ResultTurn(results=results):
            yield from (f"result: {orjson.dumps(result).decode()}" for result in results)
        case _:
            assert_never(turn)


def _indented(text: str) -> str:
    """Indent all lines of a turn but the first, so that no text can pretend to be another turn."""
    return "\n  ".join(text.splitlines())


def walk(value: JsonValue, path: str) -> Iterator[tuple[str, JsonValue]]:
    """Yield the value and all values inside it, each after its path: "result.hotels[2].price"."""
    yield path, value
    if isinstance(value, dict):
        for name, member in value.items():
            yield from walk(member, f"{path}.{name}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from walk(member, f"{path}[{index}]")


def others_of(
    named: tuple[str, JsonSchema],
    value: JsonValue,
    results: Iterable[JsonValue],
    language: Language,
    rng: Random,
) -> Iterator[JsonValue]:
    """Yield texts that could be mistaken for the text of a parameter, without the text itself.

    `named` is the parameter's name and schema. The texts are those that results hold under a name
    under which they hold the value, in random order, then one that is made up.
    """
    name, schema = named
    if choices_of(schema) or not isinstance(value, str):
        return
    texts = [
        (path.rpartition(".")[2], text)
        for result in results
        for path, text in walk(result, "")
        if isinstance(text, str)
    ]
    names = {place for place, text in texts if text == value}
    told = [*dict.fromkeys(text for place, text in texts if place in names)]
    yield from (text for text in rng.sample(told, len(told)) if text != value)
    try:
        made = make_value(name, schema, language, rng)
    except ReplyError:  # a schema of which no value can be made
        return
    if made != value:
        yield made
