"""The grade of a sample: the weakest of its claims, by rules, by who read it blind, or open."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.stages import stage_rows
from callwright.validators.checks.table import settled_claims
from callwright.validators.checks.verdicts import read_by
from callwright.warehouse.records import (
    CallTurn,
    Decision,
    Evidence,
    GoldCall,
    Origin,
    Review,
    Sample,
    UserTurn,
    Verdict,
)
from callwright.warehouse.store import Warehouse

NOW = datetime(2026, 11, 22, tzinfo=UTC)
RULES = ("format", "wording", "grounding", "dialogue", "routing")
JUDGE, MAKER = "openai/judge", "openai/maker"


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    kept = Warehouse(tmp_path / "warehouse.duckdb", patience=5)
    kept.put_rows({"stages": stage_rows()})
    return kept


def sample(text: str = "Will it rain in Oslo?", model: str = MAKER) -> Sample:
    call = GoldCall(tool="weather", arguments={"city": "Oslo"})
    return Sample(
        kind="perfect",
        language="en",
        category="Weather",
        candidates=("k",),
        turns=(UserTurn(text=text), CallTurn(calls=(call,))),
        origin=Origin(stage="requests", model=model),
    )


def by_rules(about: Sample, **decisions: Decision) -> list[Verdict]:
    return [
        Verdict(subject=about.key, check=name, decision=decisions.get(name, "proved"))
        for name in RULES
    ]


def read(about: Sample, decision: Decision = "proved", model: str = JUDGE) -> list[Verdict]:
    return read_by(model, MAKER, [Verdict(subject=about.key, check="reading", decision=decision)])


def graded(warehouse: Warehouse, *verdicts: Verdict) -> dict[str, Any]:
    warehouse.put(verdicts)
    [row] = warehouse.rows("select grade, models, proved_claims, open_claims from sample_grades")
    settled = settled_claims(verdicts)
    assert (row["grade"], {*row["open_claims"]}) == (settled.grade, settled.open)
    return row


def test_a_reader_settles_what_words_mean_and_what_rules_found_settles_nothing(
    warehouse: Warehouse,
) -> None:
    row = graded(warehouse, *by_rules(sample()), *read(sample()))
    assert (row["grade"], row["proved_claims"], row["open_claims"]) == ("judged", [], [])


def test_rules_alone_never_settle_what_words_mean(warehouse: Warehouse) -> None:
    row = graded(warehouse, *by_rules(sample()))
    assert (row["grade"], row["open_claims"]) == (
        "open",
        ["arguments", "deed", "nothing_else", "no_call_missing"],
    )


@pytest.mark.parametrize("left", ["grounding", "dialogue", "routing"])
def test_what_a_rule_leaves_open_is_judged_where_another_model_reads_the_same(
    warehouse: Warehouse, left: str
) -> None:
    row = graded(warehouse, *by_rules(sample(), **{left: "unproved"}), *read(sample()))
    assert (row["grade"], row["models"]) == ("judged", [JUDGE])


@pytest.mark.parametrize("left", ["format", "wording"])
def test_what_no_reading_can_settle_stays_open(warehouse: Warehouse, left: str) -> None:
    assert (
        graded(warehouse, *by_rules(sample(), **{left: "unproved"}), *read(sample()))["grade"]
        == "open"
    )


def test_who_made_a_sample_is_no_witness_for_it(warehouse: Warehouse) -> None:
    row = graded(warehouse, *by_rules(sample()), *read(sample(), model=MAKER))
    assert (row["grade"], row["open_claims"]) == (
        "open",
        ["arguments", "deed", "nothing_else", "no_call_missing"],
    )


def test_a_blind_reading_that_differs_leaves_open_what_rules_prove(warehouse: Warehouse) -> None:
    assert graded(warehouse, *by_rules(sample()), *read(sample(), "unproved"))["grade"] == "open"


@pytest.mark.parametrize(("model", "grade"), [(JUDGE, "judged"), ("template/v1", "open")])
def test_unread_rules_are_settled_by_who_reads_language_and_not_by_the_template(
    warehouse: Warehouse, model: str, grade: str
) -> None:
    unread = Verdict(subject=sample().key, check="unread_rules", decision="unproved")
    row = graded(warehouse, *by_rules(sample()), unread, *read(sample(), model=model))
    assert (row["grade"], row["open_claims"]) == (grade, ["rules"] * (grade == "open"))


def test_the_template_judges_where_no_unread_rule_speaks(warehouse: Warehouse) -> None:
    known = Verdict(subject=sample().key, check="unread_rules", decision="proved")
    row = graded(warehouse, *by_rules(sample()), known, *read(sample(), model="template/v1"))
    assert (row["grade"], row["proved_claims"]) == ("judged", ["rules"])


def test_what_one_rule_leaves_open_no_other_rule_proves(warehouse: Warehouse) -> None:
    decisions: dict[str, Decision] = {"replies": "proved", "answers_request": "unproved"}
    told = [
        Verdict(subject=sample().key, check=name, decision=decision)
        for name, decision in decisions.items()
    ]
    row = graded(warehouse, *by_rules(sample()), *read(sample()), *told)
    assert (row["grade"], row["open_claims"]) == ("open", ["replies"])


def landed(warehouse: Warehouse, about: Sample, grade: str, judges: list[str]) -> None:
    acceptance = {
        "subject": about.key,
        "build": "b",
        "recipe": "r",
        "grade": grade,
        "judged_by": judges,
        "accepted_by": "machine",
        "decided_by": "machine",
        "accepted_at": NOW,
        "withdrawn_at": None,
    }
    asked = {
        "build": "b",
        "subject": about.key,
        "kind": "sample_review",
        "cause": "spot check",
        "reason": "",
        "requested_at": NOW,
        "pushed_at": None,
        "server": "",
        "reviewers": 1,
        "overlap": 1,
        "priority": 0.0,
        "against": "",
    }
    warehouse.put([about])
    warehouse.put_rows({"acceptances": [acceptance], "review_requests": [asked]})


def test_the_precision_of_a_grade_is_what_people_found_of_it_and_unknown_where_nobody_looked(
    warehouse: Warehouse,
) -> None:
    good, bad, unseen = sample("a"), sample("b"), sample("c", model="template/v1")
    for one, grade in ((good, "proved"), (bad, "proved"), (unseen, "judged")):
        landed(warehouse, one, grade, [JUDGE] if grade == "judged" else [])
    for one, decision in ((good, "accept"), (bad, "reject")):
        warehouse.put(
            [
                Review(
                    subject=one.key,
                    kind="sample_review",
                    decision=decision,
                    reviewer="ann",
                    reviewed_at=NOW,
                )
            ]
        )
    rows = warehouse.rows(
        "select grade, is_template, n_samples, n_judged, precision from check_precision"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("judged", True, 1, 0, None),
        ("proved", False, 2, 2, 0.5),
    ]


def test_each_argument_and_each_claim_has_a_grade_and_who_settled_it(warehouse: Warehouse) -> None:
    one = sample()
    found = Evidence(argument="city", kind="span", turn=0, start=16, end=20, quote="Oslo")
    grounding = Verdict(
        subject=one.key,
        check="grounding",
        decision="unproved",
        evidence=(found,),
        open_arguments=("day",),
    )
    rest = [verdict for verdict in by_rules(one) if verdict.check != "grounding"]
    warehouse.put([one, grounding, *rest, *read(one)])
    rows = warehouse.rows(
        "select claim, argument, standing, grade, settled_by from claims order by all"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("argument", "city", "said", "judged", JUDGE),
        ("argument", "day", "not_said", "judged", JUDGE),
        ("deed", "", "", "judged", JUDGE),
        ("no_call_missing", "", "", "judged", JUDGE),
        ("nothing_else", "", "", "judged", JUDGE),
    ]


def test_what_a_models_words_came_to_is_counted_by_language(warehouse: Warehouse) -> None:
    judged, opened = sample("a"), sample("b")
    build = {
        "key": "b",
        "recipe": "r",
        "body": '{"models":{"generator":{"name":"openai/maker"}}}',
        "started_at": NOW,
        "finished_at": None,
    }
    warehouse.put([judged, opened, *by_rules(judged), *read(judged), *by_rules(opened)])
    warehouse.put_rows(
        {
            "builds": [build],
            "build_samples": [
                {"build": "b", "sample": one.key, "draft": "d"} for one in (judged, opened)
            ],
        }
    )
    [row] = warehouse.rows(
        "select model, language, n_made, n_refused, n_open, n_judged, proved_share from"
        " making_outcomes"
    )
    assert tuple(row.values()) == (MAKER, "en", 2, 0, 1, 1, 0.0)
