"""Messages, and sentences that refer to them: "Ben texted me the order number".

Both are written here, found again, and read together.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.language.calls.parameters import (
    CLOCKED,
    CODED,
    entity_of,
    meaning_by_words,
    title_of,
)
from callwright.language.calls.tools import view_of
from callwright.language.dates import find_dates, find_times
from callwright.language.packs import (
    LanguagePattern,
    known,
    language_of,
    of,
    signs,
    unspaced,
    widened,
)
from callwright.language.pages import as_sentence, filled, lines, shapes_in
from callwright.language.saying import CAREFUL, in_quotes
from callwright.language.sentences import Sentence
from callwright.language.text import QUOTED, capitalised, fold
from callwright.language.values import locate, write_value
from callwright.llm.template.sections import Sections, Turn
from callwright.llm.template.sentences import SENTENCE_END, read_sentence, word_request
from callwright.warehouse.errors import ConfigurationError, ReplyError
from callwright.warehouse.records import JsonSchema, Language

CLOCK, CODE, NAME = "clock", "code", "name"
_FILE = "messages"
_ATTEMPTS = 12
_TOLD = frozenset({"time", "id_number", "plate"})  # people tell a number, and speak of a place
_AS_IT_IS = frozenset({"person", "company"})
_NEVER = "product"  # nobody says that the product is in a message
_MOST_CHARACTERS = 60  # of what a parameter is called
_ENDS = signs(" .{.}")
_STOPS = tuple(signs(".?!{.?!}"))
_MARK = LanguagePattern(r"@[,.;:!?\n]")
_ARTICLE = LanguagePattern("^(?:@{with_article})")


class Pointer(NamedTuple):
    """Words that refer to a message, their noun, and whether they are a whole sentence."""

    start: int
    end: int
    noun: str
    is_sentence: bool


class MessageBook(NamedTuple):
    """A language's texts for messages and for sentences that refer to them: its messages.yaml."""

    people: tuple[str, ...]
    articles: Mapping[str, str]  # each with an expression for the nouns that it goes before
    told: Mapping[str, list[str]]  # by app: the lines with which people point at a number or a day
    mentioned: Mapping[str, list[str]]  # and at a name
    general: str  # an expression for how other people point
    channels: Mapping[str, str]  # an expression for what people call each app
    closings: tuple[str, ...]  # last lines that are no signature
    forms: Mapping[str, tuple[str, ...]]  # whole messages by app


@cache
def book_of(language: Language) -> MessageBook:
    """Return the messages of a language. Raise ConfigurationError if it has none."""
    pack = of(language)
    if _FILE not in pack.data:
        raise ConfigurationError(
            f"The language {language!r} has no messages to point at"
            f" (language/{language}/{_FILE}.yaml)."
        )
    read: dict[str, Any] = dict(pack.data[_FILE])
    read["people"] = (*read["people"], *pack.data["values"]["first_names"])
    return MessageBook(**read)


def _with_article(cue: str, book: MessageBook) -> str:
    return (
        next((article for article, rule in book.articles.items() if re.search(rule, cue)), "") + cue
    )


def noun_class(noun: str) -> str:
    """Whether a noun stands for a date or time, for a code, or for a name."""
    meant = meaning_by_words(noun.lower(), noun)
    if meant in CLOCKED:
        return CLOCK
    return CODE if meant in CODED | {"code"} and meant != "airport" else NAME


def find_pointer(text: str) -> Pointer | None:
    """Return the first sentence of a text that refers to a message, or else the first phrase.

    The phrases include those that other people use. None if there is neither.
    """
    language = language_of(text)
    for start, end in _sentences(text):
        said = text[start:end].rstrip(_ENDS)
        for sentence in _pointing_sentences(language):
            slots = sentence.read(said, lambda slot, words: _is_slot(slot, words, language))
            if slots is not None:
                noun = _ARTICLE.of(slots["called"]).sub("", slots["called"])
                return Pointer(start, end, noun, is_sentence=True)
    found = next(filter(None, (pattern.search(text) for pattern in _general_patterns())), None)
    return Pointer(found.start(), found.end(), found["noun"], is_sentence=False) if found else None


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of a text's sentences; a mark inside quotation marks does not end one."""
    bare = QUOTED.sub(lambda quoted: "x" * len(quoted[0]), text)
    cuts = [0, *(found.end() for found in SENTENCE_END.finditer(bare)), len(text)]
    yield from ((start, start + len(text[start:end].rstrip())) for start, end in pairwise(cuts))


@cache
def _pointing_sentences(language: Language) -> tuple[Sentence, ...]:
    """Return a language's sentences that refer to messages, those with most own words first."""
    every = (*lines(language, f"{_FILE}.told"), *lines(language, f"{_FILE}.mentioned"))
    return tuple(sorted(every, key=lambda one: -len(one.text)))


