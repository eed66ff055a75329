"""What candidates and judges have answered on a release, as the warehouse has it."""

from collections.abc import Iterator, Sequence

import orjson

from validators.grading import grade_versions
from validators.judging import judge_version
from validators.metrics.multi_step import metric_names
from validators.runs import CandidateRun
from warehouse.records import Call, Grade, Prediction, Score
from warehouse.store import Warehouse

_OF_RUNS = [*metric_names("as_paper"), *metric_names("as_published_code")]


def read_predictions(warehouse: Warehouse, run: CandidateRun, *, every_run: bool = False) -> Iterator[Prediction]:
    """What a candidate answered on a release, in one run or in all of them."""
    columns = ", ".join(Prediction.model_fields)
    sql = f"select {columns} from predictions where release = ? and model = ? and strategy = ? and tools_shown = ?"  # noqa: S608 - our own names
    for row in warehouse.rows(f"{sql} and (? or run = ?)", [*run[:4], every_run, run.run]):
        calls = (
            None if row["calls"] is None else tuple(Call.model_validate(call) for call in orjson.loads(row["calls"]))
        )
        yield Prediction(**row | {"calls": calls})


def forget_other_settings(warehouse: Warehouse, release: str, label: str, strategy: str, settings: str) -> int:
    """Drop what a candidate answered by a strategy under other settings, with its scores; how many predictions these were.

    A label stands for one candidate. What it was asked before is in the ledger still.
    """
    of = [release, label, strategy]
    stale_ones = "from predictions where release = ? and model = ? and strategy = ? and settings <> ?"
    stale = int(warehouse.rows(f"select count(*) as stale {stale_ones}", [*of, settings])[0]["stale"])
    if stale:
        with warehouse.writing() as connection:
            connection.execute(
                """
                delete from scores where release = ? and model = ? and strategy = ?
                    and not list_contains(?::varchar[], metric)
                """,
                [*of, _OF_RUNS],
            )
            connection.execute(f"delete {stale_ones}", [*of, settings])
    return stale


def read_agreements(warehouse: Warehouse, release: str, judge: str) -> dict[str, bool]:
    """What a judge says of the predictions on a release, by their keys, on the prompt as it is now."""
    sql = """
        select v.prediction, v.agree from judge_verdicts v join predictions p on p.key = v.prediction
        where p.release = ? and v.judge = ? and v.version = ?
    """
    return {row["prediction"]: row["agree"] for row in warehouse.rows(sql, [release, judge, judge_version()])}


def read_grades(warehouse: Warehouse, release: str, judge: str) -> dict[str, Grade]:
    """How a judge grades the predictions on a release, by their keys, on the prompts as they are now."""
    columns = ", ".join(f"g.{name}" for name in Grade.model_fields)
    sql = f"""
        select {columns} from grades g join predictions p on p.key = g.prediction
        where p.release = ? and g.judge = ? and list_contains(?::varchar[], g.version)
    """  # noqa: S608 - our own names
    rows = warehouse.rows(sql, [release, judge, list(grade_versions().values())])
    return {row["prediction"]: Grade(**row) for row in rows}


def put_scores(warehouse: Warehouse, scores: Sequence[Score]) -> None:
    """Keep the scores of a candidate in the place of those it had by the same verdicts; others' metrics stay."""
    runs = {(one.release, one.model, one.strategy, one.tools_shown, one.judge) for one in scores}
    for run in runs:
        warehouse.execute(
            """
            delete from scores where release = ? and model = ? and strategy = ? and tools_shown = ? and judge = ?
                and not list_contains(?::varchar[], metric)
            """,
            [*run, _OF_RUNS],
        )
    warehouse.put(scores)
