"""The table of near misses: every kind of defect that calls may have, and the near misses that are shown beside the gold.

The same makers put defects into samples where checks and readers are measured, so that a reader is measured on what it is
asked to tell apart. Other values are of the value's type, allowed by its schema, and never the same in another notation.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from itertools import combinations, zip_longest
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.routing.tool_graph import UNKNOWN
from callwright.generators.tools import are_redundant
from callwright.generators.transcripts import walk
from callwright.language.calls.sampling import make_value
from callwright.language.schemas import choices_of, fits, json_type, kind_of
from callwright.validators.matching import is_same_value
from callwright.validators.near_misses.due import (
    Due,
    Leaf,
    NearMiss,
    Option,
    is_same_option,
    leaves,
    with_call,
    with_leaf,
)
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Arguments, Call, JsonSchema, ResultTurn, Tool

SHOWN = 6  # near misses that are calls; what an assistant may do in the stead of calling comes besides
_FEW = 3  # of one kind, so that a tool with many values does not make hundreds
_ALWAYS = ("call_repeated", "call_unasked")  # every call has some; easily told, they shall not crowd out others
_DATE = re.compile(r"^(\d{4})-(\d\d)-(\d\d)(?=$|[ T])")
_CLOCK = re.compile(r"(?<!\d)([01]\d|2[0-3]):([0-5]\d)(?!\d)")
_HALF_DAY, _DAY = 12 * 60, 24 * 60
_MONTHS, _TEN = 12, 10
_FORM = ("type", "enum", "format", "pattern")

OptionMaker = Callable[[Due, Random], Iterator[Option]]
ValueChange = Callable[[Leaf, Due, Random], Iterable[JsonValue]]


class Maker(NamedTuple):
    """A kind of defect: what it makes wrong, and the options that have it, likely ones first."""

    name: str
    breaks: str
    make: OptionMaker
    is_act: bool = False  # whether nothing is called at all


def of_maker(maker: Maker, due: Due, rng: Random) -> Iterator[NearMiss]:
    """The near misses of one kind.

    What comes to the same as the gold is none, nor what makes a call that is due later: it may as well be made now.
    """
    for option in maker.make(due, rng):
        is_early = any(call in due.later and call not in due.calls for call in option.calls)
        if not is_early and not is_same_option(due.option, option, due.tools, is_ordered=due.is_ordered):
            yield NearMiss(maker.name, option)


def near_misses(due: Due, rng: Random) -> list[NearMiss]:
    """Up to SHOWN near misses of different kinds that are calls, and the acts in their stead; no two do the same."""
    told = [maker for maker in MAKERS if not maker.is_act and maker.name not in _ALWAYS]
    always = rng.sample([maker for maker in MAKERS if maker.name in _ALWAYS], len(_ALWAYS))
    in_turn = [*rng.sample([*told, always[0]], len(told) + 1), *always[1:]]
    # not islice: the one that zip takes beyond the few is part of what is drawn
    few = ([one for one, _ in zip(of_maker(maker, due, rng), range(_FEW), strict=False)] for maker in in_turn)
    made: list[NearMiss] = []
    for one in (one for row in zip_longest(*few) for one in row if one is not None):
        known = (is_same_option(one.option, other.option, due.tools, is_ordered=due.is_ordered) for other in made)
        if len(made) < SHOWN and not any(known):
            made.append(one)
    return made + [one for maker in MAKERS if maker.is_act for one in of_maker(maker, due, rng)]


def _of_calls(name: str, breaks: str, *, is_act: bool = False) -> Callable[[OptionMaker], Maker]:
    """Declare a kind of defect at what makes the options that have it."""
    return lambda make: Maker(name, breaks, make, is_act)


def _of_values(name: str, breaks: str) -> Callable[[ValueChange], Maker]:
    """Declare a kind of defect at what it makes of one value; any value of the calls comes first."""

    def declare(change: ValueChange) -> Maker:
        def make(due: Due, rng: Random) -> Iterator[Option]:
            found = leaves(due)
            for leaf in rng.sample(found, len(found)):
                for value in change(leaf, due, rng):
                    is_alike = type(value) is type(leaf.value) and fits(value, leaf.schema)
                    if is_alike and not is_same_value(leaf.value, value, leaf.schema):
                        yield with_leaf(due.option, leaf, value)

        return Maker(name, breaks, make)

    return declare


@_of_values("value_of_other", "a gold value is that of something else")
def _value_of_other(leaf: Leaf, due: Due, rng: Random) -> Iterator[JsonValue]:
    """One that stands in results under the same name or in another call, else one that is made up."""
    if choices_of(leaf.schema) or not isinstance(leaf.value, str):
        return
    results = (result for turn in due.prefix if isinstance(turn, ResultTurn) for result in turn.results)
    held = [
        (path.rpartition(".")[2], value)
        for result in results for path, value in walk(result, "") if isinstance(value, str)
    ]  # fmt: skip
    names = {name for name, value in held if value == leaf.value}
    told: list[JsonValue] = [*dict.fromkeys(value for name, value in held if name in names)]
    told += [one.value for one in leaves(due) if one.name == leaf.name]
    yield from rng.sample(told, len(told))
    try:
        yield make_value(leaf.name, leaf.schema, due.language, rng)
    except ReplyError:  # a schema of which no value can be made
        return


def _number(leaf: Leaf) -> int | float | None:
    """A number that is no choice of its schema."""
    value = leaf.value
    is_open = not isinstance(value, bool) and not choices_of(leaf.schema)
    return value if isinstance(value, int | float) and is_open else None


@_of_values("number_off_by_one", "a gold number is one too many or too few")
def _number_off(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    value = _number(leaf)
    if value is not None:
        yield value + 1
        if value >= 1:
            yield value - 1


@_of_values("magnitude_off", "a gold number is ten times too large or too small")
def _magnitude_off(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    """What a wrong unit or a lost nought makes of a number."""
    value = _number(leaf)
    if value:
        yield value * _TEN
        if isinstance(value, float) or value % _TEN == 0:
            yield value / _TEN if isinstance(value, float) else value // _TEN


@_of_values("digit_changed", "a gold code or text has another digit")
def _digit_changed(leaf: Leaf, _due: Due, rng: Random) -> Iterator[JsonValue]:
    value = leaf.value
    if isinstance(value, str) and kind_of(leaf.schema) == "text" and not _is_moment(value):
        digits = [at for at, letter in enumerate(value) if letter.isascii() and letter.isdigit()]
        if digits:
            at = rng.choice(digits)
            yield f"{value[:at]}{(int(value[at]) + rng.randint(1, 9)) % 10}{value[at + 1 :]}"


@_of_values("letter_changed", "a gold code has another letter")
def _letter_changed(leaf: Leaf, _due: Due, rng: Random) -> Iterator[JsonValue]:
    """Another capital in a code that has digits and letters."""
    value = leaf.value
    if isinstance(value, str) and " " not in value and any(map(str.isdigit, value)) and not _is_moment(value):
        capitals = [at for at, letter in enumerate(value) if "A" <= letter <= "Z"]
        if capitals:
            at = rng.choice(capitals)
            yield f"{value[:at]}{chr((ord(value[at]) - 64) % 26 + 65)}{value[at + 1 :]}"


def _is_moment(value: str) -> bool:
    return bool(_DATE.match(value) or _CLOCK.search(value))


def _dates(leaf: Leaf) -> Iterator[tuple[date, str]]:
    """The day that a value begins with, and the rest of it."""
    found = _DATE.match(leaf.value) if isinstance(leaf.value, str) else None
    try:
        if found:
            yield date(int(found[1]), int(found[2]), int(found[3])), found.string[found.end() :]
    except ValueError:  # 31 February
        return


@_of_values("day_shifted", "a gold date is a day or a week off")
def _day_shifted(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    for day, rest in _dates(leaf):
        for step in (1, -1, 7, -7):
            yield f"{day + timedelta(days=step)}{rest}"


@_of_values("month_and_day_exchanged", "month and day of a gold date are exchanged")
def _month_and_day_exchanged(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    for day, rest in _dates(leaf):
        if day.day <= _MONTHS:
            yield f"{day.replace(month=day.day, day=day.month)}{rest}"


@_of_values("year_shifted", "a gold date is a year off")
def _year_shifted(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    for day, rest in _dates(leaf):
        if (day.month, day.day) != (2, 29):
            yield f"{day.year + 1}{str(day)[4:]}{rest}"
            yield f"{day.year - 1}{str(day)[4:]}{rest}"


def _at_other_times(leaf: Leaf, *steps: int) -> Iterator[tuple[int, str]]:
    """A value's time so many minutes later, in minutes of its day, and the value with it."""
    found = _CLOCK.search(leaf.value) if isinstance(leaf.value, str) else None
    if found:
        before, behind = found.string[: found.start()], found.string[found.end() :]
        for step in steps:
            at = int(found[1]) * 60 + int(found[2]) + step
            yield at, f"{before}{at % _DAY // 60:02}:{at % 60:02}{behind}"


