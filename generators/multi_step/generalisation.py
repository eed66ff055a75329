"""Turn a template into as many samples as its goal wants, with the same tools and steps.

Only the values differ (ComplexFuncBench 2.1.3). An old value gets the same new one everywhere.
Dates move together, so that order and duration stay; what lies in a city moves with it.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from callwright.generators.environments.picking import Entry, choose, entries_of
from callwright.generators.environments.protocol import Environment
from callwright.generators.environments.vocabularies import Wish, vocabulary_of
from callwright.generators.multi_step import TASKS
from callwright.generators.multi_step.disambiguation import Cleared, clear
from callwright.generators.multi_step.resolving import (
    NoEntryError,
    RememberedEnvironment,
    SourceLeaf,
    pattern_of,
    resolve,
    sources_in,
    with_changed_leaves,
)
from callwright.generators.multi_step.samples import schema_of, unstated, write_sample
from callwright.generators.multi_step.tasks import environment_of, is_sound
from callwright.generators.stages import StageContext
from callwright.language.calls.entries import text_at
from callwright.language.dates import find_dates, find_times
from callwright.language.schemas import DATE_TIME_VALUE, DATE_VALUE
from callwright.language.text import Found, fold
from callwright.language.values import locate, locate_text, write_value
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    Condition,
    Default,
    Exchange,
    Goal,
    GoalPath,
    JsonSchema,
    Language,
    Picked,
    Sample,
    StatedValue,
    Tool,
    WordedGoal,
)

_LATEST_SHIFT, _EARLIEST_SHIFT = 60, -40
Replacements = dict[str, JsonValue]  # by the old value's name, see `name_of`
_MASK = "\u25a1"
_MOST_MENTIONS = 6
_MOST_DRAWS = 20


def name_of(stated: StatedValue) -> str:
    """Return a name that equal values of one kind share."""
    return (
        f"{'date' if _is_dated(stated.value) else stated.element}"
        f" {orjson.dumps(stated.value).decode()}"
    )


def choose_replacements(
    goal: Goal,
    environment: Environment,
    tools: Mapping[str, Tool],
    fixed: frozenset[str],
    rng: Random,
) -> Replacements:
    """Choose another value for each replaceable one; those named in `fixed` keep theirs."""
    trip = vocabulary_of(environment).trip(rng)
    days = rng.choice([days for days in range(_EARLIEST_SHIFT, _LATEST_SHIFT) if days])
    replacements: Replacements = {}
    for leaf, stated_value in sources_in(goal, StatedValue):
        if (
            not stated_value.replaceable
            or name_of(stated_value) in replacements
            or name_of(stated_value) in fixed
        ):
            continue
        new: JsonValue | None
        if _is_dated(stated_value.value):
            moved = datetime.fromisoformat(str(stated_value.value)) + timedelta(days=days)
            new = moved.date().isoformat() + str(stated_value.value)[len("2027-01-01") :]
        else:
            tool = tools[goal.calls[leaf.call].tool]
            schema = schema_of(tool, leaf.argument)
            wish = Wish(stated_value.element, "", tool.name, pattern_of(leaf.argument), 0, schema)
            new = trip.instead_of(stated_value.value, wish)
        if new is not None and new != stated_value.value:
            replacements[name_of(stated_value)] = new
    return replacements


def replace_stated(goal: Goal, new: Mapping[str, JsonValue]) -> Goal:
    """Replace stated values of a goal, also in its conditions that compare with them."""
    stated = [one for _, one in sources_in(goal, StatedValue) if name_of(one) in new]
    texts = {one.value: new[name_of(one)] for one in stated if isinstance(one.value, str)}

    def replaced(leaf: SourceLeaf) -> StatedValue | Default | Picked:
        match leaf.source:
            case StatedValue() as one if name_of(one) in new:
                return one.with_changes(value=new[name_of(one)])
            case Picked(where=where) as picked:
                others = [
                    (
                        one.with_changes(value=texts[one.value])
                        if isinstance(one.value, str) and one.value in texts
                        else one
                    )
                    for one in where
                ]
                return picked.with_changes(where=tuple(others))
            case other:
                return other

    return with_changed_leaves(goal, replaced)


def replace_condition(
    goal: Goal, old: tuple[Condition, ...], new: tuple[Condition, ...], call: int
) -> Goal:
    """Replace the conditions of every value picked by the old ones from the response of `call`."""

    def replaced(leaf: SourceLeaf) -> StatedValue | Default | Picked:
        source = leaf.source
        is_meant = isinstance(source, Picked) and source.call == call and source.where == old
        return source.with_changes(where=new) if is_meant else source

    return with_changed_leaves(goal, replaced)


def _is_dated(value: JsonValue) -> bool:
    return isinstance(value, str) and bool(
        DATE_VALUE.fullmatch(value) or DATE_TIME_VALUE.fullmatch(value)
    )


class ValueReplacement(NamedTuple):
    """A value that the request states, and its replacement."""

    old: JsonValue
    new: JsonValue
    schema: JsonSchema


def mentions(value: JsonValue, schema: JsonSchema, text: str) -> list[Found]:
    """Return every place where a text states a value."""
    places: list[Found] = []
    left = text
    while len(places) < _MOST_MENTIONS:
        place = locate(value, schema, left)
        if place is None or place.start >= place.end:
            break
        places.append(place)
        left = left[: place.start] + _MASK * (place.end - place.start) + left[place.end :]
    return places


def reword(
    request: str, changes: Iterable[ValueReplacement], language: Language, rng: Random
) -> str:
    """Return the request with the old values replaced by the new ones."""
    spans = [span for change in changes for span in _spans(request, change, language, rng)]
    edits: list[tuple[int, int, str]] = []  # the longer of two that overlap
    for start, end, words in sorted(spans, key=lambda one: (one[0] - one[1], one[0])):
        if all(end <= other[0] or other[1] <= start for other in edits):
            edits.append((start, end, words))
    for start, end, words in sorted(edits, reverse=True):
        request = request[:start] + words + request[end:]
    return request


def still_stated(request: str, changes: Iterable[ValueReplacement]) -> bool:
    """Whether an old text is still in the request, other than as part of a new one."""
    changed = [(fold(str(one.old)), one) for one in changes if isinstance(one.old, str)]
    new_texts = [fold(str(one.new)) for _, one in changed]
    plain = fold(request)
    return any(old in plain and not any(old in new for new in new_texts) for old, _ in changed)


def _spans(
    request: str, change: ValueReplacement, language: Language, rng: Random
) -> Iterator[tuple[int, int, str]]:
    """Yield where the request says the old value (start, end), and the new value's words."""
    for mention in mentions(change.old, change.schema, request):
        words = request[mention.start : mention.end]
        new_words = str(change.new)
        # a day and a time in the order of the old ones, whose preposition stays
        if words != change.old:
            for _ in range(_MOST_DRAWS):
                new_words = write_value(change.new, change.schema, language, rng)
                if _begins_with_day(new_words) == _begins_with_day(words):
                    break
        goes_on = request[mention.end : mention.end + 2].strip().islower()
        if words.endswith(".") and not new_words.endswith(".") and not goes_on:
            new_words += "."  # the full stop of an abbreviation was the sentence's as well
        yield mention.start, mention.end, new_words


