"""Publishing: a read-only database and Parquet files that analysts open while builds go on."""

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from warehouse.store import Warehouse
from warehouse.tables import TABLES

VIEWS = (
    "accepted_samples",
    "composition",
    "latest_builds",
    "decisions",
    "funnel",
    "lineage",
    "llm_cost",
    "cost_per_accepted",
    "calls_per_accepted",
    "check_precision",
    "metric_audit",
    "suspects",
    "review_priority",
    "review_pace",
    "leaderboard",
    "metrics_by_slice",
    "error_types",
    "parameter_type_errors",
    "step_distribution",
    "domain_board",
    "answer_board",
)
_READ_ONLY = 0o444


class Publication(NamedTuple):
    """Where the published copies are."""

    database: Path
    parquet: Path


def publish(warehouse: Warehouse, folder: Path) -> Publication:
    """Replace the published copies, each in one step: whoever has the old one open keeps reading it.

    Raises StoreError where the warehouse stays locked.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    database = folder / "warehouse.duckdb"
    fresh = folder / f".warehouse-{stamp}.duckdb"
    tables = folder / f".parquet-{stamp}"
    tables.mkdir()
    with warehouse.reading() as connection:
        # No writer can have the file while we read it, so a plain copy of it is whole.
        shutil.copyfile(warehouse.path, fresh)
        for name in (*TABLES, *VIEWS):
            target = str(tables / f"{name}.parquet").replace("'", "''")
            connection.execute(f"copy (from {name}) to '{target}' (format parquet)")
    fresh.chmod(_READ_ONLY)
    fresh.replace(database)
    return Publication(database, _point(folder / "parquet", tables))


def _point(link: Path, tables: Path) -> Path:
    """Let `link` name the new folder, and remove the one it named before."""
    before = link.resolve() if link.is_symlink() else None
    fresh = link.with_name(f"{tables.name}.link")
    fresh.symlink_to(tables.name)
    fresh.replace(link)
    if before is not None and before != tables:
        shutil.rmtree(before, ignore_errors=True)
    return link
