"""Values in words: where a text states a value, how to read one, and how people write it."""

import re
from functools import lru_cache
from itertools import chain, pairwise, repeat
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.dates import (
    DATE,
    HALF_DAY,
    find_dates,
    find_figures,
    find_moment,
    find_same_moment,
    find_times,
    says_date,
    says_time,
    write_date,
    write_moment,
    write_time,
)
from callwright.language.numbers import (
    PERCENT,
    find_converted,
    find_numbers,
    in_digits,
    same_number,
    write_number,
)
from callwright.language.packs import LanguagePattern, of, packs_of, signs, writes
from callwright.language.protocol import NUMBER
from callwright.language.schemas import DATE_TIME_VALUE, DATE_VALUE, TIME_VALUE, choices_of, kind_of
from callwright.language.text import (
    QUOTED,
    STOP,
    VERBATIM,
    Found,
    deep_stem,
    find_corrections,
    fold,
    negations,
    outside_quotes,
)
from callwright.language.wording import Key, content_keys, find_phrase, find_place, find_wording
from callwright.warehouse.records import JsonSchema, Language

LIST = "list"
OBJECT = "object"


def locate(value: JsonValue, schema: JsonSchema, text: str) -> Found | None:
    """Return where `text` says `value`; `rule` is "" if verbatim, else the normalisation used."""
    if isinstance(value, bool):
        return find_boolean(value, schema, text)
    if isinstance(value, int | float):
        return locate_number(value, schema, text)
    if isinstance(value, str):
        return locate_text(value, text)
    if isinstance(value, list):
        return _locate_all(value, [(item, schema.get("items") or {}) for item in value], text, LIST)
    if isinstance(value, dict):
        held = schema.get("properties") or {}
        named = [(item, {"title": name, **(held.get(name) or {})}) for name, item in value.items()]
        return _locate_all(value, named, text, OBJECT)
    return None


def locate_number(value: float, schema: JsonSchema, text: str) -> Found | None:
    """Return where `text` says the number `value`, as such, as a percentage or in another unit."""
    for mention in find_numbers(text):
        stated = float(str(mention.value))
        shares = [stated / 100] if mention.rule == PERCENT else []
        if any(same_number(one, value) for one in (stated, *shares)):
            return mention._replace(value=value)
    return find_converted(value, schema, text)


@lru_cache(16384)
def locate_text(value: str, text: str) -> Found | None:
    """Return where `text` says the string `value`; dates and times are compared by meaning."""
    return (
        _locate_typed(value, text)
        or find_phrase(value, text)
        or find_same_moment(value, text)
        or find_figures(value, text)
        or _locate_numeral(value, text)
        or find_place(value, text)
        or find_wording(value, text)
    )


def _locate_typed(value: str, text: str) -> Found | None:
    mention = None
    if DATE_VALUE.fullmatch(value):
        mention = next((found for found in find_dates(text) if says_date(value, found)), None)
    elif TIME_VALUE.fullmatch(value):
        mention = next((found for found in find_times(text) if says_time(value, found)), None)
    elif DATE_TIME_VALUE.fullmatch(value):
        mention = find_moment(value, text)
    elif is_in_utc(value):
        found = find_moment(value[:-1], text)
        zone = _UTC_SAID.match(text, found.end) if found else None
        mention = found._replace(end=zone.end()) if found and zone else None
    return mention and mention._replace(value=value)


def is_in_utc(value: str) -> bool:
    """Whether a text is a moment in UTC: `2027-06-12T08:30:00Z`, as APIs write it."""
    return value.endswith("Z") and DATE_TIME_VALUE.fullmatch(value[:-1]) is not None


def _locate_numeral(value: str, text: str) -> Found | None:
    """Return where `text` says the number in a string that contains only a number."""
    numbers = find_numbers(value)
    if len(numbers) != 1 or (numbers[0].start, numbers[0].end) != (0, len(value)):
        return None
    found = next((one for one in find_numbers(text) if one.value == numbers[0].value), None)
    return found and found._replace(value=value, rule=found.rule or NUMBER)


def _locate_all(
    value: JsonValue, parts: list[tuple[JsonValue, JsonSchema]], text: str, rule: str
) -> Found | None:
    hits = [locate(part, schema, text) for part, schema in parts]
    mentions = [hit for hit in hits if hit is not None]
    if not mentions or len(mentions) < len(hits):
        return None
    same = len(mentions) == 1 and mentions[0].rule == VERBATIM
    start = min(hit.start for hit in mentions)
    return Found(value, start, max(hit.end for hit in mentions), VERBATIM if same else rule)


