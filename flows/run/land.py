"""What lands of a build: duplicates, review, acceptance, spot checks, and the report of it all."""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from hashlib import blake2b
from heapq import nsmallest
from itertools import chain
from math import ceil
from pathlib import Path
from typing import NamedTuple

from callwright.annotation.screens import DIALOGUE_ACTS, SAMPLE_REVIEW
from callwright.flows.environments import responses_of
from callwright.flows.overlap import Avoided
from callwright.flows.planning.planner import planned_by_kind, read_left_out, told_of_left_out
from callwright.flows.planning.statistics import (
    ConversationRow,
    FailureRow,
    PathRow,
    ReaderRow,
    RepeatedWords,
    UserRow,
    conversation_rows,
    failure_rows,
    path_rows,
    rows_of_view,
    told_of_readers,
    told_of_trust,
)
from callwright.flows.recipe import LANDED_GRADES, AvoidedSource, LandedGrade
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
from callwright.flows.run.carry import GroupRun, publish_or_say
from callwright.flows.run.work import FactFiles
from callwright.flows.sources import known_sources, told_of_sources
from callwright.flows.stages import LANDING, stages_of
from callwright.generators.families import LeftOut
from callwright.generators.kinds import all_kinds, traits_of, waves_of
from callwright.validators.checks.declaring import GROUP as CHECKS
from callwright.validators.checks.duplicates import CHECK as DUPLICATES
from callwright.validators.checks.duplicates import ComparedSamples, find_duplicates
from callwright.validators.checks.verdicts import outcome_of
from callwright.validators.embeddings import close_encoder
from callwright.warehouse.batches import batches
from callwright.warehouse.counts import count_of
from callwright.warehouse.outcomes import outcome_row, pass_all, remove_outcomes
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Outcome, ReasonCode, Sample, StageOutcome
from callwright.warehouse.rows import rows_of
from callwright.warehouse.store import Warehouse

# Of so many samples the encoder's 100 MB weigh more than the half second that opening it again
# takes, once they are made: while they are made, each round would open it.
_MANY = 5000
_READ_AT_ONCE = 10_000
_REASONS = 3
_UNTRUSTED = "The reader is not trusted."
_ACTS_DRAWN = "Drawn from the accepted conversations, to see how good their dialogue acts are."


class FunnelRow(NamedTuple):
    """What a stage did with what came to it: entered = passed + rejected + failed + waiting.

    It had nothing to do with the `not_applicable` of those passed; `personal_data` counts the
    personal values in what it took from files.
    """

    stage: str
    entered: int
    passed: int
    rejected: int
    failed: int
    waiting: int
    not_applicable: int = 0
    personal_data: int = 0


class CompositionRow(NamedTuple):
    """How many samples of a kind a recipe asks for, and what became of them.

    `paper` is the paper's number, None if it gives none.

    Of those that `landed`, `proved` rest on rules alone and `judged` on a model's blind reading;
    people vouched for the others.
    """

    kind: str
    asked: int
    made: int
    landed: int
    proved: int
    judged: int
    waiting: int
    tools: int
    paper: int | None


class SpendingRow(NamedTuple):
    """What a build asked and paid until now: `calls` went out, the ledger answered `known` ones.

    Money is in US dollars. What measured the readers is not charged to the accepted samples.
    """

    calls: int
    known: int
    tokens: int
    cost: float
    cost_per_accepted: float | None


