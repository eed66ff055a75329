"""Writes synthetic answers in the papers' own formats, for `callwright score` to read."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
from pydantic import JsonValue

from bench.scoring_answers import RELEASE, labels
from callwright.flows.evaluation.answers import read_predictions
from callwright.validators.metrics.ratios import CandidateRun
from callwright.warehouse.records import GoldCall, Prediction, Sample
from callwright.warehouse.releases import read_release
from callwright.warehouse.store import Warehouse

Row = dict[str, JsonValue]


def write_files(warehouse: Warehouse, kind: str, folder: Path) -> list[str]:
    """Write all answers of a work folder, and return the command's words to score them."""
    folder.mkdir()
    return _WRITERS[kind](warehouse, folder)


def _answers(warehouse: Warehouse) -> Iterator[tuple[Sample, Prediction, tuple[GoldCall, ...]]]:
    samples = {sample.key: sample for sample in read_release(warehouse, RELEASE).samples}
    for label in labels():
        for one in read_predictions(warehouse, CandidateRun(RELEASE, label)):
            sample = samples[one.subject]
            yield (
                sample,
                one,
                next((due.calls for due in sample.snapshots() if due.turn == one.turn), ()),
            )


def _write_logs(warehouse: Warehouse, folder: Path) -> list[str]:
    """Write HammerBench's log: a conversation for each sample and run."""
    conversations: dict[tuple[str, str, int], list[JsonValue]] = defaultdict(list)
    for _, one, gold in _answers(warehouse):
        label: JsonValue = (
            {"name": gold[0].tool, "arguments": gold[0].arguments} if gold else "Sorry."
        )
        conversations[one.subject, one.candidate, one.run].append(
            {"predict": one.text, "label": label}
        )
    (folder / "MT_res.json").write_bytes(
        orjson.dumps([{"FC_res": rows} for rows in conversations.values()])
    )
    return ["hammerbench", "--logs", str(folder), "--verdicts", "rule"]


def _write_plans(warehouse: Warehouse, folder: Path) -> list[str]:
    """Write CallNavi's questions and predictions: a question for each answer."""
    questions: dict[str, list[Row]] = defaultdict(list)
    predicted: dict[str, list[Row]] = defaultdict(list)
    for number, (sample, one, gold) in enumerate(_answers(warehouse)):
        names: list[JsonValue] = [call.tool for call in gold]
        parameters: list[JsonValue] = [call.arguments for call in gold]
        due: Row = {"API": names, "parameters": parameters}
        questions[sample.category].append(
            {
                "id": str(number),
                "question": [{"role": "user", "content": sample.request}],
                "ground_truth": due,
                "difficulty": sample.kind.removeprefix("routing_"),
            }
        )
        made = {
            "API": [call.tool for call in one.calls or ()],
            "parameters": [call.arguments for call in one.calls or ()],
        }
        written = one.text if one.calls is None else orjson.dumps(made).decode()
        predicted[sample.category].append({"id": str(number), "predict": written})
    for name, rows in (("Questions", questions), ("predicted", predicted)):
        (folder / name).mkdir()
        for domain, of_domain in rows.items():
            (folder / name / f"{domain}.json").write_bytes(orjson.dumps(of_domain))
    return ["callnavi", "--questions", str(folder), "--predictions", str(folder / "predicted")]


def _write_turns(warehouse: Warehouse, folder: Path) -> list[str]:
    """Write CONFETTI's accepted calls, one in each row, and the predictions for them."""
    numbers: dict[tuple[str, str, int], int] = defaultdict(int)
    with (
        (folder / "conversationsclean.json").open("wb") as due,
        (folder / "predicted.json").open("wb") as predicted,
    ):
        for _, one, gold in _answers(warehouse):
            if len(gold) != 1:
                continue
            conversation = (one.subject, one.candidate, one.run)
            name, numbers[conversation] = (
                f"{'-'.join(map(str, conversation))}_{numbers[conversation]}",
                numbers[conversation] + 1,
            )
            accepted = {parameter: [value] for parameter, value in gold[0].arguments.items()}
            row = {"id": name, "dialog_id": name, "ground_truth": [{gold[0].tool: accepted}]}
            due.write(orjson.dumps(row) + b"\n")
            made = [{call.tool: call.arguments} for call in one.calls or ()]
            predicted.write(orjson.dumps({"id": name, "result": made}) + b"\n")
    return ["confetti", "--answers", str(folder), "--predictions", str(folder / "predicted.json")]


def _write_runs(warehouse: Warehouse, folder: Path) -> list[str]:
    """Write ComplexFuncBench's results, one a line."""
    rows = warehouse.rows("""
        select category, row_number() over () as number, success, error_type, error_parameter, correct_calls, total_calls,
            turns, shortest, steps from multi_step_runs join samples on samples.key = multi_step_runs.subject
        where starts_with(multi_step_runs.model, 'candidate')
        """)
    with (folder / "results.jsonl").open("wb") as file:
        for row in rows:
            wrong = [{"error_type": row["error_type"], "parameter": row["error_parameter"]}]
            counts = {
                "correct_call_num": row["correct_calls"],
                "total_call_num": row["total_calls"],
                "real_turn_num": row["steps"],
                "success_turn_num": row["shortest"],
                "total_turn_num": row["shortest"],
            }
            identity = f"{row['category']}-{row['number']}"
            message = "Success." if row["success"] else wrong
            file.write(
                orjson.dumps({"id": identity, "message": message, "count_dict": counts}) + b"\n"
            )
    return ["complexfuncbench", "--results", str(folder / "results.jsonl"), "--mode", "as_paper"]


_WRITERS: dict[str, Callable[[Warehouse, Path], list[str]]] = {
    "snapshots": _write_logs,
    "plans": _write_plans,
    "turns": _write_turns,
    "runs": _write_runs,
}
