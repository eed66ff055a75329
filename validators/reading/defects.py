"""Defects as people make them: wrong calls built from the gold calls and the words around them.

A person who labels a request takes the value of another mention, or the one before a correction,
or exchanges two roles; omits what was said, or adds what nobody said; mistakes half of the day,
a unit, a sibling of the tool. Each maker below makes one of these. Other values fit the type and
the schema, and never equal the value in another notation. They are planted where readers are
measured, put into gold items for reviewers, and compared with the end state of tasks.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from itertools import combinations, islice
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.routing.tool_graph import UNKNOWN
from callwright.generators.tools import are_redundant, nearest_tools
from callwright.generators.transcripts import others_of, user_texts
from callwright.language.calls.sampling import make_value
from callwright.language.readers.mentions import find_amounts, find_moments
from callwright.language.schemas import choices_of, fits, json_type, kind_of
from callwright.language.values import locate
from callwright.validators.matching import is_same_value
from callwright.validators.reading.points import (
    Calls,
    DuePoint,
    Leaf,
    do_the_same,
    leaves,
    with_call,
    with_leaf,
)
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import (
    Arguments,
    Call,
    CallTurn,
    JsonSchema,
    Language,
    ResultTurn,
    Tool,
)

_DATE = re.compile(r"^(\d{4})-(\d\d)-(\d\d)(?=$|[ T])")
_CLOCK = re.compile(r"(?<!\d)([01]\d|2[0-3]):([0-5]\d)(?!\d)")
_CODE = re.compile(r"(?<![\w-])(?=[\w-]*\d)[A-Za-z0-9][\w-]*\w")
_HALF_DAY, _DAY = 12 * 60, 24 * 60
_UNITS = (60, 100, 1000)  # minutes of an hour, cents of an amount, metres of a kilometre
_FORM = ("type", "enum", "format", "pattern")

CallsMaker = Callable[[DuePoint, Random], Iterator[Calls]]
ValueChange = Callable[[Leaf, DuePoint, Random], Iterable[JsonValue]]


class Maker(NamedTuple):
    """A sort of defect: what it breaks, and the calls that have it, likely ones first."""

    name: str
    breaks: str
    make: CallsMaker


class WrongCalls(NamedTuple):
    """Calls that differ from those due, and their sort of defect."""

    defect: str
    calls: Calls


def of_maker(maker: Maker, point: DuePoint, rng: Random) -> Iterator[WrongCalls]:
    """Yield the wrong calls of one sort.

    Calls equivalent to the gold do not count, nor do those that make a call of a later point,
    since it may be made now just as well.
    """
    for calls in maker.make(point, rng):
        is_early = any(call in point.later and call not in point.calls for call in calls)
        if not is_early and not do_the_same(
            point.calls, calls, point.tools, is_ordered=point.is_ordered
        ):
            yield WrongCalls(maker.name, calls)


def _of_calls(name: str, breaks: str) -> Callable[[CallsMaker], Maker]:
    """Declare a sort of defect by decorating the function that makes the calls."""
    return lambda make: Maker(name, breaks, make)


def _of_values(name: str, breaks: str) -> Callable[[ValueChange], Maker]:
    """Declare a sort of defect by what it makes of one value, tried on all in random order."""

    def declare(change: ValueChange) -> Maker:
        def make(point: DuePoint, rng: Random) -> Iterator[Calls]:
            found = leaves(point)
            for leaf in rng.sample(found, len(found)):
                for value in change(leaf, point, rng):
                    is_alike = type(value) is type(leaf.value) and fits(value, leaf.schema)
                    if is_alike and not is_same_value(leaf.value, value, leaf.schema):
                        yield with_leaf(point.calls, leaf, value)

        return Maker(name, breaks, make)

    return declare


@_of_values("other_mention", "a gold value is one that was said of something else")
def _other_mention(leaf: Leaf, point: DuePoint, rng: Random) -> list[JsonValue]:
    """Return other numbers, times and codes in the words, and values of other arguments."""
    if choices_of(leaf.schema):
        return []
    found = [*dict.fromkeys(_mentioned(leaf, point))]
    return rng.sample(found, len(found))


def _mentioned(leaf: Leaf, point: DuePoint) -> Iterator[JsonValue]:
    """Yield values of a leaf's type that the words before or arguments of its name have."""
    for text in user_texts(point.prefix):
        yield from _said_in(text, leaf.value, point.language)
    yield from (
        one.value for one in leaves(point) if one.path != leaf.path and one.name == leaf.name
    )


