"""What a bare text parameter is about, by the words of its name: the details of a claim are not those of an order."""

import re
from functools import lru_cache

from llm.template.names import split_name

# kind: (words of the name, what they are about); the first that fits decides
_TOPICS: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    kind: tuple((re.compile(rf"\b(?:{said})\b"), topic) for said, topic in rules)
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
    said = " ".join(split_name(name))
    topic = next((topic for pattern, topic in _TOPICS.get(kind, ()) if pattern.search(said)), "")
    return f"{kind} {topic}".strip()
