"""What a tool does and to what, known by its name: `createAlarm` creates an alarm, `searchFlights` reads flights."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from callwright.language.names import split_name, words
from callwright.language.packs import language_of, of
from callwright.language.thesaurus import stem_groups
from callwright.language.vocabulary import deep_stem, stem
from callwright.warehouse.records import Language, Tool

READ, CREATE, CHANGE, DELETE, START, STOP, OTHER = "read", "create", "change", "delete", "start", "stop", "other"


class Doing(NamedTuple):
    """What a tool does: `kinds` of action (a verb like `set` has two), its verb, and the words of what it does it to.

    `head` is the one word of these for the thing itself: an article, of `saveArticleForLater`; "" where there is none.
    """

    kinds: frozenset[str]
    verb: str
    resource: tuple[str, ...]
    head: str = ""


_VERBS = {
    (READ,): "get search query view find list show check read browse retrieve fetch see look lookup track count compare filter"
    " display monitor estimate calculate predict recommend inspect quote watch identify locate describe summarize",
    (CREATE, OTHER): "create add make new record log write schedule book reserve order buy purchase place post upload save"
    " store register insert plan issue apply submit publish report favorite favourite collect bookmark draft"
    " enroll subscribe follow generate compose put pin invite rent hire request",
    (CHANGE,): "update modify edit change adjust alter rename move switch reset reschedule rebook extend replace revise"
    " amend append",
    (CREATE, CHANGE, START): "set",
    (DELETE,): "delete remove cancel clear erase discard drop uncollect unfollow unlike revoke unsubscribe unfavorite unpin"
    " cancle delect withdraw trash purge",
    (START, OTHER): "open start enable activate resume launch play begin connect turn",
    (STOP,): "close stop disable deactivate pause end finish quit disconnect exit",
    (OTHER,): "send share pay transfer call translate lock unlock mute unmute block unblock convert download forward rate"
    " evaluate comment reply answer dim brighten raise lower increase decrease reduce refund redeem snooze tip leave join"
    " export import scan sign claim hide restore contact navigate export print test shuffle skip like"
    " install uninstall remind repay renew terminate deliver return refuse redeem invest merge take",
}  # fmt: skip
_KINDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {verb: frozenset(kinds) for kinds, verbs in _VERBS.items() for verb in verbs.split()}
)
# In a name these say how, not what: `listMyNotesByDate` is about notes.
_ASIDE = frozenset(
    words(
        "a all an and any at available by current detail details for from given in info information into item latest list"
        " mine my near nearby new of on one or own result results the to user with"
    )
)
_PREPOSITIONS = frozenset(words("about as at by for from in into of off on onto out over to under up with"))
# The thing that comes of doing it: who can book can have a booking, and cancel it.
_YIELDS: Mapping[str, str] = MappingProxyType(
    {
        "book": "booking", "reserve": "reservation", "order": "order", "subscribe": "subscription",
        "register": "registration", "enroll": "enrollment", "apply": "application", "favorite": "favorite",
        "favourite": "favorite", "bookmark": "bookmark", "collect": "collection", "post": "post", "comment": "comment",
        "report": "report", "request": "request", "invite": "invitation", "rent": "rental", "buy": "order",
        "purchase": "order", "draft": "draft",
    }
)  # fmt: skip
_OPPOSITES = (
    ("on", "off"), ("start", "stop"), ("start", "end"), ("open", "close"), ("enable", "disable"), ("send", "receive"),
    ("send", "request"), ("pay", "request"), ("next", "previous"), ("first", "last"), ("increase", "decrease"),
    ("raise", "lower"), ("dim", "brighten"), ("incoming", "outgoing"), ("accept", "reject"), ("accept", "decline"),
    ("approve", "reject"), ("show", "hide"), ("join", "leave"), ("in", "out"), ("up", "down"), ("import", "export"),
    ("upload", "download"), ("lend", "borrow"), ("buy", "sell"), ("pause", "resume"), ("pickup", "delivery"),
    ("like", "dislike"), ("deposit", "withdraw"), ("add", "remove"), ("book", "cancel"), ("borrow", "return"),
    ("arrival", "departure"), ("income", "expense"),
)  # fmt: skip
_NONE: Mapping[str, Any] = MappingProxyType(
    {"verbs": {}, "opposites": ()}
)  # of a language whose descriptions need none
_WORDS = re.compile(r"[a-z]+")


@lru_cache(8192)
def doing_of(name: str, description: str) -> Doing:
    """What the tool of this name and description does; an unknown verb is an action of the kind "other"."""
    named = split_name(name.rsplit(".", 1)[-1])
    verb = next((word for word in named if word in _KINDS), "")
    rest = tuple(stem(word) for word in named if word != verb and word not in _ASIDE)
    if not verb:
        verb = next((word for word in _WORDS.findall(description.lower())[:1] if word in _KINDS), "")
    kinds = _KINDS.get(verb) or _stated_kinds(description)
    if {"turn", "switch"} & set(named) and {"on", "off"} & set(named):
        kinds = frozenset({START if "on" in named else STOP})
    return Doing(kinds, verb, rest, _head(named[named.index(verb) + 1 :] if verb in named else named))


def _head(after: Sequence[str]) -> str:
    """The last word before a preposition, else the last one of all."""
    end = next((place for place, word in enumerate(after) if word in _PREPOSITIONS and place), len(after))
    kept = [word for word in after[:end] if word not in _ASIDE | _PREPOSITIONS] or [
        word for word in after if word not in _ASIDE | _PREPOSITIONS
    ]
    return kept[-1] if kept else ""


def yields(doing: Doing) -> str:
    """What comes of the action: booking a room yields a booking; "" where it yields its object."""
    return _YIELDS.get(doing.verb, "")


def are_opposed(one: Tool, other: Tool) -> bool:
    """Whether two tools do different or opposite things, however alike the words about them are."""
    doing, others = doing_of(one.name, one.description), doing_of(other.name, other.description)
    if not doing.kinds & others.kinds:
        return True
    if _do_differently(doing, others):
        return True
    return any(_differ(one, other))


def _do_differently(doing: Doing, others: Doing) -> bool:
    """Whether the verbs are opposites, or of no kind but their own and no synonyms: who replies does not forward."""
    verb, other = doing.verb, others.verb
    if not verb or not other or verb == other:
        return False
    if verb == f"un{other}" or other == f"un{verb}":
        return True
    groups = stem_groups()
    mine, theirs = groups.get(deep_stem(verb), verb), groups.get(deep_stem(other), other)
    return doing.kinds == others.kinds == {OTHER} and mine != theirs


def _differ(one: Tool, other: Tool) -> Iterator[bool]:
    own, others = _all_words(one), _all_words(other)
    for first, second in _OPPOSITES:
        yield first in own and second in others and second not in own and first not in others
        yield second in own and first in others and first not in own and second not in others
    for left, right in _listed(one.language, "opposites"):
        sides = _side(one.description, left, right), _side(other.description, left, right)
        yield set(sides) == {1, -1}


def _listed(language: Language, name: str) -> Any:  # noqa: ANN401 - parsed YAML
    return of(language).data.get("actions", _NONE)[name]


def _side(text: str, left: str, right: str) -> int:
    """1 for a text on the left side of a pair of opposites, -1 on the right, 0 on neither; the right may hold the left."""
    if re.search(right, text):
        return -1
    return 1 if re.search(left, text) else 0


def _all_words(tool: Tool) -> frozenset[str]:
    name = split_name(tool.name.rsplit(".", 1)[-1])
    return frozenset((*name, *_WORDS.findall(tool.description.lower())))


def _stated_kinds(description: str) -> frozenset[str]:
    """The kinds of the first verb that the description has in a language that lists them."""
    verbs = _listed(language_of(description), "verbs").items()
    found = [(match.start(), kind) for kind, verb in verbs if (match := re.search(verb, description))]
    kind = min(found, default=(0, OTHER))[1]
    return frozenset({kind, OTHER} if kind in {CREATE, START} else {kind})
