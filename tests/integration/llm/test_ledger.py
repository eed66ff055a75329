"""The ledger keeps what was answered, through crashes and beside other processes."""

import asyncio
import gc
import os
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.llm.chat import ChatMessage, ChatRequest, Prompt, RawReply
from callwright.llm.ledger import Ledger, ledger_key, open_answers
from callwright.warehouse.errors import ReplyError, StoreError
from callwright.warehouse.records import Call, Tool

ROOT = Path(__file__).resolve().parents[3]
REPLY = RawReply(
    "Lyon",
    (Call(tool="trip", arguments={"city": "里昂", "days": [2, None]}),),
    10,
    5,
    0.001,
    "wrong tool",
)
# Asks the server for each numbered prompt through a LedgeredChat, and says which answers it was
# given.
BUILD = """
import asyncio, sys
from pathlib import Path
import aiohttp
from callwright.llm.asking import LedgeredChat, Surroundings
from callwright.llm.limits import Budget
from callwright.llm.chat import ChatMessage, Prompt, RawReply
from callwright.llm.ledger import Ledger
from callwright.llm.limits import Gate, Limits
class Wire:
    def __init__(self, url): self.url, self.session = url, aiohttp.ClientSession()
    async def send(self, request):
        body = {"messages": [message.model_dump() for message in request.messages]}
        async with self.session.post(self.url + "/chat/completions", json=body) as response:
            return RawReply((await response.json())["choices"][0]["message"]["content"])
    async def close(self): await self.session.close()
async def main(url, path, count):
    async with Ledger(Path(path)) as ledger:
        chat = LedgeredChat("m/m", (), Surroundings(Wire(url), ledger, Gate(Limits()), Budget(None), lambda call: None))
        async def ask(number):
            messages = (ChatMessage(role="user", content=str(number)),)
            await chat.complete(Prompt(name="p", version="1", messages=messages))
            print(number, flush=True)
        for start in range(0, count, 4):
            await asyncio.gather(*(ask(number) for number in range(start, min(count, start + 4))))
        await chat.close()
asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


async def test_an_answer_comes_back_as_it_was_given(tmp_path):
    path = tmp_path / "deep" / "ledger.sqlite"
    async with Ledger(path) as ledger:
        assert await ledger.get(b"a") is None
        await ledger.put(b"a", REPLY)
        assert await ledger.get(b"a") == REPLY
    async with Ledger(path) as again:
        assert await again.get(b"a") == REPLY


@given(st.text(), st.integers(0, 10**9), st.floats(0, 10**6))
def test_any_reply_survives_the_disk(text, tokens, cost):
    reply = RawReply(text, (), tokens, tokens, cost, text)

    async def round_trip():
        async with Ledger(Path(":memory:")) as ledger:
            ledger._reader.close()
            ledger._reader = ledger._writer  # each connection to :memory: is a database of its own
            await ledger.put(b"k", reply)
            return await ledger.get(b"k")

    assert asyncio.run(round_trip()) == reply


async def test_the_first_answer_stays(ledger):
    await ledger.put(b"a", REPLY)
    await ledger.put(b"a", RawReply("Paris"))

    assert await ledger.get(b"a") == REPLY


async def test_many_answers_share_a_commit(tmp_path):
    path = tmp_path / "ledger.sqlite"
    async with Ledger(path) as ledger:
        commits = []
        ledger._writer.set_trace_callback(
            lambda line: commits.append(line) if line.lower() == "commit" else None
        )
        await asyncio.gather(*(ledger.put(str(number).encode(), REPLY) for number in range(500)))
        assert len(commits) <= 3
    rows = sqlite3.connect(path)
    assert rows.execute("select count(*) from answers").fetchone() == (500,)
    rows.close()


async def test_those_who_ask_the_same_at_the_same_time_share_one_request(ledger):
    asked = []

    async def ask():
        asked.append(1)
        await asyncio.sleep(0.01)
        return REPLY

    answers = await asyncio.gather(*(ledger.answer(b"a", ask) for _ in range(20)))

    assert len(asked) == 1
    assert [reply for reply, _ in answers] == [REPLY] * 20
    assert [is_known for _, is_known in answers] == [False] + [True] * 19


async def test_an_error_goes_to_all_who_wait_and_is_not_kept(ledger):
    async def fail():
        await asyncio.sleep(0.01)
        raise ReplyError("No.")

    async def succeed():
        return REPLY

    ended = await asyncio.gather(
        *(ledger.answer(b"a", fail) for _ in range(3)), return_exceptions=True
    )

    assert [str(error) for error in ended] == ["No."] * 3
    assert await ledger.answer(b"a", succeed) == (REPLY, False)


async def test_where_the_asker_is_cancelled_the_next_one_asks(ledger):
    asked = []

    async def ask():
        asked.append(1)
        await asyncio.sleep(0.05)
        return REPLY

    first = asyncio.create_task(ledger.answer(b"a", ask))
    second = asyncio.create_task(ledger.answer(b"a", ask))
    await asyncio.sleep(0.01)
    first.cancel()

    assert await second == (REPLY, False)
    assert len(asked) == 2


async def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"This is a letter, not a ledger. " * 100)

    with pytest.raises(StoreError, match=r"can't be read .*Move the file away"):
        Ledger(path)


async def test_a_ledger_that_somebody_holds_is_not_to_be_moved_away(tmp_path, monkeypatch):
    monkeypatch.setattr("callwright.llm.ledger._PATIENCE", 0.1)
    path = tmp_path / "ledger.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin immediate")  # it is about to be made
        with pytest.raises(
            StoreError, match=r"can't be used now \(database is locked\).* Let it stay where it is"
        ):
            Ledger(path)


async def test_somebody_elses_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "ledger.sqlite"
    other = sqlite3.connect(path)
    other.execute("create table songs (title text)")
    other.commit()
    other.close()
    before = path.read_bytes()

    with pytest.raises(StoreError, match="no ledger; give the ledger another name"):
        Ledger(path)
    assert path.read_bytes() == before


async def test_a_damaged_answer_is_refused(tmp_path):
    async with Ledger(tmp_path / "l") as ledger:
        ledger._writer.execute("insert into answers values (?, ?)", (b"a", b'["half'))
        with pytest.raises(StoreError, match="can't be read"):
            await ledger.get(b"a")


async def test_a_folder_that_can_not_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match="can't be opened"):
        Ledger(tmp_path / "file" / "ledger.sqlite")


async def test_a_commit_that_fails_is_an_error_for_each_answer_in_it(tmp_path):
    async with Ledger(tmp_path / "l") as ledger:
        ledger._writer.execute("drop table answers")
        ended = await asyncio.gather(
            ledger.put(b"a", REPLY), ledger.put(b"b", REPLY), return_exceptions=True
        )

    assert [type(error) for error in ended] == [StoreError, StoreError]
    assert "could not keep an answer: no such table" in str(ended[0])


def test_a_loop_that_ends_early_leaves_nobody_waiting(tmp_path):
    ledger = Ledger(tmp_path / "l")

    async def leave():
        asyncio.create_task(ledger.put(b"a", REPLY))  # noqa: RUF006 - it is meant to be lost
        await asyncio.sleep(0)

    async def go_on():
        await ledger.put(b"b", REPLY)
        assert await ledger.get(b"b") == REPLY
        await ledger.close()

    asyncio.run(leave())
    asyncio.run(asyncio.wait_for(go_on(), 5))
    gc.collect()


async def test_nothing_is_asked_twice_after_a_kill(server, tmp_path):
    arguments = (sys.executable, "-c", BUILD, server.url, str(tmp_path / "ledger.sqlite"), "40")
    surroundings = {"cwd": ROOT, "stdout": asyncio.subprocess.PIPE}
    child = await asyncio.create_subprocess_exec(*arguments, **surroundings)
    acknowledged = [int(await child.stdout.readline()) for _ in range(14)]
    os.kill(child.pid, signal.SIGKILL)
    rest = await child.stdout.read()
    acknowledged += [int(line) for line in rest.splitlines(keepends=True) if line.endswith(b"\n")]
    await child.wait()
    assert len(acknowledged) < 40

    again = await asyncio.create_subprocess_exec(*arguments, **surroundings)
    said, _ = await again.communicate()

    assert again.returncode == 0
    assert sorted(map(int, said.split())) == list(range(40))
    asked = [int(body["messages"][0]["content"]) for body in server.bodies]
    assert set(asked) == set(range(40))
    assert [number for number in acknowledged if asked.count(number) > 1] == []


async def test_several_processes_can_make_and_fill_the_same_ledger(server, tmp_path):
    arguments = (sys.executable, "-c", BUILD, server.url, str(tmp_path / "ledger.sqlite"), "60")
    children = [
        await asyncio.create_subprocess_exec(*arguments, cwd=ROOT, stdout=-3) for _ in range(3)
    ]

    assert [await child.wait() for child in children] == [0, 0, 0]
    async with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert ledger._reader.execute("select count(*) from answers").fetchone() == (60,)


def _key(**changes):
    tools = changes.pop("tools", ())
    said = changes.pop("said", ("Which city?",))
    messages = tuple(ChatMessage(role="user", content=text) for text in said)
    prompt = Prompt(
        name=changes.pop("prompt", "trip"), version=changes.pop("version", "1"), messages=messages
    )
    schema = changes.pop("schema", "")
    asked = {"model": "m/m", "options": (), "sample_index": 0, **changes}
    return ledger_key(
        ChatRequest(messages=messages, schema=None, tools=tools, **asked), prompt, schema
    )


def test_whatever_may_change_an_answer_changes_the_key():
    tool = Tool(name="trip", description="", parameters={}, category="travel")
    keys = [
        _key(),
        _key(model="m/n"),
        _key(options=(("temperature", 0.5),)),
        _key(sample_index=1),
        _key(prompt="other"),
        _key(version="2"),
        _key(schema="{}"),
        _key(tools=(tool,)),
        _key(said=("Which", "city?")),
        _key(said=("Which city",)),
    ]

    assert len(set(keys)) == len(keys)
    assert _key() == _key()


def test_a_file_that_another_process_is_just_switching_is_opened_a_moment_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Switched(sqlite3.Connection):
        refused = 2

        def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
            if "journal_mode" in sql and Switched.refused:
                Switched.refused -= 1
                error = sqlite3.OperationalError("database is locked")
                error.sqlite_errorcode = sqlite3.SQLITE_BUSY
                raise error
            return super().execute(sql, *values)

    opened = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda path, **given: opened(path, factory=Switched, **given)
    )
    with closing(open_answers(tmp_path / "answers.sqlite")) as connection:
        assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
    assert Switched.refused == 0
