"""The rules of English: numbers in words, dates, times of day, and words that stand for others."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import lru_cache
from random import Random

from callwright.language.en.actions import Actions
from callwright.language.names import humanise, words
from callwright.language.protocol import ORDINAL, PERCENT, WORDS, ClockReading, Number

# ruff: noqa: PLR2004 - days, hours and the powers of ten are what this file is about

_BELOW_TWENTY = words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS = words("twenty thirty forty fifty sixty seventy eighty ninety")
_SMALL = {**{word: at for at, word in enumerate(_BELOW_TWENTY)}, **{word: 10 * at for at, word in enumerate(_TENS, 2)}}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}
_ORDINAL_WORDS = words(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth"
    " sixteenth seventeenth eighteenth nineteenth twentieth"
)
_ORDINALS = {  # to thirty-first, hyphenated and not
    **{word: number for number, word in enumerate(_ORDINAL_WORDS, 1)},
    **{f"twenty{joint}{word}": 20 + at for at, word in enumerate(_ORDINAL_WORDS[:9], 1) for joint in "- "},
    "thirtieth": 30, "thirty-first": 31, "thirty first": 31,
}  # fmt: skip
_TINY = "|".join(sorted(_SMALL, key=len, reverse=True))
_SCALE = "|".join(_SCALES)
_AFTER_SCALE = "(?:" + "|".join(f"(?<={word})" for word in _SCALES) + ")"
# only a scale may be followed by "and" or a comma: "twenty and two" are two numbers
_MORE = rf"(?:(?:\s*-\s*|\s+|{_AFTER_SCALE}(?:,?\s+and\s+|,\s+))(?:{_TINY}|{_SCALE}))*"
_CARDINAL_WORDS = (
    rf"(?:half\s+a\s+dozen|(?:(?:{_TINY})\s+|a\s+)dozen|an?\s+(?:{_SCALE}){_MORE}|(?:{_TINY}){_MORE})"
    rf"(?:\s+point(?:\s+(?:{_TINY}))+)?"
)
_WORD = re.compile(r"[a-z]+")

_CARDINAL = re.compile(
    rf"(?<![a-z\d-])(?P<sign>minus\s+)?(?P<words>{_CARDINAL_WORDS})(?P<half>\s+and\s+a\s+half)?(?![a-z])"
    r"(?P<percent>\s*per\s?cent(?![a-z])|\s*%)?"
)
_ORDINAL = re.compile(r"(?<![a-z-])(?:" + "|".join(sorted(_ORDINALS, key=len, reverse=True)) + r")(?![a-z])")
_NUMBER_HINT = re.compile(
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twel|teen|ty|hundred|dozen|zero|thous|illion"
)
_ORDINAL_HINT = re.compile("first|second|third|th")
_NO_NUMBER_BEFORE = re.compile(
    r"(?:\b(?:this|that|which|the|another|any|each|every|no|next|good|new|right|only|best|\w+er)|\ban?\s\w+)\s+$"
)
_NO_NUMBER_AFTER = re.compile(r"\s+(?:of|day|another|that|which|with|near|moment|who)\b")
_NOT_SECOND_BEFORE = re.compile(r"(?:\b(?:a|per|one|every|split|each)|\d|-)\s*$")

_HOUR = rf"(?:\d{{1,2}}|{'|'.join(sorted(_BELOW_TWENTY[1:13], key=len, reverse=True))})"
_ONES = "one|two|three|four|five|six|seven|eight|nine"
_MINUTES = (
    rf"(?:(?:twenty|thirty|forty|fifty)(?:[ -](?:{_ONES}))?|o[h']?[ -](?:{_ONES})|ten|eleven|twelve|thirteen|fourteen"
    r"|fifteen|sixteen|seventeen|eighteen|nineteen)"
)
_TO_PAST = {"half": 30, "quarter": 15, "twenty-five": 25, "twenty": 20, "ten": 10, "five": 5}
_PART = (
    r"(?:(?P<half_day>[ap])\.?\s?m\b\.?|(?:in\s+the|this|tomorrow|early|late)\s+(?:early\s+|late\s+)?"
    r"(?P<part>morning|afternoon|evening)\b|(?P<night>at\s+night|tonight|tomorrow\s+night)\b)"
)
_LEAD = r"(?:\b(?P<lead>morning|afternoon|evening|tonight|night)(?:,|\s+at|\s+around|\s+from|\s+by)?\s+)?"
_CLOCK = re.compile(
    rf"(?<![\w.:/$€£¥-]){_LEAD}(?:"
    rf"(?:a\s+)?(?P<past>half|quarter|twenty[ -]five|twenty|ten|five)\s+(?P<way>past|after|to|before|till)\s+"
    rf"(?P<h1>{_HOUR})"
    r"|(?P<h2>\d{1,2})[:.](?P<n2>[0-5]\d)(?::[0-5]\d)?"
    rf"|(?P<h3>{_HOUR})(?:\s+(?P<n3>{_MINUTES}))?"
    rf")(?![\d:]|\.\d)(?P<clock>\s*o'?\s?clock\b)?(?:[\s,]*(?:sharp\s*)?{_PART})?(?!\w)"
)
_NAMED_CLOCK = re.compile(
    r"(?<![a-z])(?:(?:12|twelve)(?:\s*o'?\s?clock)?\s+)?(?:at\s+)?(?P<name>noon|midday|midnight)(?![a-z])"
)
_CLOCK_HINT = re.compile(
    r"\d[:.]\d\d|\d\s?[ap]\.?\s?m\b|\b[ap]\.?m\b|clock|past|quarter|half|night|morning|afternoon|evening| to "
)
_NAMED_HINT = re.compile("noon|mid(?:day|night)")

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTH_NUMBERS = {
    **{name.lower(): number for number, name in enumerate(_MONTHS, 1)},
    **{name.lower()[:3]: number for number, name in enumerate(_MONTHS, 1)},
    "sept": 9,
}
_MONTH_PATTERN = "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True))
_WEEKDAY_PATTERN = "|".join(f"{name.lower()}|{name.lower()[:3]}" for name in _WEEKDAYS)
_WEEKDAY_SHORT = {
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "thu": "thursday", "thur": "thursday",
    "thurs": "thursday", "fri": "friday",
}  # fmt: skip
_MONTH_OF_YEAR = re.compile(
    rf"\s*(?P<month>{_MONTH_PATTERN})\s+(?:of\s+)?(?P<year>this|last|next)\s+year\s*", re.IGNORECASE
)
_MONTH_STATED = re.compile(
    rf"\b(?:(?P<month>{_MONTH_PATTERN})\.?(?:\s+\d{{1,2}}(?:st|nd|rd|th)?)?,?\s+(?:of\s+)?(?P<year>this|last|next)\s+year"
    rf"|(?P<before>this|last|next)\s+(?P<after>{_MONTH_PATTERN}))\b",
    re.IGNORECASE,
)

_LONGEST_IN_WORDS = 100
_THOUSAND = 1000
_AMBIGUOUS_ORDINALS = 2  # "first" and "second" are adverbs and seconds as well
_DAY = (
    r"(?P<d>\d{1,2}(?:\s?(?:st|nd|rd|th))?|"
    + "|".join(word.replace(" ", r"\s") for word in sorted(_ORDINALS, key=len, reverse=True))
    + r")(?![\w:])"
)
_YEAR = r"(?:\s*,?\s*(?:of\s+|in\s+)?(?P<y>(?:19|20)\d\d)(?![\w:]))?"
_MONTH = rf"(?P<m>{_MONTH_PATTERN})(?![a-z])\.?"
_DATE_LEAD = rf"(?<![\w.:/\-])(?:(?:{_WEEKDAY_PATTERN})\b\.?,?\s+)?"

_UNITS = frozenset(words("hours minutes days nights weeks months guests people seats tickets points cards bags"))
_WITH_WITH = re.compile(r"(\swith(?:out)? [^,]{1,80}?) with ")
_WITH_CUE = re.compile(r"\bwith (?:the )?$", re.IGNORECASE)
_CLAUSE_START = re.compile(r"(?:^|[,.;:!?]\s+|\band )(?:the |my )?$", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(?:the|my|an?)\s+$", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+)$")
_FOR_ME = re.compile(r"^\w+ me\b|\bfor me$")
_PLURAL = re.compile(r"(?<!speci)(?<!seri)(?<!\bne)[^sui]s$")
_IS = re.compile(r"(?<=\}) is (?=\{)")
_NOON = 12
_HOURS_IN_WORDS = ("twelve", *_BELOW_TWENTY[1:12])
_PAST_HOUR = {0: "{0} o'clock", 15: "quarter past {0}", 30: "half past {0}", 45: "quarter to {1}"}
_SPOKEN = {0: "{0}", 15: "{0} fifteen", 30: "{0} thirty", 45: "{0} forty-five"}
_EARLIEST_NIGHT = 21
_LISTED = frozenset(
    words("items results rows lines records entries messages commits channels users pages elements objects")
)


class Rules(Actions):
    """What no list of English words can state."""

    DATE_PATTERNS = (
        rf"{_DATE_LEAD}(?:the\s+)?{_DAY}[\s\-/]*(?:of\s+)?{_MONTH}[\-,/]?{_YEAR}",
        rf"{_DATE_LEAD}{_MONTH}\s*(?:the\s+)?{_DAY}{_YEAR}",
    )

    def day_of_month(self, words: str) -> int | None:
        return _ORDINALS.get(re.sub(r"\s+", " ", words))

    def month_number(self, words: str) -> int | None:
        return _MONTH_NUMBERS.get(words)

    def date_forms(self, year: int, month: int, day: int) -> tuple[str, ...]:
        name, weekday = _MONTHS[month - 1], _WEEKDAYS[date(year, month, day).weekday()]
        ordinal = f"{day}{'th' if day in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"
        return (
            f"{name} {day}, {year}",
            f"{day} {name} {year}",
            f"{name} {ordinal}, {year}",
            f"the {ordinal} of {name} {year}",
            f"{weekday}, {name} {day}, {year}",
        )

    def find_month(self, phrase: str, text: str) -> tuple[int, int] | None:
        """Where `text` states a date in the month of `phrase`: "December of last year" in "December 25 of last year"."""
        wanted = _MONTH_OF_YEAR.fullmatch(phrase)
        for match in _MONTH_STATED.finditer(text) if wanted else ():
            stated = match["month"] or match["after"], match["year"] or match["before"]
            if wanted and _month_and_year(*stated) == _month_and_year(wanted["month"], wanted["year"]):
                return match.span()
        return None

    def clock_readings(self, text: str) -> Iterator[ClockReading]:
        """7:30 pm, half past seven in the evening, seven thirty pm, noon."""
        if _NAMED_HINT.search(text):
            for match in _NAMED_CLOCK.finditer(text):
                yield ClockReading(*match.span(), 0 if match["name"] == "midnight" else 12, 0, "named")
        if _CLOCK_HINT.search(text):
            yield from filter(None, (_clock(match, text) for match in _CLOCK.finditer(text)))

    def write_clock(self, hour: int, minute: int, rng: Random) -> str:
        if (hour, minute) in ((_NOON, 0), (0, 0)) and rng.randrange(2):
            return "noon" if hour else "midnight"
        half_day = "am" if hour < _NOON else "pm"
        on_clock = hour % _NOON or _NOON
        forms = [
            f"{on_clock}:{minute:02} {half_day}",
            f"{hour:02}:{minute:02}" if hour > _NOON else f"{on_clock}:{minute:02}{half_day}",
        ]
        if minute == 0:
            forms.append(f"{on_clock} {half_day}")
        names = _HOURS_IN_WORDS[hour % _NOON], _HOURS_IN_WORDS[(hour + 1) % _NOON]
        if minute in _SPOKEN and on_clock != _NOON:
            forms.append(_SPOKEN[minute].format(*names) + f" {half_day}")
        if minute in _PAST_HOUR and on_clock not in (_NOON, _NOON - 1):
            parts = ((_NOON, "in the morning"), (17, "in the afternoon"), (_EARLIEST_NIGHT, "in the evening"))
            part = next((part for limit, part in parts if hour < limit), "at night")
            forms.append(f"{_PAST_HOUR[minute].format(*names)} {part}")
        return rng.choice(forms)

    def moment_forms(self, day: str, clock: str) -> tuple[str, ...]:
        return (f"{day} at {clock}", f"{clock} on {day}")

    def number_words(self, text: str) -> Iterator[Number]:
        """Twenty-five, half a dozen, three point five, fifth; and none that is no number, as in "this one"."""
        for match in _CARDINAL.finditer(text) if _NUMBER_HINT.search(text) else ():
            stated, value = match["words"], parse_english(match["words"])
            if value is None:
                yield from _several(stated, match.start("words"))
                continue
            before = text[max(0, match.start() - 24) : match.start()]
            is_pronoun = _NO_NUMBER_BEFORE.search(before) or _NO_NUMBER_AFTER.match(text, match.end())
            if stated != "one" or match["half"] or not is_pronoun:
                value += 0.5 if match["half"] else 0
                rule = PERCENT if match["percent"] else WORDS
                yield Number(-value if match["sign"] else value, *match.span(), rule)
        for match in _ORDINAL.finditer(text) if _ORDINAL_HINT.search(text) else ():
            if match.group() != "second" or not _NOT_SECOND_BEFORE.search(text, 0, match.start()):
                yield Number(_ORDINALS[" ".join(match.group().split())], *match.span(), ORDINAL)

    def number_forms(self, number: int) -> tuple[str, ...]:
        if number >= _THOUSAND:
            return (f"{number:,}",)
        if 1 < number <= _LONGEST_IN_WORDS or (number and number % _LONGEST_IN_WORDS == 0):
            return (_in_words(number),)
        return ()

    def respellings(self) -> Mapping[str, str]:
        """Numbers, ordinals, months and weekdays."""
        weekdays = {word: name for word, name in _WEEKDAY_SHORT.items() if word != "mon"}
        ordinals = {word: str(number) for word, number in _ORDINALS.items() if number > _AMBIGUOUS_ORDINALS}
        units = {word: str(number) for word, number in _SMALL.items()}
        months = {word: _MONTHS[number - 1].lower() for word, number in _MONTH_NUMBERS.items() if word != "may"}
        return {**weekdays, **ordinals, **units, **months}

    def counted(self, called: str, name: str) -> tuple[str, str] | None:
        what = called.removeprefix("number of ")
        words = what.split()
        unit = next((word for word in words if word in _UNITS), "")
        if unit and unit in (words[0], words[-1]):
            return what, unit
        if what != called and what.endswith("s") and len(words) == 1:
            return what, what
        last = (humanise(name).split() or [""])[-1]
        return (last, last) if last in _UNITS else None

    def counted_argument(self, called: str) -> str:
        _, number_of, unit = called.partition("umber of ")
        is_counted = number_of and unit.endswith("s") and " " not in unit and unit not in _LISTED
        return unit if is_counted else ""

    def is_plural(self, called: str) -> bool:
        """Whether it does: "hours of parking", "workout minutes"."""
        head = called.partition(" of ")[0].split()
        return bool(head) and head[-1] in _UNITS

    def agreed(self, shape: str, called: str) -> str:
        return shape.replace("{c} is ", "{c} are ") if self.is_plural(called) else shape

    def in_number(self, shape: str, called: str) -> str:
        is_plural = _PLURAL.search(called) and called.isascii() and "umber of" not in called
        return _IS.sub(" are ", shape) if is_plural else shape

    def point(self, before: str, phrase: str, after: str, cue: str, *, is_typed: bool) -> str:
        """The phrase brings its article, begins a sentence with a capital, and is joined to a name right before it."""
        link = ""
        if f" {before.lower()}".endswith(f" {cue.lower()} "):
            lead = before[: -len(cue) - 1]
            link = "being " if _WITH_CUE.search(lead) else ": " if _CLAUSE_START.search(lead) else ""
        before = _ARTICLE.sub("", before)
        phrase = phrase[:1].upper() + phrase[1:] if _SENTENCE_START.search(before) else phrase
        return f"{before.rstrip() if link == ': ' else before}{link}{phrase}{after}"

    def smooth(self, request: str) -> str:
        """A request in which a second "with" is joined to the first."""
        return _WITH_WITH.sub(r"\1 and with ", request)

    def is_for_speaker(self, action: str) -> bool:
        return _FOR_ME.search(action) is not None


def _month_and_year(month: str, year: str) -> tuple[int, str]:
    return _MONTH_NUMBERS[month.lower()], year.lower()


@lru_cache(1024)
def _in_words(number: int) -> str:
    from num2words import num2words

    return str(num2words(number))


def _clock(match: re.Match[str], text: str) -> ClockReading | None:
    if match["half_day"]:
        part = f"{match['half_day']}m"
    else:
        is_night = match["night"] or match["lead"] in ("night", "tonight")
        part = match["part"] or ("night" if is_night else match["lead"]) or ""
    if match["past"]:
        hour, minutes = _digits(match["h1"]), _TO_PAST[match["past"].replace(" ", "-")]
        if match["way"] not in ("past", "after"):
            # "quarter to one in the afternoon" belongs to the hour before, whose part of the day may be another
            hour, minutes = (12 if hour == 1 else hour - 1), 60 - minutes
        return ClockReading(*match.span(), hour, minutes, part)
    if match["h2"]:
        # 7.30 is a number, 7.30 pm is a time
        is_time = part or match["clock"] or text[match.end("h2")] == ":"
        return ClockReading(*match.span(), int(match["h2"]), int(match["n2"]), part) if is_time else None
    if not part and not match["clock"]:
        return None
    minutes = _digits(re.sub(r"^o[h']?[ -]", "", match["n3"])) if match["n3"] else 0
    return ClockReading(*match.span(), _digits(match["h3"]), minutes, part)


def _digits(stated: str) -> int:
    return int(stated) if stated.isdecimal() else int(parse_english(stated) or 0)


@lru_cache(4096)
def parse_english(stated: str) -> int | float | None:
    """The number that folded words say, None where they are no one number ("nineteen thirty", "one two")."""
    if re.fullmatch(r"half\s+a\s+dozen", stated):
        return 6
    whole, point, fraction = stated.partition(" point ")
    number = _cardinal(_WORD.findall(whole))
    if number is None or not point:
        return number
    digits = [_SMALL.get(word, 10) for word in fraction.split()]
    return None if max(digits) > 9 else float(f"{number}.{''.join(map(str, digits))}")


def _cardinal(stated: list[str]) -> int | None:
    if stated and stated[0] in ("a", "an"):
        stated = ["one", *stated[1:]]
    if len(stated) == 2 and stated[1] == "dozen":
        return 12 * _SMALL[stated[0]]
    if stated == ["zero"]:
        return 0
    if not stated or stated[0] == "and" or "zero" in stated:
        return None
    # what is complete, the hundreds and units still open, and how large the next word may be
    total, under_way, room = 0, 0, 1_000_000_000_000
    for word in stated:
        if word in _SMALL:
            fits = _SMALL[word] < room
            under_way, room = under_way + _SMALL[word], 10 if _SMALL[word] >= 20 else 1
        elif word == "hundred":
            fits = 0 < under_way < 100
            under_way, room = under_way * 100, 100
        elif word in _SCALES:
            scale = _SCALES[word]
            fits = under_way > 0 and total % (scale * 1000) == 0
            total, under_way, room = total + under_way * scale, 0, scale
        else:
            continue  # and
        if not fits:
            return None
    return total + under_way


def _several(words: str, offset: int) -> Iterator[Number]:
    """Words that are no one number, such as "two, three and twenty": the longest numbers from the left."""
    tokens = list(_WORD.finditer(words))
    first = 0
    while first < len(tokens):
        for last in range(len(tokens) - 1, first - 1, -1):
            start, end = tokens[first].start(), tokens[last].end()
            value = None if tokens[first].group() == "and" else parse_english(words[start:end])
            if value is not None and tokens[last].group() != "and":
                yield Number(value, offset + start, offset + end, WORDS)
                first = last
                break
        first += 1
