"""Requests in the sentences that people say to a tool, and tools recognised by these sentences.

The tools of the seed catalog bring their own; a recipe may bring some for its own tools, which
count within `own_sentences`.

A sentence without an end mark gets an opener ("Could you ...?"); any other is used unchanged.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from itertools import product
from random import Random
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PlainValidator
from yaml import YAMLError

from callwright.language.calls.parameters import CLOCKED
from callwright.language.calls.tools import ParameterView, ToolView, parameter_views, title_table
from callwright.language.packs import in_folders, own_letters, signs, widened
from callwright.language.pages import filled, shapes_in
from callwright.language.saying import StatedParameter, say
from callwright.language.schemas import fits, json_type
from callwright.language.sentences import Sentence
from callwright.language.text import QUOTED, capitalised, outside_quotes
from callwright.language.values import locate, read_value
from callwright.llm.template.plain_sentences import read_plainly, word_plainly
from callwright.llm.template.stating import Worded, opened, pointed_at, unopened
from callwright.llm.tool_sentences import SentenceFile
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.plain_words import read_with_words
from callwright.warehouse.records import JsonSchema, Language

# The packages in whose folders sentences lie beside the tools that they are for.
_SHIPPED = (
    "callwright.generators.catalogs.seed",
    "callwright.generators.environments",
    "callwright.recipes",
)
_TEXTS = "texts"  # the entry that has what the tools of the seed catalog are called in the language
SENTENCE_END = re.compile(widened(r"(?<=[.!?])\s+(?=\S)|(?<=@[{.!?}])\s*(?=\S)"))
_QUOTES = signs("\"'“”‘’{open}{close}")

Said = Annotated[Sentence, PlainValidator(Sentence)]


class ToolSentences(BaseModel):
    """How people ask for a tool, and the questions and short answers for its parameters.

    `says` has the words for values of choices and flags, by parameter; `things` what goes before a
    bare ID ("delivery D-12"); `parts` says an object in a list. `noun` is what an entry of its
    response is called, "[{colour}] bicycle" with what the call says, `called` stands between the
    noun and a name; `facts` ask for {fields_} of what it returns.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    requests: tuple[Said, ...] = Field(min_length=1)
    says: dict[str, dict[bool | str, str]] = {}
    questions: dict[str, tuple[str, ...]] = {}
    answers: dict[str, tuple[Said, ...]] = {}
    things: dict[str, str] = {}
    parts: dict[str, Said] = {}
    noun: str = ""
    called: str = "called"
    facts: tuple[Said, ...] = ()

    def __hash__(self) -> int:
        return hash(self.requests)


class OwnSentences(NamedTuple):
    """A recipe's sentences for a tool, and parameters to show: with technical ones, and without."""

    parameters: tuple[frozenset[str], ...]
    sentences: ToolSentences


# by language and the tool's name
OwnTable = Mapping[tuple[Language, str], tuple[OwnSentences, ...]]
_own: ContextVar[tuple[SentenceFile, ...]] = ContextVar("own_sentences", default=())


@contextmanager
def own_sentences(kept: tuple[SentenceFile, ...]) -> Iterator[None]:
    """Put the sentences in these files before the seed catalog's within the block.

    This holds for whatever the present task does. Raises ConfigurationError if a file was not
    checked and can't be used.
    """
    read_sentence_files(kept)
    token = _own.set(kept)
    try:
        yield
    finally:
        _own.reset(token)


def own_files() -> tuple[SentenceFile, ...]:
    """Return the files whose sentences currently count."""
    return _own.get()


