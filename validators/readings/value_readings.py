"""Whether a request says a value: a truth value, a choice, a day or a time, a name, a text. Numbers stand in amount_readings."""

import re
from collections.abc import Sequence
from datetime import date

from callwright.language.booleans import ANSWERED, find_boolean, is_about
from callwright.language.cues import (
    SYNONYM,
    cue_words,
    find_alike,
    find_choice,
    find_choices,
    find_cut_word,
    find_flag,
    find_own_part,
    find_switch,
    find_whole_word,
)
from callwright.language.flags import read_flag
from callwright.language.packs import of
from callwright.language.plain_words import clauses_of, is_context
from callwright.language.readers.glosses import glosses_of
from callwright.language.readers.mentions import Moment
from callwright.language.readers.quantities import Quantity, find_quantities
from callwright.language.readers.units import quantity_words
from callwright.language.schemas import choices_of
from callwright.language.sentences import last_clause
from callwright.language.spelling_out import find_spelled
from callwright.language.text import VERBATIM, Found
from callwright.language.thesaurus import is_empty
from callwright.language.values import locate
from callwright.language.vocabulary import find_corrections
from callwright.validators.readings.amount_readings import read_number
from callwright.validators.readings.request_text import (
    ArgumentLeaf,
    ArgumentReading,
    RequestText,
    Span,
    left_open,
    proved,
    touches,
)

GROUPING = "grouping of digits"
_EXACT = frozenset(
    {VERBATIM, "spelling", GROUPING, "inflection", "place spelling", "date", "date and time", "date in figures"}
)
_LAST, _FIRST = re.compile("end|return|checkout|until|last|out|finish|to"), re.compile("start|begin|checkin|from")
_RETURN = re.compile("return|back|resume|checkout|out")
_EARLIEST = re.compile(r"\b(?:not before|earliest|no earlier|after)\b")
_LATEST = re.compile(r"\b(?:not after|latest|no later|before|deadline|due|expires?|expir\w+)\b")
_ENDING, _CLAUSE_END = re.compile("to|end|last|until|through|off"), re.compile(r"[.,;!?]")
_AROUND, _BESIDE = 30, 12  # characters around a moment in which words make it a limit
_NEW = re.compile("new|target|alter|updated|changed")
_PAST = re.compile(
    "after|since|accident|violation|incident|purchased?|signing|pay|paid|birth|past|occurred|modified|issued|charge|trip|run|work|reading|measured|taken"
)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CLOCK = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d")
DAY_CLOCK = re.compile(r"(\d{4}-\d{2}-\d{2})[ T]([0-2]\d:[0-5]\d)(?::00)?(?:Z|\+00:00)?")
_MONTH = re.compile(r"(0[1-9]|1[0-2])/(20\d{2})|(20\d{2})-(0[1-9]|1[0-2])")
_CODED = re.compile(
    "currency|currencies|lang|languages?|units?|frequency|period|interval|mode|type|method|format|category|status|sort"
    "|priority|reason|class|size|level|gender|side|kind|option|plan|service|order|channel|moneda|idioma|unidad"
)
_SHORTEST_CODE, _MOST_WORDS = 4, 3
_SOME_WEEKS = 45  # days
_LONGEST_FUNCTION_WORD = 2
_SWITCHED = frozenset({"on", "no"})
_NEGATION_BEFORE = 20  # characters


def read_value(leaf: ArgumentLeaf, text: RequestText) -> ArgumentReading:
    """What the request says of one value of the call."""
    value = leaf.value
    if isinstance(value, bool):
        return _read_boolean(leaf, text)
    if isinstance(value, int | float):
        return read_number(leaf, float(value), text)
    if isinstance(value, str) and value.strip():
        return _read_string(leaf, value.strip(), text)
    return left_open(leaf, f"{leaf.name!r} holds no value.")


def is_day(value: object) -> bool:
    """Whether a value is a day."""
    return isinstance(value, str) and bool(_DAY.fullmatch(value))


def is_clock(value: object) -> bool:
    """Whether a value is a time of day."""
    return isinstance(value, str) and bool(_CLOCK.fullmatch(value))


