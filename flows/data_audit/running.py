"""Run an audit of a data set: read its records one by one and keep what speaks against them.

Nothing is built and nothing lands. Findings go to the warehouse batch by batch, with the number of
records read, so an interrupted audit goes on where it stopped. Memory holds one batch.
"""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path
from typing import Literal, NamedTuple

import orjson
from pydantic import JsonValue

from callwright.flows.progress import LiveProgress, Progress, SilentProgress
from callwright.flows.sources import READER_VERSION, files_key
from callwright.generators.imports.reading import SOURCES, ImportedRecord, read_source
from callwright.validators.audit.findings import (
    SEVERITIES,
    Finding,
    FindingSort,
    SeenGolds,
    Severity,
    find_in_record,
)
from callwright.warehouse.batches import batches
from callwright.warehouse.counts import count_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.queries import sql
from callwright.warehouse.records import UserTurn, content_key
from callwright.warehouse.releases import read_tools, release_named, samples_by_key
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse

_AT_ONCE = 500  # records between two marks of how far the audit has come
_PAGE = 1000  # findings read at once
_BETWEEN = 10.0  # seconds between two sentences on how far it is
_LONGEST = 2000  # characters of what the user said
FailOn = Literal["error", "warning", "note", "never"]
Look = Callable[[Sequence[ImportedRecord]], Awaitable[Iterable[Finding]]]


class AuditedData(NamedTuple):
    """What is audited: where it comes from, its format, a key of its contents, its records.

    `models` are the readers, by their names; () where code alone looks.
    """

    source: str
    form: str
    contents: str
    read: Callable[[], Iterable[ImportedRecord]]
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataAudit:
    """An audit as it is kept; its findings are read from the warehouse when they are asked for.

    `ended_at` is None while it has not ended.
    """

    warehouse: Warehouse
    key: str
    name: str
    source: str
    form: str
    model: str
    started_at: datetime
    ended_at: datetime | None
    records: int
    unreadable: int
    fail_on: FailOn = "error"

    def __iter__(self) -> Iterator[Finding]:
        """Yield the findings, the gravest first."""
        return self.findings()

    @property
    def counts(self) -> Counter[tuple[Severity, FindingSort]]:
        """The number of findings by severity and sort."""
        found = self.warehouse.rows(sql("data_audits.counts"), [self.key])
        return Counter({(row["severity"], row["sort"]): row["count"] for row in found})

    def findings(self, *, by_place: bool = False) -> Iterator[Finding]:
        """Yield the findings, the gravest first or `by_place`, with what people said of them."""
        rank, position = 0, -1
        while rows := self.warehouse.rows(
            sql("data_audits.findings"), [self.key, self.source, rank, position, _PAGE, by_place]
        ):
            yield from map(finding_of, rows)
            rank, position = rows[-1]["rank"], rows[-1]["position"]

    @property
    def failed(self) -> bool:
        """Whether there is a finding as grave as `fail_on` or graver that nobody refused."""
        if self.fail_on == "never":
            return False
        standing = self.warehouse.rows(sql("data_audits.standing"), [self.key, self.source])
        least = SEVERITIES.index(self.fail_on)
        return any(SEVERITIES.index(row["severity"]) <= least for row in standing)


def audited_files(
    paths: Sequence[Path], form: str, *, models: Sequence[str] = (), limit: int | None = None
) -> AuditedData:
    """Return the records of files or folders of a format; of them the first `limit`.

    Raises ConfigurationError for an unknown format, or if nothing is at a path.
    """
    source = SOURCES.named(form)
    own = SOURCES.source_of(form)

    def read() -> Iterator[ImportedRecord]:
        return islice(chain.from_iterable(read_source(source, path) for path in paths), limit)

    shown = ", ".join(map(str, paths))
    contents = [files_key(paths), form, own.digest if own else "", limit]
    return AuditedData(shown, form, _contents_key(contents, models), read, tuple(models))


def audited_release(
    warehouse: Warehouse, name: str, *, models: Sequence[str] = (), limit: int | None = None
) -> AuditedData:
    """Return the samples of a release as records; of them the first `limit`.

    Raises ConfigurationError for an unknown name.
    """
    release = release_named(warehouse, name)

    def read() -> Iterator[ImportedRecord]:
        asked = "select subject from release_samples where release = ? order by subject"
        keys = [row["subject"] for row in warehouse.rows(asked, [name])]
        for some in batches(keys[:limit], _AT_ONCE):
            samples = samples_by_key(warehouse, some).values()
            named = sorted({key for one in samples for key in (*one.candidates, *one.withheld)})
            tools = read_tools(warehouse, named)
            for sample in samples:
                own = tuple(tools[key] for key in sample.candidates if key in tools)
                yield ImportedRecord(f"{name}#{sample.key}", sample, own, item=sample.key)

    contents = [release.content_hash, limit]
    key = _contents_key(contents, models)
    return AuditedData(f"release {name}", "release", key, read, tuple(models))


def _contents_key(contents: Sequence[JsonValue], models: Sequence[str]) -> str:
    return content_key([*contents, *models, READER_VERSION, version("callwright")])


async def look_by_code(records: Sequence[ImportedRecord]) -> Iterator[Finding]:
    """Return the findings of some records, by code alone."""
    return chain.from_iterable(map(find_in_record, records))


