"""The last stages of a build, over all its samples at once: duplicates, review, land."""

import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from heapq import nsmallest
from math import ceil
from pathlib import Path
from typing import NamedTuple

from callwright.annotation.screens import DIALOGUE_ACTS, SAMPLE_REVIEW
from callwright.flows.recipe import LANDED_GRADES, LandedGrade, Recipe
from callwright.flows.review.gold_items import mix_gold_items
from callwright.flows.review.path_reviews import carry_over_corrections, corrections_to_ask, with_kinds
from callwright.flows.review.questions import DOUBTFUL, DRAWN, SPOT_CHECK, ReviewQuestion, ask, request_row
from callwright.flows.review.resolutions import settle_decisions
from callwright.flows.shards import FactFiles
from callwright.flows.stages import LANDING, stages_of
from callwright.generators.kinds import waves_of
from callwright.validators.checks.duplicates import CHECK as DUPLICATES
from callwright.validators.checks.duplicates import find_duplicates
from callwright.validators.checks.table import GROUP as CHECKS
from callwright.validators.checks.verdicts import outcome_of
from callwright.warehouse.outcomes import outcome_row, pass_all, remove_outcomes
from callwright.warehouse.records import Outcome, ReasonCode, Sample, StageOutcome, Verdict
from callwright.warehouse.rows import Row, Stamp, rows_of
from callwright.warehouse.store import Warehouse


class Landing(NamedTuple):
    """The build whose samples land."""

    build: str
    recipe: Recipe
    warehouse: Warehouse

    def note(self, stage: str, subject: str, outcome: StageOutcome, reason: str = "", code: ReasonCode = "none") -> Row:
        """What became of a sample at a stage, as a row."""
        kept = Outcome(build=self.build, stage=stage, subject=subject, outcome=outcome, reason_code=code, reason=reason)
        return outcome_row(kept)


# A sample is as far as a stage when the stage before passed it; the newest verdicts of each check count. What came of
# an edit lands by the decision about it.
_PASSED = """
    select s.key from samples s join outcomes f on f.subject = s.key
    where f.build = ? and f.stage = ? and f.outcome = 'passed' and s.stage <> 'review'
        and not exists (select 1 from outcomes g where g.build = f.build and g.stage = ? and g.subject = s.key)
    order by exists (select 1 from acceptances a where a.subject = s.key) desc, s.key
"""


def check_duplicates(landing: Landing) -> None:
    """Reject samples that say the same as another one of this build, or as one accepted by another recipe.

    Which of them stays depends on their keys and not on when they were made: all that has not landed is decided together, anew
    as soon as there is more, so that a build that was cut off comes to what an undisturbed one comes to.
    """
    build, warehouse = landing.build, landing.warehouse
    checked = stages_of(CHECKS)[-1].name
    if not warehouse.rows(f"{_PASSED} limit 1", [build, checked, LANDING.duplicates]):
        return
    known = warehouse.stream(_LANDED, [build, LANDING.duplicates, LANDING.review, landing.recipe.name])
    waves = [(kind.name, number) for number, wave in enumerate(waves_of(landing.recipe.samples)) for kind in wave]
    asked = [LANDING.duplicates, build, checked, LANDING.review, [name for name, _ in waves], [at for _, at in waves]]
    before: list[tuple[StageOutcome | None, str]] = []
    near = landing.recipe.checks

    def unlanded() -> Iterator[Sample]:
        for body, outcome, reason in warehouse.stream(_UNLANDED, asked):
            before.append((outcome, reason))
            yield Sample.model_validate_json(body)

    samples = (Sample.model_validate_json(body) for (body,) in known)
    home = warehouse.path.parent  # where there is room; the folder of temporary files may be memory
    with tempfile.TemporaryDirectory(prefix="callwright-") as folder:
        facts, changed = Path(folder) / "facts", []  # by way of files: there may be millions
        with tempfile.TemporaryFile(dir=home) as spool, FactFiles(facts) as files:
            found = find_duplicates(
                unlanded(), spool, known=samples, threshold=near.near_duplicate, reworded=near.reworded_duplicate
            )
            for at, verdict in enumerate(found):
                rendered, found_now = _rendered(landing, verdict)
                if found_now != before[at]:  # the same of another sample is something else
                    files.add(rendered)
                    changed += [verdict.subject] if before[at][0] else []
        remove_outcomes(warehouse, ((build, LANDING.duplicates, subject) for subject in changed))
        warehouse.put_files(facts)


