"""What a release holds, as the page shows it: samples by kind and split, what splits share, versions, and what changed."""

from typing import NamedTuple

from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.releases import ReleaseDiff, ReleaseState, diff_releases, verify_release
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

SHOWN = 50
_QUERIES = ("kinds", "leakage", "duplicates", "versions")


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


def read_contents(warehouse: Warehouse, name: str) -> ReleaseContents | None:
    """What a release holds and whether it is still what was frozen, None where there is none of this name."""
    try:
        state = verify_release(warehouse, name)
    except ConfigurationError:
        return None
    found = warehouse.rows_by_name(
        {query: (sql(f"release_contents.{query}", most=SHOWN), [name]) for query in _QUERIES}
    )
    has_earlier = len(found["versions"]) > 1
    return ReleaseContents(
        state,
        **found,
        near_duplicates=found["duplicates"][0]["total"] if found["duplicates"] else 0,
        difference=diff_releases(warehouse, found["versions"][1]["name"], name) if has_earlier else None,
    )