def _begins_with_day(words: str) -> bool:
    days, times = find_dates(words), find_times(words)
    return bool(days and times) and days[0].start < times[0].start


ATTEMPTS = 8  # for each variant that is asked for
_MENDINGS = 6
_LOGGER = logging.getLogger(__name__)


class _Variant(NamedTuple):
    """A goal with other values, and the changes that it requires in the request."""

    goal: Goal
    changes: tuple[ValueReplacement, ...]


async def generalise(path: GoalPath, context: StageContext) -> list[Sample]:
    """Return the template's sample and variants with one path each, possibly fewer than wanted.

    Raises RecordError if not even the template makes a sample.
    """
    template = path.traced.worded.goal
    samples = [await write_sample(path, context, path)]
    maker = _Maker(path, context)
    for attempt in range(ATTEMPTS * (template.variants - 1)):
        if len(samples) >= template.variants:
            break
        found = await maker.make(Random(f"{template.key} {template.seed} {attempt}"))
        if found is not None and found.request not in {sample.request for sample in samples}:
            samples.append(await write_sample(found, context, path))
    if len(samples) < template.variants:
        _LOGGER.warning(
            "Template %s has %d of %d variants.", template.key, len(samples), template.variants
        )
    return samples


class _Maker:
    """Creates variants of one template."""

    def __init__(self, path: GoalPath, context: StageContext) -> None:
        self.path = path
        self.goal = path.traced.worded.goal
        self.environment = environment_of(self.goal, context)
        self.tools = context.toolset(
            tuple(key for key in self.goal.candidates if key not in path.removed)
        )
        self.by_name = {tool.name: tool for tool in self.tools}
        names: list[
            str
        ] = []  # of numbers that the request says more than once, or not apart, and what it does not say  # noqa: E501
        for leaf, stated_value in sources_in(self.goal, StatedValue):
            places = mentions(
                stated_value.value, self._schema(leaf.call, leaf.argument), self.path.request
            )
            is_text = isinstance(stated_value.value, str) and not stated_value.value.isdecimal()
            if not places or (not is_text and len(places) > 1):
                names.append(name_of(stated_value))
        self.fixed = frozenset(names)

    def _schema(self, call: int, argument: str) -> dict[str, JsonValue]:
        return schema_of(self.by_name[self.goal.calls[call].tool], argument)

    async def make(self, rng: Random) -> GoalPath | None:
        """Return a variant, or None if the values give no single path of the template's shape."""
        environment = RememberedEnvironment(self.environment)
        variant = await self._filled(environment, rng)
        if variant is None:
            return None
        request = reword(self.path.request, variant.changes, self.goal.language, rng)
        if not self._is_stated(request, variant):
            return None
        try:
            cleared = await clear(variant.goal, environment, self.tools)
        except RecordError:
            return None
        if not self._is_like(cleared):
            return None
        return GoalPath(
            traced=self.path.traced.with_changes(
                worded=WordedGoal(goal=cleared.goal, request=request), trace=()
            ),
            request=request,
            path=cleared.resolved.path,
            strikes=cleared.strikes,
            removed=(*self.path.removed, *cleared.removed),
        )

    async def _filled(self, environment: Environment, rng: Random) -> _Variant | None:
        """Return a variant with other values, and other conditions if no entry meets them now."""
        new = choose_replacements(self.goal, self.environment, self.by_name, self.fixed, rng)
        changes = [
            ValueReplacement(
                stated.value, new[name_of(stated)], self._schema(leaf.call, leaf.argument)
            )
            for leaf, stated in sources_in(self.goal, StatedValue)
            if name_of(stated) in new
        ]
        goal = replace_stated(self.goal, new)
        for _ in range(_MENDINGS):
            try:
                resolved = await resolve(goal, environment)
            except NoEntryError as error:
                source, entries = error.source, error.entries
            except RecordError:
                return None
            else:
                sources = [] if changes or goal.kind not in TASKS else _named_sources(goal)
                if not sources:
                    distinct = {repr((change.old, change.new)): change for change in changes}
                    return _Variant(goal, tuple(distinct.values()))
                # nothing that is said can be replaced, so another thing is meant
                source = rng.choice(sources)
                entries = entries_of(resolved.response(source.call), source.entries)
            condition = _another(source.where, entries, rng)
            if condition is None or condition[0].value in [change.new for change in changes]:
                return None  # what the user says has to be what the conditions compare with
            old, where = condition
            changes.append(
                ValueReplacement(
                    old.value, where[source.where.index(old)].value, {"type": "string"}
                )
            )
            goal = replace_condition(goal, source.where, where, source.call)
        return None

    def _is_stated(self, request: str, variant: _Variant) -> bool:
        if unstated(variant.goal, request, self.by_name) or still_stated(request, variant.changes):
            return False
        conditions = (
            one for source in _named_sources(self.goal) for one in source.where if _compares(one)
        )
        rendered = {
            one.value for one in conditions if locate_text(str(one.value), self.path.request)
        }
        replaced = {str(change.old): str(change.new) for change in variant.changes}
        return all(locate_text(replaced.get(str(value), str(value)), request) for value in rendered)

    def _is_like(self, cleared: Cleared) -> bool:
        """Whether the path is unique and like the template's in shape and in its responses.

        A refused response differs from the template's.
        """
        path = cleared.resolved.path
        return (
            cleared.is_single
            and _shape(path) == _shape(self.path.path)
            and (
                self.goal.kind not in TASKS
                or is_sound(path, cleared.strikes, self.environment, as_task=True)
            )
            and all(
                _is_alike(one, other)
                for mine, template in zip(path, self.path.path, strict=True)
                for one, other in zip(mine.responses, template.responses, strict=True)
            )
        )


