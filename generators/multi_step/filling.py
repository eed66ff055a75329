"""Fill a sketch by calling the environment: choose stated values and the entries meant."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple, assert_never

from pydantic import JsonValue

from callwright.generators.environments.picking import Entry, choose, entries_of, value_at
from callwright.generators.environments.protocol import Environment
from callwright.generators.environments.vocabularies import GoalValues, Vocabulary, Wish
from callwright.generators.multi_step.answers import telling_fields
from callwright.generators.multi_step.resolving import joined, shifted
from callwright.generators.multi_step.sketches import (
    Fixed,
    GoalSketch,
    Group,
    Say,
    SketchedCall,
    Slot,
    Take,
)
from callwright.generators.multi_step.tasks import BegunWorld, mistaken
from callwright.generators.multi_step.tool_graph import ToolGraph, is_deed
from callwright.generators.whole_calls import made_problems
from callwright.language.calls.entries import (
    FAMILIES,
    name_paths,
    named,
    rank_fields,
    text_at,
    value_in,
)
from callwright.language.text import fold
from callwright.warehouse.answers import values_at
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Call,
    Composed,
    Condition,
    Default,
    Picked,
    PlannedCall,
    StatedValue,
    ValueSource,
)
from callwright.warehouse.records.samples import Test

Where = tuple[Condition, ...]
_LONGEST_NAME = 70
_SHARE_BY_NAME = 0.15
_WEIGHTS = {
    "price": (6, 1),
    "rating": (0.3, 6),
    "reviews": (0.3, 2),
    "distance": (3, 0.5),
    "duration": (3, 0.3),
}


class UnfilledError(Exception):
    """The sketch can't have values in this world: a response lacks an entry that could be meant."""


class _Filled(NamedTuple):
    source: ValueSource
    value: JsonValue


