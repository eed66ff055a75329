"""Replace personal values by made-up ones of the same sort, in whatever notation they are written.

A value is known by its digits and letters alone, a phone number by what stands behind the
country's code, a person word by word, an address by its street, its numbers and its code. Each
such part has one replacement in a conversation, and is written as the one before it was: with
its gaps, its case, its digits' script, its ending.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

import regex
from pydantic import JsonValue

from callwright.generators.taken.chinese_names import is_chinese
from callwright.generators.taken.personal_values import (
    PersonalKind,
    PersonalValue,
    has_luhn_digit,
    iban_remainder,
    is_iban,
    national_number,
)
from callwright.generators.taken.personal_words import words_of_people
from callwright.generators.taken.streets import Address
from callwright.language.calls.codes import person as made_person
from callwright.language.calls.people import CASED, ends_in_vowel, known_names, made_word, script_of
from callwright.language.packs import fallback, has_folder, letters_of
from callwright.language.text import Spans
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    Language,
    ReplyTurn,
    ResultTurn,
    Sample,
    Turn,
    UserTurn,
)

_NUMBERED: frozenset[PersonalKind] = frozenset({"iban", "card", "id", "phone"})
_UNBOUND = frozenset({"CJK", "HIRAGANA", "KATAKANA", "THAI", "HANGUL"})  # words without gaps
_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’-](?![sm]\b)[\p{L}\p{M}]+)*")
_PART = regex.compile(r"[\p{L}\p{M}]+")
_SNAKE = regex.compile(r"[a-z]+(?:_[a-z0-9]+)+")
_SIGNS = regex.compile(r"[^\p{L}\p{N}]")
_IN_CODE = r"[\p{Latin}\p{Cyrillic}\p{N}]"  # beside a number they are part of another one
_BOUND_STREET = r"(?<![\p{L}\p{N}]){0}"
# in Arabic letters a word such as "and" or "for" may be written with the one behind it
_JOINED = r"(?<=(?<![\p{L}\p{M}])[\u0648\u0644\u0628\u0643\u0641])"
_BOUND_NAME = rf"(?:(?<![\p{{L}}\p{{M}}])|{_JOINED}){{0}}(?![\p{{L}}\p{{M}}])"
_SEPARATOR = r"[\s().\-/·]{0,4}"
# the first character of the digits of a script: as typed, Arabic, Persian, Hindi, Bengali, wide
_ZEROS = (0x30, 0x660, 0x6F0, 0x966, 0x9E6, 0xFF10)
_KEPT_OF_PHONE, _KEPT_OF_ACCOUNT = 6, 4
_SHORTEST_PART, _SHORTEST, _SHORTEST_STEM = 3, 4, 5
_LONGEST_ENDING = 3
_NEAR = 40  # letters between a street and its number or flat
_TRIES = 50
_LETTERS = "abcdefghjkmnpqrstuvwxyz"


class _Swap(NamedTuple):
    start: int
    end: int
    made: str


class PersonalReplacements:
    """The replacements of all personal values of a conversation.

    Raises RecordError if a value can't be replaced: nobody knows names in its script.
    """

    def __init__(self, values: Sequence[PersonalValue], language: Language, seed: str) -> None:
        """Draw the replacements by the seed; values that fields hold come first."""
        self._language = language
        self._rng = Random(seed)
        self._inflects = language in words_of_people("inflecting")
        self._exact: dict[str, str] = {}
        self._numbers: dict[str, str] = {}  # by digits and letters alone
        self._phones: dict[str, str] = {}  # by the national number
        self._names: dict[str, str] = {}  # of scripts without case, whole and word by word
        self._parts: dict[str, str] = {}  # of names in scripts with case
        self._small = frozenset[str]()  # parts of names that the user writes in small letters only
        self._cores: dict[str, str] = {}
        self._beside: dict[str, dict[str, str]] = {}  # a street's numbers
        self._houses: dict[str, str] = {}  # numbers of all streets
        self._codes: dict[str, str] = {}
        if self._inflects:  # the form without an ending first
            values = sorted(values, key=lambda one: (not one.is_of_field, len(one.value)))
        for one in values:
            self._draw(one)
        self._searches = [*self._compiled()]

    # --- drawing

    def _draw(self, one: PersonalValue) -> None:
        value = one.value
        match one.kind:
            case "mail" | "secret":
                if _plain(value) not in self._exact:
                    made = self._mail() if one.kind == "mail" else self._shuffled(value)
                    self._exact[_plain(value)] = made
            case "iban" | "card" | "id":
                key = _key_of(value)
                if key not in self._numbers:
                    self._numbers[key] = self._number(one.kind, key)
            case "phone":
                self._draw_phone(value)
            case "address":
                self._draw_address(value, one.address)
            case "name":
                self._draw_name(value)

    def _mail(self) -> str:
        return f"user{self._rng.randrange(10**5):05}@example.org"

    def _digits(self, count: int) -> str:
        return "".join(str(self._rng.randrange(10)) for _ in range(count))

    def _shuffled(self, value: str) -> str:
        """Return a value with other letters and digits, unlike the one before."""
        digits = regex.sub(r"\d", lambda _: str(self._rng.randrange(10)), value)
        return str(regex.sub(r"[A-Za-z]", lambda _: self._rng.choice(_LETTERS), digits))

    def _number(self, kind: PersonalKind, key: str) -> str:
        """Return another number of the length and country, with check digits where it had them.

        The last digits of accounts stay: by them people speak of a card.
        """
        kept = _KEPT_OF_ACCOUNT if kind != "id" else 0
        for _ in range(_TRIES):
            first = 4 if kind == "iban" else 1 if kind == "card" else 0
            middle = key[first : len(key) - kept]
            changed = regex.sub(r"\d", lambda _: str(self._rng.randrange(10)), middle)
            made = f"{key[:first]}{changed}{key[len(key) - kept :]}"
            if kind == "iban" and is_iban(key):
                check = 98 - iban_remainder(f"{made[:2]}00{made[4:]}")
                made = f"{made[:2]}{check:02}{made[4:]}"
            is_right = kind != "card" or has_luhn_digit(made) == has_luhn_digit(key)
            if made != key and is_right and made not in self._numbers:
                return made
        raise RecordError(_UNREPLACED.format(kind))

    def _draw_phone(self, value: str) -> None:
        key = national_number(value, self._language)
        if not key or any(key.endswith(one) or one.endswith(key) for one in self._phones):
            if not any(key.endswith(one) for one in self._phones):  # a shorter one counts
                longer = next((one for one in self._phones if one.endswith(key)), "")
                if longer and key:
                    self._phones[key] = self._phones.pop(longer)[-len(key) :]
            return
        last = key[-_KEPT_OF_PHONE:]
        made = last
        while made == last:
            made = self._digits(len(last))
        self._phones[key] = key[: len(key) - len(last)] + made

    def _draw_address(self, value: str, address: Address | None) -> None:
        if address is None:
            if _plain(value) not in self._exact:
                core = self._last_name(value)
                self._exact[_plain(value)] = f"{self._rng.randint(2, 199)} {core}"
            return
        if address.code:
            self._codes.setdefault(_key_of(address.code), self._code(_key_of(address.code)))
        if not address.core:
            return
        core = _plain(address.core)
        if core not in self._cores:
            words = [one for one in _PART.findall(address.core) if len(one) >= _SHORTEST_PART]
            told = max(words, key=len, default=address.core)
            made = self._last_name(told)
            self._cores[core] = made if address.core[:1].isupper() else made.casefold()
        numbers = self._beside.setdefault(core, {})
        for number in filter(None, (address.number, address.unit)):
            # one number of several streets stays one: nobody knows whose flat it is
            made = self._houses.setdefault(number.casefold(), self._house(number))
            numbers.setdefault(number.casefold(), made)

    def _house(self, number: str) -> str:
        """Return another number of as many digits, with the letters as they are."""
        made = number
        while made == number and any(map(str.isdigit, number)):
            made = regex.sub(
                r"\d+",
                lambda one: str(self._rng.randint(10 ** (len(one[0]) - 1), 10 ** len(one[0]) - 1)),
                number,
            )
        return made

    def _code(self, key: str) -> str:
        """Return another code, whose first half tells the same region."""
        half = (len(key) + 1) // 2
        made = key
        while made == key:
            last = regex.sub(r"\d", lambda _: str(self._rng.randrange(10)), key[half:])
            last = regex.sub(r"[A-Z]", lambda _: self._rng.choice(_LETTERS).upper(), last)
            made = key[:half] + last
        return made

    def _last_name(self, like: str) -> str:
        script = script_of(like)
        if script == "LATIN":
            return self._person()[-1]
        made = made_word(like, "last", self._rng, self._language)
        if not made:
            raise RecordError(_UNREPLACED.format("address"))
        return made

    def _person(self) -> list[str]:
        language = self._language if has_folder(self._language) else fallback()
        if letters_of("A") != language and script_of(made_person(language, Random(1))) != "LATIN":
            language = fallback()
        return made_person(language, self._rng).split()

    def _draw_name(self, value: str) -> None:
        script = script_of(value)
        words = _PART.findall(value)
        if script in CASED:
            self._draw_cased([*map(str.capitalize, words)] if value == value.lower() else words)
            return
        if _plain(value) in self._names:
            return
        if is_chinese(value):
            made = made_person(letters_of(value), self._rng)
            self._names[_plain(value)] = made[: len(value)]
            return
        if script in _UNBOUND and len(words) == 1:
            self._names[_plain(value)] = self._unbound(value)
            return
        made_words = [
            self._names.get(_plain(word)) or self._word(words, at) for at, word in enumerate(words)
        ]
        for word, made in zip(words, made_words, strict=True):
            if len(word) >= _SHORTEST_PART or len(words) == 1:
                self._names.setdefault(_plain(word), made)
        if len(words) > 1:
            at = iter(made_words)
            self._names[_plain(value)] = _PART.sub(lambda _: next(at), value)

    def _unbound(self, value: str) -> str:
        """Return another name, without gaps, of a script whose words have none."""
        names = known_names(script_of(value))
        family = max((one for one in names.last if value.startswith(one)), key=len, default="")
        last = made_word(family or value, "last", self._rng, self._language) if family else ""
        first = made_word(value, "first", self._rng, self._language)
        if not first:
            raise RecordError(_UNREPLACED.format("name"))
        return f"{last}{first}"

    def _draw_cased(self, words: Sequence[str]) -> None:
        named = [at for at, word in enumerate(words) if word[:1].isupper() and len(word) > 1]
        plain_person = self._person() if script_of("".join(words)) == "LATIN" else []
        is_plain = bool(plain_person) and not self._inflects
        for at in named:
            part = _fold(words[at])
            if self._made_of(words[at]):
                continue
            is_first = (at == named[0] and len(named) > 1) or len(named) == 1
            made = (
                plain_person[0 if is_first else -1]
                if is_plain and len(named) <= len(plain_person)
                else ""
            )
            tries = 0
            while not made or _fold(made) in self._parts or made in self._parts.values():
                made = self._word([words[at]], 0 if is_first else 1)
                tries += 1
                if tries > _TRIES:
                    break
            self._parts[part] = made

    def _word(self, words: Sequence[str], at: int) -> str:
        which = "first" if at == 0 else "last"
        made = made_word(words[at if at < len(words) else 0], which, self._rng, self._language)
        if not made:
            raise RecordError(_UNREPLACED.format("name"))
        return made

    # --- writing

    def _compiled(self) -> Iterator[Callable[[str], Iterable[_Swap]]]:
        """Yield what finds the values in a text, the surest first."""
        if self._exact:
            exact = _alternatives(self._exact, r"(?<![\w@.+-])(?:{0})(?!\w)")
            yield lambda text: (
                _Swap(one.start(), one.end(), _cased(self._exact[_plain(one[0])], one[0]))
                for one in exact.finditer(text)
            )
        if self._numbers:
            yield _numbered(self._numbers, rf"(?<!{_IN_CODE})(?P<own>{{0}})(?!{_IN_CODE})")
        if self._phones:
            lead = rf"(?:\+?\d{{1,4}}{_SEPARATOR})?(?:\(?0\)?{_SEPARATOR})?"
            yield _numbered(self._phones, rf"(?<!\d){lead}(?P<own>{{0}})(?!\d)")
        if self._codes:
            yield _numbered(self._codes, rf"(?<!{_IN_CODE})(?P<own>{{0}})(?!{_IN_CODE})")
        for pattern in _by_script(self._cores, _BOUND_STREET):
            yield self._streets(pattern)
        for pattern in _by_script(self._names, _BOUND_NAME):
            yield self._uncased(pattern)
        if self._parts:
            yield self._cased_words

    def _streets(self, cores: regex.Pattern[str]) -> Callable[[str], Iterable[_Swap]]:
        def find(text: str) -> Iterator[_Swap]:
            for one in cores.finditer(text):
                core = _plain(one[0])
                yield _Swap(one.start(), one.end(), _cased(self._cores[core], one[0]))
                offset = max(0, one.start() - _NEAR)
                near = text[offset : one.end() + _NEAR]
                for number, made in self._beside[core].items():
                    pattern = rf"(?<!{_IN_CODE}){regex.escape(number)}(?!\p{{N}})"
                    places = [*regex.finditer(pattern, near, regex.IGNORECASE)]
                    at = one.start() - offset
                    # the same number farther away counts something else
                    for place in sorted(places, key=lambda each: abs(each.start() - at))[:1]:
                        start, end = place.start() + offset, place.end() + offset
                        yield _Swap(start, end, _shaped(place[0], made))

        return find

    def _uncased(self, pattern: regex.Pattern[str]) -> Callable[[str], Iterable[_Swap]]:
        return lambda text: (
            _Swap(one.start(), one.end(), self._names[_plain(one[0])])
            for one in pattern.finditer(text)
        )

    def _cased_words(self, text: str) -> Iterator[_Swap]:
        is_small = text == text.lower()
        words = [*_PART.finditer(text)]
        made = [self._made_of(one[0]) for one in words]
        for at, word in enumerate(words):
            if not made[at]:
                continue
            is_small_word = word[0][:1].islower()
            is_beside = any(
                0 <= other < len(words)
                and made[other]
                and (not is_small_word or words[other][0][:1].islower())
                and _are_near(word, words[other], text)
                for other in (at - 1, at + 1)
            )
            glued = (
                text[max(0, word.start() - 1) : word.start()] + text[word.end() : word.end() + 1]
            )
            in_code = any(one in "_@" or one.isdigit() for one in glued)
            is_name = word[0][:1].isupper() and len(word[0]) >= _SHORTEST_PART
            is_name = is_name or _fold(word[0]) in self._small
            if is_name or is_beside or is_small or in_code or word[0] == text:
                yield _Swap(word.start(), word.end(), _cased(made[at], word[0]))

    def _made_of(self, word: str) -> str:
        """Return what stands for a word of a name, with the ending that the word has."""
        folded = _fold(word)
        if folded in self._parts:
            return self._parts[folded]
        for part, made in self._parts.items():
            if folded in (f"{part}s", f"{part}es"):
                return made + word[len(part) :]
            if not self._inflects or len(part) < _SHORTEST_PART:
                continue
            is_open = ends_in_vowel(part)
            stem = part[:-1] if is_open else part
            ending = len(folded) - len(stem)
            if not folded.startswith(stem) or not 1 - is_open <= ending <= _LONGEST_ENDING:
                continue
            made_stem = made[:-1] if ends_in_vowel(made) else made
            return made_stem + word[len(stem) :]
        return ""

    def text(self, text: str) -> str:
        """Return a text with all replacements made."""
        taken, swaps = Spans(), list[_Swap]()
        for find in self._searches:
            for swap in find(text):
                if not taken.overlaps(swap.start, swap.end):
                    taken.add(swap.start, swap.end)
                    swaps.append(swap)
        for swap in sorted(swaps, reverse=True):
            text = text[: swap.start] + swap.made + text[swap.end :]
        return text

    def value(self, value: JsonValue, name: str = "") -> JsonValue:
        """Return a value with all replacements made; `name` is that of its field."""
        match value:
            case str():
                replaced = self.text(value)
                return self._alone(value, name) if replaced == value else replaced
            case dict():
                return self._object(value)
            case list():
                return [self.value(one, name) for one in value]
            case bool():
                return value
            case int():
                replaced = self.text(str(value))
                if replaced == str(value):
                    replaced = self._alone(replaced, name)
                return int(replaced) if replaced.isdigit() else value
            case _:
                return value

    def _object(
        self, fields: Mapping[str, JsonValue], *, is_call: bool = False
    ) -> dict[str, JsonValue]:
        """Return an object with all replacements made.

        A field beside a street that has its number, or its flat's, is that, whatever its name is.
        """
        beside = {
            number: made
            for core, numbers in self._beside.items()
            if any(isinstance(one, str) and core in _plain(one) for one in fields.values())
            for number, made in numbers.items()
        }
        made_of = {
            key: beside[str(one).casefold()]
            for key, one in fields.items()
            if isinstance(one, str | int) and str(one).casefold() in beside
        }
        # an amount may be the same by chance
        sure = [key for key in made_of if isinstance(fields[key], str)] or [*made_of][:1]
        replaced = {key: self.value(one, key) for key, one in fields.items()}
        for key in sure:
            is_whole = isinstance(fields[key], int) and made_of[key].isdigit()
            replaced[key] = int(made_of[key]) if is_whole else made_of[key]
        return {(key if is_call else self._key(key)): one for key, one in replaced.items()}

    def _key(self, key: str) -> str:
        """Return a field's name, which may be somebody's, but not if it has several words."""
        return key if _SNAKE.fullmatch(key) else self.text(key)

    def _alone(self, value: str, name: str) -> str:
        """Return a value of a field of its own that has a part of an address."""
        snake = regex.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).casefold()
        for role in ("number_fields", "unit_fields"):
            if name and regex.search(words_of_people(role), snake, regex.IGNORECASE):
                made = (one.get(value.casefold()) for one in self._beside.values())
                return next(filter(None, made), value)
        return value

    def sample(self, sample: Sample) -> Sample:
        """Return a sample with all replacements made, without its evidence, which quotes."""

        def turn_of(turn: Turn) -> Turn:
            match turn:
                case UserTurn(text=text, external=message):
                    other = message and message.with_changes(text=self.text(message.text))
                    return turn.with_changes(text=self.text(text), external=other)
                case ReplyTurn(text=text):
                    return turn.with_changes(text=self.text(text))
                case ResultTurn(results=results):
                    return turn.with_changes(results=tuple(self.value(one) for one in results))
                case CallTurn(calls=calls):
                    return turn.with_changes(calls=tuple(map(call_of, calls)))

        def call_of(call: GoldCall) -> GoldCall:
            return call.with_changes(
                arguments=self._object(call.arguments, is_call=True), evidence=()
            )

        said = [turn.text for turn in sample.turns if isinstance(turn, UserTurn)]
        words = {word for text in said for word in _PART.findall(text) if len(word) >= _SHORTEST}
        capital = {_fold(word) for word in words if word[:1] != word[:1].lower()}
        self._small = frozenset(map(_fold, words)) - capital
        turns = tuple(turn_of(turn) for turn in sample.turns)
        return sample.with_changes(turns=turns, system_message=self.text(sample.system_message))

    def is_left_in(self, texts: Iterable[str]) -> bool:
        """Whether one of these texts still has a name of somebody, with an ending."""
        made = {*map(_fold, self._parts.values())}
        parts = [one for one in self._parts if len(one) >= _SHORTEST_STEM]
        for text in texts:
            for word in _PART.finditer(text):
                folded = _fold(word[0])
                if word[0][:1].islower() or folded in made:
                    continue
                for part in parts:
                    ending = len(folded) - len(part)
                    if folded.startswith(part) and 0 <= ending <= _LONGEST_ENDING:
                        return True
        return False


_UNREPLACED = "Its personal data can't be replaced consistently (a value of the kind {0})"


def _plain(text: str) -> str:
    return str(regex.sub(r"\s+", " ", text.strip())).casefold()


def _fold(word: str) -> str:
    """Return a word without case and accents."""
    import unicodedata

    split = unicodedata.normalize(
        "NFKD", word.casefold().replace("\u00df", "ss").replace("\u0131", "i")
    )
    kept = (one for one in split if not ("\u0300" <= one <= "\u036f"))
    return unicodedata.normalize("NFC", "".join(kept))


def _key_of(text: str) -> str:
    """Return the digits and letters of a text, in capitals and plain digits."""
    return "".join(
        str(int(one)) if one.isdecimal() else one.upper() for one in _SIGNS.sub("", text)
    )


def _longest(keys: Iterable[str]) -> list[str]:
    return sorted(keys, key=lambda one: (-len(one), one))


def _spaced(key: str) -> str:
    """Return a pattern of a key's letters and digits, in any script of digits, with gaps."""
    return _SEPARATOR.join(map(_sign, key))