_SEPARATORS = LanguagePattern(
    r"\s*(?:@{list_comma_joint}|@[,;{list}]|@{list_joint}|\n)\s*", re.RegexFlag(0)
)
# with its zone, which no other words tell
_INSTANT = re.compile(
    rf"{DATE_VALUE.pattern}T{TIME_VALUE.pattern}(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)"
)
_QUOTES = signs(" \t\n\"'“”‘’{open}{close}")


def read_value(words: str, schema: JsonSchema) -> JsonValue | None:  # noqa: PLR0911 - a line a kind
    """Return the value that `words` state for a parameter; None if they state none or several."""
    match kind_of(schema):
        case "boolean":
            return read_boolean(words, schema)
        case "integer" | "number" as kind:
            number = _read_number(words, schema)
            if kind == "number" or number is None:
                return number
            return int(number) if float(number).is_integer() else None
        case "date":
            return _read_date(words)
        case "time":
            return _read_time(words)
        case "date-time":
            return _read_moment(words)
        case "enum":
            return _read_choice(words, schema)
        case "array":
            return _read_list(words, schema)
        case "object":  # members have to be read one by one, unless any name is one
            return None if schema.get("properties") else _read_map(words, schema)
    return words.strip(_QUOTES) or None


def _read_list(words: str, schema: JsonSchema) -> JsonValue | None:
    items = schema.get("items") or {}
    if kind_of(items) == "date":  # "Sunday, December 13, 2026" is one
        dates = (one for one in find_dates(words) if one.rule in (DATE, VERBATIM))
        return [str(found.value) for found in dates] or None
    pieces = filter(None, _pieces(words))
    # of a tuple each place has a schema of its own
    told = chain(schema.get("prefixItems") or (), repeat(items))
    values = [read_value(piece, one) for piece, one in zip(pieces, told, strict=False)]
    return None if not values or None in values else values


def _pieces(words: str) -> list[str]:
    """Return the parts of a list; what stands in quotation marks of its own is one."""
    quoted = QUOTED.match(words)
    if quoted is None or quoted.end() == len(words):
        return _SEPARATORS.everywhere.split(words.strip(_QUOTES))
    cuts = [one.span() for one in outside_quotes(_SEPARATORS.everywhere, words)]
    ends = [start for start, _ in cuts] + [len(words)]
    return [
        words[start:end] for start, end in zip([0, *(end for _, end in cuts)], ends, strict=True)
    ]


def _read_map(words: str, schema: JsonSchema) -> JsonValue | None:
    """Return the pairs of a name and a value that the words list: "owner priya, region north"."""
    inner = schema.get("additionalProperties")
    if not isinstance(inner, dict) or not inner:
        return None
    pieces = filter(None, _SEPARATORS.everywhere.split(words.strip(_QUOTES)))
    pairs = [piece.partition(" ") for piece in pieces]
    values = {name.rstrip(":"): read_value(value, inner) for name, _, value in pairs}
    return None if not values or None in values.values() else values


def _read_date(words: str) -> str | None:
    values = {str(found.value) for found in find_dates(words) if found.rule in (DATE, VERBATIM)}
    return values.pop() if len(values) == 1 else None


def _read_time(words: str) -> str | None:
    values = {str(found.value) for found in find_times(words) if found.rule != HALF_DAY}
    return values.pop() if len(values) == 1 else None


def _read_moment(words: str) -> str | None:
    instant = _INSTANT.search(words)
    day, clock = _read_date(words), _read_time(words)
    if instant is not None:
        return instant[0]
    return f"{day} {clock}" if day and clock else None


def _read_number(words: str, schema: JsonSchema) -> int | float | None:
    numbers = find_numbers(words)
    if len({str(found.value) for found in numbers}) != 1:
        return None
    value = numbers[0].value
    if not isinstance(value, int | float):
        return None
    highest = schema.get("maximum")
    is_share = numbers[0].rule == PERCENT and isinstance(highest, int | float) and highest <= 1
    return round(value / 100, 12) if is_share else value


