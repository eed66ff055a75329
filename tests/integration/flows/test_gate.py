"""A gate: candidates held to figures and to each other, by the command and from Python, with the
reports that CI servers read.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from statsmodels.stats.contingency_tables import mcnemar

import callwright
from callwright.flows.api.surroundings import settings_of
from callwright.warehouse.errors import ConfigurationError
from tests.support.flows.small_builds import (
    TOP,
    environment,
    run_here,
    warehouse_of,
    write_unmeasured_recipe,
)
from tests.support.sampling import slow

ERRS = {"wrong_argument": 0.4, "wrong_tool": 0.3}
CANDIDATES = [
    {"label": "main", "model": "template/v1"},
    {"label": "change", "model": {"name": "template/v1", "error_rate": ERRS}},
]
TEXTS = "\x00\x1b]]><b>|`*[x](http://x)\ud800"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder with the release v1, which a candidate without mistakes has answered, and
    one that errs.
    """
    folder = tmp_path_factory.mktemp("gated")
    samples = {"perfect": 24, "irrelevant": 4}
    callwright.build(
        callwright.make_recipe("small", tools=[{"seed": ["Weather"]}], samples=samples), home=folder
    )
    callwright.create_release("v1", splits={"train": 0.5, "test": 0.5}, home=folder)
    done = run_here(
        "evaluate",
        "v1",
        "--recipe",
        str(write_unmeasured_recipe(folder, candidates=CANDIDATES)),
        home=folder,
    )
    assert done.returncode == 0, done.stderr
    return folder


def gated(home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return run_here("evaluate", "v1", "--recipe", str(home / "small.yaml"), *words, home=home)


def report(path: Path) -> ET.Element:
    return ET.parse(path).getroot()  # noqa: S314 - our own


def passes(home: Path, candidate: str, split: str = "") -> dict[str, bool]:
    """Whether a candidate passes each sample, counted from its bare answers."""
    rows = warehouse_of(settings_of(home)).rows(
        """select p.subject, bool_and(p.error_type = '') as passed from predictions p
        join release_samples m using (release, subject) where p.candidate = ? and p.strategy = 'direct' and ? in ('', m.split)
        group by all""",
        [candidate, split],
    )
    return {row["subject"]: row["passed"] for row in rows}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--fail-under", "args_acc=0", "--fail-over", "invented=1"), 0),
        (("--fail-under", "func_acc=0", "--fail-under", "pass_rate=1"), 1),
        slow(("--fail-over", "pass_rate=0.01"), 1),
        (("--against", "main"), 1),
        (("--against", "main", "--worse-by", "0.99"), 0),
        slow(("--against", "main", "--p", "0"), 0),
        slow(("--against", "change"), 0),
    ],
)
def test_a_gate_that_fails_ends_the_command_with_1(
    home: Path, words: tuple[str, ...], code: int
) -> None:
    done = gated(home, *words)
    assert done.returncode == code, done.stderr
    assert ("failed" in done.stdout) == bool(code)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--fail-under", "args_ac=0.9"),
            "There is no metric 'args_ac'. Did you mean one of args_acc",
        ),
        (
            ("--fail-under", "args_acc"),
            "--fail-under takes METRIC=NUMBER, such as args_acc=0.9, not 'args_acc'",
        ),
        slow(("--fail-over", "args_acc=nan"), "It must be a number"),
        (
            ("--against", "maim"),
            (
                "No candidate 'maim' has answered 'v1'. Candidates that have: change~direct,"
                " main~direct"
            ),
        ),
    ],
)
def test_what_no_gate_can_be_held_to_is_asked_wrongly(
    home: Path, words: tuple[str, ...], said: str
) -> None:
    done = gated(home, *words)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("split", [slow(""), "test"])
def test_two_candidates_are_compared_by_mcnemars_test_on_the_samples_of_the_split(
    home: Path, split: str
) -> None:
    found = gated(home, "--against", "main", "--json", *(("--split", split) if split else ()))
    [demand] = next(row["gate"] for row in json.loads(found.stdout) if row["candidate"] == "change")
    mine, other = passes(home, "change", split), passes(home, "main", split)
    only_mine = sum(mine[key] and not other[key] for key in mine)
    only_other = sum(other[key] and not mine[key] for key in mine)
    assert only_other > 3
    assert demand["value"] == pytest.approx((only_mine - only_other) / len(mine))
    assert demand["p_value"] == pytest.approx(
        mcnemar([[0, only_mine], [only_other, 0]], exact=True).pvalue
    )
    assert demand["passed"] == (demand["p_value"] > 0.05)


