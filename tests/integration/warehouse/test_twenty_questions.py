"""The twenty questions of docs/sql.md: each asks one view, and its rows are those of a count by
hand over the tables.
"""

import asyncio
import json
import re
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.evaluation.evaluating import evaluate_release
from callwright.flows.evaluation.evaluation_run import Conditions
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate, parse_recipe
from callwright.flows.run.plan import build_dataset
from callwright.llm.models import read_model
from callwright.warehouse.records import Review
from callwright.warehouse.releases import Selection, Terms, make_release
from callwright.warehouse.rows import Row
from callwright.warehouse.store import Warehouse
from tests.support.flows.small_builds import settings_of

PAGE = Path(__file__).parents[3] / "docs" / "sql.md"
RECIPE: dict[str, Any] = {
    "name": "small",
    "tools": [{"seed": ["Weather", "Clock", "Phone"]}],
    "languages": ["en", "zh"],
    "samples": {"perfect": 12, "imperfect": 6, "irrelevant": 4, "sQsA": 4},
    "models": {"generator": {"name": "template/v1", "error_rate": {"wrong_argument": 0.1}}},
}
PLAIN = {"error_rate": {"refusal": 0.6}}
CARELESS = {"error_rate": {"wrong_argument": 0.3, "refusal": 0.2, "wrong_tool": 0.3}}


def questions() -> list[str]:
    """The queries of the page, in their order."""
    part = (
        PAGE.read_text(encoding="utf-8").partition("## Twenty questions")[2].partition("\n## ")[0]
    )
    return re.findall(r"```sql\n(.*?)```", part, re.DOTALL)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    settings = settings_of(tmp_path_factory.mktemp("questions"))
    made = Warehouse(settings.warehouse)
    for release, perfect in (("v1", 12), ("v2", 16)):
        counts = RECIPE["samples"] | {"perfect": perfect}
        recipe = parse_recipe(RECIPE | {"samples": counts}, Path(), "small")
        asyncio.run(build_dataset(recipe, settings, SilentProgress()))
        make_release(made, release, Selection(), Terms())
    candidates = [
        Candidate(label="plain", model=read_model("template/v1", PLAIN)),
        Candidate(label="careless", model=read_model("template/v1", CARELESS)),
    ]
    asyncio.run(evaluate_release("v1", candidates, settings, SilentProgress(), Conditions(runs=2)))
    made.execute("update llm_calls set cost = 0.001 where build <> '' and not cached")
    read = made.rows(
        "select subject from newest_verdicts where check_name = 'reading' and model <> '' order by"
        " subject limit 6"
    )
    made.put(
        Review(
            subject=row["subject"],
            kind="sample_review",
            decision="reject" if place < 2 else "accept",
            reviewer="ana",
            reviewed_at=datetime(2026, 11, 20, 9, place, tzinfo=UTC),
            seconds=20,
            annotation_id=place + 1,
            reasons=("wrong value",) if place < 2 else (),
        )
        for place, row in enumerate(read)
    )
    return made


@pytest.fixture(scope="module")
def answers(warehouse: Warehouse) -> list[list[Row]]:
    return [warehouse.rows(query) for query in questions()]


def bodies(warehouse: Warehouse) -> dict[str, Any]:
    return {
        row["key"]: json.loads(row["body"])
        for row in warehouse.rows("select key, body from samples")
    }


def named(calls: list[dict[str, Any]]) -> list[str]:
    return sorted({call["tool"] for call in calls})


def test_each_of_them_asks_one_view_with_at_most_one_join_and_has_an_answer(
    answers: list[list[Row]],
) -> None:
    asked = questions()
    assert len(asked) == 20
    assert all(len(re.findall(r"\bfrom\b", query)) == 1 for query in asked)
    assert sum(len(re.findall(r"\bjoin\b", query)) for query in asked) <= 1
    assert [query for query, found in zip(asked, answers, strict=True) if not found] == []


def test_tools_that_fail_and_tools_that_are_confused_are_those_of_the_answers(
    warehouse: Warehouse, answers: list[list[Row]]
) -> None:
    samples = bodies(warehouse)
    judged, wrong, confused = (
        Counter[tuple[str, int, str, str]](),
        Counter[tuple[str, int, str, str]](),
        Counter[tuple[str, str]](),
    )
    for row in warehouse.rows("select * from predictions where error_type is not null"):
        turn = samples[row["subject"]]["turns"][row["turn"]]
        due, language = named(turn["calls"]), samples[row["subject"]]["language"]
        for tool in due or [""]:
            judged[row["candidate"], row["run"], language, tool] += 1
            wrong[row["candidate"], row["run"], language, tool] += row["error_type"] != ""
        if row["error_type"] and row["calls"] is not None:
            made = named(json.loads(row["calls"]))
            missing, extra = (
                [one for one in due if one not in made],
                [one for one in made if one not in due],
            )
            pairs = [
                (one, other) for one in missing or ["no call"] for other in extra or ["no call"]
            ]
            confused.update(pairs if missing or extra else [])
    shown = Counter(
        (row["language"], row["tool"], row["n_items"], row["n_wrong"]) for row in answers[0]
    )
    assert shown == Counter((*key[2:], judged[key], count) for key, count in wrong.items() if count)
    assert [row["wrong_share"] for row in answers[0]] == sorted(
        (row["wrong_share"] for row in answers[0]), reverse=True
    )
    assert {(row["due_tool"], row["called_tool"]): row["items"] for row in answers[4]} == confused
    assert any("no call" not in pair for pair in confused)


