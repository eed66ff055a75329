"""Questions about paths: which corrections and which competing entries people are asked about, and what follows.

A decision about a correction counts for all samples of its template: it is written down as a decision about each.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import blake2b

import orjson

from callwright.annotation.disambiguation import has_competition
from callwright.annotation.screens import CORRECTION, DISAMBIGUATION
from callwright.flows.recipe import Recipe
from callwright.flows.review.questions import DOUBTFUL, SPOT_CHECK, ReviewQuestion, request_row
from callwright.warehouse.queries import sql
from callwright.warehouse.records import GoalPath, Review, Sample
from callwright.warehouse.rows import Row, rows_of
from callwright.warehouse.store import Warehouse

MOST_SPOT_CHECKS = 5


def corrections_to_ask(warehouse: Warehouse, build: str, recipe: Recipe) -> list[Row]:
    """The requests for reviews of corrections: each corrected template of which a sample's path is in doubt, and a few more.

    What was asked before is not among them.
    """
    rules = recipe.review
    rows = warehouse.rows(sql("path_reviews.corrected"), [CORRECTION, build])
    requests = [
        request_row(
            ReviewQuestion(row["path"], DOUBTFUL, row["reason"], build, CORRECTION, rules.reviewers_of(DOUBTFUL))
        )
        for row in rows
        if row["in_doubt"] and row["is_new"]
    ]
    drawn = sum(row["cause"] == "spot check" for row in rows)
    free = [row["path"] for row in rows if not row["in_doubt"] and row["is_new"]]
    free.sort(key=lambda path: blake2b(f"{recipe.seed}:{path}".encode()).digest())
    count = max(0, min(rules.spot_checks_among(len(free)), MOST_SPOT_CHECKS) - drawn)
    reason = "Drawn from the corrected paths, to see how good the corrections are."
    reviewers = rules.reviewers_of(SPOT_CHECK)
    return requests + [
        request_row(ReviewQuestion(path, SPOT_CHECK, reason, build, CORRECTION, reviewers)) for path in free[:count]
    ]


def with_kinds(warehouse: Warehouse, requests: Sequence[Row]) -> list[Row]:
    """The requests about samples, each of the kind that fits: where only competing entries are in doubt, these are asked about."""
    found = warehouse.stream(
        sql("path_reviews.only_path"), [[request["subject"] for request in requests]]
    )  # responses may be long
    competing = {key for key, body in found if has_competition(Sample.model_validate_json(body))}
    return [
        request | {"kind": DISAMBIGUATION} if request["subject"] in competing else request for request in requests
    ]  # fmt: skip


def carry_over_corrections(warehouse: Warehouse) -> None:
    """Write down what people decided about corrections as decisions about the samples of their templates.

    A rejected correction rejects them all. An accepted one vouches for those of which nothing but the path is in doubt,
    and whose entries do not compete: about those people are asked one by one.
    """
    reviews = [
        _for_sample(row)
        for row in warehouse.rows(sql("path_reviews.decided"), [CORRECTION, CORRECTION, DISAMBIGUATION])
    ]
    kept = [row for name, row in rows_of(reviews, datetime.now(UTC)) if name == "reviews"]
    warehouse.put_rows({"reviews": kept})


def read_paths(warehouse: Warehouse, keys: Sequence[str]) -> dict[str, GoalPath]:
    """The corrected paths with these keys that the warehouse has."""
    sql = "select key, body from drafts where type = 'GoalPath' and list_contains(?::varchar[], key)"
    return {row["key"]: GoalPath.model_validate(orjson.loads(row["body"])) for row in warehouse.rows(sql, [list(keys)])}


def samples_of_paths(warehouse: Warehouse, keys: Sequence[str]) -> dict[str, list[str]]:
    """The samples of the templates of these paths."""
    found: dict[str, list[str]] = {}
    for row in warehouse.rows(sql("path_reviews.samples"), [list(keys)]):
        found.setdefault(row["path"], []).append(row["sample"])
    return found


def _for_sample(row: Row) -> Review:
    return Review(
        subject=row["sample"],
        kind=CORRECTION,
        decision=row["decision"],
        reviewer=row["reviewer"],
        reviewed_at=row["reviewed_at"],
        reasons=tuple(row["reasons"]),
        comment=f"Decided about the correction of its path, {row['path']}.",
        carried_from=row["path"],
    )
