"""First sentences of descriptions that say what an operation does, and to what.

Requests repeat them. "Account details" of a GET is "Get account details", and where several
operations say "Delete a metadata key", each says of what, as its path does.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from callwright.language.calls.tools import first_sentence, name_words, tool_title
from callwright.language.names import CHANGES, deed_of, humanise, singular, split_name, with_article
from callwright.language.packs import main_language
from callwright.language.text import capitalised
from callwright.warehouse.records import DEFAULT_LANGUAGE

_DEEDS = {"get": "get", "delete": "delete", "put": "update", "patch": "update"}
_OWNER = re.compile(r"([^/{}]+)/\{(?!api_?key)[^/{}]+\}(?=/)", re.IGNORECASE)
_VERSION = re.compile(r"v\d+\S*")


class Summarised(NamedTuple):
    """An operation's name and description, with its method and path; what it returns is JSON."""

    name: str
    description: str
    method: str
    path: str
    is_answered: bool

    @property
    def title(self) -> str:
        """What requests for it say."""
        return tool_title(self.name, self.description)


def clear_descriptions(operations: Sequence[Summarised]) -> list[str]:
    """Return the descriptions of operations, beginning with what each does."""
    plain = [
        one._replace(description=_with_deed(one)) if _is_english(one.description) else one
        for one in operations
    ]
    alike: dict[str, list[Summarised]] = defaultdict(list)
    for one in plain:
        alike[one.title.casefold()].append(one)
    return [_told_apart(one, alike[one.title.casefold()]) for one in plain]


def _is_english(text: str) -> bool:
    return main_language(text) == DEFAULT_LANGUAGE


def _with_deed(operation: Summarised) -> str:
    """Return the description, led by what the method does where only a thing is named."""
    title, description = operation.title, operation.description
    if title == name_words(operation.name) and _is_address(operation):
        return _led(_path_title(operation), description)
    verb, *rest = title.split() or [""]
    is_named = title == name_words(operation.name)
    if deed_of(verb.lower()) != "other" or not _begins_path(title, operation.path):
        return description
    if is_named and rest and deed_of(rest[-1]) != "other":  # "files list"
        return _led(" ".join((rest[-1], verb, *rest[:-1])), description)
    deed = _DEEDS.get(operation.method, "")
    if not deed or (deed == "get" and not operation.is_answered) or len(title.split()) > _MOST:
        return description
    return _led(f"{deed} {title}", description)


def _is_address(operation: Summarised) -> bool:
    """Whether an operation is named by its method and path."""
    path = [operation.method, *split_name(operation.path.replace("{", "").replace("}", ""))]
    return [*split_name(operation.name)] == [one for one in path if one]


def _path_title(operation: Summarised) -> str:
    """Return what a path says is done: "get opds library" of GET /api/opds/{key}/libraries/{id}.

    "" if it names no action, as that of a POST may not.
    """
    things: list[str] = []
    for step in operation.path.split("/"):
        words = split_name(step.strip("{}"))
        if step.startswith("{"):
            is_one = things and singular(things[-1]) in words
            things[-1:] = [singular(things[-1])] if is_one else things[-1:]
        elif step and step != "api" and not _VERSION.fullmatch(step):
            things.append(humanise(step))
    *before, last = things[-_STEPS:] or [""]
    before = [one for one in before if one not in last]
    verb, *rest = last.lower().split() or [""]
    deed = _DEEDS.get(operation.method, "")
    if deed_of(verb) != "other" and (operation.method == "get") != (deed_of(verb) in CHANGES):
        owner = [singular(one) for one in before if singular(one) not in rest]
        return " ".join((verb, *owner, *rest))
    return " ".join((deed, *before, last)) if deed and last and verb not in _ASKING else ""


_ASKING = frozenset({"is", "has", "can"})
_STEPS = 2  # of a path, its last ones say what it is about
_MOST = 5  # words of a thing's name


def _led(title: str, description: str) -> str:
    if not title:
        return description
    return f"{capitalised(title)}. {description}".strip()


def _begins_path(title: str, path: str) -> bool:
    """Whether a title begins as a path does, with the things that it leads through."""
    steps = [one for one in path.split("/") if one and "{" not in one and not _VERSION.match(one)]
    words = [singular(word) for step in steps for word in split_name(step)]
    first = [singular(word) for word in title.lower().split()[:2]]
    return any(words[at : at + len(first)] == first for at in range(len(words)))


def _told_apart(operation: Summarised, alike: Sequence[Summarised]) -> str:
    """Return the description, its first sentence with what the others are not about, if any."""
    others = {owner for one in alike if one is not operation for owner in _owners(one.path)}
    said = {singular(word) for word in operation.title.casefold().split()}
    unsaid = [one for one in _owners(operation.path) if not said >= {*one.lower().split()}]
    telling = [one for one in unsaid if one not in others] or unsaid
    first = first_sentence(operation.description)
    is_title = first.casefold().endswith(operation.title.casefold().partition(" ")[2])
    if len(alike) < 2 or not telling or not first or not is_title:  # noqa: PLR2004 - by itself
        return operation.description
    rest = operation.description.strip()[len(first) :]
    return f"{first} for {with_article(telling[-1])}{rest or '.'}"


def _owners(path: str) -> list[str]:
    """Return the things that a path leads through: "credit note" of /credit_notes/{id}/metadata."""
    steps = (humanise(step).split() for step in _OWNER.findall(path))
    return [" ".join((*words[:-1], singular(words[-1]))) for words in steps if words]
