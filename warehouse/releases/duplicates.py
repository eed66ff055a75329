"""Near duplicates across the splits of a release: requests in different splits that are nearly the same, their values masked.

What is the very same once values are masked, or has the same calls due, stands in one split already. Here candidates are requests
that have the same rarer words but for one, and those of them count that have most of their characters in common. Each request is
compared with a few of those that share these words, so that a million take seconds.
"""

from collections.abc import Sequence
from typing import NamedTuple

from callwright.warehouse.releases.splits import MASKED
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
        for statement in (_TEXTS, _RARER, _SHARED):
            connection.execute(statement)
        pairs = connection.execute(_CANDIDATES).fetchall()
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


# The rarer words of each text; the few common ones of each language are taken out of the list, as regrouping words takes memory.
_TEXTS = rf"""
    create temp table texts as
    select hash(c.key) as node, c.key, c.split, s.language, {MASKED} as text from chosen c join samples s on s.key = c.key
"""  # noqa: S608 - our own
_RARER = r"""
    create temp table rarer as
    with said as (
        select node, split, language, list_distinct(regexp_extract_all(text, '\p{Han}|[\p{L}\p{M}\p{N}]+')) as words from texts
    ), common as (
        select language, list(word) as words from (
            select language, word from (select language, unnest(words) as word from said)
            join (select language, count(*) as texts from said group by language) using (language)
            group by language, word, texts having count(*) > 0.1 * texts + 10
        ) group by language
    )
    select node, split, language, list_sort(list_filter(
        s.words, lambda word: not list_contains(coalesce(c.words, []), word)
    )) as words
    from said s left join common c using (language)
"""
# Each text under the hash of its rarer words and of these without each one of them, where two splits share such a hash.
_SHARED = """
    create temp table shared as
    with variants as (
        select node, split, hash(language, words) as variant from rarer where len(words) > 1
        union all
        select node, split, hash(language, words[: place - 1] || words[place + 1 :])
        from (select *, unnest(range(1, len(words) + 1)) as place from rarer where len(words) > 1)
    )
    select node, split, variant from variants
    semi join (select variant from variants group by variant having min(split) <> max(split)) using (variant)
"""
_CANDIDATES = """
    with met as (
        select variant, split, unnest(min(node, 3)) as node from shared group by variant, split
    ), pairs as (
        select distinct s.node as subject, m.node as other from shared s join met m on m.variant = s.variant and m.split <> s.split
        where s.split <> (select split from chosen group by split order by count(*) desc, split limit 1)
    )
    select a.key, a.split, b.key, b.split, a.text, b.text
    from pairs p join texts a on a.node = p.subject join texts b on b.node = p.other order by a.key, b.key
"""
_TABLES = ("chosen", "texts", "rarer", "shared")
