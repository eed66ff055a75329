"""Find personal data in words, calls and results, and replace it by values of the same sort.

A value is recognised by the meaning of its parameter or field, by check digits (cards, IBANs),
by libraries for phone numbers and secrets, and by words that introduce a name. In Chinese, where
no gap shows where a name begins and ends, it is a family name with one or two more characters,
if words before or after it indicate a name, or if it has a common given name (both by Faker's
lists). Each value is replaced throughout the conversation, in any notation, by the same made-up
one, so evidence for arguments stays valid. No model is asked or fetched.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from random import Random
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.language.calls.codes import address as made_address
from callwright.language.calls.codes import person as made_person
from callwright.language.calls.parameters import (
    chinese_names,
    first_names,
    meaning_by_words,
    meaning_of,
)
from callwright.language.packs import (
    fallback,
    has_folder,
    known,
    letters_of,
    packaged,
    puts_spaces,
    unspaced,
)
from callwright.language.text import Spans
from callwright.warehouse.errors import RecordError
from callwright.warehouse.extras import require_extra
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    Language,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

PersonalKind = Literal["name", "address", "mail", "phone", "card", "iban", "secret"]
# the surest first
KINDS: tuple[PersonalKind, ...] = ("secret", "mail", "iban", "card", "phone", "address", "name")
_BY_MEANING: Mapping[str, PersonalKind] = {
    "person": "name",
    "address": "address",
    "email": "mail",
    "phone": "phone",
    "card": "card",
}
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,9}")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b")
_CARD = re.compile(r"(?<![\w.+-])(?!00)[0-6](?:[ -]?\d){11,18}(?![\w-])")
_TOKEN = re.compile(
    r"\b(?:sk|pk|rk|api|key|tok|token|secret|pat|gh[pousr]|glpat|xox[abeoprs]|AKIA|ASIA|AIza|eyJ)[-_A-Za-z0-9.]{14,}"
    r"|(?<=[Bb]earer )[\w.~+/-]{12,}=*"
    r"|(?<=password )\S{6,}|(?<=password: )\S{6,}|(?<=password is )\S{6,}"
)
_CAPITAL = r"(?:[A-Z]\.|[^\W\d_a-z](?:[\w-]|['’](?![sm]\b))*)"
_NAME = re.compile(
    rf"{_CAPITAL}(?: (?:(?:van|von|de|del|der|da|di|la|le|bin|al) )*{_CAPITAL}){{0,3}}"
)
_INTRODUCED = re.compile(
    r"\b(?:[Mm]y name is|[Ii]'m|[Ii] am|[Tt]his is|[Mm]e llamo|[Mm]i nombre es|[Ss]oy|[Ii]ch"
    r" bin|[Ii]ch heiße|[Jj]e m'appelle"
    r"|[Dd]ear|Hi,?|Hello,?|Hola,?|Mr\.?|Mrs\.?|Ms\.?|Dr\.?|Sr\.?|Sra\.?|Herr|Frau|[Rr]egards,|[Ss]incerely,|Best,|Cheers,|[Ss]igned,?"
    r"|name:|Name:|nombre:|passenger|customer|patient|guest|caller)\s+$"
)
_WAY = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Court|Ct|Way|Place|Pl|Square|Boulevard|Blvd|Terrace|Parkway|Pkwy|Highway|Hwy"
    r"|Circle|Trail|Row|Close)"
)
_ROOM = r"(?:,? (?:Apt|Apartment|Suite|Unit|Flat)\.? ?\w+)?"
_NUMBERED = r"\b\d{1,5}[A-Za-z]?(?:[-/]\d+)? (?:[A-Z][\w'.-]*\s){1,4}?"
_SPANISH = r"(?: (?:[A-ZÁÉÍÓÚ][\w'-]*|de|del|la|las|los))+"
_STREET = re.compile(
    # a number, a way, a town and a code; the same without them; a flat in a British house
    rf"{_NUMBERED}(?:{_WAY}|[A-Z]\w+)\b\.?{_ROOM}(?:,? [A-Z][\w'. -]{{2,30}}){{0,2}}(?:,?"
    r" [A-Z]{2})?,? \d{4,5}(?:-\d{4})?\b"
    rf"|{_NUMBERED}{_WAY}\b\.?{_ROOM}"
    r"|\b(?:Flat|Studio|Apartment|Unit) ?\d+\w?,? [A-Z][^\n.?!]{5,80}?\b[A-Z]{1,2}\d[\dA-Z]{0,2}"
    r" ?\d[A-Z]{2}\b"
    rf"|\b(?:[Cc]alle|[Aa]venida|[Pp]aseo|[Pp]laza|[Cc]amino|[Rr]ue|[Vv]ia){_SPANISH},? \d+\w?"
    r"|\b[A-ZÄÖÜ][\wäöüß-]*(?:straße|strasse|str\.|weg|allee|platz|gasse|ring|ufer) ?\d+"
    r" ?[a-z]?(?:,? \d{5} [A-ZÄÖÜ][\wäöüß-]+)?"
)
# decimals and days
_NO_PHONE = re.compile(r"\d+[.,]\d+|\d{4}[-./]\d{1,2}[-./]?\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}")
_LETTERS = "abcdefghjkmnpqrstuvwxyz"
_GAP = re.compile(r"\s")
_FEWEST_DIGITS = 7
_LONGEST_NAME, _SHORTEST_PART = 5, 3  # words; letters
_IBAN_SAMPLE = "DE"
MOST_VALUES = 1000  # of a conversation: each is looked for at each place
_PIECE, _OVERLAP, _LONGEST_WORD = 4000, 200, 8000  # letters of a text that are searched at once
_INTRODUCING = 40  # letters before a name


class Replaced(NamedTuple):
    """A conversation without personal data, with counts by kind and the replacements."""

    sample: Sample
    counts: dict[str, int]
    values: dict[str, str]


class _Found(NamedTuple):
    kind: PersonalKind
    value: str


def without_personal_data(sample: Sample, tools: Iterable[Tool], seed: str) -> Replaced:
    """Replace each personal value of a sample throughout, with values drawn by the seed.

    Raises ConfigurationError if the libraries for phone numbers and secrets are not installed,
    RecordError if there is more than can be replaced.
    """
    require_extra("traffic")
    by_name = {tool.name: tool for tool in tools}
    kinds_by_value: dict[str, PersonalKind] = {}
    folded_values: set[str] = set()
    for one in _all_found(sample, by_name):
        value = one.value.strip(" \n\t.,;:!?\"'()")
        if value and value.casefold() not in folded_values:  # in other letters it is the same
            kinds_by_value[value] = one.kind
            folded_values.add(value.casefold())
    if len(kinds_by_value) > MOST_VALUES:
        message = f"It holds more than {MOST_VALUES} values of personal data, too many to replace."
        raise RecordError(message)
    chinese = [one for one in kinds_by_value if is_chinese(one)]
    for value in [
        one for one in chinese if any(one[:end] in kinds_by_value for end in range(1, len(one)))
    ]:
        del kinds_by_value[value]  # what goes on behind a name was taken for the rest of it
    if not kinds_by_value:
        return Replaced(sample, {}, {})
    made = _Replacements(sample.language, seed)
    ordered = sorted(kinds_by_value.items(), key=lambda one: (KINDS.index(one[1]), one[0]))
    values = {value: made.value(kind, value) for value, kind in ordered}
    counts = dict(Counter[str](kinds_by_value.values()))
    return Replaced(_replaced(sample, _Replacing(kinds_by_value, values)), counts, values)


def _all_found(sample: Sample, tools: Mapping[str, Tool]) -> Iterator[_Found]:
    yield from _in_text(sample.system_message, sample.language)
    for turn in sample.turns:
        if isinstance(turn, CallTurn):
            for call in turn.calls:
                tool = tools.get(call.tool)
                schemas = tool.properties if tool else {}
                for name, value in call.arguments.items():
                    kind = _kind_of(name, meaning_of(name, schemas.get(name, {})))
                    yield from _in_value(value, kind, sample.language)
        elif isinstance(turn, ResultTurn):
            for result in turn.results:
                yield from _in_value(result, None, sample.language)
        else:
            yield from _in_text(turn.text, sample.language)
            if isinstance(turn, UserTurn) and turn.external is not None:
                yield from _in_text(turn.external.text, sample.language)


def _in_value(value: JsonValue, kind: PersonalKind | None, language: Language) -> Iterator[_Found]:
    """Yield the personal data in a value; `kind` is what its name says it is."""
    match value:
        case dict():
            for name, inner in value.items():
                own = _kind_of(name, meaning_by_words(name, "")) or kind
                yield from _in_value(inner, own, language)
        case list():
            for inner in value:
                yield from _in_value(inner, kind, language)
        case str():
            if kind is not None and _can_be(kind, value):
                yield _Found(kind, value)
            else:
                yield from _in_text(value, language)
        case int() if kind in ("phone", "card") and len(str(value)) >= _FEWEST_DIGITS:
            yield _Found(kind, str(value))


def _kind_of(name: str, meaning: str) -> PersonalKind | None:
    """Return the kind of personal data of a field by name and meaning; `name` alone has none."""
    if _secret_words().search(name):
        return "secret"
    return None if name.casefold() == "name" else _BY_MEANING.get(meaning)


def _can_be(kind: PersonalKind, value: str) -> bool:
    words = value.split()
    if kind == "name":
        is_written = value != value.lower() or (is_chinese(value) and len(value) <= _LONGEST_NAME)
        return 0 < len(words) <= _LONGEST_NAME and not any(map(str.isdigit, value)) and is_written
    if kind == "mail":
        return bool(_MAIL.fullmatch(value))
    if kind in ("phone", "card"):
        return sum(map(str.isdigit, value)) >= _FEWEST_DIGITS
    if kind == "address":
        return any(map(str.isdigit, value)) and len(words) > 1
    return len(value) >= _FEWEST_DIGITS - 1


def _in_text(text: str, language: Language) -> Iterator[_Found]:
    """Yield the personal data in a text; surer finds take precedence where finds overlap."""
    for piece in _pieces(text):
        taken = Spans()
        for kind in KINDS:
            for start, end in _places(kind, piece, language):
                if end > start and not taken.overlaps(start, end):
                    taken.add(start, end)
                    yield _Found(kind, piece[start:end])


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in overlapping pieces cut between words, as others' patterns may be slow."""
    at = 0
    while len(text) - at > _PIECE:
        gap = _GAP.search(text, at + _PIECE, at + _LONGEST_WORD)
        end = gap.start() if gap else at + _LONGEST_WORD
        yield text[at:end]
        back = _GAP.search(text, max(at + 1, end - _OVERLAP), end)
        at = back.start() if back else end
    yield text[at:]


