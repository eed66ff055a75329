"""What a build still lacks of each kind, and the drafts to make up for it.

Each family plans its own.
"""

import tempfile
from array import array
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property, lru_cache
from itertools import chain, islice
from math import ceil
from pathlib import Path
from typing import Generic, Self, TypeVar, overload

from callwright.flows.environments import open_environments
from callwright.flows.planning.demands import Demand, order_of, shares
from callwright.flows.run.carry import GroupRun
from callwright.flows.sources import taken_records
from callwright.generators.derivations import plan_derivations
from callwright.generators.environments.protocol import Environment
from callwright.generators.families import Family, LeftOut, Order, shared_evenly, told_of
from callwright.generators.kinds import (
    FAMILIES,
    family_of,
    kinds_with,
    name_of,
    obstacle_to,
    traits_of,
)
from callwright.generators.stages import Stage
from callwright.generators.taken import GROUP as TAKEN
from callwright.warehouse.batches import batches, grouped
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import CallwrightError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import (
    KEY_BYTES,
    Derivation,
    Draft,
    Language,
    Record,
    Sample,
    Tool,
)
from callwright.warehouse.rows import Row, body_of
from callwright.warehouse.store import Warehouse

Planned = TypeVar("Planned", bound=Draft)


class Planner:
    """Plans some kinds of a build: tracks what has passed, and plans what to make next."""

    def __init__(self, run: GroupRun, kinds: Iterable[str], *, at_most: int | None = None) -> None:
        """Look up what the build has of these kinds; plan `at_most` samples of each demand."""
        self._run = run
        self.left_out: list[LeftOut] = []
        self._tools: Mapping[str, Tool] = {tool.key: tool for tool in run.tools}
        with run.warehouse.reading():
            self._begun = {row["stage"] for row in run.warehouse.rows(_BEGUN, [run.build])}
            is_new = not self._begun
            planned = Counter() if is_new else _count_planned(run)
            passed = Counter() if is_new else _count_passed(run)
        wanted = set(kinds)
        asked = {name: count for name, count in run.recipe.samples.items() if name in wanted}
        self.demands = []
        for demand in shares(
            run.recipe.model_copy(update={"samples": asked}), run.tools, self._leave_out
        ):
            at = (demand.kind.name, demand.language, demand.place)
            asked_now = demand.asked if at_most is None else min(demand.asked, at_most)
            self.demands.append(
                demand._replace(asked=asked_now, planned=planned[at], passed=passed[at])
            )

    @property
    def drawn(self) -> list[Demand]:
        """The demands that still need planning."""
        return [one for one in self.demands if one.plan_until(self._run.recipe.spare) > one.planned]

    def _leave_out(self, found: LeftOut) -> None:
        """Note what is left out, and report it if it is samples."""
        self.left_out.append(found)
        if found.samples:
            self._run.progress.say(sentence_of(found))

    def _note_missing(self, demand: Demand, samples: int, reason: str) -> None:
        if samples > 0:
            self._leave_out(
                LeftOut(demand.kind.name, reason, demand.language, demand.place, samples=samples)
            )

    async def drafts(self, group: str, first: Stage) -> Iterable[Draft]:
        """Return the drafts for the first stage of a group."""
        fresh = _Fresh(self._run, first.name, is_begun=first.name in self._begun)
        if group == TAKEN:
            return fresh.of(taken_records(self._run.recipe, self._run.settings, self._run.tools))
        demands = [demand for demand in self.demands if demand.kind.group == group]
        if any(demand.kind.sources for demand in demands):
            return self._derivations(demands, fresh)
        with ExitStack() as opened, _Worlds(self._run) as worlds:
            planned_drafts = {
                demand: await self._planned(demand, fresh, opened, worlds) for demand in demands
            }
            for demand, more in [*self._instead(demands, worlds)]:
                planned_drafts[demand] = await self._planned(more, fresh, opened, worlds)
            return _all_of(planned_drafts.values(), opened.pop_all())

    def _instead(
        self, demands: Sequence[Demand], worlds: "_Worlds"
    ) -> Iterator[tuple[Demand, Demand]]:
        """Yield (demand, raised demand) for places with room, to make up for places without."""
        for (kind, language), some in grouped(
            demands, lambda one: (one.kind, one.language)
        ).items():
            able = [
                one
                for one in some
                if worlds.planned.get(one) == one.plan_until(self._run.recipe.spare)
            ]
            asked_count, planned, passed = (
                sum(counts) for counts in zip(*(one[2:5] for one in some), strict=True)
            )
            now = sum(max(0, worlds.planned.get(one, one.planned) - one.planned) for one in some)
            left = (
                Demand(kind, language, asked_count, planned, passed).plan_until(
                    self._run.recipe.spare
                )
                - planned
                - now
            )
            if not able or left <= 0:
                continue
            self._run.progress.say(
                f"{kind.name} ({language}): {left} more are planned in other places instead."
            )
            for one, more in zip(able, shared_evenly(left, len(able)), strict=True):
                if more:
                    yield one, one._replace(asked=worlds.planned[one] + more)

    async def _planned(
        self, demand: Demand, fresh: "_Fresh", opened: ExitStack, worlds: "_Worlds"
    ) -> Iterator[Draft]:
        """Return a demand's drafts that are not begun yet, and no more than are lacking.

        This also holds if the previous plan was another one.
        """
        family, recipe = family_of(demand.kind.name), self._run.recipe
        if family.plan is None:
            raise CallwrightError(f"Nothing plans samples of the kind {demand.kind.name!r}.")
        until = demand.plan_until(recipe.spare)
        order = order_of(recipe, demand._replace(asked=until), self._run.tools)._replace(
            leave_out=self._leave_out
        )
        planned = family.plan(order)
        if isinstance(planned, AsyncIterator):
            planned = await self._spooled(family, order, demand, opened, worlds)
        else:
            planned = self._until_refused(planned, demand, until)
        variants = recipe.variants if family.has_variants else 1
        return islice(fresh.of(planned), ceil(max(0, until - demand.planned) / variants))

    def _until_refused(
        self, planned: Iterator[Draft], demand: Demand, until: int
    ) -> Iterator[Draft]:
        """Yield the drafts that can be planned; if there are too few, note it and go on."""
        planned_count, reason = 0, ""
        try:
            for draft in planned:
                planned_count += 1
                yield draft
        except Exception as error:  # noqa: BLE001 - what goes wrong costs this kind
            reason = told_of(error)
        if reason or planned_count < until:
            at = (demand.kind.name, demand.language, demand.place)
            mine = (
                one.reason
                for one in reversed(self.left_out)
                if (one.kind, one.language, one.place) == at
            )
            self._note_missing(
                demand, until - planned_count, reason or next(mine, "Nothing more can be planned.")
            )

    async def _spooled(
        self, family: Family, order: Order, demand: Demand, opened: ExitStack, worlds: "_Worlds"
    ) -> Iterator[Draft]:
        """Plan a demand with the recipe's environments, which are open only meanwhile."""
        spooled = opened.enter_context(Spooled(family.drafts, self._run.settings.home))
        samples, before = 0, len(self.left_out)
        try:
            if family.plan:
                planned = family.plan(order._replace(environments=worlds.environments))
            else:
                planned = iter(())
            if isinstance(planned, AsyncIterator):
                async for draft in planned:
                    spooled.add(body_of(draft))
                    samples += getattr(draft, "variants", 1)
        except Exception as error:  # noqa: BLE001 - what goes wrong costs this kind
            self._note_missing(demand, order.samples - samples, told_of(error))
        worlds.planned[demand] = samples
        if samples < order.samples and not any(one.samples for one in self.left_out[before:]):
            goals = (
                f"Only {len(spooled)} of {count_of(ceil(order.samples / order.variants), 'goal')}"
                " can be planned"
            )
            self._note_missing(
                demand, order.samples - samples, f"{goals}, because the environment allows no more."
            )
        return iter(spooled)

    def _derivations(self, demands: Iterable[Demand], fresh: "_Fresh") -> Iterator[Derivation]:
        """Yield the next derivations from samples that passed every check."""
        with _Passed(self._run) as passed, _Worlds(self._run) as worlds:
            yield from self._derivations_of(demands, fresh, passed, worlds)

    def _derivations_of(
        self, demands: Iterable[Demand], fresh: "_Fresh", passed: "_Passed", worlds: "_Worlds"
    ) -> Iterator[Derivation]:
        for demand in demands:
            count = demand.plan_until(self._run.recipe.spare) - demand.planned
            if not demand.kind.sources or count <= 0:
                continue
            derived_count, against = 0, Counter[str]()
            possible = _possible_derivations(passed, demand, self._tools, against, worlds)
            for derivation in islice(fresh.of(possible), count):
                derived_count += 1
                yield derivation
            # stated when nothing more is found
            if derived_count < count and not (derived_count and self._run.recipe.spare):
                why = f" {against.most_common(1)[0][0]}" if against else ""
                reason = (
                    f"No other {' or '.join(demand.kind.sources)} sample passed its checks and"
                    f" allows it.{why}"
                )
                self._note_missing(demand, count - derived_count, reason)