def _read_boolean(leaf: ArgumentLeaf, text: RequestText) -> ArgumentReading:
    found = find_boolean(bool(leaf.value), {"title": leaf.name, **leaf.schema}, text.text) or find_flag(
        leaf.name, leaf.description, bool(leaf.value), text.text, text.language
    )
    worded = read_flag(leaf.name, leaf.description, text.text, text.language)
    if worded is not None and worded.value != leaf.value:
        quote = text.quote(Span(worded.places[0].start, worded.places[0].end))
        return left_open(leaf, f"{quote!r} says the opposite of {leaf.name} = {leaf.value!r}.")
    if worded is not None and (found is None or found.rule != ANSWERED):
        return proved(leaf, *(Span(one.start, one.end) for one in worded.places))
    if found is None:
        is_on = find_switch(leaf.name, bool(leaf.value), text.text, text.language)
        return proved(leaf) if is_on else left_open(leaf, f"No rule reads {leaf.name} = {leaf.value!r}.")
    if found.rule == ANSWERED and not is_about(leaf.schema, text.question):
        return left_open(leaf, f"{text.quote(Span(found.start, found.end))!r} answers no question about {leaf.name!r}.")
    if text.has_cue("double_negation", max(0, found.start - _NEGATION_BEFORE), found.end):
        return left_open(leaf, f"{text.quote(Span(found.start, found.end))!r} is negated twice.")
    if leaf.value and not _is_wished(found, text):
        return left_open(leaf, f"{text.quote(Span(found.start, found.end))!r} may not be a wish.")
    return proved(leaf, _with_negation(text, found))


def _is_wished(found: Found, text: RequestText) -> bool:
    """Whether a thing is stated by itself, wished, or said to be there; not merely told of."""
    clause = next((one for one in clauses_of(text.text, text.language) if one.end > found.start), None)
    if clause is None or not is_context(text.text[clause.start : clause.end], text.language):
        return True
    before = text.text[clause.start : found.start]
    return bool(cue_words(text.language).patterns["there_is"].search(before))


def _with_negation(text: RequestText, found: Found) -> Span:
    first = max(0, found.start - _NEGATION_BEFORE)
    match = list(cue_words(text.language).patterns["negation"].finditer(text.text[first : found.start]))
    return Span(first + match[-1].start() if match else found.start, found.end)


def _read_string(leaf: ArgumentLeaf, value: str, text: RequestText) -> ArgumentReading:
    choices = [str(one) for one in choices_of(leaf.schema)]
    if choices:
        return _read_choice(leaf, value, choices, text)
    reading = _read_month(leaf, value, text) or _read_moment(leaf, value, text)
    if reading is not None:
        return reading
    if cue_words(text.language).patterns["vague_name"].search(value) and not leaf.is_free_text:
        return left_open(leaf, f"{value!r} names nothing.")
    found = _find_string(value, text.text, text.language)
    if found is None and leaf.is_named(_CODED):
        found = find_choice(value, text.text, text.language, leaf.name)
    return (
        proved(leaf, Span(found.start, found.end))
        if found
        else left_open(leaf, f"Nothing says {leaf.name} = {value!r}.")
    )


def _find_string(value: str, text: str, language: str) -> Found | None:
    found = locate(value, {}, text)
    if found is not None and found.rule in _EXACT:
        return found
    spelled = find_spelled(value, text, language)
    if spelled is not None:
        return spelled
    compact = re.sub(r"[\s\-]", "", value)
    several = re.search(rf"(?<!\w){re.escape(value)}['’]?s\b", text) if re.search(r"\d", value) else None
    if several:
        return Found(value, *several.span(), GROUPING)
    if len(compact) < _SHORTEST_CODE or not re.search(r"\d", compact):
        return None
    grouped = r"[\s\-]*".join(map(re.escape, compact))
    match = re.search(rf"(?<![A-Za-z0-9]){grouped}(?![A-Za-z0-9])", text, re.IGNORECASE)
    return Found(value, *match.span(), GROUPING) if match else None


def _read_choice(leaf: ArgumentLeaf, value: str, choices: Sequence[str], text: RequestText) -> ArgumentReading:
    glosses = glosses_of(leaf.schema)
    stated = {
        choice: found
        for choice in choices
        if (found := _find_named((choice, *filter(None, [glosses.get(choice)])), text, leaf.name))
        and (choice == value or _is_meant(leaf, choice, found, text))
    }
    mine = stated.pop(value, None)
    if mine is None and not stated:
        names = [glosses.get(one, one) for one in choices]
        alike = {one: found for one in names if (found := find_alike(one, text.text, text.language))}
        mine = (
            find_whole_word(value, choices, text.text)
            or find_cut_word(value, choices, text.text, text.language)
            or _find_own_part(glosses.get(value, value), names, text)
            or (alike.get(glosses.get(value, value)) if len(alike) == 1 else None)
        )
    if mine is None and not stated:
        mine = _find_amount(value, choices, text)
    stated = {
        choice: found for choice, found in stated.items()
        if not _is_set_aside(found, text) and not (mine and _is_taken_back(choice, found, mine, text))
    }  # fmt: skip
    is_only = mine is not None and all(_is_inside(other, mine) for other in stated.values())
    if mine is not None and is_only and not text.is_denied(mine.start):
        return proved(leaf, Span(mine.start, mine.end))
    return left_open(leaf, f"No rule reads {leaf.name} = {value!r}.")


