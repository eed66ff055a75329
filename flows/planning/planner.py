"""What a build still lacks of each kind, and the assignments and derivations that would make up for it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import chain, islice
from math import ceil
from typing import NamedTuple, TypeVar, cast

from flows.planning.conversations import complexity_shares, plan_complexity, validate_scenarios_can_be_planned
from flows.planning.derivations import PASSED, possible_derivations
from flows.planning.paths import domains_for, kind_of_domain, plan_domain
from flows.planning.routing import plan_questions, routing_shares
from flows.planning.spooled import Spooled
from flows.recipe import Recipe
from flows.runner import GroupRun
from flows.stages import stages_of
from generators.kinds import CONVERSATION, CONVERSATIONAL, PATHS, ROUTING, Kind, kind_named, name_of, waves_of
from generators.single_turn.planning import plan_assignments
from generators.stages import Stage
from warehouse.records import (
    Assignment,
    Derivation,
    Draft,
    Goal,
    Language,
    RoutingPlan,
    Scenario,
    SingleTurnKind,
    Tool,
)
from warehouse.rows import Row, body_of

Planned = TypeVar("Planned", bound=Draft)


class Demand(NamedTuple):
    """How many samples of a kind in a language are asked for, were planned, and passed all checks until now.

    `domain` is that of multi-step samples and of questions over a whole catalog, of conversations the complexity, "" for others.
    """

    kind: Kind
    language: Language
    asked: int
    planned: int = 0
    passed: int = 0
    domain: str = ""

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
    """Every kind's count, shared out evenly over the languages, and over the domains where it has some."""
    for name, count in recipe.samples.items():
        kind = kind_named(name)
        if kind.group == ROUTING:
            for (language, domain), share in routing_shares(name, count, recipe.languages, tools).items():
                yield Demand(kind, language, share, domain=domain)
            continue
        if name == CONVERSATION:
            for language, complexity, share in complexity_shares(count, recipe.languages):
                yield Demand(kind, language, share, domain=complexity)
            continue
        domains = domains_for(name, tools) if kind.group == PATHS else [""]
        places = [(language, domain) for language in recipe.languages for domain in domains]
        for (language, domain), share in zip(places, _shared_out(count, len(places)), strict=True):
            yield Demand(kind, language, share, domain=domain)


def _shared_out(count: int, among: int) -> list[int]:
    share, rest = divmod(count, max(1, among))
    return [share + (position < rest) for position in range(among)]


def validate_it_can_be_planned(recipe: Recipe, tools: Sequence[Tool]) -> None:
    """Raise ConfigurationError where the tools can't give what is asked for, before anything is written down."""
    waves_of(name for name, count in recipe.samples.items() if count)
    validate_scenarios_can_be_planned(recipe.samples.get(CONVERSATION, 0), recipe.languages, tools, seed=recipe.seed)
    for demand in shares(recipe, tools):
        if demand.kind.group == "single_turn":
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
                planned=planned.get((demand.kind.name, demand.language, demand.domain), 0),
                passed=passed.get((demand.kind.name, demand.language, demand.domain), 0),
            )
            for demand in shares(run.recipe, run.tools)
            if demand.kind.name in wanted
        ]

    async def drafts(self, group: str, first: Stage) -> Iterable[Draft]:
        """What is to be given to the first stage of a group next."""
        match first.reads:
            case "Assignment":
                return self.assignments()
            case "Goal":
                return await self.goals()
            case "RoutingPlan":
                return self.questions()
            case "Scenario":
                return self.scenarios()
            case _:
                return self.derivations(group, first.name)

    def assignments(self) -> Iterator[Assignment]:
        """The assignments without an outcome yet."""
        stage = stages_of("single_turn")[0].name
        for demand in self.demands:
            if demand.kind.group == "single_turn":
                until = demand.plan_until(self._run.recipe.spare)
                planned = _assignments(self._run.recipe, demand, until, self._run.tools)
                # No more than are lacking, also where the plan is another one than the build's was.
                yield from islice(_fresh(self._run, stage, planned), max(0, until - demand.planned))

    async def goals(self) -> Iterator[Goal]:
        """The goals without an outcome yet, each good for several samples (ComplexFuncBench 2.1.3)."""
        stage = stages_of(PATHS)[0].name
        found: list[Iterator[Goal]] = []
        with ExitStack() as opened:
            for demand in self.demands:
                if demand.kind.group == PATHS:
                    until = demand.plan_until(self._run.recipe.spare)
                    planned = opened.enter_context(Spooled(Goal, self._run.settings.home))
                    async for goal in plan_domain(self._run, demand.domain, demand.language, until):
                        planned.add(body_of(goal))
                    lacking = ceil(max(0, until - demand.planned) / self._run.recipe.variants)
                    found.append(islice(_fresh(self._run, stage, planned), lacking))
            return _all_of(found, opened.pop_all())

    def questions(self) -> Iterator[RoutingPlan]:
        """The plans over whole catalogs without an outcome yet."""
        recipe, stage = self._run.recipe, stages_of(ROUTING)[0].name
        for demand in self.demands:
            if demand.kind.group == ROUTING:
                until = demand.plan_until(recipe.spare)
                of = demand.kind.name, demand.language, demand.domain
                planned = plan_questions(*of, until, self._run.tools, seed=recipe.seed)
                yield from islice(_fresh(self._run, stage, planned), max(0, until - demand.planned))

    def scenarios(self) -> Iterator[Scenario]:
        """The scenarios of conversations without an outcome yet; what did not pass is replaced by one of its complexity."""
        stage = stages_of(CONVERSATIONAL)[0].name
        for demand in self.demands:
            if demand.kind.name == CONVERSATION:
                until = demand.plan_until(self._run.recipe.spare)
                planned = plan_complexity(self._run, demand.domain, demand.language, until)
                yield from islice(_fresh(self._run, stage, planned), max(0, until - demand.planned))

    def derivations(self, group: str, first_stage: str) -> Iterator[Derivation]:
        """The derivations of a group that are to be made next, of samples that passed every check."""
        for demand in self.demands:
            count = demand.plan_until(self._run.recipe.spare) - demand.planned
            if demand.kind.group != group or not demand.kind.sources or count <= 0:
                continue
            made = 0
            with closing(possible_derivations(self._run, demand.kind, demand.language, self._tools)) as possible:
                for derivation in islice(_fresh(self._run, first_stage, possible), count):
                    made += 1
                    yield derivation
            if made < count and not (made and self._run.recipe.spare):  # told when nothing more is found
                self._run.progress.say(
                    f"{demand.kind.name} ({demand.language}): {demand.planned + made} of {demand.planned + count} can be "
                    f"made; no other sample of the kinds {', '.join(demand.kind.sources)} passed its checks and allows it."
                )


