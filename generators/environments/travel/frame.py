"""What all functions of the world share: seed and size, seeded chance, names and prices, how answers are framed and refused."""

import base64
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from hashlib import blake2b
from random import Random
from typing import Any, NamedTuple, TypeVar

import orjson
from pydantic import JsonValue

from callwright.language.packs import packaged
from callwright.warehouse.errors import RecordError

PACKAGE = "callwright.generators.environments.travel"
Entry = TypeVar("Entry")
DAY_FORMAT = "%Y-%m-%d"
MOMENT_FORMAT = "%Y-%m-%d %H:%M"
_PRIME = 9_999_991  # identifiers have up to seven digits
_FIRST = 1_000_003
_SIGN = 8  # bytes of the signature that tells a token of this world from an invented one
WORDY = 1200  # bytes of padding that make a token of more than 1,500 characters
RATES: Mapping[str, float] = {
    "USD": 1.0, "EUR": 0.92, "GBP": 0.79, "CHF": 0.88, "JPY": 149.0, "CNY": 7.2, "CAD": 1.36, "AUD": 1.52, "NZD": 1.65,
    "SEK": 10.5, "NOK": 10.7, "DKK": 6.9, "CZK": 23.2, "HUF": 361.0, "PLN": 3.98, "TRY": 32.1, "AED": 3.67, "QAR": 3.64,
    "EGP": 47.5, "MAD": 10.0, "KES": 130.0, "ZAR": 18.6, "MXN": 17.1, "ARS": 870.0, "BRL": 5.1, "PEN": 3.75,
    "CLP": 945.0, "KRW": 1340.0, "HKD": 7.8, "TWD": 32.0, "THB": 36.2, "SGD": 1.35, "MYR": 4.7, "INR": 83.3,
}  # fmt: skip
LANGUAGES: Mapping[str, str] = {
    "en-us": "English (US)", "en-gb": "English (UK)", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian",
    "pt-br": "Portuguese (Brazil)", "nl": "Dutch", "sv": "Swedish", "ja": "Japanese", "ko": "Korean", "zh-cn": "Chinese",
}  # fmt: skip


class Size(NamedTuple):
    """How much a response holds: entries of a list, and sentences, photos and reviews of an entry."""

    entries: int
    sentences: int


SIZES: Mapping[str, Size] = {"short": Size(4, 0), "medium": Size(7, 1), "long": Size(45, 24)}


class World(NamedTuple):
    """All that an answer depends on, besides the call."""

    seed: int
    size: Size


class RequestError(RecordError):
    """A request that a real service would answer with an error; its message is the answer."""


class Request:
    """The arguments of a call, defaults filled in and checked against the schema, read by type."""

    def __init__(self, arguments: Mapping[str, JsonValue]) -> None:
        """Read from `arguments`."""
        self.arguments = arguments

    def given(self, name: str) -> bool:
        """Whether there is a value."""
        return self.arguments.get(name) is not None

    def text(self, name: str) -> str:
        """A text, "" where it is left out."""
        value = self.arguments.get(name)
        return "" if value is None else str(value).strip()

    def number(self, name: str) -> float:
        """A number that the schema demands or gives a default."""
        value = self.arguments[name]
        if not isinstance(value, int | float):
            raise RequestError(f"{name} must be a number.")
        return float(value)

    def whole(self, name: str) -> int:
        """A whole number that the schema demands or gives a default."""
        return int(self.number(name))

    def flag(self, name: str) -> bool:
        """A boolean, false where it is left out."""
        return self.arguments.get(name) is True

    def day(self, name: str) -> date:
        """A date."""
        try:
            return datetime.strptime(self.text(name), DAY_FORMAT).date()  # noqa: DTZ007 - a calendar day has no zone
        except ValueError as error:
            raise RequestError(f"{name} must be a date like 2027-03-14, not {self.text(name)!r}.") from error

    def moment(self, name: str) -> datetime:
        """A date and time of day, at the place itself."""
        try:
            return datetime.strptime(self.text(name), MOMENT_FORMAT)  # noqa: DTZ007 - local to the place
        except ValueError as error:
            raise RequestError(
                f"{name} must be a date and time like 2027-03-14 09:30, not {self.text(name)!r}."
            ) from error

    def stay(self, first: str, last: str) -> tuple[date, int]:
        """The day that a stay begins and its length; refused where it does not end after it begins."""
        start, end = self.day(first), self.day(last)
        if end <= start:
            raise RequestError(f"{last} must be later than {first}.")
        return start, (end - start).days


