"""Questions to people, as rows: who is asked about what, why, of how many the answer is wanted, and what is asked first."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from callwright.annotation.screens import SAMPLE_REVIEW
from callwright.warehouse.queries import sql
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

DOUBTFUL = "doubtful"
SPOT_CHECK = "spot check"
GOLD_ITEM = "gold item"
SUSPECT = "suspect"
SECOND_LOOK = "second look"
AUDIT = "audit"
RETURNED_EDIT = "returned edit"
DRAWN_CAUSES = frozenset({SPOT_CHECK, GOLD_ITEM, SECOND_LOOK, AUDIT})  # drawn by chance; no check gives a reason
RETURNED_FIRST = 0.9  # the priority of what somebody waits for
DRAWN = "Drawn from the accepted samples, to see how good they are."


class ReviewQuestion(NamedTuple):
    """Something that people shall look at; `reviewers` is how many of them, each on their own.

    `against` is the answer that a suspicion holds against the gold, "" where it is none: people are asked once about each.
    """

    subject: str
    cause: str
    reason: str
    build: str = ""
    kind: str = SAMPLE_REVIEW
    reviewers: int = 1
    against: str = ""


def request_row(question: ReviewQuestion) -> Row:
    """A question that nobody was asked yet, as a row of `review_requests`."""
    return {
        **question._asdict(), "requested_at": datetime.now(UTC), "pushed_at": None, "server": None, "overlap": 1,
        "priority": 0.5,
    }  # fmt: skip


def ask(warehouse: Warehouse, questions: Iterable[ReviewQuestion]) -> int:
    """Ask people who were never asked; how many questions are new. The same question twice is one."""
    return _put(warehouse, [request_row(question) for question in questions], [])


def ask_again(warehouse: Warehouse, questions: Sequence[ReviewQuestion]) -> int:
    """Ask people also about what they were asked before: as a further version of the task, once for each cause and reason.

    How many of the questions are new.
    """
    subjects = sorted({question.subject for question in questions})
    rows = warehouse.rows(sql("questions.asked"), [subjects])
    asked = {(row["subject"], row["kind"]): row for row in rows}
    first, rounds = [], []
    for question in questions:
        before = asked.get((question.subject, question.kind))
        if before is None:
            first.append(request_row(question))
        elif f"{question.cause}: {question.reason}" not in before["asked"] and not before["is_open"]:
            rounds.append(_round(question, before["version"] + 1))
    return _put(warehouse, first, rounds)


def _round(question: ReviewQuestion, version: int) -> Row:
    return {
        "subject": question.subject, "kind": question.kind, "version": version, "cause": question.cause, "request": "",
        "calls": "", "problem": question.reason, "reviewer": "", "made_at": datetime.now(UTC), "pushed_at": None,
        "server": None, "priority": RETURNED_FIRST,
        "against": question.against,
    }  # fmt: skip


def _put(warehouse: Warehouse, requests: list[Row], rounds: list[Row]) -> int:
    """Keep new questions; how many were new."""
    before = _count(warehouse)
    warehouse.put_rows({"review_requests": requests, "review_rounds": rounds})
    return _count(warehouse) - before


def _count(warehouse: Warehouse) -> int:
    return int(warehouse.rows(sql("questions.count"))[0]["questions"])


def set_priorities(warehouse: Warehouse) -> None:
    """Give every question that has not been pushed yet its place in the queue; gold items keep theirs."""
    with warehouse.writing() as connection:
        connection.execute(sql("questions.worth"))
        connection.execute(sql("questions.requests"))
        connection.execute(sql("questions.rounds"))
