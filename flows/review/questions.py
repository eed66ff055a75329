"""Questions to people, as rows: who is asked about what, why, of how many the answer is wanted, and what is asked first."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from callwright.annotation.screens import SAMPLE_REVIEW
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
    rows = warehouse.rows(_ASKED, [subjects])
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
    return int(warehouse.rows(_COUNT)[0]["questions"])


_COUNT = "select (select count(*) from review_requests) + (select count(*) from review_rounds) as questions"
# `version` is the newest version of the task; `is_open`: nobody has answered that one yet.
_ASKED = """
    select q.subject, q.kind, coalesce(max(n.version), 1) as version,
        list_concat(
            [any_value(q.cause || ': ' || q.reason)], coalesce(list(n.cause || ': ' || n.problem), [])
        ) as asked,
        not exists (
            select 1 from standing_reviews v where v.subject = q.subject and v.kind = q.kind
                and v.reviewed_at >= coalesce(max(n.made_at), max(q.requested_at))
        ) as is_open
    from review_requests q left join review_rounds n on n.subject = q.subject and n.kind = q.kind
    where list_contains(?::varchar[], q.subject)
    group by q.subject, q.kind
"""


def set_priorities(warehouse: Warehouse) -> None:
    """Give every question that has not been pushed yet its place in the queue; gold items keep theirs."""
    with warehouse.writing() as connection:
        # As a table first: the view reads what is about to change, and is read twice.
        connection.execute(f"create temp table worth as {_WORTH}")
        connection.execute(_REQUESTS)
        connection.execute(_ROUNDS)


_WORTH = """
    select p.subject, p.kind, p.version, p.priority from review_priority p
    join review_queue q on q.subject = p.subject and q.kind = p.kind and q.version = p.version
    where q.pushed_at is null and p.priority is distinct from q.priority
"""
_REQUESTS = """
    update review_requests set priority = w.priority from worth w
    where w.version = 1 and w.subject = review_requests.subject and w.kind = review_requests.kind
"""
_ROUNDS = """
    update review_rounds set priority = w.priority from worth w
    where w.version = review_rounds.version and w.subject = review_rounds.subject and w.kind = review_rounds.kind
"""
