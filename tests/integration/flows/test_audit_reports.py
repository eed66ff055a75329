"""Reports of audits: each says the same findings, in a form that its readers take."""

import json
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest

from callwright.flows.data_audit.reports import sort_words, write_report
from callwright.flows.data_audit.running import DataAudit, audit_data, audited_files
from callwright.validators.audit.findings import FindingSort
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.store import Warehouse
from tests.integration.flows.test_data_audits import bfcl_file

HOSTILE = "</script><b>\x1b[31m & \u202e"


@pytest.fixture
async def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataAudit:
    monkeypatch.chdir(tmp_path)
    warehouse = Warehouse(tmp_path / "home" / "warehouse.duckdb", patience=5)
    path = bfcl_file(tmp_path, [5, "five", HOSTILE])
    made = await audit_data(warehouse, audited_files([path], "bfcl"))
    refused = [*made][1]
    row = {"audit": made.key, "finding": refused.key, "verdict": "refused", "person": "Ada"}
    row |= {"note": "", "judged_at": "2026-01-01"}
    warehouse.put_rows({"finding_judgements": [row]})
    return made


def report(audit: DataAudit, ending: str) -> str:
    path = Path(f"report{ending}")
    write_report(audit, path)
    return path.read_text(encoding="utf-8")


def test_json_and_json_lines_hold_every_finding(audit: DataAudit) -> None:
    whole = json.loads(report(audit, ".json"))
    lines = [json.loads(line) for line in report(audit, ".jsonl").splitlines()]
    assert whole["findings"] == lines
    assert whole["items"] == 3
    assert whole["by_sort"] == Counter(one["sort"] for one in lines)
    assert [one["gold"] for one in lines] == ["five", HOSTILE]


def test_sarif_points_to_rules_files_and_lines(audit: DataAudit) -> None:
    document: dict[str, Any] = json.loads(report(audit, ".sarif"))
    [run] = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert document["version"] == "2.1.0"
    assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in rules)
    for result, finding in zip(run["results"], audit, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding.sort
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"].startswith(finding.reason[:20])
        [place] = result["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "BFCL_v4_mine.json"
        assert place["physicalLocation"].get("region", {"startLine": 0}) == {
            "startLine": finding.line
        }
        assert result["partialFingerprints"] == {"callwrightFinding/v1": finding.key}
    assert ["suppressions" in one for one in run["results"]] == [False, True]


def test_junit_has_a_case_for_each_item_with_findings(audit: DataAudit) -> None:
    suite = ET.fromstring(report(audit, ".xml"))[0]  # noqa: S314 - our own
    assert suite.get("tests") == "3"
    assert [case.get("name") for case in suite] == ["mine_1", "mine_2"]
    assert [[part.tag for part in case] for case in suite] == [["failure"], ["system-out"]]


def test_the_page_shows_others_texts_as_texts(audit: DataAudit) -> None:
    page = report(audit, ".html")
    assert "&lt;/script&gt;&lt;b&gt;" in page
    assert "<b>" not in page
    assert 'id="show-error"' in page


def test_a_report_with_another_ending_is_refused(audit: DataAudit) -> None:
    with pytest.raises(ConfigurationError, match=r"\.html, \.json, \.jsonl, \.sarif, \.xml"):
        write_report(audit, Path("report.txt"))


def test_every_sort_of_finding_has_words() -> None:
    assert {*sort_words()} == {*get_args(FindingSort)}