def _all_of(found: Iterable[Iterator[Goal]], opened: ExitStack) -> Iterator[Goal]:
    with opened:
        yield from chain.from_iterable(found)


def _assignments(recipe: Recipe, demand: Demand, count: int, tools: Sequence[Tool]) -> Iterator[Assignment]:
    kind = cast("SingleTurnKind", demand.kind.name)  # the table of kinds has no others without a transform
    return plan_assignments(
        kind, demand.language, count, tools, seed=recipe.seed, candidates=recipe.candidates_per_sample
    )


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


# The planner's own marks are the outcomes of what it planned, at whatever stage.
_PLANNED = """
    select d.type, d.body ->> 'kind' as kind, d.body ->> 'transform' as transform, s.kind as source,
        coalesce(s.language, d.body ->> 'language') as language,
        coalesce(d.body ->> 'domain', d.body ->> 'complexity', '') as domain,
        sum(coalesce((d.body ->> 'variants')::int, 1))::int as planned
    from drafts d left join samples s on s.key = d.body ->> 'source'
    where d.type in ('Assignment', 'Derivation', 'Goal', 'RoutingPlan', 'Scenario')
        and exists (select 1 from outcomes f where f.build = ? and f.subject = d.key)
    group by all
"""

_DOMAIN = (
    f"case kind when '{CONVERSATION}' then regexp_extract(body::varchar, 'complexity=([a-z_]+)', 1) else category end"
)


def count_planned(run: GroupRun) -> int:
    """How many samples were planned in the build until now; a goal counts for all its variants."""
    return sum(_count_planned(run).values())


def _count_planned(run: GroupRun) -> dict[tuple[str, str, str], int]:
    counts: dict[tuple[str, str, str], int] = {}
    for row in run.warehouse.rows(_PLANNED, [run.build]):
        at = _kind_of_draft(row), row["language"], row["domain"]
        counts[at] = counts.get(at, 0) + row["planned"]
    return counts


def _kind_of_draft(row: Row) -> str:
    match row["type"]:
        case "Assignment" | "RoutingPlan":
            return str(row["kind"])
        case "Scenario":
            return CONVERSATION
        case "Goal":
            return kind_of_domain(row["domain"])
        case _:
            return name_of(row["source"], row["transform"])


def _count_passed(run: GroupRun) -> dict[tuple[str, str, str], int]:
    rows = run.warehouse.rows(
        f"select kind, language, {_DOMAIN} as domain, count(*) as passed from samples where key in ({PASSED}) group by all",  # noqa: S608
        [run.build],
    )
    counts: dict[tuple[str, str, str], int] = {}
    for row in rows:
        is_shared_out = kind_named(row["kind"]).group in {PATHS, ROUTING, CONVERSATIONAL}
        at = row["kind"], row["language"], row["domain"] if is_shared_out else ""
        counts[at] = counts.get(at, 0) + row["passed"]
    return counts