@lru_cache(16)
def read_sentence_files(kept: tuple[SentenceFile, ...]) -> OwnTable:
    """Return the sentences in a recipe's files.

    Raises ConfigurationError if a file was not checked and cannot be used.
    """
    own_table: dict[tuple[Language, str], tuple[OwnSentences, ...]] = {}
    for sentence_file in kept:
        try:
            entries = read_with_words(sentence_file.text) or {}
            read = {name: ToolSentences.model_validate(entry) for name, entry in entries.items()}
        except (YAMLError, ValueError, AttributeError, ConfigurationError) as error:
            problem = f"The sentences in {sentence_file.file} can't be read: {error}"
            raise ConfigurationError(problem) from error
        for name, entry in read.items():
            takes = sentence_file.parameters.get(name) or (tuple(entry.requests[0].slots),)
            mine = (OwnSentences(tuple(map(frozenset, takes)), entry),)
            own_table[sentence_file.language, name] = (
                *own_table.get((sentence_file.language, name), ()),
                *mine,
            )
    return own_table


@cache
def all_sentences(language: Language) -> Mapping[str, ToolSentences]:
    """Return the sentences of all tools that have some in a language, by the tool's name."""
    sentences_by_tool: dict[str, ToolSentences] = {}
    for package in _SHIPPED:
        for stated in in_folders(package, f"{language}.yaml"):
            sentences_by_tool |= {
                name: ToolSentences.model_validate(one)
                for name, one in stated.items()
                if name != _TEXTS
            }
    return sentences_by_tool


class Recognised(NamedTuple):
    """What a tool's sentence states: arguments, the text after it, and its count of own letters."""

    arguments: dict[str, JsonValue]
    rest: str
    own: int


def sentences_of(view: ToolView, language: Language) -> ToolSentences | None:
    """Return a tool's sentences in a language, None if there are none for this very tool."""
    found = all_sentences(language).get(view.name)
    is_same = found is not None and found.requests[0].slots == view.properties.keys()
    return brought_for(view, language) or (found if is_same else None)


def brought_for(view: ToolView, language: Language) -> ToolSentences | None:
    """Return the sentences that a recipe brings for a tool in the language, or None."""
    brought = read_sentence_files(own_files()).get((language, view.name), ())
    found = (own.sentences for own in brought if view.properties.keys() in own.parameters)
    return next(found, None)


def word_request(
    view: ToolView, arguments: dict[str, JsonValue], language: Language, rng: Random
) -> Worded:
    """Word a request with exactly these arguments: in the tool's own sentence, else plainly.

    Raises ReplyError if the tool has no such parameter.
    """
    return word_sentence(view, arguments, language, rng) or word_plainly(
        view, arguments, language, rng
    )


def word_sentence(
    view: ToolView, arguments: Mapping[str, JsonValue], language: Language, rng: Random
) -> Worded | None:
    """Return a request with exactly these arguments in one of the tool's sentences, or None."""
    own = sentences_of(view, language)
    if own is None:
        return None
    sayings = {
        one.name: say_slot(one, arguments[one.name], own, language, rng)
        for one in view.parameters
        if one.name in arguments
    }
    ones = frozenset(
        name for name, value in arguments.items() if value == 1 and not isinstance(value, bool)
    )
    drawn = ((one, one.draw(frozenset(sayings), rng, ones)) for one in own.requests)
    ways = [(one, text) for one, text in drawn if text is not None]
    # the words for a value may not hold it, as "from old to new" for asc: checks see that nothing
    # proves it
    for is_own, (sentence, text), is_quoted in product(
        (False, True), rng.sample(ways, len(ways)), (True, False)
    ):
        shown = {name: one.shown if is_quoted else one.words for name, one in sayings.items()}
        said = filled(text, shown)
        request = opened(said, language, rng) if sentence.is_bare else capitalised(said)
        own_words = {
            name: one.words for name, one in sayings.items() if is_own and name in own.says
        }
        worded = pointed_at(
            request, [one for name, one in sayings.items() if name not in own_words], shown
        )
        read = read_sentence(view, request, language) if worded else None
        if worded and read is not None and (read.arguments, read.rest) == (dict(arguments), ""):
            return worded._replace(mentions={**worded.mentions, **own_words})
    return None


