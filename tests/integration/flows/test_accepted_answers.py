"""Candidates that ask back, and cheats: what evaluations, gates and samples count, and as published."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import callwright
from callwright.flows.api.releases import KeptSample, LoadedRelease
from callwright.flows.api.surroundings import settings_of
from callwright.language.calls.tools import view_of
from callwright.warehouse.errors import RecordError
from tests.support.flows.small_builds import warehouse_of

SAMPLES = {"imperfect": 8, "perfect": 6, "irrelevant": 2}
Agent = Callable[[list[dict[str, Any]], list[dict[str, Any]]], Any]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder with the release v1."""
    folder = tmp_path_factory.mktemp("accepted")
    recipe = callwright.make_recipe(
        "small", tools=[{"seed": ["Weather", "Clock"]}], samples=SAMPLES
    )
    callwright.build(recipe, home=folder)
    callwright.create_release("v1", home=folder)
    return folder


@pytest.fixture
def release(home: Path) -> LoadedRelease:
    return callwright.load_release("v1", home=home)


def missing_in(kept: KeptSample) -> str:
    """What people call the first required parameter that a sample's call lacks, or ""."""
    for call in kept.calls:
        [tool] = [one for one in kept.candidates if one.name == call.tool]
        lacking = [name for name in tool.required if name not in call.arguments]
        called = {one.name: one.called("en") for one in view_of(tool.signature).parameters}
        if lacking:
            return called[lacking[0]]
    return ""


def agents(release: LoadedRelease) -> dict[str, Agent]:
    """One who asks back where something is missing and calls else, and cheats."""
    by_request = {kept.request: kept for kept in release}

    def asks_back(messages: Any, _tools: Any) -> Any:
        kept = by_request[messages[-1]["content"]]
        if called := missing_in(kept):
            return f"What should the {called} be?"
        return [(call.tool, call.arguments) for call in kept.calls]

    return {
        "asks_back": asks_back,
        "always_asks": lambda _messages, _tools: "Could you tell me more?",
        "calls_all": lambda _messages, tools: [(one["function"]["name"], {}) for one in tools],
    }


def counted(home: Path, release: LoadedRelease, **options: Any) -> dict[str, tuple[float, ...]]:
    """What each agent gets: the samples that pass, as a share, and `args_acc`."""
    asked = {
        name: callwright.evaluate("v1", agent, name=name, version="1", home=home, **options)
        for name, agent in agents(release).items()
    }
    return {
        name: (found.figures["pass_rate"], found.figures["args_acc"])
        for name, found in asked.items()
    }


def test_who_asks_back_is_right_and_a_cheat_gets_nothing_by_it(
    home: Path, release: LoadedRelease
) -> None:
    open_ones = sum(missing_in(kept) != "" for kept in release)
    whole, due = len(release), len(release) - SAMPLES["irrelevant"]
    assert open_ones == SAMPLES["imperfect"]
    published = counted(home, release, as_published=True)
    assert published["asks_back"] == pytest.approx(
        ((whole - open_ones) / whole, (due - open_ones) / due)
    )
    accepted = counted(home, release)
    assert accepted["asks_back"] == (1.0, 1.0)
    for cheat in ("always_asks", "calls_all"):
        assert accepted[cheat] == published[cheat]
        assert accepted[cheat][0] <= SAMPLES["irrelevant"] / whole  # where calling nothing is right
    rows = warehouse_of(settings_of(home)).rows(
        "select candidate, matched, count(*) as answers from prediction_items where is_right"
        " group by all order by all"
    )
    assert {(row["candidate"], row["matched"]): row["answers"] for row in rows} == {
        ("asks_back", "gold"): whole - open_ones,
        ("asks_back", "question"): open_ones,
        ("always_asks", "gold"): SAMPLES["irrelevant"],
    }


def test_all_candidates_of_a_release_are_scored_alike(home: Path, release: LoadedRelease) -> None:
    counted(home, release)
    one = agents(release)["calls_all"]
    found = callwright.evaluate(
        "v1", one, name="calls_all", version="1", home=home, as_published=True
    )
    others = {row["candidate"]: row["args_acc"] for row in found.leaderboard}
    assert others["asks_back"] < 1
    gate = callwright.evaluate("v1", one, name="calls_all", version="1", home=home).gate(
        against="asks_back"
    )
    assert not gate.passed
    rows = warehouse_of(settings_of(home)).rows("select distinct as_published from scores")
    assert [row["as_published"] for row in rows] == [False]


def test_a_sample_compares_an_answer_as_evaluations_do(release: LoadedRelease) -> None:
    agent = agents(release)["asks_back"]
    for kept in release:
        assert kept.prompt[-1] == {"role": "user", "content": kept.request}
        verdict = kept.compare(agent(kept.prompt, kept.openai_tools))
        assert (verdict.is_right, verdict.matched) == (
            True,
            "question" if missing_in(kept) else "gold",
        )
        assert not kept.compare(RuntimeError).is_right
        more = [*((call.tool, call.arguments) for call in kept.calls), ("another", {})]
        assert not kept.compare(more).is_right, "one call too many"
        assert callwright.KeptSample.read(kept.record).compare(None) == kept.compare(None)
    with pytest.raises(RecordError, match="not the record of a sample"):
        callwright.KeptSample.read({"sample": {}})