Places = Iterator[tuple[int, int]]


def _places(kind: PersonalKind, text: str, language: Language) -> Places:
    match kind:
        case "secret":
            for pattern in (_TOKEN, *_secret_patterns()):
                yield from (match.span() for match in pattern.finditer(text))
        case "mail":
            yield from (match.span() for match in _MAIL.finditer(text))
        case "iban":
            yield from _ibans(text)
        case "card":
            from stdnum import luhn

            found = ((match.span(), re.sub(r"\D", "", match[0])) for match in _CARD.finditer(text))
            yield from (span for span, digits in found if luhn.is_valid(digits))
        case "phone":
            yield from _phones(text, language)
        case "address":
            yield from (match.span() for match in _STREET.finditer(text))
        case "name":
            yield from _names(text)


def _ibans(text: str) -> Places:
    from stdnum import iban

    for match in _IBAN.finditer(text):
        pieces = match[0].split(" ")
        for count in range(len(pieces), 0, -1):  # words in capitals may follow
            written = " ".join(pieces[:count])
            if iban.is_valid(written):
                yield match.start(), match.start() + len(written)
                break


def _phones(text: str, language: Language) -> Places:
    from phonenumbers import Leniency, PhoneNumberMatcher, is_valid_number

    if sum(map(str.isdigit, text)) < _FEWEST_DIGITS:
        return
    package = "callwright.generators.taken"
    for region in (*packaged(package, "phone_regions.yaml").get(language, ()), None):
        for match in PhoneNumberMatcher(text, region, leniency=Leniency.POSSIBLE):
            written = match.raw_string
            if written.isdigit() and not is_valid_number(match.number):
                continue  # an order's number
            is_long = sum(map(str.isdigit, written)) >= _FEWEST_DIGITS
            if is_long and not _NO_PHONE.fullmatch(written):
                yield match.start, match.end


