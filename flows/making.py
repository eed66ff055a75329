"""Making and checking the samples of a wave, each checked as soon as it is there."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from flows.landing import Landing, check_duplicates
from flows.planning.planner import Planner
from flows.runner import GroupRun, Workers, run_group
from flows.shards import record_line
from flows.stages import STAGES, stages_of
from generators.kinds import kind_named
from warehouse.outcomes import reject_repeated
from warehouse.records import Record, Sample
from warehouse.rows import body_of

CHECKS = "consistency"


async def make_samples(run: GroupRun, workers: Workers, kinds: Sequence[str]) -> int:
    """Plan what the build lacks of these kinds, make it, and check each sample as soon as it is there; how much was planned.

    What a build that was cut off has made is checked first: what did not pass decides how much is planned.
    """
    await check_samples(run, workers)
    planner = Planner(run, kinds)
    planned = 0

    def counted(records: Iterable[Record]) -> Iterator[bytes]:
        nonlocal planned
        for record in records:
            planned += 1
            yield record_line(type(record).__name__, body_of(record))

    for group in dict.fromkeys(kind_named(name).group for name in kinds):
        first = stages_of(group)[0]
        await run_group(run, group, counted(await planner.drafts(group, first)), workers, then=CHECKS)
    if planned:
        _reject_twins(run)
    return planned


def _reject_twins(run: GroupRun) -> None:
    """A sample is its content: where two drafts were worded alike, the second made nothing new, and its outcome says so."""
    makers = [stage.name for stage in STAGES if stage.yields == "Sample"]
    reject_repeated(run.warehouse, run.build, makers, "sample")


async def check_samples(run: GroupRun, workers: Workers, edited: Sequence[Sample] = ()) -> None:
    """Carry this build's samples that no check has seen yet, and `edited` ones, through the checks; then look for twins."""
    unseen = run.warehouse.stream(
        """
        select s.body from build_samples b join samples s on s.key = b.sample
        where b.build = ?
            and not exists (select 1 from outcomes g where g.build = b.build and g.stage = 'format' and g.subject = s.key)
        order by s.key
        """,
        [run.build],
    )
    bodies = chain((body for (body,) in unseen), map(body_of, edited))
    await run_group(run, CHECKS, (record_line("Sample", body) for body in bodies), workers)
    check_duplicates(Landing(run.build, run.recipe, run.warehouse))