def test_a_name_that_was_asked_by_several_strategies_is_told_apart(home: Path) -> None:
    run_here("evaluate", "v1", "--model", "template/v1", "--strategy", "native", home=home)
    callwright.evaluate("v1", "template/v1", home=home)

    def agent(_messages: object, _tools: object) -> None:
        return None

    found = callwright.evaluate("v1", agent, home=home)
    with pytest.raises(
        ConfigurationError, match="Name one of them: template/v1~direct, template/v1~native"
    ):
        found.gate(against="template/v1")
    [demand] = found.gate(against="template/v1~native").demands
    assert not demand.passed
    assert demand.demand == "not worse than template/v1~native by 0 (p 0.05)"


def test_junit_has_a_case_a_sample_with_due_and_made_calls_where_it_failed(
    home: Path, tmp_path: Path
) -> None:
    path = tmp_path / "new" / "gate.xml"
    assert gated(home, "--fail-under", "pass_rate=1", "--junit", str(path)).returncode == 1
    suites = {suite.get("name"): suite for suite in report(path)}
    assert list(suites) == ["gate", "main direct", "change direct"]
    results = passes(home, "change")
    cases = suites["change direct"].findall("testcase")
    assert {
        (case.get("name") or "").split()[0]: case.find("failure") is None for case in cases
    } == results
    assert suites["change direct"].get("failures") == str(list(results.values()).count(False))
    failure = suites["change direct"].find("testcase/failure")
    assert failure is not None
    assert "due: [" in (failure.text or "")
    assert "made: [" in (failure.text or "")
    assert suites["main direct"].get("failures") == str(
        list(passes(home, "main").values()).count(False)
    )
    assert [case.get("name") for case in suites["gate"].findall("testcase[failure]")] == [
        f"{name}: pass_rate at least 1"
        for name in ("main", "change")
        if not all(passes(home, name).values())
    ]


def test_what_a_candidate_says_breaks_no_report(home: Path, tmp_path: Path) -> None:
    def hostile(_messages: object, _tools: object) -> object:
        raise RuntimeError(TEXTS)

    gate = callwright.evaluate("v1", hostile, home=home, name=f"bad {TEXTS[2:-1]}").gate(
        {"pass_rate": 0.5}
    )
    gate.write_junit(tmp_path / "gate.xml")
    gate.write_summary(tmp_path / "gate.md")
    assert (
        len(report(tmp_path / "gate.xml").findall("testsuite/testcase/failure"))
        == len(passes(home, "main")) + 1
    )
    assert "<b>" not in (tmp_path / "gate.md").read_text(encoding="utf-8")


def test_the_workflow_of_the_docs_runs(home: Path, tmp_path: Path) -> None:
    page = (TOP / "docs" / "evaluating.md").read_text(encoding="utf-8")
    workflow: dict[str, Any] = yaml.safe_load(page.split("```yaml\n")[1].split("```")[0])
    [job] = workflow["jobs"].values()
    commands = [
        step["run"]
        for step in job["steps"]
        if "run" in step and not step["run"].startswith("pip install")
    ]
    done = run_here(
        "export", "v1", "--to", "records", "--out", str(tmp_path / "datasets" / "v1"), home=home
    )
    assert done.returncode == 0, done.stderr
    write_unmeasured_recipe(tmp_path, name="candidates", candidates=CANDIDATES)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "callwright").symlink_to(Path(sys.executable).parent / "callwright")
    given = environment(
        tmp_path / "home", GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"), CI="true"
    )
    given["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{given['PATH']}"
    ended = subprocess.run(
        ["bash", "-e", "-c", "\n".join(commands)],
        env=given,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1, ended.stderr
    assert "failed" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert report(tmp_path / "gate.xml").findall("testsuite/testcase")
