"""Find arguments of a conversation that can get another value without making the rest false."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from callwright.generators.families import Order
from callwright.generators.kinds import traits_of
from callwright.generators.shifts.turns import find_stated, is_conversation, is_question, until_due
from callwright.generators.tools import EMPTY, titled_schema, tools_by_name
from callwright.language.values import ANSWERED, locate
from callwright.warehouse.records import (
    CallTurn,
    Evidence,
    GoldCall,
    JsonSchema,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Transform,
    UserTurn,
)

_FEWEST_CHOICES = 2
NO_CALL = "No call is due in it, so there is no argument to change."
IMPERFECT = "Its request is imperfect: without a call nobody can want another value."
OPEN_END = (
    "It does not end with a call, or with what the assistant says after it, so nothing can follow."
)


class ChangeableArgument(NamedTuple):
    """An argument of call `call` in call turn `turn`; `stated` is where the user said it, if so."""

    turn: int
    call: int
    argument: str
    stated: Evidence | None


def find_places(
    sample: Sample, tools: Mapping[str, Tool], transform: Transform
) -> list[ChangeableArgument]:
    """Return the arguments that the transform can change."""
    sample = until_due(sample, transform)
    weighed = _weighed(sample, tools_by_name(sample, tools), transform)
    return [place for place, reason in weighed if not reason]


def obstacle_to(transform: Transform, sample: Sample, tools: Mapping[str, Tool]) -> str:
    """Return why no argument of the sample can be changed in this way, or "" if one can."""
    sample = until_due(sample, transform)
    named = tools_by_name(sample, tools)
    if not sample.all_calls:
        return NO_CALL
    unknown = next((call.tool for call in sample.all_calls if call.tool not in named), None)
    if unknown is not None:
        return f"It calls {unknown!r}, which is no candidate that the catalog has."
    if transform == "mSv" and (reason := _closed(sample)):
        return reason
    reasons = [reason for _, reason in _weighed(sample, named, transform)]
    if "" in reasons:
        return ""
    return reasons[-1] if reasons else "Its calls have no arguments, so there is none to change."


def tool_obstacle(order: Order, tool: Tool) -> str:
    """Why no sample of the order's kind can be about a tool, "" where one can."""
    transform, sources = order.kind.transform, [*map(traits_of, order.kind.sources)]
    if transform == "IS":
        return ""
    if all(_is_fixed(tool.properties[name]) for name in tool.choosable):
        return "None of its parameters has another value that could be wanted."
    if transform == "mSv" and all(traits.is_open for traits in sources):
        return IMPERFECT
    if transform == "SO_case2" and (
        len(tool.required) < _FEWEST_CHOICES or not any(traits.is_long for traits in sources)
    ):
        return "No question is open after a value was said, so there is no turn to correct it in."
    return ""


def _is_fixed(schema: JsonSchema) -> bool:
    choices = schema.get("enum")
    return "const" in schema or (choices is not None and len(choices) < _FEWEST_CHOICES)


def affected(sample: Sample, place: ChangeableArgument) -> dict[int, list[int]]:
    """Return the calls, by call turn, whose argument comes from the same words and changes too."""
    old = call_at(sample, place).arguments[place.argument]
    affected_calls: dict[int, list[int]] = {}
    for index in range(place.turn, len(sample.turns)):
        calls = sample.calls_at(index)
        having = [at for at, call in enumerate(calls) if place.argument in call.arguments]
        same = [at for at in having if calls[at].arguments[place.argument] == old]
        if having and not same:
            break  # overridden already: what comes later has nothing to do with this value
        if same:
            affected_calls[index] = same
    return affected_calls


def interruptions(
    sample: Sample, place: ChangeableArgument, tools: Mapping[str, Tool]
) -> list[int]:
    """Return the user turns before which the user could correct the value.

    There a question is open that can be asked again.
    """
    if place.stated is None or place.stated.turn is None:
        return []
    calls = affected(sample, place)
    indexes = []
    for index in range(max(2, place.stated.turn + 2), len(sample.turns)):
        asked, before = sample.turns[index - 1], sample.turns[index - 2]
        is_asked = isinstance(asked, ReplyTurn) and is_question(asked.text)
        if not is_asked or not isinstance(sample.turns[index], UserTurn):
            continue
        is_snapshot = isinstance(before, CallTurn) and index - 2 in calls
        is_to_come = not isinstance(before, CallTurn) and place.turn > index
        if (is_snapshot or is_to_come) and not _restated(sample, place, index, tools):
            indexes.append(index)
    return indexes


def _closed(sample: Sample) -> str:
    """Return why nothing can follow the last call, or "" if something can."""
    last = sample.turns[-1]
    if traits_of(sample.kind).is_open:
        return IMPERFECT
    if not sample.gold:
        return NO_CALL
    if isinstance(last, UserTurn) or (isinstance(last, CallTurn) and last.executed):
        return OPEN_END
    at, calls = max((at, len(turn.calls)) for at, turn in sample.call_turns)
    follows_another = at > 0 and isinstance(sample.turns[at - 1], ResultTurn)
    if is_conversation(sample) and (calls > 1 or follows_another):
        return "It ends with several calls, so nobody could tell which one is meant."
    if isinstance(last, ReplyTurn) and is_question(last.text):
        return "It ends with a question of the assistant's, so the call has not been made yet."
    return ""


