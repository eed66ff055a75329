"""What the turns of a conversation are made of: tools with what is said for them, and the shapes to say it in."""

import re
from random import Random
from typing import Any, NamedTuple

from pydantic import JsonValue

from language.calls.actions import name_phrase
from language.calls.tools import ToolView, view_of
from language.names import is_chinese
from llm.template.conversing_phrases import CONVERSATION_BOOKS, ConversationBook
from llm.template.sections import Sections
from warehouse.errors import ReplyError
from warehouse.records import Language

_GREETING = re.compile(r"^(?:hi|hey|hello|你好)[,，!！]?\s*(?=\S)", re.IGNORECASE)
_CODED = re.compile(r"\{(\w+)\}")


class Part(NamedTuple):
    """A tool and what is said for it."""

    view: ToolView
    arguments: dict[str, JsonValue]


class Talk(NamedTuple):
    """What a turn is made of."""

    parts: list[Part]
    sections: Sections
    language: Language
    rng: Random

    @property
    def book(self) -> ConversationBook:
        """The shapes of the language."""
        return CONVERSATION_BOOKS[self.language]

    def pick(self, shapes: tuple[str, ...], **words: str) -> str:
        """One of the shapes, filled in; `{C}` is `{c}` with a capital."""
        shape = self.rng.choice(shapes)
        if "c" in words:
            words["C"] = words["c"][:1].upper() + words["c"][1:]
        return _CODED.sub(lambda match: words[match[1]], shape)


def listed(sections: Sections, tag: str) -> list[Any]:
    """The JSON list in a section; ReplyError where it holds no list."""
    found = sections.json(tag)
    if not isinstance(found, list):
        raise ReplyError(f"template/v1 expects a JSON list in the section <{tag}>.")
    return found


def part_of(given: Any) -> Part:  # noqa: ANN401 - a member of a prompt's JSON
    """A part as a prompt shows it; ReplyError where it is none."""
    if not isinstance(given, dict) or not isinstance(given.get("arguments"), dict):
        raise ReplyError("template/v1 expects parts as JSON objects with a tool and its arguments.")
    return Part(view_of(given.get("tool")), given["arguments"])


def action_of(view: ToolView, language: Language) -> str:
    """What a tool does, as people say it."""
    if language == "en" and is_chinese(view.actions[0]):
        return name_phrase(view.name)
    return view.actions[0]


def lowered(text: str) -> str:
    """A sentence as it goes on behind a colon or comma; a name or "I" stays as it is."""
    text = _GREETING.sub("", text)
    second = text[1:2]
    return text[:1].lower() + text[1:] if second.islower() and not text.startswith("I'") else text
