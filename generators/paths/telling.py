"""The answer at the end of a path, made by code: one short sentence for each response that was asked for."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from llm.template.names import split_name
from warehouse.records import Call, Language

_SHOWN = 3
_LONGEST = 80
_VERBS = frozenset({"get", "search", "find", "list", "read", "fetch", "query", "show"})
_NAMES = ("name", "title", "label")
_OPAQUE = frozenset({"id", "ids", "url", "token", "key", "slug", "code", "uuid", "currency"})  # nobody reads these out


def final_answer(wanted: Sequence[tuple[Call, JsonValue]], language: Language) -> str:
    """What the wanted responses say, in a sentence for each."""
    sentences = [_sentence(call, response, language) for call, response in wanted]
    nothing = "已查到。" if language == "zh" else "Done."
    return ("" if language == "zh" else " ").join(dict.fromkeys(sentences)) or nothing


def _sentence(call: Call, response: JsonValue, language: Language) -> str:
    words = split_name(call.tool)
    topic = " ".join(words[1:] if words[1:] and words[0] in _VERBS else words)
    facts = list(dict.fromkeys(_facts(_content(response))))[:_SHOWN]
    if language == "zh":
        return f"{topic}：{'，'.join(facts) or '已查到'}。"
    return f"{topic.capitalize()}: {', '.join(fact.rstrip('.') for fact in facts) or 'done'}."


def _content(response: JsonValue) -> JsonValue:
    """The response without what is wrapped around it: fields of state beside the one field that holds something."""
    if isinstance(response, dict):
        holders = [member for member in response.values() if isinstance(member, dict | list)]
        if len(holders) == 1 and {"status", "message", "success"} & response.keys():
            return holders[0]
    return response


def _facts(value: JsonValue) -> Iterator[str]:
    """What is worth telling, the outer before the inner; of a list the names of its entries, or its first entry."""
    if isinstance(value, dict):
        yield from _plain(value)
        for key, member in value.items():
            if not _OPAQUE & set(split_name(key)):
                yield from _facts(member)
    elif isinstance(value, list):
        names = [name for entry in value if (name := _name(entry))]
        if names:
            yield from names
        elif value:
            yield from _facts(value[0])


def _plain(value: Mapping[str, JsonValue]) -> Iterator[str]:
    name = _name(dict(value))
    if name:
        yield name
    for key, member in value.items():
        words = split_name(key)
        if key not in _NAMES and not _OPAQUE & set(words) and _is_telling(member):
            yield f"{' '.join(words)} {member}"


def _name(entry: JsonValue) -> str:
    if not isinstance(entry, dict):
        return str(entry) if _is_telling(entry) else ""
    return next((str(entry[key]) for key in _NAMES if _is_telling(entry.get(key))), "")


def _is_telling(value: JsonValue) -> bool:
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return plain and value != "" and len(str(value)) <= _LONGEST
