"""External information by grammar: which arguments are entities, how to point at one, the message, the turn said anew."""

import re
from random import Random

from pydantic import JsonValue

from callwright.language.calls.parameters import cues_of, entity_of
from callwright.language.packs import known, of, widened
from callwright.language.schemas import kind_of
from callwright.language.text import fold
from callwright.language.wording import is_cut
from callwright.llm.template.messages import (
    Pointed,
    book_of,
    find_pointer,
    noun_key,
    word_pointer,
    write_message,
)
from callwright.llm.template.sections import Sections
from callwright.llm.template.stating import requests_in
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import JsonSchema, Language

_QUOTES = tuple(quotes for code in known() for quotes in requests_in(code).quotes)
_TYPED = frozenset({"date", "time", "date-time"})


def name_entities(sections: Sections) -> dict[str, JsonValue]:
    """Each of the arguments shown that is an entity, with its kind."""
    found: list[JsonValue] = []
    for one in sections.listed("arguments"):
        if isinstance(one, dict):
            schema = one.get("schema")
            entity = entity_of(str(one.get("parameter", "")), schema if isinstance(schema, dict) else {})
            found += [{"id": one.get("id"), "entity": entity}] if entity else []
    return {"entities": found}


def word_pronoun(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """A phrase that points at a message of the app shown."""
    avoid, stated = sections.json("avoid"), sections.json("said")
    texts = [str(one) for one in avoid if isinstance(one, str)] if isinstance(avoid, list) else []
    return {"phrase": word_pointer(_pointed(sections, language), str(stated), texts, language, rng)}


def simulate_message(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """A message of the app shown that says the value."""
    _, schema = _parameter(sections)
    message = write_message(_pointed(sections, language), sections.json("value"), schema, language, rng)
    return {"message": message.text, "words": message.words}


def reword_request(sections: Sections, language: Language) -> dict[str, JsonValue]:
    """The turn with the phrase in the place of the words that said the value."""
    stated, words, phrase = (str(sections.json(tag)) for tag in ("said", "words", "phrase"))
    starts = [match.start() for match in re.finditer(re.escape(words), stated)]
    start = next((at for at in starts if not is_cut(stated, at, at + len(words))), -1)  # not the noon of "afternoon"
    if start < 0:
        raise ReplyError(f"template/v1 does not find the words {words!r} in {stated!r}.")
    before, after = stated[:start], stated[start + len(words) :]
    for left, right in _QUOTES:
        if before.endswith(left) and after.startswith(right):
            before, after = before[: -len(left)], after[len(right) :]
            break
    name, schema = _parameter(sections)
    cue = cues_of(name, str(schema.get("description") or "")).among(language)
    point = of(language).rules.point
    return {"request": point(before, phrase, after, cue, is_typed=kind_of(schema) in _TYPED)}


def _pointed(sections: Sections, language: Language) -> Pointed:
    name, schema = _parameter(sections)
    cues = cues_of(name, str(schema.get("description") or ""))
    key = noun_key(str(sections.object("entity").get("kind", "")), name, schema)
    return Pointed(key, str(sections.object("app").get("key", "")), cues.among(language))


def _parameter(sections: Sections) -> tuple[str, JsonSchema]:
    parameter = sections.object("parameter")
    schema = parameter.get("schema")
    return str(parameter.get("name", "")), schema if isinstance(schema, dict) else {}


_MESSAGE_OF_APP = re.compile(r"^message \(([^()\n]*)\): ?", re.MULTILINE)
_MOST_WORDS, _MOST_LETTERS = 4, 32  # of a signature
_SENTENCE = re.compile(widened(r"@[.!?,:;]|\d|#|[^\w\s'’.-]$"))


def judge_message(sections: Sections, language: Language) -> dict[str, JsonValue]:
    """Whether the message can be the one that the user points to, by app and signature; what words can't tell does not fit."""
    turns, app = sections.turns(), _MESSAGE_OF_APP.search(sections.conversation or "")
    stated = " ".join(turn.text for turn in turns if turn.speaker == "user")
    message = " ".join(turn.text for turn in turns if turn.speaker == "message")
    data = of(language).data
    has_words = "messages" in data and "external" in data
    reason = _clash(stated, app[1] if app else "", message, language) if has_words else ""
    return {"reason": reason or "Nothing speaks against it.", "fits": not reason}


def _clash(stated: str, app: str, message: str, language: Language) -> str:
    """What speaks against a message of an app being the one that a turn points to, "" where nothing does."""
    pointer, channels = find_pointer(stated), book_of(language).channels
    pointed = stated[pointer.start : pointer.end] if pointer else stated
    named = {key for key, pattern in channels.items() if re.search(pattern, pointed, re.IGNORECASE)}
    called = of(language).data["external"]["apps"].items()
    key = next((key for key, name in called if fold(app) in (fold(key), fold(name))), "")
    if key and named and key not in named:
        return f"The words speak of {', '.join(sorted(named))}, and the message came by {app}."
    signature = signature_of(message, language)
    if signature and fold(signature.split()[-1]) not in fold(stated):
        return f"The message is signed {signature!r}, of whom the user says nothing."
    return ""


def signature_of(message: str, language: Language) -> str:
    """Who signed a message: the words of a short last line that is no sentence and no closing; "" where nobody did."""
    lines = [line.strip() for line in message.strip().splitlines()]
    last = lines[-1].lstrip("—–- ") if len(lines) > 1 else ""
    is_short = len(last) <= _MOST_LETTERS and len(last.split()) <= _MOST_WORDS
    book = book_of(language)
    ends = (form.rstrip().splitlines()[-1] for forms in book.forms.values() for form in forms)
    is_closing = fold(last) in {fold(one) for one in (*book.closings, *ends)}
    return last if is_short and not is_closing and not _SENTENCE.search(last) else ""