class BuildReport(NamedTuple):
    """The result of a build: its funnel, what landed of each kind, what was left out and why."""

    build: str
    recipe: str
    asked: int
    planned: int
    landed: int
    funnel: tuple[FunnelRow, ...]
    composition: tuple[CompositionRow, ...] = ()
    paths: tuple[PathRow, ...] = ()
    conversations: tuple[ConversationRow, ...] = ()
    is_trial: bool = False
    spending: SpendingRow | None = None
    repeated: tuple[RepeatedWords, ...] = ()
    failures: tuple[FailureRow, ...] = ()
    readers: tuple[ReaderRow, ...] = ()
    users: tuple[UserRow, ...] = ()
    wrong_at_most: float | None = None
    untrusted: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    taken: tuple[str, ...] = ()

    @property
    def worked(self) -> tuple[FunnelRow, ...]:
        """The stages that had anything to do."""
        return tuple(row for row in self.funnel if row.not_applicable < row.entered)

    @property
    def sentence(self) -> str:
        """A sentence that says how many of the requested samples have landed."""
        planned = "" if self.planned == self.asked else f"{self.planned} planned, "
        return (
            f"{self.recipe}: {self.landed} of {count_of(self.asked, 'sample')} accepted"
            f" ({planned}build {self.build})."
        )

    @property
    def waiting(self) -> int:
        """How many samples wait for reviewers."""
        return sum(row.waiting for row in self.composition)

    @property
    def emptiness(self) -> str:
        """Why nothing of what was asked for has landed, "" where something has."""
        if self.landed or not self.asked:
            return ""
        if self.waiting:
            return (
                f"None of the {self.asked} samples asked for has landed yet: {self.waiting} wait"
                ' for reviewers. `callwright query "from review_queue"` has what is asked of them.'
            )
        if not self.planned:
            return (
                f"None of the {self.asked} samples could be planned; `callwright recipe check` says"
                " why."
            )
        ends = ("rejected", "failed")
        lost = Counter({(row.stage, end): getattr(row, end) for row in self.funnel for end in ends})
        found = [(count, end, stage) for (stage, end), count in lost.most_common(_REASONS) if count]
        reasons = ", ".join(f"{count} {end} at {stage}" for count, end, stage in found)
        return (
            f"None of the {self.asked} samples asked for has landed:"
            f' {reasons or "none came through all stages"}. `callwright query "from failures"` has'
            " the reasons of those that failed, `from verdicts` of the rejected ones."
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks for people, beside the counts."""
        sentences = [one.sentence for one in self.failures] + [
            one.sentence for one in self.repeated
        ]
        left_out = told_of_left_out(self.left_out)
        readers = told_of_readers(self.readers, self.wrong_at_most)
        return (*self.taken, *left_out, *sentences, *readers, *self.untrusted)


def land(run: GroupRun) -> BuildReport:
    """End a build: sort out duplicates, ask people about doubts, accept the rest, and count.

    It is published where the settings say so.
    """
    with run.warehouse.together():
        if has_undecided(run):  # only where the last checks were cut off before they came to it
            decide_duplicates(run)
        if sum(run.recipe.samples.values()) > _MANY:
            close_encoder()
        _route_review(run)
        _accept(run)
        run.warehouse.put_rows(responses_of(run.recipe, run.settings))
        run.warehouse.execute(sql("builds.end"), [run.build])
        report = report_build(run)
    if run.settings.publish_every:
        publish_or_say(run)
    return report


def has_undecided(run: GroupRun) -> bool:
    """Whether a sample passed all checks and was not compared with the others yet."""
    asked = [run.build, stages_of(CHECKS)[-1].name, LANDING.duplicates]
    return bool(run.warehouse.rows(sql("landing.any_passed"), asked))


def decide_duplicates(run: GroupRun) -> None:
    """Reject samples that say the same as another of this build, or as one of another recipe.

    Which of them stays depends on their keys and not on when they were made: all that has not
    landed is decided together, anew as soon as there is more, so that a build that was cut off
    comes to what an undisturbed one comes to.
    """
    build, warehouse, near = run.build, run.warehouse, run.recipe.checks
    here = partial(Outcome, build=build, stage=LANDING.duplicates)
    waves = [
        (kind.name, at) for at, wave in enumerate(waves_of(run.recipe.samples)) for kind in wave
    ]
    query_values = [
        LANDING.duplicates,
        build,
        stages_of(CHECKS)[-1].name,
        LANDING.review,
        [name for name, _ in waves],
        [at for _, at in waves],
    ]
    keys, before = list[str](), list[tuple[StageOutcome | None, str]]()
    with warehouse.reading_together():
        landed = [build, LANDING.duplicates, LANDING.review, run.recipe.name]
        landed_keys = [key for (key,) in warehouse.stream(sql("landing.landed"), landed)]
        for key, outcome, reason in warehouse.stream(sql("landing.unlanded"), query_values):
            keys.append(key)
            before.append((outcome, reason))
        compared, avoided = _compared(build, run.recipe.avoid, warehouse)
        lacking = batches(compared.lacking([*dict.fromkeys([*landed_keys, *keys])]), _READ_AT_ONCE)
        bodies = (warehouse.stream(sql("landing.bodies"), [some]) for some in lacking)
        samples = (Sample.kept(key, body) for key, body in chain.from_iterable(bodies))
        for sample in avoided.look(samples):
            compared.add(sample)
    with tempfile.TemporaryDirectory(prefix="callwright-") as folder:
        facts, changed = Path(folder) / "facts", []  # by way of files: there may be millions
        with FactFiles(facts) as files:
            duplicate_verdicts = find_duplicates(
                keys,
                compared,
                known=landed_keys,
                threshold=near.near_duplicate,
                reworded=near.reworded_duplicate,
            )
            for at, verdict in enumerate(avoided.kept_out(duplicate_verdicts)):
                outcome, _, reason = outcome_of([verdict], must_prove=True)
                if (outcome, reason) != before[at]:  # the same of another sample is something else
                    subject = verdict.subject
                    code: ReasonCode = "duplicate" if reason else "none"
                    code = "taken" if subject in avoided.found else code
                    noted = here(subject=subject, outcome=outcome, reason=reason, reason_code=code)
                    [(table, row)] = rows_of([verdict], datetime.now(UTC))
                    files.add({table: [row], "outcomes": [outcome_row(noted)]})
                    changed += [subject] if before[at][0] else []
        with warehouse.together():
            remove_outcomes(
                warehouse, ((build, LANDING.duplicates, subject) for subject in changed)
            )
            warehouse.put_files(facts)
    if near.repeated == "reject":
        rejected = partial(here, outcome="rejected", reason_code="duplicate")
        repeated = _repeated(run)
        outcomes = [outcome_row(rejected(subject=key, reason=reason)) for key, reason in repeated]
        places = ((build, LANDING.duplicates, row["subject"]) for row in outcomes)
        remove_outcomes(warehouse, places)
        warehouse.put_rows({"outcomes": outcomes})


@lru_cache(1)
def _compared(
    build: str, avoid: tuple[AvoidedSource, ...], warehouse: Warehouse
) -> tuple[ComparedSamples, Avoided]:
    """What is known of a build's samples: each round reads what is new, as keys are of content."""
    home = warehouse.path.parent  # where there is room; the folder of temporary files may be memory
    return ComparedSamples(tempfile.TemporaryFile(dir=home)), Avoided(avoid, warehouse)


def _repeated(run: GroupRun) -> list[tuple[str, str]]:
    """Return the samples whose request is too much like too many others, with the reason.

    It begins as they do, or differs from them only in its values.
    """
    checks = run.recipe.checks
    bars = [checks.largest_opening, checks.largest_skeleton]
    query_values = [run.build, LANDING.duplicates, LANDING.review, *bars]
    rows = run.warehouse.rows(sql("landing.repeated"), query_values)
    return [(row["key"], row["reason"]) for row in rows]


def _route_review(run: GroupRun) -> None:
    """Ask people about all whose grade the recipe does not let land, but not what they decided."""
    build, warehouse, recipe = run.build, run.warehouse, run.recipe
    accept, here = recipe.accept, [build, LANDING.review]
    asked = [build, LANDING.duplicates, LANDING.review]
    bars, wrong = [accept.caught_at_least, accept.agreed_at_least], accept.wrong_at_most
    warehouse.execute(sql("landing.trusted_by_now"), [*here, *bars, _UNTRUSTED])
    if wrong is not None:
        warehouse.execute(sql("landing.certain_by_now"), [*here, wrong])
    grades = [*asked, recipe.landing_grades, DUPLICATES]
    doubts = [
        (row["key"], row["reasons"]) for row in warehouse.rows(sql("landing.doubtful"), grades)
    ]
    doubts += [
        (row["key"], f"{_UNTRUSTED} {row['reader']} reads too badly to settle it.")
        for row in warehouse.rows(sql("landing.untrusted"), [*asked, *bars])
    ]
    if wrong is not None:
        uncertain = warehouse.rows(sql("landing.uncertain"), [*asked, wrong])
        doubts += [(row["key"], _uncertainty(row["known"], wrong)) for row in uncertain]
    if recipe.review.repeated:
        doubts += _repeated(run)
    reasons: dict[str, str] = {}
    for key, reason in doubts:
        reasons[key] = " ".join(filter(None, (reasons.get(key), reason)))
    waiting = partial(
        Outcome, build=build, stage=LANDING.review, outcome="waiting", reason_code="unproved"
    )
    outcomes = [
        outcome_row(waiting(subject=key, reason=reason)) for key, reason in sorted(reasons.items())
    ]
    contradicted = warehouse.rows(
        "select subject, reason from outcomes where build = ? and outcome = 'waiting' and stage"
        " <> ?",
        here,
    )
    doubtful = {row["subject"]: row["reason"] for row in contradicted} | reasons
    reviewers = recipe.review.reviewers_of(DOUBTFUL)
    requests = [
        request_row(ReviewQuestion(subject, DOUBTFUL, reason, build, reviewers=reviewers))
        for subject, reason in sorted(doubtful.items())
    ]
    questions = with_kinds(warehouse, requests) + corrections_to_ask(warehouse, build, recipe)
    warehouse.put_rows({"outcomes": outcomes, "review_requests": questions})
    warehouse.execute(pass_all(sql("landing.passed")), [*here, *asked])
    if warehouse.rows("select 1 from reviews limit 1"):
        carry_over_corrections(warehouse)
        settle_decisions(warehouse)


def _uncertainty(known: float | None, wrong: float) -> str:
    """Say why what a model settled does not land."""
    measured = f"is known to be right in {known:.1%} alone" if known is not None else ""
    return (
        f"The accuracy of its readers {measured or 'has not been measured'}, and the recipe accepts"
        f" at most {wrong:.1%} wrong ones."
    )


def _accept(run: GroupRun) -> None:
    """Accept what no person was asked about, each sample once; draw spot checks and gold items.

    People's own have landed.
    """
    build, recipe = run.build, run.recipe
    asked = [build, LANDING.review, LANDING.land]
    with run.warehouse.writing() as connection:
        connection.execute(sql("landing.accept"), [build, recipe.name, *asked])
        connection.execute(sql("landing.accept_again"), asked)
        connection.execute(sql("landing.grade_again"), [build])
        connection.execute(pass_all(sql("landing.undecided")), [build, LANDING.land, *asked])
        if not recipe.trial:
            taken_over = [build, recipe.name, build, LANDING.land]
            connection.execute(sql("landing.take_over"), taken_over)
    for grades, wanted in recipe.review.spot_checks_by_grade().items():
        _draw(run, SAMPLE_REVIEW, wanted, grades, DRAWN)
    _draw(run, DIALOGUE_ACTS, recipe.review.dialogue_acts, LANDED_GRADES, _ACTS_DRAWN)
    _compared.cache_clear()  # the build is done
    mix_gold_items(run.warehouse, build, recipe)


def _draw(
    run: GroupRun, kind: str, wanted: float, grades: Sequence[LandedGrade], reason: str
) -> None:
    """Fill a review kind's spot checks up to their number, each kind in an order of its own.

    What was drawn stays drawn. `wanted` is how many, or, if it is no whole number, the share of
    what landed without people.
    """
    build, seed = run.build, run.recipe.seed
    order = f"{seed}" if kind == SAMPLE_REVIEW else f"{seed}:{kind}"
    rows = run.warehouse.stream(
        sql("landing.to_draw"), [kind, build, LANDING.land, LANDING.review, list(grades), grades[0]]
    )
    drawn: set[str] = set()

    def free() -> Iterator[str]:
        for subject, cause, is_free in rows:
            if cause == SPOT_CHECK:
                drawn.add(subject)
            if is_free and cause is None:
                yield subject

    [landed] = run.warehouse.rows(
        "select count(*) as n from acceptances where build = ? and list_contains(?::varchar[],"
        " grade)",
        [build, list(grades)],
    )
    count = wanted if isinstance(wanted, int) else ceil(wanted * int(landed["n"]))
    first = nsmallest(count, free(), key=lambda key: blake2b(f"{order}:{key}".encode()).digest())
    chosen = first[: max(0, count - len(drawn))]
    reviewers = run.recipe.review.reviewers_of(SPOT_CHECK)
    ask(
        run.warehouse,
        [ReviewQuestion(key, SPOT_CHECK, reason, build, kind, reviewers) for key in chosen],
    )


def report_build(run: GroupRun) -> BuildReport:
    """Count a build's funnel and composition as they stand."""
    warehouse, build, recipe = run.warehouse, run.build, run.recipe
    with warehouse.reading_together():
        rows = warehouse.rows(sql("statistics.funnel"), [build])
        funnel = tuple(FunnelRow(**row) for row in rows)
        landed = next((row.passed for row in funnel if row.stage == LANDING.land), 0)
        [spent] = warehouse.rows(sql("statistics.spent"), [build])
        [noted] = warehouse.rows("select is_trial from builds where key = ?", [build])
        taken = sum(source.asked for source in known_sources(recipe, run.settings))
        return BuildReport(
            build=build,
            recipe=recipe.name,
            asked=sum(recipe.samples.values()) + taken,
            planned=sum(planned_by_kind(run).values()),
            landed=landed,
            funnel=funnel,
            composition=tuple(_composition(run)),
            paths=tuple(path_rows(run)),
            conversations=tuple(conversation_rows(run)),
            is_trial=noted["is_trial"],
            spending=SpendingRow(**spent),
            repeated=tuple(
                RepeatedWords(**row) for row in warehouse.rows(sql("statistics.repeated"), [build])
            ),
            failures=failure_rows(warehouse, build) if any(row.failed for row in funnel) else (),
            readers=rows_of_view(warehouse, "reader_precision", ReaderRow, build),
            users=tuple(UserRow(**row) for row in warehouse.rows(sql("statistics.users"), [build])),
            wrong_at_most=recipe.accept.wrong_at_most,
            left_out=read_left_out(warehouse, build),
            untrusted=tuple(told_of_trust(warehouse, build, recipe.accept)),
            taken=tuple(told_of_sources(recipe, run.settings)),
        )


def _composition(run: GroupRun) -> Iterator[CompositionRow]:
    rows = run.warehouse.rows(sql("statistics.composition"), [run.build])
    made, kinds_by_name = {row.pop("kind"): row for row in rows}, all_kinds()
    nothing = dict.fromkeys(("made", "landed", "proved", "judged", "waiting", "tools"), 0)
    for name in dict.fromkeys((*run.recipe.samples, *made)):
        counts = made.get(name) or nothing
        paper = kinds_by_name[name].paper if name in kinds_by_name else None
        # What is taken from files is what was asked for.
        asked = run.recipe.samples.get(name, counts["made"] if traits_of(name).is_taken else 0)
        yield CompositionRow(kind=name, asked=asked, **counts, paper=paper)