@_of_values("half_day_off", "a gold time is twelve hours off")
def _half_day_off(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    yield from (value for _, value in _at_other_times(leaf, _HALF_DAY))


@_of_values("hour_off", "a gold time is an hour or half an hour off")
def _hour_off(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    yield from (value for at, value in _at_other_times(leaf, 60, -60, 30, -30) if 0 <= at < _DAY)


@_of_values("neighbour_choice", "the gold has another choice of the schema")
def _neighbour_choice(leaf: Leaf, _due: Due, rng: Random) -> list[JsonValue]:
    choices: list[JsonValue] = [one for one in choices_of(leaf.schema) if one not in (None, "")]  # type: ignore[misc]
    return rng.sample(choices, len(choices))


@_of_values("flag_flipped", "a gold flag is the other way round")
def _flag_flipped(leaf: Leaf, _due: Due, _rng: Random) -> Iterator[JsonValue]:
    if isinstance(leaf.value, bool):
        yield not leaf.value


def _lists(due: Due) -> Iterator[tuple[int, str, list[JsonValue]]]:
    for place, call in enumerate(due.calls):
        for name, value in call.arguments.items():
            if isinstance(value, list) and len(value) > 1:
                yield place, name, value


def _with_argument(due: Due, place: int, name: str, value: JsonValue) -> Option:
    call = due.calls[place]
    return with_call(due.option, place, call.with_changes(arguments={**call.arguments, name: value}))


def _without(due: Due, place: int, name: str) -> Option:
    call = due.calls[place]
    left = {one: value for one, value in call.arguments.items() if one != name}
    return with_call(due.option, place, call.with_changes(arguments=left))


def _required(due: Due, call: Call) -> frozenset[str]:
    tool = due.tools.get(call.tool)
    return frozenset(tool.required if tool else ())


def _made(name: str, tool: Tool, due: Due, rng: Random) -> JsonValue:
    """A value that a parameter may have and does not have by itself, None where none can be made."""
    schema = tool.properties[name]
    if kind_of(schema) == "boolean":
        return not schema.get("default", False)
    try:
        return make_value(name, schema, due.language, rng)
    except ReplyError:
        return None


@_of_calls("item_dropped", "a gold list lacks a member")
def _item_dropped(due: Due, rng: Random) -> Iterator[Option]:
    for place, name, items in _lists(due):
        at = rng.randrange(len(items))
        yield _with_argument(due, place, name, items[:at] + items[at + 1 :])


@_of_calls("item_added", "a gold list has a member too many")
def _item_added(due: Due, rng: Random) -> Iterator[Option]:
    for place, name, items in _lists(due):
        tool = due.tools.get(due.calls[place].tool)
        made = _made(name, tool, due, rng) if tool else None
        more = [one for one in made if one not in items] if isinstance(made, list) else []
        if more:
            yield _with_argument(due, place, name, [*items, more[0]])


@_of_calls("arguments_exchanged", "two arguments have each other's values")
def _arguments_exchanged(due: Due, _rng: Random) -> Iterator[Option]:
    """Two values of one form, in one call or in two calls of a set."""
    for one, other in combinations(leaves(due), 2):
        is_in_reach = one.call == other.call or one.path == other.path
        if is_in_reach and _have_one_form(one.schema, other.schema) and one.value != other.value:
            yield with_leaf(with_leaf(due.option, one, other.value), other, one.value)


def _have_one_form(one: JsonSchema, other: JsonSchema) -> bool:
    """Whether a value of the one may stand for the other by their schemas."""
    is_open = json_type(one) in ("string", "integer", "number") and not choices_of(one)
    return is_open and all(one.get(word) == other.get(word) for word in _FORM)


@_of_calls("optional_argument_dropped", "an optional argument that is said is missing")
def _optional_argument_dropped(due: Due, _rng: Random) -> Iterator[Option]:
    for place, call in enumerate(due.calls):
        required = _required(due, call)
        yield from (_without(due, place, name) for name in call.arguments if name not in required)


@_of_calls("required_argument_dropped", "a required argument that is said is missing")
def _required_argument_dropped(due: Due, _rng: Random) -> Iterator[Option]:
    """Where another one is missing already, so that nobody has asked for it yet."""
    for place, call in enumerate(due.calls):
        required = _required(due, call)
        if not required <= call.arguments.keys():  # in their order: a prompt must not differ from run to run
            yield from (_without(due, place, name) for name in call.arguments if name in required)


@_of_calls("argument_added", "an argument that nobody says is there")
def _argument_added(due: Due, rng: Random) -> Iterator[Option]:
    for place, call in enumerate(due.calls):
        tool = due.tools.get(call.tool)
        absent = [name for name in tool.properties if name not in call.arguments] if tool else []
        for name in rng.sample(absent, len(absent)):
            value = _made(name, tool, due, rng) if tool else None
            if value is not None:
                yield _with_argument(due, place, name, value)


@_of_calls("other_tool", "another candidate is called")
def _other_tool(due: Due, rng: Random) -> Iterator[Option]:
    """With what of the arguments it takes; those first that take most of them."""
    for place, call in enumerate(due.calls):
        gold = due.tools.get(call.tool)
        siblings = [one for one in due.tools.values() if gold and not are_redundant(one, gold)]
        siblings = rng.sample(siblings, len(siblings))
        siblings.sort(key=lambda one: -len(one.properties.keys() & call.arguments.keys()))
        for tool in siblings:
            arguments = _fitted(call, gold, tool, due, rng) if gold else None
            if arguments is not None:
                yield with_call(due.option, place, Call(tool=tool.name, arguments=arguments))


def _fitted(call: Call, gold: Tool, tool: Tool, due: Due, rng: Random) -> Arguments | None:
    """Arguments for another tool: of the same name, else of the same form; what it requires besides is made up."""
    given, left = Arguments(), Arguments()
    for name, value in call.arguments.items():
        declared = gold.properties.get(name, {})
        fits_in = name in tool.properties and json_type(tool.properties[name]) == json_type(declared)
        (given if fits_in else left)[name] = value
    for name in (one for one in tool.required if one not in given):
        wanted = tool.properties.get(name, {})
        taken = next((one for one in left if _have_one_form(gold.properties.get(one, {}), wanted)), None)
        value = left.pop(taken) if taken is not None else _made(name, tool, due, rng)
        if value is None:
            return None
        given[name] = value
    return {name: given[name] for name in tool.properties if name in given}


@_of_calls("call_repeated", "a call stands twice")
def _call_repeated(due: Due, _rng: Random) -> Iterator[Option]:
    yield from (with_call(due.option, place, call, call) for place, call in enumerate(due.calls))


@_of_calls("call_dropped", "one of several calls is missing")
def _call_dropped(due: Due, _rng: Random) -> Iterator[Option]:
    if len(due.calls) > 1:
        yield from (with_call(due.option, place) for place in range(len(due.calls)))


@_of_calls("call_unasked", "a call stands there that nobody asked for")
def _call_unasked(due: Due, rng: Random) -> Iterator[Option]:
    called = {call.tool for call in due.calls}
    others = [tool for tool in due.tools.values() if tool.name not in called]
    for tool in rng.sample(others, len(others)):
        made = {name: _made(name, tool, due, rng) for name in tool.required}
        if all(value is not None for value in made.values()):
            yield Option((*due.calls, Call(tool=tool.name, arguments=made)))


@_of_calls("calls_reordered", "a call stands before the one that it depends on")
def _calls_reordered(due: Due, _rng: Random) -> Iterator[Option]:
    for place, call in enumerate(due.calls[1:] if due.is_ordered else (), 1):
        if UNKNOWN in call.arguments.values():
            before = due.calls[place - 1]
            yield Option((*due.calls[: place - 1], call, before, *due.calls[place + 1 :]))


@_of_calls("unknown_guessed", "a value that nobody can know yet is made up")
def _unknown_guessed(due: Due, rng: Random) -> Iterator[Option]:
    for place, call in enumerate(due.calls):
        tool = due.tools.get(call.tool)
        for name, value in call.arguments.items():
            if value == UNKNOWN and tool and name in tool.properties:
                made = _made(name, tool, due, rng)
                if made is not None:
                    yield _with_argument(due, place, name, made)


@_of_calls("unknown_for_known", "a value that is said is marked as unknown")
def _unknown_for_known(due: Due, _rng: Random) -> Iterator[Option]:
    if any(UNKNOWN in call.arguments.values() for call in due.calls):
        yield from (with_leaf(due.option, leaf, UNKNOWN) for leaf in leaves(due) if len(leaf.path) == 1)


@_of_calls("call_guessed", "a call that is not due yet is made with a value that nobody gave")
def _call_guessed(due: Due, rng: Random) -> Iterator[Option]:
    """Where something is asked or told first: the next call, with another value than the one that it will have."""
    if not due.calls and due.later:
        early = due.with_option(Option(due.later[:1]))
        for maker in rng.sample(_GUESSES, len(_GUESSES)):
            yield from maker.make(early, rng)


@_of_calls("no_call", "no call is said to be due though one is", is_act=True)
def _no_call(due: Due, _rng: Random) -> Iterator[Option]:
    if due.calls:
        yield Option(act="none")


@_of_calls("question", "something is to be asked first though all is known", is_act=True)
def _question(due: Due, _rng: Random) -> Iterator[Option]:
    if due.calls and all(_required(due, call) <= call.arguments.keys() for call in due.calls):
        yield Option(act="ask")


# Their order is part of what is drawn.
_GUESSES = (
    _value_of_other, _number_off, _digit_changed, _letter_changed, _day_shifted, _hour_off, _neighbour_choice, _flag_flipped,
)  # fmt: skip
MAKERS: tuple[Maker, ...] = (
    _value_of_other, _number_off, _magnitude_off, _digit_changed, _letter_changed, _day_shifted, _month_and_day_exchanged,
    _year_shifted, _half_day_off, _hour_off, _neighbour_choice, _flag_flipped, _item_dropped, _item_added, _arguments_exchanged,
    _optional_argument_dropped, _required_argument_dropped, _argument_added, _other_tool, _call_repeated, _call_dropped,
    _call_unasked, _calls_reordered, _unknown_guessed, _unknown_for_known, _call_guessed, _no_call, _question,
)  # fmt: skip
