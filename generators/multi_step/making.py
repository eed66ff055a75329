"""How multi-step samples are made: goals over a domain, then paths through an environment (ComplexFuncBench 2.1)."""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import product
from math import ceil

from callwright.generators.environments.episodes import is_changeable
from callwright.generators.environments.joined import JoinedEnvironment
from callwright.generators.environments.protocol import Environment
from callwright.generators.families import Family, Kind, Order, Share, Traits, shared_evenly
from callwright.generators.multi_step import CROSS_TASK, GROUP, ONE_DOMAIN, SEVERAL_DOMAINS, TASK
from callwright.generators.multi_step.correction import correct_paths, trace_goals
from callwright.generators.multi_step.disambiguation import disambiguate
from callwright.generators.multi_step.generalisation import generalise
from callwright.generators.multi_step.goals import CROSS, find_obstacle, plan_goals
from callwright.generators.multi_step.tasks import BegunWorld
from callwright.generators.multi_step.wording import word_goals
from callwright.generators.stages import Step, in_a_row
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Goal, Language, Tool

_SOURCE = "environment:"
_SHARED = "Shared"  # tools that stand beside those of every domain
_UNCHANGEABLE = "calls change none of its environments, so no task can be planned; simulate a document."
_OWN_DOMAIN = 4  # a domain with fewer tools has a part in others' goals only, as the paper's taxis have


def share_over_domains(kind: Kind, count: int, languages: Sequence[Language], tools: Sequence[Tool]) -> Iterator[Share]:
    """A kind's count shared out over the languages and the domains that an environment answers for.

    Raises ConfigurationError where there is none.
    """
    answered = [tool for tool in tools if tool.source.startswith(_SOURCE)]
    own = {tool.language for tool in answered} & {*languages}  # what has tools of its own needs no others translated
    of_domain = {(tool.category, tool.language) for tool in answered}
    places = [
        (language, domain)
        for language, domain in product(languages, domains_for(kind, tools))
        if domain == CROSS or language not in own or (domain, language) in of_domain
    ]
    for (language, domain), share in zip(places, shared_evenly(count, len(places)), strict=True):
        yield Share(language, share, domain)


def domains_for(kind: Kind, tools: Sequence[Tool]) -> list[str]:
    """The domains that a kind is shared out over. Raises ConfigurationError where there is none."""
    counts = Counter(tool.category for tool in tools if tool.source.startswith(_SOURCE))
    domains = [domain for domain, count in counts.items() if count >= _OWN_DOMAIN and domain != _SHARED]
    crosses, about = kind.traits.is_cross_domain, f"Samples of the kind {kind.name!r} need"
    if not counts:
        raise ConfigurationError(
            f"{about} an environment that answers calls, with tools of {'several domains' if crosses else 'a domain'}; the"
            " recipe's tools have none. Add `- environment: travel` to its tools, or simulate a document of yours: "
            "`- {environment: simulated, import: openapi, path: api.yaml}`."
        )
    there = ", ".join(f"{domain!r} ({count})" for domain, count in counts.items())
    if crosses and len(counts) < 2:  # noqa: PLR2004 - across domains takes two, small or not
        raise ConfigurationError(
            f"{about} tools of several domains; those whose calls are answered are all of {there}. "
            f"Ask for {ONE_DOMAIN!r}, or sort the tools by `categories`."
        )
    if not crosses and not domains:
        raise ConfigurationError(
            f"{about} a domain with {_OWN_DOMAIN} tools or more whose calls are answered; there are {there}."
            f" Put tools that go together into one category by `categories`, or ask for {SEVERAL_DOMAINS!r}."
        )
    return [CROSS] if crosses else domains


def kind_of_domain(domain: str) -> str:
    """The kind of the samples of a domain."""
    return SEVERAL_DOMAINS if domain == CROSS else ONE_DOMAIN


async def _plan(order: Order) -> AsyncIterator[Goal]:
    """Goals that make `count` samples; the last one makes fewer where they don't share out evenly."""
    fitting: list[Environment] = []
    for one in order.environments.values():
        domains = {tool.category for tool in one.tools}
        fitting += [one] if (len(domains) > 1 if order.place == CROSS else order.place in domains) else []
    is_task = order.kind.traits.is_task
    if is_task:
        fitting = [one for one in fitting if is_changeable(one)]
        if order.kind.traits.is_cross_domain:
            fitting.sort(key=lambda one: not isinstance(one, JoinedEnvironment))
        fitting = [BegunWorld(one) for one in fitting]
    speaking = [one for one in fitting if any(tool.language == order.language for tool in one.tools)]
    environment = next(iter(speaking or fitting), None)
    if environment is None and order.samples and is_task:
        order.misses(f"{order.place} ({order.language}): {_UNCHANGEABLE}", samples=order.samples)
    if environment is None or not order.samples:
        return
    variants, planned = order.variants, 0
    count = ceil(order.samples / variants)
    async for goal in plan_goals(order.place, order.language, count, environment, seed=order.seed, variants=variants):
        left = order.samples - planned * variants
        planned += 1
        yield goal if left >= variants else goal.with_changes(variants=left)
    if not planned:
        order.misses(find_obstacle(order.place, order.language, environment), samples=order.samples)


_PATH = Traits("ComplexFuncBench", calls="set", asked="path", is_executed=True, spread="category")
_CROSS = _PATH._replace(is_cross_domain=True)
_TASK = _PATH._replace(paper="", is_task=True)
_CROSS_TASK = _TASK._replace(is_cross_domain=True)

FAMILY = Family(
    "multi_step",
    (
        Kind(ONE_DOMAIN, "several steps in one domain, each call answered", GROUP, _PATH, paper=600),
        Kind(SEVERAL_DOMAINS, "several steps in several domains, each call answered", GROUP, _CROSS, paper=400),
        Kind(TASK, "several steps in one domain that change its world, judged by how that ends", GROUP, _TASK),
        Kind(CROSS_TASK, "the same in several worlds or domains, at least two of which are changed", GROUP, _CROSS_TASK),
    ),
    stages=in_a_row(
        "multi_step", "Goal",
        Step("goal_requests", "Word what a user wants as a request that says every value and every condition.",
             "WordedGoal", "ComplexFuncBench 2.1.1, A.3", word_goals, ("word_goal",),
             voiced=("word_goal",)),
        Step("traces", "Let a model call step by step, each call answered by the environment.",
             "TracedGoal", "ComplexFuncBench 2.1.1", trace_goals, ("call_next",)),
        Step("corrections", "Find the shortest path by search, compare, and reword a request that lacks a detail.",
             "GoalPath", "ComplexFuncBench 2.1.2", correct_paths, ("rewrite_goal",)),
        Step("disambiguation", "Remove tools that overlap, and strike entries that leave an argument open.",
             "GoalPath", "ComplexFuncBench 2.1.2", disambiguate),
        Step("generalisation", "Replace what may be replaced, call again, and prove each variant anew.",
             "Sample", "ComplexFuncBench 2.1.3, A.4", generalise),
    ),
    drafts=Goal,
    plan=_plan,
    shares=share_over_domains,
    kind_at=kind_of_domain,
    has_variants=True,
    has_fixed_words=True,
)  # fmt: skip
