"""Finding the entry of a list that somebody calls by name."""

from collections.abc import Sequence

from pydantic import JsonValue

from llm.language.folding import fold
from llm.template.names import split_name
from llm.template.rankings import leaves

_NAMES = frozenset({"name", "title", "label", "header", "subtitle"})


def name_paths(entries: Sequence[JsonValue]) -> list[str]:
    """Where the entries have their names, the likeliest place first."""
    found: dict[str, None] = {}
    for entry in entries[:1]:
        for path, value in leaves(entry):
            words = split_name(path.rpartition(".")[2])
            if isinstance(value, str) and words and words[-1] in _NAMES:
                found[path] = None
    return sorted(found, key=lambda path: (path.count("."), path.rpartition(".")[2] not in _NAMES))


def named(entries: Sequence[JsonValue], query: str) -> tuple[int, str, str] | None:
    """The entry that `query` names: its index, the path of the name, and how well: "equals", "contains", "within"."""
    wanted = fold(query)
    names = [[(path, fold(_text(entry, path))) for path in name_paths(entries)] for entry in entries]
    for manner in ("equals", "contains", "within"):
        for at in range(len(names[0]) if names else 0):
            for index, row in enumerate(names):
                path, name = row[at]
                if name and _fits(manner, name, wanted):
                    return index, path, manner
    return None


def _fits(manner: str, name: str, wanted: str) -> bool:
    if manner == "equals":
        return name == wanted
    return wanted in name if manner == "contains" else name in wanted


def text_at(entry: JsonValue, path: str) -> str:
    """The text at a path of an entry, "" where there is none."""
    return _text(entry, path)


def _text(entry: JsonValue, path: str) -> str:
    value = value_in(entry, path)
    return value if isinstance(value, str) else ""


def value_in(value: JsonValue, path: str) -> JsonValue:
    """The value at a dotted path ("a.b[0].c"), None where there is none."""
    held = value
    for piece in path.replace("[", ".").replace("]", "").split("."):
        if not piece:
            continue
        if isinstance(held, dict):
            held = held.get(piece)
        elif isinstance(held, list) and piece.isdecimal() and int(piece) < len(held):
            held = held[int(piece)]
        else:
            return None
    return held