def sentence_of(left_out: LeftOut) -> str:
    """Return what is left out, as a sentence."""
    where = ", ".join(filter(None, (left_out.language, left_out.place)))
    counted = "left out"
    if left_out.samples:
        counted = f"{count_of(left_out.samples, 'sample')} can't be planned"
    tool = f", {left_out.tool}" if left_out.tool else ""
    return f"{left_out.kind}{f' ({where})' if where else ''}{tool}: {counted}. {left_out.reason}"


def _all_of(found: Iterable[Iterator[Draft]], opened: ExitStack) -> Iterator[Draft]:
    with opened:
        yield from chain.from_iterable(found)


def _possible_derivations(
    passed: "_Passed",
    demand: Demand,
    tools: Mapping[str, Tool],
    against: Counter[str],
    worlds: "_Worlds",
) -> Iterator[Derivation]:
    """Yield possible derivations of the kind, best first, without keeping the warehouse open.

    Obstacles are counted.
    """
    kind, language = demand.kind, demand.language
    if kind.transform is None:
        return
    obstacle_finder, recipe = (
        obstacle_to(kind.transform, lambda: worlds.environments),
        passed.run.recipe,
    )
    ruled = None
    if kind.traits.is_ruled:
        ruled = {tool for policy in recipe.policies for tool in policy.tools}
    seen = _obstacles_seen(passed.run.build)

    def obstacle(sample: Sample, known: Mapping[str, Tool]) -> str:
        at = (kind.name, sample.key)
        reason = seen[at] if at in seen else found_out(sample, known)
        if len(seen) < _MOST_SEEN:
            seen[at] = reason
        against.update([reason] if reason else [])
        return reason

    def found_out(sample: Sample, known: Mapping[str, Tool]) -> str:
        try:
            reason = obstacle_finder(sample, known)
            if ruled is not None and ruled.isdisjoint(call.tool for call in sample.all_calls):
                reason = "No policy of the recipe is about what it calls."
        except Exception as error:  # noqa: BLE001 - a bug costs one source
            reason = told_of(error)
        return reason

    whole = kinds_with(
        lambda traits: traits.is_whole and not traits.is_changed and traits.calls == "one"
    )
    others = passed.of(whole, language) if kind.borrows else ()
    sources = passed.of(kind.sources, language)
    keys = sources.keys()
    yield from plan_derivations(
        kind, sources, tools, seed=recipe.seed, obstacle=obstacle, others=others, keys=keys
    )


