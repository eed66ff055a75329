"""Names of tools and parameters as words: `customerID` is "customer ID", `party_size` is "party size"."""

import re
from functools import lru_cache

from llm.template.word_lists import words

_EDGES = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d+$)|[_\-.\s/:]+")
_SPELLED = frozenset(
    words(
        "id ids pin cvv url uri ip vip gps sms usb tv isbn vin sku otp iban bmi eta sim atm pdf api uuid iata dob faq"
    )
)
_CHINESE = re.compile("[\u4e00-\u9fff]")
_PLURALS = {"ids": "IDs"}
_GLUED = re.compile(r"^(\w{3,})(id|name|code|date|time|number|type)$")
_SHORTEST_GLUED = 6
_GLUED_WHOLE = frozenset({"candidate", "update", "validate", "mandate", "lifetime", "overtime", "prototype", "barcode"})


@lru_cache(65536)
def split_name(name: str) -> tuple[str, ...]:
    """The words of a name in lower case: `fromAccountID` is from, account, id."""
    words: list[str] = []
    for word in _EDGES.split(name):
        lower = word.lower()
        glued = None if lower in _GLUED_WHOLE or len(lower) < _SHORTEST_GLUED else _GLUED.match(lower)
        if glued and glued[2] != "id":
            words += glued.groups()
        elif lower:
            words.append(lower)
    return tuple(words)


@lru_cache(65536)
def humanise(name: str) -> str:
    """A name as a person would say it, abbreviations in capitals."""
    return " ".join(_PLURALS.get(word, word.upper() if word in _SPELLED else word) for word in split_name(name))


def is_chinese(text: str) -> bool:
    """Whether there is any Chinese character in `text`."""
    return _CHINESE.search(text) is not None