def test_what_kinds_cost_is_what_was_asked_about_their_samples_and_what_they_came_of(
    warehouse: Warehouse, answers: list[list[Row]]
) -> None:
    landed = {
        row["key"]: (row["build"], row["kind"])
        for row in warehouse.rows("select key, build, kind from accepted_samples")
    }
    parents = {
        row["key"]: row["parents"]
        for row in warehouse.rows(
            "from (select key, parents from samples union select key, parents from drafts)"
        )
    }
    came_of: dict[str, set[str]] = defaultdict(set)
    for key in bodies(warehouse):
        waiting = [key]
        while waiting:
            one = waiting.pop()
            if key not in came_of[one]:
                came_of[one].add(key)
                waiting += parents.get(one, [])
    roles = {row["name"]: row["role"] for row in warehouse.rows("select name, role from stages")}
    cost: dict[tuple[str, str, str], float] = defaultdict(float)
    asked = "select subject, stage, cost from llm_calls where build <> ''"
    for row in warehouse.rows(asked):
        purpose = "making" if roles[row["stage"]] == "generator" else "checking"
        for key in came_of.get(row["subject"], ()):
            if key in landed and row["stage"] != "planted_reading":
                cost[(*landed[key], purpose)] += row["cost"] / len(came_of[row["subject"]])
    assert sum(cost.values()) > 0
    counts = Counter(landed.values())
    expected = Counter(
        (kind, purpose, round(total / counts[build, kind], 9))
        for (build, kind, purpose), total in cost.items()
    )
    shown = [(row["kind"], row["purpose"], round(row["cost_each"], 9)) for row in answers[1]]
    assert Counter(one for one in shown if one[1]) == expected


def test_who_disagrees_with_readers_is_counted_by_hand(
    warehouse: Warehouse, answers: list[list[Row]]
) -> None:
    says = {
        (row["subject"], row["check_name"]): (row["model"], row["decision"] == "proved")
        for row in warehouse.rows(
            "select * from newest_verdicts where check_name = 'reading' and model <> ''"
        )
    }
    missed = Counter[tuple[str, str, str]]()
    kinds = bodies(warehouse)
    for row in warehouse.rows("select subject, decision from reviews"):
        model, agrees = says.get((row["subject"], "reading"), ("", False))
        if model and agrees and row["decision"] == "reject":
            missed[model, kinds[row["subject"]]["language"], kinds[row["subject"]]["kind"]] += 1
    assert missed
    assert {
        (row["reader"], row["language"], row["kind"]): row["n_missed"]
        for row in answers[2]
        if row["n_missed"]
    } == missed
    assert {tuple(row["reasons"]) for row in answers[2] if row["n_missed"]} == {("wrong value",)}
    assert {row["reviewer"] for row in answers[2]} == {"ana"}


def test_the_others_are_sums_of_the_tables(warehouse: Warehouse, answers: list[list[Row]]) -> None:
    drift = {(row["figure"], row["slice_value"]): row for row in answers[3]}
    [first, second] = warehouse.rows("select key from builds order by started_at")
    for build, value in ((first, "value_before"), (second, "value")):
        [row] = warehouse.rows(
            """select count(*) as n from outcomes o join samples s on s.key = o.subject
            where o.build = ? and o.stage = 'land' and o.outcome = 'passed' and s.kind = 'perfect'""",
            [build["key"]],
        )
        assert drift["landed", "perfect"][value] == row["n"]
    [pair] = answers[5]
    per_sample = warehouse.rows(
        "select candidate, subject, bool_and(error_type = '') as ok from predictions where run = 0"
        " group by all"
    )
    passed = Counter(row["candidate"] for row in per_sample if row["ok"])
    assert {pair["candidate"], pair["other"]} == set(passed) == {"plain", "careless"}
    assert pair["difference"] == pytest.approx(
        (passed[pair["candidate"]] - passed[pair["other"]]) / pair["n_samples"]
    )
    errors = Counter(
        row["error_type"]
        for row in warehouse.rows("select error_type from predictions where error_type <> ''")
    )
    assert (
        sum((Counter({row["error_type"]: row["n_predictions"]}) for row in answers[6]), Counter())
        == errors
    )
    assert all(row["n_rejected"] + row["n_failed"] + row["n_waiting"] for row in answers[7])
    [calls] = warehouse.rows("select count(*) as n, sum(cost) as cost from llm_calls")
    assert sum(row["n_requests"] for row in answers[8]) == calls["n"]
    assert sum(row["cost"] for row in answers[8]) == pytest.approx(calls["cost"])
    assert {row["purpose"] for row in answers[8]} == {
        "making",
        "checking",
        "measuring",
        "evaluating",
    }
    [ana] = answers[9]
    assert (ana["reviewer"], ana["n_reviews"], ana["median_seconds"]) == ("ana", 6, 20)
    [landed] = warehouse.rows("select count(*) as n from accepted_samples")
    assert sum(row["samples"] for row in answers[10]) == landed["n"]
    assert [row["n_samples"] for row in answers[11]] == sorted(
        row["n_samples"] for row in answers[11]
    )


