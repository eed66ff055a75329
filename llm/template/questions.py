"""Asking for one parameter and answering with one value, read over until each means that one alone; which parameters it is for."""

import re
from collections.abc import Collection, Sequence
from itertools import product
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.parameters import CODED, NUMERIC
from callwright.language.calls.tools import ParameterView, ToolView
from callwright.language.names import humanise, split_name, words
from callwright.language.packs import COMMON_SCRIPT, LanguagePattern, of, packs_of, signs, widened, writes
from callwright.language.text import capitalised
from callwright.language.values import locate, write_value
from callwright.llm.template.stating import StatedParameter, dialogues_in, in_quotes, requests_in, say
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Language

_MOST_WORDS = 6
_MOST_CHARACTERS = 12
_CLAUSE = LanguagePattern(r"@[.,;:(?{list}\n]|!|@{description_end}")
_ARTICLE = LanguagePattern("^(?:@{with_article})", re.RegexFlag(0))
_SENTENCE = re.compile(widened("@[^?.!]+@[?.!]*"))
_LISTED = LanguagePattern("@[:,]|@{options_follow}", re.RegexFlag(0))
_ROUTE_ENDS = frozenset(words("origin destination departure arrival start pickup dropoff"))
_GROUPED = {
    "date": words("date birthday"),
    "code": ["pattern", "code", *CODED - {"email", "file", "airport", "currency"}],
    "message": words("message task reason problem details"),
    "name": words("text title product food music film book company query category job status language currency file"),
    "number": NUMERIC,
    "place": words("country address airport origin destination"),
}
_GROUPS = {kind: group for group, kinds in _GROUPED.items() for kind in kinds}
_PEOPLE, _FACTS = LanguagePattern("@{people}"), LanguagePattern("@{facts}")
_NAMES, _ASKS_NUMBER = LanguagePattern("@{names}"), LanguagePattern("@{asks_number}")
_BY_KIND = (
    (LanguagePattern("@{asks_moment}"), ("moment",)),
    (LanguagePattern("@{asks_day}"), ("date", "birthday", "moment")),
    (LanguagePattern("@{asks_time}"), ("time", "moment")),
    (LanguagePattern("@{asks_origin}"), ("origin",)),
    (LanguagePattern("@{asks_destination}"), ("destination",)),
    (LanguagePattern("@{asks_money}"), ("money",)),
    (LanguagePattern("@{asks_person}"), ("person",)),
    (LanguagePattern("@{asks_address}"), ("address",)),
    (LanguagePattern("@{asks_place}"), ("place", "address", "destination")),
)


class Counting(NamedTuple):
    """What a number counts: as it is asked for, and as it stands behind the number."""

    asked: str
    unit: str


def group_of(parameter: ParameterView) -> str:
    """The kind of question that goes with a parameter, "name" where nothing tells more."""
    group = _GROUPS.get(parameter.kind, parameter.kind)
    described = str(parameter.schema.get("description") or humanise(parameter.name))
    if group in ("choice", "name", "category") and _FACTS.of(described).search(described):
        return "fact"
    if group in ("choice", "name", "person", "place") and _NAMES.of(described).search(described):
        return "called"
    return "person" if group == "name" and _PEOPLE.of(described).search(described) else group


def called(parameter: ParameterView, language: Language) -> str:
    """What to call a parameter: its description where that is a short phrase, else what people call it."""
    described, glued = str(parameter.schema.get("description") or "").strip().rstrip(signs(".")), not of(language).space
    is_short = len(described) <= _MOST_CHARACTERS if glued else len(described.split()) <= _MOST_WORDS
    is_phrase = described and is_short and not _CLAUSE.of(described).search(described)
    if not is_phrase or parameter.kind == "boolean" or not writes(language, described):
        return parameter.cues.among(language)
    if glued or described[:2].isupper():
        return described
    lowered = described[0].lower() + described[1:]
    return _ARTICLE.of(lowered).sub("", lowered) or lowered


def counting(parameter: ParameterView, language: Language) -> Counting | None:
    """What a number counts, None where it counts nothing that has a name."""
    if not parameter.is_number:
        return None
    counted = of(language).rules.counted(called(parameter, language), parameter.name)
    return None if counted is None else Counting(*counted)


def asked_parameters(view: ToolView, question: str, known: Collection[str] = ()) -> tuple[ParameterView, ...]:
    """The parameters that a question is for, in its order; what is known is asked for only where nothing else is."""
    found: list[ParameterView] = []
    for sentence in _SENTENCE.findall(question):
        if one := _asked_in(view, sentence, known, found):
            found.append(one)
    return tuple(found)


