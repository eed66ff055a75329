"""Where the user says an argument, so that a message could say it instead."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.generators.stated_values import found_evidence
from callwright.language.dates import HALF_DAY, find_dates, find_times
from callwright.language.packs import own_letters
from callwright.language.schemas import Kind, choices_of, kind_of
from callwright.language.values import locate
from callwright.language.wording import find_phrase
from callwright.warehouse.records import (
    CallTurn,
    Evidence,
    GoldCall,
    JsonSchema,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

MASK = " … "


class TurnMention(NamedTuple):
    """A value that the user turn `turn` says, from `start` to `end`, for an argument of `tool`."""

    turn: int
    start: int
    end: int
    tool: Tool
    argument: str
    value: JsonValue

    @property
    def schema(self) -> JsonSchema:
        """The schema of the argument, with its name as the title."""
        return schema_of(self.tool, self.argument)


def schema_of(tool: Tool, argument: str) -> JsonSchema:
    """What `locate` needs to know about an argument."""
    return {"title": argument, **tool.properties.get(argument, {})}


def find_mentions(sample: Sample, tools: Mapping[str, Tool]) -> list[TurnMention]:
    """Every argument that a user turn says, once for each turn and value, in the order of the conversation."""
    named = {tools[key].name: tools[key] for key in sample.candidates if key in tools}
    found: dict[tuple[int, str, str, bytes], TurnMention] = {}
    for snapshot in sample.snapshots():
        for call in snapshot.calls:
            tool = named.get(call.tool)
            for mention in _mentions(call, tool, snapshot.prefix) if tool else ():
                key = (mention.turn, call.tool, mention.argument, orjson.dumps(mention.value))
                found.setdefault(key, mention)
    return sorted(found.values(), key=lambda one: (one.turn, one.start))


def _mentions(call: GoldCall, tool: Tool, prefix: tuple[Turn, ...]) -> Iterator[TurnMention]:
    for argument, value in call.arguments.items():
        if argument not in tool.properties:
            continue
        place = say_where(call, argument, value, schema_of(tool, argument), prefix)
        if place is not None:
            yield TurnMention(*place, tool, argument, value)


def say_where(
    call: GoldCall, argument: str, value: JsonValue, schema: JsonSchema, prefix: tuple[Turn, ...]
) -> tuple[int, int, int] | None:
    """The user turn and the stretch of it that say an argument; None where a message or a result does, or nobody."""
    hint = next((one for one in call.evidence if one.argument == argument), None)
    if hint is None:
        return _searched(value, schema, prefix)
    if hint.in_message or hint.turn is None or hint.start is None or hint.end is None or hint.turn >= len(prefix):
        return None
    turn = prefix[hint.turn]
    if not isinstance(turn, UserTurn):
        return None
    found = locate(value, schema, turn.text[hint.start : hint.end])
    return None if found is None else (hint.turn, hint.start + found.start, hint.start + found.end)


def _searched(value: JsonValue, schema: JsonSchema, prefix: tuple[Turn, ...]) -> tuple[int, int, int] | None:
    """The same, where no evidence tells: in the last user turn that says the value."""
    for index in range(len(prefix) - 1, -1, -1):
        turn = prefix[index]
        found = locate(value, schema, turn.text) if isinstance(turn, UserTurn) else None
        if found is not None:
            return index, found.start, found.end
    return None


def is_pointable(mention: TurnMention, mentions: list[TurnMention], sample: Sample) -> bool:
    """Whether a message could take over: the value is stated there and nowhere else, and no other argument leans on it."""
    found = locate(mention.value, mention.schema, _text(sample.turns[mention.turn])[mention.start : mention.end])
    if found is None or found.rule == HALF_DAY:
        return False
    for other in mentions:
        overlaps = other.turn == mention.turn and other.start < mention.end and mention.start < other.end
        if overlaps and other.value != mention.value:
            return False
    return not _is_stated_elsewhere(mention, sample)


def _is_stated_elsewhere(mention: TurnMention, sample: Sample) -> bool:
    due = first_call_turn(sample, mention.turn)
    for index, turn in enumerate(sample.turns):
        is_parsed = isinstance(turn, UserTurn) or (isinstance(turn, ReplyTurn | ResultTurn) and index < due)
        if not is_parsed:
            continue
        text = _text(turn)
        if index == mention.turn:
            text = text[: mention.start] + MASK + text[mention.end :]
        if locate(mention.value, mention.schema, text) is not None:
            return True
    return False


def first_call_turn(sample: Sample, turn: int) -> int:
    """The index of the first call turn after `turn`, the number of turns where none follows."""
    later = (at for at, one in enumerate(sample.turns) if at > turn and isinstance(one, CallTurn))
    return next(later, len(sample.turns))


def as_evidence(argument: str, value: JsonValue, schema: JsonSchema, turn: int, text: str) -> Evidence | None:
    """Evidence that `text` of the user turn `turn` says the value, None where it does not."""
    found = locate(value, schema, text)
    return None if found is None else found_evidence(argument, found, text, turn)


def _text(turn: Turn) -> str:
    match turn:
        case UserTurn(text=text, external=external):
            return text if external is None else f"{text}\n{external.text}"
        case ReplyTurn(text=text):
            return text
        case ResultTurn(results=results):
            return orjson.dumps(results).decode()
        case CallTurn():
            return ""


_DIGIT = re.compile(r"\d")
_SHORTEST_CHOICE = 3
_DATED: frozenset[Kind] = frozenset({"date", "date-time"})
_CLOCKED: frozenset[Kind] = frozenset({"time", "date-time"})


class OtherValue(NamedTuple):
    """A gold value that must stay where it is stated."""

    argument: str
    value: JsonValue
    schema: JsonSchema


def other_values(sample: Sample, tools: Iterable[Tool], value: JsonValue) -> list[OtherValue]:
    """Every value of the sample's gold calls but `value`, each once."""
    named = {tool.name: tool for tool in tools}
    found: list[OtherValue] = []
    for snapshot in sample.snapshots():
        for call in snapshot.calls:
            for argument, other in call.arguments.items():
                tool = named.get(call.tool)
                one = OtherValue(argument, other, schema_of(tool, argument) if tool else {"title": argument})
                if other != value and one not in found:
                    found.append(one)
    return found


