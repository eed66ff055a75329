"""Find personal data in a conversation: first what fields hold by their names, then in words.

A value is recognised by the name or meaning of its parameter or field, by check digits (cards,
IBANs), by libraries for phone numbers and secrets, by words that introduce a name or an identity,
by streets' words (language/personal.yaml), and by the first names that Faker knows in its script.
Chinese names are found by what stands around them. No model is asked or fetched.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import regex
from pydantic import JsonValue

from callwright.generators.taken.chinese_names import is_chinese
from callwright.generators.taken.people_in_text import PARTICLE, NameFinder, Places
from callwright.generators.taken.personal_words import pattern_of, words_of_people
from callwright.generators.taken.streets import Address, find_addresses
from callwright.language.calls.parameters import CLOCKED, meaning_by_words, meaning_of
from callwright.language.calls.people import ANY, CASED, known_names, script_of
from callwright.language.packs import packaged
from callwright.language.text import Spans
from callwright.warehouse.records import (
    CallTurn,
    JsonSchema,
    Language,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    UserTurn,
)

PersonalKind = Literal["name", "address", "mail", "phone", "card", "iban", "id", "secret"]
# the surest first
KINDS: tuple[PersonalKind, ...] = (
    *("secret", "mail", "iban", "card", "id", "phone", "address", "name"),
)
_BY_MEANING: Mapping[str, PersonalKind] = {
    "person": "name",
    "address": "address",
    "email": "mail",
    "phone": "phone",
    "card": "card",
}
_BY_FIELD: tuple[tuple[str, PersonalKind], ...] = (("iban_fields", "iban"), ("id_fields", "id"))
_ROLES = ("post", "number", "unit")  # of fields beside a street
_OWN = frozenset({"mail", "phone", "iban", "card", "id"})  # what only people have
_MAY_NAME = frozenset({"text", "person", "code", "quantity"})  # meanings of fields
_SIBLINGS = frozenset({"mail", "phone", "address", "id"})  # of the name of a person
_MAIL = regex.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,9}")
_ACTING = regex.compile(r"\p{L}{3}(?:er|or|ee|ant|ent)s?$")  # approver, assignee, tenant
_BIRTHDAY = regex.compile(r"19\d\d-\d\d-\d\d|200\d-\d\d-\d\d")  # days of long ago mostly are
_BARE_NUMBER = regex.compile(r"[\d ().\-/]{7,20}")
_INTERNATIONAL = regex.compile(r"\+[1-9][\d ().-]{7,18}\d")
_IBAN = regex.compile(r"\b[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}\b")
_CARD = regex.compile(r"(?<![\w.+-])(?!00)[0-6](?:[ -]?\d){11,18}(?![\w-])")
_IDENTITY = (
    r"(?P<id>\p{Lu}{0,3}\s?\d[\d .\-/]{3,20}\d[- ]?[\p{Lu}x]{0,2}|[\p{Lu}\d][\p{Lu}\d-]{5,20})"
    r"(?![\p{Latin}\p{Cyrillic}\d])"
)
_BARE_IDENTITY = regex.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")
_TOKEN = regex.compile(
    r"\b(?:sk|pk|rk|api|key|tok|token|secret|pat|gh[pousr]|glpat|xox[abeoprs]|AKIA|ASIA|AIza|eyJ)[-_A-Za-z0-9.]{14,}"
    r"|(?<=[Bb]earer )[\w.~+/-]{12,}=*"
    r"|(?<=password )\S{6,}|(?<=password: )\S{6,}|(?<=password is )\S{6,}"
)
# decimals and days
_NO_PHONE = regex.compile(
    r"\d+[.,]\d+|\d{4}[-./]\d{1,2}[-./]?\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}"
)
_DAY = regex.compile(r"(?<!\d)\d{4}-\d{1,2}-\d{1,2}(?!\d)")
_GAP = regex.compile(r"\s")
_FEWEST_DIGITS, _FEWEST_OF_ID, _LONG_ID = 7, 5, 9
_LONGEST_NAME = 5  # words
_PIECE, _OVERLAP, _LONGEST_WORD = 4000, 200, 8000  # letters of a text that are searched at once
_SHORT, _LONG = 4, 16
_LIKELY = 2  # regions of a language whose bare digits are numbers of phones


class PersonalValue(NamedTuple):
    """A personal value as it is written, and its parts if it is an address whose parts are known.

    `is_of_field`: a field's name says what it is.
    """

    kind: PersonalKind
    value: str
    address: Address | None = None
    is_of_field: bool = False


def find_personal_values(sample: Sample, tools: Mapping[str, Tool]) -> list[PersonalValue]:
    """Return all personal values of a conversation, those that fields hold first."""
    texts = [*texts_of(sample)]
    said = "\n".join(turn.text for turn in sample.turns if isinstance(turn, UserTurn))
    local = _parts_of_mails(texts)
    in_fields = [
        one for fields in _objects(sample, tools) for one in _of_object(fields, said, local)
    ]
    lower = frozenset(
        word
        for text in texts
        for word in regex.findall(r"(?<!\p{L})\p{Ll}[\p{L}\p{M}]+", _MAIL.sub(" ", text))
    )
    finder = _Finder(sample.language, lower, local | _parts_of_names(in_fields))
    in_words = [*_asked_names(sample), *(one for text in texts for one in finder.find(text))]
    return [*in_fields, *in_words]


def _parts_of_mails(texts: Iterable[str]) -> frozenset[str]:
    """Return the words before the @ of mail addresses: mostly names."""
    return _words_of(match[0].partition("@")[0] for text in texts for match in _MAIL.finditer(text))


def _parts_of_names(values: Iterable[PersonalValue]) -> frozenset[str]:
    """Return the words of the names among values, in small letters."""
    return _words_of(one.value for one in values if one.kind == "name")


def _words_of(texts: Iterable[str]) -> frozenset[str]:
    words = (word for text in texts for word in regex.findall(r"[\p{L}\p{M}]+", text))
    return frozenset(word.casefold() for word in words if len(word) >= _SHORT)


# --- fields


class _Field(NamedTuple):
    name: str
    value: JsonValue
    kind: PersonalKind | None
    meaning: str = ""
    description: str = ""
    is_beside_own: bool = False


def _objects(sample: Sample, tools: Mapping[str, Tool]) -> Iterator[list[_Field]]:
    """Yield the fields of each call and of each object in results."""
    for turn in sample.turns:
        if isinstance(turn, CallTurn):
            for call in turn.calls:
                tool = tools.get(call.tool)
                yield from _inner(call.arguments, None, tool.parameters if tool else {})
        elif isinstance(turn, ResultTurn):
            for result in turn.results:
                yield from _inner(result, None, {})


def _inner(
    value: JsonValue, above: _Field | None, schema: JsonSchema, *, beside: bool = False
) -> Iterator[list[_Field]]:
    """Yield the fields of objects in a value, which a field `above` holds.

    `beside`: what only people have stands beside that field.
    """
    match value:
        case dict():
            members = schema.get("properties") or {}
            fields = [_field(key, one, above, members.get(key) or {}) for key, one in value.items()]
            yield [one._replace(is_beside_own=beside) for one in fields]
            has_own = beside or _has_own(fields)
            for field in fields:
                yield from _inner(field.value, field, members.get(field.name) or {}, beside=has_own)
        case list():
            items = {"description": schema.get("description", ""), **(schema.get("items") or {})}
            name = above.name if above else ""
            flat = [one for one in value if not isinstance(one, dict | list)]
            yield [_field(name, one, above, items)._replace(is_beside_own=beside) for one in flat]
            for one in value:
                if isinstance(one, dict | list):
                    yield from _inner(one, above, items, beside=beside)


def _field(name: str, value: JsonValue, above: _Field | None, schema: JsonSchema) -> _Field:
    """Return a field with its kind: by its name or its value, or that of the field `above`."""
    description = str(schema.get("description") or "")
    meaning = meaning_of(name, schema) if schema else meaning_by_words(name, "")
    if meaning in ("pattern", "object", "array"):
        meaning = meaning_by_words(name, description)
    kind = _kind_of(name, meaning) or _kind_of_value(value)
    if kind is None and _is_called_phone(name, value):
        kind = "phone"
    if kind is None and above is not None and not _is_part_of_address(name):
        kind = above.kind
    return _Field(name, value, kind, meaning, description)


def _kind_of_value(value: JsonValue) -> PersonalKind | None:
    """Return the kind of a value that can be nothing else."""
    if not isinstance(value, str):
        return None
    if _MAIL.fullmatch(value):
        return "mail"
    if _IBAN.fullmatch(value) and is_iban(value):
        return "iban"
    return "phone" if _INTERNATIONAL.fullmatch(value) else None


def _is_called_phone(name: str, value: JsonValue) -> bool:
    """Whether a field has a number, and the word before numbers of phones as its name."""
    words = _snake(name).replace("_", " ")
    is_number = isinstance(value, str) and _BARE_NUMBER.fullmatch(value) is not None
    return is_number and pattern_of("phone_words").match(words) is not None


def _has_own(fields: Sequence[_Field]) -> bool:
    """Whether one of some fields has what only people have: a mail, a birthday."""
    return any(
        one.kind in _OWN
        or one.meaning == "birthday"
        or _BIRTHDAY.fullmatch(str(one.value)) is not None
        for one in fields
    )


def _snake(name: str) -> str:
    return str(regex.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)).casefold()


def _is_part_of_address(name: str) -> bool:
    return any(pattern_of(f"{role}_fields").search(_snake(name)) for role in _ROLES)


def _kind_of(name: str, meaning: str) -> PersonalKind | None:
    """Return the kind of personal data of a field by name and meaning; `name` alone has none."""
    if _secret_words().search(name):
        return "secret"
    for listed, kind in _BY_FIELD:
        if pattern_of(listed).search(_snake(name)):
            return kind
    if _is_part_of_address(name):
        return None
    return None if name.casefold() == "name" else _BY_MEANING.get(meaning)


def _of_object(fields: list[_Field], said: str, local: frozenset[str]) -> Iterator[PersonalValue]:
    by_role = {
        role: str(field.value).strip()
        for field in fields
        for role in _ROLES
        if isinstance(field.value, str | int)
        and pattern_of(f"{role}_fields").search(_snake(field.name))
    }
    kinds = {field.kind for field in fields}
    has_own = _has_own(fields)
    is_named = "name" in kinds
    named = [
        _is_name_beside(field, local, has_own=has_own or field.is_beside_own, is_named=is_named)
        for field in fields
    ]
    is_of_person = has_own or any(named) or bool(kinds & {"name", "address"})
    for field, is_name in zip(fields, named, strict=True):
        kind, value = field.kind, field.value
        if is_name or (field.name.casefold() == "name" and kinds & _SIBLINGS):
            kind = "name"  # what has a phone or an address is a person
        if kind is None and _is_said_number(field, said, beside=is_of_person):
            kind = "id"
        if isinstance(value, int) and not isinstance(value, bool):
            if kind in ("phone", "card", "id") and len(str(value)) >= _FEWEST_DIGITS:
                yield PersonalValue(kind, str(value), is_of_field=True)
        elif isinstance(value, str) and kind == "address":
            yield from _of_address_field(value, by_role)
        elif isinstance(value, str) and kind is not None and _can_be(kind, value):
            yield PersonalValue(kind, value, is_of_field=True)
        if pattern_of("post_fields").search(_snake(field.name)) and isinstance(value, str | int):
            code = str(value).strip()
            yield PersonalValue("address", code, Address("", code=code))


def _is_name_beside(field: _Field, local: frozenset[str], *, has_own: bool, is_named: bool) -> bool:
    """Whether a field holds a person's name, though its own name may not say so.

    Two of three have to speak for it: words for a name, what only people have beside it
    (`has_own`), and known names or those of mail addresses (`local`). Beside a person that is
    named (`is_named`) all words have to be known.
    """
    value = field.value
    if field.kind is not None or field.meaning not in _MAY_NAME or not isinstance(value, str):
        return False
    words = [one.capitalize() if value == value.lower() else one for one in value.split()]
    if not _can_be("name", value) or not all(map(_is_word_of_name, words)):
        return False
    told = f"{field.name.replace('_', ' ')} {field.description}".strip()
    is_told = field.meaning == "person" or _ACTING.search(field.name) is not None
    is_told = is_told or pattern_of("asks_name").search(told) is not None
    names = known_names(script_of(value), ANY)
    known = [word in names.first | names.last for word in words if not _is_particle(word)]
    is_known = words[0] in names.first or all(known) or not local.isdisjoint(_words_of([value]))
    if is_told:  # things have a "name", too
        return has_own or (is_known and " " in told)
    return has_own and is_known and len(words) > 1 and (all(known) or not is_named)


def _is_word_of_name(word: str) -> bool:
    is_written = word[:1] != word[:1].lower() or script_of(word) not in CASED
    return is_written or _is_particle(word)


def _is_small_name(words: Sequence[str]) -> bool:
    """Whether words in small letters are a known first name, or begin with one."""
    names = known_names(script_of(words[0]) if words else "", ANY)
    return bool(words) and words[0].isalpha() and words[0].capitalize() in names.first


def _is_particle(word: str) -> bool:
    return regex.fullmatch(PARTICLE, word) is not None


def _is_said_number(field: _Field, said: str, *, beside: bool) -> bool:
    """Whether a field has a number that the user says: a long one, or one beside a person."""
    value = field.value
    if not isinstance(value, str) or field.meaning in CLOCKED or _DAY.search(value):
        return False
    digits = sum(map(str.isdecimal, value))
    if (
        digits < (_FEWEST_OF_ID if beside else _LONG_ID)
        or 2 * digits < sum(map(str.isalnum, value))
        or ":" in value
    ):
        return False
    plain = regex.sub(r"[^\p{L}\p{N}]", "", value).casefold()
    return plain in regex.sub(r"[^\p{L}\p{N}]", "", said).casefold()


def _of_address_field(value: str, by_role: Mapping[str, str]) -> Iterator[PersonalValue]:
    found = [*find_addresses(value)]
    if not found:  # its number may stand in a field beside it
        number = by_role.get("number") or "1"
        tried = (*find_addresses(f"{number} {value}"), *find_addresses(f"{value} {number}"))
        found = [one for one in tried if one.address.core in value][:1]
        if found and "number" not in by_role:
            found = [one._replace(address=one.address._replace(number="")) for one in found]
    for one in found:
        unit, code = one.address.unit or by_role.get("unit", ""), one.address.code
        address = one.address._replace(unit=unit, code=code or by_role.get("post", ""))
        yield PersonalValue("address", value.strip(), address, is_of_field=True)
    if not found and _can_be("address", value):
        yield PersonalValue("address", value, is_of_field=True)


def _can_be(kind: PersonalKind, value: str) -> bool:
    words = value.split()
    if kind == "name":
        is_written = value != value.lower() or not value.isascii() or _is_small_name(words)
        is_written = is_written and (not is_chinese(value) or len(value) <= _LONGEST_NAME)
        return 0 < len(words) <= _LONGEST_NAME and not any(map(str.isdigit, value)) and is_written
    if kind == "mail":
        return bool(_MAIL.fullmatch(value))
    if kind in ("phone", "card"):
        return sum(map(str.isdigit, value)) >= _FEWEST_DIGITS
    if kind == "iban":
        return bool(_IBAN.fullmatch(value.strip()))
    if kind == "id":
        digits = sum(map(str.isdigit, value))
        return digits >= _SHORT and len(value) <= 2 * _LONG and len(words) <= _SHORT
    if kind == "address":
        return any(map(str.isdigit, value)) and len(words) > 1
    return len(value) >= _FEWEST_DIGITS - 1


# --- words


def _asked_names(sample: Sample) -> Iterator[PersonalValue]:
    """Yield what a user says, and nothing else, where somebody asks for a name."""
    question = ""
    for turn in sample.turns:
        if isinstance(turn, ReplyTurn):
            question = turn.text
        elif isinstance(turn, UserTurn):
            said = turn.text.strip(" .,!\n")
            words = said.split()
            is_name = len(words) <= _SHORT and all(word[:1] != word[:1].lower() for word in words)
            is_name = is_name or (script_of(said) not in CASED and len(words) <= _SHORT)
            is_asked = question and pattern_of("asks_name").search(question) is not None
            if words and is_asked and is_name and _can_be("name", said):
                yield PersonalValue("name", said)
            question = ""


def texts_of(sample: Sample) -> Iterator[str]:
    """Yield all texts of a conversation: words, and texts in calls and results."""
    yield sample.system_message
    for turn in sample.turns:
        if isinstance(turn, CallTurn):
            for call in turn.calls:
                for value in call.arguments.values():
                    yield from _texts_in(value)
        elif isinstance(turn, ResultTurn):
            for result in turn.results:
                yield from _texts_in(result)
        else:
            yield turn.text
            if isinstance(turn, UserTurn) and turn.external is not None:
                yield turn.external.text


def _texts_in(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list() | dict():
            for one in (*value.keys(), *value.values()) if isinstance(value, dict) else value:
                yield from _texts_in(one)


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


class _Finder:
    """Finds personal values in the texts of a conversation."""

    def __init__(self, language: Language, lower: frozenset[str], parts: frozenset[str]) -> None:
        self._language, self._names = language, NameFinder(language, lower, parts)

    def find(self, text: str) -> Iterator[PersonalValue]:
        """Yield the personal values in a text; surer finds take precedence where finds overlap."""
        for piece in _pieces(text):
            taken = Spans()
            for kind in KINDS:
                if kind == "address":
                    for one in find_addresses(piece):
                        if not taken.overlaps(one.start, one.end):
                            taken.add(one.start, one.end)
                            yield PersonalValue(kind, piece[one.start : one.end], one.address)
                    continue
                for start, end in self._places(kind, piece):
                    if end > start and not taken.overlaps(start, end):
                        taken.add(start, end)
                        yield PersonalValue(kind, piece[start:end])

    def _places(self, kind: PersonalKind, text: str) -> Places:
        match kind:
            case "secret":
                for pattern in (_TOKEN, *_secret_patterns()):
                    yield from (match.span() for match in pattern.finditer(text))
            case "mail":
                yield from (match.span() for match in _MAIL.finditer(text))
            case "iban":
                yield from _ibans(text)
            case "card":
                cards = _CARD.finditer(text)
                yield from (one.span() for one in cards if has_luhn_digit(_digits_of(one[0])))
            case "id":
                yield from _identities(text)
            case "phone":
                yield from _phones(text, self._language)
            case _:
                yield from self._names.find(text)


def _ibans(text: str) -> Places:
    for match in _IBAN.finditer(text):
        written = match[0]
        while written:
            if is_iban(written):
                yield match.start(), match.start() + len(written)
                break
            # words may follow
            written = written[: max(written.rfind(" "), written.rfind("-"), 0)]


def is_iban(written: str) -> bool:
    """Whether a text is an IBAN: of its country's length, with its check digits right."""
    plain = regex.sub(r"[\s-]", "", written).upper()
    return len(plain) == _iban_lengths().get(plain[:2]) and iban_remainder(plain) == 1


