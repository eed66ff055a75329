"""Audits of data sets from Python: `audit`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from callwright.flows.api.options import DataAuditOptions
from callwright.flows.api.surroundings import ProgressReceiver, opened_progress, run, settings_of
from callwright.flows.data_audit.readers import opened_look
from callwright.flows.data_audit.running import (
    AuditedData,
    DataAudit,
    audit_data,
    audited_files,
    audited_release,
)
from callwright.flows.options import described, with_options
from callwright.flows.progress import Progress
from callwright.flows.settings import open_warehouse
from callwright.flows.sources import files_key
from callwright.generators.imports.guessing import format_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import content_key
from callwright.warehouse.releases import list_releases
from callwright.warehouse.store import Warehouse

_RECORDS = "records"  # the format of our own records


@described
class PythonAuditOptions(DataAuditOptions, total=False):
    """Where an audit is kept, and who is told of its progress.

    Args:
        home: The work folder. Default: that of the environment.
        progress: "terminal", a function, or None.
    """

    home: Path | str | None
    progress: ProgressReceiver


@with_options
def audit(
    paths: Path | str | Sequence[Path | str] = (), **options: Unpack[PythonAuditOptions]
) -> DataAudit:
    """Find what speaks against the gold calls of a data set.

    Findings are kept in the warehouse and read from there while they are iterated, the gravest
    first. The same data are audited once; an interrupted audit goes on.

        found = callwright.audit("bfcl/BFCL_v4_simple_python.json", format="bfcl")
        for finding in found:
            print(finding.where, finding.sort, finding.gold, finding.expected)
        found.failed                           # True where a finding is an error

    Args:
        paths: A file or folder, or several of one format; or the name of a release.

    Raises ConfigurationError for an unknown format, or if there are no records.
    """
    return run(audit_async(paths, **options))


@with_options
async def audit_async(
    paths: Path | str | Sequence[Path | str] = (), **options: Unpack[PythonAuditOptions]
) -> DataAudit:
    """Audit as `audit` does, on this event loop.

        found = await callwright.audit_async("bfcl/BFCL_v4_simple_python.json")

    Raises what `audit` raises.
    """
    settings = settings_of(options["home"])
    warehouse, replies = open_warehouse(settings), [*map(Path, options["replies"])]
    listed = [paths] if isinstance(paths, Path | str) else paths
    with opened_progress(options["progress"]) as reporting:
        data = _data(warehouse, [*map(Path, listed)], options, reporting)
        if replies:
            data = data._replace(contents=content_key([data.contents, files_key(replies)]))
        async with opened_look(data, replies, settings) as look:
            made = await audit_data(
                warehouse, data, reporting, name=options["name"], look=look, again=options["again"]
            )
    return replace(made, fail_on=options["fail_on"])


def _data(
    warehouse: Warehouse, paths: Sequence[Path], options: PythonAuditOptions, progress: Progress
) -> AuditedData:
    """Return the data that are named: exactly one of files, a release and a file of records."""
    release, records = options["release"], options["records"]
    if (
        len(paths) == 1
        and not paths[0].exists()
        and str(paths[0]) in {one.name for one in list_releases(warehouse)}
    ):
        paths, release = [], str(paths[0])
    if sum(map(bool, (paths, release, records))) != 1:
        problem = "Name what to audit: files or folders, or else --release or --records."
        raise ConfigurationError(problem)
    limit, models = options["limit"] or None, options["model"]
    if release:
        return audited_release(warehouse, release, models=models, limit=limit)
    if records:
        return audited_files([Path(records)], _RECORDS, models=models, limit=limit)
    form = options["format"]
    if not form:
        form = format_of(paths[0])
        progress.say(f"Format: {form}. Another one is named with --format.")
    return audited_files(paths, form, models=models, limit=limit)
