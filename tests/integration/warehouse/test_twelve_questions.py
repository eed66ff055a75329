"""The twelve questions of docs/sql.md: each asks one view, and its rows are those of a count by
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
CARELESS = {"error_rate": {"wrong_argument": 0.3, "refusal": 0.2, "wrong_tool": 0.3}}


def questions() -> list[str]:
    """The queries of the page, in their order."""
    part = (
        PAGE.read_text(encoding="utf-8").partition("## Twelve questions")[2].partition("\n## ")[0]
    )
    return re.findall(r"```sql\n(.*?)```", part, re.DOTALL)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    settings = settings_of(tmp_path_factory.mktemp("questions"))
    for samples in (RECIPE["samples"], RECIPE["samples"] | {"perfect": 16}):
        recipe = parse_recipe(RECIPE | {"samples": samples}, Path(), "small")
        asyncio.run(build_dataset(recipe, settings, SilentProgress()))
    made = Warehouse(settings.warehouse)
    make_release(made, "v1", Selection(), Terms())
    candidates = [
        Candidate(label="plain", model=read_model("template/v1")),
        Candidate(label="careless", model=read_model("template/v1", CARELESS)),
    ]
    asyncio.run(evaluate_release("v1", candidates, settings, SilentProgress(), Conditions()))
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


def test_each_of_them_asks_one_view_and_has_an_answer(answers: list[list[Row]]) -> None:
    asked = questions()
    assert len(asked) == 12
    assert all(len(re.findall(r"\b(?:from|join)\b", query)) == 1 for query in asked)
    assert all(answers)


def test_tools_that_fail_and_tools_that_are_confused_are_those_of_the_answers(
    warehouse: Warehouse, answers: list[list[Row]]
) -> None:
    samples = bodies(warehouse)
    judged, wrong, confused = (
        Counter[tuple[str, str]](),
        Counter[tuple[str, str]](),
        Counter[tuple[str, str]](),
    )
    for row in warehouse.rows("select * from predictions where error_type is not null"):
        turn = samples[row["subject"]]["turns"][row["turn"]]
        due, language = named(turn["calls"]), samples[row["subject"]]["language"]
        for tool in due or [""]:
            judged[row["candidate"], language, tool] += 1
            wrong[row["candidate"], language, tool] += row["error_type"] != ""
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
        (row["language"], row["tool"], row["items"], row["wrong_items"]) for row in answers[0]
    )
    assert shown == Counter((*key[1:], judged[key], count) for key, count in wrong.items() if count)
    assert [row["share"] for row in answers[0]] == sorted(
        (row["share"] for row in answers[0]), reverse=True
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
    cost: dict[tuple[str, str], float] = defaultdict(float)
    for row in warehouse.rows("select subject, cost from llm_calls where build <> ''"):
        for key in came_of.get(row["subject"], ()):
            if key in landed:
                cost[landed[key]] += row["cost"] / len(came_of[row["subject"]])
    assert sum(cost.values()) > 0
    counts = Counter(landed.values())
    expected = sorted(
        (kind, counts[build, kind], round(cost[build, kind] / counts[build, kind], 9))
        for build, kind in counts
    )
    assert (
        sorted(
            (row["kind"], row["landed"], round(row["cost_per_accepted"], 9)) for row in answers[1]
        )
        == expected
    )


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
        (row["reader"], row["language"], row["kind"]): row["missed"]
        for row in answers[2]
        if row["missed"]
    } == missed
    assert {tuple(row["reasons"]) for row in answers[2] if row["missed"]} == {("wrong value",)}
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
        "select candidate, subject, bool_and(error_type = '') as ok from predictions group by all"
    )
    passed = Counter(row["candidate"] for row in per_sample if row["ok"])
    assert {pair["candidate"], pair["other"]} == set(passed) == {"plain", "careless"}
    assert pair["difference"] == pytest.approx(
        (passed[pair["candidate"]] - passed[pair["other"]]) / pair["samples"]
    )
    errors = Counter(
        row["error_type"]
        for row in warehouse.rows("select error_type from predictions where error_type <> ''")
    )
    assert (
        sum((Counter({row["error_type"]: row["predictions"]}) for row in answers[6]), Counter())
        == errors
    )
    assert all(row["rejected"] + row["failed"] + row["waiting"] for row in answers[7])
    [calls] = warehouse.rows("select count(*) as n from llm_calls")
    assert sum(row["calls"] for row in answers[8]) == calls["n"]
    [ana] = answers[9]
    assert (ana["reviewer"], ana["reviews"], ana["median_seconds"]) == ("ana", 6, 20)
    [landed] = warehouse.rows("select count(*) as n from accepted_samples")
    assert sum(row["samples"] for row in answers[10]) == landed["n"]
    assert [row["samples"] for row in answers[11]] == sorted(row["samples"] for row in answers[11])
