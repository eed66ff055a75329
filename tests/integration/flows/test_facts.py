"""What a shard keeps: facts as they come in, calls at once, models that shards share."""

import asyncio
import errno
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import orjson
import pytest

from callwright.flows.run.work import AHEAD, FactFiles, InFlight, SharedChats, gravest
from callwright.warehouse.errors import BudgetError, CallwrightError, TransientError
from callwright.warehouse.paid_notes import PaidNotes, land_paid, paid_notes_of_process
from callwright.warehouse.records import LlmCall
from callwright.warehouse.rows import rows_of
from callwright.warehouse.store import Warehouse
from tests.support.flows.small_builds import unmeasured_recipe


def lines_of(path: Path) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def test_a_folder_of_facts_appears_whole_at_the_end(tmp_path: Path) -> None:
    folder = tmp_path / "facts"
    with FactFiles(folder) as files:
        files.add({"outcomes": [{"stage": "one"}], "samples": []})
        files.add({"outcomes": [{"stage": "two"}], "drafts": [{"key": "k"}]})
        assert not folder.exists()
    assert {path.name for path in folder.iterdir()} == {"outcomes.jsonl", "drafts.jsonl"}
    assert lines_of(folder / "outcomes.jsonl") == [{"stage": "one"}, {"stage": "two"}]


def test_a_folder_of_facts_whose_work_broke_off_does_not_appear_and_does_not_get_in_the_way(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "facts"

    def break_off() -> None:
        with FactFiles(folder) as files:
            files.add({"outcomes": [{"stage": "lost"}]})
            raise TransientError("away")

    with pytest.raises(TransientError):
        break_off()
    assert not folder.exists()
    with FactFiles(folder) as files:
        files.add({"outcomes": [{"stage": "kept"}]})
    assert lines_of(folder / "outcomes.jsonl") == [{"stage": "kept"}]


def all_known(keys: Iterable[str]) -> set[str]:
    return {*keys}


def test_a_call_is_in_its_file_before_the_next_step_is_taken(tmp_path: Path) -> None:
    folder = tmp_path / "shard.paid"
    with PaidNotes(folder) as notes:
        assert notes.earlier(all_known) == []
        assert not folder.exists(), "nothing was asked yet"
        for cost in (0.5, 0.0):
            notes.note(call_row(cost))
            assert lines_of(folder / "llm_calls.jsonl")[-1]["cost"] == cost
    with PaidNotes(folder) as notes:
        notes.note(call_row(1.0))
        assert [row["cost"] for row in notes.earlier(all_known)] == [0.5, 0.0, 1.0]


def test_a_call_whose_answer_was_lost_is_marked(tmp_path: Path) -> None:
    with PaidNotes(tmp_path / "shard.paid") as notes:
        for request in ("kept", "lost"):
            notes.note(call_row(0.5, request))
        notes.note(call_row(0.0, "refused") | {"error": "A refusal."})
        known = {"kept"}
        for _ in range(2):
            errors = {row["request"]: row["error"] for row in notes.earlier(known.intersection)}
            assert (errors["kept"], errors["refused"]) == ("", "A refusal.")
            assert "killed before the answer was kept" in errors["lost"]
            known = {"kept", "lost"}  # by now it was asked again


async def test_shards_that_have_not_told_yet_what_they_spent_count_for_the_next_one(
    tmp_path: Path,
) -> None:
    shared, recipe, ledger = SharedChats(), unmeasured_recipe(), tmp_path / "ledger.sqlite"
    async with shared.of(recipe, ledger, build="b", spent=1.0) as chats:
        chats.budget.settle(0.0, 2.0)
    for build, told, known in (("b", 1.0, 3.0), ("b", 4.0, 4.0), ("another", 1.0, 1.0)):
        async with shared.of(recipe, ledger, build=build, spent=told) as chats:
            assert chats.budget.spent == known


async def work_all(
    in_flight: InFlight, items: Iterable[int], work: Callable[[int], Awaitable[None]]
) -> CallwrightError | None:
    errors: list[CallwrightError] = []

    async def work_one(item: int) -> None:
        with in_flight.place(errors):
            await work(item)

    async with asyncio.TaskGroup() as tasks:
        async for item in in_flight.admit(items, errors):
            tasks.create_task(work_one(item))
    return gravest(errors)


async def test_more_records_are_carried_than_requests_sent_but_patience_counts_requests(
    tmp_path: Path,
) -> None:
    recipe = unmeasured_recipe(
        models={
            key: {"name": "template/v1", "concurrency": 3}
            for key in ("generator", "checker", "judge")
        }
    )
    under_way, most = 0, 0

    async def work(_item: int) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.01)
        under_way -= 1

    async def in_vain(_item: int) -> None:
        raise TransientError("It is away.")

    async with SharedChats().of(recipe, tmp_path / "ledger.sqlite", build="b", spent=0.0) as chats:
        assert await work_all(chats.in_flight, range(20), work) is None
        assert most == AHEAD * 3
        error = await work_all(chats.in_flight, range(3), in_vain)
        assert isinstance(error, TransientError)
        assert chats.in_flight.is_in_vain


