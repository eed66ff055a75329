"""Frozen sets of accepted samples."""

from datetime import datetime

from warehouse.records.base import Record


class Release(Record):
    """A named, immutable set of samples; `content_hash` is over the sorted sample keys."""

    name: str
    content_hash: str
    samples: int
    created_at: datetime
    note: str = ""
