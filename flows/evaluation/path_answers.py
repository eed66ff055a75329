"""Runs over multi-step samples, as the warehouse has them."""

from collections.abc import Iterator, Sequence

from validators.metrics.multi_step import RunResult, RunsOf, metric_names
from warehouse.records import Score
from warehouse.store import Warehouse

_OF = "release = ? and model = ? and mode = ? and judge = ? and strategy = ?"


def count_runs(warehouse: Warehouse, of: RunsOf) -> dict[int, int]:
    """How many samples a candidate has been through, by the number of the run."""
    sql = f"select run, count(*) as runs from multi_step_runs where {_OF} group by run"  # noqa: S608 - our own names
    return {row["run"]: row["runs"] for row in warehouse.rows(sql, _shared(of))}


def known_runs(warehouse: Warehouse, of: RunsOf, run: int) -> set[str]:
    """The samples that a candidate has been through in the run of this number."""
    sql = f"select subject from multi_step_runs where {_OF} and run = ?"  # noqa: S608 - our own names
    return {row["subject"] for row in warehouse.rows(sql, [*_shared(of), run])}


def forget_other_runs(warehouse: Warehouse, of: RunsOf, settings: str) -> int:
    """Drop what a candidate did under other settings, with its scores; how many runs these were."""
    stale = f"from multi_step_runs where {_OF} and settings <> ?"
    parameters = [*_shared(of), settings]
    count = int(warehouse.rows(f"select count(*) as stale {stale}", parameters)[0]["stale"])
    if count:
        with warehouse.writing() as connection:
            for table in ("call_errors", "parameter_counts"):
                connection.execute(f"delete from {table} where run in (select key {stale})", parameters)  # noqa: S608
            connection.execute(f"delete {stale}", parameters)
        _forget_scores(warehouse, of)
    return count


def read_results(warehouse: Warehouse, of: RunsOf) -> Iterator[RunResult]:
    """How a candidate's runs ended, those that ended alike as one; what was said in them stays where it is."""
    columns = ", ".join(name for name in RunResult._fields if name != "times")
    sql = f"""
        select {columns}, count(*) as times
        from multi_step_runs r join (select key, kind, category, language from samples) s on s.key = r.subject
        where {_OF} group by {columns}
    """  # noqa: S608 - our own names
    return (RunResult(**row) for row in warehouse.rows(sql, _shared(of)))


def put_run_scores(warehouse: Warehouse, of: RunsOf, scores: Sequence[Score]) -> None:
    """Keep the scores of a candidate's runs in the place of those it had in this mode with this judge."""
    _forget_scores(warehouse, of)
    warehouse.put_rows({"scores": [one.model_dump() for one in scores]})


def _forget_scores(warehouse: Warehouse, of: RunsOf) -> None:
    warehouse.execute(
        """
        delete from scores where release = ? and model = ? and strategy = ? and tools_shown = ? and judge = ?
            and list_contains(?::varchar[], metric)
        """,
        [of.release, of.model, of.strategy, of.tools_shown, of.judge, list(metric_names(of.mode))],
    )


def _shared(of: RunsOf) -> list[str]:
    return [of.release, of.model, of.mode, of.judge, of.strategy]
