"""Wording a call as a request, with the words that state each value; read over until it can only mean that call."""

from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from language.calls.parsing import read_request
from language.calls.stating import Said
from language.calls.tools import ToolView
from language.names import is_chinese
from language.values import locate
from llm.template.composing import Composed, Piece, compose, first_that, tidy
from warehouse.errors import ReplyError
from warehouse.records import Language

_ATTEMPTS = 6
_BOLD_ATTEMPTS = 3


class Worded(NamedTuple):
    """A request and, by parameter, the words in it that state the value."""

    request: str
    mentions: dict[str, str]

    def reply(self) -> dict[str, JsonValue]:
        """The answer as the schema wants it."""
        mentions: list[JsonValue] = [
            {"parameter": parameter, "words": words} for parameter, words in self.mentions.items()
        ]
        return {"request": self.request, "mentions": mentions}


def word_call(view: ToolView, arguments: dict[str, JsonValue], language: Language, rng: Random) -> Worded:
    """A request that states exactly these arguments; ReplyError where the tool has no such parameter.

    The model reads what it wrote, as anybody would who is asked for words that can mean one thing only, and puts it
    more plainly where it reads something else.
    """
    unknown = sorted(set(arguments) - set(view.properties))
    if unknown:
        raise ReplyError(f"The tool {view.name!r} has no parameters {unknown} to word.")
    best: Worded | None = None
    for attempt in range(_ATTEMPTS):
        composed = compose(view, arguments, language, rng, plain=attempt >= _BOLD_ATTEMPTS)
        worded = quote_values(composed)
        if worded is None or is_chinese(composed.request) != (language == "zh"):
            continue
        best = worded
        if read_request(view, composed.request) == arguments:
            return worded
    if best is None:
        raise ReplyError(
            f"template/v1 finds no words in the language {language!r} for a call of {view.name!r} with {arguments!r}."
        )
    return best


def quote_values(composed: Composed) -> Worded | None:
    """The request with its mentions, None where a value can't be pointed at."""
    mentions: dict[str, str] = {}
    for piece in composed.pieces:
        for said in piece.said:
            words = _mention(said, piece, composed.request)
            if not words:
                return None
            mentions[said.parameter.name] = words
    return Worded(composed.request, mentions)


def _mention(said: Said, piece: Piece, request: str) -> str:
    """The words that state the value: the value's own, with those around them where they occur twice."""
    around = tidy(piece.text) if len(piece.said) == 1 else _around(said, piece)
    options = [said.words, said.shown, around]
    return first_that(options, lambda words: request.count(words) == 1 and _is_located(said, words)) or first_that(
        options, lambda words: words in request and _is_located(said, words)
    )


def _is_located(said: Said, words: str) -> bool:
    return locate(said.value, said.parameter.schema, words) is not None


def _around(said: Said, piece: Piece) -> str:
    """The stretch of a clause with several arguments from this one's cue to its value, or the other way round."""
    value = piece.text.find(said.shown)
    cue = piece.text.lower().find(said.cue.lower())
    while cue >= 0 and piece.text.lower().find(said.cue.lower(), cue + 1) in range(cue + 1, value):
        cue = piece.text.lower().find(said.cue.lower(), cue + 1)
    if value < 0 or cue < 0:
        return said.words
    return piece.text[min(value, cue) : max(value + len(said.shown), cue + len(said.cue))]
