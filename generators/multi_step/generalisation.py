"""One template becomes as many samples as its goal asks for: same tools, same steps, other values (ComplexFuncBench 2.1.3)."""

import logging
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.environments.picking import Entry, choose, entries_of, has, value_at
from callwright.generators.environments.protocol import Environment
from callwright.generators.multi_step import TASKS
from callwright.generators.multi_step.disambiguation import Cleared, clear
from callwright.generators.multi_step.replacing import (
    ValueReplacement,
    choose_replacements,
    mentions,
    name_of,
    replace_condition,
    replace_stated,
    reword,
    stated_leaves,
    still_stated,
)
from callwright.generators.multi_step.resolving import NoEntryError, RememberedEnvironment, resolve
from callwright.generators.multi_step.samples import schema_of, unstated, write_sample
from callwright.generators.multi_step.sources import leaves_of
from callwright.generators.multi_step.tasks import environment_of, is_task
from callwright.generators.stages import StageContext
from callwright.language.values import locate_text
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Condition, Exchange, Goal, GoalPath, Picked, Sample, StatedValue, WordedGoal

ATTEMPTS = 8  # for each variant that is asked for
_MENDINGS = 6
_LOGGER = logging.getLogger(__name__)


class _Variant(NamedTuple):
    """A goal with other values, and what has to change in the request for it."""

    goal: Goal
    changes: tuple[ValueReplacement, ...]


async def generalise(path: GoalPath, context: StageContext) -> list[Sample]:
    """The template's sample, then variants of it, each with one path only; fewer than asked for where no more are found.

    Raises RecordError where not even the template makes a sample.
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
        _LOGGER.warning("Template %s has %d of %d variants.", template.key, len(samples), template.variants)
    return samples


class _Maker:
    """Makes variants of one template."""

    def __init__(self, path: GoalPath, context: StageContext) -> None:
        self.path = path
        self.goal = path.traced.worded.goal
        self.environment = environment_of(self.goal, context)
        self.tools = context.toolset(tuple(key for key in self.goal.candidates if key not in path.removed))
        self.by_name = {tool.name: tool for tool in self.tools}
        self.fixed = frozenset(self._unclear())

    def _unclear(self) -> list[str]:
        """The values whose words can't be replaced for certain: numbers that the request says more than once, or not apart."""
        names: list[str] = []
        for leaf in stated_leaves(self.goal):
            if isinstance(leaf.source, StatedValue):
                found = mentions(leaf.source.value, self._schema(leaf.call, leaf.argument), self.path.request)
                is_text = isinstance(leaf.source.value, str) and not leaf.source.value.isdecimal()
                if not found or (not is_text and len(found) > 1):
                    names.append(name_of(leaf.source))
        return names

    def _schema(self, call: int, argument: str) -> dict[str, JsonValue]:
        return schema_of(self.by_name[self.goal.calls[call].tool], argument)

    async def make(self, rng: Random) -> GoalPath | None:
        """A variant, None where these values lead to none with a single path of the template's shape."""
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
        return self._path(request, cleared) if self._is_like(cleared) else None

    async def _filled(self, environment: Environment, rng: Random) -> _Variant | None:
        """Other values, and where no entry meets a condition any more, another condition."""
        new = choose_replacements(self.goal, self.environment, self.by_name, self.fixed, rng)
        changes = [
            ValueReplacement(leaf.source.value, new[name_of(leaf.source)], self._schema(leaf.call, leaf.argument))
            for leaf in stated_leaves(self.goal)
            if isinstance(leaf.source, StatedValue) and name_of(leaf.source) in new
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
                    return _Variant(goal, tuple(_once(changes)))
                source = rng.choice(sources)  # nothing that is said can be replaced, so another thing is meant
                entries = entries_of(resolved.response(source.call), source.entries)
            condition = _another(source.where, entries, rng)
            if condition is None or condition[0].value in [change.new for change in changes]:
                return None  # what the user says has to be what the conditions compare with
            old, where = condition
            changes.append(ValueReplacement(old.value, where[source.where.index(old)].value, {"type": "string"}))
            goal = replace_condition(goal, source.where, where, source.call)
        return None

    def _is_stated(self, request: str, variant: _Variant) -> bool:
        if unstated(variant.goal, request, self.by_name) or still_stated(request, variant.changes):
            return False
        rendered = {one.value for one in _conditions(self.goal) if locate_text(str(one.value), self.path.request)}
        replaced = {str(change.old): str(change.new) for change in variant.changes}
        return all(locate_text(replaced.get(str(value), str(value)), request) for value in rendered)

    def _is_like(self, cleared: Cleared) -> bool:
        """Whether the path is the only one, has the template's shape, and no response was refused."""
        return (
            cleared.is_single
            and _shape(cleared.resolved.path) == _shape(self.path.path)
            and (self.goal.kind not in TASKS or is_task(cleared.resolved.path, cleared.strikes, self.environment))
            and all(
                _is_alike(one, other)
                for mine, template in zip(cleared.resolved.path, self.path.path, strict=True)
                for one, other in zip(mine.responses, template.responses, strict=True)
            )
        )

    def _path(self, request: str, cleared: Cleared) -> GoalPath:
        worded = WordedGoal(goal=cleared.goal, request=request)
        return GoalPath(
            traced=self.path.traced.with_changes(worded=worded, trace=()),
            request=request,
            path=cleared.resolved.path,
            strikes=cleared.strikes,
            removed=(*self.path.removed, *cleared.removed),
        )


def _once(changes: Sequence[ValueReplacement]) -> list[ValueReplacement]:
    return list({repr((change.old, change.new)): change for change in changes}.values())


def _another(
    where: tuple[Condition, ...], entries: Sequence[Entry], rng: Random
) -> tuple[Condition, tuple[Condition, ...]] | None:
    """The first condition that compares with a text, and all of them with another text that one entry alone has."""
    old = next(filter(_compares, where), None)
    if old is None:
        return None
    options: list[tuple[Condition, ...]] = []
    for entry in entries:
        value = value_at(entry.value, old.field) if has(entry.value, old.field) else None
        if isinstance(value, str) and value:
            new = tuple(one.with_changes(value=value) if one == old else one for one in where)
            if len(choose(entries, new, loosely=True)) == 1:
                options.append(new)
    return (old, rng.choice(options)) if options else None


def _conditions(goal: Goal) -> list[Condition]:
    """The conditions that compare with a text."""
    return [one for source in _named_sources(goal) for one in source.where if _compares(one)]


def _named_sources(goal: Goal) -> list[Picked]:
    """The values that are picked from an entry which a text tells."""
    leaves = (leaf for index, planned in enumerate(goal.calls) for leaf in leaves_of(index, planned.arguments))
    return [one.source for one in leaves if isinstance(one.source, Picked) and any(map(_compares, one.source.where))]


def _compares(condition: Condition) -> bool:
    return condition.test in ("equals", "contains") and isinstance(condition.value, str)


def _shape(path: Sequence[Exchange]) -> list[list[str]]:
    return [[call.tool for call in exchange.calls] for exchange in path]


def _is_alike(one: JsonValue, other: JsonValue) -> bool:
    """Whether two responses have the same members (a refusal has others), and neither is empty where the other is not."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return type(one) is type(other) and bool(one) == bool(other)
    return set(one) == set(other) and _holds_something(one) == _holds_something(other)


def _holds_something(response: dict[str, JsonValue]) -> bool:
    """Whether any list or object in a response holds something, where there is one."""
    holders = [member for member in response.values() if isinstance(member, dict | list)]
    return any(holders) or not holders