def _rendered(landing: Landing, verdict: Verdict) -> tuple[dict[str, list[Row]], tuple[StageOutcome, str]]:
    """A verdict about likeness and the outcome that follows from it, as rows; and which outcome that is, and why."""
    found = outcome_of([verdict], must_prove=True)
    outcome = landing.note(
        LANDING.duplicates, verdict.subject, found.outcome, found.reason, "duplicate" if found.reason else "none"
    )
    [(table, row)] = rows_of([verdict], Stamp(datetime.now(UTC)))
    return {table: [row], "outcomes": [outcome]}, (found.outcome, found.reason)


# What has a place already: samples of this build of which people were asked, or that landed, and other recipes' accepted ones but
# those of trials.
_LANDED = """
    select s.body from samples s
    where exists (select 1 from outcomes f
            where f.build = $1 and f.stage = $2 and f.outcome = 'passed' and f.subject = s.key
                and exists (select 1 from outcomes r where r.build = $1 and r.stage = $3 and r.subject = s.key))
        or exists (select 1 from acceptances a
            where a.subject = s.key and a.recipe <> $4 and a.withdrawn_at is null
                and a.build not in (select key from builds where is_trial))
    order by s.key
"""
# The others that passed the checks, with what was decided about them before: what others are made of comes first.
_UNLANDED = """
    select s.body, d.outcome, coalesce(d.reason, '') from samples s join outcomes f on f.subject = s.key
    left join outcomes d on d.build = f.build and d.stage = $1 and d.subject = s.key
    where f.build = $2 and f.stage = $3 and f.outcome = 'passed' and s.stage <> 'review'
        and not exists (select 1 from outcomes r where r.build = f.build and r.stage = $4 and r.subject = s.key)
    order by exists (select 1 from acceptances a where a.subject = s.key) desc,
        ($6::int[])[list_position($5::varchar[], s.kind)], s.key
"""


def route_review(landing: Landing) -> None:
    """Ask people about all whose grade the recipe does not let land; what they decided before is not asked again."""
    asked = [landing.build, LANDING.duplicates, LANDING.review]
    doubts = landing.warehouse.rows(_DOUBTFUL, [*asked, landing.recipe.landing_grades, DUPLICATES])
    if landing.recipe.review.repeated:
        doubts = _with_repeated(landing, doubts)
    outcomes = [landing.note(LANDING.review, row["key"], "waiting", row["reasons"], "unproved") for row in doubts]
    contradicted = landing.warehouse.rows(
        "select subject, reason from outcomes where build = ? and outcome = 'waiting' and stage <> ?",
        [landing.build, LANDING.review],
    )
    doubtful = {row["subject"]: row["reason"] for row in contradicted}
    doubtful |= {row["key"]: row["reasons"] for row in doubts}
    rules = landing.recipe.review
    requests = [
        request_row(ReviewQuestion(subject, DOUBTFUL, reason, landing.build, reviewers=rules.reviewers_of(DOUBTFUL)))
        for subject, reason in sorted(doubtful.items())
    ]
    questions = with_kinds(landing.warehouse, requests) + corrections_to_ask(
        landing.warehouse, landing.build, landing.recipe
    )
    landing.warehouse.put_rows({"outcomes": outcomes, "review_requests": questions})
    landing.warehouse.execute(pass_all(_PASSED), [landing.build, LANDING.review, *asked])
    carry_over_corrections(landing.warehouse)
    settle_decisions(landing.warehouse)


