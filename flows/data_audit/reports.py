"""Reports of an audit as files: a page, JSON, JSON lines, SARIF for code scanning, JUnit's XML.

Each is written finding by finding, so a report may be larger than memory; of a page's findings
only the gravest are shown.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

import orjson

from callwright.flows.data_audit.running import DataAudit
from callwright.flows.terminal_text import visible, visible_json
from callwright.language.packs import packaged
from callwright.validators.audit.findings import SEVERITIES, Finding
from callwright.validators.metrics.ratios import share_interval
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_PLACE = re.compile(r"(#.*|:\d+)$")


class SortPrecision(NamedTuple):
    """How many findings of a sort were judged and found right, with the share's 95 % bounds.

    `where` says on which data; "here" is this warehouse.
    """

    judged: int
    confirmed: int
    precision: float
    low: float
    high: float
    where: str


class SortCount(NamedTuple):
    """How many findings of a severity and sort an audit has, and how precise such findings are."""

    severity: str
    sort: str
    findings: int
    precision: SortPrecision | None


def counts_of(audit: DataAudit) -> list[SortCount]:
    """Return the findings' counts, the gravest and most frequent first."""
    known = _precisions(audit)
    counted = [
        SortCount(severity, sort, count, known.get(sort))
        for (severity, sort), count in audit.counts.items()
    ]
    return sorted(
        counted, key=lambda one: (SEVERITIES.index(one.severity), -one.findings, one.sort)
    )


def _precisions(audit: DataAudit) -> dict[str, SortPrecision]:
    """Return the precision of each sort: as judged here, else as measured on published data."""
    measured = packaged("callwright.validators.audit", "measured.yaml")
    rows = [
        (sort, one["judged"], one["confirmed"], "published data") for sort, one in measured.items()
    ] + [
        (row["sort"], row["n_judged"], row["n_confirmed"], "here")
        for row in audit.warehouse.rows(sql("data_audits.precision"))
    ]
    found: dict[str, SortPrecision] = {}
    for sort, judged, confirmed, where in rows:
        share = confirmed / judged
        found[sort] = SortPrecision(
            judged, confirmed, share, *share_interval(confirmed, judged), where
        )
    return found


@cache
def sort_words() -> Mapping[str, Mapping[str, str]]:
    """Return title and help of each sort of finding."""
    words: Mapping[str, Mapping[str, str]] = packaged("callwright.validators.audit", "sorts.yaml")
    return words


def finding_fields(finding: Finding) -> dict[str, Any]:
    """Return a finding as it stands in JSON, without what code cannot say."""
    fields = {
        "key": finding.key,
        "item": finding.item,
        "place": finding.where,
        "line": finding.line or None,
        "severity": finding.severity,
        "sort": finding.sort,
        "turn": finding.turn if finding.turn >= 0 else None,
        "call": finding.call if finding.call >= 0 else None,
        "tool": finding.tool or None,
        "argument": finding.argument or None,
        "words": finding.words,
        "schema_words": finding.document,
        "gold": finding.gold,
        "should_be": finding.expected,
        "reason": finding.reason,
        "request": finding.request or None,
        "verdict": finding.verdict or None,
    }
    return {name: one for name, one in fields.items() if one is not None or name == "gold"}


