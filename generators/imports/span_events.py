"""Read what a model was asked and answered from the events of its OpenTelemetry span.

Older conventions tell each message as an event of its own, named by its role
(`gen_ai.user.message`, `gen_ai.choice` for the answer). Instrumentations write an event's content
as its attributes, its body, one attribute of JSON text, or a list in an attribute of the span.
Strands' events have the parts of Bedrock's messages.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.imports.reading import Fields, objects, parsed, part, words

_MESSAGE = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
_CHOICE, _PROMPT, _COMPLETION = (
    "gen_ai.choice",
    "gen_ai.content.prompt",
    "gen_ai.content.completion",
)
_BODIES = ("body", "gen_ai.event.content", "event.body")
_WHOLE = {_PROMPT: ("user", "gen_ai.prompt"), _COMPLETION: ("assistant", "gen_ai.completion")}


class EventMessages(NamedTuple):
    """The messages that a model was asked with, and those that it answered with."""

    asked: tuple[JsonValue, ...] = ()
    answered: tuple[JsonValue, ...] = ()


def read_events(events: Iterable[Fields]) -> EventMessages:
    """Return the messages in a span's events, in their order; other events tell none.

    Without a choice the answer is what the assistant says last.
    """
    asked: list[JsonValue] = []
    answered: list[JsonValue] = []
    for event in events:
        name = words(event, "name", "event.name", "eventName", "event_name") or words(
            part(event, "attributes"), "event.name"
        )
        if name in _WHOLE:
            (answered if name == _COMPLETION else asked).extend(_whole(event, *_WHOLE[name]))
        elif name == _CHOICE:
            if words(_content(event), "index") in ("", "0"):  # other choices answer nobody
                answered.append(_choice(_content(event)))
        elif named := _MESSAGE.fullmatch(name):
            asked.append(_message(_content(event), named[1]))
    last = asked[-1] if asked else None
    if not answered and isinstance(last, dict) and last.get("role") == "assistant":
        answered.append(asked.pop())
    return EventMessages(tuple(asked), tuple(answered))


def _content(event: Fields) -> Fields:
    """Return an event's content, from its body, its attributes, or the event itself."""
    attributes = part(event, "attributes")
    body = part(event, *_BODIES) or part(attributes, *_BODIES)
    return {**(attributes or event), **body}


def _whole(event: Fields, role: str, named: str) -> Iterator[JsonValue]:
    """Yield the messages of an event that has all of a prompt or a completion."""
    content = _content(event)
    value = parsed(content.get(named, content.get("content")))
    if isinstance(value, list) and all("role" in one for one in objects(value)):
        yield from (_with_parts(one) for one in objects(value))
    elif isinstance(value, dict) and "role" in value:
        yield _with_parts(value)
    elif value is not None:
        yield _with_parts({"role": role, "content": value})


def _choice(content: Fields) -> Fields:
    """Return the message of a choice, with how it ended."""
    value = parsed(content.get("message"))
    message = value if isinstance(value, dict) else {"content": value or content.get("content")}
    ended = words(content, "finish_reason")
    beside = {"tool_calls": content["tool_calls"]} if "tool_calls" in content else {}
    told = {**beside, **message, "role": "assistant"}
    return _with_parts({**told, "finish_reason": ended} if ended else told)


def _message(content: Fields, role: str) -> Fields:
    kept = ("content", "tool_calls", "function_call", "id", "tool_call_id", "name")
    message: Fields = {name: content[name] for name in kept if content.get(name) is not None}
    return _with_parts({**message, "role": role})


def _with_parts(message: Fields) -> Fields:
    """Return a message whose content, where it has Bedrock's parts, has named ones."""
    content = parsed(message.get("content"))
    if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
        return message
    return {**message, "content": [_part(one) for one in objects(content)]}


def _part(stated: Fields) -> Fields:
    if "type" in stated:
        return stated
    if use := part(stated, "toolUse"):
        called = {"id": use.get("toolUseId"), "name": use.get("name"), "input": use.get("input")}
        return {"type": "tool_use", **called}
    if result := part(stated, "toolResult"):
        held = [one.get("json", one.get("text")) for one in objects(result.get("content"))]
        value = held[0] if len(held) == 1 else held
        return {"type": "tool_result", "tool_use_id": result.get("toolUseId"), "content": value}
    return {"type": "text", **stated} if "text" in stated else stated
