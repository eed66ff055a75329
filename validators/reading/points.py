"""Where a sample's calls are due: the turns before such a point, and its gold calls.

Two sets of calls do the same by the tools' schemas if they differ only in notation, in a default
that is stated, or in an order that is free.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.families import Asked
from callwright.generators.kinds import traits_of
from callwright.generators.multi_step.correction import abridged
from callwright.generators.routing.tool_graph import UNKNOWN
from callwright.generators.shifts.turns import was_made_already
from callwright.language.schemas import leaves as values_within
from callwright.language.schemas import replaced_at
from callwright.validators.matching import are_same_members, free_order, is_same_value
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

Calls = tuple[Call, ...]


class DuePoint(NamedTuple):
    """A point at which the assistant acts: the turns before, the gold calls due, and later ones.

    `calls` is empty if the assistant only speaks. `setting` is how candidates are asked at such
    a point.
    """

    turn: int
    prefix: tuple[Turn, ...]
    calls: Calls
    later: Calls
    tools: Mapping[str, Tool]  # the candidates by name
    language: Language
    setting: Asked = "call"
    is_ordered: bool = False  # whether the order of the calls counts
    in_steps: bool = False  # whether each call is carried out before the next one is due

    def with_calls(self, calls: Calls) -> "DuePoint":
        """Return the same point with other calls claimed to be due."""
        return self._replace(calls=calls)


class Leaf(NamedTuple):
    """A scalar value of a call: an argument, or a member of one at any depth."""

    call: int  # which of the calls
    path: tuple[str | int, ...]  # from the argument's name on
    value: JsonValue
    schema: JsonSchema

    @property
    def name(self) -> str:
        """The name of the parameter or member that holds the value: "from" for legs[0].from."""
        return next(one for one in reversed(self.path) if isinstance(one, str))


def due_points(sample: Sample, tools: Sequence[Tool]) -> list[DuePoint]:
    """Return each point with due calls; if calls have results, also the assistant's replies."""
    named = {tool.name: tool for tool in tools}
    traits = traits_of(sample.kind)
    in_steps, in_order = was_made_already(sample), traits.calls == "sequence"
    points: list[DuePoint] = []
    for at, turn in enumerate(sample.turns):
        is_spoken = in_steps and isinstance(turn, ReplyTurn)
        if not is_spoken and not (isinstance(turn, CallTurn) and turn.calls):
            continue
        calls = tuple(call.bare for call in turn.calls) if isinstance(turn, CallTurn) else ()
        later = tuple(
            call.bare
            for one in sample.turns[at + 1 :]
            if isinstance(one, CallTurn)
            for call in one.calls
        )
        prefix = tuple(map(shortened, sample.turns[:at]))
        is_ordered = in_order or any(UNKNOWN in call.arguments.values() for call in calls)
        points.append(
            DuePoint(
                at, prefix, calls, later, named, sample.language, traits.asked, is_ordered, in_steps
            )
        )
    return points


def shortened(turn: Turn) -> Turn:
    """Return the turn with results short enough for a prompt."""
    if not isinstance(turn, ResultTurn):
        return turn
    return turn.with_changes(results=tuple(map(abridged, turn.results)))


def leaves(point: DuePoint) -> list[Leaf]:
    """Return the known values of the due calls, in order."""
    all_leaves: list[Leaf] = []
    for place, call in enumerate(point.calls):
        tool = point.tools.get(call.tool)
        for name, value in call.arguments.items() if tool else ():
            within = values_within(value, tool.properties.get(name, {}) if tool else {}, (name,))
            all_leaves += (Leaf(place, *one) for one in within)
    return [leaf for leaf in all_leaves if leaf.value != UNKNOWN]


def with_leaf(calls: Calls, leaf: Leaf, value: JsonValue) -> Calls:
    """Return the calls with one value replaced."""
    call = calls[leaf.call]
    changed = replaced_at(call.arguments, leaf.path, value)
    return with_call(calls, leaf.call, call.with_changes(arguments=changed))


def with_call(calls: Calls, place: int, *others: Call) -> Calls:
    """Return the calls with one of them replaced by these."""
    return (*calls[:place], *others, *calls[place + 1 :])


def do_the_same(
    calls: Calls, others: Calls, tools: Mapping[str, Tool], *, is_ordered: bool
) -> bool:
    """Whether both sets of calls do the same; the order of independent calls does not matter.

    >>> do_the_same((), (), {}, is_ordered=False)
    True
    """
    if len(calls) != len(others):
        return False
    if is_ordered:
        return all(is_same_call(*pair, tools) for pair in zip(calls, others, strict=True))
    left = list(others)
    for call in calls:
        place = next(
            (at for at, other in enumerate(left) if is_same_call(call, other, tools)), None
        )
        if place is None:
            return False
        del left[place]
    return True


def is_same_call(call: Call, other: Call, tools: Mapping[str, Tool]) -> bool:
    """Whether two calls do the same: same tool, and arguments that state the same."""
    if call.tool != other.tool:
        return False
    tool = tools.get(call.tool)
    schemas = tool.properties if tool else {}
    first, second = (
        {
            name: value
            for name, value in one.arguments.items()
            if not _is_idle(value, schemas.get(name, {}))
        }
        for one in (call, other)
    )
    return first.keys() == second.keys() and all(
        _is_same(value, second[name], schemas.get(name, {}), name) for name, value in first.items()
    )


def _is_idle(value: JsonValue, schema: JsonSchema) -> bool:
    """Whether passing this value has the same effect as leaving the argument out."""
    if value in (None, "", [], {}) and not isinstance(value, bool):
        return True
    return "default" in schema and is_same_value(value, schema["default"], schema)


def _is_same(value: JsonValue, other: JsonValue, schema: JsonSchema, name: str) -> bool:
    return is_same_value(value, other, schema) or bool(
        free_order(name, schema) and are_same_members(value, other, schema)
    )
