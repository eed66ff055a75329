"""A text that was said, as rules read it: amounts, days and periods in it, quotations, and words that turn a value (marks.yaml)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache, cached_property
from typing import Any, Generic, Literal, NamedTuple, TypeVar, get_args

from callwright.language.numbers import find_numbers
from callwright.language.packs import has_folder, known, of, packaged, read_as, signs, widened
from callwright.language.readers.duckling_reader import read
from callwright.language.readers.mentions import UNKNOWN_NOW, Moment, find_moments
from callwright.language.readers.quantities import Quantity, find_quantities
from callwright.language.readers.units import quantity_words
from callwright.language.text import Spans, empty


@cache
def mark_words(language: str) -> Mapping[str, re.Pattern[str]]:
    """The closed classes of a language, as patterns by name; `articles` are several of them."""
    data = _data(language)
    data = {**data, "articles": rf"(?:{data['article']}\s*)+"}
    return {name: re.compile(words, re.IGNORECASE) for name, words in data.items() if isinstance(words, str)}


def digit_words(language: str) -> Mapping[str, str]:
    """The words for single digits."""
    digits: Mapping[str, str] = _data(language)["digits"]
    return digits


def measure_words(language: str) -> Mapping[str, str]:
    """What is said of a measure, wide, with what schemas call it, width."""
    measures: Mapping[str, str] = _data(language)["measures"]
    return measures


@cache
def schema_words(name: str) -> re.Pattern[str]:
    """A class of words that schemas have, in all languages: whatever people speak, theirs is another one often."""
    return re.compile("|".join(mark_words(code)[name].pattern for code in known()), re.IGNORECASE)


def _data(language: str) -> Any:  # noqa: ANN401 - parsed YAML
    return packaged(f"callwright.language.{read_as(language)}", "marks.yaml")


MarkKind = Literal["negation", "correction", "change", "alternative", "condition", "past", "from", "to"]
MARKS: tuple[MarkKind, ...] = get_args(MarkKind)
_CLAUSE_END = re.compile(widened(r"@[;!?{list}]+|@[,.:](?!\d)|\n"))
_SENTENCE_END = re.compile(widened(r"@[!?]|@[.](?!\d)|\n"))
_OWN_STOP = re.compile(r"\.\s+(?=[A-Z])")  # "at 6 am. Don't": the stop of an abbreviation ends the sentence as well
_OWN_QUOTES = "".join(
    f"|{left}[^{right}]+{right}" for left, right in zip(signs("{open}"), signs("{close}"), strict=True)
)
_QUOTED = re.compile(rf"\"[^\"]+\"|“[^”]+”|«[^»]+»|„[^“”]+[“”]{_OWN_QUOTES}|(?<!\w)'[^']+'(?!\w)|‘[^’]+’")
_TURNING = frozenset({"negation", "correction", "alternative"})
_MONTHS_OF = {"month": 1, "quarter": 3, "year": 12}
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")
_WEEK = 7
_LONGEST = 2000  # letters of a sentence before and behind what stands in it
_NEAR = 100  # letters between a negation and the amount whose bound it turns
_HALF = 6  # months


class Span(NamedTuple):
    """A stretch of a text."""

    start: int
    end: int

    def touches(self, other: "Span") -> bool:
        """Whether both have a character in common."""
        return self.start < other.end and other.start < self.end


class Place(NamedTuple):
    """Where a text says a value; `why` tells what keeps it from being proved there, "" where nothing does."""

    span: Span
    why: str = ""
    is_typed: bool = False  # the unit or the form tells whose value it is
    is_owned: bool = False  # the words tell which parameter it is for
    is_open: bool = False  # more words of the text or about the flag may follow
    more: Span | None = None  # a word that may belong to the name
    others: tuple[Span, ...] = ()  # where another of the choices is said


class Mark(NamedTuple):
    """A word of a closed class that may turn a value said into one that is not wanted."""

    kind: MarkKind
    span: Span


class Time(NamedTuple):
    """A day, a period from its first to its last day, or a time of day, that a text mentions.

    `days` are those that it may mean, `last` those that it may end on; more than one says that the
    words leave open which. `clocks` are HH:MM. `is_bare`: a day of the week or of a month whose week
    or year nothing says.
    """

    span: Span
    days: frozenset[str] = frozenset()
    last: frozenset[str] = frozenset()
    clocks: frozenset[str] = frozenset()
    last_clock: str = ""
    is_bare: bool = False
    is_vague: bool = False  # a part of a day: this evening


@dataclass(frozen=True)
class Said:
    """A text of a conversation with what is found in it; `own` is where the words of who speaks end.

    Behind them stands a message handed over. `question` is what the text answers. Without `now` no
    day that counts from today is known. It is read when it is first asked about: of most texts nobody
    asks for amounts or days, and to find these takes longest.
    """

    text: str
    language: str
    now: datetime | None
    own: int
    question: str
    turn: int = 0

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The amounts."""
        return find_quantities(self.text, self.language)

    @cached_property
    def times(self) -> tuple[Time, ...]:
        """The days, periods and times of day."""
        return tuple(_times(self.text, self.language, self.now))

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """The words that may turn a value."""
        return tuple(_marks(self))

    @cached_property
    def quotes(self) -> tuple[Span, ...]:
        """The quotations."""
        return tuple(Span(*match.span()) for match in _QUOTED.finditer(self.text))

    @property
    def knows_marks(self) -> bool:
        """Whether the words are known by which a value of this language is taken back."""
        return has_folder(self.language)

    @cached_property
    def little(self) -> frozenset[str]:
        """The words of its language without a content of their own."""
        return empty((of(self.language),))

    @cached_property
    def small(self) -> frozenset[str]:
        """Those, and the other words of closed classes that are no name and no part of one."""
        return self.little | of(self.language).words.get("particles", frozenset())

    def quote(self, span: Span) -> str:
        """The words of a stretch."""
        return self.text[span.start : span.end]

    def is_time(self, span: Span) -> bool:
        """Whether a stretch says a day or a time and nothing else."""
        return any(one.span.start <= span.start and span.end <= one.span.end for one in self.times)

    def clause(self, span: Span) -> Span:
        """The clause around a stretch."""
        return _around(_CLAUSE_END, self.text, span)

    def sentence(self, span: Span) -> Span:
        """The sentence around a stretch."""
        return _around(_SENTENCE_END, self.text, span)

    def marked(self, where: Span, *kinds: MarkKind, but: Sequence[Span] = ()) -> Mark | None:
        """The first word of these kinds in a stretch, outside of the names and texts `but`."""
        found = (one for one in self.marks if one.kind in kinds and one.span.touches(where))
        return next((one for one in found if not any(one.span.touches(each) for each in but)), None)