def _is_slot(slot: str, words: str, language: Language) -> bool:
    if slot == "person":
        return words.lower() in map(str.lower, book_of(language).people)
    return len(words) <= _MOST_CHARACTERS and _MARK.of(words).search(words) is None


@cache
def _general_patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(book_of(code).general) for code in known() if _FILE in of(code).data)


_UNIQUE_TOKEN = re.compile(
    rf"(?<![\w-])(?=[\w-]*\d)[A-Za-z0-9{unspaced()}](?:[A-Za-z0-9]|[-_/.](?=\w))+(?![\w-])"
)
_QUOTED = re.compile(widened(r"@[\"“«{open}](@[^\"”»{close}\n]{1,80})@[\"”»{close}]"))
_STATED_IN = LanguagePattern(
    r"(?:@{stated_in}|@[:])\s*@[\"“{open}]?(@[^\"”{close}\n{.},!?;]{1,60}?)@[\"”{close}]?(?=\.(?:\s|$)|@[{.},!?;\n]|$)",
    re.RegexFlag(0),
)
_NEAR = 12  # between a date and the time of day that goes with it
_MARKS = signs(' "“”«»{open}{close}')


def find_message_value(message: str, noun: str) -> str:
    """Return the words of a message that a phrase with this noun refers to.

    "" if it has none or too many.
    """
    found = (form.fullmatch(message.strip()) for form in _forms(language_of(message)))
    if form := next(filter(None, found), None):
        return form["value"]
    kind = noun_class(noun)
    if kind == CLOCK:
        return _find_moment(message)
    tokens = set(_UNIQUE_TOKEN.findall(message)) if kind == CODE else set()
    quoted, stated = set(_QUOTED.findall(message)), _STATED_IN.of(message).findall(message)
    if len(tokens) == 1 or len(quoted) == 1:
        return str((tokens if len(tokens) == 1 else quoted).pop())
    return stated[0].strip(_MARKS) if len(stated) == 1 else ""


@cache
def _forms(language: Language) -> tuple[re.Pattern[str], ...]:
    """Return patterns for the messages of a language, longest first."""
    if _FILE not in of(language).data:
        return ()
    forms = {re.escape(form) for some in book_of(language).forms.values() for form in some}
    titled = (
        re.sub(r"\\\{(?:called|title)\\\}", ".{1,60}?", form)
        for form in sorted(forms, key=len, reverse=True)
    )
    return tuple(re.compile(form.replace(r"\{value\}", "(?P<value>.+?)")) for form in titled)


def _find_moment(message: str) -> str:
    """Return the date, the time of day, or both if they are adjacent."""
    found = sorted([*find_dates(message), *find_times(message)], key=lambda one: one.start)
    if not found or any(later.start - earlier.end > _NEAR for earlier, later in pairwise(found)):
        return ""
    return message[found[0].start : max(one.end for one in found)]


# places stand bare behind these, as in "from the airport to Denver"; elsewhere quotation marks tell
# where a name ends
_PREPOSITION = LanguagePattern("(?:@{place_lead})$")