def _names(text: str) -> Places:
    """Find introduced names, names of two or more words with a known first name, Chinese names."""
    yield from find_chinese_names(text)
    first_names_known = first_names()
    for match in _NAME.finditer(text):
        words = match[0].split()
        if len(words) > _LONGEST_NAME - 1:
            continue
        introduced = _INTRODUCED.search(text, max(0, match.start() - _INTRODUCING), match.start())
        if introduced and (len(words) > 1 or words[0] in first_names_known):
            yield match.span()
            continue
        at = next(
            (place for place, word in enumerate(words[:-1]) if word in first_names_known), None
        )
        if at is not None:
            start = match.start() + sum(len(word) + 1 for word in match[0].split()[:at])
            yield start, match.end()


@cache
def _around(name: str) -> re.Pattern[str]:
    """Return the pattern of what surrounds a name, for a class of people.yaml."""
    code = next(one for one in known() if not puts_spaces(one))
    return re.compile(packaged(f"callwright.language.{code}", "people.yaml")[name])


@cache
def _characters() -> frozenset[str]:
    """Return the characters of known given names."""
    return frozenset("".join(chinese_names()[1]))


@cache
def _pattern() -> re.Pattern[str]:
    introduction, maybe = _around("told").pattern, _around("maybe").pattern
    family = "|".join(sorted(chinese_names()[0], key=lambda one: (-len(one), one)))
    return re.compile(
        rf"(?:(?P<told>{introduction})|(?P<maybe>{maybe}|(?<![{unspaced()}])))(?P<name>(?:{family})(?=[{unspaced()}]))(?P<rest>[{unspaced()}]{{1,2}})"
    )


