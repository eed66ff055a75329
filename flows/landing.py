"""The last stages of a build, over all its samples at once: duplicates, review, land."""

from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import blake2b
from typing import NamedTuple

from annotation.screens import SAMPLE_REVIEW
from flows.decisions import carry_over_decisions
from flows.recipe import Recipe
from validators.checks.duplicates import DuplicateIndex
from warehouse.records import Record, Sample
from warehouse.rows import Row, Stamp, rows_of
from warehouse.store import Warehouse

MACHINE = "machine"


class Landing(NamedTuple):
    """The build whose samples land."""

    build: str
    recipe: Recipe
    warehouse: Warehouse

    def note(self, stage: str, subject: str, outcome: str, reason: str = "") -> Row:
        """The fate of a sample at a stage, as a row."""
        return {
            "build": self.build, "stage": stage, "subject": subject, "outcome": outcome, "reason": reason,
            "made_at": datetime.now(UTC),
        }  # fmt: skip


# A sample is as far as a stage when the stage before passed it; the newest verdicts of each check count.
_PASSED = """
    select s.key from samples s join fates f on f.subject = s.key
    where f.build = ? and f.stage = ? and f.outcome = 'passed'
        and not exists (select 1 from fates g where g.build = f.build and g.stage = ? and g.subject = s.key)
    order by exists (select 1 from acceptances a where a.subject = s.key) desc, s.key
"""


def check_duplicates(landing: Landing) -> None:
    """Reject samples that say the same as one before them, of this build or accepted by another recipe."""
    index = DuplicateIndex(threshold=landing.recipe.checks.near_duplicate)
    for (body,) in landing.warehouse.stream(_EARLIER, [landing.build, landing.recipe.name]):
        index.verdict(Sample.model_validate_json(body))
    verdicts: list[Record] = []
    fates: list[Row] = []
    passed = _PASSED.replace("select s.key", "select s.body")
    for (body,) in landing.warehouse.stream(passed, [landing.build, "meaning", "duplicates"]):
        verdict = index.verdict(Sample.model_validate_json(body))
        verdicts.append(verdict)
        outcome = "rejected" if verdict.decision == "contradicted" else "passed"
        fates.append(
            landing.note("duplicates", verdict.subject, outcome, verdict.reason if outcome == "rejected" else "")
        )
    landing.warehouse.put_rows({"verdicts": _rows("verdicts", verdicts), "fates": fates})


# What has a place already: samples of this build that came through before, and other recipes' accepted ones.
_EARLIER = """
    select s.body from samples s
    where exists (select 1 from fates f
            where f.build = ? and f.stage = 'duplicates' and f.outcome = 'passed' and f.subject = s.key)
        or exists (select 1 from acceptances a
            where a.subject = s.key and a.recipe <> ? and a.withdrawn_at is null)
    order by s.key
"""


def route_review(landing: Landing) -> None:
    """Ask people about all that a check could not prove; what they decided before is not asked again."""
    passed = landing.warehouse.rows(_PASSED, [landing.build, "duplicates", "review"])
    doubts = _doubts(landing)
    fates = [
        landing.note("review", row["key"], "waiting" if row["key"] in doubts else "passed", doubts.get(row["key"], ""))
        for row in passed
    ]
    contradicted = landing.warehouse.rows(
        "select subject, reason from fates where build = ? and outcome = 'waiting' and stage <> 'review'",
        [landing.build],
    )
    doubtful = {row["subject"]: row["reason"] for row in contradicted}
    doubtful |= {row["key"]: doubts[row["key"]] for row in passed if row["key"] in doubts}
    requests = [_request(landing.build, subject, "doubtful", reason) for subject, reason in sorted(doubtful.items())]
    landing.warehouse.put_rows({"fates": fates, "review_requests": requests})
    carry_over_decisions(landing.warehouse, landing.build, landing.recipe.name)


def _doubts(landing: Landing) -> dict[str, str]:
    """Why a sample of this build needs a person: the reasons of its newest verdicts that prove nothing."""
    rows = landing.warehouse.rows(
        """
        with newest as (
            select subject, check_name, arg_max(decision, made_at) as decision, arg_max(reason, made_at) as reason
            from verdicts where check_name <> 'duplicates' group by all
        )
        select n.subject, string_agg(n.check_name || ': ' || n.reason, ' ' order by n.check_name) as reasons
        from newest n join fates f on f.subject = n.subject
        where f.build = ? and f.stage = 'duplicates' and n.decision <> 'proved' group by n.subject
        """,
        [landing.build],
    )
    return {row["subject"]: row["reasons"] for row in rows}


def land_samples(landing: Landing) -> None:
    """Accept what passed review or needed none, each sample once, and draw the spot checks."""
    passed = landing.warehouse.rows(_PASSED, [landing.build, "review", "land"])
    now = datetime.now(UTC)
    acceptances = [
        {
            "subject": row["key"], "build": landing.build, "recipe": landing.recipe.name, "proved": True,
            "accepted_by": MACHINE, "vouched": False, "accepted_at": now, "withdrawn_at": None,
        }
        for row in passed
    ]  # fmt: skip
    landing.warehouse.put_rows({"acceptances": acceptances})
    gone = {
        row["subject"]
        for row in landing.warehouse.rows("select subject from acceptances where withdrawn_at is not null")
    }
    landing.warehouse.put_rows(
        {
            "fates": [
                landing.note("land", row["key"], "rejected", "A person took it back.")
                if row["key"] in gone
                else landing.note("land", row["key"], "passed")
                for row in passed
            ]
        }
    )
    _draw_spot_checks(landing)


def _draw_spot_checks(landing: Landing) -> None:
    """Fill the recipe's spot checks up to their number, by an order that the seed gives."""
    rows = landing.warehouse.rows(
        """
        select a.subject, r.cause from acceptances a
        left join review_requests r on r.subject = a.subject and r.kind = ?
        where a.recipe = ? and a.withdrawn_at is null
        """,
        [SAMPLE_REVIEW, landing.recipe.name],
    )
    drawn = sum(row["cause"] == "spot check" for row in rows)
    free = [row["subject"] for row in rows if row["cause"] is None]
    free.sort(key=lambda subject: blake2b(f"{landing.recipe.seed}:{subject}".encode()).digest())
    chosen = free[: max(0, landing.recipe.review.spot_checks - drawn)]
    reason = "Drawn from the accepted samples, to see how good they are."
    landing.warehouse.put_rows(
        {"review_requests": [_request(landing.build, subject, "spot check", reason) for subject in chosen]}
    )


def request_review(warehouse: Warehouse, build: str, subject: str, reason: str) -> None:
    """Ask people about one doubtful sample."""
    warehouse.put_rows({"review_requests": [_request(build, subject, "doubtful", reason)]})


def _request(build: str, subject: str, cause: str, reason: str) -> Row:
    return {
        "build": build, "subject": subject, "kind": SAMPLE_REVIEW, "cause": cause, "reason": reason,
        "requested_at": datetime.now(UTC), "pushed_at": None, "server": None,
    }  # fmt: skip


def _rows(table: str, records: Iterable[Record]) -> list[Row]:
    return [row for name, row in rows_of(records, Stamp(datetime.now(UTC))) if name == table]
