"""Chance that is the same every time: numbers, identifiers and tokens that come from a seed and what they are for."""

import base64
from functools import lru_cache
from hashlib import blake2b
from random import Random

import orjson
from pydantic import JsonValue

_PRIME = 9_999_991  # identifiers have up to seven digits
_FIRST = 1_000_003
_SIGN = 8  # bytes of the signature that tells a token of this world from an invented one
WORDY = 1200  # bytes of padding that make a token of more than 1,500 characters


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