def _said_in(text: str, value: JsonValue, language: Language) -> Iterator[JsonValue]:
    """Yield the numbers, times or codes that a text says, whichever type `value` is."""
    match value:
        case bool():
            return
        case int() | float():
            for amount in find_amounts(text, language):
                if isinstance(value, float) or amount.value.is_integer():
                    yield type(value)(amount.value)
        case str() if clock := _CLOCK.search(value):
            for moment in find_moments(text, language, None):
                for said in sorted(moment.clocks):
                    yield f"{value[: clock.start()]}{said}{value[clock.end() :]}"
        case str() if _CODE.fullmatch(value):
            yield from (
                one for one in _CODE.findall(text) if len(one) == len(value) or one[:1] == value[:1]
            )


@_of_values("earlier_value", "a gold value is the one before a correction")
def _earlier_value(leaf: Leaf, point: DuePoint, _rng: Random) -> Iterator[JsonValue]:
    """Yield the values that this argument had in earlier calls of the tool."""
    tool, name = point.calls[leaf.call].tool, leaf.path[0]
    before = (
        call
        for turn in point.prefix
        if isinstance(turn, CallTurn)
        for call in turn.calls
        if call.tool == tool
    )
    if len(leaf.path) == 1:
        yield from (call.arguments[str(name)] for call in before if name in call.arguments)


@_of_values("value_of_other", "a gold value is that of something else in a result")
def _value_of_other(leaf: Leaf, point: DuePoint, rng: Random) -> Iterator[JsonValue]:
    """Yield values under the same name in results, or else one that is made up."""
    results = (
        result for turn in point.prefix if isinstance(turn, ResultTurn) for result in turn.results
    )
    named = (leaf.name, leaf.schema)
    yield from others_of(named, leaf.value, results, point.language, rng)


def _number(leaf: Leaf) -> int | float | None:
    """Return the value if it is a number and its schema offers no choices."""
    value = leaf.value
    is_open = not isinstance(value, bool) and not choices_of(leaf.schema)
    return value if isinstance(value, int | float) and is_open else None


@_of_values("number_beside", "a gold number is one too many or too few")
def _number_beside(leaf: Leaf, _point: DuePoint, _rng: Random) -> Iterator[JsonValue]:
    value = _number(leaf)
    if value is not None:
        yield value + 1
        if value >= 1:
            yield value - 1


@_of_values("unit_off", "a gold number counts in another unit than is said")
def _unit_off(leaf: Leaf, _point: DuePoint, _rng: Random) -> Iterator[JsonValue]:
    """Yield the value in another unit: hours for minutes, an amount for its cents."""
    value = _number(leaf)
    if value:
        for factor in _UNITS:
            yield value * factor
            if isinstance(value, float) or value % factor == 0:
                yield value / factor if isinstance(value, float) else value // factor


@_of_values("day_beside", "a gold date is the day or the week beside the one that is said")
def _day_beside(leaf: Leaf, _point: DuePoint, _rng: Random) -> Iterator[JsonValue]:
    date_match = _DATE.match(leaf.value) if isinstance(leaf.value, str) else None
    try:
        day = (
            date(int(date_match[1]), int(date_match[2]), int(date_match[3])) if date_match else None
        )
    except ValueError:  # 31 February
        return
    if date_match and day:
        for step in (1, -1, 7, -7):
            yield f"{day + timedelta(days=step)}{date_match.string[date_match.end() :]}"


@_of_values("half_day_off", "a gold time is twelve hours off")
def _half_day_off(leaf: Leaf, _point: DuePoint, _rng: Random) -> Iterator[JsonValue]:
    clock_match = _CLOCK.search(leaf.value) if isinstance(leaf.value, str) else None
    if clock_match:
        at = (int(clock_match[1]) * 60 + int(clock_match[2]) + _HALF_DAY) % _DAY
        yield (
            f"{clock_match.string[: clock_match.start()]}{at // 60:02}:{at % 60:02}{clock_match.string[clock_match.end() :]}"  # noqa: E501
        )


@_of_values("other_choice", "the gold has another choice of the schema")
def _other_choice(leaf: Leaf, _point: DuePoint, rng: Random) -> list[JsonValue]:
    choices: list[JsonValue] = [one for one in choices_of(leaf.schema) if one not in (None, "")]  # type: ignore[misc]
    return rng.sample(choices, len(choices))


@_of_values("flag_turned", "the gold does what is not to be done")
def _flag_turned(leaf: Leaf, _point: DuePoint, _rng: Random) -> Iterator[JsonValue]:
    if isinstance(leaf.value, bool):
        yield not leaf.value