class Filling:
    """Fills one sketch; each sketch needs a new instance."""

    def __init__(
        self, graph: ToolGraph, vocabulary: Vocabulary, environment: Environment, rng: Random
    ) -> None:
        self._graph, self._environment, self._rng = graph, environment, rng
        self._element = vocabulary.element
        self._is_replaceable = vocabulary.is_replaceable
        self._asked = vocabulary.asked
        self._trip: GoalValues = vocabulary.trip(rng)
        self._calls: list[Call] = []
        self._responses: list[JsonValue] = []
        self._where: dict[tuple[int, str, int], Where] = {}
        self._meant: dict[tuple[int, str], dict[int, int]] = {}

    async def fill(self, sketch: GoalSketch) -> tuple[PlannedCall, ...] | None:
        """Return the planned calls, each answered by the environment; None if one can't be made."""
        try:
            planned = tuple([await self._fill(sketch, call) for call in sketch.calls])
        except (UnfilledError, RecordError):
            return None
        told = zip(planned, self._calls, self._responses, strict=True)
        are_apart = [
            await self._tells_apart(call, one.asked, response)
            for one, call, response in told
            if one.asked
        ]
        return planned if all(are_apart) else None

    async def _fill(self, sketch: GoalSketch, call: SketchedCall) -> PlannedCall:
        fields: dict[tuple[int, int, str], list[str]] = {}  # all that the call takes from one entry
        for slot in call.slots.values():
            if isinstance(slot, Take):
                fields.setdefault(slot.entry, []).append(slot.link.field)
        filled = {name: self._slot(sketch, slot, fields) for name, slot in call.slots.items()}
        new_call = Call(tool=call.tool, arguments={name: one.value for name, one in filled.items()})
        if (
            new_call in self._calls
            or made_problems(self._graph.tools[call.tool], new_call.arguments, partial=False)
            or _says_the_same_twice(one.source for one in filled.values())
        ):
            raise UnfilledError
        answer = await self._environment.answer(new_call)
        if answer.problem or is_refusal(answer.response):
            raise UnfilledError
        self._calls.append(new_call)
        self._responses.append(answer.response)
        asked_fields, world = self._asked(call.tool), self._environment
        is_done = is_deed(call.tool) or (
            isinstance(world, BegunWorld) and world.inner.writes(call.tool)
        )
        if not asked_fields and not is_done:
            named = [value for one in filled.values() for value in _names_in(one.source)]
            telling = telling_fields(answer.response, new_call.arguments.values())
            told = [
                one
                for one in telling
                if any(value not in named for value in values_at(answer.response, one))
            ]
            asked_fields = tuple(told) or telling
        arguments = {name: one.source for name, one in filled.items()}
        return PlannedCall(
            tool=call.tool,
            arguments=arguments,
            wanted=call.wanted,
            asked=asked_fields if call.wanted else (),
        )

    async def _tells_apart(self, made: Call, asked: Sequence[str], response: JsonValue) -> bool:
        """Whether a task's call tells something else without its options or for other entries."""
        if not isinstance(self._environment, BegunWorld):
            return True
        tool, values_told = (
            self._graph.tools[made.tool],
            [list(values_at(response, field)) for field in asked],
        )
        others = [
            {name: value for name, value in made.arguments.items() if name != left_out}
            for left_out in made.arguments
            if left_out in tool.optional
        ]
        others += [one.arguments for _, one in mistaken(made, tool, self._responses)]
        for arguments in (one for one in others if one != made.arguments):
            answer = await self._environment.answer(made.with_changes(arguments=arguments))
            if (
                not answer.problem
                and [list(values_at(answer.response, field)) for field in asked] == values_told
            ):
                return False
        return True

    def _slot(
        self, sketch: GoalSketch, slot: Slot, fields: Mapping[tuple[int, int, str], list[str]]
    ) -> _Filled:
        match slot:
            case Fixed(value=value):
                return _Filled(Default(value=value), value)
            case Say():
                return self._stated(slot)
            case Take():
                return self._taken(sketch, slot, fields.get(slot.entry) or [slot.link.field])
            case Group():
                parts = [self._slot(sketch, part, {}) for part in slot.parts]
                composed = Composed(
                    shape=slot.shape, names=slot.names, parts=tuple(part.source for part in parts)
                )
                return _Filled(composed, joined(composed, [part.value for part in parts]))
            case _:
                assert_never(slot)

    def _stated(self, say: Say) -> _Filled:
        properties, ordinal = self._graph.tools[say.tool].properties, 0
        if "[]." in say.parameter:
            ordinal = int(say.key.split(" ")[1])
        elif say.parameter in properties:
            alike = [name for name in properties if self._element(say.tool, name) == say.element]
            ordinal = alike.index(say.parameter) if say.parameter in alike else 0
        schema = self._graph.schema(say.tool, say.parameter)
        value = self._trip.say(
            Wish(say.element, say.role, say.tool, say.parameter, ordinal, schema)
        )
        if value is None:
            raise UnfilledError
        is_replaceable = self._is_replaceable(say.tool, say.parameter)
        return _Filled(
            StatedValue(value=value, element=say.element, replaceable=is_replaceable), value
        )

    def _taken(self, sketch: GoalSketch, take: Take, fields: list[str]) -> _Filled:
        link = take.link
        entries = entries_of(self._responses[take.source], link.entries)
        where = self._where.get((take.source, link.entries, take.mark))
        if where is None:
            where = self._choose(sketch, take, fields)
            self._where[take.source, link.entries, take.mark] = where
        fitting = choose(entries, where)
        value = value_at(fitting[0].value, link.field) if fitting else None
        if value is None:
            raise UnfilledError
        picked = Picked(
            call=take.source,
            entries=link.entries,
            field=link.field,
            where=where,
            later_by=take.later_by,
        )
        return _Filled(picked, shifted(value, take.later_by))

    def _choose(self, sketch: GoalSketch, take: Take, fields: list[str]) -> Where:
        entries = entries_of(self._responses[take.source], take.link.entries)
        taken = self._meant.setdefault((take.source, take.link.entries), {})
        where: Where | None = None
        if not take.link.entries and not isinstance(self._responses[take.source], list):
            return ()
        if entries and take.selection == "lookup":
            call = sketch.calls[take.source]
            query = self._calls[take.source].arguments[self._graph.tools[call.tool].required[0]]
            where = by_query(entries, str(query), take.link.field)
            if where is not None and not all(isinstance(slot, Say) for slot in call.slots.values()):
                # nobody says the name, so it is what the look-up finds first
                where = () if choose(entries, where)[:1] == entries[:1] else None
        elif entries and take.selection == "inside":
            values = [value_at(entries[at].value, take.link.field) for at in taken.values()]
            where = by_name(entries, take.link.field, values, self._rng) or by_rank(
                entries, fields, list(taken.values()), self._rng
            )
        elif entries:
            where = by_rank(entries, fields, list(taken.values()), self._rng)
        fitting = choose(entries, where) if where is not None else []
        if where is None or not fitting:
            raise UnfilledError
        taken[take.mark] = fitting[0].index
        return where