# 20 MB; a build of millions finds out what stands against the others in each round
_MOST_SEEN = 100_000


@lru_cache(1)
def _obstacles_seen(_build: str) -> dict[tuple[str, str], str]:
    """Return known obstacles to a kind's source, "" if none; finding them is most of planning.

    They are those of earlier rounds of the build.
    """
    return {}


class _Worlds:
    """The recipe's environments during planning, opened on demand; `planned` counts by demand."""

    def __init__(self, run: GroupRun) -> None:
        self._run, self._open = run, ExitStack()
        self.planned: dict[Demand, int] = {}

    @cached_property
    def environments(self) -> Mapping[str, Environment]:
        """The environments by name."""
        return self._open.enter_context(
            open_environments(self._run.recipe, self._run.settings.ledger.parent)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


class _Passed:
    """The samples that passed every check; only these are derived from.

    They wait in files during planning.
    """

    def __init__(self, run: GroupRun) -> None:
        self.run = run
        self._found: dict[tuple[tuple[str, ...], Language], Spooled[Sample]] = {}
        self._open = ExitStack()

    def of(self, kinds: Iterable[str], language: Language) -> "Spooled[Sample]":
        """Return the passed samples of these kinds in a language, which are read only once."""
        at = (tuple(kinds), language)
        if at not in self._found:
            query_values = [self.run.build, self.run.recipe.landing_grades, [*at[0]], language]
            self._found[at] = samples = self._open.enter_context(
                Spooled(Sample, self.run.settings.home)
            )
            for key, body in self.run.warehouse.stream(
                sql("planner.passed_of_kinds"), query_values
            ):
                samples.add(body, key)
        return self._found[at]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


class _Fresh:
    """Filters records without an outcome at a stage, in batches, as a build may have millions."""

    def __init__(self, run: GroupRun, stage: str, *, is_begun: bool) -> None:
        self._warehouse, self._at, self._is_begun = run.warehouse, [run.build, stage], is_begun

    def of(self, planned: Iterable[Planned]) -> Iterator[Planned]:
        """Yield those plans that are not begun."""
        if not self._is_begun:
            yield from planned
            return
        for some in batches(planned, _AT_ONCE):
            keys = [one.key for one in some]
            done = {row["subject"] for row in self._warehouse.rows(_DONE, [*self._at, keys])}
            yield from (one for one in some if one.key not in done)


_BEGUN = "select distinct stage from outcomes where build = ?"
_FORGET = "delete from left_out where build = ? and kind = ? and language = ? and place = ?"
_DONE = (
    "select subject from outcomes where build = ? and stage = ? and subject in (select"
    " unnest(?::varchar[]))"
)
_AT_ONCE = 1000
_FEW_PLACES = 2  # with a reason each


def planned_by_kind(run: GroupRun) -> Counter[str]:
    """Return how many samples of each kind were planned so far; a goal counts all its variants."""
    counts = Counter[str]()
    for (kind, _, _), count in _count_planned(run).items():
        counts[kind] += count
    return counts


def _count_planned(run: GroupRun) -> Counter[tuple[str, str, str]]:
    counts = Counter[tuple[str, str, str]]()
    types = list(dict.fromkeys(family.drafts.__name__ for family in FAMILIES.rows()))
    kinds_at = {
        family.drafts.__name__: family.kind_at
        for family in reversed(FAMILIES.rows())
        if family.kind_at
    }
    for row in run.warehouse.rows(sql("planner.planned"), [types, run.build]):
        kind = name_of(row["source"], row["transform"]) if row["transform"] else row["kind"]
        if not kind and row["type"] in kinds_at:
            kind = kinds_at[row["type"]](row["place"])
        counts[
            kind or "", row["language"], row["place"] if traits_of(kind or "").spread else ""
        ] += row["planned"]
    return counts


def _count_passed(run: GroupRun) -> Counter[tuple[str, str, str]]:
    counts = Counter[tuple[str, str, str]]()
    for row in run.warehouse.rows(
        sql("planner.passed_by_place"), [run.build, run.recipe.landing_grades]
    ):
        spread = traits_of(row["kind"]).spread
        counts[row["kind"], row["language"], row[spread] if spread else ""] += row["passed"]
    return counts


Held = TypeVar("Held", bound=Record)


def keep_left_out(warehouse: Warehouse, build: str, planner: Planner) -> None:
    """Write down what a planner left out, replacing earlier entries of the same demands."""
    rows: dict[LeftOut, Row] = {}
    # of several reasons for one place the last, which counts the samples
    for one in planner.left_out:
        at = one._replace(reason="", samples=0)
        rows[at] = {"build": build, **one._asdict()}
    with warehouse.together():
        for demand in planner.drawn:
            warehouse.execute(_FORGET, [build, demand.kind.name, demand.language, demand.place])
        warehouse.put_rows({"left_out": [*rows.values()]})


def read_left_out(warehouse: Warehouse, build: str) -> tuple[LeftOut, ...]:
    """Return what could not be planned in a build, whole kinds first."""
    wanted = (
        "select * exclude (build) from left_out where build = ? order by tool <> '', kind,"
        " language, place, tool"
    )
    return tuple(LeftOut(**row) for row in warehouse.rows(wanted, [build]))


def told_of_left_out(found: Iterable[LeftOut]) -> Iterator[str]:
    """Yield sentences on what is left out: kinds, and tools counted with the main reason."""
    tools: dict[str, dict[str, list[str]]] = {}
    places: dict[tuple[str, Language], list[LeftOut]] = {}
    for left_part in found:
        if left_part.samples or not left_part.tool:
            places.setdefault((left_part.kind, left_part.language), []).append(left_part)
        else:
            tools.setdefault(left_part.kind, {}).setdefault(left_part.reason, []).append(
                left_part.tool
            )
    for some in places.values():
        if len(some) <= _FEW_PLACES:
            yield from map(sentence_of, some)
        else:
            named = ", ".join(one.place for one in some)
            whole = some[0]._replace(
                samples=sum(one.samples for one in some), place=f"{len(some)} places: {named}"
            )
            yield sentence_of(whole)
    for kind, reasons in tools.items():
        reason, names = max(reasons.items(), key=lambda pair: len(pair[1]))
        count = len({name for some in reasons.values() for name in some})
        others = "" if len(reasons) == 1 else f", {names[0]} and others"
        yield f"{kind}: {names[0] if count == 1 else f'{count} tools{others}'} left out. {reason}"


class Spooled(Sequence[Held], Generic[Held]):
    """Records of one class by position; only their file offsets and keys are in memory.

    The file has no name: it is gone when it is closed, and when the process is killed.
    """

    def __init__(self, kind: type[Held], folder: Path) -> None:
        """Start empty; the file takes its space in the folder."""
        self._kind = kind
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed when this is
        self._offsets = array("q", [0])
        self._keys = bytearray()

    def add(self, body: str, key: str = "") -> None:
        """Add a record, given as its JSON text; pass the `key` for all records or for none."""
        self._keys += bytes.fromhex(key)
        self._offsets.append(self._file.seek(self._offsets[-1]) + self._file.write(body.encode()))

    def keys(self) -> Iterator[str]:
        """Return the keys of all records in order, without reading the records."""
        return (
            self._keys[at : at + KEY_BYTES].hex() for at in range(0, len(self._keys), KEY_BYTES)
        )

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, position: int) -> Held: ...

    @overload
    def __getitem__(self, position: slice) -> list[Held]: ...

    def __getitem__(self, position: int | slice) -> Held | list[Held]:
        if isinstance(position, slice):
            return [self[at] for at in range(len(self))[position]]
        begin, end = (self._offsets[range(len(self))[position] + more] for more in (0, 1))
        self._file.seek(begin)
        body = self._file.read(end - begin)
        if not self._keys:
            return self._kind.model_validate_json(body)
        at = range(len(self))[position] * KEY_BYTES
        return self._kind.kept(self._keys[at : at + KEY_BYTES].hex(), body)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
