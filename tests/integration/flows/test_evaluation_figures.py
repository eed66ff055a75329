"""Figures of an evaluation, counted a second time from the bare answers: over the release and
its splits, by strategy and run.
"""

import asyncio
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from statistics import fmean
from typing import Any, NamedTuple

import pytest

from callwright.flows.evaluation.evaluating import evaluate_release, leaderboard
from callwright.flows.evaluation.evaluation_run import Conditions
from callwright.flows.evaluation.predictions import prompting_by
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate
from callwright.flows.settings import Settings
from callwright.llm.models import read_model
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.releases import Selection, Terms, make_release
from callwright.warehouse.rows import Row
from tests.support.flows.small_builds import build, settings_of, unmeasured_recipe, warehouse_of

RUNS = range(3)
STRATEGIES = ("direct", "native")
SPLITS = ("", "train", "test")


class Answer(NamedTuple):
    """One answer with what was due: names and values of the arguments as texts."""

    split: str
    strategy: str
    run: int
    sample: str
    due: tuple[str, dict[str, str]] | None
    made: list[tuple[str, dict[str, str]]] | None


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A release with splits, answered three times by two strategies by a candidate that errs,
    and its test split by another.
    """
    found = settings_of(tmp_path_factory.mktemp("figures"))
    build(unmeasured_recipe(samples={"perfect": 12, "imperfect": 4, "irrelevant": 4}), found)
    make_release(warehouse_of(found), "v1", Selection(), Terms(shares={"train": 0.6, "test": 0.4}))
    for strategy in STRATEGIES:
        evaluate(found, candidate("careless"), runs=len(RUNS), prompting=prompting_by(strategy))
    evaluate(found, candidate("late"), split="test")
    return found


def candidate(label: str) -> Candidate:
    rates = {"wrong_argument": 0.25, "missing_argument": 0.1, "wrong_tool": 0.1}
    return Candidate(label=label, model=read_model("template/v1", {"error_rate": rates}))


def evaluate(settings: Settings, who: Candidate, **conditions: Any) -> None:
    asyncio.run(evaluate_release("v1", [who], settings, SilentProgress(), Conditions(**conditions)))


@pytest.fixture(scope="module")
def answers(settings: Settings) -> list[Answer]:
    """All answers of the first candidate, with what its samples say is due."""
    rows = warehouse_of(settings).rows(
        """select m.split, p.strategy, p.run, p.subject, p.calls, s.body from predictions p
        join release_samples m using (release, subject) join samples s on s.key = p.subject where p.candidate = 'careless'"""
    )
    return list(map(answer_of, rows))


def answer_of(row: Row) -> Answer:
    [due] = [turn["calls"] for turn in json.loads(row["body"])["turns"] if turn["kind"] == "calls"]
    made = None if row["calls"] is None else [named(call) for call in json.loads(row["calls"])]
    return Answer(
        row["split"],
        row["strategy"],
        row["run"],
        row["subject"],
        named(due[0]) if due else None,
        made,
    )


def named(call: dict[str, Any]) -> tuple[str, dict[str, str]]:
    return call["tool"], {name: str(value) for name, value in call["arguments"].items()}


def is_exact(answer: Answer) -> bool:
    return answer.made == ([answer.due] if answer.due else [])


def passes(answer: Answer) -> bool:
    """As HammerBench has it: values may differ as long as their words mostly stand in the same
    order.
    """
    if answer.due is None or not answer.made:
        return is_exact(answer)
    (tool, due), (made_tool, made) = answer.due, answer.made[0]
    alike = all(
        made[name] == due[name] or rouge(made[name], due[name]) >= 0.7
        for name in due
        if name in made
    )
    return tool == made_tool and due.keys() == made.keys() and alike


def rouge(one: str, other: str) -> float:
    a, b = words(one), words(other)
    longest = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, word in enumerate(a):
        for j, its in enumerate(b):
            longest[i + 1][j + 1] = (
                longest[i][j] + 1 if word == its else max(longest[i][j + 1], longest[i + 1][j])
            )
    same = longest[-1][-1]
    return 2 * same / (len(a) + len(b)) if same else 0.0


def words(text: str) -> list[str]:
    """Chinese puts no spaces: each of its letters is a word."""
    return re.findall(r"[\u4e00-\u9fff]|[^\s\u4e00-\u9fff]+", text.lower())


def of(answers: Iterable[Answer], split: str, strategy: str) -> Iterator[Answer]:
    return (one for one in answers if split in ("", one.split) and one.strategy == strategy)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_shares_means_and_stability_agree_with_a_count(
    settings: Settings, answers: list[Answer], split: str, strategy: str
) -> None:
    due = [one for one in of(answers, split, strategy) if one.due]
    board = {
        row["run"]: row
        for row in leaderboard("v1", settings, split)
        if row["strategy"] == strategy and row["candidate"] == "careless"
    }
    counted: dict[str, list[float]] = defaultdict(list)
    for run in RUNS:
        of_run = [one for one in due if one.run == run]
        counted["args_acc"].append(fmean(map(passes, of_run)))
        counted["args_acc_exact"].append(fmean(map(is_exact, of_run)))
        counted["func_acc"].append(
            fmean(bool(one.made) and one.made[0][0] == one.due[0] for one in of_run)
        )
        assert board[run]["n_predictions"] == sum(
            one.run == run for one in of(answers, split, strategy)
        )
    for metric, values in counted.items():
        assert [board[run][metric] for run in RUNS] == pytest.approx(values), metric
    rows = warehouse_of(settings).rows(
        """select metric, mean from run_means
        where candidate = 'careless' and slice_by = 'all' and snapshots = 'all' and split = ? and strategy = ?""",
        [split, strategy],
    )
    means = {row["metric"]: row["mean"] for row in rows}
    assert {metric: means[metric] for metric in counted} == pytest.approx(
        {metric: fmean(of) for metric, of in counted.items()}
    )
    assert means["election_stability"] == pytest.approx(election(of(answers, split, strategy)))


def election(answers: Iterable[Answer]) -> float:
    """(F1 - F2) / (N - F2) for how often the two most frequent answers came, a mean over
    samples.
    """
    told: dict[str, Counter[str]] = defaultdict(Counter)
    for one in answers:
        told[one.sample][json.dumps(one.made, sort_keys=True)] += 1
    shares = []
    for times in told.values():
        (_, first), *others = times.most_common(2)
        second = others[0][1] if others else 0
        shares.append((first - second) / (len(RUNS) - second))
    return fmean(shares)


def test_a_split_alone_is_asked_about_and_no_figure_speaks_of_the_rest(settings: Settings) -> None:
    warehouse = warehouse_of(settings)
    [sizes] = warehouse.rows(
        "select count(*) filter (split = 'test') as test, count(*) as whole from release_samples"
    )
    [asked] = warehouse.rows("select count(*) as n from predictions where candidate = 'late'")
    assert 0 < asked["n"] == sizes["test"] < sizes["whole"]
    assert {
        row["split"]
        for row in warehouse.rows("select distinct split from scores where candidate = 'late'")
    } == {"test"}
    assert "late" not in {row["candidate"] for row in leaderboard("v1", settings)}
    [row] = [row for row in leaderboard("v1", settings, "test") if row["candidate"] == "late"]
    assert row["n_predictions"] == sizes["test"]
    for view in ("error_types", "failed_by_all", "sample_results"):
        assert warehouse.rows(f"select count(*) as n from {view} where split is null")[0]["n"] == 0
    with pytest.raises(ConfigurationError, match="has no split 'exam'; it has train, test"):
        evaluate(settings, candidate("late"), split="exam")
