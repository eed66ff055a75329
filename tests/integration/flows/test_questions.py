"""The questions of docs/sql.md on a warehouse of all four recipes: they find something, and what
they find is right.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.api.releases import WorkFolder, assistant_words, load_from
from callwright.flows.settings import Settings
from callwright.language.schemas import kind_of
from callwright.warehouse.exports.formats import export_release
from callwright.warehouse.exports.verify_certificate import Verification
from callwright.warehouse.exports.writing import tool_document
from callwright.warehouse.records import Sample, Tool
from callwright.warehouse.releases import stream_release
from callwright.warehouse.rows import Row
from tests.support.flows.four_recipes import RELEASE
from tests.support.flows.small_builds import warehouse_of
from tests.support.warehouse.exported import rows_in
from tests.support.warehouse.openai_rules import validate_openai_row

PAGE = (Path(__file__).parents[3] / "docs" / "sql.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"\*\*([^*]+\?|Show me[^*]+\.)\*\*(.*?)(?=\n\*\*|\n## )", PAGE, re.DOTALL)
# What people said, what judges said, what is planted or wrong, a second build, a second way to ask:
# these samples have none.
MAY_BE_EMPTY = re.compile(
    r"people|review|judge|usable|asked first|metric|who decides|checks not see|trust the"
    r" checks|planted|duplicate of what"
    r"|two builds|build do otherwise|build drift|came and went|native tool|rules leave|gold may"
    r" be|wait for|turned away"
    r"|shift itself|never given|nobody get",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    ("question", "answer"), QUESTIONS, ids=[question for question, _ in QUESTIONS]
)
def test_each_question_has_an_answer(four_recipes: Settings, question: str, answer: str) -> None:
    for query in re.findall(r"```sql\n(.*?)```", answer, re.DOTALL):
        here = query.replace("recipe = 'demo'", "recipe = 'hammerbench'").replace(
            "'v1'", f"'{RELEASE}'"
        )
        found = rows(four_recipes, here)
        assert found or MAY_BE_EMPTY.search(question), query


def test_each_fine_tuning_row_of_all_four_recipes_is_one_that_openai_takes(
    four_recipes: Settings, tmp_path: Path
) -> None:
    warehouse = warehouse_of(four_recipes)
    export_release(
        stream_release(warehouse, RELEASE, words=assistant_words(system_messages=False)),
        "openai",
        tmp_path,
    )
    rows = [
        row
        for path in tmp_path.glob("[!c]*.jsonl")
        if "origins" not in path.name
        for row in rows_in(path)
    ]
    origins = [row for path in tmp_path.glob("*.origins.jsonl") for row in rows_in(path)]
    taught = {row["kind"] for row in origins}
    assert {"multi_step", "conversation", "perfect"} <= taught
    for row in rows:
        validate_openai_row(row)


@pytest.fixture(scope="module")
def exported(
    four_recipes: Settings, tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    """The samples of the release as the export `records` has them: no line of SQL has touched
    them.
    """
    folder = tmp_path_factory.mktemp("exported") / "records"
    export_release(stream_release(warehouse_of(four_recipes), RELEASE), "records", folder)
    return [
        json.loads(line) | {"split": file.stem}
        for file in sorted(folder.glob("[!c]*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def test_no_text_of_a_call_stands_in_what_is_shown_of_its_tool(
    exported: list[dict[str, Any]],
) -> None:
    texts, found = 0, []
    for line in exported:
        tools = {one["name"]: Tool.model_validate(one) for one in line["tools"]}
        for _, calls in call_turns(line):
            for call in calls:
                tool = tools[call["tool"]]
                shown = json.dumps(tool_document(tool), ensure_ascii=False).casefold()
                for name, value in call["arguments"].items():
                    schema = tool.properties.get(name, {})
                    if (
                        isinstance(value, str)
                        and kind_of(schema) == "text"
                        and "enum" not in schema
                    ):
                        texts += 1
                        pattern = rf"(?<!\w){re.escape(value.casefold())}(?!\w)"
                        found += [(tool.name, name, value)] if re.search(pattern, shown) else []
    assert texts
    assert found == []


def rows(settings: Settings, sql: str) -> list[Row]:
    return warehouse_of(settings).rows(sql)


def call_turns(line: dict[str, Any]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    for place, turn in enumerate(line["sample"]["turns"]):
        if turn["kind"] == "calls":
            yield place, turn["calls"]


def last_calls(line: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls that a sample asks for: of a path and a conversation all, else those of its last
    snapshot.
    """
    turns = [calls for _, calls in call_turns(line)]
    return [call for calls in turns for call in calls] if line["responses"] else turns[-1]


