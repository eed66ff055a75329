"""The last stages of a build, over all its samples at once: duplicates, review, land."""

import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from heapq import nsmallest
from pathlib import Path
from typing import NamedTuple

from annotation.screens import DIALOGUE_ACTS, SAMPLE_REVIEW
from flows.recipe import Recipe
from flows.review.gold_items import mix_gold_items
from flows.review.path_reviews import carry_over_corrections, corrections_to_ask, with_kinds
from flows.review.questions import DOUBTFUL, DRAWN, SPOT_CHECK, ReviewQuestion, ask, request_row
from flows.review.resolutions import settle_decisions
from flows.shards import FactFiles
from flows.stages import LANDING, stages_of
from validators.checks.duplicates import CHECK as DUPLICATES
from validators.checks.duplicates import find_duplicates
from validators.checks.table import GROUP as CHECKS
from validators.checks.verdicts import outcome_of
from warehouse.outcomes import outcome_row, pass_all
from warehouse.records import Outcome, ReasonCode, Sample, StageOutcome, Verdict
from warehouse.rows import Row, Stamp, rows_of
from warehouse.store import Warehouse


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
    """Reject samples that say the same as one before them, of this build or accepted by another recipe."""
    asked = [landing.build, stages_of(CHECKS)[-1].name, LANDING.duplicates]
    if not landing.warehouse.rows(f"{_PASSED} limit 1", asked):
        return
    known = _samples(landing.warehouse, _EARLIER, [landing.build, LANDING.duplicates, landing.recipe.name])
    passed = _samples(landing.warehouse, _PASSED.replace("select s.key", "select s.body"), asked)
    near = landing.recipe.checks.near_duplicate
    home = landing.warehouse.path.parent  # where there is room; the folder of temporary files may be memory
    with tempfile.TemporaryDirectory(prefix="callwright-") as folder:
        facts = Path(folder) / "facts"  # by way of files: there may be millions
        with tempfile.TemporaryFile(dir=home) as spool, FactFiles(facts) as files:
            for verdict in find_duplicates(passed, spool, known=known, threshold=near):
                files.add(_rendered(landing, verdict))
        landing.warehouse.put_files(facts)


def _samples(warehouse: Warehouse, sql: str, parameters: Sequence[str]) -> Iterator[Sample]:
    return (Sample.model_validate_json(body) for (body,) in warehouse.stream(sql, parameters))


def _rendered(landing: Landing, verdict: Verdict) -> dict[str, list[Row]]:
    """A verdict about likeness, and the outcome that follows from it, as rows."""
    found = outcome_of([verdict], must_prove=True)
    outcome = landing.note(
        LANDING.duplicates, verdict.subject, found.outcome, found.reason, "duplicate" if found.reason else "none"
    )
    [(table, row)] = rows_of([verdict], Stamp(datetime.now(UTC)))
    return {table: [row], "outcomes": [outcome]}


# What has a place already: samples of this build that came through before, and other recipes' accepted ones.
_EARLIER = """
    select s.body from samples s
    where exists (select 1 from outcomes f
            where f.build = ? and f.stage = ? and f.outcome = 'passed' and f.subject = s.key)
        or exists (select 1 from acceptances a
            where a.subject = s.key and a.recipe <> ? and a.withdrawn_at is null)
    order by s.key
"""


def route_review(landing: Landing) -> None:
    """Ask people about all that a check could not prove; what they decided before is not asked again."""
    asked = [landing.build, LANDING.duplicates, LANDING.review]
    doubts = landing.warehouse.rows(_DOUBTFUL, [DUPLICATES, landing.build, LANDING.duplicates, *asked])
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


