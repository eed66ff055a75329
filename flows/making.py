"""Making and checking the samples of a wave, planting what measures who reads, and what ends a
build: duplicates, review, land.
"""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from heapq import nsmallest
from itertools import chain
from math import ceil
from pathlib import Path
from typing import NamedTuple

from callwright.annotation.screens import DIALOGUE_ACTS, SAMPLE_REVIEW
from callwright.flows.overlap import Avoided
from callwright.flows.planning.planner import Planner, keep_left_out
from callwright.flows.planning.statistics import told_of_trust
from callwright.flows.recipe import LANDED_GRADES, AvoidedSource, LandedGrade, Recipe
from callwright.flows.review.gold_items import mix_gold_items
from callwright.flows.review.questions import (
    DOUBTFUL,
    DRAWN,
    SPOT_CHECK,
    ReviewQuestion,
    ask,
    carry_over_corrections,
    corrections_to_ask,
    request_row,
    with_kinds,
)
from callwright.flows.review.resolutions import settle_decisions
from callwright.flows.runner import GroupRun, Workers, run_group
from callwright.flows.shards import FactFiles, record_line
from callwright.flows.stages import LANDING, all_stages, some_of, stages_of, todays_checks
from callwright.generators.kinds import kind_named, waves_of
from callwright.llm.models import reads_language
from callwright.llm.prompts import own_prompts
from callwright.validators.checks.declaring import GROUP as CHECKS
from callwright.validators.checks.duplicates import CHECK as DUPLICATES
from callwright.validators.checks.duplicates import ComparedSamples, find_duplicates
from callwright.validators.checks.verdicts import outcome_of
from callwright.validators.reading.planting import GROUP as MEASURING
from callwright.validators.reading.planting import PLANTED_READING, planting_version
from callwright.validators.reading.writing import check_reading
from callwright.warehouse.batches import batches
from callwright.warehouse.counts import count_of
from callwright.warehouse.outcomes import (
    lacking_checks,
    meet_checks,
    outcome_row,
    pass_all,
    reject_repeated,
    remove_outcomes,
    samples_lacking,
    take_back,
)
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Outcome, ReasonCode, Record, Sample, StageOutcome
from callwright.warehouse.rows import Row, body_of, rows_of
from callwright.warehouse.store import Warehouse


async def make_samples(run: GroupRun, workers: Workers, kinds: Sequence[str]) -> int:
    """Plan what the build lacks of these kinds, make it, and check each sample as soon as it is
    there; how much was planned.

    What a build that was cut off has made is checked first: what did not pass decides how much is
    planned.
    """
    await check_samples(run, workers)
    planned = 0
    if _reads_unmeasured(run):
        planned += await _make(run, workers, kinds, at_most=_FIRST)
        await check_samples(run, workers)
        await measure_readers(run, workers)
        for sentence in told_of_trust(run.warehouse, run.build, run.recipe.accept):
            run.progress.say(sentence)
    return planned + await _make(run, workers, kinds)


def _reads_unmeasured(run: GroupRun) -> bool:
    """Whether a model that costs time or money reads in this build, and nothing is planted yet
    to measure it.
    """
    recipe = run.recipe
    if (
        not recipe.readers.planted
        or recipe.consistency != "blind"
        or not reads_language(recipe.models.checker.name)
    ):
        return False
    return not run.warehouse.rows(sql("measuring.any_planted"), [run.build])


async def _make(
    run: GroupRun, workers: Workers, kinds: Sequence[str], *, at_most: int | None = None
) -> int:
    """Plan what the build lacks of these kinds and make it, `at_most` so many samples of each;
    how much was planned.
    """
    planner = Planner(run, kinds, at_most=at_most)
    planned = 0

    def counted(records: Iterable[Record]) -> Iterator[bytes]:
        nonlocal planned
        for record in records:
            planned += 1
            yield record_line(type(record).__name__, body_of(record))

    for group in dict.fromkeys(kind_named(name).group for name in kinds):
        first = stages_of(group)[0]
        await run_group(
            run, group, counted(await planner.drafts(group, first)), workers, then=CHECKS
        )
    with run.warehouse.together():
        keep_left_out(run.warehouse, run.build, planner)
        if planned:
            makers = [stage.name for stage in all_stages() if stage.yields == "Sample"]
            reject_repeated(run.warehouse, run.build, makers, "sample")
    return planned


