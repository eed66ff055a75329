"""What is asked first: each question's place in the queue, from 0 to 1, as the view review_priority explains it."""

from warehouse.store import Warehouse


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
