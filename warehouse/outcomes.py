"""What became of each record at each stage: the only writer of the table `outcomes`."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

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
    return f"{_ACCEPTED} from ({keys})"


def reject_repeated(warehouse: "Warehouse", build: str, stages: Sequence[str], made: Literal["sample", "tool"]) -> None:
    """Reject the drafts that became a sample or a tool which another draft had become before: they made nothing new."""
    reason = f"Another draft had already become this very {made}."
    warehouse.execute(_REJECT_REPEATED[made], [reason, build, list(stages)])


def remove_outcomes(warehouse: "Warehouse", places: Iterable[tuple[str, str, str]]) -> None:
    """Remove the outcomes of these builds, stages and subjects: another sample has their place."""
    columns = [list(column) for column in zip(*places, strict=True)]
    if columns:
        warehouse.execute(_REMOVE, columns)


_ACCEPTED = """
    insert into outcomes
        (build, stage, subject, outcome, reason_code, reason, decided_by, decided_who, carried_from, made_at)
    select ?, ?, key, 'passed', 'none', '', 'machine', '', '', now()
"""
_REPEATED = """
    update outcomes set outcome = 'rejected', reason_code = 'duplicate', reason = ?
    where build = ? and list_contains(?::varchar[], stage) and outcome = 'passed'
        and not exists (select 1 from {table} m where m.{build} = outcomes.build and m.draft = outcomes.subject)
"""
_REJECT_REPEATED = {
    "sample": _REPEATED.format(table="build_samples", build="build"),
    "tool": _REPEATED.format(table="made_tools", build="toolset"),
}
_REMOVE = """
    delete from outcomes using (
        select unnest(?::varchar[]) as build, unnest(?::varchar[]) as stage, unnest(?::varchar[]) as subject
    ) g where outcomes.build = g.build and outcomes.stage = g.stage and outcomes.subject = g.subject
"""
