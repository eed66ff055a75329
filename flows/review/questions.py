"""Questions to people: who is asked about what, why, how many, in which order; and paths."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from operator import itemgetter
from typing import NamedTuple

import orjson

from callwright.annotation.multi_step_review import offered_strikes
from callwright.annotation.screens import CORRECTION, DISAMBIGUATION, SAMPLE_REVIEW
from callwright.flows.recipe import Recipe
from callwright.flows.review.fitting_weights import refit_weights
from callwright.warehouse.batches import grouped
from callwright.warehouse.queries import sql
from callwright.warehouse.records import GoalPath, Review, Sample, Tool
from callwright.warehouse.releases import read_tools, samples_by_key
from callwright.warehouse.rows import Row, rows_of
from callwright.warehouse.store import Warehouse

DOUBTFUL = "doubtful"
SPOT_CHECK = "spot check"
GOLD_ITEM = "gold item"
SUSPECT = "suspect"
SECOND_LOOK = "second look"
AUDIT = "audit"
RETURNED_EDIT = "returned edit"
# drawn by chance; no check gives a reason
DRAWN_CAUSES = frozenset({SPOT_CHECK, GOLD_ITEM, SECOND_LOOK, AUDIT})
RETURNED_FIRST = 0.9  # the priority of what somebody waits for
DRAWN = "Drawn from the accepted samples, to see how good they are."


class ReviewQuestion(NamedTuple):
    """A question for reviewers; `reviewers` is how many answer it independently.

    `against` is the answer that a suspicion holds against the gold, "" if it is none: people are
    asked once about each.
    """

    subject: str
    cause: str
    reason: str
    build: str = ""
    kind: str = SAMPLE_REVIEW
    reviewers: int = 1
    against: str = ""


def request_row(question: ReviewQuestion) -> Row:
    """Return a new question as a row of `review_requests`."""
    return {
        **question._asdict(),
        "requested_at": datetime.now(UTC),
        "pushed_at": None,
        "server": None,
        "overlap": 1,
        "priority": 0.5,
    }


def ask(warehouse: Warehouse, questions: Iterable[ReviewQuestion]) -> int:
    """Ask the questions that are new, and return how many there are.

    The same question twice is one.
    """
    return _put(warehouse, [request_row(question) for question in questions], [])


def ask_again(warehouse: Warehouse, questions: Sequence[ReviewQuestion]) -> int:
    """Ask people about subjects, even if they were asked before; return how many are new.

    A repeated question is a further version of the task, once for each cause and reason.
    """
    if not questions:
        return 0
    subjects = sorted({question.subject for question in questions})
    rows = warehouse.rows(sql("questions.asked"), [subjects])
    asked = {(row["subject"], row["kind"]): row for row in rows}
    first, rounds = [], []
    for question in questions:
        before = asked.get((question.subject, question.kind))
        if before is None:
            first.append(request_row(question))
        elif (
            f"{question.cause}: {question.reason}" not in before["asked"] and not before["is_open"]
        ):
            rounds.append(
                {
                    "subject": question.subject,
                    "kind": question.kind,
                    "version": before["version"] + 1,
                    "request": "",
                    "cause": question.cause,
                    "calls": "",
                    "problem": question.reason,
                    "reviewer": "",
                    "made_at": datetime.now(UTC),
                    "pushed_at": None,
                    "server": None,
                    "priority": RETURNED_FIRST,
                    "against": question.against,
                }
            )
    return _put(warehouse, first, rounds)


def _put(warehouse: Warehouse, requests: list[Row], rounds: list[Row]) -> int:
    before = _count(warehouse)
    warehouse.put_rows({"review_requests": requests, "review_rounds": rounds})
    return _count(warehouse) - before


def _count(warehouse: Warehouse) -> int:
    return int(warehouse.rows(sql("questions.count"))[0]["questions"])


def new_states(
    warehouse: Warehouse, server: str, tasks: Iterable[tuple[int, str, str, int]]
) -> list[Row]:
    """Return the states of untouched new tasks at a server, as (ID, kind, subject, version).

    Tasks that are known already are left out.
    """
    known_tasks = {
        row["task_id"]
        for row in warehouse.rows("select task_id from task_states where server = ?", [server])
    }
    shared = {
        "server": server,
        "seen_at": datetime.now(UTC),
        "annotations": 0,
        "skipped": 0,
        "drafts": 0,
        "deleted_at": None,
    }
    return [
        {"task_id": task, "kind": kind, "subject": subject, "version": version} | shared
        for task, kind, subject, version in tasks
        if task not in known_tasks
    ]


def set_priorities(warehouse: Warehouse) -> None:
    """Set the queue position of every question not pushed yet, by what its answer is worth."""
    refit_weights(warehouse)
    with warehouse.writing() as connection:
        connection.execute(sql("questions.worth"))
        connection.execute(sql("questions.requests"))
        connection.execute(sql("questions.rounds"))


MOST_SPOT_CHECKS = 5


def corrections_to_ask(warehouse: Warehouse, build: str, recipe: Recipe) -> list[Row]:
    """Return new requests for reviews of corrections: doubtful templates and a few more.

    A template is doubtful if the path of one of its samples is in doubt.
    """
    rules = recipe.review
    rows = warehouse.rows(sql("path_reviews.corrected"), [CORRECTION, build])
    reviewers = rules.reviewers_of(DOUBTFUL)
    requests = [
        request_row(
            ReviewQuestion(row["path"], DOUBTFUL, row["reason"], build, CORRECTION, reviewers)
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
    drawn_now = (
        ReviewQuestion(path, SPOT_CHECK, reason, build, CORRECTION, reviewers)
        for path in free[:count]
    )
    return [*requests, *map(request_row, drawn_now)]


def with_kinds(warehouse: Warehouse, requests: Sequence[Row]) -> list[Row]:
    """Return the requests, about competing entries only if nothing else of a sample is in doubt."""
    found = warehouse.stream(
        sql("path_reviews.only_path"), [[request["subject"] for request in requests]]
    )  # responses may be long
    competing = {key for key, body in found if offered_strikes(Sample.model_validate_json(body))}
    return [
        request | {"kind": DISAMBIGUATION} if request["subject"] in competing else request
        for request in requests
    ]


def carry_over_corrections(warehouse: Warehouse) -> None:
    """Record people's decisions about corrections as decisions about their templates' samples.

    A rejected correction rejects them all. An accepted one vouches for those of which only the
    path is in doubt, and whose entries do not compete: people are asked about these one by one.
    """
    reviews = [
        Review(
            subject=row["sample"],
            kind=CORRECTION,
            decision=row["decision"],
            reviewer=row["reviewer"],
            reviewed_at=row["reviewed_at"],
            reasons=tuple(row["reasons"]),
            carried_from=row["path"],
            comment=f"Decided by the review of its corrected path, {row['path']}.",
        )
        for row in warehouse.rows(
            sql("path_reviews.decided"), [CORRECTION, CORRECTION, DISAMBIGUATION]
        )
    ]
    kept = [row for name, row in rows_of(reviews, datetime.now(UTC)) if name == "reviews"]
    warehouse.put_rows({"reviews": kept})


def read_samples(
    warehouse: Warehouse, keys: Sequence[str]
) -> tuple[dict[str, Sample], dict[str, Tool]]:
    """Return the samples with these keys that the warehouse has, and their candidate tools."""
    if not keys:
        return {}, {}
    samples = samples_by_key(warehouse, keys)
    return samples, read_tools(
        warehouse, sorted({key for sample in samples.values() for key in sample.candidates})
    )


def read_paths(warehouse: Warehouse, keys: Sequence[str]) -> dict[str, GoalPath]:
    """Return the corrected paths with these keys that the warehouse has."""
    sql = (
        "select key, body from drafts where type = 'GoalPath' and list_contains(?::varchar[], key)"
    )
    return {
        row["key"]: GoalPath.model_validate(orjson.loads(row["body"]))
        for row in warehouse.rows(sql, [list(keys)])
    }


def samples_of_paths(warehouse: Warehouse, keys: Sequence[str]) -> dict[str, list[str]]:
    """Return the samples made from the templates of these paths."""
    of_paths = grouped(
        warehouse.rows(sql("path_reviews.samples"), [list(keys)]), itemgetter("path")
    )
    return {path: [row["sample"] for row in rows] for path, rows in of_paths.items()}
