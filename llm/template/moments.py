"""What stands before a day or a time: "until" where something ends with it, "by" where it is due, "on" or "at" where it just is."""

from collections.abc import Mapping

from callwright.language.names import split_name
from callwright.language.packs import LanguagePattern
from callwright.language.readers.moments import find_times
from callwright.llm.template.grammar.phrasebook import Phrasebook
from callwright.llm.template.grammar.stating import StatedParameter

# By a word of the parameter's name, the last that tells: what the moment is to the call. Names are English in every language.
_ROLES: Mapping[str, str] = {
    **dict.fromkeys(("until", "till", "end", "ends", "ending", "through", "thru", "to", "latest"), "until"),
    **dict.fromkeys(("expires", "expiry", "expiration", "expire"), "until"),
    **dict.fromkeys(("from", "since", "earliest", "effective"), "from"),
    **dict.fromkeys(("start", "starts", "starting", "begin", "begins", "beginning"), "start"),
    **dict.fromkeys(("due", "deadline", "by"), "by"),
    "before": "before",
    "after": "after",
}
_CHANGED = "new"  # what the moment is moved to, whatever it is the moment of
_DESCRIBED = {role: LanguagePattern(f"@{{moment_{role}}}") for role in ("until", "by", "from")}


def role_of(name: str, description: str = "") -> str:
    """What a moment is to the call, by its parameter's name, then by its description; "" where neither tells."""
    words = split_name(name)
    if _CHANGED in words:
        return "to"
    found = next((_ROLES[word] for word in reversed(words) if word in _ROLES), "")
    return found or next((role for role, one in _DESCRIBED.items() if one.of(description).search(description)), "")


def moment_clause(stated: StatedParameter, book: Phrasebook) -> str:
    """A day or a time behind the words that fit what it is to the call."""
    named = " ".join(split_name(stated.parameter.name))
    if " " in named and stands_before(named, book):  # "due before", "valid until"
        return f"{named} {stated.shown}"
    role = role_of(stated.parameter.name, str(stated.parameter.schema.get("description") or ""))
    if role:
        return book.moments[role].format(v=stated.shown)
    is_clock = any(found.start == 0 for found in find_times(stated.shown))
    return (book.time_lead if is_clock else book.day_lead) + stated.shown


def stands_before(cue: str, book: Phrasebook) -> bool:
    """Whether what a parameter is called stands right before its value: "valid until", "due by"."""
    leads = {shape.partition(" {v}")[0] for shape in book.moments.values()}
    return cue.rpartition(" ")[2].lower() in leads
