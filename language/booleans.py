"""Yes and no: answers, and the words of a parameter's description with or without a negation."""

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from language.text import CJK, STOP, Found
from language.vocabulary import NEGATIONS, deep_stem, find_corrections
from language.wording import Key, content_keys
from warehouse.records import JsonSchema, Language

STATED = "stated"
NEGATED = "negated"
ANSWERED = "yes or no"

_YES = "yes|yeah|yep|yup|sure|true|ok|okay|of course|definitely|是的?|要的?|对的?|好的?|可以|需要|有|行|嗯"
_NO = "no|nope|nah|not|false|never|no thanks|no thank you|否|不是?|不要|不用|不需要|不必|没有?|无|不行"
_ANSWER = re.compile(
    rf"[^\w]*(?:(?P<no>{_NO})|(?P<yes>{_YES}))(?:[\s,，]*(?:please|thanks|谢谢|吧|的))?(?:[,，.!。！;；]|\s*$)",
    re.IGNORECASE,
)
_FIRST_CLAUSE = re.compile(
    r"[.;。；(（]|,?\s*(?:default|defaults|otherwise|e\.g\.)\b|[,，]?\s*(?:默认|例如|如果|，)", re.IGNORECASE
)
_FRAME_ENGLISH = re.compile(
    r"^\W*(?:(?:a\s+)?(?:boolean|flag|option|set)\b.*?\b(?:whether|if|to)\b|(?:whether|if|indicates?\s+(?:whether|if))\b)?"
    r"\W*(?:or\s+not\s+)?(?:to\b|the\s+user\s+(?:wants?|needs?|prefers?)\b|you\s+want\b)?"
    r"\W*(?:(?:be|have|include|enable|need|want|require|add|allow|use|turn\s+on|show|is|are)\b)?\s*(?:to\b)?\s*(?:the\b|an?\b|there\s+(?:is|are)\b)?\s*",
    re.IGNORECASE,
)
_TAIL_ENGLISH = re.compile(
    r"\s+(?:is|are|was|be|should\s+be|must\s+be|to\s+be)?\s*(?:included|enabled|required|needed|wanted|allowed|available|on|provided|shown|used|or\s+not)\W*$",
    re.IGNORECASE,
)
_FRAME_CHINESE = re.compile(
    "^(?:是否|要不要|需不需要|有没有|有无)?(?:允许|可以)?(?:需要|要|包含|包括|含有?|提供|开启|启用|打开|使用|带有?|附带|添加|支持|为|是|有)?"
)
_OFF = frozenset(deep_stem(word) for word in ("off", "disable", "exclude", "skip", "avoid", "remove"))
_NEAR = 4
# words that hold the character of a negation and negate nothing
_HARMLESS = re.compile(
    "识别|特别|分别|类别|性别|级别|个别|区别|告别|差别|辨别|别墅|别名|不同|不锈|不断|无线|无人|无障|无糖|非常|未来|未读|没收"
)


class _Topic(NamedTuple):
    phrase: str
    keys: tuple[str, ...]


def find_boolean(value: bool, schema: JsonSchema, text: str) -> Found | None:  # noqa: FBT001
    """Where `text` states (for True) or negates (for False) what the schema's description or title names."""
    answer = _ANSWER.match(text)
    if answer and len(text) == answer.end():
        return Found(value, answer.start(), answer.end(), ANSWERED) if bool(answer["yes"]) == value else None
    topics = _topics(str(schema.get("description", "")), str(schema.get("title", "")))
    # what stands behind "no, I mean" is said by itself, whatever was denied before
    for start in (0, *(one.end for one in find_corrections(text))):
        said = content_keys(text[start:])
        found = next(filter(None, (_find_topic(value, topic, said) for topic in topics)), None)
        if found:
            return found._replace(start=found.start + start, end=found.end + start)
    return None


def read_boolean(words: str, schema: JsonSchema) -> bool | None:
    """What `words` answer or state, None where they do neither."""
    stated = next((value for value in (True, False) if find_boolean(value, schema, words)), None)
    if stated is not None:
        return stated
    answer = _ANSWER.match(words)
    return bool(answer["yes"]) if answer else None


def write_boolean(value: bool, schema: JsonSchema, language: Language) -> str:  # noqa: FBT001
    """`value` through the words of the schema's description, a plain yes or no where it has none in this language."""
    topics = _topics(str(schema.get("description", "")), str(schema.get("title", "")))
    phrase = next(
        (topic.phrase for topic in topics if bool(re.search(f"[{CJK}]", topic.phrase)) == (language == "zh")), ""
    )
    if not phrase:
        return {"en": ("no", "yes"), "zh": ("不要", "要")}[language][value]
    if language == "zh":
        return f"要{phrase}" if value else f"不要{phrase}"
    return f"with {phrase}" if value else f"without {phrase}"


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
        clause = _FIRST_CLAUSE.split(words.strip(), maxsplit=1)[0].strip()
        phrase = _TAIL_ENGLISH.sub("", _FRAME_ENGLISH.sub("", clause))
        phrase = _FRAME_CHINESE.sub("", phrase).strip(" ?？")
        keys = tuple(key.deep for key in content_keys(phrase) if key.light != STOP and key.light not in NEGATIONS)
        if keys:
            topics.append(_Topic(phrase, keys))
    return tuple(topics)


def _find_topic(value: bool, topic: _Topic, said: tuple[Key, ...]) -> Found | None:  # noqa: FBT001
    wanted = set(topic.keys)
    here = [index for index, key in enumerate(said) if key.deep in wanted]
    if len({said[index].deep for index in here}) < len(wanted):
        return None
    negation = _negation(said, here)
    if (negation is None) != value:
        return None
    span = [said[index] for index in here] + ([negation] if negation else [])
    return Found(value, min(key.start for key in span), max(key.end for key in span), STATED if value else NEGATED)


def _negation(said: tuple[Key, ...], here: list[int]) -> Key | None:
    """A negation shortly before the topic in the same sentence, or a word for off on either side."""
    first, last = here[0], here[-1]
    for index in range(first - 1, max(-1, first - 1 - _NEAR), -1):
        if said[index].light == STOP:
            break
        if _negates(said, index) or said[index].deep in _OFF:
            return said[index]
    between = next((said[index] for index in range(first, last + 1) if _negates(said, index)), None)
    after = said[last + 1] if last + 1 < len(said) and _denies(said, last + 1) else None
    return between or after


def _denies(said: tuple[Key, ...], at: int) -> bool:
    """Whether a word behind the topic turns it down: "breakfast off", or an answer to it, "breakfast: no"."""
    is_last = at + 1 == len(said) or said[at + 1].light == STOP
    return said[at].deep in _OFF or (said[at].light in NEGATIONS and is_last)


def _negates(said: tuple[Key, ...], index: int) -> bool:
    if said[index].light not in NEGATIONS:
        return False
    words = (
        one.light + other.light
        for one, other in pairwise(said[max(0, index - 1) : index + 2])
        if one.end == other.start
    )
    return not any(_HARMLESS.fullmatch(word) for word in words)
