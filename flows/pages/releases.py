"""The page of what a release holds: kinds, splits and what they share, versions and differences, and whether it is intact."""

from functools import lru_cache
from typing import NamedTuple

from callwright.flows.pages.look import Look, Query
from callwright.warehouse.browsing import SHOWN, ReleaseContents, read_contents
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

_GRADES = ("proved", "judged", "vouched")


class KindLine(NamedTuple):
    """The samples of a kind in a language: in each split, all of them, and by what they rest on."""

    kind: str
    language: str
    splits: dict[str, int]
    samples: int
    grades: dict[str, int]


def contents_page(look: Look, _query: Query, name: str) -> str | None:
    """What a release holds, None where there is none of this name."""
    contents = _read(look.warehouse, look.copied_at, name)
    if contents is None:
        return None
    found: dict[tuple[str, str], list[Row]] = {}
    for row in contents.kinds:
        found.setdefault((row["kind"], row["language"]), []).append(row)
    lines = [
        KindLine(
            *key,
            {row["split"]: row["samples"] for row in mine},
            sum(row["samples"] for row in mine),
            {grade: sum(row[grade] for row in mine) for grade in _GRADES},
        )
        for key, mine in found.items()
    ]
    known = {split for line in lines for split in line.splits if split}
    splits = [split for split in contents.state.release.splits if split in known]
    return look.render(
        "contents.html",
        contents=contents,
        release=contents.state.release,
        lines=lines,
        splits=splits,
        totals={split: sum(line.splits.get(split, 0) for line in lines) for split in splits},
        grades=_GRADES,
        shown=SHOWN,
    )


@lru_cache(maxsize=8)
def _read(warehouse: Warehouse, _copied_at: object, name: str) -> ReleaseContents | None:
    """A release of a copy is compared with its manifest and the one before it once: that takes seconds where it is large."""
    return read_contents(warehouse, name)
