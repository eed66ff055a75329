"""Near duplicates across the splits of a release: requests in different splits that are nearly the same, their values masked.

What is the very same once values are masked, or has the same calls due, stands in one split already. Here candidates are requests
that have the same rarer words but for one, and those of them count that have most of their characters in common. Each request is
compared with a few of those that share these words, so that a million take seconds.
"""

from collections.abc import Sequence
from typing import NamedTuple

from callwright.warehouse.queries import sql
from callwright.warehouse.store import Warehouse

LEAST_LIKENESS = 0.85  # of the characters of two requests, in order


class CrossDuplicate(NamedTuple):
    """A sample outside the largest split, and the one of another split that is most like it."""

    subject: str
    split: str
    other: str
    other_split: str
    likeness: float


def find_duplicates(warehouse: Warehouse, keys: Sequence[str], splits: Sequence[str]) -> list[CrossDuplicate]:
    """For each sample outside the largest split the nearest duplicate in another split, in the order of their keys."""
    from rapidfuzz import fuzz
    from rapidfuzz.process import cpdist

    with warehouse.reading() as connection:
        connection.execute(
            "create temp table chosen as select unnest(?::varchar[]) as key, unnest(?::varchar[]) as split",
            [list(keys), list(splits)],
        )
        for statement in (sql("splits.texts"), sql("splits.rarer"), sql("splits.shared")):
            connection.execute(statement)
        pairs = connection.execute(sql("splits.candidates")).fetchall()
        for table in _TABLES:
            connection.execute(f"drop table {table}")
    if not pairs:
        return []
    subjects, own, others, other_splits, texts, other_texts = zip(*pairs, strict=True)
    likeness = (cpdist(texts, other_texts, scorer=fuzz.ratio, score_cutoff=100 * LEAST_LIKENESS) / 100).tolist()
    best: dict[str, CrossDuplicate] = {}
    for found in map(CrossDuplicate, subjects, own, others, other_splits, likeness):
        known = best.get(found.subject)
        if found.likeness and (known is None or (found.likeness, known.other) > (known.likeness, found.other)):
            best[found.subject] = found
    return [best[subject] for subject in sorted(best)]


_TABLES = ("chosen", "texts", "rarer", "shared")