def _find_named(names: Sequence[str], text: RequestText, parameter: str) -> Found | None:
    """Where the text says one of a choice's names: what its code is, and what the description says that it means."""
    return next(filter(None, (locate(one, {}, text.text) or _find_wished(one, text, parameter) for one in names)), None)


def _find_wished(choice: str, text: RequestText, name: str) -> Found | None:
    """Where the text words a choice, rather in a wish than where it only tells of something."""
    found = list(find_choices(choice, text.text, text.language, name))
    return next((one for one in found if not _is_set_aside(one, text)), found[0] if found else None)


def _find_own_part(value: str, choices: Sequence[str], text: RequestText) -> Found | None:
    """Where the text, without its numbers and times, has what one choice has alone."""
    plain = "".join(" " if touches(text.mentions, at, at + 1) else text.text[at] for at in range(len(text.text)))
    return find_own_part(value, choices, plain if not of(text.language).space else text.text, text.language)


def _find_amount(value: str, choices: Sequence[str], text: RequestText) -> Found | None:
    """Where the text has the amounts that one choice alone consists of: "a thousand and more", "two hours after"."""
    wanted = {choice: find_quantities(choice, text.language) for choice in choices}
    found = {
        choice: places for choice, amounts in wanted.items()
        if amounts and all(places := [next((one for one in text.quantities if _is_same(one, each)), None) for each in amounts])
    }  # fmt: skip
    if set(found) != {value}:
        return None
    spans = [one for one in found[value] if one is not None]
    return Found(value, min(one.start for one in spans), max(one.end for one in spans), SYNONYM)


def _is_same(one: Quantity, other: Quantity) -> bool:
    """Whether two amounts are the same, with the same bound; one may lack its unit."""
    factors = (one.unit.factor if one.unit else 1, other.unit.factor if other.unit else 1)
    is_alike = not one.unit or not other.unit or one.unit.dimension == other.unit.dimension
    share = factors if one.unit and other.unit else (1, 1)
    return (
        is_alike and one.bound == other.bound and not one.is_estimate and one.value * share[0] == other.value * share[1]
    )


def _is_set_aside(found: Found, text: RequestText) -> bool:
    """Whether another choice is only told of or turned down."""
    if of(text.language).space:
        return False
    if text.is_denied(found.start):
        return True
    clause = next((one for one in clauses_of(text.text, text.language) if one.start <= found.start < one.end), None)
    return clause is not None and is_context(text.text[clause.start : clause.end], text.language)


def _is_meant(leaf: ArgumentLeaf, choice: str, found: Found, text: RequestText) -> bool:
    """Whether words state another choice: not one beside this in the call, nor one that is denied."""
    if choice in leaf.siblings or _is_function_word(choice, text.text) or text.is_denied(found.start):
        return False
    longer = (text.text.find(one) for one in leaf.siblings if len(one) > len(choice))
    ends = (text.text.find(one) + len(one) for one in leaf.siblings if len(one) > len(choice))
    return not any(0 <= start <= found.start and found.end <= end for start, end in zip(longer, ends, strict=True))


def _is_taken_back(choice: str, other: Found, mine: Found, text: RequestText) -> bool:
    """Whether another choice is stated, then words that correct it, then this one, and the other never again."""
    words = cue_words(text.language).patterns
    marks = [match.span() for name in ("correction", "apology") for match in words[name].finditer(text.text)]
    marks += [(one.start, one.end) for one in find_corrections(text.text)]
    is_between = any(other.end <= start and end <= mine.start for start, end in marks)
    return is_between and locate(choice, {}, text.text[mine.end :]) is None


def _is_function_word(choice: str, text: str) -> bool:
    """Whether a choice is spelt like a word of every sentence: "in" for inches, "it" for Italian."""
    return len(choice) <= _LONGEST_FUNCTION_WORD and choice not in _SWITCHED and is_empty(choice.lower(), text)


def _is_inside(inner: Found, outer: Found) -> bool:
    return (
        outer.start <= inner.start and inner.end <= outer.end and (inner.start, inner.end) != (outer.start, outer.end)
    )


