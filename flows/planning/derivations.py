"""Planning what is made of samples that passed every check: dialogues, shifts, external information (HammerBench 4.2)."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext

from flows.planning.spooled import Spooled
from flows.runner import GroupRun
from generators.derivations import obstacle_for, plan_derivations
from generators.kinds import Kind
from warehouse.records import Derivation, Language, Sample, Tool

# The samples of a build that passed every check.
PASSED = """
    with mine as (
        select distinct b.sample from build_samples b
        where b.build = ? and exists (select 1 from outcomes f
            where f.build = b.build and f.subject = b.sample and f.stage = 'duplicates' and f.outcome = 'passed')
    ), newest as (
        select v.subject, v.check_name, arg_max(v.decision, v.made_at) as decision
        from verdicts v join mine m on m.sample = v.subject group by all
    )
    select subject from newest group by subject having bool_and(decision = 'proved')
"""


def possible_derivations(
    run: GroupRun, kind: Kind, language: Language, tools: Mapping[str, Tool]
) -> Generator[Derivation, None, None]:
    """What could be made of the kind, best first; nothing holds the warehouse open meanwhile."""
    lends = kind.transform == "IS"
    with (
        _passed_samples(run, kind.sources, language) as sources,
        _passed_samples(run, ("perfect",), language) if lends else nullcontext(()) as others,
    ):
        obstacle, seed = obstacle_for(kind), run.recipe.seed
        yield from plan_derivations(kind, sources, tools, seed=seed, obstacle=obstacle, others=others)


@contextmanager
def _passed_samples(run: GroupRun, kinds: Sequence[str], language: Language) -> Iterator[Sequence[Sample]]:
    """The samples of these kinds that passed every check: what is built upon is proved. They wait in a file."""
    rows = run.warehouse.stream(
        f"select body from samples where key in ({PASSED}) and list_contains(?, kind) and language = ? order by key",  # noqa: S608
        [run.build, list(kinds), language],
    )
    with Spooled(Sample, run.settings.home) as samples:
        for (body,) in rows:
            samples.add(body)
        yield samples