def resolve_pointers(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns with each message merged into the user's turn before it.

    A message that nothing refers to stays.
    """
    resolved: list[Turn] = []
    for turn in turns:
        if turn.speaker == "message" and resolved and resolved[-1].speaker == "user":
            text = resolve(resolved[-1].text, turn.text)
            if text:
                resolved[-1] = Turn("user", text)
                continue
        resolved.append(turn)
    return resolved


def resolve(stated: str, message: str) -> str:
    """Return what the user would have said without the message.

    "" if nothing refers to the message or it gives no value.
    """
    pointer = find_pointer(stated)
    words = find_message_value(message, pointer.noun) if pointer else ""
    if not pointer or not words:
        return ""
    before, after, pack = stated[: pointer.start], stated[pointer.end :], of(language_of(stated))
    if pointer.is_sentence:
        words = capitalised(f"{pointer.noun}{pack.colon}{in_quotes(words, pack.code)}{pack.stop}")
    elif noun_class(pointer.noun) == NAME:
        is_all = not re.search(r"\w", before + after)
        is_clear = _PREPOSITION.of(stated).search(before) and not CAREFUL.of(words).search(words)
        words = words if is_all or is_clear else in_quotes(words, pack.code)
    return f"{before}{words}{after}"


def name_entities(sections: Sections) -> dict[str, JsonValue]:
    """Return each argument shown that is an entity people can refer to, with its kind."""
    entities: list[JsonValue] = []
    for argument in sections.listed("arguments"):
        if isinstance(argument, dict):
            schema = argument.get("schema")
            name = str(argument.get("parameter", ""))
            entity = entity_of(name, schema if isinstance(schema, dict) else {})
            entities += (
                [{"id": argument.get("id"), "entity": entity}]
                if entity not in (None, _NEVER)
                else []
            )
    return {"entities": entities}


def word_pronoun(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """Word a clause that refers to a message of the app shown: "Ben texted me the order number".

    It names nobody whom the values to avoid name.
    """
    book, (name, schema), avoid = (
        book_of(language),
        _asked_parameter(sections),
        sections.json("avoid"),
    )
    taken = (
        [one.lower() for one in avoid if isinstance(one, str)] if isinstance(avoid, list) else []
    )
    people = [one for one in book.people if not any(_is_named(one.lower(), text) for text in taken)]
    page = "told" if sections.object("entity").get("kind") in _TOLD else "mentioned"
    ways = shapes_in(language, f"{_FILE}.{page}.{_app(sections)}") or shapes_in(
        language, f"{_FILE}.{page}.sms"
    )
    called = _with_article(title_of(name, schema, language), book)
    words = {"called": called, "person": rng.choice(people or list(book.people))}
    return {"phrase": filled(rng.choice(ways), words)}


def _is_named(person: str, text: str) -> bool:
    return person.rsplit(maxsplit=1)[-1] in text or text in person


def simulate_message(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """Return a message of the app shown that states the value so that it can be read back.

    If no attempt can be read back, return the last one.
    """
    book, slot = book_of(language), sections.word("detail", "").partition("]")[0]
    (name, schema), value = _asked_parameter(sections), sections.json("value")
    title = title_of(name, schema, language)
    is_plain = sections.object("entity").get("kind") in _AS_IT_IS
    text = words = ""
    for _ in range(_ATTEMPTS):
        words = str(value) if is_plain else write_value(value, schema, language, rng)
        form = rng.choice(book.forms.get(_app(sections)) or book.forms["sms"])
        text = as_sentence(
            form, {"called": _with_article(title, book), "title": title, "value": words}
        )
        if locate(value, schema, find_message_value(text, title)) is not None:
            break
    before, words, after = text.rpartition(words)
    return {"message": f"{before}{slot}: {words}]{after}"}


def reword_request(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """Return the request without the value, then the clause; an answer is only the clause.

    Raises ReplyError if the tool's sentences cannot read what the user says.
    """
    user_text, pack = str(sections.json("said")), of(language)
    pointing = f"{capitalised(str(sections.json('phrase')))}{pack.stop}"
    if sections.json("question") and not sections.json("kept"):
        return {"request": pointing}
    view, (name, _) = view_of(sections.json("tool")), _asked_parameter(sections)
    read = read_sentence(view, user_text, language)
    if read is None or read.rest or name not in read.arguments:
        raise ReplyError(f"template/v1 can't say {user_text!r} without its {name!r}.")
    kept = {one: value for one, value in read.arguments.items() if one != name}
    request = word_request(view, kept, language, rng).request
    ends = (request.removesuffix(one).rstrip() for one in shapes_in(language, "requests.closers"))
    question_part = next((one for one in ends if one != request and one.endswith(_STOPS)), request)
    # thanks stand behind all that is asked
    parts = (question_part, pointing, request[len(question_part) :].strip())
    return {"request": pack.space.join(filter(None, parts))}


def _app(sections: Sections) -> str:
    return str(sections.object("app").get("key", ""))


def _asked_parameter(sections: Sections) -> tuple[str, JsonSchema]:
    parameter = sections.object("parameter")
    schema = parameter.get("schema")
    return str(parameter.get("name", "")), schema if isinstance(schema, dict) else {}


_MESSAGE_OF_APP = re.compile(r"^message \(([^()\n]*)\): ?", re.MULTILINE)
_MOST_SIGNING, _MOST_LETTERS = 4, 32  # of a signature
_SENTENCE = re.compile(widened(r"@[.!?,:;]|\d|#|[^\w\s'’.-]$"))


def judge_message(sections: Sections, language: Language) -> dict[str, JsonValue]:
    """Return whether the user can mean the message, by app and signature.

    What words can't tell counts as fitting.
    """
    turns, app = sections.turns(), _MESSAGE_OF_APP.search(sections.conversation or "")
    user_words = " ".join(turn.text for turn in turns if turn.speaker == "user")
    message = " ".join(turn.text for turn in turns if turn.speaker == "message")
    data = of(language).data
    has_words = "messages" in data and "external" in data
    reason = _clash(user_words, app[1] if app else "", message, language) if has_words else ""
    return {"reason": reason or "Nothing speaks against it.", "fits": not reason}


def _clash(stated: str, app: str, message: str, language: Language) -> str:
    """Return why an app's message can't be the one that a turn refers to; "" if it can."""
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
    """Return a message's signature, a short last line that is no sentence or closing, or ""."""
    lines = [line.strip() for line in message.strip().splitlines()]
    last = lines[-1].lstrip("—–- ") if len(lines) > 1 else ""
    is_short = len(last) <= _MOST_LETTERS and len(last.split()) <= _MOST_SIGNING
    book = book_of(language)
    ends = (form.rstrip().splitlines()[-1] for forms in book.forms.values() for form in forms)
    is_closing = fold(last) in {fold(one) for one in (*book.closings, *ends)}
    return last if is_short and not is_closing and not _SENTENCE.search(last) else ""