def masked(text: str, start: int, end: int) -> str:
    """The text without the stretch `start`..`end`."""
    return text[:start] + MASK + text[end:]


def says_other(text: str, others: Iterable[OtherValue]) -> str:
    """Which of the other values the text says, as a sentence; "" where none."""
    for one in others:
        found = locate(one.value, one.schema, text)
        if found is not None:
            words = text[found.start : found.end]
            return f"{words!r} says {one.value!r}, which is the value of {one.argument!r}."
    return ""


def fills_parameter(text: str, tool: Tool, argument: str) -> str:
    """Which parameter of the tool but `argument` the text has a value for, as a sentence; "" where none.

    Free text is passed over, for any words could fill it.
    """
    for name, schema in tool.properties.items():
        words = _value_for(text, schema) if name != argument else ""
        if words:
            return f"{words!r} could be taken for the parameter {name!r}."
    return ""


def says_another_time(text: str, schema: JsonSchema) -> bool:
    """Whether the text has a date or a time of day that the parameter itself could take."""
    kind = kind_of(schema)
    return bool((kind in _DATED and find_dates(text)) or (kind in _CLOCKED and find_times(text)))


def _value_for(text: str, schema: JsonSchema) -> str:
    kind = kind_of(schema)
    if kind == "enum":
        options = [str(option) for option in choices_of(schema)]
        return next((option for option in options if _is_telling(option) and find_phrase(option, text)), "")
    if kind in ("integer", "number"):
        match = _DIGIT.search(text)
        return match.group() if match else ""
    typed = (find_dates(text) if kind in _DATED else []) + (find_times(text) if kind in _CLOCKED else [])
    return text[typed[0].start : typed[0].end] if typed else ""


def _is_telling(option: str) -> bool:
    return len(option) >= _SHORTEST_CHOICE or (len(option) > 1 and bool(own_letters(option)))
