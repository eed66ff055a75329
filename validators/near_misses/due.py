"""Where a sample's calls are due, and what stands at such a place: the turns before it and the options, those due or others.

Two options come to the same by the tools' schemas: in another notation, with a default that is stated, in an order that is free.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.generators.kinds import traits_of
from callwright.generators.multi_step.correction import abridged
from callwright.generators.routing.tool_graph import UNKNOWN
from callwright.generators.shifts.turns import was_made_already
from callwright.language.schemas import choices_of, replaced_at
from callwright.language.schemas import leaves as values_within
from callwright.validators.matching import is_same_value
from callwright.warehouse.records import (
    Call,
    CallTurn,
    JsonSchema,
    Language,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
)

# What is done where nothing is called: something is asked or told first, or no tool can do what is wanted.
Act = Literal["call", "ask", "none"]


class Option(NamedTuple):
    """What an assistant may do at a place: the calls that it makes at once, or the act that it does in their stead."""

    calls: tuple[Call, ...] = ()
    act: Act = "call"


class NearMiss(NamedTuple):
    """An option that is not what is due, and the kind of defect that makes it one."""

    defect: str
    option: Option


class Due(NamedTuple):
    """A place where the assistant acts: the turns before it, what is due there, and the calls that are made later."""

    turn: int
    prefix: tuple[Turn, ...]
    option: Option
    later: tuple[Call, ...]
    tools: Mapping[str, Tool]  # the candidates by name
    language: Language
    is_ordered: bool = False  # whether the order of the calls counts
    in_steps: bool = False  # whether calls are made one after the other, each with what came before
    is_last: bool = False  # whether it is the sample's last such place, where all has been said

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls that are due."""
        return self.option.calls

    def with_option(self, option: Option) -> "Due":
        """The same place where something else is said to be due."""
        return self._replace(option=option)


class Leaf(NamedTuple):
    """A value of a call that stands for itself: an argument, or a member of one at any depth."""

    call: int  # which of the calls
    path: tuple[str | int, ...]  # from the argument's name on
    value: JsonValue
    schema: JsonSchema

    @property
    def name(self) -> str:
        """The name of what holds the value: "from" of legs[0].from."""
        return next(one for one in reversed(self.path) if isinstance(one, str))


def acting_points(sample: Sample, tools: Sequence[Tool]) -> list[Due]:
    """Every place at which calls are due; where calls have results, also those at which the assistant only speaks."""
    named = {tool.name: tool for tool in tools}
    in_steps, in_order = was_made_already(sample), traits_of(sample.kind).calls == "sequence"
    places: list[Due] = []
    for at, turn in enumerate(sample.turns):
        is_spoken = in_steps and isinstance(turn, ReplyTurn)
        if not is_spoken and not (isinstance(turn, CallTurn) and turn.calls):
            continue
        calls = tuple(call.bare for call in turn.calls) if isinstance(turn, CallTurn) else ()
        later = tuple(call.bare for one in sample.turns[at + 1 :] if isinstance(one, CallTurn) for call in one.calls)
        prefix = tuple(map(shortened, sample.turns[:at]))
        is_ordered = in_order or any(UNKNOWN in call.arguments.values() for call in calls)
        option = Option(calls) if calls else Option(act="ask")
        places.append(Due(at, prefix, option, later, named, sample.language, is_ordered, in_steps))
    return [*places[:-1], *(last._replace(is_last=True) for last in places[-1:])]


def shortened(turn: Turn) -> Turn:
    """The turn with results of a length that a prompt can show."""
    if not isinstance(turn, ResultTurn):
        return turn
    return turn.with_changes(results=tuple(map(abridged, turn.results)))


def leaves(due: Due) -> list[Leaf]:
    """The values of the calls due that are known, in order."""
    found: list[Leaf] = []
    for place, call in enumerate(due.calls):
        tool = due.tools.get(call.tool)
        for name, value in call.arguments.items() if tool else ():
            within = values_within(value, tool.properties.get(name, {}) if tool else {}, (name,))
            found += (Leaf(place, *one) for one in within)
    return [leaf for leaf in found if leaf.value != UNKNOWN]


def with_leaf(option: Option, leaf: Leaf, value: JsonValue) -> Option:
    """The option with another value in the place of one."""
    call = option.calls[leaf.call]
    changed = replaced_at(call.arguments, leaf.path, value)
    return with_call(option, leaf.call, call.with_changes(arguments=changed))


def with_call(option: Option, place: int, *calls: Call) -> Option:
    """The option with these calls in the place of one."""
    return Option((*option.calls[:place], *calls, *option.calls[place + 1 :]))


def is_same_option(one: Option, other: Option, tools: Mapping[str, Tool], *, is_ordered: bool) -> bool:
    """Whether both options do the same; where calls don't depend on each other, in any order.

    >>> is_same_option(Option(act="ask"), Option(act="none"), {}, is_ordered=False)
    False
    """
    if one.act != other.act or len(one.calls) != len(other.calls):
        return False
    if is_ordered:
        return all(is_same_call(*pair, tools) for pair in zip(one.calls, other.calls, strict=True))
    left = list(other.calls)
    for call in one.calls:
        found = next((at for at, due in enumerate(left) if is_same_call(call, due, tools)), None)
        if found is None:
            return False
        del left[found]
    return True


def is_same_call(call: Call, other: Call, tools: Mapping[str, Tool]) -> bool:
    """Whether two calls do the same: of one tool, with arguments that state the same."""
    if call.tool != other.tool:
        return False
    tool = tools.get(call.tool)
    schemas = tool.properties if tool else {}
    first, second = (
        {name: value for name, value in one.arguments.items() if not _is_idle(value, schemas.get(name, {}))}
        for one in (call, other)
    )
    return first.keys() == second.keys() and all(
        _is_same(value, second[name], schemas.get(name, {})) for name, value in first.items()
    )


def _is_idle(value: JsonValue, schema: JsonSchema) -> bool:
    """Whether an argument of this value does what leaving it out does."""
    if value in (None, "", [], {}) and not isinstance(value, bool):
        return True
    if "default" in schema:
        return bool(_is_same(value, schema["default"], schema))
    if isinstance(value, list):
        every = choices_of(schema.get("items") or {})
        return bool(every) and {*map(str, every)} == {*map(str, value)}  # all there are is no choice
    return value is False


def _is_same(value: JsonValue, other: JsonValue, schema: JsonSchema) -> bool:
    if isinstance(value, list) and isinstance(other, list):  # of values that are not plain the order may count
        value, other = (
            sorted(one, key=str) if all(isinstance(member, str | int | float) for member in one) else one
            for one in (value, other)
        )
    return is_same_value(value, other, schema)