def is_chinese(value: str) -> bool:
    """Whether a value consists of Chinese characters only."""
    return bool(re.fullmatch(f"[{unspaced()}]+", value))


def find_chinese_names(text: str) -> Places:
    """Yield where people's names stand in a text, from start to end."""
    at = 0
    while match := _pattern().search(text, at):
        length = _length_of_given(match, text)
        yield from [(match.start("name"), match.start("rest") + length)] if length else []
        at = match.start("rest") + length


def _length_of_given(match: re.Match[str], text: str) -> int:
    """Return the length of the given name after a family name, or 0 if it is not a name."""
    start = match.start("rest")
    lengths = [
        one
        for one in range(len(match["rest"]), 0, -1)
        if not any(_around("goes_on").match(text, start + at) for at in range(one))
    ]
    for length in lengths:
        given_name = text[start : start + length]
        is_like = bool(set(given_name) & _characters())
        is_followed = bool(_around("title").match(text, start + length)) and (
            is_like or bool(match["maybe"])
        )
        is_known = length > 1 and given_name in chinese_names()[1]
        if match["told"] or is_followed or is_known or (match["maybe"] and is_like):
            return length
    return 0


@cache
def _secret_patterns() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of detect-secrets' plug-ins; no secret is verified over the network."""
    from importlib import import_module
    from pkgutil import iter_modules

    from detect_secrets import plugins
    from detect_secrets.plugins.base import RegexBasedDetector

    patterns: list[re.Pattern[str]] = []
    for module in iter_modules(plugins.__path__):
        for member in vars(import_module(f"{plugins.__name__}.{module.name}")).values():
            is_plugin = (
                isinstance(member, type)
                and issubclass(member, RegexBasedDetector)
                and member is not RegexBasedDetector
            )
            if (
                is_plugin
                and module.name not in _NOT_SECRET
                and isinstance(getattr(member, "denylist", None), list | tuple)
            ):
                patterns += member.denylist
    return tuple(patterns)


_NOT_SECRET = frozenset({"ip_public", "keyword", "basic_auth"})


@cache
def _secret_words() -> re.Pattern[str]:
    from detect_secrets.plugins.keyword import DENYLIST

    return re.compile(
        "|".join((*DENYLIST, "access_?token", "auth_?token", "^token$", "bearer")), re.IGNORECASE
    )


class _Replacements:
    """Replacements for personal values: each a different value of the same sort and shape."""

    def __init__(self, language: Language, seed: str) -> None:
        self._language = language if has_folder(language) else fallback()
        self._rng = Random(seed)

    def value(self, kind: PersonalKind, value: str) -> str:
        """Return the replacement of a value."""
        rng = self._rng
        match kind:
            case "name":
                made = self._person(value)
                return made if len(value.split()) > 1 or not made.isascii() else made.split()[0]
            case "address":
                return made_address(self._language, rng)
            case "mail":
                return f"user{rng.randrange(10**5):05}@example.org"
            case "card":
                from stdnum import luhn

                digits = f"4{_digits(rng, sum(map(str.isdigit, value)) - 2)}"
                return _shaped(value, digits + str(luhn.calc_check_digit(digits)))
            case "iban":
                account = _digits(rng, 18)
                check = 98 - int(f"{account}131400") % 97  # D and E are 13 and 14
                return f"{_IBAN_SAMPLE}{check:02}{account}"
            case "phone":
                digits = re.sub(r"\D", "", value)
                last = digits[-_KEPT:]
                while last == digits[-_KEPT:]:
                    last = _digits(rng, len(last))
                return _shaped(value, digits[:-_KEPT] + last)
            case _:
                digits = re.sub(r"\d", lambda _: str(rng.randrange(10)), value)
                return re.sub(r"[A-Za-z]", lambda _: rng.choice(_LETTERS), digits)

    def _person(self, value: str) -> str:
        """Return another person's name, in Chinese not longer than this one.

        Checks tell by its characters whether a name is whole.
        """
        made = made_person(self._language if value.isascii() else letters_of(value), self._rng)
        return made[: len(value)] if is_chinese(value) else made


