"""One door to all the styles in which candidates reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, assert_never

from validators.replies.hammerbench import parse_hammerbench
from validators.replies.lenient import parse_lenient
from validators.replies.parsed import ParsedReply, ReplyCall
from validators.replies.toolace import parse_toolace

if TYPE_CHECKING:
    from llm.chat import Completion

Style = Literal["lenient", "default", "mistral", "xlam", "toolace"]


def parse_reply(text: str, style: Style) -> ParsedReply:
    """The calls of `text` as a model of this style writes them; `default` is HammerBench's own JSON style."""
    match style:
        case "lenient":
            return parse_lenient(text)
        case "default" | "mistral" | "xlam":
            return parse_hammerbench(text, style)
        case "toolace":
            return parse_toolace(text)
        case _:
            assert_never(style)


def parse_completion(completion: Completion, style: Style = "lenient") -> ParsedReply:
    """The calls of a reply: the native ones where the provider has any, else those in its text."""
    if completion.calls:
        return ParsedReply(tuple(ReplyCall(call.tool, call.arguments) for call in completion.calls))
    if completion.calls is not None and not completion.text.strip():
        return ParsedReply(())
    return parse_reply(completion.text, style)
