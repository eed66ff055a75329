"""What of a response a user asks for, and the answer that tells it: no more than the fields asked for, and all of these."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.names import split_name
from callwright.language.packs import of
from callwright.warehouse.answers import is_available, values_at
from callwright.warehouse.records import Language

_MOST = 3  # fields of one thing
_MOST_OF_EACH = 2  # fields of each entry of a list
_LONGEST = 80
_NAMES = ("name", "title", "label")
_OPAQUE = frozenset({"id", "ids", "url", "token", "key", "slug", "code", "uuid", "currency"})  # nobody reads these out
_VERBS = frozenset({"get", "search", "find", "list", "read", "fetch", "query", "show"})
_AMOUNTS = frozenset({"price", "fee", "total", "cost", "amount", "fare", "deposit", "excess"})
_HOLDERS = frozenset({"", "data", "results", "items", "entries"})
_STATE = frozenset({"status", "message", "success"})


class Asked(NamedTuple):
    """A tool that was called, what it returned, and the paths of the fields that the user asks for."""

    tool: str
    response: JsonValue
    fields: Sequence[str]


def telling_fields(response: JsonValue, known: Collection[JsonValue] = ()) -> tuple[str, ...]:
    """The fields of a response that somebody would ask for: those of its entries where it lists something, names first.

    What is `known`, since the call says it, nobody asks for.
    """
    every = dict.fromkeys(_fields(response, ""))
    # Where a key has a dot in its name ("prefect.flow"), no path leads there: nobody can ask for that field.
    found = [path for path in every if any("[]" in path or value not in known for value in values_at(response, path))]
    if isinstance(response, dict) and _STATE & response.keys():
        found = [path for path in found if path not in _STATE] or found
    listed = [path for path in found if "[]" in path]
    within = listed[0].partition("[]")[0] if listed else ""
    chosen = [path for path in listed if path.partition("[]")[0] == within] or found
    named = sorted(chosen, key=lambda path: _last(path) not in _NAMES)
    return tuple(named[: _MOST_OF_EACH if listed else _MOST])


def field_words(path: str) -> str:
    """A field as people call it; "" where the entry itself is what is told."""
    return " ".join(split_name(_last(path)))


def answer_of(asked: Sequence[Asked], language: Language) -> str:
    """What the responses say of the fields that are asked for, in a sentence for each call."""
    sentences = [answer_sentence(one, language) for one in asked]
    return of(language).space.join(dict.fromkeys(sentences)) or str(of(language).data["assistant"]["found"])


def answer_sentence(asked: Asked, language: Language) -> str:
    """What a response says of the fields that are asked for, in one sentence."""
    words = split_name(asked.tool)
    topic = " ".join(words[1:] if words[1:] and words[0] in _VERBS else words)
    shape: dict[str, str] = of(language).data["assistant"]["report"]
    told = shape["comma"].join(_facts(asked.response, asked.fields or telling_fields(asked.response), shape))
    told = told.rstrip(of(language).stop) or shape["none" if asked.fields else "nothing"]
    return shape["sentence"].format(topic=topic, Topic=topic.capitalize(), told=told)


def _facts(value: JsonValue, asked: Sequence[str], shape: Mapping[str, str], unit: str = "") -> Iterator[str]:
    """The fields of a thing one by one, then each of its lists; amounts with their currency."""
    plain = [path for path in asked if "[]" not in path]
    unit = next((str(one) for path in plain if _last(path) == "currency" for one in values_at(value, path)), unit)
    for path in plain:
        if _last(path) != "currency":
            yield from (_fact(_last(path), one, unit, shape) for one in values_at(value, path))
    lists: dict[str, list[str]] = {}
    for head, is_list, rest in (path.partition("[]") for path in asked):
        if is_list:
            lists.setdefault(head, []).append(rest.removeprefix("."))
    for head, inner in lists.items():
        entries = [entry for held in values_at(value, head) for entry in (held if isinstance(held, list) else ())]
        told = [_entry(entry, inner, shape, unit) for entry in entries if is_available(entry)]
        if any(told):
            joint = shape["comma"] if inner[1:] == [] else shape["entry"]
            label = "" if inner != [""] or _last(head) in _HOLDERS else f"{field_words(head)} "
            yield label + joint.join(filter(None, told))


def _entry(entry: JsonValue, asked: Sequence[str], shape: Mapping[str, str], unit: str) -> str:
    """An entry of a list: what it is told by first needs no label where it is a text."""
    first, *rest = asked
    named = [one for one in values_at(entry, first) if isinstance(one, str)] if "[]" not in first else []
    return shape["comma"].join([*named, *_facts(entry, rest if named else asked, shape, unit)])


def _fact(name: str, value: JsonValue, unit: str, shape: Mapping[str, str]) -> str:
    words = shape["yes" if value else "no"] if isinstance(value, bool) else str(value)
    is_amount = not isinstance(value, str) and bool(_AMOUNTS & set(split_name(name)))
    label = "" if name in (*_NAMES, "") else " ".join(split_name(name))
    return " ".join(filter(None, (label, words, unit if is_amount else "")))


def _fields(value: JsonValue, path: str) -> Iterator[str]:
    """The paths of what is worth telling, the outer before the inner."""
    if isinstance(value, dict):
        inner = [(f"{path}.{key}" if path else key, key, member) for key, member in value.items()]
        readable = [(at, member) for at, key, member in inner if not _OPAQUE & set(split_name(key))]
        yield from (at for at, member in readable if _is_telling(member))
        for at, member in readable:
            if isinstance(member, dict | list):
                yield from _fields(member, at)
    elif isinstance(value, list):
        for entry in value:
            if isinstance(entry, dict):
                yield from _fields(entry, f"{path}[]")
            elif _is_telling(entry):
                yield f"{path}[]"


def _is_telling(value: JsonValue) -> bool:
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return plain and value != "" and len(str(value)) <= _LONGEST


def _last(path: str) -> str:
    return path.rpartition(".")[2] if not path.endswith("[]") else ""
