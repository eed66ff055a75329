"""Messages, and phrases that point at them: the place in my sister's text; written, found again, and put in each other's place."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.language.calls.parameters import CLOCKED, CODED, cues_of, entity_of, meaning_by_words
from callwright.language.dates import find_dates, find_times
from callwright.language.names import split_name
from callwright.language.packs import LanguagePattern, known, language_of, of, signs, unspaced, widened
from callwright.language.schemas import kind_of
from callwright.language.text import Found, fold
from callwright.language.values import locate, write_value
from callwright.language.wording import is_cut
from callwright.llm.template.sections import Sections, Turn
from callwright.llm.template.stating import CAREFUL, in_quotes, requests_in
from callwright.warehouse.errors import ConfigurationError, ReplyError
from callwright.warehouse.records import JsonSchema, Language

CLOCK, CODE, NAME = "clock", "code", "name"
_POINTER_ATTEMPTS = 12
_MOST_WORDS = 2
_NO_ADJECTIVE = [""]
_CITY = LanguagePattern("@{taken_in_city}")
_ADDRESS = LanguagePattern("@{of_address}")
_TYPED = {"date": "date", "time": "time", "date-time": "moment"}
_CLASSES = {"date": CLOCK, "time": CLOCK, "moment": CLOCK, "plate": CODE, "id_number": CODE}
_SLOT = re.compile(r"@\{(\w+)\}")
_FILE = "messages"


class Pointer(NamedTuple):
    """A phrase that points at a message, and the noun in it."""

    start: int
    end: int
    noun: str


class Pointed(NamedTuple):
    """What is pointed at: the sort of noun, the app that the message is in, and what people call the parameter."""

    key: str
    app: str
    cue: str


class MessageBook(NamedTuple):
    """What a language has for messages and for phrases that point at them: its messages.yaml."""

    people: tuple[str, ...]
    nouns: Mapping[str, list[str]]
    adjectives: Mapping[str, list[str]]
    own_nouns: tuple[str, ...]  # a parameter called so lends its name
    channels: Mapping[str, str]  # an expression for what people call each app
    closings: tuple[str, ...]  # last lines that are no signature
    where: Mapping[str, list[str]]
    elsewhere: tuple[str, ...]
    phrase: str
    grammar: Mapping[str, str]
    sentences: Mapping[str, list[str]]
    before: Mapping[str, list[str]]
    diary: tuple[str, ...]  # what people write for themselves
    public: tuple[str, ...]  # and what for everybody
    after: tuple[str, ...]
    forms: Mapping[str, list[str]]


@cache
def book_of(language: Language) -> MessageBook:
    """The messages of a language; ConfigurationError where it has none."""
    pack = of(language)
    if _FILE not in pack.data:
        raise ConfigurationError(
            f"The language {language!r} has no messages to point at (language/{language}/{_FILE}.yaml)."
        )
    entries = pack.data[_FILE].items()
    read: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in entries}
    return MessageBook(**read)._replace(people=(*read["people"], *pack.data["values"]["first_names"]))


def _books() -> list[MessageBook]:
    return [book_of(code) for code in known() if _FILE in of(code).data]


def noun_key(entity: str, name: str, schema: JsonSchema) -> str:
    """What sort of noun goes with an entity: a time is a date, a time of day or a moment, a location may be a city."""
    if entity == "time":
        return _TYPED.get(kind_of(schema), "moment")
    if entity == "location":
        described = f"{' '.join(split_name(name))} {schema.get('description') or ''}".lower()
        if _CITY.of(described).search(described):
            return "city"
        return "address" if _ADDRESS.of(described).search(described) else "location"
    return entity


def noun_class(noun: str) -> str:
    """Whether a noun stands for a date or time, for a code, or for a name."""
    key = _keys().get(noun.lower(), noun)
    if key in _CLASSES:
        return _CLASSES[key]
    found_text = meaning_by_words(noun.lower(), noun)
    if found_text in CLOCKED:
        return CLOCK
    return CODE if found_text in CODED | {"code"} and found_text != "airport" else NAME


def word_pointer(pointed: Pointed, stated: str, avoid: Iterable[str], language: Language, rng: Random) -> str:
    """A phrase that points at a message of the app; nobody is named in it whom the texts to be avoided name.

    The noun that people call the parameter by is taken where the user has not just said it.
    """
    key, app, cue = pointed
    book = book_of(language)
    taken = [stated.lower(), *(one.lower() for one in avoid)]
    people = [
        one
        for one in book.people
        if not any(one.lower().split()[-1] in text or text in one.lower() for text in taken if text)
    ]
    fresh = [noun for noun in book.nouns[key] if noun not in stated.lower()]  # not "the city is the city"
    nouns = _own_nouns(cue, stated, book) or fresh or book.nouns[key]
    phrase = ""
    for _ in range(_POINTER_ATTEMPTS):
        person = rng.choice(people or list(book.people))
        noun, adjective = rng.choice(nouns), rng.choice(book.adjectives.get(key, _NO_ADJECTIVE))
        where = rng.choice(book.where.get(app, book.elsewhere)).replace("{n}", person)
        phrase = " ".join(book.phrase.format(adjective=adjective, noun=noun, where=where).split())
        if not any(text and text in phrase.lower() for text in taken[1:]):
            break
    return phrase


def find_pointer(text: str) -> Pointer | None:
    """The first phrase in a text that points at a message."""
    found = next(filter(None, (pattern.search(text) for pattern in _pointer_patterns())), None)
    return Pointer(found.start(), found.end(), found["noun"]) if found else None


def _own_nouns(cue: str, stated: str, book: MessageBook) -> list[str]:
    """What the parameter itself is called, where that is a plain noun that stands nowhere else in what is stated."""
    own = next((noun for noun in book.own_nouns if cue.lower().endswith(noun)), "")
    whole = cue if cue.isascii() else own
    is_free = own and len(cue.split()) <= _MOST_WORDS and whole.lower() not in stated.lower()
    return [whole] if is_free else []


@cache
def _keys() -> dict[str, str]:
    return {noun: key for book in _books() for key, nouns in book.nouns.items() for noun in nouns}


@cache
def _pointer_patterns() -> tuple[re.Pattern[str], ...]:
    """The grammar of each language as expressions, then what other people may say."""
    rules = [_grammar(book) for book in _books()]
    return tuple(re.compile(one[name]) for name in ("pointer", "general") for one in rules)


def _grammar(book: MessageBook) -> dict[str, str]:
    """The rules of a grammar as regular expressions, with the lists and the rules that they name filled in."""
    nouns = {noun for some in book.nouns.values() for noun in some} | set(book.own_nouns)
    filled = {"people": _alternatives(book.people), "nouns": _alternatives(nouns)}
    shapes = _longest_first({shape for app in (*book.where.values(), book.elsewhere) for shape in app})
    for name in ("person", "noun", "where", "pointer", "general"):
        rule = book.grammar.get(name, "")
        if name == "where":
            rule = "|".join(filled["person"].join(map(re.escape, shape.split("{n}"))) for shape in shapes)
        filled[name] = _SLOT.sub(lambda slot: filled[slot[1]], rule)
    return filled


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, _longest_first(words)))


def _longest_first(words: Iterable[str]) -> list[str]:
    return sorted(words, key=lambda one: (-len(one), one))


_ATTEMPTS = 8
_UNIQUE_TOKEN = re.compile(rf"(?<![\w-])(?=[\w-]*\d)[A-Za-z0-9{unspaced()}](?:[A-Za-z0-9]|[-_/.](?=\w))+(?![\w-])")
_QUOTED = re.compile(widened(r"@[\"“«{open}](@[^\"”»{close}\n]{1,80})@[\"”»{close}]"))
_STATED_IN = LanguagePattern(
    r"(?:@{stated_in}|@[:])\s*@[\"“{open}]?(@[^\"”{close}\n{.},!?;]{1,60}?)@[\"”{close}]?(?=\.(?:\s|$)|@[{.},!?;\n]|$)",
    re.RegexFlag(0),
)
_TO_ONESELF, _TO_ALL = frozenset({"notebook", "calendar"}), frozenset({"social_media", "photo_caption"})
_ADDRESSED = LanguagePattern("@{addressed}")
_MOMENT_NOUN = LanguagePattern("@{moment_noun}")
_NEAR = 12  # between a date and the time of day that goes with it
_WITHIN = widened(r"@[^\n{.!?}]")  # a sentence
_MARKS = signs(' "“”«»{open}{close}')


class RenderedMessage(NamedTuple):
    """A message, and the words in it that state the value."""

    text: str
    words: str


def write_message(
    pointed: Pointed, value: JsonValue, schema: JsonSchema, language: Language, rng: Random
) -> RenderedMessage:
    """A message of the app that says the value so that nobody can mistake it; the last one where all might be."""
    key, app, cue = pointed
    book = book_of(language)
    message = RenderedMessage("", "")
    for _ in range(_ATTEMPTS):
        words = str(value) if key in ("person", "company") else write_value(value, schema, language, rng)
        form = _fill_form(key, app, book, rng)
        text = form.replace("{c}", cue).replace("{v}", words)
        message = RenderedMessage(text if form[:1].islower() else text[:1].upper() + text[1:], words)
        found_text = find_message_value(message.text, key)
        if found_text and locate(value, schema, found_text) is not None:
            return message
    return message


def _fill_form(key: str, app: str, book: MessageBook, rng: Random) -> str:
    """A form of the app with everything but the value: addressed to somebody, to oneself, or to everybody."""
    sentences: Sequence[str] = book.sentences[key]
    before: Sequence[str] = book.before[key]
    if app in _TO_ONESELF or app in _TO_ALL:
        plain = tuple(sentence for sentence in sentences if not _ADDRESSED.of(sentence).search(sentence))
        sentences, before = plain or sentences, book.diary if app in _TO_ONESELF else book.public
    form = rng.choice(book.forms.get(app, book.forms["sms"]))
    filled = form.replace("{b}", rng.choice(before)).replace("{a}", rng.choice(book.after))
    return filled.replace("{s}", rng.choice(sentences))


def find_message_value(message: str, noun: str) -> str:
    """The words of a message that a phrase with this noun points at, "" where it has none or too many."""
    kind = noun_class(noun)
    if kind == CLOCK:
        return _find_moment(message, noun)
    sentence = next(filter(None, (one.search(message) for one in _patterns(language_of(message)))), None)
    if sentence and (words := sentence["v"].strip(_MARKS)):
        return words
    tokens = set(_UNIQUE_TOKEN.findall(message)) if kind == CODE else set()
    quoted, stated = set(_QUOTED.findall(message)), _STATED_IN.of(message).findall(message)
    if len(tokens) == 1 or len(quoted) == 1:
        return str((tokens if len(tokens) == 1 else quoted).pop())
    return stated[0].strip(_MARKS) if len(stated) == 1 else ""


def _find_moment(message: str, noun: str) -> str:
    """The date, the time of day, or both where they stand beside each other."""
    dates, times = find_dates(message), find_times(message)
    wanted = [*(dates if _wants(noun, times) else []), *(times if _wants(noun, dates) else [])]
    wanted = sorted(wanted or [*dates, *times], key=lambda found: found.start)
    if not wanted or any(later.start - earlier.end > _NEAR for earlier, later in pairwise(wanted)):
        return ""
    return message[wanted[0].start : max(found.end for found in wanted)]


def _wants(noun: str, others: list[Found]) -> bool:
    """Whether what is pointed at may be of this type: there is nothing else, or the noun does not exclude it."""
    return not others or noun == "moment" or _MOMENT_NOUN.everywhere.search(noun) is not None


@cache
def _patterns(language: Language) -> tuple[re.Pattern[str], ...]:
    """Every sentence of the grammar as an expression, the longest first."""
    if _FILE not in of(language).data:
        return ()
    patterns, is_spaced = [], bool(of(language).space)
    sentences = {sentence for kind in book_of(language).sentences.values() for sentence in kind}
    for sentence in sorted(sentences, key=len, reverse=True):
        before, _, after = sentence.partition("{v}")
        lead = re.escape(before).replace(re.escape("{c}"), r"[\w'’ ]{1,40}?")
        edge = r"(?<![\w])" if is_spaced or not before else widened("(?:^|(?<=@[{.!?,:}\n👍😊 ]))")
        stop = rf"{re.escape(after)}(?=\s|$)" if after.endswith(".") else re.escape(after)
        patterns.append(re.compile(f"{edge}{lead}(?P<v>{_WITHIN}{{1,120}}?){stop}"))
    return tuple(patterns)


# places stand bare behind these, as in "from the airport to Denver"; elsewhere quotation marks tell where a name ends
_PREPOSITION = LanguagePattern("(?:@{place_lead})$")


def resolve_pointers(turns: Sequence[Turn]) -> list[Turn]:
    """The turns with each message read into the user's turn before it; a message that nobody points at stays."""
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
    """What the user would have said without the message, "" where no phrase points at it or it tells nothing."""
    pointer = find_pointer(stated)
    found_text = find_message_value(message, pointer.noun) if pointer else ""
    if not pointer or not found_text:
        return ""
    is_all = not re.search(r"\w", stated[: pointer.start] + stated[pointer.end :])
    is_clear = is_all or (
        _PREPOSITION.of(stated).search(stated, 0, pointer.start) and not CAREFUL.of(found_text).search(found_text)
    )
    if noun_class(pointer.noun) == NAME and not is_clear:
        found_text = in_quotes(found_text, requests_in(language_of(found_text)))
    return stated[: pointer.start] + found_text + stated[pointer.end :]