def _asked_in(
    view: ToolView, sentence: str, known: Collection[str], found: Sequence[ParameterView]
) -> ParameterView | None:
    fresh = [one for one in view.parameters if one not in found]
    open_ones = [one for one in fresh if one.name not in known]
    head = _LISTED.of(sentence).split(sentence, maxsplit=1)[0]
    return (
        _named(view, head, open_ones)
        or _named(view, sentence, open_ones)
        or _by_kind(open_ones, sentence)
        or _by_count(open_ones, sentence)
        or _named(view, sentence, fresh)
    )


def _named(view: ToolView, text: str, allowed: Sequence[ParameterView]) -> ParameterView | None:
    """The parameter that is called by the longest stretch of the text."""
    lower, names = text.lower(), {one.name for one in allowed}
    hits: list[tuple[int, bool, int]] = []
    for at, one in enumerate(view.parameters):
        described = str(one.schema.get("description") or "").strip().rstrip(signs(".")).lower()
        if one.name in names and described and described in lower:
            hits.append((len(described), True, -at))
    for match in view.cues.pattern.finditer(text) if view.cues else ():
        at, strong = view.cues.owner(match.group()) if view.cues else (0, False)
        if view.parameters[at].name in names:
            hits.append((len(match.group()), strong, -at))
    strong_hits = [hit for hit in hits if hit[1]] or hits
    return view.parameters[-max(strong_hits, key=lambda hit: (hit[0], hit[2]))[2]] if strong_hits else None


def _by_kind(parameters: Sequence[ParameterView], sentence: str) -> ParameterView | None:
    for pattern, kinds in _BY_KIND:
        here = [one for one in parameters if one.kind in kinds]
        if len(here) == 1 and pattern.of(sentence).search(sentence):
            return here[0]
    return None


def _by_count(parameters: Sequence[ParameterView], sentence: str) -> ParameterView | None:
    """The parameter that counts what the question asks the number of."""
    for one, pack in product(parameters, packs_of(sentence)):
        counted = counting(one, pack.code)
        if counted and counted.asked in sentence:
            return one
    numbers = [one for one in parameters if one.is_number]
    return numbers[0] if len(numbers) == 1 and _ASKS_NUMBER.of(sentence).search(sentence) else None


_ATTEMPTS = 8
_UNNAMED_SHARE = 0.4
_GENERAL_SHARE = 0.35
_OPTIONS_SHARE = 0.35
_COUNTED_SHARE = 0.6
_MOST_OPTIONS = 5
_AMOUNT = LanguagePattern("@{amount}")
_ROUTES = frozenset({"origin", "destination"})
_ONCE = {"date": frozenset({"date", "moment", "birthday"}), "time": frozenset({"time", "moment"})}


def word_question(
    view: ToolView, parameter: ParameterView, known: dict[str, JsonValue], language: Language, rng: Random
) -> str:
    """A question that asks for exactly this parameter and says none of the values that are known."""
    for _ in range(_ATTEMPTS):
        question = _propose_question(view, parameter, language, rng)
        asked = asked_parameters(view, question, known)
        if (
            asked == (parameter,)
            and not (
                any(
                    not isinstance(value, bool) and locate(value, view.properties.get(name, {}), question) is not None
                    for name, value in known.items()
                )
            )
            and writes(language, question)
        ):
            return question
    return _shape(dialogues_in(language).last_question, called(parameter, language))


def _propose_question(view: ToolView, parameter: ParameterView, language: Language, rng: Random) -> str:
    book = dialogues_in(language)
    named = called(parameter, language)
    if parameter.kind == "boolean":
        return _shape(rng.choice(book.flags), parameter.topic or named)
    options = parameter.schema.get("enum") or []
    if parameter.kind == "choice" and rng.random() < _OPTIONS_SHARE and 1 < len(options) <= _MOST_OPTIONS:
        *stated, last = [write_value(option, parameter.schema, language, rng) for option in options]
        read_out = book.next_option.join(stated) + book.last_option + last
        return _shape(rng.choice(book.options), named).replace("{o}", read_out)
    counted = counting(parameter, language)
    if counted and rng.random() < _COUNTED_SHARE:
        return rng.choice(book.counted).replace("{u}", counted.asked)
    if counted and of(language).rules.is_plural(named):
        return _shape(rng.choice(book.questions), named)
    if parameter.kind in book.unnamed and _is_only_one(view, parameter) and rng.random() < _UNNAMED_SHARE:
        return rng.choice(book.unnamed[parameter.kind])
    own = book.named.get(group_of(parameter), ()) or book.named["name"]
    return _shape(rng.choice(book.questions if rng.random() < _GENERAL_SHARE else own), named)


