"""What a release holds, as the page shows it: samples by kind and split, what splits share, versions, and what changed."""

from typing import NamedTuple

from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.releases import ReleaseDiff, ReleaseState, diff_releases, verify_release
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

SHOWN = 50


class ReleaseContents(NamedTuple):
    """A release with what it holds; `versions` are those that it follows, and it, the newest first.

    `difference` is None where it follows none that is still there.
    """

    state: ReleaseState
    kinds: list[Row]
    leakage: list[Row]
    duplicates: list[Row]
    near_duplicates: int
    versions: list[Row]
    difference: ReleaseDiff | None


_QUERIES = {
    "kinds": """
        select s.kind, s.language, coalesce(r.split, '') as split, count(*) as samples,
            count(*) filter (a.grade = 'proved') as proved, count(*) filter (a.grade = 'judged') as judged,
            count(*) filter (a.grade = 'vouched') as vouched
        from release_samples r join samples s on s.key = r.subject left join acceptances a on a.subject = r.subject
        where r.release = ? group by all order by s.kind, s.language, split""",
    "leakage": "select * from split_leakage where release = ?",
    "duplicates": f"""
        select d.*, s.request, o.request as other_request, count(*) over () as total from release_duplicates d
        join samples s on s.key = d.subject join samples o on o.key = d.other
        where d.release = ? order by d.likeness desc, d.subject limit {SHOWN}""",
    "versions": """
        with recursive up as (
            select name, follows, 0 as steps from releases where name = ?
            union all
            select r.name, r.follows, u.steps + 1 from up u join releases r on r.name = u.follows where u.steps < 100
        )
        select r.name, r.version, r.samples, r.created_at, r.note from up join releases r using (name) order by up.steps""",
}


def read_contents(warehouse: Warehouse, name: str) -> ReleaseContents | None:
    """What a release holds and whether it is still what was frozen, None where there is none of this name."""
    try:
        state = verify_release(warehouse, name)
    except ConfigurationError:
        return None
    found = warehouse.rows_by_name({query: (sql, [name]) for query, sql in _QUERIES.items()})
    has_earlier = len(found["versions"]) > 1
    return ReleaseContents(
        state,
        **found,
        near_duplicates=found["duplicates"][0]["total"] if found["duplicates"] else 0,
        difference=diff_releases(warehouse, found["versions"][1]["name"], name) if has_earlier else None,
    )
