"""What a tool's function does, by the words of its name: look up, list, make, change, drop or switch."""

from typing import Literal

from llm.template.names import split_name
from llm.template.word_lists import words

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