def test_what_candidates_are_worth_is_counted_over_their_answers(
    warehouse: Warehouse, answers: list[list[Row]]
) -> None:
    right = defaultdict[tuple[str, int], list[bool]](list)
    passed = defaultdict[tuple[str, str], list[bool]](list)
    for row in warehouse.rows("select * from predictions where release = 'v1' order by subject"):
        right[row["candidate"], row["run"]].append(row["error_type"] == "")
    for row in warehouse.rows(
        "select candidate, subject, run, bool_and(error_type = '') as ok from predictions group by all"
    ):
        passed[row["candidate"], row["subject"]].append(row["ok"])
    for row in answers[12]:
        mine = right.pop((row["candidate"], row["run"]))
        share = sum(mine) / len(mine)
        assert (row["n_judged"], row["right_share"]) == (len(mine), pytest.approx(share))
        assert row["right_low"] <= share <= row["right_high"]
        assert row["right_low"] < row["right_high"]
    assert not right
    shares = {
        (row["candidate"], row["k"]): (row["pass_all"], row["pass_any"])
        for row in answers[16]
        if row["kind"] == "all"
    }
    for candidate in ("plain", "careless"):
        runs = [two for (name, _), two in passed.items() if name == candidate]
        assert shares[candidate, 2] == (
            pytest.approx(sum(map(all, runs)) / len(runs)),
            pytest.approx(sum(map(any, runs)) / len(runs)),
        )
    samples = {sample for _, sample in passed}
    hopeless = [
        one for one in samples if not any(passed["plain", one]) and not any(passed["careless", one])
    ]
    kinds = bodies(warehouse)
    assert {row["kind"] for row in answers[19]} == {kinds[one]["kind"] for one in hopeless}


def test_what_was_made_turned_away_and_released_is_counted_by_hand(
    warehouse: Warehouse, answers: list[list[Row]]
) -> None:
    [stopped] = warehouse.rows("select count(*) as n from outcomes where outcome <> 'passed'")
    assert sum(row["n_records"] for row in answers[13]) == stopped["n"]
    made = Counter(
        (row["kind"], row["language"])
        for row in warehouse.rows(
            "select distinct b.build, s.key, s.kind, s.language from build_samples b"
            " join samples s on s.key = b.sample"
        )
    )
    assert (
        sum(
            (Counter({(row["kind"], row["language"]): row["n_made"]}) for row in answers[17]),
            Counter(),
        )
        == made
    )
    members = defaultdict[str, set[str]](set)
    for row in warehouse.rows("select release, subject from release_samples"):
        members[row["release"]].add(row["subject"])
    assert sum(row["n_added"] for row in answers[18]) == len(members["v2"] - members["v1"]) > 0
    assert sum(row["n_kept"] for row in answers[18]) == len(members["v2"] & members["v1"])


def test_what_requests_and_calls_are_made_of_is_counted_by_hand(
    warehouse: Warehouse, answers: list[list[Row]]
) -> None:
    accepted = warehouse.rows("select build, language, request, body from accepted_samples")
    begun = defaultdict[tuple[str, str], set[str]](set)
    for row in accepted:
        begun[row["build"], row["language"]].add(row["request"].lower())
    for row in answers[15]:
        if row["what"] == "opening" and row["language"] == "en":
            counts = {
                sum(one.startswith(row["words"]) for one in requests)
                for (_, language), requests in begun.items()
                if language == "en"
            }
            assert row["n_requests"] in counts
    assert {row["what"] for row in answers[15]} == {"opening", "skeleton"}
    calls = [
        call
        for row in warehouse.rows("select gold from accepted_samples")
        for call in json.loads(row["gold"])
    ]
    counts_by_tool = Counter[str]()
    for row in answers[11]:
        counts_by_tool[row["tool"]] += row["n_samples"]
    assert +counts_by_tool == Counter(call["tool"] for call in calls)
    given = {(call["tool"], parameter) for call in calls for parameter in call["arguments"]}
    never = {(row["tool"], row["parameter"]) for row in answers[14]}
    assert never
    assert {tool for tool, _ in never} <= {call["tool"] for call in calls}
    assert len(calls) == sum(counts_by_tool.values())
    assert never - given