def _sign(sign: str) -> str:
    if sign.isdigit():
        return "[" + "".join(chr(zero + int(sign)) for zero in _ZEROS) + "]"
    return f"[{sign}{sign.lower()}]"


def _shaped(notation: str, made: str) -> str:
    """Return letters and digits in the notation of others: their gaps, case, script of digits."""
    left = iter(made)
    written: list[str] = []
    for sign in notation:
        if not sign.isalnum():
            written.append(sign)
            continue
        one = next(left, "")
        if sign.isdecimal() and one.isdecimal():
            written.append(chr(ord(sign) - int(sign) + int(one)))
        else:
            written.append(one.lower() if sign != sign.upper() else one)
    return "".join(written) + "".join(left)


def _numbered(made: Mapping[str, str], template: str) -> Callable[[str], Iterable[_Swap]]:
    """Return what finds numbers in any notation; the group `own` of the template is replaced."""
    pattern = regex.compile(template.replace("{0}", "|".join(map(_spaced, _longest(made)))))
    return lambda text: (
        _Swap(one.start("own"), one.end("own"), _shaped(one["own"], made[_key_of(one["own"])]))
        for one in pattern.finditer(text)
    )


def _by_script(values: Iterable[str], bound: str) -> Iterator[regex.Pattern[str]]:
    """Yield a pattern of the values in scripts with gaps between words, and one of the others."""
    listed = [*values]
    unbound = [one for one in listed if script_of(one) in _UNBOUND or is_chinese(one)]
    for some, template in (
        ([one for one in listed if one not in unbound], bound),
        (unbound, "{0}"),
    ):
        if some:
            yield _alternatives(some, template)


def _alternatives(values: Iterable[str], template: str) -> regex.Pattern[str]:
    """Return a pattern of values in any case and with any gaps between their words."""
    escaped = (regex.escape(one).replace(r"\ ", r"\s+") for one in _longest(values))
    return regex.compile(template.replace("{0}", f"(?:{'|'.join(escaped)})"), regex.IGNORECASE)


def _cased(made: str, written: str) -> str:
    """Return a replacement in the case of what is written, where that is all of one case."""
    if written == written.lower() and written != written.upper():
        return made.lower()
    if written == written.upper() and written != written.lower() and len(written) > 1:
        return made.upper()
    return made


def _are_near(one: regex.Match[str], other: regex.Match[str], text: str) -> bool:
    """Whether nothing but a gap, a comma, a full stop or a line stands between two words."""
    first, second = sorted((one, other), key=lambda word: word.start())
    return regex.fullmatch(r"[\s,._-]{0,2}", text[first.end() : second.start()]) is not None
