"""Yes and no: answers, and the words of a parameter's description with or without a negation."""

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from callwright.language.packs import LanguagePattern, of, packs_of, signs, writes
from callwright.language.text import STOP, Found
from callwright.language.vocabulary import deep_stem, find_corrections, negations
from callwright.language.wording import Key, content_keys
from callwright.warehouse.records import JsonSchema, Language

STATED = "stated"
NEGATED = "negated"
ANSWERED = "yes or no"

_ANSWER = LanguagePattern(
    r"[^\w]*(?:(?P<no>@{answer_no})|(?P<yes>@{answer_yes}))(?:@[\s,]*(?:@{politeness}))?(?:@[,.!;]|\s*$)"
)
_FIRST_CLAUSE = LanguagePattern("@[.;(]|@{first_clause_end}")
_FRAME = LanguagePattern(r"^(?:@{whether})")
_TAIL = LanguagePattern(r"(?:@{whether_end})$")
_OFF = frozenset(deep_stem(word) for word in ("off", "disable", "exclude", "skip", "avoid", "remove"))
_NEAR = 4
# words that hold the character of a negation and negate nothing
_HARMLESS = LanguagePattern("@{harmless_negation}")


class _Topic(NamedTuple):
    phrase: str
    keys: tuple[str, ...]


def find_boolean(value: bool, schema: JsonSchema, text: str) -> Found | None:  # noqa: FBT001
    """Where `text` states (for True) or negates (for False) what the schema's description or title names."""
    answer = _ANSWER.of(text).match(text)
    if answer and len(text) == answer.end():
        return Found(value, answer.start(), answer.end(), ANSWERED) if bool(answer["yes"]) == value else None
    topics = _topics(str(schema.get("description", "")), str(schema.get("title", "")))
    # what stands behind "no, I mean" is stated by itself, whatever was denied before
    for start in (0, *(one.end for one in find_corrections(text))):
        stated = content_keys(text[start:])
        found = next(filter(None, (_find_topic(value, topic, stated) for topic in topics)), None)
        if found:
            return found._replace(start=found.start + start, end=found.end + start)
    return None


def read_boolean(words: str, schema: JsonSchema) -> bool | None:
    """What `words` answer or state, None where they do neither."""
    stated = next((value for value in (True, False) if find_boolean(value, schema, words)), None)
    if stated is not None:
        return stated
    answer = _ANSWER.of(words).match(words)
    return bool(answer["yes"]) if answer else None


def write_boolean(value: bool, schema: JsonSchema, language: Language) -> str:  # noqa: FBT001
    """`value` through the words of the schema's description, a plain yes or no where it has none in this language."""
    topics = _topics(str(schema.get("description", "")), str(schema.get("title", "")))
    pack = of(language)
    phrase = next((topic.phrase for topic in topics if writes(language, topic.phrase)), "")
    return pack.frames[value].format(t=phrase) if phrase else pack.answers[value]


def is_about(schema: JsonSchema, question: str) -> bool:
    """Tell whether `question` names what the schema's description or title names."""
    return any(find_boolean(value, schema, question) for value in (True, False))


def topic_phrase(schema: JsonSchema) -> str:
    """The words of the description that name what is to be or not to be, "" where there are none."""
    topics = _topics(str(schema.get("description", "")), str(schema.get("title", "")))
    return topics[0].phrase if topics else ""


@lru_cache(4096)
def _topics(description: str, title: str) -> tuple[_Topic, ...]:
    topics = []
    for words in (description, re.sub(r"[_\-]+|(?<=[a-z])(?=[A-Z])", " ", title)):
        clause = _FIRST_CLAUSE.of(words).split(words.strip(), maxsplit=1)[0].strip()
        phrase = clause
        for pack in packs_of(words):
            phrase = _TAIL.among((pack,)).sub("", _FRAME.among((pack,)).sub("", phrase))
        phrase = phrase.strip(signs(" ?"))
        keys = tuple(key.deep for key in content_keys(phrase) if key.light != STOP and key.light not in negations())
        if keys:
            topics.append(_Topic(phrase, keys))
    return tuple(topics)


def _find_topic(value: bool, topic: _Topic, stated: tuple[Key, ...]) -> Found | None:  # noqa: FBT001
    wanted = set(topic.keys)
    here = [index for index, key in enumerate(stated) if key.deep in wanted]
    if len({stated[index].deep for index in here}) < len(wanted):
        return None
    negation = _negation(stated, here)
    if (negation is None) != value:
        return None
    span = [stated[index] for index in here] + ([negation] if negation else [])
    return Found(value, min(key.start for key in span), max(key.end for key in span), STATED if value else NEGATED)


def _negation(stated: tuple[Key, ...], here: list[int]) -> Key | None:
    """A negation shortly before the topic in the same sentence, or a word for off on either side."""
    first, last = here[0], here[-1]
    for index in range(first - 1, max(-1, first - 1 - _NEAR), -1):
        if stated[index].light == STOP:
            break
        if _negates(stated, index) or stated[index].deep in _OFF:
            return stated[index]
    between = next((stated[index] for index in range(first, last + 1) if _negates(stated, index)), None)
    after = stated[last + 1] if last + 1 < len(stated) and _denies(stated, last + 1) else None
    return between or after


def _denies(stated: tuple[Key, ...], at: int) -> bool:
    """Whether a word behind the topic turns it down: "breakfast off", or an answer to it, "breakfast: no"."""
    is_last = at + 1 == len(stated) or stated[at + 1].light == STOP
    return stated[at].deep in _OFF or (stated[at].light in negations() and is_last)


def _negates(stated: tuple[Key, ...], index: int) -> bool:
    if stated[index].light not in negations():
        return False
    words = (
        one.light + other.light
        for one, other in pairwise(stated[max(0, index - 1) : index + 2])
        if one.end == other.start
    )
    return not any(_HARMLESS.everywhere.fullmatch(word) for word in words)