def _with_repeated(landing: Landing, doubts: Sequence[Row]) -> list[Row]:
    """The doubtful samples and those whose request begins like too many others, or is too many others but for its values."""
    reasons = {row["key"]: row["reasons"] for row in doubts}
    checks = landing.recipe.checks
    asked = [landing.build, LANDING.duplicates, LANDING.review, checks.largest_opening, checks.largest_skeleton]
    for row in landing.warehouse.rows(_REPEATED, asked):
        reasons[row["key"]] = " ".join(filter(None, (reasons.get(row["key"]), row["reason"])))
    return [{"key": key, "reasons": reason} for key, reason in sorted(reasons.items())]


# Of the different requests of a build in a language, those that stand beyond the share of their opening or skeleton in the order of
# a hash of their words, whenever they were made; what has its place already stays. As in the view too_frequent, fifty are needed.
_REPEATED = """
    with said as (
        select s.key, s.language, s.request, exists (select 1 from outcomes r
            where r.build = $1 and r.stage = $3 and r.subject = s.key) as has_place
        from samples s join outcomes f on f.subject = s.key
        where f.build = $1 and f.stage = $2 and f.outcome = 'passed' and s.stage <> 'review' and coalesce(s.request, '') <> ''
    ), requests as (
        select language, request, unnest([
            {'what': 'begins with', 'words': opening_of(request), 'allowed': $4::double},
            {'what': 'is, but for numbers and quoted words,', 'words': skeleton_of(request), 'allowed': $5::double}
        ], recursive := true) from (select distinct language, request from said)
    ), ranked as (
        select *, row_number() over (partition by language, what, words order by md5(request), request) as place,
            count(*) over (partition by language, what) as total
        from requests
    ), beyond as (
        select language, request, string_agg(format('The request {} {}, as more than {:.1f} % of all do.',
            what, '"' || words || '"', 100 * allowed), ' ' order by what) as reason
        from ranked where total >= 50 and place > allowed * total group by language, request
    )
    select s.key, b.reason from said s join beyond b using (language, request) where not s.has_place order by s.key
"""
# Samples of this build whose grade may not land without people, each with the reasons of its newest verdicts that prove nothing,
# and with what no check settles.
_DOUBTFUL = f"""
    with unsettled as (
        select p.key, g.grade, g.models, g.open_claims from ({_PASSED}) p join sample_grades g on g.subject = p.key
        where not list_contains(?::varchar[], g.grade)
    ), newest as (
        select subject, check_name, arg_max(decision, made_at) as decision, arg_max(reason, made_at) as reason
        from verdicts v semi join unsettled u on u.key = v.subject where check_name <> ? group by all
    ), doubts as (
        select subject, string_agg(check_name || ': ' || reason, ' ' order by check_name) as reasons
        from newest where decision <> 'proved' group by subject
    )
    select u.key, concat_ws(' ', d.reasons,
        if(u.grade = 'judged', 'Rules leave it open; ' || array_to_string(u.models, ' and ') || ' read the same.', null),
        if(d.reasons is null and u.grade = 'open', 'Nothing settles: ' || array_to_string(u.open_claims, ', ') || '.', null)
    ) as reasons
    from unsettled u left join doubts d on d.subject = u.key order by u.key
"""  # noqa: S608

_UNDECIDED = _PASSED.replace("order by", "and s.key not in (select subject from decisions) order by")


_ACCEPT = f"""
    insert into acceptances (subject, build, recipe, grade, judged_by, accepted_by, decided_by, accepted_at, withdrawn_at)
    select p.key, ?, ?, g.grade, if(g.grade = 'judged', g.models, []), 'machine', 'machine', now(), null
    from ({_UNDECIDED}) p join sample_grades g on g.subject = p.key where p.key not in (select subject from acceptances)
"""  # noqa: S608
# What a check took back, and settles by now; and what a changed check settles in another way than when it landed.
_ACCEPT_AGAIN = """
    update acceptances set withdrawn_at = null, accepted_at = now()
    where withdrawn_at is not null and decided_by = 'machine' and subject in (select key from ({undecided}))
"""
_GRADE_AGAIN = """
    update acceptances set grade = g.grade, judged_by = if(g.grade = 'judged', g.models, [])
    from sample_grades g where g.subject = acceptances.subject and acceptances.build = ? and acceptances.withdrawn_at is null
        and acceptances.decided_by = 'machine' and g.grade <> 'open' and g.grade <> acceptances.grade
"""
# What a trial has landed belongs to the whole build that lands it too.
_TAKE_OVER = """
    update acceptances set build = ?, recipe = ? where build in (select key from builds where is_trial)
        and subject in (select subject from outcomes where build = ? and stage = ? and outcome = 'passed')
"""