_QUOTES = tuple(quotes for code in known() for quotes in requests_in(code).quotes)
_IN_TIME = frozenset({"date", "time", "date-time"})


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
    _, schema = _asked_parameter(sections)
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
    name, schema = _asked_parameter(sections)
    cue = cues_of(name, str(schema.get("description") or "")).among(language)
    point = of(language).rules.point
    return {"request": point(before, phrase, after, cue, is_typed=kind_of(schema) in _IN_TIME)}


def _pointed(sections: Sections, language: Language) -> Pointed:
    name, schema = _asked_parameter(sections)
    cues = cues_of(name, str(schema.get("description") or ""))
    key = noun_key(str(sections.object("entity").get("kind", "")), name, schema)
    return Pointed(key, str(sections.object("app").get("key", "")), cues.among(language))


def _asked_parameter(sections: Sections) -> tuple[str, JsonSchema]:
    parameter = sections.object("parameter")
    schema = parameter.get("schema")
    return str(parameter.get("name", "")), schema if isinstance(schema, dict) else {}


_MESSAGE_OF_APP = re.compile(r"^message \(([^()\n]*)\): ?", re.MULTILINE)
_MOST_SIGNING, _MOST_LETTERS = 4, 32  # of a signature
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
    is_short = len(last) <= _MOST_LETTERS and len(last.split()) <= _MOST_SIGNING
    book = book_of(language)
    ends = (form.rstrip().splitlines()[-1] for forms in book.forms.values() for form in forms)
    is_closing = fold(last) in {fold(one) for one in (*book.closings, *ends)}
    return last if is_short and not is_closing and not _SENTENCE.search(last) else ""
