"""The checks that a build has met, what it has that lacks some of today's, and what follows where one of them stops a sample.

A check may be added, changed or moved to any place of the table. What a build has then goes through what it
lacks alone, and its funnel is as if the check had always stood there: a sample that does not pass a check has no outcome
behind it, what a machine let land is taken back, and what people decided is carried out again.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from callwright.warehouse.store import Warehouse


class Lacking(NamedTuple):
    """How many samples of a build lack the same checks."""

    checks: tuple[str, ...]
    samples: int
    mask: int


def met_checks(warehouse: Warehouse, build: str) -> dict[str, str]:
    """The version of each check that all of a build went through."""
    rows = warehouse.rows("select check_name, version from build_checks where build = ?", [build])
    return {row["check_name"]: row["version"] for row in rows}


def meet_checks(warehouse: Warehouse, build: str, todays: Mapping[str, str]) -> tuple[str, ...]:
    """Write down that a build has today's checks, and forget what came of those that changed or are gone; the new ones."""
    met = met_checks(warehouse, build)
    new = [name for name, version in todays.items() if met.get(name) != version]
    stale = [name for name, version in met.items() if todays.get(name) != version]
    if new or stale:
        with warehouse.writing() as connection:
            connection.execute(_FORGET, [build, stale])
            connection.execute(_UNMEET, [build, stale])
            connection.execute(_MEET, [build, new, [todays[name] for name in new]])
    return tuple(new) if met else ()


def lacking_checks(warehouse: Warehouse, build: str, checks: Sequence[str]) -> list[Lacking]:
    """How many samples lack which of these checks, although none before them stopped them."""
    return [
        Lacking(tuple(name for bit, name in enumerate(checks) if row["mask"] >> bit & 1), row["samples"], row["mask"])
        for row in warehouse.rows(_BY_MASK, _asked(build, checks))
    ]


def samples_lacking(warehouse: Warehouse, build: str, checks: Sequence[str], mask: int) -> Iterator[str]:
    """The bodies of the samples that lack just these of the checks."""
    return (body for (body,) in warehouse.stream(_OF_MASK, [*_asked(build, checks), mask]))


def take_back(warehouse: Warehouse, build: str, checks: Sequence[str], *, review: str, land: str) -> None:
    """Let what a check stopped lose all that it had come to behind it, and what one doubts its place among the landed.

    `review` and `land` are the names of the stages at which people are asked, and samples land.
    """
    with warehouse.writing() as connection:
        connection.execute(_UNDO_BEHIND, [build, list(checks), build])
        connection.execute(_UNDO_REVIEWS, [build, [review, land], build, review, list(checks)])
        connection.execute(_WITHDRAW, [build, land])


def _asked(build: str, checks: Sequence[str]) -> list[object]:
    return [list(checks), build, len(checks), build]


# What people decided stays: the outcome at a check is theirs, whatever the check says by now.
_FORGET = """
    delete from outcomes where build = ? and list_contains(?::varchar[], stage)
        and subject not in (select subject from decisions)
"""
_UNMEET = "delete from build_checks where build = ? and list_contains(?::varchar[], check_name)"
_MEET = "insert into build_checks select ?, unnest(?::varchar[]), unnest(?::varchar[]), now()"

# The checks that a sample lacks are the bits of a mask: all before the one that stopped it, without those it met.
_LACKING = """
    with checks as (
        select unnest(names) as name, unnest(range(len(names))) as bit from (select ?::varchar[] as names)
    ), met as (
        select f.subject, bit_or(1::bigint << c.bit) as bits, min(c.bit) filter (f.outcome <> 'passed') as stopped
        from outcomes f join checks c on c.name = f.stage where f.build = ? group by f.subject
    ), masks as (
        select b.sample, ((1::bigint << coalesce(m.stopped, ?)) - 1) & ~coalesce(m.bits, 0) as mask
        from build_samples b left join met m on m.subject = b.sample where b.build = ?
    ), lacking as (select * from masks where mask <> 0)
"""
_BY_MASK = _LACKING + "select mask, count(*) as samples from lacking group by mask order by mask"  # noqa: S608 - our own
_OF_MASK = _LACKING + "select body from lacking join samples on key = sample where mask = ? order by key"  # noqa: S608

_UNDO_BEHIND = """
    delete from outcomes using (
        select f.subject, min(t.position) as stopped from outcomes f join stages t on t.name = f.stage
        where f.build = ? and list_contains(?::varchar[], f.stage) and f.outcome <> 'passed' group by f.subject
    ) s, stages t
    where outcomes.build = ? and outcomes.subject = s.subject and t.name = outcomes.stage and t.position > s.stopped
"""

# A check looked at a sample after its review: that begins anew where people wait for it, and where the check proved nothing.
_UNDO_REVIEWS = """
    delete from outcomes where build = ? and list_contains(?::varchar[], stage)
        and subject not in (select subject from decisions)
        and subject in (
            select r.subject from outcomes r
            join outcomes f on f.build = r.build and f.subject = r.subject and f.made_at > r.made_at
            where r.build = ? and r.stage = ? and list_contains(?::varchar[], f.stage)
                and (r.outcome = 'waiting' or f.reason_code = 'unproved')
        )
"""

_WITHDRAW = """
    update acceptances set withdrawn_at = now() where build = ? and withdrawn_at is null and decided_by = 'machine'
        and not exists (
            select 1 from outcomes f where f.build = acceptances.build and f.subject = acceptances.subject
                and f.stage = ? and f.outcome = 'passed'
        )
"""
