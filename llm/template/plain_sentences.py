"""Requests for tools without sentences of their own: what the tool does, then named values.

"Could you create a task? Name: "Buy milk"; due date: May 3, 2027." These are plain, and the same
form reads them back.
"""

import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.tools import TitleTable, ToolView, name_words
from callwright.language.names import deed_of
from callwright.language.packs import COMMON_SCRIPT, of, script_of
from callwright.language.saying import say
from callwright.language.text import capitalised, outside_quotes
from callwright.llm.template.stating import Worded, opened, pointed_at, unopened
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Language

_TRIES = 8


def word_plainly(
    view: ToolView, arguments: Mapping[str, JsonValue], language: Language, rng: Random
) -> Worded:
    """Return a request that begins with what the tool does, and states exactly these arguments.

    Raises ReplyError if the tool has no such parameter.
    """
    if strange := sorted(set(arguments) - set(view.properties)):
        raise ReplyError(f"The tool {view.name!r} has no parameters {strange} to word.")
    pack, title = of(language), view.does(language)
    named = [one for one in view.parameters if one.name in arguments]
    for _ in range(_TRIES):
        sayings = [say(one, arguments[one.name], language, rng, plain=True) for one in named]
        sayings = [
            one._replace(shown=pack.answers[bool(one.value)]) if one.is_frame else one
            for one in sayings
        ]
        details = {
            one.parameter.name: f"{one.parameter.called(language)}{pack.colon}{one.shown}"
            for one in sayings
        }
        listed = capitalised(pack.semicolon.join(details.values()))
        request = head_of(view, title, language, rng) + (
            f"{pack.space}{listed}{pack.stop}" if listed else ""
        )
        if worded := pointed_at(request, sayings, details):
            return worded
    problem = f"template/v1 finds no words for a call of {view.name!r} with {dict(arguments)!r}."
    raise ReplyError(problem)


def head_of(view: ToolView, title: str, language: Language, rng: Random) -> str:
    """Return a title after an opener, or alone if it may not be an action ("Weather forecast.")."""
    if _is_deed(view, title):
        return opened(title, language, rng, closes=False)
    return _alone(title, language)


def _alone(title: str, language: Language) -> str:
    return f"{capitalised(title)}{of(language).stop}"


def _is_deed(view: ToolView, title: str) -> bool:
    """Whether a title names an action, judged by its first word."""
    first, _, rest = title.partition(" ")
    is_described = title != name_words(view.name)
    return script_of(title) != COMMON_SCRIPT or (
        bool(rest) and (is_described or deed_of(first.lower()) != "other")
    )


def read_plainly(view: ToolView, text: str, language: Language) -> dict[str, str] | None:
    """Return the words after each name in a plain request, None if it is no such request."""
    title, pack = view.does(language), of(language)
    places = [*_places(view.table, text, pack.colon)] if view.table else []
    head = text[: places[0].start].rstrip() if places else text
    ends = [one.start for one in places[1:]]
    asked = (head.removesuffix(pack.stop), *unopened(head, language))
    if title.lower() not in map(str.lower, asked):
        return None
    value_texts = (
        text[place.at : end] for place, end in zip(places, [*ends, len(text)], strict=False)
    )
    return {
        view.parameters[place.owner].name: (
            words.strip().removesuffix(pack.semicolon.strip()).removesuffix(pack.stop)
        )
        for place, words in zip(places, value_texts, strict=True)
    }


class _DetailPlace(NamedTuple):
    """Where a detail begins, which parameter it belongs to, and where its value begins."""

    start: int
    owner: int
    at: int


def _places(table: TitleTable, text: str, sign: str) -> Iterator[_DetailPlace]:
    """Yield where the details of a text begin: a name and its sign, outside quotation marks."""
    pattern = re.compile(rf"(?<!\w)(?:{table.pattern.pattern}){re.escape(sign)}", re.IGNORECASE)
    for found in outside_quotes(pattern, text):
        yield _DetailPlace(found.start(), table.owner(found[0].removesuffix(sign)), found.end())