def iban_remainder(plain: str) -> int:
    """Return what the check of an IBAN (ISO 13616) leaves: 1 if its check digits are right."""
    return int("".join(str(int(one, 36)) for one in plain[4:] + plain[:4])) % 97


@cache
def _iban_lengths() -> Mapping[str, int]:
    return {one[:2]: int(one[2:]) for one in str(words_of_people("iban_lengths")).split()}


def has_luhn_digit(digits: str) -> bool:
    """Whether the last digit is the check digit of the others, as cards have it (ISO 7812)."""
    doubled = (sum(divmod(2 * int(one), 10)) for one in digits[-2::-2])
    return bool(digits) and (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _digits_of(text: str) -> str:
    return str(regex.sub(r"\D", "", text))


def _identities(text: str) -> Places:
    yield from (match.span() for match in _BARE_IDENTITY.finditer(text))
    for match in _identity_pattern().finditer(text):
        start, end = match.span("id")
        while end > start and not text[end - 1].isalnum():
            end -= 1
        if sum(map(str.isdigit, text[start:end])) >= _SHORT and end - start >= _FEWEST_OF_ID:
            yield start, end


@cache
def _identity_pattern() -> regex.Pattern[str]:
    words = "|".join(words_of_people("id_words"))
    return regex.compile(f"(?:{words}){words_of_people('id_joint')}{_IDENTITY}")


def _phones(text: str, language: Language) -> Places:
    from phonenumbers import Leniency, PhoneNumberMatcher, is_valid_number

    if sum(map(str.isdigit, text)) < _FEWEST_DIGITS:
        return
    for match in _said_phones().finditer(text):
        is_long = _FEWEST_DIGITS <= sum(map(str.isdigit, match["own"])) <= _LONG
        if is_long and not _NO_PHONE.fullmatch(match["own"]):
            yield match.span("own")
    regions = regions_of(language)
    for region in (*regions, None):
        for match in PhoneNumberMatcher(text, region, leniency=Leniency.POSSIBLE):
            written = match.raw_string
            is_likely = region in regions[:_LIKELY] and is_valid_number(match.number)
            if written.isdigit() and not is_likely:
                continue  # an order's number
            is_long = sum(map(str.isdigit, written)) >= _FEWEST_DIGITS
            if is_long and not _NO_PHONE.fullmatch(written) and not _DAY.search(written):
                yield match.start, match.end


@cache
def _said_phones() -> regex.Pattern[str]:
    """Return the pattern of a number that words say is one of a phone, with few others between."""
    words = "|".join(words_of_people("phone_words"))
    between = r"(?:[\s\p{P}#]{0,4}\p{L}{1,10}){0,2}[\s\p{P}#]{0,4}"
    return regex.compile(
        rf"(?:{words}){between}(?P<own>\+?\(?\d[\d\s().\-/]{{5,20}}\d)(?![\p{{L}}\d])"
    )


def regions_of(language: Language) -> tuple[str, ...]:
    """Return where numbers without a country's code are from, by the language of the text."""
    regions = packaged("callwright.generators.taken", "phone_regions.yaml")
    return tuple(regions.get(language, ()))


def national_number(written: str, language: Language) -> str:
    """Return a phone number's digits behind the country's code and the trunk's zero."""
    from phonenumbers import NumberParseException, is_possible_number, parse

    for region in (*regions_of(language), None):
        try:
            number = parse(written, region)
        except NumberParseException:
            continue
        if is_possible_number(number):
            return str(number.national_number)
    digits = "".join(str(int(one)) for one in written if one.isdigit())
    return digits.lstrip("0")


# --- secrets


@cache
def _secret_patterns() -> tuple[Any, ...]:
    """Return the patterns of detect-secrets' plug-ins; no secret is verified over the network."""
    from importlib import import_module
    from pkgutil import iter_modules

    from detect_secrets import plugins
    from detect_secrets.plugins.base import RegexBasedDetector

    patterns: list[Any] = []
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
def _secret_words() -> regex.Pattern[str]:
    from detect_secrets.plugins.keyword import DENYLIST

    return regex.compile(
        "|".join((*DENYLIST, "access_?token", "auth_?token", "^token$", "bearer")), regex.IGNORECASE
    )
