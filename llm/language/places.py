"""Well-known short names of places and what they stand for."""

import re
from functools import lru_cache

from llm.language.folding import fold
from llm.language.found import Found
from llm.language.phrases import find_phrase

PLACE = "place spelling"
_NAMES = (
    ("NYC", "New York City", "New York", "NY"),
    ("LA", "Los Angeles"),
    ("SF", "San Francisco"),
    ("DC", "Washington DC", "Washington D.C."),
    ("UK", "United Kingdom", "Great Britain"),
    ("US", "USA", "United States", "United States of America"),
    ("UAE", "United Arab Emirates"),
    ("HK", "Hong Kong", "香港", "香港特别行政区"),
    ("JFK", "John F. Kennedy International Airport", "JFK Airport"),
    ("LAX", "Los Angeles International Airport"),
    ("Vegas", "Las Vegas"),
    ("Philly", "Philadelphia"),
    ("St. Petersburg", "Saint Petersburg"),
    ("北京", "北京市", "首都北京"),
    ("内蒙古", "内蒙古自治区"),
    ("广西", "广西壮族自治区"),
    ("西藏", "西藏自治区"),
    ("新疆", "新疆维吾尔自治区"),
    ("宁夏", "宁夏回族自治区"),
    ("澳门", "澳门特别行政区", "Macau", "Macao"),
)
_UPPER = re.compile(r"[A-Z]{2,3}")


def find_place(place: str, text: str) -> Found | None:
    """Where `text` says `place` by another of its well-known names."""
    for name in _other_names().get(fold(place), ()):
        found = find_phrase(name, text)
        # "la" and "us" are words; as names of places they are written in capitals
        if found and (not _UPPER.fullmatch(name) or text[found.start : found.end] == name):
            return Found(place, found.start, found.end, PLACE)
    return None


@lru_cache(1)
def _other_names() -> dict[str, tuple[str, ...]]:
    return {fold(name): tuple(other for other in row if other != name) for row in _NAMES for name in row}
