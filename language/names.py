"""Names as code has them, in words: split, in which script, and what the words of a tool's or a parameter's name stand for."""

import re
from functools import lru_cache
from typing import Literal


def words(text: str) -> list[str]:
    """The words of a list; where there is a bar in it, what stands between bars."""
    return text.split("|") if "|" in text else text.split()


_EDGES = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d+$)|[_\-.\s/:]+")
_SPELLED = frozenset(
    words(
        "id ids pin cvv url uri ip vip gps sms usb tv isbn vin sku otp iban bmi eta sim atm pdf api uuid iata dob faq"
    )
)
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


Deed = Literal["list", "search", "make", "change", "drop", "switch", "restore", "export", "look", "other"]

_DEEDS: dict[Deed, frozenset[str]] = {
    "list": frozenset(words("list show view browse see")),
    "search": frozenset(words("search find")),
    "make": frozenset(words("add create set write save start record log register book buy rent schedule make open")),
    "change": frozenset(words("change update edit modify adjust reschedule")),
    "drop": frozenset(words("delete remove cancel terminate")),
    "switch": frozenset(words("turn switch stop mute pause enable disable")),
    "restore": frozenset({"restore"}),
    "export": frozenset({"export"}),
    "look": frozenset(words("check look get read compare count calculate estimate convert recommend suggest track")),
}
CHANGES: frozenset[Deed] = frozenset({"make", "change", "drop", "switch", "restore"})
_IRREGULAR = {"bookshelf": "bookshelves", "person": "people", "child": "children"}
_HISSING = ("s", "x", "z", "ch", "sh")
_YOU = ("uni", "usu", "use", "eu", "one")


def function_words(name: str) -> tuple[str, ...]:
    """The words of the function: `Clock.Alarms.setAlarm` is set, alarm."""
    return split_name(name.rpartition(".")[2])


def deed_of(verb: str) -> Deed:
    """What a verb does; "other" for any that is not listed."""
    return next((deed for deed, verbs in _DEEDS.items() if verb in verbs), "other")


def plural(noun: str) -> str:
    """The plural of an English noun or noun phrase."""
    head, _, last = noun.rpartition(" ")
    if last in _IRREGULAR:
        many = _IRREGULAR[last]
    elif last.endswith("y") and last[-2:-1] not in "aeiou":
        many = f"{last[:-1]}ies"
    else:
        many = f"{last}es" if last.endswith(_HISSING) else f"{last}s"
    return f"{head} {many}".strip()


def with_article(noun: str) -> str:
    """The noun phrase with "a" or "an"."""
    return f"an {noun}" if noun[:1] in tuple("aeiou") and not noun.startswith(_YOU) else f"a {noun}"


# kind: (words of the name, what they are about); the first that fits decides
_TOPICS: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    kind: tuple((re.compile(rf"\b(?:{stated})\b"), topic) for stated, topic in rules)
    for kind, rules in {
        "details": (
            ("claims?|accident|damage|incident", "claim"),
            ("alerts?|notifications?", "alert"),
            ("review|performance|feedback|evaluation|survey", "opinion"),
            ("orders?|meal|menu", "order"),
            ("address", "address"),
            ("preferences?|settings?", "preference"),
            ("appointments?|schedule|meeting|event|visit", "occasion"),
            ("animal|pet", "animal"),
            ("property|house|home|apartment|land", "home"),
            ("business|company|shop", "trade"),
            ("tax|income", "income"),
            ("bank|wire|account|payments?|card|plan", "account"),
            ("summary|discharge|medical|treatment|patient|health", "health"),
            ("shipments?|package|cargo|parcel|declaration|inventory|goods", "freight"),
            ("beneficiary|holder|contact|guest|passenger|employee|customer|personal|profile", "person"),
            ("documents?|file|upload", "document"),
            ("application|request|registration|renewal|service", "application"),
        ),
        "reason": (
            ("admission|surgery|treatment|medical|visit|referral", "health"),
            ("exemption|exempt|deferral", "exemption"),
            ("termination|resignation|dismissal|leave", "leaving"),
            ("return|refund|exchange", "return"),
        ),
        "message": (("review|feedback|comments?", "opinion"),),
        "status": (
            ("cleaning|housekeeping|room", "room"),
            ("roaming|service|line|account|alert|subscription", "service"),
            ("payment|invoice|bill", "payment"),
        ),
        "category": (
            ("payment|pay", "payment"),
            ("room|bed", "room"),
            ("test|lab|examination", "test"),
            ("department", "department"),
            ("insurance|policy|coverage", "insurance"),
            ("visa", "visa"),
            ("ticket|cabin|travel class|seat", "cabin"),
            ("record|certificate", "record"),
            ("benefits?", "benefit"),
            ("network", "network"),
            ("frequency|interval", "frequency"),
            ("format|file type", "format"),
            ("leave|absence", "leave"),
            ("account", "account"),
            ("device", "device"),
            ("vehicle|car", "vehicle"),
            ("preferences?", "preference"),
        ),
        "text": (
            ("make|manufacturer", "maker"),
            ("model", "model"),
            ("settings?|preferences?|options?", "preference"),
        ),
        "company": (("hospital|clinic", "hospital"), ("airline|carrier", "airline"), ("bank", "bank")),
    }.items()
}


@lru_cache(8192)
def topic_of(name: str, kind: str) -> str:
    """The kind, with what the name says it is about: `claimDetails` of the kind "details" is "details claim"."""
    stated = " ".join(split_name(name))
    topic = next((topic for pattern, topic in _TOPICS.get(kind, ()) if pattern.search(stated)), "")
    return f"{kind} {topic}".strip()
