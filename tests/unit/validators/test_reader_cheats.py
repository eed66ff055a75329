"""Readers are tried by cheats, on requests that nobody here wrote: who knows the truth passes,
who reads nothing does not.
"""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from callwright.testing import context_of, run_check
from callwright.validators.reading.planting import (
    ReaderFigures,
    figures_of,
    plant_each,
    read_planted,
)
from callwright.validators.reading.writing import check_reading
from callwright.warehouse.records import Call, CallTurn, GoldCall, Sample, Tool, UserTurn
from tests.support.validators.blind_readers import (
    Contrarian,
    Copier,
    FirstReader,
    KnowingReader,
    PromptReader,
    StringMatcher,
)

FILES = ("free_wordings.jsonl", "free_wordings_3.jsonl")
CHEATS = (FirstReader, Copier, StringMatcher)
# Who guesses takes the gold in both orders once in four times.
CHANCE = 0.25


class Wording(NamedTuple):
    """A labelled request as a sample, its tools, and the calls that its words ask for, where
    somebody has said them.
    """

    name: str
    is_right: bool
    sample: Sample
    tools: list[Tool]
    truth: tuple[Call, ...]


def wordings(shared: Path) -> Iterator[Wording]:
    for file in FILES:
        rows = [
            json.loads(line)
            for line in (shared / "cases" / file).read_text(encoding="utf-8").splitlines()
        ]
        known = {row["tool"]["name"]: tool_of(row["tool"]) for row in rows}
        for row in rows:
            yield wording(row, known)


def tool_of(stated: dict[str, Any], name: str = "") -> Tool:
    return Tool(category="", **{"description": "", **stated, **({"name": name} if name else {})})


def wording(row: dict[str, Any], known: dict[str, Tool]) -> Wording:
    gold, tools = Call(tool=row["tool"]["name"], arguments=row["arguments"]), [tool_of(row["tool"])]
    truth: tuple[Call, ...] = (gold,) if row["label"] == "right" else ()
    if "truth_tool" in row:
        truth = (Call(tool=row["truth_tool"], arguments=row["truth_arguments"]),)
        if row["truth_tool"] != gold.tool:
            tools.append(known.get(row["truth_tool"], tool_of(row["tool"], row["truth_tool"])))
    turns = (
        UserTurn(text=row["request"]),
        CallTurn(calls=(GoldCall(tool=gold.tool, arguments=gold.arguments),)),
    )
    sample = Sample(
        kind="perfect",
        language=row["language"],
        category="",
        candidates=tuple(tool.key for tool in tools),
        turns=turns,
    )
    return Wording(row["id"], row["label"] == "right", sample, tools, truth)


def test_who_knows_the_truth_judges_every_right_gold_and_no_wrong_one(shared: Path) -> None:
    differing = []
    for one in wordings(shared):
        verdict = run_check(
            check_reading, one.sample, one.tools, KnowingReader(*one.truth, tools=one.tools)
        )
        if (verdict.decision == "proved") is not one.is_right:
            differing.append((one.name, verdict.reason))
    assert differing == []


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_cheat_passes_wrong_golds_no_more_often_than_chance(
    shared: Path, cheat: type[PromptReader]
) -> None:
    wrong = [one for one in wordings(shared) if not one.is_right]
    passed = [
        one.name
        for one in wrong
        if run_check(check_reading, one.sample, one.tools, cheat()).decision == "proved"
    ]
    assert len(passed) <= CHANCE * len(wrong), passed


def measured(shared: Path, cheat: type[PromptReader]) -> ReaderFigures:
    readings = []
    for one in wordings(shared):
        if one.is_right:
            context = context_of(one.tools, cheat())
            for planted in plant_each(one.sample, one.tools, Random(one.name), defects=3):
                readings.append(asyncio.run(read_planted(one.sample, planted, context)))  # noqa: PERF401
    return figures_of(cheat.__name__, readings, 0.1)


@pytest.mark.parametrize("cheat", [*CHEATS, Contrarian])
def test_no_cheat_is_certified(shared: Path, cheat: type[PromptReader]) -> None:
    figures = measured(shared, cheat)
    assert figures.problem != ""
    assert figures.planted > 200


def test_who_knows_the_truth_is_certified(shared: Path) -> None:
    readings = []
    for one in wordings(shared):
        if one.is_right:
            context = context_of(one.tools, KnowingReader(*one.truth, tools=one.tools))
            for planted in plant_each(one.sample, one.tools, Random(one.name), defects=3):
                readings.append(asyncio.run(read_planted(one.sample, planted, context)))  # noqa: PERF401
    figures = figures_of("knows", readings, 0.1)
    assert (figures.problem, figures.catch_rate, figures.false_doubts) == ("", 1.0, 0.0)
    assert len(figures.sorts) >= 8
