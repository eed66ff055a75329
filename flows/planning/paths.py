"""Planning multi-step samples: the domains of a recipe's environments, and goals for each (ComplexFuncBench 2.1)."""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from math import ceil
from typing import NamedTuple

from flows.environments import open_environments
from flows.runner import GroupRun
from generators.environments.protocol import Environment
from generators.kinds import MULTI_STEP, MULTI_STEP_CROSS
from generators.multi_step.goals import CROSS, PAPER, Shape, plan_goals
from warehouse.errors import ConfigurationError
from warehouse.records import Goal, Language, Tool

_SOURCE = "environment:"
_PAPER = {**PAPER, "Total": Shape(3.26, 5.07)}
_SHARED = "Shared"  # tools that stand beside those of every domain
_OWN_DOMAIN = 4  # a domain with fewer tools has a part in others' goals only, as the paper's taxis have


class PathRow(NamedTuple):
    """How long the landed paths of a domain are in the mean, beside the paper's (ComplexFuncBench, Table 3)."""

    domain: str
    samples: int
    steps: float
    calls: float
    paper_steps: float | None
    paper_calls: float | None


def domains_for(kind: str, tools: Sequence[Tool]) -> list[str]:
    """The domains that a kind of multi-step samples is shared out over. Raises ConfigurationError where there is none."""
    counts = Counter(tool.category for tool in tools if tool.source.startswith(_SOURCE))
    domains = [domain for domain, count in counts.items() if count >= _OWN_DOMAIN and domain != _SHARED]
    if len(counts) < 2 if kind == MULTI_STEP_CROSS else not domains:  # noqa: PLR2004 - across domains takes two, small or not
        raise ConfigurationError(
            f"Samples of the kind {kind!r} need an environment that answers calls, with tools of "
            f"{'several domains' if kind == MULTI_STEP_CROSS else 'a domain'}; the recipe's tools have none. "
            "Add `- environment: travel` to its tools."
        )
    return [CROSS] if kind == MULTI_STEP_CROSS else domains


def kind_of_domain(domain: str) -> str:
    """The kind of the samples of a domain."""
    return MULTI_STEP_CROSS if domain == CROSS else MULTI_STEP


async def plan_domain(run: GroupRun, domain: str, language: Language, samples: int) -> AsyncIterator[Goal]:
    """The goals of a domain that make `samples` samples; the last one makes fewer where they don't share out evenly."""
    variants, planned = run.recipe.variants, 0
    with open_environments(run.recipe, run.settings.home) as environments:
        environment = next((one for one in environments.values() if _has(one, domain)), None)
        if environment is None or not samples:
            return
        count = ceil(samples / variants)
        async for goal in plan_goals(domain, language, count, environment, seed=run.recipe.seed, variants=variants):
            left = samples - planned * variants
            planned += 1
            yield goal if left >= variants else goal.with_changes(variants=left)
    if planned < count:
        run.progress.say(
            f"{domain} ({language}): {planned} of {count} goals can be planned; the environment has no more."
        )


def _has(environment: Environment, domain: str) -> bool:
    domains = {tool.category for tool in environment.tools}
    return len(domains) > 1 if domain == CROSS else domain in domains


def path_rows(run: GroupRun) -> Iterator[PathRow]:
    """The landed paths of a build, a row a domain, and one for all where there are several."""
    sql = """
        select coalesce(domain, 'Total') as domain, sum(samples)::int as samples,
            sum(steps * samples) / sum(samples) as steps, sum(calls * samples) / sum(samples) as calls
        from path_statistics where build = ? group by grouping sets ((domain), ())
        having count(domain) > 0 order by grouping(domain), domain
    """
    rows = run.warehouse.rows(sql, [run.build])
    for row in rows if len(rows) > 2 else rows[:1]:  # noqa: PLR2004 - one domain is the total
        paper = _PAPER.get(row["domain"])
        yield PathRow(**row, paper_steps=paper and paper.steps, paper_calls=paper and paper.calls)