# Why samples of this build need a person: the reasons of their newest verdicts that prove nothing. Most were never doubted,
# and need not be looked at closely.
_DOUBTFUL = f"""
    with doubted as (
        select subject from verdicts where decision <> 'proved' group by subject
    ), newest as (
        select subject, check_name, arg_max(decision, made_at) as decision, arg_max(reason, made_at) as reason
        from verdicts semi join doubted using (subject) where check_name <> ? group by all
    ), doubts as (
        select n.subject, string_agg(n.check_name || ': ' || n.reason, ' ' order by n.check_name) as reasons
        from newest n join outcomes f on f.subject = n.subject
        where f.build = ? and f.stage = ? and n.decision <> 'proved' group by n.subject
    )
    select p.key, d.reasons from ({_PASSED}) p join doubts d on d.subject = p.key
"""  # noqa: S608

_UNDECIDED = _PASSED.replace("order by", "and s.key not in (select subject from decisions) order by")


_ACCEPT = """
    insert into acceptances (subject, build, recipe, proved, accepted_by, decided_by, vouched, accepted_at, withdrawn_at)
    select key, ?, ?, true, 'machine', 'machine', false, now(), null
"""
# What a check took back, and proves by now.
_ACCEPT_AGAIN = """
    update acceptances set withdrawn_at = null, accepted_at = now()
    where withdrawn_at is not null and decided_by = 'machine' and subject in (select key from ({undecided}))
"""
_ONCE = "where key not in (select subject from acceptances)"


def land_samples(landing: Landing) -> None:
    """Accept what no person was asked about, each sample once; draw spot checks and gold items. People's own have landed."""
    asked = [landing.build, LANDING.review, LANDING.land]
    with landing.warehouse.writing() as connection:
        connection.execute(f"{_ACCEPT} from ({_UNDECIDED}) {_ONCE}", [landing.build, landing.recipe.name, *asked])
        connection.execute(_ACCEPT_AGAIN.format(undecided=_UNDECIDED), asked)
        connection.execute(pass_all(_UNDECIDED), [landing.build, LANDING.land, *asked])
    _draw_spot_checks(landing)
    mix_gold_items(landing.warehouse, landing.build, landing.recipe)


def _draw_spot_checks(landing: Landing) -> None:
    """Draw the recipe's spot checks: of samples, and of the dialogue acts of conversations."""
    rules, seed = landing.recipe.review, landing.recipe.seed
    _draw(landing, SAMPLE_REVIEW, rules.spot_checks, order=f"{seed}", reason=DRAWN)
    _draw(landing, DIALOGUE_ACTS, rules.dialogue_acts, order=f"{seed}:{DIALOGUE_ACTS}", reason=_ACTS_DRAWN)


_ACTS_DRAWN = "Drawn from the accepted conversations, to see how good their dialogue acts are."


def _draw(landing: Landing, kind: str, count: int, *, order: str, reason: str) -> None:
    """Fill the spot checks of a review kind up to their number, in an order of their own; what was drawn stays drawn."""
    rows = landing.warehouse.stream(
        """
        select f.subject, r.cause, f.stage = $3 and f.outcome = 'passed' and a.decided_by = 'machine' as is_free from outcomes f
        join samples s on s.key = f.subject
        join kinds k on k.name = s.kind
        left join review_requests r on r.subject = f.subject and r.kind = $1
        left join acceptances a on a.subject = f.subject and a.withdrawn_at is null
        where f.build = $2 and f.stage in ($4, $3) and list_contains(k.reviews, $1)
        """,
        [kind, landing.build, LANDING.land, LANDING.review],
    )
    drawn: set[str] = set()

    def free() -> Iterator[str]:
        for subject, cause, is_free in rows:
            if cause == SPOT_CHECK:
                drawn.add(subject)
            if is_free and cause is None:
                yield subject

    first = nsmallest(count, free(), key=lambda subject: blake2b(f"{order}:{subject}".encode()).digest())
    chosen = first[: max(0, count - len(drawn))]
    reviewers = landing.recipe.review.reviewers_of(SPOT_CHECK)
    ask(landing.warehouse, [ReviewQuestion(one, SPOT_CHECK, reason, landing.build, kind, reviewers) for one in chosen])