async def check_samples(run: GroupRun, workers: Workers) -> None:
    """Carry this build's samples through the checks that they lack; then look for duplicates.

    A build that exists may lack a check that is new, or has changed: then what it has goes through
    that one alone.
    """
    warehouse, build, todays = run.warehouse, run.build, todays_checks(run.recipe.own_prompts)
    landing = Landing(build, run.recipe, warehouse)

    def conclude() -> bool:
        """Take back what checks stopped; whether there is something to look for duplicates
        among.
        """
        take_back(warehouse, build, checks, review=LANDING.review, land=LANDING.land)
        return has_undecided(landing)

    with warehouse.together():
        new, checks = meet_checks(warehouse, build, todays), list(todays)
        found = lacking_checks(warehouse, build, checks)
        is_undecided = not found and conclude()
    if new and found:
        samples = sum(one.samples for one in found)
        run.progress.say(
            f"These checks are new or have changed: {', '.join(new)}. "
            f"{count_of(samples, 'sample goes', 'samples go')} through them."
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
    """Carry edited samples through all checks; what one of them stops meets those behind it too,
    for their verdicts alone.

    So whoever looks at such an edit sees all that speaks for and against it, and so does its row
    once it lands.
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
    return {
        row["stage"]: row["subjects"]
        for row in run.warehouse.rows(sql("build_checks.stopped"), [run.build, keys])
    }


def _lines(samples: Iterable[Sample]) -> Iterator[bytes]:
    return (record_line("Sample", body_of(sample)) for sample in samples)


async def measure_readers(run: GroupRun, workers: Workers) -> None:
    """Plant what the recipe wants and the build lacks; what was planted before stays."""
    lines = [
        record_line("Sample", body)
        for body in lacking_readings(run.warehouse, run.build, run.recipe)
    ]
    await run_group(run, some_of(MEASURING, [PLANTED_READING.name]), lines, workers)


def is_measured(warehouse: Warehouse, build: str, recipe: Recipe) -> bool:
    """Whether all is planted in a build that the recipe wants."""
    return not lacking_readings(warehouse, build, recipe)


def lacking_readings(warehouse: Warehouse, build: str, recipe: Recipe) -> list[str]:
    """The bodies of the samples in which is to be planted for the build's reader, in each language
    and family.

    They are drawn by the recipe's seed from what the reader read, one reading a sample at most.
    """
    readers = recipe.readers
    if not readers.planted:
        return []
    with own_prompts(recipe.own_prompts):
        version = planting_version()
    asked = [
        build,
        check_reading.name,
        version,
        readers.planted,
        readers.at_least,
        str(recipe.seed),
        recipe.most_planted,
    ]
    return [row["body"] for row in warehouse.rows(sql("measuring.lacking"), asked)]


class Landing(NamedTuple):
    """The build whose samples land."""

    build: str
    recipe: Recipe
    warehouse: Warehouse

    def note(
        self,
        stage: str,
        subject: str,
        outcome: StageOutcome,
        reason: str = "",
        code: ReasonCode = "none",
    ) -> Row:
        """What became of a sample at a stage, as a row."""
        kept = Outcome(
            build=self.build,
            stage=stage,
            subject=subject,
            outcome=outcome,
            reason_code=code,
            reason=reason,
        )
        return outcome_row(kept)


def has_undecided(landing: Landing) -> bool:
    """Whether a sample passed all checks of which it is not known whether it says the same as
    another one.
    """
    asked = [landing.build, stages_of(CHECKS)[-1].name, LANDING.duplicates]
    return bool(landing.warehouse.rows(sql("landing.any_passed"), asked))


def check_duplicates(landing: Landing) -> None:
    """Decide what is undecided, as `decide_duplicates` does."""
    if has_undecided(landing):
        decide_duplicates(landing)


def decide_duplicates(landing: Landing) -> None:
    """Reject samples that say the same as another one of this build, or as one accepted by another
    recipe.

    Which of them stays depends on their keys and not on when they were made: all that has not
    landed is decided together, anew as soon as there is more, so that a build that was cut off
    comes to what an undisturbed one comes to.
    """
    build, warehouse, near = landing.build, landing.warehouse, landing.recipe.checks
    checked = stages_of(CHECKS)[-1].name
    waves = [
        (kind.name, number)
        for number, wave in enumerate(waves_of(landing.recipe.samples))
        for kind in wave
    ]
    asked = [
        LANDING.duplicates,
        build,
        checked,
        LANDING.review,
        [name for name, _ in waves],
        [at for _, at in waves],
    ]
    keys, before = list[str](), list[tuple[StageOutcome | None, str]]()
    with warehouse.reading_together():
        landed = [build, LANDING.duplicates, LANDING.review, landing.recipe.name]
        known = [key for (key,) in warehouse.stream(sql("landing.landed"), landed)]
        for key, outcome, reason in warehouse.stream(sql("landing.unlanded"), asked):
            keys.append(key)
            before.append((outcome, reason))
        compared, avoided = _compared(build, landing.recipe.avoid, warehouse)
        lacking = compared.lacking([*dict.fromkeys([*known, *keys])])
        bodies = (
            warehouse.stream(sql("landing.bodies"), [some])
            for some in batches(lacking, _READ_AT_ONCE)
        )
        for sample in avoided.look(
            Sample.kept(key, body) for key, body in chain.from_iterable(bodies)
        ):
            compared.add(sample)
    with tempfile.TemporaryDirectory(prefix="callwright-") as folder:
        facts, changed = Path(folder) / "facts", []  # by way of files: there may be millions
        with FactFiles(facts) as files:
            found = find_duplicates(
                keys,
                compared,
                known=known,
                threshold=near.near_duplicate,
                reworded=near.reworded_duplicate,
            )
            for at, verdict in enumerate(avoided.kept_out(found)):
                outcome, _, reason = outcome_of([verdict], must_prove=True)
                if (outcome, reason) != before[at]:  # the same of another sample is something else
                    code: ReasonCode = "none" if not reason else "duplicate"
                    if verdict.subject in avoided.found:
                        code = "taken"
                    [(table, row)] = rows_of([verdict], datetime.now(UTC))
                    noted = landing.note(LANDING.duplicates, verdict.subject, outcome, reason, code)
                    files.add({table: [row], "outcomes": [noted]})
                    changed += [verdict.subject] if before[at][0] else []
        with warehouse.together():
            remove_outcomes(
                warehouse, ((build, LANDING.duplicates, subject) for subject in changed)
            )
            warehouse.put_files(facts)
    if landing.recipe.checks.repeated == "reject":
        outcomes = [
            landing.note(LANDING.duplicates, row["key"], "rejected", row["reason"], "duplicate")
            for row in _repeated(landing)
        ]
        remove_outcomes(
            landing.warehouse,
            ((landing.build, LANDING.duplicates, one["subject"]) for one in outcomes),
        )
        landing.warehouse.put_rows({"outcomes": outcomes})


_READ_AT_ONCE = 10_000
# samples of each kind and language that are made first, so that a reader's worth is known within
# minutes
_FIRST = 12
_UNTRUSTED = "The reader is not trusted."


@lru_cache(1)
def _compared(
    build: str, avoid: tuple[AvoidedSource, ...], warehouse: Warehouse
) -> tuple[ComparedSamples, Avoided]:
    """What is known of a build's samples: each round reads what is new, since a sample's key is
    that of its content.
    """
    home = warehouse.path.parent  # where there is room; the folder of temporary files may be memory
    return ComparedSamples(tempfile.TemporaryFile(dir=home)), Avoided(avoid, warehouse)


def _repeated(landing: Landing) -> list[Row]:
    """The samples whose request begins like too many others, or is too many others but for its
    values, and why.
    """
    checks = landing.recipe.checks
    asked = [
        landing.build,
        LANDING.duplicates,
        LANDING.review,
        checks.largest_opening,
        checks.largest_skeleton,
    ]
    return landing.warehouse.rows(sql("landing.repeated"), asked)


def route_review(landing: Landing) -> None:
    """Ask people about all whose grade the recipe does not let land; what they decided before is
    not asked again.
    """
    asked = [landing.build, LANDING.duplicates, LANDING.review]
    accept = landing.recipe.accept
    bars = [accept.caught_at_least, accept.agreed_at_least]
    landing.warehouse.execute(
        sql("landing.trusted_by_now"), [landing.build, LANDING.review, *bars, _UNTRUSTED]
    )
    wrong = accept.wrong_at_most
    if wrong is not None:
        landing.warehouse.execute(
            sql("landing.certain_by_now"), [landing.build, LANDING.review, wrong]
        )
    found = landing.warehouse.rows(
        sql("landing.doubtful"), [*asked, landing.recipe.landing_grades, DUPLICATES]
    )
    doubts = [(row["key"], row["reasons"]) for row in found]
    untrusted = landing.warehouse.rows(sql("landing.untrusted"), [*asked, *bars])
    doubts += [
        (row["key"], f"{_UNTRUSTED} {row['reader']} reads too badly to settle it.")
        for row in untrusted
    ]
    if wrong is not None:
        uncertain = landing.warehouse.rows(sql("landing.uncertain"), [*asked, wrong])
        doubts += [(row["key"], _uncertainty(row["known"], wrong)) for row in uncertain]
    if landing.recipe.review.repeated:
        doubts += [(row["key"], row["reason"]) for row in _repeated(landing)]
    reasons: dict[str, str] = {}
    for key, reason in doubts:
        reasons[key] = " ".join(filter(None, (reasons.get(key), reason)))
    outcomes = [
        landing.note(LANDING.review, key, "waiting", told, "unproved")
        for key, told in sorted(reasons.items())
    ]
    contradicted = landing.warehouse.rows(
        "select subject, reason from outcomes where build = ? and outcome = 'waiting' and stage"
        " <> ?",
        [landing.build, LANDING.review],
    )
    doubtful = {row["subject"]: row["reason"] for row in contradicted} | reasons
    rules = landing.recipe.review
    requests = [
        request_row(
            ReviewQuestion(
                subject, DOUBTFUL, reason, landing.build, reviewers=rules.reviewers_of(DOUBTFUL)
            )
        )
        for subject, reason in sorted(doubtful.items())
    ]
    questions = with_kinds(landing.warehouse, requests)
    questions += corrections_to_ask(landing.warehouse, landing.build, landing.recipe)
    landing.warehouse.put_rows({"outcomes": outcomes, "review_requests": questions})
    landing.warehouse.execute(
        pass_all(sql("landing.passed")), [landing.build, LANDING.review, *asked]
    )
    if landing.warehouse.rows("select 1 from reviews limit 1"):
        carry_over_corrections(landing.warehouse)
        settle_decisions(landing.warehouse)


def _uncertainty(known: float | None, wrong: float) -> str:
    """Why what a model settled does not land."""
    told = (
        "has not been measured" if known is None else f"is known to be right in {known:.1%} alone"
    )
    return (
        f"The accuracy of its readers {told}, and the recipe accepts at most {wrong:.1%} wrong"
        " ones."
    )


def land_samples(landing: Landing) -> None:
    """Accept what no person was asked about, each sample once; draw spot checks and gold items.

    People's own have landed.
    """
    asked = [landing.build, LANDING.review, LANDING.land]
    with landing.warehouse.writing() as connection:
        connection.execute(sql("landing.accept"), [landing.build, landing.recipe.name, *asked])
        connection.execute(sql("landing.accept_again"), asked)
        connection.execute(sql("landing.grade_again"), [landing.build])
        connection.execute(
            pass_all(sql("landing.undecided")), [landing.build, LANDING.land, *asked]
        )
        if not landing.recipe.trial:
            connection.execute(
                sql("landing.take_over"),
                [landing.build, landing.recipe.name, landing.build, LANDING.land],
            )
    rules, seed = landing.recipe.review, landing.recipe.seed
    for grades, wanted in rules.spot_checks_by_grade().items():
        _draw(landing, SAMPLE_REVIEW, wanted, grades, order=f"{seed}", reason=DRAWN)
    acts = rules.dialogue_acts
    _draw(
        landing,
        DIALOGUE_ACTS,
        acts,
        LANDED_GRADES,
        order=f"{seed}:{DIALOGUE_ACTS}",
        reason=_ACTS_DRAWN,
    )
    _compared.cache_clear()  # the build is done
    mix_gold_items(landing.warehouse, landing.build, landing.recipe)


_ACTS_DRAWN = "Drawn from the accepted conversations, to see how good their dialogue acts are."


def _draw(
    landing: Landing,
    kind: str,
    wanted: float,
    grades: Sequence[LandedGrade],
    *,
    order: str,
    reason: str,
) -> None:
    """Fill the spot checks of a review kind up to their number, in an order of their own; what was
    drawn stays drawn.

    `wanted` is how many, or, if it is no whole number, the share of what landed without people.
    """
    rows = landing.warehouse.stream(
        sql("landing.to_draw"),
        [kind, landing.build, LANDING.land, LANDING.review, list(grades), grades[0]],
    )
    drawn: set[str] = set()

    def free() -> Iterator[str]:
        for subject, cause, is_free in rows:
            if cause == SPOT_CHECK:
                drawn.add(subject)
            if is_free and cause is None:
                yield subject

    [landed] = landing.warehouse.rows(
        "select count(*) as n from acceptances where build = ? and list_contains(?::varchar[],"
        " grade)",
        [landing.build, list(grades)],
    )
    count = wanted if isinstance(wanted, int) else ceil(wanted * int(landed["n"]))
    first = nsmallest(
        count, free(), key=lambda subject: blake2b(f"{order}:{subject}".encode()).digest()
    )
    chosen = first[: max(0, count - len(drawn))]
    reviewers = landing.recipe.review.reviewers_of(SPOT_CHECK)
    ask(
        landing.warehouse,
        [ReviewQuestion(one, SPOT_CHECK, reason, landing.build, kind, reviewers) for one in chosen],
    )