def land_samples(landing: Landing) -> None:
    """Accept what no person was asked about, each sample once; draw spot checks and gold items. People's own have landed."""
    asked = [landing.build, LANDING.review, LANDING.land]
    with landing.warehouse.writing() as connection:
        connection.execute(_ACCEPT, [landing.build, landing.recipe.name, *asked])
        connection.execute(_ACCEPT_AGAIN.format(undecided=_UNDECIDED), asked)
        connection.execute(_GRADE_AGAIN, [landing.build])
        connection.execute(pass_all(_UNDECIDED), [landing.build, LANDING.land, *asked])
        if not landing.recipe.trial:
            connection.execute(_TAKE_OVER, [landing.build, landing.recipe.name, landing.build, LANDING.land])
    _draw_spot_checks(landing)
    mix_gold_items(landing.warehouse, landing.build, landing.recipe)


def _draw_spot_checks(landing: Landing) -> None:
    """Draw the recipe's spot checks: of samples, and of the dialogue acts of conversations."""
    rules, seed = landing.recipe.review, landing.recipe.seed
    for grades, wanted in rules.spot_checks_by_grade().items():
        _draw(landing, SAMPLE_REVIEW, wanted, grades, order=f"{seed}", reason=DRAWN)
    acts = rules.dialogue_acts
    _draw(landing, DIALOGUE_ACTS, acts, LANDED_GRADES, order=f"{seed}:{DIALOGUE_ACTS}", reason=_ACTS_DRAWN)


_ACTS_DRAWN = "Drawn from the accepted conversations, to see how good their dialogue acts are."


def _draw(
    landing: Landing, kind: str, wanted: float, grades: Sequence[LandedGrade], *, order: str, reason: str
) -> None:
    """Fill the spot checks of a review kind up to their number, in an order of their own; what was drawn stays drawn.

    `wanted` is how many, or, if it is no whole number, the share of what landed without people.
    """
    rows = landing.warehouse.stream(
        """
        select f.subject, r.cause, f.stage = $3 and f.outcome = 'passed' and a.decided_by = 'machine' as is_free from outcomes f
        join samples s on s.key = f.subject
        join kinds k on k.name = s.kind
        left join review_requests r on r.subject = f.subject and r.kind = $1
        left join acceptances a on a.subject = f.subject and a.withdrawn_at is null
        where f.build = $2 and f.stage in ($4, $3) and list_contains(k.reviews, $1)
            and list_contains($5::varchar[], coalesce(a.grade, $6))
        """,
        [kind, landing.build, LANDING.land, LANDING.review, list(grades), grades[0]],
    )
    drawn: set[str] = set()

    def free() -> Iterator[str]:
        for subject, cause, is_free in rows:
            if cause == SPOT_CHECK:
                drawn.add(subject)
            if is_free and cause is None:
                yield subject

    count = wanted if isinstance(wanted, int) else ceil(wanted * _count_landed(landing, grades))
    first = nsmallest(count, free(), key=lambda subject: blake2b(f"{order}:{subject}".encode()).digest())
    chosen = first[: max(0, count - len(drawn))]
    reviewers = landing.recipe.review.reviewers_of(SPOT_CHECK)
    ask(landing.warehouse, [ReviewQuestion(one, SPOT_CHECK, reason, landing.build, kind, reviewers) for one in chosen])


def _count_landed(landing: Landing, grades: Sequence[LandedGrade]) -> int:
    """How many samples of a build landed with one of these grades."""
    [row] = landing.warehouse.rows(
        "select count(*) as n from acceptances where build = ? and list_contains(?::varchar[], grade)",
        [landing.build, list(grades)],
    )
    return int(row["n"])
