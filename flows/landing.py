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
from callwright.flows.overlap import Avoided
from callwright.flows.recipe import LANDED_GRADES, LandedGrade, Recipe
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
from callwright.flows.shards import FactFiles
from callwright.flows.stages import LANDING, stages_of
from callwright.generators.kinds import waves_of
from callwright.validators.checks.declaring import GROUP as CHECKS
from callwright.validators.checks.duplicates import CHECK as DUPLICATES
from callwright.validators.checks.duplicates import find_duplicates
from callwright.validators.checks.verdicts import outcome_of
from callwright.warehouse.outcomes import outcome_row, pass_all, remove_outcomes
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Outcome, ReasonCode, Sample, StageOutcome
from callwright.warehouse.rows import Row, rows_of
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


def has_undecided(landing: Landing) -> bool:
    """Whether a sample passed all checks of which it is not known whether it says the same as another one."""
    asked = [landing.build, stages_of(CHECKS)[-1].name, LANDING.duplicates]
    return bool(landing.warehouse.rows(sql("landing.any_passed"), asked))


def check_duplicates(landing: Landing) -> None:
    """Decide what is undecided, as `decide_duplicates` does."""
    if has_undecided(landing):
        decide_duplicates(landing)


def decide_duplicates(landing: Landing) -> None:
    """Reject samples that say the same as another one of this build, or as one accepted by another recipe.

    Which of them stays depends on their keys and not on when they were made: all that has not landed is decided together, anew
    as soon as there is more, so that a build that was cut off comes to what an undisturbed one comes to.
    """
    build, warehouse = landing.build, landing.warehouse
    checked = stages_of(CHECKS)[-1].name
    known = warehouse.stream(sql("landing.landed"), [build, LANDING.duplicates, LANDING.review, landing.recipe.name])
    waves = [(kind.name, number) for number, wave in enumerate(waves_of(landing.recipe.samples)) for kind in wave]
    asked = [LANDING.duplicates, build, checked, LANDING.review, [name for name, _ in waves], [at for _, at in waves]]
    before: list[tuple[StageOutcome | None, str]] = []
    near, avoided = landing.recipe.checks, Avoided(landing.recipe.avoid, warehouse)

    def unlanded() -> Iterator[Sample]:
        for body, outcome, reason in warehouse.stream(sql("landing.unlanded"), asked):
            before.append((outcome, reason))
            yield Sample.model_validate_json(body)

    samples = (Sample.model_validate_json(body) for (body,) in known)
    home = warehouse.path.parent  # where there is room; the folder of temporary files may be memory
    with tempfile.TemporaryDirectory(prefix="callwright-") as folder:
        facts, changed = Path(folder) / "facts", []  # by way of files: there may be millions
        with warehouse.reading(), tempfile.TemporaryFile(dir=home) as spool, FactFiles(facts) as files:
            found = find_duplicates(
                avoided.look(unlanded()),
                spool,
                known=samples,
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
            remove_outcomes(warehouse, ((build, LANDING.duplicates, subject) for subject in changed))
            warehouse.put_files(facts)
    if landing.recipe.checks.repeated == "reject":
        outcomes = [
            landing.note(LANDING.duplicates, row["key"], "rejected", row["reason"], "duplicate")
            for row in _repeated(landing)
        ]
        remove_outcomes(landing.warehouse, ((landing.build, LANDING.duplicates, one["subject"]) for one in outcomes))
        landing.warehouse.put_rows({"outcomes": outcomes})


def _repeated(landing: Landing) -> list[Row]:
    """The samples whose request begins like too many others, or is too many others but for its values, and why."""
    checks = landing.recipe.checks
    asked = [landing.build, LANDING.duplicates, LANDING.review, checks.largest_opening, checks.largest_skeleton]
    return landing.warehouse.rows(sql("landing.repeated"), asked)


def route_review(landing: Landing) -> None:
    """Ask people about all whose grade the recipe does not let land; what they decided before is not asked again."""
    asked = [landing.build, LANDING.duplicates, LANDING.review]
    wrong = landing.recipe.accept.wrong_at_most
    if wrong is not None:
        landing.warehouse.execute(sql("landing.certain_by_now"), [landing.build, LANDING.review, wrong])
    found = landing.warehouse.rows(sql("landing.doubtful"), [*asked, landing.recipe.landing_grades, DUPLICATES])
    doubts = [(row["key"], row["reasons"]) for row in found]
    if wrong is not None:
        uncertain = landing.warehouse.rows(sql("landing.uncertain"), [*asked, wrong])
        doubts += [(row["key"], _uncertainty(row["known"], wrong)) for row in uncertain]
    if landing.recipe.review.repeated:
        doubts += [(row["key"], row["reason"]) for row in _repeated(landing)]
    reasons: dict[str, str] = {}
    for key, reason in doubts:
        reasons[key] = " ".join(filter(None, (reasons.get(key), reason)))
    outcomes = [landing.note(LANDING.review, key, "waiting", told, "unproved") for key, told in sorted(reasons.items())]
    contradicted = landing.warehouse.rows(
        "select subject, reason from outcomes where build = ? and outcome = 'waiting' and stage <> ?",
        [landing.build, LANDING.review],
    )
    doubtful = {row["subject"]: row["reason"] for row in contradicted} | reasons
    rules = landing.recipe.review
    requests = [
        request_row(ReviewQuestion(subject, DOUBTFUL, reason, landing.build, reviewers=rules.reviewers_of(DOUBTFUL)))
        for subject, reason in sorted(doubtful.items())
    ]
    questions = with_kinds(landing.warehouse, requests)
    questions += corrections_to_ask(landing.warehouse, landing.build, landing.recipe)
    landing.warehouse.put_rows({"outcomes": outcomes, "review_requests": questions})
    landing.warehouse.execute(pass_all(sql("landing.passed")), [landing.build, LANDING.review, *asked])
    carry_over_corrections(landing.warehouse)
    settle_decisions(landing.warehouse)


def _uncertainty(known: float | None, wrong: float) -> str:
    """Why what a model settled does not land."""
    told = "has not been measured" if known is None else f"is known to be right in {known:.1%} alone"
    return f"How its readers read {told}, and the recipe accepts {wrong:.1%} wrong ones."


def land_samples(landing: Landing) -> None:
    """Accept what no person was asked about, each sample once; draw spot checks and gold items. People's own have landed."""
    asked = [landing.build, LANDING.review, LANDING.land]
    with landing.warehouse.writing() as connection:
        connection.execute(sql("landing.accept"), [landing.build, landing.recipe.name, *asked])
        connection.execute(sql("landing.accept_again"), asked)
        connection.execute(sql("landing.grade_again"), [landing.build])
        connection.execute(pass_all(sql("landing.undecided")), [landing.build, LANDING.land, *asked])
        if not landing.recipe.trial:
            connection.execute(
                sql("landing.take_over"), [landing.build, landing.recipe.name, landing.build, LANDING.land]
            )
    rules, seed = landing.recipe.review, landing.recipe.seed
    for grades, wanted in rules.spot_checks_by_grade().items():
        _draw(landing, SAMPLE_REVIEW, wanted, grades, order=f"{seed}", reason=DRAWN)
    acts = rules.dialogue_acts
    _draw(landing, DIALOGUE_ACTS, acts, LANDED_GRADES, order=f"{seed}:{DIALOGUE_ACTS}", reason=_ACTS_DRAWN)
    mix_gold_items(landing.warehouse, landing.build, landing.recipe)


_ACTS_DRAWN = "Drawn from the accepted conversations, to see how good their dialogue acts are."


def _draw(
    landing: Landing, kind: str, wanted: float, grades: Sequence[LandedGrade], *, order: str, reason: str
) -> None:
    """Fill the spot checks of a review kind up to their number, in an order of their own; what was drawn stays drawn.

    `wanted` is how many, or, if it is no whole number, the share of what landed without people.
    """
    rows = landing.warehouse.stream(
        sql("landing.to_draw"), [kind, landing.build, LANDING.land, LANDING.review, list(grades), grades[0]]
    )
    drawn: set[str] = set()

    def free() -> Iterator[str]:
        for subject, cause, is_free in rows:
            if cause == SPOT_CHECK:
                drawn.add(subject)
            if is_free and cause is None:
                yield subject

    [landed] = landing.warehouse.rows(
        "select count(*) as n from acceptances where build = ? and list_contains(?::varchar[], grade)",
        [landing.build, list(grades)],
    )
    count = wanted if isinstance(wanted, int) else ceil(wanted * int(landed["n"]))
    first = nsmallest(count, free(), key=lambda subject: blake2b(f"{order}:{subject}".encode()).digest())
    chosen = first[: max(0, count - len(drawn))]
    reviewers = landing.recipe.review.reviewers_of(SPOT_CHECK)
    ask(landing.warehouse, [ReviewQuestion(one, SPOT_CHECK, reason, landing.build, kind, reviewers) for one in chosen])
