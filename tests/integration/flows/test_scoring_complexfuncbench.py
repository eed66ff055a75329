"""`callwright score complexfuncbench`: the result files of its evaluation, at the command line."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.flows.small_builds import run_here

NOWHERE = Path("/nowhere")  # scoring needs no work folder


def score(*words: object) -> subprocess.CompletedProcess[str]:
    return run_here("score", "complexfuncbench", *map(str, words), home=NOWHERE, COLUMNS="200")


def row(
    identity: str, message: Any = "Success.", correct: int = 4, steps: int = 2
) -> dict[str, Any]:
    return {
        "id": identity,
        "message": message,
        "count_dict": {
            "success_turn_num": 1,
            "total_turn_num": 2,
            "correct_call_num": correct,
            "total_call_num": 4,
            "real_turn_num": steps,
        },
        "resp_eval": {"complete": {"score": 2}, "correct": {"score": 1}},
    }


@pytest.fixture
def results(tmp_path: Path) -> Path:
    wrong = [{"error_type": "value_error", "parameter": "dest_id"}]
    made = [row("Hotels-0"), row("Hotels-1", wrong, 2, 4), row("Cross-0")]
    file = tmp_path / "results.jsonl"
    file.write_text("\n".join(json.dumps(one) for one in made))
    return file


def test_the_figures_come_as_fractions_by_domain_and_overall(results: Path) -> None:
    done = score("--results", results, "--mode", "as_paper", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["success"] == {"Hotels": 0.5, "Cross": 1.0, "overall": pytest.approx(2 / 3)}
    assert found["call_acc"] == {"Hotels": 0.75, "Cross": 1.0, "overall": pytest.approx(10 / 12)}
    assert (found["completeness"], found["correctness"]) == (2.0, 1.0)
    assert found["error_types"]["value_error"] == 1.0
    assert found["value_error_parameters"] == {"id": 1.0}
    assert found["steps"]["extra"] == {"0": 2, "2": 1}
    assert found["problems"] == []


@pytest.mark.parametrize("content", ["", "{}", "[3]", None])
def test_a_file_without_results_is_asked_wrongly(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "results.json"
    if content is not None:
        file.write_text(content)
    done = score("--results", file)
    assert done.returncode == 2
    assert "results.json" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_published_figures_come_out_of_the_official_rows(shared: Path, tmp_path: Path) -> None:
    case = json.loads((shared / "cases" / "complexfuncbench.json").read_text())["print_results"][0]
    file = tmp_path / "results.json"
    file.write_text(json.dumps(case["inputs"]))
    found = json.loads(score("--results", file, "--json").stdout)
    assert f"Overall Success Rate: {found['success']['overall'] * 100}\n" in case["official_stdout"]
    assert (
        f"Overall Call Accuracy: {found['call_acc']['overall'] * 100}\n" in case["official_stdout"]
    )
    assert f"Complete Score: {found['completeness']}\n" in case["official_stdout"]