_KEPT = 6  # the last digits of a phone number are its own; what stands before tells the place


def _digits(rng: Random, count: int) -> str:
    return "".join(str(rng.randrange(10)) for _ in range(count))


def _shaped(notation: str, digits: str) -> str:
    """Return the digits in the notation of another number."""
    left = iter(digits)
    return "".join(next(left, "") if character.isdigit() else character for character in notation)


class _Replacing:
    """What replaces each value: in text, in other notations, as a number, or in part of a name."""

    def __init__(self, kinds: Mapping[str, PersonalKind], values: Mapping[str, str]) -> None:
        self._exact = dict(values)
        self._numbers = {
            re.sub(r"\D", "", value): re.sub(r"\D", "", values[value])
            for value, kind in kinds.items()
            if kind in ("phone", "card")
        }
        for value, kind in kinds.items():
            if kind == "name":
                self._add_parts(value, values[value])
        longest = sorted(self._exact, key=len, reverse=True)
        numbers = [
            r"(?<!\d)" + r"[\s().-]*".join(one) + r"(?!\d)"
            for one in sorted(self._numbers, key=len, reverse=True)
        ]
        between = [re.escape(one) for one in longest if one[0].isalnum() and not is_chinese(one)]
        anywhere = [re.escape(one) for one in longest if not one[0].isalnum() or is_chinese(one)]
        bounded = [rf"(?<!\w)(?:{'|'.join(between)})(?!\w)"] if between else []
        self._pattern = re.compile("|".join((*bounded, *anywhere, *numbers)), re.IGNORECASE)
        self._folded = {value.casefold(): made for value, made in self._exact.items()}

    def _add_parts(self, value: str, made: str) -> None:
        parts, others = value.split(), made.split()
        for at, part in enumerate(parts):
            if len(part) >= _SHORTEST_PART and len(parts) > 1 and part[0].isupper():
                self._exact.setdefault(part, others[0] if at == 0 else others[-1])

    def text(self, text: str) -> str:
        """Return a text with all replacements made."""
        return self._pattern.sub(self._one, text)

    def _one(self, match: re.Match[str]) -> str:
        written = match[0]
        made = self._folded.get(written.casefold())
        if made is None:
            return _shaped(written, self._numbers[re.sub(r"\D", "", written)])
        return made.lower() if written == written.lower() and written != written.upper() else made

    def value(self, value: JsonValue) -> JsonValue:
        """Return a value with all replacements made."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {name: self.value(inner) for name, inner in value.items()}
            case list():
                return [self.value(inner) for inner in value]
            case int() if not isinstance(value, bool) and str(value) in self._numbers:
                return int(self._numbers[str(value)])
            case _:
                return value


def _replaced(sample: Sample, replacing: _Replacing) -> Sample:
    def turn_of(turn: Turn) -> Turn:
        match turn:
            case UserTurn(text=text, external=message):
                other = message and message.with_changes(text=replacing.text(message.text))
                return turn.with_changes(text=replacing.text(text), external=other)
            case ReplyTurn(text=text):
                return turn.with_changes(text=replacing.text(text))
            case ResultTurn(results=results):
                return turn.with_changes(results=tuple(replacing.value(one) for one in results))
            case CallTurn(calls=calls):
                return turn.with_changes(calls=tuple(map(call_of, calls)))

    def call_of(call: GoldCall) -> GoldCall:
        arguments = {name: replacing.value(one) for name, one in call.arguments.items()}
        # quotes of evidence would hold what was replaced: it is found anew
        return call.with_changes(arguments=arguments, evidence=())

    turns = tuple(turn_of(turn) for turn in sample.turns)
    return sample.with_changes(turns=turns, system_message=replacing.text(sample.system_message))