async def test_the_gravest_error_is_the_one_that_is_told_and_no_item_is_begun_after_it() -> None:
    begun: list[int] = []

    async def work(item: int) -> None:
        begun.append(item)
        raise BudgetError("No money.") if item == 1 else TransientError("It is away.")

    error = await work_all(InFlight(1, 10), range(5), work)
    assert (str(error), begun) == ("No money.", [0, 1])


def test_a_note_that_was_cut_off_is_dropped_and_what_follows_is_whole(tmp_path: Path) -> None:
    folder = tmp_path / "shard.paid"
    with PaidNotes(folder) as notes:
        notes.note(call_row(0.5))
    with (folder / "llm_calls.jsonl").open("ab") as file:
        file.write(b'{"cost": 0.2')
    with PaidNotes(folder) as notes:
        assert [row["cost"] for row in notes.earlier(all_known)] == [0.5]
        notes.note(call_row(0.25))
        assert [row["cost"] for row in notes.earlier(all_known)] == [0.5, 0.25]


def test_a_disk_that_takes_half_a_note_leaves_none_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NearlyFull:
        def __init__(self, file: BinaryIO) -> None:
            self.file, self.room = file, 20

        def write(self, body: bytes) -> int:
            if not self.room:
                raise OSError(errno.ENOSPC, "No space left on device")
            taken = self.file.write(bytes(body[: self.room]))
            self.room -= taken
            return taken

        def __getattr__(self, name: str) -> object:
            return getattr(self.file, name)

    with PaidNotes(tmp_path / "shard.paid") as notes:
        notes.note(call_row(0.5))
        whole = notes._file
        assert whole is not None
        monkeypatch.setattr(notes, "_file", NearlyFull(whole))
        with pytest.raises(OSError, match="No space"):
            notes.note(call_row(0.25))
        monkeypatch.setattr(notes, "_file", whole)
        notes.note(call_row(0.125))
        assert [row["cost"] for row in notes.earlier(all_known)] == [0.5, 0.125]


def call_row(cost: float, request: str = "r") -> dict[str, object]:
    call = LlmCall(request=request, stage="s", model="m", prompt_version="v", cost=cost)
    [(_, row)] = rows_of([call], datetime.now(UTC))
    return dict(row)


def test_notes_that_have_landed_land_no_second_time_and_a_torn_one_is_counted(
    tmp_path: Path,
) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    with PaidNotes(tmp_path / "shards" / "one.paid") as notes:
        notes.note(call_row(0.5))
        notes.note(call_row(0.5))
    with PaidNotes(tmp_path / "shards" / "two.paid") as notes:
        notes.note(call_row(0.25))
    assert land_paid(tmp_path / "shards", warehouse, all_known) == 0
    with (tmp_path / "shards" / "one.paid" / "llm_calls.jsonl").open("ab") as file:
        file.write(b'{"id": "torn')
    assert land_paid(tmp_path / "shards", warehouse, all_known) == 1
    assert warehouse.rows("select count(*) as calls, sum(cost) as cost from llm_calls") == [
        {"calls": 3, "cost": 1.25}
    ]


def test_what_a_killed_process_noted_lands_with_the_next_and_that_of_a_living_one_stays(
    tmp_path: Path,
) -> None:
    warehouse, parent = Warehouse(tmp_path / "warehouse.duckdb"), tmp_path / "evaluations"
    with PaidNotes(parent / "killed.paid") as notes:
        notes.note(call_row(0.5))
    with paid_notes_of_process(parent, warehouse, all_known) as living:
        living.note(call_row(0.25))
        with paid_notes_of_process(parent, warehouse, all_known) as other:
            other.note(call_row(0.125))
        living.note(call_row(1.0))
    assert warehouse.rows("select sum(cost) as cost from llm_calls") == [{"cost": 1.875}]
    assert list(parent.iterdir()) == []
