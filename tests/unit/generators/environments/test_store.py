"""Stored responses: asked once, kept as they were, re-recorded when asked again, replayed
without anybody.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from callwright.generators.environments.protocol import CallResponse
from callwright.generators.environments.response_store import (
    Description,
    ResponseStore,
    lapse_rows,
    response_rows,
)
from callwright.generators.environments.stored import (
    RecordedEnvironment,
    StoredEnvironment,
    open_recording,
    read_recording,
    recording_of,
)
from callwright.warehouse.errors import ConfigurationError, StoreError
from callwright.warehouse.records import Call, Link, Tool
from callwright.warehouse.store import Warehouse
from tests.support.generators.environments.recordings import write_recording

TOOL = Tool(
    name="read",
    description="Reads.",
    parameters={"type": "object", "properties": {}},
    category="books",
)
LINK = Link(tool="read", parameter="id", source="read", entries="", field="id")
READ = Call(tool="read", arguments={"id": 1})


class ScriptedEnvironment:
    """An environment whose answers are given one after another, the last one ever after."""

    name = "script"
    tools = (TOOL,)
    links = (LINK,)

    def __init__(self, *answers: CallResponse) -> None:
        self.answers = list(answers)
        self.asked: list[Call] = []

    async def answer(self, call: Call) -> CallResponse:
        self.asked.append(call)
        await asyncio.sleep(0)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Callable[..., StoredEnvironment]]:
    """Opens stored environments over the same file."""
    opened: list[StoredEnvironment] = []

    def open_one(inner: ScriptedEnvironment) -> StoredEnvironment:
        opened.append(StoredEnvironment(inner, tmp_path / "deep" / "responses.sqlite"))
        return opened[-1]

    yield open_one
    for environment in opened:
        environment.close()


Stored = Callable[..., StoredEnvironment]


async def test_a_stored_call_is_never_asked_again(stored: Stored) -> None:
    first = ScriptedEnvironment(CallResponse({"title": "A"}), CallResponse({"title": "B"}))
    assert await stored(first).answer(READ) == CallResponse({"title": "A"})
    second = ScriptedEnvironment(CallResponse({"title": "C"}))
    environment = stored(second)
    same = Call(tool="read", arguments=dict(READ.arguments))
    assert [await environment.answer(same) for _ in range(2)] == [CallResponse({"title": "A"})] * 2
    assert (len(first.asked), second.asked) == (1, [])


async def test_a_call_that_many_want_at_once_is_asked_once(stored: Stored) -> None:
    inner = ScriptedEnvironment(CallResponse([1]), CallResponse([2]))
    environment = stored(inner)
    assert (
        await asyncio.gather(*(environment.answer(READ) for _ in range(20)))
        == [CallResponse([1])] * 20
    )
    assert len(inner.asked) == 1


async def test_an_asker_that_is_cancelled_leaves_the_call_to_the_next(stored: Stored) -> None:
    entered = asyncio.Event()

    class Stuck(ScriptedEnvironment):
        async def answer(self, call: Call) -> CallResponse:
            self.asked.append(call)
            if len(self.asked) == 1:
                entered.set()
                await asyncio.Event().wait()
            return CallResponse("at last")

    environment = stored(Stuck())
    first = asyncio.create_task(environment.answer(READ))
    await entered.wait()
    second = asyncio.create_task(environment.answer(READ))
    first.cancel()
    assert await second == CallResponse("at last")


async def test_a_refusal_of_the_call_itself_is_stored_and_what_passes_is_only_noted(
    stored: Stored,
) -> None:
    gone = ScriptedEnvironment(CallResponse(problem="no such book"))
    await stored(gone).answer(READ)
    assert await stored(ScriptedEnvironment(CallResponse("found"))).answer(READ) == CallResponse(
        problem="no such book"
    )

    other = Call(tool="read", arguments={"id": 2})
    ill = ScriptedEnvironment(
        CallResponse(problem="down", passing=True),
        CallResponse(problem="down", passing=True),
        CallResponse("well"),
    )
    environment = stored(ill)
    assert [(await environment.answer(other)).problem for _ in range(3)] == ["down", "down", ""]
    (lapse,) = environment.store.lapses(environment.kept_as)
    assert (lapse.call, lapse.problem, lapse.times) == (other, "down", 2)


async def test_a_different_answer_is_re_recorded_and_told_of(stored: Stored) -> None:
    environment = stored(
        ScriptedEnvironment(
            CallResponse({"price": 10}), CallResponse({"price": 10}), CallResponse({"price": 12})
        )
    )
    await environment.answer(READ)
    await environment.refresh(READ)
    assert environment.drifted() == []
    (seen,) = environment.store.stored("script")
    assert seen.seen_at > seen.recorded_at

    assert await environment.refresh(READ) == CallResponse({"price": 12})
    assert await environment.answer(READ) == CallResponse({"price": 12})
    (drift,) = environment.drifted()
    assert (drift.call, drift.earlier, drift.later) == (
        READ,
        CallResponse({"price": 10}),
        CallResponse({"price": 12}),
    )
    assert drift.recorded_at < drift.rerecorded_at


async def test_all_that_is_stored_can_be_asked_again(stored: Stored) -> None:
    calls = [Call(tool="read", arguments={"id": number}) for number in range(3)]
    environment = stored(
        ScriptedEnvironment(
            CallResponse("a"), CallResponse("b"), CallResponse("c"), CallResponse("other")
        )
    )
    for call in calls:
        await environment.answer(call)
    drifts = await environment.refresh_all()
    assert sorted(drift.call.arguments["id"] for drift in drifts) == [0, 1, 2]
    assert {drift.later.response for drift in drifts} == {"other"}
    assert len(await environment.refresh_all()) == len(drifts)


async def test_a_refresh_that_fails_leaves_what_is_stored(stored: Stored) -> None:
    environment = stored(
        ScriptedEnvironment(CallResponse(1), CallResponse(problem="down", passing=True))
    )
    await environment.answer(READ)
    assert (await environment.refresh(READ)).problem == "down"
    assert await environment.answer(READ) == CallResponse(1)
    assert environment.drifted() == []
    assert len(environment.store.lapses(environment.kept_as)) == 1


@given(
    value=st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53), 2**53)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_a_response_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, value: JsonValue
) -> None:
    store = ResponseStore(tmp_path_factory.mktemp("store") / "responses.sqlite")
    call = Call(tool="read", arguments={"value": value})
    assert store.put("a", call, CallResponse(value)) == CallResponse(value)
    assert store.get("a", call) == CallResponse(value)
    assert store.get("b", call) is None
    store.close()


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.sqlite").write_text(
        "no database at all, but long enough to be looked at" * 20
    )
    with pytest.raises(StoreError, match="can't be read"):
        ResponseStore(tmp_path / "notes.sqlite")
    with sqlite3.connect(tmp_path / "other.sqlite") as other:
        other.execute("create table cats (name text)")
    other.close()
    with pytest.raises(StoreError, match="no response store"):
        ResponseStore(tmp_path / "other.sqlite")


async def test_what_was_stored_is_replayed_without_the_server(
    stored: Stored, tmp_path: Path
) -> None:
    environment = stored(ScriptedEnvironment(CallResponse({"title": "Ä"})))
    await environment.answer(READ)
    environment.redescribe(Description((TOOL,), (LINK,), (READ,)), "basis")

    path = tmp_path / "responses.jsonl"
    description = Description(environment.tools, environment.links, environment.known_calls)
    assert write_recording(path, description, environment.store.stored("script")) == 1
    for recording in (recording_of(environment.store, "script"), open_recording(path, "script")):
        replay = RecordedEnvironment("script", recording)
        assert (replay.tools, replay.links, replay.known_calls) == ((TOOL,), (LINK,), (READ,))
        assert await replay.answer(READ) == CallResponse({"title": "Ä"})
        missing = await replay.answer(Call(tool="read", arguments={"id": 7}))
        assert missing.problem == "No response is recorded for this call of read."


def test_a_line_that_is_no_recording_is_named(tmp_path: Path) -> None:
    good = '{"call": {"tool": "read", "arguments": {}}, "response": [1]}\n\n'
    for bad, told in (
        ("nonsense", "Line 2 .* is not JSON"),
        ('{"response": 1}', "Line 2 .* neither"),
        ('{"call": {"arguments": {}}, "response": 1}', "Line 2 .* is wrong at tool"),
    ):
        path = tmp_path / "recording.jsonl"
        path.write_text(good + bad)
        with pytest.raises(ConfigurationError, match=told):
            read_recording(path)
    with pytest.raises(ConfigurationError, match="can't be read"):
        open_recording(tmp_path / "absent.jsonl", "any")


def test_a_store_without_the_environment_names_those_it_has(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path / "responses.sqlite")
    store.put("shop", READ, CallResponse(1))
    store.close()
    with pytest.raises(ConfigurationError, match=r"\['shop'\]"):
        open_recording(tmp_path / "responses.sqlite", "bank")


async def test_responses_and_lapses_land_in_the_warehouse_once(
    stored: Stored, tmp_path: Path
) -> None:
    environment = stored(
        ScriptedEnvironment(
            CallResponse({"n": 1}),
            CallResponse({"n": 2}),
            CallResponse(problem="down", passing=True),
        )
    )
    await environment.answer(READ)
    await environment.refresh(READ)
    await environment.refresh(READ)
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    for _ in range(2):
        rows = {
            name: list(of(environment.store, "script"))
            for name, of in (("responses", response_rows), ("lapses", lapse_rows))
        }
        warehouse.put_rows(rows)
    found = warehouse.rows(
        "select tool, version, response ->> 'n' as n from responses order by version"
    )
    assert [(row["tool"], row["version"], row["n"]) for row in found] == [
        ("read", 0, "1"),
        ("read", 1, "2"),
    ]
    assert [row["times"] for row in warehouse.rows("select times from lapses")] == [1]
