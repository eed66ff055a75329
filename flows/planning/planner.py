"""What a build still lacks of each kind, and the drafts that would make up for it: each family plans its own."""

import tempfile
from array import array
from collections import defaultdict
from collections.abc import AsyncIterator, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from itertools import chain, islice
from math import ceil
from pathlib import Path
from typing import Generic, NamedTuple, Self, TypeVar, overload

from callwright.flows.environments import open_environments
from callwright.flows.recipe import Recipe
from callwright.flows.runner import GroupRun
from callwright.generators.derivations import plan_derivations
from callwright.generators.families import Family, Kind, Order
from callwright.generators.kinds import (
    FAMILIES,
    family_of,
    kind_named,
    kinds_with,
    name_of,
    obstacle_to,
    traits_of,
    waves_of,
)
from callwright.generators.own_values import OwnValues
from callwright.generators.stages import Stage
from callwright.language.packs import has_folder, known, of
from callwright.llm.models import reads_language
from callwright.warehouse.errors import CallwrightError, ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Derivation, Draft, Language, Record, Sample, Tool
from callwright.warehouse.rows import Row, body_of

Planned = TypeVar("Planned", bound=Draft)


class Demand(NamedTuple):
    """How many samples of a kind in a language are asked for, were planned, and passed all checks until now.

    `place` is the domain of kinds that are spread over domains, the complexity of conversations, "" for others.
    """

    kind: Kind
    language: Language
    asked: int
    planned: int = 0
    passed: int = 0
    place: str = ""

    def plan_until(self, spare: float) -> int:
        """How many are to be planned in all; the share `spare` of those asked for may replace what did not pass."""
        if self.planned < self.asked:
            return self.asked
        most = self.asked + ceil(self.asked * spare)
        return max(self.planned, min(most, self.planned + self.asked - self.passed))


def waves(recipe: Recipe) -> list[list[str]]:
    """The names of the kinds that are made together, wave by wave."""
    return [[kind.name for kind in wave] for wave in waves_of(recipe.samples)]


def shares(recipe: Recipe, tools: Sequence[Tool]) -> Iterator[Demand]:
    """Every kind's count, shared out over the languages, and over the places where its family has some."""
    for name, count in recipe.samples.items():
        kind = kind_named(name)
        for share in family_of(name).shares(kind, count, recipe.languages, tools):
            yield Demand(kind, share.language, share.samples, place=share.place)


def validate_it_can_be_planned(recipe: Recipe, tools: Sequence[Tool]) -> None:
    """Raise ConfigurationError where the tools can give nothing of a kind in a language, before anything is written down."""
    waves_of(name for name, count in recipe.samples.items() if count)
    refusals: dict[tuple[str, Language], list[ConfigurationError | None]] = defaultdict(list)
    for demand in shares(recipe, tools):
        family = family_of(demand.kind.name)
        if demand.asked:
            _validate_language(recipe, demand, family, tools)
        if family.validates and family.plan is not None and demand.asked:
            planned = family.plan(_order(recipe, demand, demand.asked, tools))
            if isinstance(planned, Iterator):
                refusals[demand.kind.name, demand.language].append(_refusal(planned))
    for found in refusals.values():
        if found[0] is not None and all(found):
            raise found[0]


def _validate_language(recipe: Recipe, demand: Demand, family: Family, tools: Sequence[Tool]) -> None:
    """Raise ConfigurationError where samples of a kind can't be made in a language, whatever the tools allow."""
    generator, language, kind = recipe.models.generator.name, demand.language, demand.kind.name
    if family.has_fixed_words and not has_folder(language):
        raise ConfigurationError(
            f"Samples of the kind {kind!r} hold turns in words of callwright's own, which it has in {', '.join(known())} and not "
            f"in {language!r} ({of(language).name}). Ask for other kinds in it."
        )
    spoken = sorted({tool.language for tool in tools})
    if language not in spoken and not reads_language(generator):
        raise ConfigurationError(
            f"{generator} can't word requests in {language!r} for tools in {', '.join(spoken) or 'no language'}: it only repeats "
            f"the words of their documents. Name a language model as models.generator, or take {language!r} out of languages."
        )


def _refusal(planned: Iterator[Draft]) -> ConfigurationError | None:
    try:
        next(planned, None)
    except ConfigurationError as error:
        return error
    return None


def _order(recipe: Recipe, demand: Demand, count: int, tools: Sequence[Tool]) -> Order:
    return Order(
        demand.kind, demand.language, demand.place, count, tools, recipe.seed, recipe.candidates_per_sample, recipe.variants,
        OwnValues(recipe.own_values),
    )  # fmt: skip


