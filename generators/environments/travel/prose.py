"""Names, phrases, prices and rates that several domains draw from."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import JsonValue

from generators.environments.travel.chance import chance, share
from generators.environments.travel.frame import RequestError
from generators.environments.travel.geography import packaged

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


@lru_cache(1)
def words() -> Mapping[str, Any]:
    """The content of words.yaml."""
    content: Mapping[str, Any] = packaged("words.yaml")
    return content


def sentences(topic: str, count: int, *seeds: JsonValue) -> str:
    """So many sentences about a topic, always the same for the same seeds."""
    pool: list[str] = words()["prose"][topic]
    rng = chance("prose", topic, *seeds)
    said: list[str] = []
    while len(said) < count:  # none is said again before all have been
        said += rng.sample(pool, len(pool))
    return " ".join(said[:count])


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
