"""Which tools nobody can ask for: another one is asked for in the same words, or no words say what.

A request says what a tool does by its title. Tools of one catalog that share a title are told apart
by what they require; a deprecated one gives way to the other.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from callwright.language.calls.tools import first_sentence, is_address, name_words, tool_title
from callwright.language.names import deed_of, function_words, singular
from callwright.language.schemas import says_deprecated
from callwright.warehouse.records import DEFAULT_LANGUAGE, Tool

_VERSION = re.compile(r"\s*\b(?:v\d+(?:\.\d+)*|beta|alpha|legacy|deprecated)\b")
_NOUN = re.compile(r"[a-z]+")
# what stands before a noun, or behind a verb
_LEADING = frozenset({"a", "an", "the", "all", "your", "this", "its", "one", "some", "new"})
_LONGEST_DEED = 3
_PREPOSITIONS = frozenset(
    {"to", "on", "in", "from", "with", "by", "for", "as", "at", "into", "out", "off", "up", "over"}
)


def unclear_tools(tools: Sequence[Tool]) -> Mapping[str, str]:
    """Return why no request can be about a tool, by the keys of such tools."""
    return _unclear(tuple(tools))


@lru_cache(64)
def _unclear(tools: tuple[Tool, ...]) -> Mapping[str, str]:
    groups: dict[tuple[str, str, str], dict[str, Tool]] = defaultdict(dict)
    for tool in tools:
        title = tool_title(tool.name, tool.description).casefold()
        groups[tool.source, tool.language, _VERSION.sub("", title).strip()][tool.key] = tool
    reasons: dict[str, str] = {}
    for same in groups.values():
        for tool in same.values():
            others = [one for one in same.values() if one is not tool]
            if others and (reason := _rivalry(tool, others)):
                reasons.setdefault(tool.key, reason)
    nouns = {
        noun
        for tool in tools
        if tool.language == DEFAULT_LANGUAGE
        for noun in _nouns_of(tool_title(tool.name, tool.description))
    }
    for tool in tools:
        title = tool_title(tool.name, tool.description)
        said = first_sentence(tool.description).casefold()
        is_read = title == name_words(tool.name) and deed_of(said.partition(" ")[0]) == "other"
        words = function_words(tool.name)  # whoever has a `post_tweet` posts one
        if is_read and is_address(words) and len(words) > _LONGEST_DEED:
            reason = f"Nothing says what it does: its name is its path, {tool.name!r}."
            reasons.setdefault(tool.key, reason)
        told = first_sentence(tool.description) or title
        is_named = tool.language == DEFAULT_LANGUAGE and title == name_words(tool.name)
        if is_named and _is_thing(title, nouns) and _is_thing(told, nouns):
            reason = f"Its name and description do not say what it does, only of what: {title!r}."
            reasons.setdefault(tool.key, reason)
    return reasons


def _rivalry(tool: Tool, others: Sequence[Tool]) -> str:
    """Return why a request in the words that `others` share can't be about a tool, or ""."""
    is_old = says_deprecated(tool.description)
    newer = next((one for one in others if not says_deprecated(one.description)), None)
    if is_old and newer is not None:
        return f"It is deprecated, and {newer.name!r} does the same."
    rivals = [one for one in others if says_deprecated(one.description) == is_old]
    needed = {*tool.required}
    for rival in rivals:
        if {*rival.required} <= needed <= {*rival.properties} and rival.name != tool.name:
            return f"It is asked for in the words and with the details of {rival.name!r}."
    return ""


def _nouns_of(title: str) -> Iterator[str]:
    """Yield what a title does something to: "account" of "update an account"."""
    verb, *rest = title.casefold().split()
    if deed_of(verb) == "other":
        return
    while rest and rest[0] in _LEADING:
        del rest[0]
    if rest and _NOUN.fullmatch(rest[0]) and rest[0] not in _PREPOSITIONS:
        yield singular(rest[0])


def _is_thing(title: str, nouns: set[str]) -> bool:
    """Whether a title names a thing alone: it begins with a noun of the catalog, not as a verb."""
    first, *rest = title.casefold().split() or [""]
    if deed_of(first) != "other" or singular(first) not in nouns:
        return False
    return not rest or rest[0] not in _LEADING | _PREPOSITIONS
