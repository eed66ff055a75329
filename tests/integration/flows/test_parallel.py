"""Requests for several calls at once, from the recipe to releases in BFCL's and OpenAI's
formats, in English and Chinese.
"""

from pathlib import Path
from typing import Any

import orjson
import pytest

from bench.bfcl import check_calls
from callwright.flows.recipe import parse_recipe
from callwright.flows.run.land import BuildReport
from callwright.flows.settings import Settings
from callwright.generators.parallel import PARALLEL
from callwright.validators.metrics.confetti.bfcl import DecodedCall
from callwright.validators.metrics.mistakes import mistakes_of
from callwright.warehouse.exports.formats import export_release
from callwright.warehouse.records import Call, Prediction
from callwright.warehouse.releases import freeze, read_tools, stream_release
from tests.support.flows.small_builds import accepted_samples, build, settings_of, warehouse_of
from tests.support.validators.scoring_at_once import score_answers

RECIPE: dict[str, Any] = {
    "name": "parallel",
    "seed": 5,
    "tools": [{"seed": ["Weather", "Banking", "Music", "Trains"]}],
    "languages": ["en", "zh"],
    "samples": {PARALLEL: 24},
    "spare": 0.5,
}


class ParallelBuild:
    def __init__(self, home: Path) -> None:
        self.settings: Settings = settings_of(home)
        self.report: BuildReport = build(parse_recipe(RECIPE, Path(), "parallel"), self.settings)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> ParallelBuild:
    return ParallelBuild(tmp_path_factory.mktemp("parallel"))


def test_each_asks_for_two_to_four_calls_of_one_tool_with_other_values_or_of_several(
    built: ParallelBuild,
) -> None:
    kinds = set()
    for sample in accepted_samples(built.settings):
        tools = {call.tool for call in sample.gold}
        assert 2 <= len(sample.gold) <= 4
        assert len(tools) in (1, len(sample.gold))
        assert len({orjson.dumps(call.arguments) for call in sample.gold}) == len(sample.gold)
        kinds.add(len(tools) == 1)
    assert kinds == {True, False}


def test_every_argument_has_evidence_in_the_stretch_of_its_own_call(built: ParallelBuild) -> None:
    for sample in accepted_samples(built.settings):
        ends = [0]
        for call in sample.gold:
            spans = [
                (one.start, one.end)
                for one in call.evidence
                if one.start is not None and one.end is not None
            ]
            assert len(spans) == len(call.arguments)
            assert min(start for start, _ in spans) >= ends[-1]
            ends.append(max(end for _, end in spans))


def test_a_release_is_exported_to_both_of_bfcls_categories_and_its_checker_accepts_the_gold(
    built: ParallelBuild, tmp_path: Path
) -> None:
    warehouse = warehouse_of(built.settings)
    freeze(warehouse, "parallel", sorted(sample.key for sample in accepted_samples(built.settings)))
    export_release(stream_release(warehouse, "parallel"), "bfcl", tmp_path)
    asked = 0
    for category in ("parallel", "parallel_multiple"):
        questions = _lines(tmp_path / f"BFCL_v4_{category}.json")
        answers = _lines(tmp_path / "possible_answer" / f"BFCL_v4_{category}.json")
        assert questions
        for question, answer in zip(questions, answers, strict=True):
            truth = answer["ground_truth"]
            calls = [_made(one) for one in truth]
            assert check_calls(question["function"], calls[::-1], truth, category).valid
            assert not check_calls(question["function"], calls[1:], truth, category).valid
            assert category != "parallel" or len(question["function"]) == 1
        asked += len(questions)
    assert asked == len(accepted_samples(built.settings))
    export_release(stream_release(warehouse, "parallel"), "openai", tmp_path / "openai")
    rows = _lines(tmp_path / "openai" / "parallel.jsonl")
    assert all(len(row["messages"][-1]["tool_calls"]) > 1 for row in rows)


def test_a_candidate_that_makes_the_calls_in_any_order_is_wholly_right(
    built: ParallelBuild,
) -> None:
    samples = accepted_samples(built.settings)
    answers = [
        Prediction(
            release="r",
            candidate="m",
            strategy="direct",
            tools_shown="first",
            run=0,
            subject=sample.key,
            turn=1,
            text="[]",
            calls=tuple(
                Call(tool=call.tool, arguments=call.arguments) for call in reversed(sample.gold)
            ),
        )
        for sample in samples
    ]
    tools = read_tools(
        warehouse_of(built.settings), [key for sample in samples for key in sample.candidates]
    )
    figures = {
        one.metric: one.value
        for one in score_answers(answers, samples, tools)
        if one.slice_by == "all"
    }
    assert (figures["routing"], figures["ast"], figures["invented"]) == (1.0, 1.0, 0.0)
    assert set(mistakes_of(answers, {sample.key: sample for sample in samples})) == {""}


def _lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def _made(answer: dict[str, dict[str, list[Any]]]) -> DecodedCall:
    [(name, accepted)] = answer.items()
    return DecodedCall(name, {key: values[0] for key, values in accepted.items() if values != [""]})
