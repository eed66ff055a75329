"""Several calls in one message: each worded as a request of its own behind a lead, and read back lead by lead."""

import re
from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.language.calls.tools import ToolView, view_of
from callwright.language.packs import of
from callwright.llm.template.sections import Sections
from callwright.llm.template.wording import word_call
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Language

_PHRASES = "parallel"
_TRIES = 12


class _Leads(NamedTuple):
    """The phrases of a language: what stands before each request but the first, and what only begins or ends a message."""

    leads: tuple[str, ...]
    joint: str
    begins: tuple[str, ...]
    ends: tuple[str, ...]


def word_parallel(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The message for the calls in <calls> of the tools in <tools>, and the stretch of it that is about each."""
    calls, tools = sections.listed("calls"), sections.listed("tools")
    views = {str(tool["name"]): view_of(tool) for tool in tools if isinstance(tool, dict)}
    book, last = _leads_of(language), len(calls) - 1
    leads = ["", *rng.sample(book.leads, last)]
    parts = [
        lead + _worded(call, views, language, rng, is_first=at == 0, is_last=at == last)
        for at, (call, lead) in enumerate(zip(calls, leads, strict=True))
    ]
    return {"request": book.joint.join(parts), "parts": list(parts)}


def _worded(
    call: Any,  # noqa: ANN401 - as the prompt shows it
    views: Mapping[str, ToolView],
    language: Language,
    rng: Random,
    *,
    is_first: bool,
    is_last: bool,
) -> str:
    """A request for one call that neither greets in the middle of a message nor thanks before its end."""
    view = views.get(str(call["tool"]))
    if view is None:
        raise ReplyError(f"template/v1 finds no tool {call['tool']!r} in <tools>.")
    book, text = _leads_of(language), ""
    for _ in range(_TRIES):
        text = word_call(view, call["arguments"], language, rng).request
        if (is_first or not text.startswith(book.begins)) and (is_last or not text.endswith(book.ends)):
            break
    return text


def split_requests(text: str, language: Language) -> list[str]:
    """The requests of a message, without the leads between them; the message where the language has no leads."""
    if _PHRASES not in of(language).data:
        return [text]
    leads = "|".join(re.escape(lead.strip()) for lead in _leads_of(language).leads)
    return [stretch.strip() for stretch in re.split(leads, text) if stretch.strip()]


@cache
def _leads_of(language: Language) -> _Leads:
    phrases = of(language).data
    if _PHRASES not in phrases:
        raise ReplyError(f"template/v1 has no phrases for several requests in the language {language!r}.")
    read = phrases[_PHRASES]
    return _Leads(tuple(read["leads"]), read["joint"], tuple(read["begins"]), tuple(read["ends"]))
