"""Reading a prompt: its tagged sections, and the turns of the conversation in it.

A section is one line, `<tag>JSON</tag>`; JSON holds no line breaks, so nothing inside it can end it early. The
conversation is the text from the first line `<conversation>` to the last line `</conversation>`: whatever a user
wrote in between, tags or not, is conversation. Worked examples (`<example>`) belong to the instructions.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.llm.chat import ChatMessage
from callwright.llm.template.grammar.turns import Turn, split_turns
from callwright.warehouse.errors import ReplyError

_SECTION = re.compile(r"^<([a-z]+)>(.*)</\1>[ \t]*$", re.MULTILINE)
_EXAMPLE = "example"
_OPEN = "<conversation>\n"
_CLOSE = "\n</conversation>"


class Sections(NamedTuple):
    """What a prompt shows: its tagged sections as text, and its conversation (None where it shows none)."""

    tagged: dict[str, str]
    conversation: str | None

    def json(self, tag: str) -> JsonValue:
        """The JSON value of a section; ReplyError where the prompt lacks it or it is not JSON."""
        try:
            value: JsonValue = orjson.loads(self.tagged[tag])
        except KeyError as error:
            raise ReplyError(f"template/v1 needs a section <{tag}> on a line of its own in the prompt.") from error
        except orjson.JSONDecodeError as error:
            raise ReplyError(f"template/v1 could not read the section <{tag}> as JSON: {error}.") from error
        return value

    def word(self, tag: str, default: str) -> str:
        """A section that is plain text, `default` where the prompt lacks it."""
        return self.tagged.get(tag, default).strip()

    def turns(self) -> list[Turn]:
        """The conversation turn by turn; ReplyError where the prompt shows none."""
        if self.conversation is None:
            raise ReplyError("template/v1 needs a <conversation> in the prompt to answer this.")
        return split_turns(self.conversation)


def read_sections(messages: Sequence[ChatMessage]) -> Sections:
    """The sections of a prompt; what an assistant said in it is passed over, the first of two equal tags counts."""
    tagged: dict[str, str] = {}
    conversation: str | None = None
    for message in messages:
        if message.role == "assistant":
            continue
        head, parts, tail = _cut(message.content)
        if conversation is None:
            conversation = parts
        _collect((head, tail), tagged)
    return Sections(tagged, conversation)


def _cut(content: str) -> tuple[str, str | None, str]:
    start = 0 if content.startswith(_OPEN) else content.find("\n" + _OPEN) + 1
    if not content.startswith(_OPEN, start):
        return content, None, ""
    end = content.rfind(_CLOSE)
    if end < start:
        return content, None, ""
    return content[:start], content[start + len(_OPEN) : end], content[end + len(_CLOSE) :]


def _collect(texts: Iterable[str], tagged: dict[str, str]) -> None:
    for text in texts:
        for match in _SECTION.finditer(text):
            if match[1] != _EXAMPLE:
                tagged.setdefault(match[1], match[2])
