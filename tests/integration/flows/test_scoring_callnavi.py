"""`callwright score callnavi`, `score confetti` and `check callnavi`, at the command line."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from callwright.flows.cli.main import app
from tests.support.flows.small_builds import run_here

NOWHERE = Path("/nowhere")  # scoring needs no work folder
PARTS = ("easy", "medium", "hard", "overall", "macro")


def run(*words: object) -> subprocess.CompletedProcess[str]:
    return run_here(*map(str, words), home=NOWHERE, COLUMNS="200")


def predict(shared: Path, folder: Path, form: Any) -> tuple[Path, Path]:
    questions = shared / "data" / "callnavi" / "Questions"
    folder.mkdir()
    for file in questions.glob("*.json"):
        rows = [
            {"predict": form(question["ground_truth"])} for question in json.loads(file.read_text())
        ]
        (folder / file.name).write_text(json.dumps(rows))
    return questions, folder


def in_prose(gold: dict[str, Any]) -> str:
    return f"Of course:\n```JSON\n{json.dumps(gold)}\n```"


def with_invented_tools(gold: dict[str, Any]) -> str:
    return json.dumps({**gold, "API": [f"{name}Now" for name in gold["API"]]})


@pytest.mark.parametrize(
    ("form", "valid", "repaired", "routing", "ast"),
    [
        (lambda gold: gold, 1, 1, 1, 1),
        (json.dumps, 1, 1, 1, 1),
        (in_prose, 0, 1, 1, 1),
        (with_invented_tools, 1, 1, 0, 0),
        (lambda gold: str(gold["API"]), 1, 1, 1, 0),
        (lambda _: "I don't know.", 0, 0, 0, 0),
        (lambda _: None, 0, 0, 0, 0),
    ],
)
def test_models_are_told_apart_by_the_figures_they_should_be(
    shared: Path, tmp_path: Path, form: Any, valid: int, repaired: int, routing: int, ast: int
) -> None:
    questions, folder = predict(shared, tmp_path / "made", form)
    words = [
        "score",
        "callnavi",
        "--questions",
        str(questions),
        "--predictions",
        str(folder),
        "--json",
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    expected = {
        "syntax_validity": valid,
        "syntax_validity_repaired": repaired,
        "routing": routing,
        "structure": ast,
        "ast": ast,
    }
    assert {name: [found[name][part] for part in PARTS] for name in expected} == {
        name: [pytest.approx(share)] * 5 for name, share in expected.items()
    }
    assert found["questions"] == 729


def test_several_runs_tell_how_steady_a_model_is(shared: Path, tmp_path: Path) -> None:
    questions, steady = predict(shared, tmp_path / "one", json.dumps)
    _, other = predict(shared, tmp_path / "two", lambda _: "No idea.")
    words = ["score", "callnavi", "--questions", str(questions), "--json"]
    for second, election in ((steady, 1.0), (other, 0.0)):
        runs = ["--predictions", str(steady), "--predictions", str(second)]
        found = json.loads(CliRunner().invoke(app, [*words, *runs]).stdout)
        assert (found["ast"]["overall"], found["election_stability"]["macro"]) == (1, election)
    assert 0 < found["levenshtein_stability"]["overall"] < 0.5
    assert "election_stability" not in json.loads(
        CliRunner().invoke(app, [*words, "--predictions", str(other)]).stdout
    )


def test_a_folder_without_predictions_is_asked_wrongly(shared: Path, tmp_path: Path) -> None:
    questions = shared / "data" / "callnavi" / "Questions"
    done = run("score", "callnavi", "--questions", questions, "--predictions", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "DOMAIN.json" in done.stderr


def gold_text(row: dict[str, Any]) -> str:
    name, accepted = next(iter(row["ground_truth"][0].items()))
    return f"[{name}({', '.join(f'{parameter}={values[0]!r}' for parameter, values in accepted.items())})]"


def test_the_accepted_calls_of_confetti_score_as_perfect(shared: Path, tmp_path: Path) -> None:
    answers = shared / "data" / "confetti" / "possible_answer"
    calls = [
        json.loads(line)
        for line in (answers / "BFCL_v2_conversationsclean.json").read_text().splitlines()
    ]
    turns = [
        json.loads(line) for line in (answers / "BFCL_v2_dialogacts.json").read_text().splitlines()
    ]
    rows = [{"id": row["id"], "result": gold_text(row)} for row in calls]
    rows += [{"id": row["id"], "acts": row["ground_truth"]} for row in turns]
    made = tmp_path / "made.jsonl"
    made.write_text("\n".join(json.dumps(row) for row in rows))
    words = ["score", "confetti", "--answers", str(answers), "--predictions", str(made)]
    found = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert (found["calls"], found["chains"], found["acts"]["turns"]) == (506, 313, 463)
    assert [found[name] for name in ("ast_soft", "ast", "ast_soft_chains", "ast_chains")] == [
        1.0
    ] * 4
    assert {name: part["chains"] for name, part in found["by_chain_length"].items()} == {
        "1": 220,
        "2": 46,
        "3": 25,
        "4+": 22,
    }
    assert (found["acts"]["accuracy"], found["acts"]["f1"], found["problems"]) == (1.0, 1.0, [])
    assert "4+" in CliRunner().invoke(app, words).stdout


def test_another_scorer_and_another_way_to_combine_change_the_soft_score(
    shared: Path, tmp_path: Path
) -> None:
    answers = shared / "data" / "confetti" / "possible_answer"
    made = tmp_path / "made.json"
    made.write_text(
        json.dumps(
            [
                {
                    "id": "conversationsclean_4",
                    "result": (
                        "[BookFlight_search_flights(departure_airport='SAN', arrival_airport='DEN',"
                        " departure_date='April 24, 2024')]"
                    ),
                }
            ]
        )
    )
    words = ["score", "confetti", "--answers", str(answers), "--predictions", str(made), "--json"]
    found = {
        options: json.loads(CliRunner().invoke(app, [*words, *options]).stdout)["ast_soft"] * 506
        for options in (
            ("--scorer", "words"),
            ("--scorer", "words", "--combine", "product"),
            ("--scorer", "exact"),
            (),
        )
    }
    assert list(found.values()) == pytest.approx([8 / 9, 2 / 3, 2 / 3, 1])