def _around(ends: re.Pattern[str], text: str, span: Span) -> Span:
    first, last = max(0, span.start - _LONGEST), min(len(text), span.end + _LONGEST)
    start = max((one.end() for one in ends.finditer(text, first, span.start)), default=first)
    is_last = _OWN_STOP.match(text, span.end - 1) if span.end > span.start else None
    end = ends.search(text, span.end - 1 if is_last else span.end, last)
    return Span(start, max(end.start(), span.end) if end else last)


def hear(
    text: str, language: str, now: datetime | None, *, question: str = "", message: str = "", turn: int = 0
) -> Said:
    """Read what was said, with the question that it answers and the message that came along."""
    whole = f"{text}\n{message}" if message else text
    return Said(text=whole, language=language, now=now, own=len(text), question=question, turn=turn)


Thing = TypeVar("Thing")


class _Nearby(Generic[Thing]):
    """Things that stand in a text, to be asked for those around a stretch; each is shorter than a part of the text."""

    def __init__(self, things: Iterable[tuple[Span, Thing]]) -> None:
        self._parts: dict[int, list[Thing]] = {}
        for span, thing in things:
            self._parts.setdefault(span.start // _LONGEST, []).append(thing)

    def around(self, span: Span) -> Iterator[Thing]:
        for part in range(span.start // _LONGEST - 1, span.end // _LONGEST + 2):
            yield from self._parts.get(part, ())


def _marks(said: Said) -> Iterator[Mark]:
    if not said.knows_marks:
        return
    words = mark_words(said.language)
    plain = said.text.replace("’", "'")
    harmless = Spans(match.span() for match in words["harmless"].finditer(plain))
    found = [Mark(kind, Span(*match.span())) for kind in MARKS for match in words[kind].finditer(plain)]
    turning = _Nearby((one.span, one) for one in found if one.kind in _TURNING)
    amounts = _Nearby((Span(one.start, one.end), one) for one in said.quantities if one.bound == "most")
    for one in found:
        # one with more letters has it in it, or a correction with as many
        longer = [each for each in turning.around(one.span) if one.kind in _TURNING and each.span.touches(one.span)]
        sizes = [(each.span.end - each.span.start, each.kind == "correction" != one.kind) for each in longer]
        is_part = any(size > (one.span.end - one.span.start, False) for size in sizes)
        is_bound = one.kind == "negation" and any(
            _turns_bound(plain, one.span, each, said.language) for each in amounts.around(one.span)
        )
        if not is_part and not is_bound and not harmless.overlaps(*one.span):
            yield one


def _turns_bound(text: str, negation: Span, amount: Quantity, language: str) -> bool:
    """Whether a negation makes a least amount the most, and so denies nothing else: don't spend more than 90."""
    if not 0 <= amount.start - negation.end <= _NEAR:
        return False
    between, words = text[negation.end : amount.start].lower(), quantity_words(language).patterns
    return bool(words["least"].search(between) and words["flips"].search(f"not{between}"))


def _times(text: str, language: str, now: datetime | None) -> Iterator[Time]:
    """Days and times as the readers of moments find them, and the periods that they leave out."""
    moments = find_moments(text, language, now or UNKNOWN_NOW)
    read_more = [Span(one.start, one.end) for one in moments if one.last_day or one.clocks]
    counted = [*_weeks(text, language, now), *_halves(text, language, now)]
    read_by_rule = [one.span for one in counted]
    counted += [one for one in _whole_periods(text, language, now) if not any(map(one.span.touches, read_by_rule))]
    read_more += [Span(one.start, one.end) for one in moments if one.day and _says_day_of(one, text, language)]
    periods = [one for one in counted if not any(one.span.touches(span) for span in read_more)]
    yield from periods
    for one in moments:
        span = Span(one.start, one.end)
        if any(span.touches(period.span) for period in periods):
            continue
        days = one.days
        if one.earlier_day and not any(_on(one.earlier_day, _WEEK) == day for day in days):
            days = frozenset({*days, one.earlier_day})
        if now is None and not _YEAR.search(text[one.start : one.end]):
            days = frozenset()  # nobody knows from where it counts
        elif one.earlier_day and now is not None:
            days = _nearest(days, now.date())
        elif now is not None:
            days = _coming(days, text[one.start : one.end], language, now.date())
        last = frozenset(filter(None, [one.last_day]))
        counts_on = quantity_words(language).patterns["elapse"].search(text[one.start : one.end])
        is_bare = bool(one.earlier_day or counts_on)
        yield Time(span, days, last, one.clocks, one.last_clock, is_bare, _is_part(one, text, language))


def _is_part(one: Moment, text: str, language: str) -> bool:
    quote = text[one.start : one.end]
    is_timed = not one.last_clock or one.is_figures or bool(find_numbers(quote))
    return not is_timed and quantity_words(language).patterns["part_of_day"].search(quote.lower()) is not None


def _says_day_of(one: Moment, text: str, language: str) -> bool:
    """Whether a day of a month is read with the word for that month."""
    return quantity_words(language).patterns["day_of_this_month"].fullmatch(text, one.start, one.end) is not None


def _on(day: str, days: int) -> str:
    """The day so many days later, "" for a month."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat() if len(day) == len("2001-01-01") else ""


def _nearest(days: frozenset[str], now: date) -> frozenset[str]:
    """The one of two readings of a day that is nearer; both where neither is."""
    gaps = {day: abs((date.fromisoformat(day) - now).days) for day in days if len(day) == len("2001-01-01")}
    return frozenset(day for day, gap in gaps.items() if gap == min(gaps.values())) or days


def _coming(days: frozenset[str], quote: str, language: str, now: date) -> frozenset[str]:
    """A day of the week that is "next" may be the first that comes, where Duckling takes the one of the week after."""
    if not has_folder(language) or not all(len(day) == len("2001-01-01") for day in days):
        return days
    found = [date.fromisoformat(day) - timedelta(days=_WEEK) for day in days]
    first = {day.isoformat() for day in found if 0 < (day - now).days < _WEEK}
    if first and mark_words(language)["coming"].search(quote):
        return frozenset(first)
    return days | first if mark_words(language)["next_one"].search(quote) else days


def _whole_periods(text: str, language: str, now: datetime | None) -> Iterator[Time]:
    """Weeks, months, quarters and years as Duckling finds them, from the first to the last day."""
    for one in read(text, language, now or UNKNOWN_NOW):
        grain = one.value.get("grain")
        until = one.value.get("to") if one.dimension == "time" and "from" not in one.value else None
        if until and until.get("grain") == "month" and (now is not None or _YEAR.search(text[one.start : one.end])):
            yield Time(Span(one.start, one.end), frozenset({until["value"][:7]}))  # which of its days nobody says
        if one.dimension != "time" or one.value.get("type") != "value" or grain not in (*_MONTHS_OF, "week"):
            continue
        if now is None and not _YEAR.search(text[one.start : one.end]):
            continue
        first = date.fromisoformat(str(one.value["value"])[:10])
        if now is not None and grain == "month" and len(one.value.get("values", ())) > 1:
            earlier = first.replace(year=first.year - 1)
            last = abs((_end_of(earlier, grain) - now.date()).days)
            first = earlier if last < (first - now.date()).days else first
        yield _period(Span(one.start, one.end), text, language, now, (first, _end_of(first, grain)))


def _period(span: Span, text: str, language: str, now: datetime | None, edges: tuple[date, date]) -> Time:
    so_far = mark_words(language)["so_far"].search(text, span.end, span.end + 20) if has_folder(language) else None
    first, last = edges
    if so_far and now is not None:
        span, last = Span(span.start, so_far.end()), now.date()
    return Time(span, frozenset({first.isoformat()}), frozenset({last.isoformat()}))


def _end_of(first: date, grain: str) -> date:
    if grain == "week":
        return first + timedelta(days=_WEEK - 1)
    return _months_on(first, _MONTHS_OF[grain]) - timedelta(days=1)


def _months_on(first: date, months: int) -> date:
    year, month = divmod(first.month - 1 + months, 12)
    return date(first.year + year, month + 1, 1)


def _weeks(text: str, language: str, now: datetime | None) -> Iterator[Time]:
    """Weeks of languages that count them by words that may be said twice."""
    if not has_folder(language) or now is None:
        return
    words = quantity_words(language)
    for match in mark_words(language)["counted_week"].finditer(text):
        weeks = match[1].count(words.week_later) - match[1].count(words.week_earlier)
        monday = now.date() + timedelta(days=weeks * _WEEK - now.weekday())
        yield _period(Span(*match.span()), text, language, now, (monday, _end_of(monday, "week")))


def _halves(text: str, language: str, now: datetime | None) -> Iterator[Time]:
    """Halves and quarters of a year, this month and this year and last one, in the language's own words."""
    if not has_folder(language):
        return
    words = mark_words(language)
    lower = text.lower()
    names = {"first_half": (1, _HALF), "second_half": (1 + _HALF, _HALF), "this_year": (1, 12), "last_year": (1, 12)}
    taken: list[Span] = []
    for name in ("first_half", "second_half", "quarter", "this_month", "this_year", "last_year"):
        for match in words[name].finditer(lower):
            span, stated = Span(*match.span()), _YEAR.search(lower, max(0, match.start() - 6), match.end() + 12)
            if any(span.touches(one) for one in taken) or (now is None and not stated):
                continue
            year = int(stated[0]) if stated else (now or UNKNOWN_NOW).year - (name == "last_year")
            at, length = names.get(name, ((now or UNKNOWN_NOW).month, 1))
            if name == "quarter":
                at, length = int(digit_words(language).get(match[1], match[1])) * 3 - 2, 3
            first = date(year, at, 1)
            taken.append(span)
            yield _period(span, text, language, now, (first, _months_on(first, length) - timedelta(days=1)))
