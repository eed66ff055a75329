"""The last stages of a build, over all its samples at once: duplicates, review, land."""

from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import blake2b
from typing import NamedTuple

from annotation.screens import SAMPLE_REVIEW
from flows.decisions import settle_decisions
from flows.path_reviews import carry_over_corrections, corrections_to_ask, with_kinds
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


# A sample is as far as a stage when the stage before passed it; the newest verdicts of each check count. What came of
# an edit lands by the decision about it.
_PASSED = """
    select s.key from samples s join fates f on f.subject = s.key
    where f.build = ? and f.stage = ? and f.outcome = 'passed' and s.stage <> 'review'
        and not exists (select 1 from fates g where g.build = f.build and g.stage = ? and g.subject = s.key)
    order by exists (select 1 from acceptances a where a.subject = s.key) desc, s.key
"""


def check_duplicates(landing: Landing) -> None:
    """Reject samples that say the same as one before them, of this build or accepted by another recipe."""
    if not landing.warehouse.rows(_PASSED, [landing.build, "meaning", "duplicates"]):
        return
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
    asked = with_kinds(landing.warehouse, requests) + corrections_to_ask(
        landing.warehouse, landing.build, landing.recipe
    )
    landing.warehouse.put_rows({"fates": fates, "review_requests": asked})
    carry_over_corrections(landing.warehouse)
    settle_decisions(landing.warehouse)


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


_UNDECIDED = _PASSED.replace("order by", "and s.key not in (select subject from decisions) order by")


def land_samples(landing: Landing) -> None:
    """Accept what no person was asked about, each sample once, and draw the spot checks; people's own have landed."""
    passed = landing.warehouse.rows(_UNDECIDED, [landing.build, "review", "land"])
    now = datetime.now(UTC)
    acceptances = [
        {
            "subject": row["key"], "build": landing.build, "recipe": landing.recipe.name, "proved": True,
            "accepted_by": MACHINE, "vouched": False, "accepted_at": now, "withdrawn_at": None,
        }
        for row in passed
    ]  # fmt: skip
    fates = [landing.note("land", row["key"], "passed") for row in passed]
    landing.warehouse.put_rows({"acceptances": acceptances, "fates": fates})
    _draw_spot_checks(landing)


def _draw_spot_checks(landing: Landing) -> None:
    """Fill the recipe's spot checks up to their number, by an order that the seed gives; what was drawn stays drawn."""
    rows = landing.warehouse.rows(
        """
        select f.subject, r.cause, f.stage = 'land' and f.outcome = 'passed' and a.accepted_by = ? as is_free from fates f
        left join review_requests r on r.subject = f.subject and r.kind = ?
        left join acceptances a on a.subject = f.subject and a.withdrawn_at is null
        where f.build = ? and f.stage in ('review', 'land')
        """,
        [MACHINE, SAMPLE_REVIEW, landing.build],
    )
    drawn = len({row["subject"] for row in rows if row["cause"] == "spot check"})
    free = [row["subject"] for row in rows if row["is_free"] and row["cause"] is None]
    free.sort(key=lambda subject: blake2b(f"{landing.recipe.seed}:{subject}".encode()).digest())
    chosen = free[: max(0, landing.recipe.review.spot_checks - drawn)]
    reason = "Drawn from the accepted samples, to see how good they are."
    landing.warehouse.put_rows(
        {"review_requests": [_request(landing.build, subject, "spot check", reason) for subject in chosen]}
    )


def request_reviews(warehouse: Warehouse, doubtful: Iterable[tuple[str, str, str]]) -> None:
    """Ask people about doubtful samples, each a build, the sample's key and the reason; nobody is asked twice."""
    warehouse.put_rows({"review_requests": [_request(build, key, "doubtful", why) for build, key, why in doubtful]})


def _request(build: str, subject: str, cause: str, reason: str) -> Row:
    return {
        "build": build, "subject": subject, "kind": SAMPLE_REVIEW, "cause": cause, "reason": reason,
        "requested_at": datetime.now(UTC), "pushed_at": None, "server": None,
    }  # fmt: skip


def _rows(table: str, records: Iterable[Record]) -> list[Row]:
    return [row for name, row in rows_of(records, Stamp(datetime.now(UTC))) if name == table]