def _read_month(leaf: ArgumentLeaf, value: str, text: RequestText) -> ArgumentReading | None:
    month = _MONTH.fullmatch(value)
    wanted = f"{month[2] or month[3]}-{month[1] or month[4]}" if month else ""
    named = next((one for one in text.moments if wanted in one.days), None)
    return proved(leaf, Span(named.start, named.end)) if named else None


def _read_moment(leaf: ArgumentLeaf, value: str, text: RequestText) -> ArgumentReading | None:
    """The reading of a day, a time of day or both; None where the value is none of these."""
    whole = DAY_CLOCK.fullmatch(value)
    day = whole[1] if whole else value if _DAY.fullmatch(value) else ""
    clock = whole[2] if whole else value if _CLOCK.fullmatch(value) else ""
    if not day and not clock:
        return None
    if value in text.text:
        return proved(leaf, Span(text.text.index(value), text.text.index(value) + len(value)))
    days = [one for one in text.moments if day and _says_day(leaf, day, one, text)]
    clocks = [one for one in text.moments if clock and _says_clock(leaf, clock, one)]
    spans = [Span(one.start, one.end) for one in dict.fromkeys([*days[:1], *clocks[:1]])]
    limit = next(filter(None, (_limit_doubt(leaf, span, text) for span in spans)), "")
    if limit:
        return left_open(leaf, limit, *spans)
    if (day and not days) or (clock and not clocks):
        return left_open(leaf, f"No day or time in the text is {value!r}.", *spans)
    if day and any(quantity_words(text.language).patterns["open_date"].search(text.quote(span)) for span in spans):
        return left_open(leaf, f"{text.quote(spans[0])!r} may begin with its day or with its month.", *spans)
    if day and text.now is None and not re.search(r"\d{4}", "".join(map(text.quote, spans))):
        return left_open(leaf, f"{value!r} depends on the day of the request.", *spans)
    return proved(leaf, *spans)


def _limit_doubt(leaf: ArgumentLeaf, span: Span, text: RequestText) -> str:
    """Why a moment is not the limit that is wanted: the earliest where the latest is stated, the day back for the last one."""
    name, patterns = " ".join(leaf.words), cue_words(text.language).patterns
    if "latest" not in patterns:
        return ""
    before = last_clause(text.text[max(0, span.start - _AROUND) : span.start])
    beside = f"{before[-_BESIDE:]} {text.quote(span)} {_CLAUSE_END.split(text.text[span.end : span.end + _AROUND])[0]}"
    if patterns["negation"].search(before):  # "not home before six"
        return ""
    is_late, is_early = patterns["latest"].search(beside), patterns["earliest"].search(beside)
    if (_EARLIEST.search(name) and is_late and not is_early) or (_LATEST.search(name) and is_early and not is_late):
        return f"{text.quote(span)!r} is the other limit than {leaf.name!r}."
    is_back = leaf.is_named(_ENDING) and not patterns["coming_back"].search(f"{name} {leaf.description}")
    if is_back and patterns["coming_back"].search(before):
        return f"At {text.quote(span)!r} something is back, and {leaf.name!r} is the last one."
    return ""


def _says_clock(leaf: ArgumentLeaf, clock: str, moment: Moment) -> bool:
    if moment.last_clock and leaf.is_named(_LAST) != leaf.is_named(_FIRST):
        return clock == moment.last_clock if leaf.is_named(_LAST) else moment.clocks == {clock}
    return moment.clocks == {clock} or moment.last_clock == clock


def _is_just_past(day: str, quote: str, text: RequestText) -> bool:
    """Whether a date without its year is some weeks ago, and so not meant to be the one of next year."""
    if text.now is None or not re.search(r"\d", quote):
        return False
    return 0 <= (text.now.date() - date.fromisoformat(day)).days <= _SOME_WEEKS


def _says_day(leaf: ArgumentLeaf, day: str, moment: Moment, text: RequestText) -> bool:
    is_past = (leaf.is_named(_PAST), text.has_cue("since"))
    if moment.earlier_day == day:
        return any(is_past) or _is_just_past(day, text.quote(Span(moment.start, moment.end)), text)
    if moment.earlier_day and all(is_past) and not re.search(r"\d", text.quote(Span(moment.start, moment.end))):
        return False  # "it stood at 310 on Sunday"
    if moment.last_day and leaf.is_named(_NEW):
        return day == moment.last_day
    is_over = quantity_words(text.language).patterns["back_again"].search(text.text[moment.end :])
    if is_over and leaf.is_named(_LAST) and not leaf.is_named(_RETURN):
        return False
    if day == moment.last_day and day not in moment.days:
        return not leaf.is_named(_FIRST)
    return day in moment.days and not (moment.last_day and leaf.is_named(_LAST))
