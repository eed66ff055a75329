"""What became of each record at each stage: the only writer of the table `outcomes`."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from callwright.warehouse.queries import sql
from callwright.warehouse.records import Outcome
from callwright.warehouse.rows import Row

if TYPE_CHECKING:
    from callwright.warehouse.store import Warehouse


def outcome_row(outcome: Outcome, made_at: datetime | None = None) -> Row:
    """An outcome as a row, made now unless given."""
    return {**dict(outcome), "made_at": made_at or datetime.now(UTC)}


def pass_all(keys: str) -> str:
    """The statement that lets all records pass which the query `keys` names: there may be millions, and they stay in the warehouse.

    Its parameters are the build, the stage and those of the query.
    """
    return sql("outcomes.pass_all", keys=keys)


def reject_repeated(warehouse: "Warehouse", build: str, stages: Sequence[str], made: Literal["sample", "tool"]) -> None:
    """Reject the drafts that became a sample or a tool which another draft had become before: they made nothing new."""
    reason = f"Another draft had already become this very {made}."
    warehouse.execute(sql("outcomes.repeated", **_MADE_AS[made]), [reason, build, list(stages)])


def remove_outcomes(warehouse: "Warehouse", places: Iterable[tuple[str, str, str]]) -> None:
    """Remove the outcomes of these builds, stages and subjects: another sample has their place."""
    columns = [list(column) for column in zip(*places, strict=True)]
    if columns:
        warehouse.execute(sql("outcomes.remove"), columns)


_MADE_AS = {
    "sample": {"table": "build_samples", "build": "build"},
    "tool": {"table": "made_tools", "build": "toolset"},
}