def first_words(line: dict[str, Any]) -> str:
    return next(turn["text"] for turn in line["sample"]["turns"] if turn["kind"] == "user")


def test_how_often_each_tool_is_called(
    four_recipes: Settings, exported: list[dict[str, Any]]
) -> None:
    counted = Counter(
        (call["tool"], line["sample"]["language"]) for line in exported for call in last_calls(line)
    )
    sql = (
        "select tool, language, sum(n_calls)::integer as calls from tool_coverage where n_calls > 0"
        " group by all"
    )
    found = rows(four_recipes, sql)
    assert {(row["tool"], row["language"]): row["calls"] for row in found} == counted


def test_what_splits_share(four_recipes: Settings, exported: list[dict[str, Any]]) -> None:
    texts, tools = defaultdict(set), defaultdict(set)
    for line in exported:
        texts[line["split"]].add(first_words(line))
        tools[line["split"]].update(call["tool"] for call in last_calls(line))
    [row] = rows(four_recipes, "from split_leakage")
    assert (row["split"], row["other_split"]) == ("test", "train")
    assert row["n_same_requests"] == len(texts["test"] & texts["train"])
    assert row["n_same_tools"] == len(tools["test"] & tools["train"])


def test_what_is_due_at_each_snapshot(
    four_recipes: Settings, exported: list[dict[str, Any]]
) -> None:
    due = {}
    for line in exported:
        sample = Sample.model_validate(line["sample"])
        for place, calls in call_turns(line):
            due[sample.key, place] = [
                {"tool": call["tool"], "arguments": call["arguments"]} for call in calls
            ]
    sql = (
        "select distinct sample, turn, due from prediction_items where due is not null and turn is"
        " not null"
    )
    found = rows(four_recipes, sql)
    assert len(found) > 20
    assert {(row["sample"], row["turn"]): json.loads(row["due"]) for row in found} == {
        place: calls
        for place, calls in due.items()
        if place in {(row["sample"], row["turn"]) for row in found}
    }


def test_what_came_of_each_sample_is_what_came_of_its_items(four_recipes: Settings) -> None:
    items = defaultdict(list)
    for row in rows(
        four_recipes,
        "select candidate, run, sample, is_right as verdict from prediction_items where is_right is not null",
    ):
        items[row["candidate"], row["run"], row["sample"]].append(row["verdict"])
    found = rows(
        four_recipes, "select candidate, run, sample, is_passed as passed from sample_results"
    )
    assert {(row["candidate"], row["run"], row["sample"]): row["passed"] for row in found} == {
        cell: all(verdicts) for cell, verdicts in items.items()
    }


@pytest.mark.parametrize("to", ["records", "trl", "atif"])
def test_what_is_certified_of_all_four_recipes_is_verified(
    four_recipes: Settings, tmp_path: Path, to: str
) -> None:
    release = load_from(WorkFolder(four_recipes), RELEASE)
    release.export(to, tmp_path / "out", with_template=True)
    checked = Verification(tmp_path / "out")
    checked.run()
    assert checked.failures == []
    assert checked.counts["said"] > checked.counts["open"]
    assert checked.counts["derived"] > 0