def _weighed(
    sample: Sample, tools: Mapping[str, Tool], transform: Transform
) -> Iterator[tuple[ChangeableArgument, str]]:
    """Yield every argument with the reason why it can't be changed, or "" if it can."""
    if transform == "mSv":
        last = max((index for index, _ in sample.call_turns), default=0)
        for place in _places(sample, tools, range(last, len(sample.turns))):
            reason = _closed(sample) or _unchangeable(sample, place, tools)
            yield place, reason or _mistakable(sample, place)
        return
    places = list(_places(sample, tools, range(len(sample.turns))))
    seen = set()
    for place in places:
        value = call_at(sample, place).arguments[place.argument]
        first = (place.argument, str(value), place.stated.turn if place.stated else None)
        if first not in seen:
            seen.add(first)
            reason = _unchangeable(sample, place, tools) or _untrue(sample, place, places)
            yield place, reason or _untimely(sample, place, tools, transform)


def _places(
    sample: Sample, tools: Mapping[str, Tool], turns: range
) -> Iterator[ChangeableArgument]:
    for index in turns:
        for at, call in enumerate(sample.calls_at(index)):
            for name in call.arguments:
                schema = titled_schema(tools.get(call.tool), name)
                stated = find_stated(call, name, sample.turns[:index], schema)
                yield ChangeableArgument(index, at, name, stated)


def call_at(sample: Sample, place: ChangeableArgument) -> GoldCall:
    """Return the call that contains the place."""
    return sample.calls_at(place.turn)[place.call]


def _unchangeable(sample: Sample, place: ChangeableArgument, tools: Mapping[str, Tool]) -> str:
    """Return why nobody could say another value for the argument."""
    call = call_at(sample, place)
    tool, value = tools.get(call.tool), call.arguments[place.argument]
    if tool is None or place.argument not in tool.properties:
        return f"The tool {call.tool!r} declares no parameter {place.argument!r}."
    parts = value if isinstance(value, list) else [value]
    if value in EMPTY or any(isinstance(one, dict) for one in parts):
        return f"The value of {place.argument!r}, {value!r}, is empty or too deep for a sentence."
    schema = tool.properties[place.argument]
    if _is_fixed(schema):
        return f"The schema of {place.argument!r} allows no other value than {value!r}."
    return ""


def _untrue(sample: Sample, place: ChangeableArgument, places: Sequence[ChangeableArgument]) -> str:
    """Return what in the conversation would become untrue if the value were overridden."""
    evidence = place.stated
    if evidence is None or evidence.turn is None:
        return f"Nobody says the value of {place.argument!r} in words that were found."
    calls = affected(sample, place)
    has_result = (
        isinstance(one, ResultTurn) for at in calls for one in sample.turns[at + 1 : at + 2]
    )
    if any(has_result) or any(getattr(sample.turns[at], "executed", False) for at in calls):
        return f"A call with {place.argument!r} is executed: its result holds for no other value."
    for changeable in places:
        if changeable.turn < place.turn or not _is_of(changeable.stated, evidence):
            continue
        if changeable.argument != place.argument or changeable.call not in calls.get(
            changeable.turn, ()
        ):
            return f"The words {evidence.quote!r} give {changeable.argument!r} its value as well."
    for index, changed in calls.items():
        others = [call for at, call in enumerate(sample.calls_at(index)) if at not in changed]
        if any(place.argument in call.arguments for call in others):
            return f"Several calls of turn {index} have {place.argument!r}; none is meant alone."
    return ""


def _untimely(
    sample: Sample, place: ChangeableArgument, tools: Mapping[str, Tool], transform: Transform
) -> str:
    """Return why the user has no moment to override the value."""
    turn = place.stated.turn if place.stated else None
    if transform == "SO_case1" and (turn is None or _restated(sample, place, turn + 1, tools)):
        return f"The value of {place.argument!r} is said again later."
    if transform == "SO_case2" and not interruptions(sample, place, tools):
        return f"No question is open after {place.argument!r} was said, so no turn can correct it."
    return ""


def _is_of(one: Evidence | None, other: Evidence) -> bool:
    """Whether two values were stated in overlapping words of one turn."""
    if one is None or one.turn != other.turn or one.in_message != other.in_message:
        return False
    return (one.start or 0) < (other.end or 0) and (other.start or 0) < (one.end or 0)


def _restated(
    sample: Sample, place: ChangeableArgument, start: int, tools: Mapping[str, Tool]
) -> bool:
    """Whether the old value is stated from turn `start` on, so a new one isn't the last word."""
    call = call_at(sample, place)
    tool = tools.get(call.tool)
    value, schema = (call.arguments[place.argument], titled_schema(tool, place.argument))
    texts: list[str] = []
    for turn in sample.turns[start:]:
        if isinstance(turn, UserTurn):
            texts += [turn.text, *([turn.external.text] if turn.external else [])]
        elif isinstance(turn, ReplyTurn) and not isinstance(value, bool):
            texts.append(turn.text)
    found = (locate(value, schema, text) for text in texts)
    return any(one is not None and one.rule != ANSWERED for one in found)


def _mistakable(sample: Sample, place: ChangeableArgument) -> str:
    """Return why it would be unclear which of several calls the new value is for."""
    call = call_at(sample, place)
    rest = {name: value for name, value in call.arguments.items() if name != place.argument}
    for other in sample.calls_at(place.turn):
        others = {name: value for name, value in other.arguments.items() if name != place.argument}
        if others != rest if other.tool == call.tool else place.argument in other.arguments:
            return (
                f"Several calls of turn {place.turn} have {place.argument!r}; none is meant alone."
            )
    return ""