def questions_for(view: ToolView, parameter: ParameterView, language: Language) -> tuple[str, ...]:
    """Return the tool's own questions for a parameter in the language, if any."""
    own = sentences_of(view, language)
    return own.questions.get(parameter.name, ()) if own else ()


def asked_by(view: ToolView, question: str, language: Language) -> ParameterView | None:
    """Return the parameter that one of the tool's own questions asks for, or None."""
    own = sentences_of(view, language)
    named = own.questions.items() if own else ()
    found = (view.parameter(name) for name, questions in named if question.strip() in questions)
    return next(found, None)


def phrase_for(
    view: ToolView, parameter: ParameterView, value: JsonValue, language: Language, rng: Random
) -> tuple[str, str] | None:
    """Return a short answer of the tool's own with a value, and the value's words, or None."""
    own = sentences_of(view, language)
    shapes = own.answers.get(parameter.name, ()) if own else ()
    if own is None or not (shapes or parameter.name in own.says):
        return None
    saying = say_slot(parameter, value, own, language, rng)
    ones = (
        frozenset([parameter.name]) if value == 1 and not isinstance(value, bool) else frozenset()
    )
    drawn = rng.choice(shapes).draw(frozenset([parameter.name]), rng, ones) if shapes else None
    phrase = filled(drawn or f"{{{parameter.name}}}", {parameter.name: saying.shown}).rstrip(
        "".join(_ENDS)
    )
    return (
        (phrase, saying.words) if read_answer(view, parameter, phrase, language) == value else None
    )


def read_answer(
    view: ToolView,
    parameter: ParameterView,
    text: str,
    language: Language,
    *,
    is_asked: bool = True,
) -> JsonValue:
    """Return the value that a short answer of the tool's own states for a parameter.

    None if the text is no such answer. If the parameter was not asked for, the answer must have
    words of its own besides the value.
    """
    own = sentences_of(view, language)
    if own is None:
        return None
    whole = text.strip()
    shapes = (
        *own.answers.get(parameter.name, ()),
        *([_BARE] if parameter.name in own.says else []),
    )
    for shape in (one for one in shapes if is_asked or one.has_words or parameter.name in own.says):
        for words in dict.fromkeys((whole.rstrip("".join(_ENDS)), whole)):
            slot_words = shape.read(
                words, lambda _slot, inner: read_slot(parameter, own, inner) is not None
            )
            if slot_words is not None:
                return read_slot(parameter, own, next(iter(slot_words.values())))
    return None


_BARE = Sentence("{value}")


def say_slot(
    parameter: ParameterView, value: JsonValue, own: ToolSentences, language: Language, rng: Random
) -> StatedParameter:
    """Return the words of a value in a slot of the tool's sentences."""
    phrase = own.says.get(parameter.name, {}).get(value) if isinstance(value, bool | str) else None
    if phrase is not None:
        return StatedParameter(parameter, value, phrase, phrase)
    saying = say(parameter, value, language, rng, plain=False)
    thing = own.things.get(parameter.name)
    if thing:
        return saying._replace(words=f"{thing} {saying.words}", shown=f"{thing} {saying.shown}")
    return saying


def recognise(views: Sequence[ToolView], text: str, language: Language) -> ToolView | None:
    """Return the tool that has the text as a sentence, the one with most own words, or None."""
    read = [
        (found, view)
        for view in views
        if (found := read_sentence(view, text, language)) is not None
    ]
    return max(read, key=lambda one: (one[0].own, -len(one[0].rest)), default=(None, None))[1]


def read_sentence(view: ToolView, text: str, language: Language) -> Recognised | None:
    """Return what a text that begins with one of the tool's sentences states, or None."""
    own = sentences_of(view, language)
    return _read_text(view, own, text, language)