def write_report(audit: DataAudit, path: Path) -> None:
    """Write an audit in the format of the file's ending.

    Raises ConfigurationError for another ending.
    """
    check_report(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", errors="replace") as file:
        file.writelines(_REPORTS[path.suffix](audit))


def check_report(path: Path) -> None:
    """Raise ConfigurationError if no report has the file's ending."""
    if path.suffix not in _REPORTS:
        known = ", ".join(_REPORTS)
        raise ConfigurationError(f"No report ends in {path.suffix!r}. The endings are {known}.")


def json_parts(audit: DataAudit) -> Iterator[str]:
    """Yield the parts of one JSON object: counts, then the findings, the gravest first."""
    by_sort: dict[str, int] = {}
    for one in counts_of(audit):
        by_sort[one.sort] = by_sort.get(one.sort, 0) + one.findings
    head = {
        "audit": audit.key,
        "source": audit.source,
        "format": audit.form,
        "model": audit.model,
        "items": audit.records,
        "unreadable": audit.unreadable,
        "by_sort": by_sort,
        "by_severity": {
            name: sum(one.findings for one in counts_of(audit) if one.severity == name)
            for name in SEVERITIES
        },
    }
    yield _json(head)[:-1] + ',"findings":['
    yield from _joined(_json(finding_fields(one)) for one in audit.findings())
    yield "\n]}\n"


def _json_lines(audit: DataAudit) -> Iterator[str]:
    return (_json(finding_fields(one)) + "\n" for one in audit.findings())


def _sarif(audit: DataAudit) -> Iterator[str]:
    """Yield SARIF 2.1.0: a rule for each sort, a result for each finding."""
    rules = [
        {"id": sort, "shortDescription": {"text": words["title"]}, "help": {"text": words["help"]}}
        for sort, words in sort_words().items()
    ]
    driver = {"name": "callwright", "semanticVersion": version("callwright"), "rules": rules}
    yield f'{{"$schema":"{_SARIF}","version":"2.1.0","runs":[{{"tool":{_json({"driver": driver})},'
    yield '"columnKind":"unicodeCodePoints","results":['
    yield from _joined(_json(_sarif_result(one)) for one in audit.findings())
    yield "\n]}]}\n"


def _sarif_result(finding: Finding) -> dict[str, Any]:
    place: dict[str, Any] = {"logicalLocations": [{"name": finding.item, "kind": "object"}]}
    file = _file_of(finding)
    if file is not None:
        address = quote(file)
        physical: dict[str, Any] = {"artifactLocation": {"uri": address}}
        if finding.line:
            physical["region"] = {"startLine": finding.line}
        place["physicalLocation"] = physical
    result = {
        "ruleId": finding.sort,
        "ruleIndex": [*sort_words()].index(finding.sort),
        "level": finding.severity,
        "message": {"text": _sentence(finding)},
        "locations": [place],
        "partialFingerprints": {"callwrightFinding/v1": finding.key},
        "properties": finding_fields(finding),
    }
    if finding.verdict == "refused":
        result["suppressions"] = [{"kind": "external", "status": "accepted"}]
    return result


def _file_of(finding: Finding) -> str | None:
    """Return the file of a finding, from the current folder if it is there; None for none."""
    path = Path(_PLACE.sub("", finding.where))
    if not path.is_file():
        return None
    here = Path.cwd()
    return str(path.resolve().relative_to(here) if path.resolve().is_relative_to(here) else path)


def _sentence(finding: Finding) -> str:
    """Return what is wrong, with gold and words, for a list of problems."""
    parts = [finding.reason]
    if finding.expected is not None:
        parts.append(f"It should be {_json(finding.expected)}.")
    if finding.words:
        parts.append(f"The user says: {finding.words}")
    return " ".join(parts)


def _junit(audit: DataAudit) -> Iterator[str]:
    """Yield JUnit's XML: a test case for each item with findings; the others are only counted."""
    failing = sum(one.findings for one in counts_of(audit) if one.severity != "note")
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield (
        f'<testsuites><testsuite name={_attribute(audit.source)} tests="{audit.records}"'
        f' failures="{failing}" errors="0">\n'
    )
    for item, found in groupby(audit.findings(by_place=True), attrgetter("item", "where")):
        name, where = item
        yield f"<testcase classname={_attribute(where)} name={_attribute(name)}>\n"
        yield from map(_junit_part, found)
        yield "</testcase>\n"
    yield "</testsuite></testsuites>\n"


def _junit_part(finding: Finding) -> str:
    sentence = _sentence(finding)
    if finding.severity == "note" or finding.verdict == "refused":
        return f"<system-out>{escape(visible(sentence))}</system-out>\n"
    title = sort_words()[finding.sort]["title"]
    kind = _attribute(f"{finding.severity}: {finding.sort}")
    text = escape(visible(sentence))
    return f"<failure type={kind} message={_attribute(title)}>{text}</failure>\n"


def _attribute(text: str) -> str:
    return quoteattr(visible(text))


def _page(audit: DataAudit) -> Iterator[str]:
    from callwright.flows.pages.data_audit import audit_page  # late: pages take time to import

    yield audit_page(audit, counts_of(audit), sort_words())


def _joined(parts: Iterable[str]) -> Iterator[str]:
    """Yield JSON texts as the items of a list, one a line."""
    for number, part in enumerate(parts):
        yield (",\n" if number else "\n") + part


def _json(value: object) -> str:
    return visible_json(orjson.dumps(value).decode())


_REPORTS: Mapping[str, Callable[[DataAudit], Iterator[str]]] = {
    ".html": _page,
    ".json": json_parts,
    ".jsonl": _json_lines,
    ".sarif": _sarif,
    ".xml": _junit,
}