def _lists(point: DuePoint) -> Iterator[tuple[int, str, list[JsonValue]]]:
    for place, call in enumerate(point.calls):
        for name, value in call.arguments.items():
            if isinstance(value, list) and len(value) > 1:
                yield place, name, value


def _with_argument(point: DuePoint, place: int, name: str, value: JsonValue) -> Calls:
    call = point.calls[place]
    return with_call(
        point.calls, place, call.with_changes(arguments={**call.arguments, name: value})
    )


def _without(point: DuePoint, place: int, name: str) -> Calls:
    call = point.calls[place]
    left = {one: value for one, value in call.arguments.items() if one != name}
    return with_call(point.calls, place, call.with_changes(arguments=left))


def _required(point: DuePoint, call: Call) -> frozenset[str]:
    tool = point.tools.get(call.tool)
    return frozenset(tool.required if tool else ())


def _made(name: str, tool: Tool, point: DuePoint, rng: Random) -> JsonValue:
    """Return a value that a parameter may have and does not have by default, or None."""
    schema = tool.properties[name]
    if kind_of(schema) == "boolean":
        return not schema.get("default", False)
    try:
        return make_value(name, schema, point.language, rng)
    except ReplyError:
        return None


@_of_calls("list_short", "a gold list lacks a member")
def _list_short(point: DuePoint, rng: Random) -> Iterator[Calls]:
    for place, name, items in _lists(point):
        at = rng.randrange(len(items))
        yield _with_argument(point, place, name, items[:at] + items[at + 1 :])


@_of_calls("list_long", "a gold list has a member too many")
def _list_long(point: DuePoint, rng: Random) -> Iterator[Calls]:
    for place, name, items in _lists(point):
        tool = point.tools.get(point.calls[place].tool)
        made = _made(name, tool, point, rng) if tool else None
        more = [one for one in made if one not in items] if isinstance(made, list) else []
        if more:
            yield _with_argument(point, place, name, [*items, more[0]])


@_of_calls("roles_exchanged", "two arguments have each other's values")
def _roles_exchanged(point: DuePoint, _rng: Random) -> Iterator[Calls]:
    """Exchange two values of one form, in one call or in two calls of a set."""
    for one, other in combinations(leaves(point), 2):
        is_in_reach = one.call == other.call or one.path == other.path
        if is_in_reach and _have_one_form(one.schema, other.schema) and one.value != other.value:
            yield with_leaf(with_leaf(point.calls, one, other.value), other, one.value)


def _have_one_form(one: JsonSchema, other: JsonSchema) -> bool:
    """Whether the schemas allow a value of one to stand for the other."""
    is_open = json_type(one) in ("string", "integer", "number") and not choices_of(one)
    return is_open and all(one.get(word) == other.get(word) for word in _FORM)


@_of_calls("said_left_out", "an optional argument that is said is missing")
def _said_left_out(point: DuePoint, _rng: Random) -> Iterator[Calls]:
    for place, call in enumerate(point.calls):
        required = _required(point, call)
        yield from (_without(point, place, name) for name in call.arguments if name not in required)


@_of_calls("required_left_out", "a required argument that is said is missing")
def _required_left_out(point: DuePoint, _rng: Random) -> Iterator[Calls]:
    """Leave out a required argument if another one is missing, so that nobody asked for it yet."""
    for place, call in enumerate(point.calls):
        required = _required(point, call)
        # in their order: a prompt must not differ from run to run
        if not required <= call.arguments.keys():
            yield from (_without(point, place, name) for name in call.arguments if name in required)


@_of_calls("unsaid_added", "an argument that nobody says is there")
def _unsaid_added(point: DuePoint, rng: Random) -> Iterator[Calls]:
    for place, call in enumerate(point.calls):
        tool = point.tools.get(call.tool)
        absent = [name for name in tool.properties if name not in call.arguments] if tool else []
        for name in rng.sample(absent, len(absent)):
            value = _made(name, tool, point, rng) if tool else None
            if tool and value is not None and not _is_said(value, tool.properties[name], point):
                yield _with_argument(point, place, name, value)


def _is_said(value: JsonValue, schema: JsonSchema, point: DuePoint) -> bool:
    """Whether the words say a value; a gold that lacks it may itself be wrong."""
    return any(locate(value, schema, text) is not None for text in user_texts(point.prefix))


