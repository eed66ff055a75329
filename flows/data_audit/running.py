"""Run an audit of a data set: read its records one by one and keep what speaks against them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from callwright.generators.imports.reading import SOURCES, read_source
from callwright.validators.audit.findings import Finding, find_in_record


class DataAudit(NamedTuple):
    """An audit's result: how many records were read, and all findings in their order."""

    records: int
    findings: list[Finding]

    @property
    def counts(self) -> Counter[tuple[str, str]]:
        """The number of findings by severity and sort."""
        return Counter((one.severity, one.sort) for one in self.findings)


def audit_data(paths: Sequence[Path], form: str) -> DataAudit:
    """Audit the files or folders of a format, by code alone.

    Raises ConfigurationError for an unknown format, or if nothing is at a path.
    """
    source = SOURCES.named(form)
    records, findings = 0, list[Finding]()
    for path in paths:
        for record in read_source(source, path):
            records += 1
            findings += find_in_record(record)
    return DataAudit(records, findings)


def findings_of(audit: DataAudit) -> Iterator[Finding]:
    """Yield the findings, the gravest first."""
    order = {"error": 0, "warning": 1, "note": 2}
    yield from sorted(audit.findings, key=lambda one: order[one.severity])