def _read_choice(words: str, schema: JsonSchema) -> JsonValue | None:
    choices: list[JsonValue] = choices_of(schema)  # type: ignore[assignment]
    plain = fold(words)
    same = [one for one in choices if isinstance(one, str) and fold(one) == plain]
    if same:  # of choices that look alike only the very words tell which is meant
        return words if words in same else same[0] if len(same) == 1 else None
    mentioned = [(choice, found) for choice in choices if (found := locate(choice, {}, words))]
    if not mentioned:
        return None
    # "business class" says business class, not also "business"
    longest = max(
        mentioned, key=lambda pair: (pair[1].end - pair[1].start, pair[1].rule == VERBATIM)
    )
    _, start, end, rule = longest[1]
    for _, mention in (pair for pair in mentioned if pair[0] != longest[0]):
        is_inside = start <= mention.start and mention.end <= end
        if not is_inside or (mention.start, mention.end, mention.rule) == (start, end, rule):
            return None
    return longest[0]


_UTC_SAID = re.compile(r"\s*\(?(?:UTC|GMT|Z)\b\)?")
_LETTER_CASES = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)+|[A-Z]{5,}|[a-z]+(?:[A-Z][a-z]+)+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|[_-]")


def write_value(value: JsonValue, schema: JsonSchema, language: Language, rng: Random) -> str:
    """Return `value` as a person would say it for a parameter of this schema."""
    match value:
        case bool():
            return write_boolean(value, schema, language)
        case int() | float():
            most, percent = schema.get("maximum"), round(value * 100, 6)
            is_share = isinstance(most, int | float) and most <= 1 and 0 < value < 1
            if is_share and percent.is_integer() and rng.randrange(2):
                return f"{int(percent)}%"
            return write_number(value, language, rng)
        case str():
            return _write_text(value, schema, language, rng)
        case list():
            items = schema.get("items") or {}
            # "a hundred and two" would be one number, so numbers in lists stand in digits
            told: list[str] = []
            for item in value:
                if isinstance(item, int | float) and not isinstance(item, bool):
                    told.append(in_digits(item))
                else:
                    told.append(write_value(item, items, language, rng))
            return _write_list(told, language)
        case dict():
            members = schema.get("properties") or {}
            inner = ((name, members.get(name) or {}, item) for name, item in value.items())
            member_texts = (
                f"{name} {write_value(one, of, language, rng)}" for name, of, one in inner
            )
            return _write_list([*member_texts], language)
    return of(language).nothing


def _write_text(value: str, schema: JsonSchema, language: Language, rng: Random) -> str:
    kind = kind_of(schema)
    if kind == "date" and DATE_VALUE.fullmatch(value):
        return write_date(value, language, rng)
    if kind == "time" and TIME_VALUE.fullmatch(value):
        return write_time(value, language, rng)
    if kind == "date-time" and DATE_TIME_VALUE.fullmatch(value):
        return write_moment(value, language, rng)
    if kind == "enum" and _LETTER_CASES.fullmatch(value):
        return _CAMEL.sub(" ", value).lower()
    return value


def _write_list(stated: list[str], language: Language) -> str:
    pack = of(language)
    if len(stated) <= 1:
        return stated[0] if stated else pack.nothing
    return pack.comma.join(stated[:-1]) + pack.last + stated[-1]


STATED = "stated"
NEGATED = "negated"
ANSWERED = "yes or no"

_ANSWER = LanguagePattern(
    r"[^\w]*(?:(?P<no>@{answer_no})|(?P<yes>@{answer_yes}))(?:@[\s,]*(?:@{politeness}))?(?:@[,.!;]|\s*$)"
)
_FIRST_CLAUSE = LanguagePattern("@[.;(]|@{first_clause_end}")
_FRAME = LanguagePattern(r"^(?:@{whether})")
_TAIL = LanguagePattern(r"(?:@{whether_end})$")
_OFF = frozenset(
    deep_stem(word) for word in ("off", "disable", "exclude", "skip", "avoid", "remove")
)
_NEAR = 4
# words that hold the character of a negation and negate nothing
_HARMLESS = LanguagePattern("@{harmless_negation}")


class _Topic(NamedTuple):
    phrase: str
    keys: tuple[str, ...]