async def audit_data(
    warehouse: Warehouse,
    data: AuditedData,
    progress: Progress | None = None,
    *,
    name: str = "",
    look: Look = look_by_code,
    again: bool = False,
) -> DataAudit:
    """Audit data and return what was found.

    The same data audited before is not audited `again` unless it is asked for; an audit that has
    not ended goes on. Raises ConfigurationError if the data hold no records.
    """
    progress = progress or SilentProgress()
    audit = _audit_to_continue(warehouse, data, name, progress, again=again)
    if audit.ended_at is not None:
        return audit
    told_at = time.monotonic()
    position = sum(audit.counts.values())
    records, seen = iter(data.read()), SeenGolds()
    for record in islice(records, audit.records):  # looked at before
        seen.find_other_gold(record)
    for some in batches(records, _AT_ONCE):
        twice = filter(None, map(seen.find_other_gold, some))
        found = _with_requests(chain(await look(some), twice), some)
        rows = [
            _row_of(finding, audit.key, position)
            for position, finding in enumerate(_distinct(found), position)
        ]
        position += len(rows)
        audit = replace(
            audit,
            records=audit.records + len(some),
            unreadable=audit.unreadable + sum(one.is_unreadable for one in some),
        )
        _keep(audit, data, rows)
        if isinstance(progress, LiveProgress) and progress.is_live:
            progress.show(f"{count_of(audit.records, 'record')} read, {position} findings")
        elif time.monotonic() > told_at + _BETWEEN:
            told_at = time.monotonic()
            progress.say(f"{count_of(audit.records, 'record')} read so far.")
    if not audit.records:
        raise ConfigurationError(f"{data.source!r} holds no records in the format {data.form!r}.")
    audit = replace(audit, ended_at=datetime.now(UTC))
    _keep(audit, data, [])
    return audit


def _audit_to_continue(
    warehouse: Warehouse, data: AuditedData, name: str, progress: Progress, *, again: bool
) -> DataAudit:
    """Return the newest audit of the same data, or a new one."""
    asked = sql("data_audits.of_contents")
    known = [] if again else warehouse.rows(asked, [data.contents])
    if not known:
        started = datetime.now(UTC)
        key = content_key([data.contents, started.isoformat()])
        model = ", ".join(data.models)
        return DataAudit(warehouse, key, name, data.source, data.form, model, started, None, 0, 0)
    audit = _audit_of(warehouse, known[0])
    if audit.ended_at:
        when = audit.ended_at.strftime("%Y-%m-%d %H:%M")
        progress.say(f"Audited on {when}; nothing has changed since. --again audits it anew.")
    else:
        progress.say(f"The audit goes on after {count_of(audit.records, 'record')}.")
    return audit


def audit_named(warehouse: Warehouse, name: str) -> DataAudit:
    """Return the newest audit with this name or key; the newest of all for "".

    Raises ConfigurationError if there is none.
    """
    known = warehouse.rows(sql("data_audits.named"), [name])
    if not known:
        problem = f"No audit is named {name!r}." if name else "There are no audits yet."
        raise ConfigurationError(f"{problem} `callwright audit data PATH` audits a data set.")
    return _audit_of(warehouse, known[0])


def _audit_of(warehouse: Warehouse, row: Row) -> DataAudit:
    return DataAudit(
        warehouse,
        row["key"],
        row["name"],
        row["source"],
        row["format"],
        row["model"],
        row["started_at"],
        row["ended_at"],
        row["n_records"],
        row["n_unreadable"],
    )


def _keep(audit: DataAudit, data: AuditedData, findings: list[Row]) -> None:
    """Keep findings, and how far the audit has come, in one transaction."""
    state = {
        "key": audit.key,
        "contents": data.contents,
        "name": audit.name,
        "source": audit.source,
        "format": audit.form,
        "model": audit.model,
        "started_at": audit.started_at,
        "ended_at": audit.ended_at,
        "n_records": audit.records,
        "n_unreadable": audit.unreadable,
    }
    audit.warehouse.put_rows({"data_audits": [state], "findings": findings})


def _with_requests(
    findings: Iterable[Finding], records: Sequence[ImportedRecord]
) -> Iterator[Finding]:
    """Yield findings in the records' order, with what the user said: where the words stand.

    Where they stand nowhere, it is what the user said last.
    """
    order = {record.where: at for at, record in enumerate(records)}
    for finding in sorted(findings, key=lambda one: order.get(one.where, len(records))):
        at = order.get(finding.where)
        sample = None if at is None else records[at].sample
        turns = sample.turns[: finding.turn if finding.turn >= 0 else None] if sample else ()
        said = [turn.text for turn in turns if isinstance(turn, UserTurn)]
        telling = (text for text in reversed(said) if finding.words and finding.words in text)
        text = next(telling, said[-1] if said else "")
        start = max(0, text.find(finding.words) - _LONGEST // 2)
        yield finding._replace(request=text[start : start + _LONGEST])


def _distinct(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings with keys of their own: the second of a key in a batch is numbered."""
    seen = Counter[str]()
    for one in findings:
        seen[one.key] += 1
        yield one if seen[one.key] == 1 else one._replace(key=f"{one.key}-{seen[one.key]}")


def _row_of(finding: Finding, audit: str, position: int) -> Row:
    fields = finding._asdict()
    del fields["verdict"]
    return fields | {
        "audit": audit,
        "position": position,
        "place": fields.pop("where"),
        "gold": _json(finding.gold),
        "expected": _json(finding.expected),
    }


def _json(value: object) -> str | None:
    return None if value is None else orjson.dumps(value).decode()


def finding_of(row: Row) -> Finding:
    """Return a finding as it is kept."""
    read = {name: row[name] for name in Finding._fields if name in row}
    values = {
        name: None if row[name] is None else orjson.loads(row[name])
        for name in ("gold", "expected")
    }
    return Finding(**{**read, "where": row["place"], **values})
