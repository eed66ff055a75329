"""What is known of why a release's samples are right: evidence, readers and people by sample."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import orjson

from callwright.warehouse.batches import batches
from callwright.warehouse.queries import sql
from callwright.warehouse.records import Evidence, Sample
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

_AT_ONCE = 500


class SampleGrounds(NamedTuple):
    """Where the values of a sample were found, its grade, and who read it: models and people."""

    evidence: tuple[Evidence, ...] = ()
    grade: str = ""
    readers: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


class GroundsReader:
    """The grounds of samples that are visited in order, read some hundreds at a time."""

    def __init__(self, warehouse: Warehouse) -> None:
        """Read from a warehouse."""
        self._warehouse = warehouse
        self._rows: dict[str, Row] = {}

    def through(self, samples: Iterable[tuple[str, Sample]]) -> Iterator[tuple[str, Sample]]:
        """Yield the samples; `of` knows each one until the next is taken."""
        for some in batches(samples, _AT_ONCE):
            self._read([sample.key for _, sample in some])
            yield from some

    def of(self, sample: Sample) -> SampleGrounds:
        """Return the grounds of a sample; without any where no check has seen it."""
        row = self._rows.get(sample.key)
        if row is None:
            return SampleGrounds()
        evidence = tuple(map(Evidence.model_validate, orjson.loads(row["evidence"] or "[]")))
        return SampleGrounds(
            evidence, row["grade"] or "", tuple(row["readers"] or ()), tuple(row["people"] or ())
        )

    def _read(self, keys: Sequence[str]) -> None:
        rows = self._warehouse.rows(sql("certificates.grounds"), [list(keys)])
        self._rows = {row["key"]: row for row in rows}