class Planner:
    """Plans some kinds of a build: what is kept of it until now, and what is to be made next."""

    def __init__(self, run: GroupRun, kinds: Iterable[str]) -> None:
        """Look up what the build has of these kinds."""
        self._run = run
        self._tools: Mapping[str, Tool] = {tool.key: tool for tool in run.tools}
        with run.warehouse.together():
            planned, passed = _count_planned(run), _count_passed(run)
        wanted = set(kinds)
        self.demands = [
            demand._replace(
                planned=planned.get((demand.kind.name, demand.language, demand.place), 0),
                passed=passed.get((demand.kind.name, demand.language, demand.place), 0),
            )
            for demand in shares(run.recipe, run.tools)
            if demand.kind.name in wanted
        ]

    async def drafts(self, group: str, first: Stage) -> Iterable[Draft]:
        """What is to be given to the first stage of a group next."""
        if any(demand.kind.group == group and demand.kind.sources for demand in self.demands):
            return self.derivations(group, first.name)
        demands = [demand for demand in self.demands if demand.kind.group == group]
        with ExitStack() as opened:
            found = [await self._planned(demand, first.name, opened) for demand in demands]
            return _all_of(found, opened.pop_all())

    async def _planned(self, demand: Demand, stage: str, opened: ExitStack) -> Iterator[Draft]:
        """The drafts of a demand that are not begun yet; no more than are lacking, also where the plan was another one."""
        family, recipe = family_of(demand.kind.name), self._run.recipe
        if family.plan is None:
            raise CallwrightError(f"Nothing plans samples of the kind {demand.kind.name!r}.")
        until = demand.plan_until(recipe.spare)
        order = _order(recipe, demand, until, self._run.tools)
        planned = family.plan(order._replace(say=self._run.progress.say))
        if isinstance(planned, AsyncIterator):
            planned = await self._spooled(family, order, opened)
        elif family.validates:
            planned = self._until_refused(planned)
        variants = recipe.variants if family.has_variants else 1
        return islice(_fresh(self._run, stage, planned), ceil(max(0, until - demand.planned) / variants))

    def _until_refused(self, planned: Iterator[Draft]) -> Iterator[Draft]:
        """What can be planned; where the tools allow no more, that is said and the build goes on with what there is."""
        try:
            yield from planned
        except ConfigurationError as error:
            self._run.progress.say(str(error))

    async def _spooled(self, family: Family, order: Order, opened: ExitStack) -> Iterator[Draft]:
        """What is planned with the recipe's environments, which stay open no longer than that."""
        spooled = opened.enter_context(Spooled(family.drafts, self._run.settings.home))
        samples = 0
        with open_environments(self._run.recipe, self._run.settings.ledger.parent) as environments:
            asked = order._replace(environments=environments, say=self._run.progress.say)
            planned = family.plan(asked) if family.plan else iter(())
            if isinstance(planned, AsyncIterator):
                async for draft in planned:
                    spooled.add(body_of(draft))
                    samples += getattr(draft, "variants", 1)
        if environments and samples < order.samples:
            wanted = ceil(order.samples / order.variants)
            self._run.progress.say(
                f"{order.place} ({order.language}): {len(spooled)} of {wanted} goals can be planned; the environment has no more."
            )
        return iter(spooled)

    def derivations(self, group: str, first_stage: str) -> Iterator[Derivation]:
        """The derivations of a group that are to be made next, of samples that passed every check."""
        for demand in self.demands:
            count = demand.plan_until(self._run.recipe.spare) - demand.planned
            if demand.kind.group != group or not demand.kind.sources or count <= 0:
                continue
            made = 0
            with closing(_possible_derivations(self._run, demand.kind, demand.language, self._tools)) as possible:
                for derivation in islice(_fresh(self._run, first_stage, possible), count):
                    made += 1
                    yield derivation
            if made < count and not (made and self._run.recipe.spare):  # stated when nothing more is found
                self._run.progress.say(
                    f"{demand.kind.name} ({demand.language}): {demand.planned + made} of {demand.planned + count} can be "
                    f"made; no other sample of the kinds {', '.join(demand.kind.sources)} passed its checks and allows it."
                )


def _all_of(found: Iterable[Iterator[Draft]], opened: ExitStack) -> Iterator[Draft]:
    with opened:
        yield from chain.from_iterable(found)


