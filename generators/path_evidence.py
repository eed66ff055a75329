"""Where the arguments of a path that others wrote come from: the request, an earlier response, or a default."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from llm.language.locating import locate
from warehouse.records import CallTurn, Evidence, GoldCall, JsonSchema, ResultTurn, Tool, Turn, UserTurn

AS_TEXT = "text"  # the response has a number where the argument has its text, or the other way round


class _Place(NamedTuple):
    turn: int
    path: str
    rule: str = ""


class _Leaf(NamedTuple):
    argument: str
    value: JsonValue
    schema: JsonSchema


def add_evidence(turns: Sequence[Turn], tools: Mapping[str, Tool]) -> tuple[Turn, ...]:
    """The turns, each gold call with the evidence that can be found; an argument of many parts has one for each part."""
    responses = _Responses()
    said: list[tuple[int, str]] = []
    found: list[Turn] = []
    for index, turn in enumerate(turns):
        if isinstance(turn, UserTurn):
            said.append((index, turn.text))
        elif isinstance(turn, ResultTurn):
            responses.add(index, turn)
        elif isinstance(turn, CallTurn):
            calls = tuple(_with_evidence(call, tools.get(call.tool), said, responses) for call in turn.calls)
            found.append(turn.with_changes(calls=calls))
            continue
        found.append(turn)
    return tuple(found)


class _Responses:
    """Every value of the responses so far, by what it is and by its text: the place where it was seen last."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, JsonValue], _Place] = {}
        self._texts: dict[str, _Place] = {}

    def add(self, turn: int, results: ResultTurn) -> None:
        """Take in the responses of a turn; inside one turn the first place of a value counts."""
        places: dict[tuple[str, JsonValue], _Place] = {}
        texts: dict[str, _Place] = {}
        for number, result in enumerate(results.results):
            for path, value in _leaves(result, f"turns[{turn}].results[{number}]"):
                places.setdefault((_kind(value), value), _Place(turn, path))
                texts.setdefault(str(value), _Place(turn, path, AS_TEXT))
        self._places |= places
        self._texts |= texts

    def find(self, value: JsonValue) -> _Place | None:
        """Where a response has this value; what is empty, or only true or false, is no proof."""
        if value in (None, "", [], {}) or isinstance(value, bool | list | dict):
            return None
        return self._places.get((_kind(value), value)) or self._texts.get(str(value))


def _with_evidence(
    call: GoldCall, tool: Tool | None, said: Sequence[tuple[int, str]], responses: _Responses
) -> GoldCall:
    properties = {} if tool is None else tool.properties
    evidence = [
        found
        for name, value in call.arguments.items()
        for leaf in _parts(_Leaf(name, value, properties.get(name) or {}), responses)
        if (found := _evidence(leaf, said, responses)) is not None
    ]
    return call.with_changes(evidence=tuple(evidence))


def _parts(leaf: _Leaf, responses: _Responses) -> Iterator[_Leaf]:
    """The single values that an argument is put together of: members, or the parts of a list written with commas."""
    name, value, schema = leaf
    if isinstance(value, list) and value:
        for at, item in enumerate(value):
            yield from _parts(_Leaf(f"{name}[{at}]", item, schema.get("items") or {}), responses)
    elif isinstance(value, dict) and value:
        members = schema.get("properties") or {}
        for key, member in value.items():
            yield from _parts(_Leaf(f"{name}.{key}", member, {"title": key, **(members.get(key) or {})}), responses)
    elif isinstance(value, str) and "," in value and responses.find(value) is None:
        parts = [part.strip() for part in value.split(",")]
        if any(responses.find(part) is not None for part in parts):
            yield from (_Leaf(f"{name}[{at}]", part, schema) for at, part in enumerate(parts))
        else:
            yield leaf
    else:
        yield leaf


def _evidence(leaf: _Leaf, said: Sequence[tuple[int, str]], responses: _Responses) -> Evidence | None:
    """What was said in so many words comes first, then a response, then what was said otherwise, then the default."""
    spans = [(turn, text, found) for turn, text in said if (found := locate(leaf.value, leaf.schema, text)) is not None]
    exact = next((span for span in spans if not span[2].rule), None)
    place = responses.find(leaf.value)
    if exact is None and place is not None:
        return Evidence(argument=leaf.argument, kind="response", turn=place.turn, path=place.path, rule=place.rule)
    if spans:
        turn, text, found = exact or spans[0]
        return Evidence(
            argument=leaf.argument,
            kind="normalised" if found.rule else "span",
            turn=turn,
            start=found.start,
            end=found.end,
            quote=text[found.start : found.end],
            rule=found.rule,
        )
    if "default" in leaf.schema and leaf.schema["default"] == leaf.value:
        return Evidence(argument=leaf.argument, kind="default")
    return None


def _leaves(value: JsonValue, path: str) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _leaves(member, f"{path}.{name}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _leaves(member, f"{path}[{index}]")
    elif value not in (None, "") and not isinstance(value, bool):
        yield path, value


def _kind(value: JsonValue) -> str:
    return "text" if isinstance(value, str) else "number"
