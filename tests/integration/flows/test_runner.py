"""The runner: shards flow into each other, land together where they wait, and leave nothing
behind.
"""

import asyncio
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.progress import SilentProgress
from callwright.flows.run.carry import GroupRun, run_group
from callwright.flows.run.plan import open_build
from callwright.flows.run.work import Shard, ShardResult, record_line
from callwright.warehouse.records import Sample, UserTurn
from callwright.warehouse.rows import body_of
from tests.support.flows.carriers import CarrierByFunction
from tests.support.flows.model_server import ModelServer, ServedRequest
from tests.support.flows.small_builds import (
    assert_balanced,
    build,
    leftovers,
    patiently,
    settings_of,
    stub_roles,
    unmeasured_recipe,
    warehouse_of,
)

SLOTS = 2
MOST_UNLANDED = 6


class SlowWarehouse:
    """Lands only when it is let; knows how many shards came at once, each with its records and
    its account of calls.
    """

    def __init__(self, may_land: Callable[[], bool]) -> None:
        self.may_land = may_land
        self.landed: list[int] = []
        self.is_landing = threading.Event()

    def put_files(self, *folders: Path) -> None:
        self.is_landing.set()
        patiently(self.may_land)
        self.landed.append(len(folders) // 2)

    def rows(self, *_query: object) -> list[dict[str, float]]:
        return [{"cost": 0.0}]


class RunnerProgress(SilentProgress):
    def __init__(self) -> None:
        self.done = 0
        self.stated: list[str] = []

    def say(self, sentence: str) -> None:
        self.stated.append(sentence)

    def advance(self, count: int) -> None:
        self.done += count


def run_of(tmp_path: Path, warehouse: Any, progress: SilentProgress) -> GroupRun:
    opened = open_build(unmeasured_recipe(shard_size=1), settings_of(tmp_path), SilentProgress())
    return opened._replace(warehouse=warehouse, progress=progress)


def lines(count: int) -> list[bytes]:
    samples = (
        Sample(
            kind="perfect",
            language="en",
            category="c",
            candidates=(),
            turns=(UserTurn(text=f"Number {number}"),),
        )
        for number in range(count)
    )
    return [record_line("Sample", body_of(sample)) for sample in samples]


async def test_shards_that_wait_for_the_writer_land_together_and_the_others_wait_for_room(
    tmp_path: Path,
) -> None:
    worked: list[int] = []
    warehouse = SlowWarehouse(lambda: len(worked) >= MOST_UNLANDED)
    progress = RunnerProgress()

    async def work(shard: Shard) -> ShardResult:
        worked.append(shard.number)
        assert len(worked) - sum(warehouse.landed) <= MOST_UNLANDED
        return ShardResult(shard.target, shard.records, 0)

    await run_group(
        run_of(tmp_path, warehouse, progress),
        "consistency",
        lines(9),
        CarrierByFunction(work, SLOTS),
    )
    assert warehouse.landed[:2] == [1, MOST_UNLANDED - 1]
    assert sum(warehouse.landed) == progress.done == len(worked) == 9
    assert leftovers(settings_of(tmp_path)) == []


async def test_a_build_that_is_cancelled_lets_the_writer_end_and_leaves_no_files(
    tmp_path: Path,
) -> None:
    may_land = threading.Event()
    warehouse = SlowWarehouse(may_land.is_set)

    async def work(shard: Shard) -> ShardResult:
        return ShardResult(shard.target, shard.records, 0)

    running = asyncio.create_task(
        run_group(
            run_of(tmp_path, warehouse, SilentProgress()),
            "consistency",
            lines(4),
            CarrierByFunction(work, SLOTS),
        )
    )
    await asyncio.to_thread(warehouse.is_landing.wait, 30)
    running.cancel()
    done, _ = await asyncio.wait([running], timeout=0.2)
    assert not done, "the folder that is being landed is not taken away"
    may_land.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert warehouse.landed == [1]
    assert leftovers(settings_of(tmp_path)) == []


async def test_what_shards_have_spent_counts_before_they_have_landed(tmp_path: Path) -> None:
    spent: list[float] = []
    warehouse = SlowWarehouse(lambda: len(spent) >= 3)

    async def work(shard: Shard) -> ShardResult:
        spent.append(shard.spent)
        return ShardResult(shard.target, shard.records, 0, cost=1.0)

    await run_group(
        run_of(tmp_path, warehouse, SilentProgress()),
        "consistency",
        lines(6),
        CarrierByFunction(work, 1),
    )
    assert spent[:3] == [0.0, 1.0, 2.0]


def everything(settings: Any) -> dict[str, list[Any]]:
    queries = {
        "samples": "select key, body::varchar as body from samples order by key",
        "drafts": "select key from drafts order by key",
        "outcomes": "select stage, subject, outcome, reason from outcomes order by all",
        "accepted": "select subject, grade from acceptances order by all",
        "asked": "select subject, cause from review_requests order by all",
        "links": "select sample, draft from build_samples order by all",
    }
    warehouse = warehouse_of(settings)
    return {
        name: [tuple(row.values()) for row in warehouse.rows(sql)] for name, sql in queries.items()
    }


def test_what_is_built_does_not_depend_on_the_size_of_shards(tmp_path: Path) -> None:
    samples = {"perfect": 4, "imperfect": 4, "irrelevant": 1, "sQsA": 2}
    told = []
    for size in (2, 5000):
        settings = settings_of(tmp_path / str(size))
        report = build(unmeasured_recipe(samples=samples, shard_size=size), settings)
        told.append((report, everything(settings)))
    assert told[0] == told[1]


def test_samples_are_checked_while_others_are_still_being_made(
    model_server: ModelServer, tmp_path: Path
) -> None:
    titles: list[str] = []

    def listen(asked: ServedRequest) -> None:
        titles.append(asked.title)

    model_server.behaviour = listen
    roles = stub_roles(model_server, concurrency=1)
    settings = settings_of(tmp_path)
    progress = RunnerProgress()
    report = build(unmeasured_recipe(samples={"perfect": 8}, models=roles), settings, progress)
    assert_balanced(report, settings)
    made = {"ParameterNames", "SlottedRequest"}
    last_made = max(at for at, title in enumerate(titles) if title in made)
    first_checked = min(at for at, title in enumerate(titles) if title not in made)
    assert first_checked < last_made
    told = (
        "Models: generator openai/stub (lean), checker openai/stub (lean), judge openai/stub"
        " (lean)."
    )
    assert progress.stated[0] == told
    assert progress.stated[1].startswith(
        "openai/stub words the samples and reads them. A model may not judge what it wrote"
    )


def test_a_bug_in_a_stage_ends_its_record_and_neither_the_build_nor_its_rerun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from callwright.flows.run import work

    def broken(stages: Any) -> Any:
        async def break_down(record: Any, context: Any, **more: Any) -> Any:
            if record.key[0] in "02468ace":
                raise TypeError("Integer exceeds 64-bit range")
            return await works(record, context, **more)

        works = stages[0].function
        return (replace(stages[0], function=break_down), *stages[1:])

    told = work.stages_of
    monkeypatch.setattr(
        work,
        "stages_of",
        lambda group, only=(): broken(told(group)) if group == "single_turn" else told(group, only),
    )
    settings, progress = settings_of(tmp_path), RunnerProgress()
    report = build(unmeasured_recipe(samples={"perfect": 12}), settings, progress)
    assert_balanced(report, settings)
    [failed] = warehouse_of(settings).rows(
        "select count(*) as n, min(reason) as reason from failures"
    )
    assert 0 < failed["n"] < 12
    assert re.match(
        r"Your stage 'parameters' \(.*test_runner.py:\d+\) raised TypeError: Integer exceeds 64-bit"
        r" range\nTraceback",
        failed["reason"],
    )
    assert "break_down" in failed["reason"]
    assert any("failed because of a bug" in sentence for sentence in progress.stated)
    assert build(unmeasured_recipe(samples={"perfect": 12}), settings).landed == report.landed
