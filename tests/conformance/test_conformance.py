"""The runner of the official cases, and what it finds."""

import json
from pathlib import Path

import pytest

from tests.conformance.__main__ import main

LABEL = {"name": "f", "arguments": {"a": "x"}}


def write(folder: Path, content: dict) -> str:
    file = folder / "cases.json"
    file.write_text(json.dumps(content))
    return str(file)


def rouge_case(score: float) -> dict:
    return {
        "inputs": {"reference": "a b", "hypothesis": "a c"},
        "official_f_en": score,
        "official_f_zh": 0.4999999950000001,
    }


@pytest.mark.parametrize(("paper", "least"), [("hammerbench", 60), ("complexfuncbench", 57)])
def test_answers_are_scored_as_officially(shared: Path, capsys, paper: str, least: int) -> None:
    assert main([str(shared / "cases" / f"{paper}.json"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["differences"] == []
    assert report["agree"] >= least


def test_a_run_that_went_otherwise_is_told_figure_by_figure(
    shared: Path, tmp_path: Path, capsys
) -> None:
    content = json.loads((shared / "cases" / "complexfuncbench.json").read_text())
    case = content["run"][1]
    case["official"] |= {"correct_call_num": 4, "turn_id": 7}
    content["run"], content["compare_turn"] = [case], content["compare_turn"][:1]
    content["compare_turn"][0]["official"] = {"raises": "AttributeError"}
    content["print_results"][0]["official_stdout"] = "Overall Call Accuracy: 74.0\n"
    assert main([write(tmp_path, content), "--json"]) == 1
    differences = json.loads(capsys.readouterr().out)["differences"]
    found = {(one["case"], one["figure"]) for one in differences}
    assert {
        ("rn03", "correct_call_num"),
        ("rn03", "turn_id"),
        ("ct01", "crash"),
        ("pr01", "overall call_acc"),
    } <= found


@pytest.mark.parametrize("change", [{"judge": 1}, {"threshold": 0.98}])
def test_keys_of_complexfuncbench_that_nobody_looks_at_are_refused(
    shared: Path, tmp_path: Path, change: dict
) -> None:
    content = json.loads((shared / "cases" / "complexfuncbench.json").read_text())
    content["run"][0]["inputs"] |= change
    assert main([write(tmp_path, content)]) == 2
    assert main([write(tmp_path, {**content, "run": [], "more": []})]) == 2


def test_a_case_that_differs_is_named(tmp_path: Path, capsys) -> None:
    assert (
        main(
            [
                write(
                    tmp_path,
                    {"about": "x", "rouge_l": [rouge_case(0.4999999950000001), rouge_case(0.9)]},
                )
            ]
        )
        == 1
    )
    assert (
        capsys.readouterr().out
        == "rouge_l 1: official_f_en is officially 0.9, ours is 0.4999999950000001\n1 agree, 1"
        " differ\n"
    )


@pytest.mark.parametrize(
    "content",
    [
        {"about": "nothing else"},
        {"rouge_2": []},
        {"rouge_l": [], "wash_syntax": []},
        {"rouge_l": [{**rouge_case(0.5), "threshold": 1}]},
        {
            "calculate_turn": [
                {
                    "inputs": {"turn_flags": [], "func_acc_first": True, "x": 1},
                    "official": {"PR": 1},
                }
            ]
        },
        {
            "calculate_turn": [
                {"inputs": {"turn_flags": [], "func_acc_first": True}, "official": {"F1": 1}}
            ]
        },
        {
            "multi_snapshot": [
                {"id": "x", "inputs": {"conversations": [], "mode": "7"}, "official": {}}
            ]
        },
    ],
)
def test_what_it_does_not_know_is_an_error_and_not_a_skip(
    tmp_path: Path, capsys, content: dict
) -> None:
    assert main([write(tmp_path, content)]) == 2
    assert capsys.readouterr().err


@pytest.mark.parametrize(("paper", "cases"), [("callnavi", 61), ("confetti", 33)])
def test_callnavi_and_confetti_are_scored_as_officially(
    shared: Path, capsys, paper: str, cases: int
) -> None:
    assert main([str(shared / "cases" / f"{paper}.json"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["differences"], report["agree"] >= cases) == ([], True)


@pytest.mark.parametrize(
    ("paper", "group", "change"),
    [
        ("callnavi", "wash_syntax", {"json_valid_without_llm": False}),
        ("callnavi", "ast_match", {"ast": False}),
        ("callnavi", "routing", {"match": False}),
        ("callnavi", "structured_output_compare", {"norm_a": []}),
        ("confetti", "cases", {"valid": False, "error": ["x"], "error_type": "x"}),
        ("confetti", "relevance", {"irrelevance_pass": False}),
    ],
)
def test_another_result_is_told_as_a_difference(
    shared: Path, tmp_path: Path, paper: str, group: str, change: dict
) -> None:
    case = json.loads((shared / "cases" / f"{paper}.json").read_text())[group][0]
    case["official"] |= change
    assert main([write(tmp_path, {group: [case]})]) == 1
    case["official"] |= {"unheard_of": 1}
    assert main([write(tmp_path, {group: [case]})]) == 2


def test_another_whole_run_of_callnavi_is_told_as_a_difference(
    shared: Path, tmp_path: Path, capsys
) -> None:
    case = json.loads((shared / "cases" / "callnavi.json").read_text())["aggregate"][1]
    case["questions"] = str(shared / "data" / "callnavi" / "Questions" / "*.json")
    assert main([write(tmp_path, {"aggregate": [case]})]) == 0
    case["official"]["ast"]["counts"]["hard"] = 66
    assert main([write(tmp_path, {"aggregate": [case]})]) == 1
    assert "ast counts hard is officially 66, ours is 65" in capsys.readouterr().out
    assert main([write(tmp_path, {"aggregate": [{**case, "transform": "none"}]})]) == 1


def test_stability_is_held_against_the_formula_and_the_paper(shared: Path, tmp_path: Path) -> None:
    case = json.loads((shared / "cases" / "callnavi.json").read_text())["stability_paper_formula"][
        1
    ]
    assert (
        main([write(tmp_path, {"stability_paper_formula": [{**case, "paper_value": 0.26}]})]) == 1
    )
    case["expected"]["election"] = 0.5
    assert main([write(tmp_path, {"stability_paper_formula": [case]})]) == 1


def test_files_that_are_missing_or_unknown_are_refused_clearly(
    shared: Path, tmp_path: Path, capsys
) -> None:
    assert main([write(tmp_path, {"cases": [], "wash_syntax": []})]) == 2
    assert "the runners know" in capsys.readouterr().err
    assert main([str(shared / "cases" / "missing.json")]) == 2


def test_a_crash_agrees_only_with_a_scored_failure(tmp_path: Path, capsys) -> None:
    good = {"predict": '{"name": "f", "parameters": {"a": "x"}}', "label": LABEL}
    bad = {"predict": "Sorry.", "label": LABEL}
    crash = {"crash": "NameError: name 'x' is not defined"}
    cases = [
        {"id": "1", "language": "en", "inputs": [good, bad], "official": crash},
        {"id": "2", "language": "en", "inputs": [good], "official": crash},
    ]
    assert main([write(tmp_path, {"head_aggregate": cases})]) == 1
    out = capsys.readouterr().out
    assert "1 agree, 1 differ" in out
    assert "head_aggregate 2: crash" in out
