"""What a build still lacks of each kind, and the assignments and derivations that would make up for it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import ceil
from typing import NamedTuple, cast

from flows.groups import GroupRun
from flows.recipe import Recipe
from generators.assignments import plan_assignments
from generators.derivations import plan_derivations
from generators.kinds import Kind, kind_named, name_of, waves_of
from generators.obstacles import obstacle_for
from warehouse.records import Assignment, Derivation, Language, Sample, SingleTurnKind, Tool


class Demand(NamedTuple):
    """How many samples of a kind in a language are asked for, were planned, and passed all checks until now."""

    kind: Kind
    language: Language
    asked: int
    planned: int = 0
    passed: int = 0

    def plan_until(self, spare: float) -> int:
        """How many are to be planned in all; the share `spare` of those asked for may replace what did not pass."""
        if self.planned < self.asked:
            return self.asked
        most = self.asked + ceil(self.asked * spare)
        return max(self.planned, min(most, self.planned + self.asked - self.passed))


def waves(recipe: Recipe) -> list[list[str]]:
    """The names of the kinds that are made together, wave by wave."""
    return [[kind.name for kind in wave] for wave in waves_of(recipe.samples)]


def shares(recipe: Recipe) -> Iterator[Demand]:
    """Every kind's count, shared out evenly over the languages."""
    for name, count in recipe.samples.items():
        share, rest = divmod(count, len(recipe.languages))
        for position, language in enumerate(recipe.languages):
            yield Demand(kind_named(name), language, share + (position < rest))


def see_that_it_can_be_planned(recipe: Recipe, tools: Sequence[Tool]) -> None:
    """Raise ConfigurationError where the tools can't give what is asked for, before anything is written down."""
    waves_of(name for name, count in recipe.samples.items() if count)
    for demand in shares(recipe):
        if demand.kind.transform is None:
            next(_assignments(recipe, demand, demand.asked, tools), None)


class Planner:
    """Plans some kinds of a build: what is kept of it until now, and what is to be made next."""

    def __init__(self, run: GroupRun, kinds: Iterable[str]) -> None:
        """Look up what the build has of these kinds."""
        self._run = run
        self._tools: Mapping[str, Tool] = {tool.key: tool for tool in run.tools}
        planned, passed = _count_planned(run), _count_passed(run)
        wanted = set(kinds)
        self.demands = [
            demand._replace(
                planned=planned.get((demand.kind.name, demand.language), 0),
                passed=passed.get((demand.kind.name, demand.language), 0),
            )
            for demand in shares(run.recipe)
            if demand.kind.name in wanted
        ]

    def assignments(self) -> Iterator[Assignment]:
        """The assignments without a fate yet."""
        done = _done(self._run, "parameters")
        for demand in self.demands:
            if demand.kind.transform is None:
                until = demand.plan_until(self._run.recipe.spare)
                planned = _assignments(self._run.recipe, demand, until, self._run.tools)
                yield from (one for one in planned if one.key not in done)

    def derivations(self, group: str, first_stage: str) -> Iterator[Derivation]:
        """The derivations of a group that are to be made next, of samples that passed every check."""
        done = _done(self._run, first_stage)
        for demand in self.demands:
            count = demand.plan_until(self._run.recipe.spare) - demand.planned
            if demand.kind.group != group or not demand.kind.sources or count <= 0:
                continue
            found = list(islice((one for one in self._possible(demand) if one.key not in done), count))
            if len(found) < count and not (found and self._run.recipe.spare):  # told when nothing more is found
                self._run.news.say(
                    f"{demand.kind.name} ({demand.language}): {demand.planned + len(found)} of {demand.planned + count} can be "
                    f"made; no other sample of the kinds {', '.join(demand.kind.sources)} passed its checks and allows it."
                )
            yield from found

    def _possible(self, demand: Demand) -> Iterator[Derivation]:
        sources = _passed_samples(self._run, demand.kind.sources, demand.language)
        others = _passed_samples(self._run, ("perfect",), demand.language) if demand.kind.transform == "IS" else []
        return plan_derivations(
            demand.kind,
            sources,
            self._tools,
            seed=self._run.recipe.seed,
            obstacle=obstacle_for(demand.kind),
            others=others,
        )


def _assignments(recipe: Recipe, demand: Demand, count: int, tools: Sequence[Tool]) -> Iterator[Assignment]:
    kind = cast("SingleTurnKind", demand.kind.name)  # the table of kinds has no others without a transform
    return plan_assignments(
        kind, demand.language, count, tools, seed=recipe.seed, candidates=recipe.candidates_per_sample
    )


def _done(run: GroupRun, stage: str) -> set[str]:
    rows = run.warehouse.rows("select subject from fates where build = ? and stage = ?", [run.build, stage])
    return {row["subject"] for row in rows}


# The planner's own marks are the fates of what it planned, at whatever stage.
_PLANNED = """
    select d.type, d.body ->> 'kind' as kind, d.body ->> 'transform' as transform, s.kind as source,
        coalesce(s.language, d.body ->> 'language') as language, count(*) as planned
    from drafts d left join samples s on s.key = d.body ->> 'source'
    where d.type in ('Assignment', 'Derivation')
        and exists (select 1 from fates f where f.build = ? and f.subject = d.key)
    group by all
"""

_PASSED = """
    with mine as (
        select distinct b.sample from build_samples b
        where b.build = ? and exists (select 1 from fates f
            where f.build = b.build and f.subject = b.sample and f.stage = 'duplicates' and f.outcome = 'passed')
    ), newest as (
        select v.subject, v.check_name, arg_max(v.decision, v.made_at) as decision
        from verdicts v join mine m on m.sample = v.subject group by all
    )
    select subject from newest group by subject having bool_and(decision = 'proved')
"""


def _count_planned(run: GroupRun) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for row in run.warehouse.rows(_PLANNED, [run.build]):
        kind = row["kind"] if row["type"] == "Assignment" else name_of(row["source"], row["transform"])
        counts[kind, row["language"]] = counts.get((kind, row["language"]), 0) + row["planned"]
    return counts


def _count_passed(run: GroupRun) -> dict[tuple[str, str], int]:
    rows = run.warehouse.rows(
        f"select kind, language, count(*) as passed from samples where key in ({_PASSED}) group by all",  # noqa: S608
        [run.build],
    )
    return {(row["kind"], row["language"]): row["passed"] for row in rows}


def _passed_samples(run: GroupRun, kinds: Sequence[str], language: Language) -> list[Sample]:
    """The samples of these kinds that passed every check: what is built upon is proved."""
    rows = run.warehouse.stream(
        f"select body from samples where key in ({_PASSED}) and list_contains(?, kind) and language = ? order by key",  # noqa: S608
        [run.build, list(kinds), language],
    )
    return [Sample.model_validate_json(body) for (body,) in rows]