def refusal(message: str) -> JsonValue:
    """A response that says what was wrong with the request."""
    return {"status": False, "message": message}


def page_of(entries: Sequence[Entry], page: int, world: World) -> Sequence[Entry]:
    """One page of a list, pages counted from 1."""
    return entries[(page - 1) * world.size.entries : page * world.size.entries]


def chance(*parts: JsonValue) -> Random:
    """A generator that is seeded by `parts` alone, the same in every process."""
    return Random(blake2b(orjson.dumps(parts), digest_size=8).digest())


def share(*parts: JsonValue) -> float:
    """A number from 0 to 1 (never 1) for `parts`: cheaper than a generator where one number is all that is needed."""
    return int.from_bytes(blake2b(orjson.dumps(parts), digest_size=6).digest()) / (1 << 48)


def number_for(index: int, kind: str, seed: int) -> int:
    """The identifier of the `index`th thing of a kind: looks like any number, and leads back to the index."""
    factor, shift = _scramble(kind, seed)
    return _FIRST + (index * factor + shift) % _PRIME


def index_of(number: int, kind: str, seed: int) -> int:
    """The index that `number` was made for; for a number that was never made it is far beyond any index in use."""
    factor, shift = _scramble(kind, seed)
    return (number - _FIRST - shift) * pow(factor, -1, _PRIME) % _PRIME


@lru_cache(256)
def _scramble(kind: str, seed: int) -> tuple[int, int]:
    rng = chance("identifiers", kind, seed)
    return rng.randrange(1_000_000, _PRIME), rng.randrange(_PRIME)


def write_token(content: JsonValue, kind: str, seed: int, padding: int = 0) -> str:
    """An opaque token that holds `content` and `padding` bytes of noise."""
    body = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    noise = chance("padding", kind, seed, body.hex()).randbytes(padding)
    packed = len(body).to_bytes(2) + body + noise
    return base64.urlsafe_b64encode(_signature(packed, kind, seed) + packed).decode().rstrip("=")


def read_token(token: str, kind: str, seed: int) -> JsonValue | None:
    """What a token holds; None where this world never made it."""
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return None
    packed = raw[_SIGN:]
    if len(packed) < 2 or raw[:_SIGN] != _signature(packed, kind, seed):  # noqa: PLR2004 - two bytes say the length
        return None
    content: JsonValue = orjson.loads(packed[2 : 2 + int.from_bytes(packed[:2])])
    return content


def _signature(packed: bytes, kind: str, seed: int) -> bytes:
    return blake2b(packed, digest_size=_SIGN, key=f"{kind}:{seed}".encode()).digest()


@lru_cache(1)
def words() -> Mapping[str, Any]:
    """The content of words.yaml."""
    content: Mapping[str, Any] = packaged(PACKAGE, "words.yaml")
    return content


def sentences(topic: str, count: int, *seeds: JsonValue) -> str:
    """So many sentences about a topic, always the same for the same seeds."""
    pool: list[str] = words()["prose"][topic]
    rng = chance("prose", topic, *seeds)
    stated: list[str] = []
    while len(stated) < count:  # none is stated again before all have been
        stated += rng.sample(pool, len(pool))
    return " ".join(stated[:count])


def score(*seeds: JsonValue) -> float:
    """A review score from 6.0 to 9.8."""
    return round(6.0 + 3.8 * share("score", *seeds), 1)


def reviewer(*seeds: JsonValue) -> str:
    """Who wrote a review: a sort of guest, not a name."""
    guests: list[str] = words()["guests"]
    return guests[int(share("guest", *seeds) * len(guests))]


def in_currency(dollars: float, currency: str) -> float:
    """An amount of US dollars in another currency; refused where its rate is not known."""
    if currency not in RATES:
        raise RequestError(f"{currency!r} is not a currency code that is known here.")
    return round(dollars * RATES[currency], 2)