def _is_only_one(view: ToolView, parameter: ParameterView) -> bool:
    """Whether a question that names nothing can only mean this parameter."""
    alike = _ONCE.get(parameter.kind, frozenset({parameter.kind}))
    described = f"{parameter.name} {parameter.schema.get('description', '')}"
    if parameter.kind == "money" and not _AMOUNT.everywhere.search(described):
        return False
    if parameter.kind in _ROUTES and not _ROUTE_ENDS.intersection(split_name(parameter.name)):  # of no way
        return False
    return len([one for one in view.parameters if one.kind in alike]) == 1


def _shape(shape: str, named: str) -> str:
    shape = packs_of(shape)[0].rules.in_number(shape, named)
    return shape.replace("{c}", named).replace("{C}", capitalised(named))


_ANSWER_ATTEMPTS = 10
_BOLD_ATTEMPTS = 6
_COUNT_SHARE = 0.5
_QUOTED_SHARE = 0.5
_STOP = re.compile(widened(r"[.!?;:](?=\s|$)|@[{.!?;:}\n]"))
_UNMISTAKABLE = frozenset({"email", "link", "pattern", "code", "phone", "plate", "file"})


class SlotReply(NamedTuple):
    """An answer, and the words in it that state the value."""

    answer: str
    words: str

    def reply(self) -> dict[str, JsonValue]:
        """The answer as the schema wants it."""
        return {"answer": self.answer, "words": self.words}


def word_answer(
    view: ToolView, slot: tuple[ParameterView, JsonValue], language: Language, rng: Random, *, is_bare: bool
) -> SlotReply:
    """An answer to the question for this parameter; ReplyError where no words for the value can be found.

    A sentence is worded so that it is understood without its question, as merged trajectories need it.
    """
    parameter, value = slot
    for attempt in range(_ANSWER_ATTEMPTS):
        is_plain = attempt >= _BOLD_ATTEMPTS
        answered = _propose_answer(parameter, value, language, rng, is_bare=is_bare, plain=is_plain)
        said = locate(value, {"title": parameter.name, **parameter.schema}, answered.words)
        if said is not None and answered.words in answered.answer:
            return answered
    raise ReplyError(f"template/v1 finds no words in {language!r} that say {value!r} for {parameter.name!r}.")


def _propose_answer(
    parameter: ParameterView, value: JsonValue, language: Language, rng: Random, *, is_bare: bool, plain: bool
) -> SlotReply:
    book, group, stated = dialogues_in(language), group_of(parameter), say(parameter, value, language, rng, plain=plain)
    if isinstance(value, bool):
        if is_bare or not stated.is_frame:
            answer = rng.choice(book.yes if value else book.no)
            return SlotReply(answer, answer)
        said = capitalised(stated.words)
        return SlotReply(f"{said}{requests_in(language).stop}", said)
    shown = _shown(stated, parameter, language, rng, plain=plain)
    if not is_bare:
        shapes = book.sentences_by_kind.get(group, book.sentences)
        shapes = shapes[:2] if plain else shapes
    elif counting(parameter, language) and value not in (1, "1") and rng.random() < _COUNT_SHARE:
        shapes = book.bare_count
    else:
        shapes = book.bare_by_kind.get(parameter.kind) or book.bare_by_kind.get(group) or book.bare
    return _filled(rng.choice(shapes), shown, stated.words, parameter, language)


def _shown(stated: StatedParameter, parameter: ParameterView, language: Language, rng: Random, *, plain: bool) -> str:
    """The value in quotation marks where it would not be distinguished from what stands around it, else as it is."""
    if stated.words == stated.shown or not isinstance(stated.value, str):
        return stated.words
    if parameter.kind in _UNMISTAKABLE:
        return in_quotes(stated.words, requests_in(language)) if " " in stated.words else stated.words
    is_message = group_of(parameter) == "message" and rng.random() < _QUOTED_SHARE
    needs_marks = plain or is_message or _STOP.search(stated.words)
    return in_quotes(stated.words, requests_in(language)) if needs_marks else stated.words


def _filled(shape: str, shown: str, words: str, parameter: ParameterView, language: Language) -> SlotReply:
    """A shape with the value, in quotation marks or not, and with what the parameter is called."""
    named, counted = called(parameter, language), counting(parameter, language)
    shape = of(language).rules.agreed(shape, named)
    text = shape.replace("{c}", named).replace("{C}", capitalised(named))
    text = text.replace("{u}", counted.unit if counted else "").replace("{v}", shown)
    begins = shape.startswith("{v}") and shown[:1].islower() and parameter.kind not in _UNMISTAKABLE
    if begins and of(language).script == COMMON_SCRIPT:
        text = capitalised(text)
        words = words if words in text else capitalised(words)
    return SlotReply(text, words)