def _possible_derivations(
    run: GroupRun, kind: Kind, language: Language, tools: Mapping[str, Tool]
) -> Generator[Derivation, None, None]:
    """What could be made of the kind, best first; nothing holds the warehouse open meanwhile."""
    if kind.transform is None:
        return
    whole = kinds_with(lambda traits: traits.is_whole and not traits.is_changed and traits.calls == "one")
    with (
        _passed_samples(run, kind.sources, language) as sources,
        _passed_samples(run, whole, language) if kind.borrows else nullcontext(()) as others,
    ):
        obstacle, seed = obstacle_to(kind.transform), run.recipe.seed
        yield from plan_derivations(kind, sources, tools, seed=seed, obstacle=obstacle, others=others)


@contextmanager
def _passed_samples(run: GroupRun, kinds: Sequence[str], language: Language) -> Iterator[Sequence[Sample]]:
    """The samples of these kinds that passed every check: what is built upon is proved. They wait in a file."""
    rows = run.warehouse.stream(
        sql("planner.passed_of_kinds"), [run.build, run.recipe.landing_grades, list(kinds), language]
    )
    with Spooled(Sample, run.settings.home) as samples:
        for (body,) in rows:
            samples.add(body)
        yield samples


def _fresh(run: GroupRun, stage: str, planned: Iterable[Planned]) -> Iterator[Planned]:
    """Those that have no outcome at the stage yet, looked up some at a time: a build may have millions."""
    is_begun = bool(
        run.warehouse.rows("select 1 from outcomes where build = ? and stage = ? limit 1", [run.build, stage])
    )
    left = iter(planned)
    while some := list(islice(left, _AT_ONCE)):
        done: set[str] = set()
        if is_begun:
            keys = [one.key for one in some]
            done = {row["subject"] for row in run.warehouse.rows(_DONE, [run.build, stage, keys])}
        yield from (one for one in some if one.key not in done)


_DONE = "select subject from outcomes where build = ? and stage = ? and subject in (select unnest(?::varchar[]))"
_AT_ONCE = 1000


def count_planned(run: GroupRun) -> int:
    """How many samples were planned in the build until now; a goal counts for all its variants."""
    return sum(_count_planned(run).values())


def planned_by_kind(run: GroupRun) -> dict[str, int]:
    """How many samples of each kind were planned in the build until now."""
    counts: dict[str, int] = {}
    for (kind, _, _), count in _count_planned(run).items():
        counts[kind] = counts.get(kind, 0) + count
    return counts


def _count_planned(run: GroupRun) -> dict[tuple[str, str, str], int]:
    counts: dict[tuple[str, str, str], int] = {}
    types = list(dict.fromkeys(family.drafts.__name__ for family in FAMILIES.rows()))
    for row in run.warehouse.rows(sql("planner.planned"), [types, run.build]):
        kind = _kind_of_draft(row)
        at = kind, row["language"], row["place"] if traits_of(kind).spread else ""
        counts[at] = counts.get(at, 0) + row["planned"]
    return counts


def _kind_of_draft(row: Row) -> str:
    if row["transform"]:
        return name_of(row["source"], row["transform"])
    at_place = next(
        (one.kind_at for one in FAMILIES.rows() if one.kind_at and one.drafts.__name__ == row["type"]), None
    )
    return at_place(row["place"]) if at_place else str(row["kind"])


def _count_passed(run: GroupRun) -> dict[tuple[str, str, str], int]:
    counts: dict[tuple[str, str, str], int] = {}
    for row in run.warehouse.rows(sql("planner.passed_by_place"), [run.build, run.recipe.landing_grades]):
        spread = traits_of(row["kind"]).spread
        at = row["kind"], row["language"], row[spread] if spread else ""
        counts[at] = counts.get(at, 0) + row["passed"]
    return counts


Held = TypeVar("Held", bound=Record)


class Spooled(Sequence[Held], Generic[Held]):
    """Records of a kind, by their position; of each, where it is in the file stays in memory, and no more.

    The file has no name: it is gone when it is closed, and when the process is killed.
    """

    def __init__(self, kind: type[Held], folder: Path) -> None:
        """There is none yet; the file takes its room in the folder."""
        self._kind = kind
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed when this is
        self._offsets = array("q", [0])

    def add(self, body: str) -> None:
        """Keep one more record, given as its JSON text."""
        self._offsets.append(self._file.seek(self._offsets[-1]) + self._file.write(body.encode()))

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
        return self._kind.model_validate_json(self._file.read(end - begin))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