def _says_the_same_twice(sources: Iterable[ValueSource]) -> bool:
    """Whether a call states one text for two parameters: nobody could tell that they are swapped.

    A town may well be both the first and the last.
    """
    said = [one.value for one in sources if isinstance(one, StatedValue) and one.element in _OWN]
    texts = [one for one in said if isinstance(one, str)]
    return len(texts) > len(set(texts))


_OWN = frozenset({"text", "keyword", "identifier"})  # what no two parameters of a call share


def _names_in(source: ValueSource) -> Iterator[JsonValue]:
    """Yield the names by which a source's entry is called; nobody asks for them."""
    if isinstance(source, Picked):
        yield from (one.value for one in source.where if one.test == "equals")


def is_refusal(response: JsonValue) -> bool:
    """Whether a response says that the request was wrong, or is empty."""
    if not isinstance(response, dict):
        return response in (None, "", [])
    # else "data" is a field of the thing itself
    is_frame = "status" in response or response.keys() == {"data"}
    data = response.get("data", response) if is_frame else response
    return response.get("status") is False or "error" in response or data in (None, [], {})


def by_query(entries: Sequence[Entry], query: str, field: str) -> Where | None:
    """Return a condition that finds the entry named by `query` first, or None if none is."""
    able = [entry for entry in entries if _holds(entry, field)]
    found = named([entry.value for entry in able], query)
    if found is None:
        return (Condition(test="only"),) if len(entries) == len(able) == 1 else None
    index, path, selection = found
    value = text_at(able[index].value, path) if selection == "within" else query
    condition = Condition(
        test="contains" if selection == "contains" else "equals", field=path, value=value
    )
    fitting = choose(entries, (condition,))
    return (condition,) if fitting and fitting[0].index == able[index].index else None


def by_name(
    entries: Sequence[Entry], field: str, taken: Sequence[JsonValue], rng: Random
) -> Where | None:
    """Return a condition on the unique name of a random entry, or None.

    Entries whose values are `taken` are skipped.
    """
    able = [
        entry
        for entry in entries
        if _holds(entry, field) and value_at(entry.value, field) not in taken
    ]
    for path in name_paths([entry.value for entry in entries]):
        names = [fold(text_at(entry.value, path)) for entry in entries]
        own = [
            entry
            for entry in able
            if _is_plain(name := text_at(entry.value, path)) and names.count(fold(name)) == 1
        ]
        if own:
            return (
                Condition(test="equals", field=path, value=text_at(rng.choice(own).value, path)),
            )
    return None


def by_rank(
    entries: Sequence[Entry], fields: Sequence[str], taken: Sequence[int], rng: Random
) -> Where | None:
    """Return a spoken condition that singles out one entry, skipping indices `taken`; or None."""
    if len(entries) == 1:
        is_able = 0 not in taken and all(_holds(entries[0], field) for field in fields)
        return (Condition(test="only"),) if is_able else None
    options: list[Where] = []
    weights: list[float] = []
    ranks = rank_fields(entries[0].value)
    for family in (one for one in FAMILIES if one.name in ranks):
        tests: tuple[Test, Test] = (
            ("earliest", "latest") if family.is_time else ("lowest", "highest")
        )
        for test, weight in zip(tests, _WEIGHTS.get(family.name, (1, 1)), strict=True):
            where = (Condition(test=test, field=ranks[family.name]),)
            fitting = choose(entries, where)
            is_alone = len(fitting) == 1 and fitting[0].index not in taken
            if is_alone and all(_holds(fitting[0], field) for field in fields):
                options.append(where)
                weights.append(weight)
    named = (
        by_name([entry for entry in entries if entry.index not in taken], fields[0], (), rng)
        if fields
        else None
    )
    if named is not None and (not options or rng.random() < _SHARE_BY_NAME):
        return named if len(choose(entries, named)) == 1 else None
    return rng.choices(options, weights)[0] if options else None


def _holds(entry: Entry, field: str) -> bool:
    return value_in(entry.value, field) not in (None, "")


def _is_plain(name: str) -> bool:
    return (
        0 < len(name) <= _LONGEST_NAME
        and not name.isdecimal()
        and "\n" not in name
        and "." not in name
    )
