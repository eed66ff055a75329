"""Making and checking the samples of a wave, each checked as soon as it is there, and planting what measures who reads."""

from collections.abc import Iterable, Iterator, Sequence

from callwright.flows.landing import Landing, decide_duplicates, has_undecided
from callwright.flows.planning.planner import Planner, keep_left_out
from callwright.flows.recipe import Recipe
from callwright.flows.runner import GroupRun, Workers, run_group
from callwright.flows.shards import record_line
from callwright.flows.stages import LANDING, all_stages, some_of, stages_of, todays_checks
from callwright.generators.kinds import kind_named
from callwright.llm.prompts import own_prompts
from callwright.validators.blind.planting import GROUP as MEASURING
from callwright.validators.blind.planting import MEASURED, planting_version
from callwright.validators.checks.declaring import GROUP as CHECKS
from callwright.validators.checks.table import CHECKS as TABLE
from callwright.warehouse.outcomes import (
    lacking_checks,
    meet_checks,
    reject_repeated,
    remove_outcomes,
    samples_lacking,
    take_back,
)
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Record, Sample
from callwright.warehouse.rows import body_of
from callwright.warehouse.store import Warehouse


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
    with run.warehouse.together():
        keep_left_out(run.warehouse, run.build, planner)
        if planned:
            makers = [stage.name for stage in all_stages() if stage.yields == "Sample"]
            reject_repeated(run.warehouse, run.build, makers, "sample")
    return planned


async def check_samples(run: GroupRun, workers: Workers) -> None:
    """Carry this build's samples through the checks that they lack; then look for duplicates.

    A build that exists may lack a check that is new, or has changed: then what it has goes through that one alone.
    """
    warehouse, build, todays = run.warehouse, run.build, todays_checks(run.recipe.own_prompts)
    landing = Landing(build, run.recipe, warehouse)

    def conclude() -> bool:
        """Take back what checks stopped; whether there is something to look for duplicates among."""
        take_back(warehouse, build, checks, review=LANDING.review, land=LANDING.land)
        return has_undecided(landing)

    with warehouse.together():
        new, checks = meet_checks(warehouse, build, todays), list(todays)
        found = lacking_checks(warehouse, build, checks)
        is_undecided = not found and conclude()
    if new and found:
        samples = sum(one.samples for one in found)
        run.progress.say(
            f"New to this build, or changed: the checks {', '.join(new)}. {samples} samples go through these alone."
        )
    for lacking in found:
        bodies = samples_lacking(warehouse, build, checks, lacking.mask)
        lines = (record_line("Sample", body) for body in bodies)
        await run_group(run, some_of(CHECKS, lacking.checks), lines, workers)
    if found:
        with warehouse.together():
            is_undecided = conclude()
    if is_undecided:
        decide_duplicates(landing)


async def check_edited(run: GroupRun, workers: Workers, edited: Sequence[Sample]) -> None:
    """Carry edited samples through all checks; what one of them stops meets those behind it too, for their verdicts alone.

    So whoever looks at such an edit sees all that speaks for and against it, and so does its row once it lands.
    """
    await run_group(run, CHECKS, _lines(edited), workers)
    names = [stage.name for stage in stages_of(CHECKS)]
    keys = [sample.key for sample in edited]
    behind: list[tuple[str, str, str]] = []
    stopped = _stopped(run, keys)
    for at, name in enumerate(names[:-1]):
        if here := stopped.get(name):
            lines = _lines(sample for sample in edited if sample.key in here)
            await run_group(run, some_of(CHECKS, names[at + 1 :]), lines, workers)
            behind += [(run.build, later, key) for later in names[at + 1 :] for key in here]
            stopped = _stopped(run, keys)
    remove_outcomes(run.warehouse, behind)


def _stopped(run: GroupRun, keys: Sequence[str]) -> dict[str, list[str]]:
    """Which of these samples wait at each stage."""
    return {row["stage"]: row["subjects"] for row in run.warehouse.rows(_STOPPED, [run.build, keys])}


def _lines(samples: Iterable[Sample]) -> Iterator[bytes]:
    return (record_line("Sample", body_of(sample)) for sample in samples)


_STOPPED = """
    select stage, list(subject order by subject) as subjects from outcomes
    where build = ? and outcome = 'waiting' and list_contains(?::varchar[], subject) group by stage
"""


async def measure_readers(run: GroupRun, workers: Workers) -> None:
    """Plant what the recipe wants and the build lacks; what was planted before stays."""
    for check in _measured(run.recipe):
        lines = [record_line("Sample", body) for body in lacking_readings(run.warehouse, run.build, run.recipe, check)]
        await run_group(run, some_of(MEASURING, [MEASURED[check].name]), lines, workers)


def is_measured(warehouse: Warehouse, build: str, recipe: Recipe) -> bool:
    """Whether all is planted in a build that the recipe wants."""
    return not any(True for check in _measured(recipe) for _ in lacking_readings(warehouse, build, recipe, check))


def _measured(recipe: Recipe) -> Iterator[str]:
    """The checks whose readers are measured: each model once."""
    models = dict[str, str]()
    for check, stage in MEASURED.items():
        name = getattr(recipe.models, stage.role or "").name
        models.setdefault(name, check)
    yield from models.values() if recipe.readers.planted else ()


def lacking_readings(warehouse: Warehouse, build: str, recipe: Recipe, check: str) -> list[str]:
    """The bodies of the samples in which is to be planted for a check's reader, in each language and family.

    They are drawn by the recipe's seed from what a reader settled, one reading a sample at most.
    """
    with own_prompts(recipe.own_prompts):
        version = planting_version(TABLE.named(check))
    readers = recipe.readers
    asked = [build, check, version, readers.planted, readers.at_least, str(recipe.seed), *MEASURED, recipe.most_planted]
    return [row["body"] for row in warehouse.rows(sql("measuring.lacking"), asked)]