@_of_calls("sibling_tool", "a tool like the one that is meant is called")
def _sibling_tool(point: DuePoint, rng: Random) -> Iterator[Calls]:
    """Call a similar tool with the arguments that it accepts; the most similar tools come first."""
    for place, call in enumerate(point.calls):
        gold = point.tools.get(call.tool)
        others = [
            one
            for one in point.tools.values()
            if gold and one is not gold and not are_redundant(one, gold)
        ]
        siblings = nearest_tools(gold, others, len(others)) if gold else []
        for tool in siblings:
            arguments = _fitted(call, gold, tool, point, rng) if gold else None
            if arguments is not None:
                yield with_call(point.calls, place, Call(tool=tool.name, arguments=arguments))


def _fitted(call: Call, gold: Tool, tool: Tool, point: DuePoint, rng: Random) -> Arguments | None:
    """Return arguments for another tool, by name or else by form; missing ones are made up.

    Only required ones are made up. None if one can't be.
    """
    new_arguments, left = Arguments(), Arguments()
    for name, value in call.arguments.items():
        declared = gold.properties.get(name, {})
        fits_in = name in tool.properties and json_type(tool.properties[name]) == json_type(
            declared
        )
        (new_arguments if fits_in else left)[name] = value
    for name in (one for one in tool.required if one not in new_arguments):
        wanted = tool.properties.get(name, {})
        taken = next(
            (one for one in left if _have_one_form(gold.properties.get(one, {}), wanted)), None
        )
        value = left.pop(taken) if taken is not None else _made(name, tool, point, rng)
        if value is None:
            return None
        new_arguments[name] = value
    return {name: new_arguments[name] for name in tool.properties if name in new_arguments}


@_of_calls("call_repeated", "a call stands twice")
def _call_repeated(point: DuePoint, _rng: Random) -> Iterator[Calls]:
    yield from (with_call(point.calls, place, call, call) for place, call in enumerate(point.calls))


@_of_calls("call_dropped", "one of several calls is missing")
def _call_dropped(point: DuePoint, _rng: Random) -> Iterator[Calls]:
    if len(point.calls) > 1:
        yield from (with_call(point.calls, place) for place in range(len(point.calls)))


@_of_calls("call_unasked", "a call stands there that nobody asked for")
def _call_unasked(point: DuePoint, rng: Random) -> Iterator[Calls]:
    called = {call.tool for call in point.calls}
    others = [tool for tool in point.tools.values() if tool.name not in called]
    for tool in rng.sample(others, len(others)):
        made = {name: _made(name, tool, point, rng) for name in tool.required}
        if all(value is not None for value in made.values()):
            yield (*point.calls, Call(tool=tool.name, arguments=made))


@_of_calls("calls_reordered", "a call stands before the one that it depends on")
def _calls_reordered(point: DuePoint, _rng: Random) -> Iterator[Calls]:
    for place, call in enumerate(point.calls[1:] if point.is_ordered else (), 1):
        if UNKNOWN in call.arguments.values():
            before = point.calls[place - 1]
            yield (*point.calls[: place - 1], call, before, *point.calls[place + 1 :])


# Their order is part of what is drawn.
MAKERS: tuple[Maker, ...] = (
    _other_mention,
    _earlier_value,
    _roles_exchanged,
    _said_left_out,
    _list_short,
    _unsaid_added,
    _half_day_off,
    _day_beside,
    _unit_off,
    _sibling_tool,
    _flag_turned,
    _other_choice,
    _number_beside,
    _call_dropped,
    _value_of_other,
    _list_long,
    _required_left_out,
    _call_repeated,
    _call_unasked,
    _calls_reordered,
)
# What a reader has to find by reading the words; the others are told by the schema alone, or by
# counting calls.
PLANTED: tuple[Maker, ...] = MAKERS[: MAKERS.index(_value_of_other)]
# Defects that may leave the world as it should be all the same.
OTHER_ROADS = frozenset({"call_repeated", "call_unasked", "calls_reordered", "unsaid_added"})
_OF_ONE_SORT = 12  # wrong calls


def wrong_calls_at(
    point: DuePoint, rng: Random, writes: Callable[[str], bool]
) -> Iterator[WrongCalls]:
    """Yield the wrong calls at a point that lack a writing call which is due there."""

    def writing(calls: Calls) -> Counter[str]:
        return Counter(call.key for call in calls if writes(call.tool))

    due = writing(point.calls)
    for maker in (one for one in MAKERS if one.name not in OTHER_ROADS):
        made = (one for one in of_maker(maker, point, rng) if due - writing(one.calls))
        yield from islice(made, _OF_ONE_SORT)