@lru_cache(4096)
def _read_text(
    view: ToolView, own: ToolSentences | None, text: str, language: Language
) -> Recognised | None:
    values: dict[tuple[str, str], JsonValue] = {}

    def is_value(slot: str, words: str) -> bool:
        if (slot, words) not in values:
            values[slot, words] = read_slot(view.parameter(slot), own, words)
        return values[slot, words] is not None

    for head, rest in _heads(text):
        for sentence in own.requests if own else ():
            for said in unopened(head, language) if sentence.is_bare else (head,):
                if (found := sentence.read(said, is_value)) is not None:
                    read = {name: values[name, words] for name, words in found.items()}
                    letters = len(head) - sum(map(len, found.values()))
                    return Recognised(read, _without_closer(rest, language), letters)
        words = read_plainly(view, head, language)
        if words is not None and all(is_value(name, one) for name, one in words.items()):
            read = {name: values[name, one] for name, one in words.items()}
            return Recognised(read, rest, len(head) - sum(map(len, words.values())))
    return None


def _heads(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text and each start that ends with a sentence, longest first, with the rest."""
    ends = [len(text), *(found.end() for found in reversed([*SENTENCE_END.finditer(text)]))]
    yield from ((text[:end].strip(), text[end:].strip()) for end in ends)


def _without_closer(rest: str, language: Language) -> str:
    return "" if rest in shapes_in(language, "requests.closers") else rest


def read_slot(parameter: ParameterView, own: ToolSentences | None, words: str) -> JsonValue:
    """Return the value that words say for a parameter, or None if it takes no such value."""
    phrases, thing = (
        (own.says.get(parameter.name), own.things.get(parameter.name)) if own else (None, None)
    )
    if phrases:
        return next(
            (value for value, phrase in phrases.items() if phrase.lower() == words.lower()), None
        )
    if thing:
        words = words.removeprefix(f"{thing} ")
        if " " in words:  # no ID, but another thing
            return None
    is_quoted = words[:1] in _QUOTES and words[-1:] in _QUOTES and len(words) > 1
    # "Blue" and "Red" are two
    if is_quoted and (first := QUOTED.match(words)) and first.end() < len(words):
        return value_of(parameter, words) if parameter.kind == "array" else None
    # ",910 dollars" of "68,910 dollars"
    is_cut = words[:1] in (*_QUOTES, *_ENDS) or words.endswith(_ENDS)
    if not is_quoted and (is_cut or SENTENCE_END.search(QUOTED.sub("x", words))):
        return None
    value = value_of(parameter, words.strip(_QUOTES) if is_quoted else words)
    if value is None or not own_letters(words) or parameter.kind not in CLOCKED | {"choice"}:
        return value
    found = locate(value, parameter.schema, words)  # no space tells where it would have to be cut
    return value if found and (found.start, found.end) == (0, len(words)) else None


_ENDS = tuple(signs(",.?!{,.?!}"))
_AROUND = signs(" \"'“”‘’{open}{close},:;{,.:;}")


def value_of(parameter: ParameterView, words: str) -> JsonValue:
    """Return the value that words say for a parameter, or None if its schema does not allow it."""
    schema = {"title": parameter.name, **parameter.schema}
    if json_type(schema) == "object":
        value: JsonValue = _members_of(schema, words)
    else:
        value = read_value(words, parameter.spoken)
    if isinstance(value, int | float) and json_type(schema) == "string":
        value = str(value)
    return value if value is not None and fits(value, parameter.schema) else None


def _members_of(schema: JsonSchema, words: str) -> dict[str, JsonValue] | None:
    """Return an object's members with their values from words, None if one can't be read.

    None also if there are none, or one is named twice.
    """
    views = parameter_views(schema)
    table, text = title_table(views), words.strip()
    text = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    places = outside_quotes(table.pattern, text) if table else []
    members: dict[str, JsonValue] = {}
    for title_match, end in zip(
        places, [*(later.start() for later in places[1:]), len(text)], strict=False
    ):
        member = views[table.owner(title_match[0])] if table else views[0]
        value = value_of(member, text[title_match.end() : end].strip(_AROUND))
        if value is None or member.name in members:
            return None
        members[member.name] = value
    return members or None