def _another(
    where: tuple[Condition, ...], entries: Sequence[Entry], rng: Random
) -> tuple[Condition, tuple[Condition, ...]] | None:
    """Return the first condition that compares a text, and all with another text of one entry.

    None if there is no such condition or text.
    """
    old = next(filter(_compares, where), None)
    if old is None:
        return None
    options: list[tuple[Condition, ...]] = []
    for entry in entries:
        if value := text_at(entry.value, old.field):
            new = tuple(one.with_changes(value=value) if one == old else one for one in where)
            if len(choose(entries, new, loosely=True)) == 1:
                options.append(new)
    return (old, rng.choice(options)) if options else None


def _named_sources(goal: Goal) -> list[Picked]:
    """Return the picked values whose entry a text identifies."""
    return [picked for _, picked in sources_in(goal, Picked) if any(map(_compares, picked.where))]


def _compares(condition: Condition) -> bool:
    return condition.test in ("equals", "contains") and isinstance(condition.value, str)


def _shape(path: Sequence[Exchange]) -> list[list[str]]:
    return [[call.tool for call in exchange.calls] for exchange in path]


def _is_alike(one: JsonValue, other: JsonValue) -> bool:
    """Whether two responses have the same members and neither is empty unless both are.

    A refusal has other members.
    """
    if not isinstance(one, dict) or not isinstance(other, dict):
        return type(one) is type(other) and bool(one) == bool(other)
    return set(one) == set(other) and _holds_something(one) == _holds_something(other)


def _holds_something(response: dict[str, JsonValue]) -> bool:
    """Whether any list or object in a response is not empty, or there is none."""
    holders = [member for member in response.values() if isinstance(member, dict | list)]
    return any(holders) or not holders
