"""`audit checks`: accepted samples are broken on purpose, and what the checks say of them is
kept and counted.
"""

import json
from collections import Counter
from pathlib import Path

import pytest
from scipy.stats import binomtest
from typer.testing import CliRunner

from callwright.flows.cli.main import app
from callwright.flows.settings import Settings, open_warehouse
from callwright.warehouse.releases import create_release
from callwright.warehouse.store import Warehouse
from tests.support.flows.small_builds import build, settings_of, unmeasured_recipe

TIMER = {
    "name": "startTimer",
    "parameters": {"type": "object", "properties": {"minutes": {"type": "integer"}}},
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    settings = settings_of(tmp_path_factory.mktemp("audited"))
    build(
        unmeasured_recipe(samples={"perfect": 12, "imperfect": 8, "irrelevant": 4, "sQsA": 4}),
        settings,
    )
    return settings


def audit(settings: Settings, *words: str, monkeypatch: pytest.MonkeyPatch) -> dict:
    monkeypatch.setenv("CALLWRIGHT_HOME", str(settings.home))
    result = CliRunner().invoke(app, ["audit", "checks", *words, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def cases_of(warehouse: Warehouse, key: str) -> list[dict]:
    return warehouse.rows("select * from audit_cases where audit = ?", [key])


def test_the_figures_are_those_of_a_count_by_hand(
    built: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = audit(built, "--limit", "2", "--seed", "5", monkeypatch=monkeypatch)
    warehouse = open_warehouse(built)
    cases = cases_of(warehouse, report["audit"])
    doubted = {"unproved", "contradicted"}
    values = [
        row["broken"]
        for row in report["figures"]
        if (row["check_name"], row["slice_by"]) == ("all checks", "defect and family")
    ]
    assert sum(values) == sum(case["is_broken"] for case in cases)
    for row in (one for one in report["figures"] if one["check_name"] == "all checks"):
        if row["slice_by"] in {"family", "defect and family"}:
            continue
        mine = [
            case
            for case in cases
            if row["slice_by"] == "all" or case[row["slice_by"]] == row["slice_value"]
        ]
        broken = [case for case in mine if case["is_broken"]]
        caught = [case for case in broken if case["decision"] in doubted]
        assert (row["broken"], row["caught"]) == (len(broken), len(caught))
        assert row["still_proved"] == sum(case["decision"] == "proved" for case in broken)
        if broken:
            bounds = binomtest(len(caught), len(broken)).proportion_ci(method="wilson")
            assert row["recall"] == pytest.approx(len(caught) / len(broken))
            assert (row["recall_low"], row["recall_high"]) == pytest.approx(
                (bounds.low, bounds.high)
            )
    [grounding] = [
        one
        for one in report["figures"]
        if (one["check_name"], one["slice_by"]) == ("grounding", "all")
    ]
    verdicts = warehouse.rows(
        "select decision, defect <> '' as is_broken from audit_verdicts where audit = ? and"
        " check_name = 'grounding'",
        [report["audit"]],
    )
    counts = Counter((row["is_broken"], row["decision"] != "proved") for row in verdicts)
    assert (grounding["caught"], grounding["alarms"]) == (counts[True, True], counts[False, True])


def test_a_release_is_audited_for_one_kind_of_defect(
    built: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_release(open_warehouse(built), "v1", note="")
    report = audit(built, "--release", "v1", "--defect", "negated", monkeypatch=monkeypatch)
    assert report["source"] == "v1"
    assert {row["slice_value"] for row in report["figures"] if row["slice_by"] == "defect"} == {
        "negated"
    }


def test_broken_samples_that_are_still_proved_are_written_to_be_checked_again(
    built: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "survivors.jsonl"
    report = audit(
        built,
        "--limit",
        "3",
        "--defect",
        "quoted",
        "--survivors",
        str(file),
        monkeypatch=monkeypatch,
    )
    [row] = [
        one
        for one in report["figures"]
        if (one["check_name"], one["slice_by"]) == ("all checks", "all")
    ]
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == row["still_proved"]
    assert {line["defect"] for line in lines} <= {"quoted"}
    result = CliRunner().invoke(app, ["check", "records", str(file), "--json"])
    assert all(one["decision"] == "proved" for one in json.loads(result.stdout))


def test_a_judge_is_measured_beside_the_rules(
    built: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = audit(
        built,
        "--limit",
        "1",
        "--model",
        "template/v1",
        "--defect",
        "value_of_other",
        monkeypatch=monkeypatch,
    )
    assert report["model"] == "template/v1"
    assert "reading" in {row["check_name"] for row in report["figures"]}


def test_labelled_wordings_are_judged(
    built: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = {"language": "en", "tool": TIMER, "request": "Start a timer for two hours."}
    lines = [
        {"id": "a", "arguments": {"minutes": 120}, "label": "right", "defect": "", **asked},
        {"id": "b", "arguments": {"minutes": 2}, "label": "wrong", "defect": "unit", **asked},
    ]
    file = tmp_path / "wordings.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    report = audit(built, "--wordings", str(file), monkeypatch=monkeypatch)
    [row] = [
        one
        for one in report["figures"]
        if one["slice_by"] == "defect" and one["check_name"] == "all checks"
    ]
    assert (row["slice_value"], row["broken"], row["caught"], row["intact"], row["alarms"]) == (
        "unit",
        1,
        1,
        1,
        0,
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--release", "none"), "No release is named 'none'"),
        (("--defect", "rust"), "no kind of defect 'rust'"),
        (("--wordings", "nowhere.jsonl"), "can't be read"),
    ],
)
def test_a_mistake_is_a_sentence(
    built: Settings, monkeypatch: pytest.MonkeyPatch, words: tuple[str, str], sentence: str
) -> None:
    monkeypatch.setenv("CALLWRIGHT_HOME", str(built.home))
    result = CliRunner().invoke(app, ["audit", "checks", *words])
    assert result.exit_code != 0
    assert sentence in str(result.exception)
