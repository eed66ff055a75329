"""`callwright score hammerbench`: the paper's own logs, at the command line."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.flows.small_builds import run_here

TOP = Path(__file__).parents[3]
NOWHERE = Path("/nowhere")  # scoring needs no work folder
CALL = '{{"name": "book", "parameters": {}}}'
# Func Acc, PN_HR, PN_MR, Args Acc, PR, SR in percent by the judge's flags, as the paper's GPT-4o
# rows (EVALUATORS 1.6).
PAPER = {
    "mQmA/MT0": (71.287, 16.475, 4.693, 53.999, 43.433, 34.653),
    "mQmA": (71.287, 15.899, 3.715, 52.954, 46.627, 40.099),
    "mQsA": (71.782, 15.865, 6.731, 51.675, 42.657, 35.396),
    "sQmA": (72.525, 17.878, 3.488, 53.376, 47.180, 40.099),
    "mSv/MT0": (75.259, 15.280, 5.645, 56.379, 51.016, 43.650),
    "mSv": (76.011, 14.360, 6.259, 48.146, 41.259, 16.745),
    "External/MT0": (71.429, 8.920, 3.568, 59.648, 54.623, 48.571),
    "External": (73.878, 11.143, 8.915, 52.817, 50.782, 38.571),
}
METRICS = ("func_acc", "pn_hr", "pn_mr", "args_acc", "pr", "sr")
OFFICIAL = {
    "Rejection rate": "rejection_rate",
    "PN_FP": "pn_hr",
    "PN_FN": "pn_mr",
    "Func_Acc": "func_acc",
    "Args_Acc": "args_acc",
    "PR": "pr",
    "SR": "sr",
}
BY_JUDGE = {"Args_Acc LLM": "args_acc", "PR LLM": "pr", "SR LLM": "sr"}


def score(*words: object) -> subprocess.CompletedProcess[str]:
    return run_here("score", "hammerbench", *map(str, words), home=NOWHERE, COLUMNS="200")


def scored(*words: object) -> dict[str, Any]:
    done = score(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def row(arguments: dict[str, Any], label: dict[str, Any] | None = None) -> dict[str, Any]:
    due = {"name": "book", "arguments": label or arguments}
    return {"input": "user:x", "predict": CALL.format(json.dumps(arguments)), "label": due}


def write_log(
    folder: Path, conversations: list[list[dict[str, Any]]], flags: list[list[bool]] | None = None
) -> Path:
    folder.mkdir(parents=True)
    (folder / "MT_res.json").write_text(
        json.dumps([{"FC_res": rows} for rows in conversations], ensure_ascii=False)
    )
    if flags is not None:
        (folder / "turn_flags_res.json").write_text(json.dumps(flags))
    return folder


def test_the_papers_rows_come_out_of_its_logs(shared: Path) -> None:
    logs = shared / "data" / "hammerbench" / "gpt4o_logs"
    there = {name: row for name, row in PAPER.items() if (logs / name / "MT_res.json").is_file()}
    assert {"mQmA", "mQmA/MT0", "External"} <= there.keys()
    for name, printed in there.items():
        found = scored("--logs", logs / name)
        assert [100 * found[metric] for metric in METRICS] == [
            pytest.approx(value, abs=6e-4) for value in printed
        ]


def test_the_command_agrees_with_the_official_recomputation(shared: Path) -> None:
    cases = json.loads((shared / "cases" / "hammerbench.json").read_text())[
        "paper_gpt4o_reproduction"
    ]
    assert len(cases) == 4
    for case in cases:
        choice = {"0": "first", "-1": "last", "mid": "shift"}.get(str(case["mode"]), case["mode"])
        for verdicts, names in (("rule", OFFICIAL), ("flags", BY_JUDGE)):
            found = scored(
                "--logs", shared / case["log"], "--snapshots", choice, "--verdicts", verdicts
            )
            for official, metric in names.items():
                assert found[metric] == pytest.approx(case["official"][official], abs=1e-9)


def test_a_scorer_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log", [[row({"a": "x"})]])
    code = (
        "import sys; from pathlib import Path; import callwright.flows.cli.main\n"
        "from callwright.flows.evaluation.scoring import score_logs\n"
        f"score_logs([Path({str(log)!r})]); print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=TOP
    ).stdout
    heavy = {
        "pydantic",
        "duckdb",
        "litellm",
        "prefect",
        "jinja2",
        "jsonschema",
        "numpy",
        "rouge_score",
        "rich",
    }
    assert "callwright.validators" in loaded.split()
    assert heavy & set(loaded.split()) == set()


def test_figures_are_lines_and_problems_are_news(tmp_path: Path) -> None:
    refused = {"predict": "Sorry, no.", "label": {"name": "book", "arguments": {"a": "x"}}}
    log = write_log(tmp_path / "log", [[row({}), row({"a": "x"})], [refused] * 12])
    done = score("--logs", log)
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert done.returncode == 0
    assert (lines["func_acc"], lines["args_acc/func_acc"], lines["verdicts"]) == (
        "0.500000",
        "0.285714",
        "rule",
    )
    assert "12 replies could not be scored as a call" in done.stderr
    assert "Conversation 1, snapshot 0: " in done.stderr
    assert "It begins: 'Sorry, no.'" in done.stderr
    assert "and 2 more" in done.stderr
    assert len(scored("--logs", log)["problems"]) == 12


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("irrelevant.csv", 'id,predict\n0,"Sorry,\nno."\n1,{}\n', ()),
        ("one.csv", "said\nSORRY\nbook\n", ()),
        ("other.csv", "a,b\nx,sorry\ny,z\n", ("--column", "b")),
        ("texts.json", '["sorry", "no"]', ()),
        ("rows.json", '[{"predict": "sorry"}, {"predict": null}]', ()),
    ],
)
def test_replies_where_no_tool_fits_are_counted(
    tmp_path: Path, name: str, content: str, options: tuple
) -> None:
    file = tmp_path / name
    file.write_text(content)
    assert scored("--irrelevant", file, *options) == {
        "irrelevant": 0.5,
        "replies": 2,
        "problems": [],
    }


def test_flat_predictions_are_scored_as_the_newest_release_does(
    shared: Path, tmp_path: Path
) -> None:
    names = {"Func_Acc": "func_acc", "PN_FP": "pn_hr", "PN_FN": "pn_mr", "Args_Acc": "args_acc"}
    cases = json.loads((shared / "cases" / "hammerbench.json").read_text())["head_aggregate"]
    scorable = [case for case in cases if "crash" not in case["official"]]
    assert scorable
    for case in scorable:
        (tmp_path / "log.json").write_text(json.dumps(case["inputs"]))
        found = scored("--predictions", tmp_path / "log.json", "--language", case["language"])
        for official, metric in names.items():
            assert found[metric] == pytest.approx(case["official"][official], abs=1e-9)
    file = shared / "data" / "hammerbench" / "head_examples" / "log_example.json"
    found = scored("--predictions", file, "--language", "en")
    assert (found["func_acc"], found["args_acc"], found["rows"]) == (1.0, 1.0, 3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "exactly one thing to score"),
        (("--logs", "{log}", "--predictions", "{log}/MT_res.json"), "exactly one thing to score"),
        (("--logs", "{log}/.."), "There are logs in its folders log"),
        (("--logs", "{log}/nowhere"), "Is it the folder of a log?"),
        (
            ("--logs", "{log}", "--snapshots", "middle"),
            "There is no file 'middle' that lists snapshots",
        ),
        (("--logs", "{log}", "--snapshots", "shift"), "snapshot_id.json"),
        (
            ("--logs", "{log}", "--snapshots", "{log}/MT_res.json"),
            "not a list of lists of snapshot indices",
        ),
        (("--predictions", "{log}/MT_res.json"), "Name it with --language: en, es, zh"),
        (("--predictions", "{log}/MT_res.json", "--language", "en"), '"predict" and "label"'),
        (("--predictions", "{log}/gone.json", "--language", "en"), "gone.json can't be read"),
        (("--irrelevant", "{log}/MT_res.json"), "no text under 'FC_res'"),
        (("--irrelevant", "{log}/two.csv"), "--column NAME"),
        (("--irrelevant", "{log}/two.csv", "--column", "c"), "no text under 'c'"),
    ],
)
def test_what_can_not_be_scored_is_told_in_a_sentence(
    tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    log = write_log(tmp_path / "log", [[row({})]])
    (log / "two.csv").write_text("a,b\nx,sorry\n")
    done = score(*(option.format(log=log) for option in options))
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
