"""Reading a prompt: its tagged sections, its conversation, and whether two values mean the same.

A section is one line, `<tag>JSON</tag>`; JSON holds no line breaks, so nothing inside can end it
early. The conversation is the text from the first line `<conversation>` to the last line
`</conversation>`: whatever a user wrote in between, tags or not, is conversation. Worked
examples (`<example>`) belong to the instructions.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import orjson
from pydantic import JsonValue

from callwright.language.calls.tools import ToolView, view_of
from callwright.language.text import fold
from callwright.language.values import locate, read_value
from callwright.llm.chat import ChatMessage
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import JsonSchema


class Turn(NamedTuple):
    """A turn of a conversation: `speaker` is user, assistant, message, call or result."""

    speaker: str
    text: str

    def json(self) -> Any:  # noqa: ANN401 - a call or a result, of any shape
        """Return the content of a call or a result. Raise ReplyError if it is not JSON."""
        try:
            return orjson.loads(self.text)
        except orjson.JSONDecodeError as error:
            problem = f"template/v1 could not read a {self.speaker} as JSON: {error}."
            raise ReplyError(problem) from error


_TURN = re.compile(r"^(user|assistant|message|call|result)(?: \([^()\n]*\))?: ?", re.MULTILINE)
_INDENT = "\n  "  # further lines of one turn stand indented


def split_turns(conversation: str) -> list[Turn]:
    """Return the turns of a conversation; text before the first mark counts as the user's."""
    marks = list(_TURN.finditer(conversation))
    if not marks:
        return [Turn("user", conversation.strip())]
    turns = []
    opening = conversation[: marks[0].start()].strip()
    if opening:
        turns.append(Turn("user", opening))
    for at, mark in enumerate(marks):
        end = marks[at + 1].start() if at + 1 < len(marks) else len(conversation)
        turns.append(Turn(mark[1], conversation[mark.end() : end].replace(_INDENT, "\n").strip()))
    return turns


def is_equivalent(one: JsonValue, other: JsonValue, schema: JsonSchema) -> bool:
    """Whether two values mean the same, ignoring spelling, case, notation and list order."""
    if (one == other and isinstance(one, bool) == isinstance(other, bool)) or fold(
        str(one)
    ) == fold(str(other)):
        return True
    if isinstance(one, list) and isinstance(other, list):
        return _are_equivalent(one, other, schema.get("items") or {})
    if isinstance(one, dict) and isinstance(other, dict):
        members = schema.get("properties") or {}
        return one.keys() == other.keys() and all(
            is_equivalent(one[key], other[key], members.get(key) or {}) for key in one
        )
    if isinstance(one, bool | list | dict) or isinstance(other, bool | list | dict):
        return False
    read = read_value(str(one), schema), read_value(str(other), schema)
    if read[0] is not None and read[0] == read[1]:
        return True
    return (
        locate(one, schema, str(other)) is not None and locate(other, schema, str(one)) is not None
    )


def _are_equivalent(one: list[JsonValue], other: list[JsonValue], items: JsonSchema) -> bool:
    """Whether two lists hold equivalent values, in any order."""
    rest = list(other)
    for value in one:
        found = (candidate for candidate in rest if is_equivalent(value, candidate, items))
        match = next(found, None)
        if match is None:
            return False
        rest.remove(match)
    return not rest


_SECTION = re.compile(r"^<([a-z]+)>(.*)</\1>[ \t]*$", re.MULTILINE)
_EXAMPLE = "example"
_Held = TypeVar("_Held", list[Any], dict[str, Any], str)
_OPEN = "<conversation>\n"
_CLOSE = "\n</conversation>"


class Sections(NamedTuple):
    """What a prompt shows: tagged sections as text, and its conversation, None if it has none."""

    tagged: dict[str, str]
    conversation: str | None

    def json(self, tag: str) -> JsonValue:
        """Return the JSON value of a section. Raise ReplyError if it is missing or not JSON."""
        try:
            value: JsonValue = orjson.loads(self.tagged[tag])
        except KeyError as error:
            message = f"template/v1 needs a section <{tag}> on a line of its own in the prompt."
            raise ReplyError(message) from error
        except orjson.JSONDecodeError as error:
            problem = f"template/v1 could not read the section <{tag}> as JSON: {error}."
            raise ReplyError(problem) from error
        return value

    def listed(self, tag: str) -> list[Any]:
        """Return the JSON list in a section. Raise ReplyError if it holds none."""
        return self._held(tag, list, "JSON list")

    def object(self, tag: str) -> dict[str, Any]:
        """Return the JSON object in a section. Raise ReplyError if it holds none."""
        return self._held(tag, dict, "JSON object")

    def text(self, tag: str) -> str:
        """Return the text in a section. Raise ReplyError if it holds none."""
        return self._held(tag, str, "text")

    def _held(self, tag: str, kind: type[_Held], name: str) -> _Held:
        found = self.json(tag)
        if not isinstance(found, kind):
            raise ReplyError(f"template/v1 expects a {name} in the section <{tag}>.")
        return found

    def word(self, tag: str, default: str) -> str:
        """Return a section that is plain text, or `default` if the prompt lacks it."""
        return self.tagged.get(tag, default).strip()

    def views(self) -> list[ToolView]:
        """Return the tools of the section <tools>. Raise ReplyError if it is no list of tools."""
        return [view_of(tool) for tool in self.listed("tools")]

    def turns(self) -> list[Turn]:
        """Return the conversation turn by turn. Raise ReplyError if the prompt shows none."""
        if self.conversation is None:
            raise ReplyError("template/v1 needs a <conversation> in the prompt to answer this.")
        return split_turns(self.conversation)


def read_sections(messages: Sequence[ChatMessage]) -> Sections:
    """Return a prompt's sections, the first of equal tags, without what an assistant said."""
    tagged: dict[str, str] = {}
    conversation: str | None = None
    for message in messages:
        if message.role == "assistant":
            continue
        head, tail, content = message.content, "", message.content
        start = 0 if content.startswith(_OPEN) else content.find("\n" + _OPEN) + 1
        end = content.rfind(_CLOSE)
        if content.startswith(_OPEN, start) and end >= start:
            head, tail = content[:start], content[end + len(_CLOSE) :]
            if conversation is None:
                conversation = content[start + len(_OPEN) : end]
        for found in (*_SECTION.finditer(head), *_SECTION.finditer(tail)):
            if found[1] != _EXAMPLE:
                tagged.setdefault(found[1], found[2])
    return Sections(tagged, conversation)