def find_boolean(value: bool, schema: JsonSchema, text: str) -> Found | None:  # noqa: FBT001
    """Return where `text` states (True) or negates (False) what the description or title names.

    The description and title are the schema's. None if the text does neither.
    """
    answer = _ANSWER.of(text).match(text)
    if answer and len(text) == answer.end():
        if bool(answer["yes"]) == value:
            return Found(value, answer.start(), answer.end(), ANSWERED)
        return None
    # what stands behind "no, I mean" is stated by itself, whatever was denied before
    for start in (0, *(one.end for one in find_corrections(text))):
        stated = content_keys(text[start:])
        topics = (_find_topic(value, topic, stated) for topic in _topics(schema))
        if mention := next(filter(None, topics), None):
            return mention._replace(start=mention.start + start, end=mention.end + start)
    return None


def read_boolean(words: str, schema: JsonSchema) -> bool | None:
    """Return the boolean that `words` answer or state, or None if they do neither."""
    stated = next((value for value in (True, False) if find_boolean(value, schema, words)), None)
    if stated is not None:
        return stated
    answer = _ANSWER.of(words).match(words)
    return bool(answer["yes"]) if answer else None


def write_boolean(value: bool, schema: JsonSchema, language: Language) -> str:  # noqa: FBT001
    """Return `value` in the words of the schema's description, or else a plain yes or no."""
    pack = of(language)
    phrase = next((topic.phrase for topic in _topics(schema) if writes(language, topic.phrase)), "")
    return pack.frames[value].format(t=phrase) if phrase else pack.answers[value]


def is_about(schema: JsonSchema, question: str) -> bool:
    """Whether `question` names what the schema's description or title names."""
    return any(find_boolean(value, schema, question) for value in (True, False))


def topic_phrase(schema: JsonSchema) -> str:
    """Return the words of the description that name what is switched, or "" if it has none."""
    topics = _topics(schema)
    return topics[0].phrase if topics else ""


def _topics(schema: JsonSchema) -> tuple[_Topic, ...]:
    return _read_topics(str(schema.get("description", "")), str(schema.get("title", "")))


# "Optional. …", "This is a flag. …" say what the parameter is, and not what it switches
_LABEL = re.compile(
    r"^\s*(?:(?:optional|required|(?:this is )?an? (?:boolean )?flag)\b[.:,]\s*)+", re.IGNORECASE
)
_LONGEST_TOPIC = 8  # words: a longer one is a sentence and no name of anything


@lru_cache(4096)
def _read_topics(description: str, title: str) -> tuple[_Topic, ...]:
    topics = []
    for words in (_LABEL.sub("", description), re.sub(r"[_\-]+|(?<=[a-z])(?=[A-Z])", " ", title)):
        clause = _FIRST_CLAUSE.of(words).split(words.strip(), maxsplit=1)[0].strip()
        phrase = clause
        for pack in packs_of(words):
            phrase = _TAIL.among((pack,)).sub("", _FRAME.among((pack,)).sub("", phrase))
        phrase = phrase.strip(signs(" ?"))
        telling = (key for key in content_keys(phrase) if key.light not in {STOP, *negations()})
        keys = tuple(key.deep for key in telling)
        if keys and len(phrase.split()) <= _LONGEST_TOPIC:
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
    start = min(key.start for key in span)
    return Found(value, start, max(key.end for key in span), STATED if value else NEGATED)


def _negation(stated: tuple[Key, ...], here: list[int]) -> Key | None:
    """Return a negation shortly before the topic in its sentence, or a word for off beside it."""
    first, last = here[0], here[-1]
    for index in range(first - 1, max(-1, first - 1 - _NEAR), -1):
        if stated[index].light == STOP:
            break
        if _negates(stated, index) or stated[index].deep in _OFF:
            return stated[index]
    found = (stated[index] for index in range(first, last + 1) if _negates(stated, index))
    between = next(found, None)
    after, rest = (stated[last + 1 : last + 2] or (None,))[0], stated[last + 2 : last + 3]
    # a word behind the topic turns it down: "breakfast off", or an answer to it, "breakfast: no"
    is_answer = after and after.light in negations() and (not rest or rest[0].light == STOP)
    return between or (after if after and (after.deep in _OFF or is_answer) else None)


def _negates(stated: tuple[Key, ...], index: int) -> bool:
    around = pairwise(stated[max(0, index - 1) : index + 2])
    words = (one.light + other.light for one, other in around if one.end == other.start)
    is_harmless = any(map(_HARMLESS.everywhere.fullmatch, words))
    return stated[index].light in negations() and not is_harmless
