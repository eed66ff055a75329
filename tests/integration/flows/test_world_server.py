"""The world of a task over MCP: one session over input and output, several at a port, each with
a state of its own.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import callwright
from callwright.warehouse.exports.formats import export_release
from tests.support.sampling import slow
from tests.support.warehouse.task_releases import task_stream


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    export_release(task_stream(tmp_path), "verifiers", tmp_path / "out")
    return tmp_path / "out"


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "callwright", "world", "serve", *map(str, words)]


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        command(folder, "--port", port, "--controls"), cwd=folder, stderr=subprocess.PIPE
    )
    try:
        for _ in range(600):
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, process.stderr and process.stderr.read()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(20)
        if process.stderr:
            process.stderr.close()


async def asked(client: Client, tool: str, **arguments: Any) -> Any:
    answer = await client.call_tool(tool, arguments)
    return json.loads(answer.content[0].text)


async def test_sessions_have_worlds_of_their_own_go_back_and_are_rewarded(
    address: str, folder: Path
) -> None:
    first, other = callwright.load_tasks(folder)
    async with (
        Client(f"{address}?session=acting") as acting,
        Client(f"{address}?session=waiting") as waiting,
    ):
        shown = {tool.name for tool in (await acting.list_tools()).tools}
        assert shown == {tool["name"] for tool in first.tools} | {"reset_episode", "episode_reward"}
        for call in first.gold:
            await asked(acting, call.tool, **call.arguments)
        done = await asked(acting, "episode_reward", text=first.reply)
        assert (done["reward"], done["needless_changes"], len(done["changes"])) == (
            1.0,
            0,
            len(first.sample.changes),
        )
        assert (await asked(waiting, "episode_reward"))["changes"] == []
        assert (await acting.call_tool("get_bicycle", {"bicycle_id": "nobody"})).is_error
        begun = await asked(acting, "reset_episode", task=other.key)
        assert begun == {"task": other.key, "messages": other.messages}
        assert (await asked(acting, "episode_reward"))["changes"] == []
        refused = await acting.call_tool("reset_episode", {"task": "nothing"})
        assert refused.is_error


async def test_over_input_and_output_there_is_one_session_without_controls_unless_asked(
    folder: Path,
) -> None:
    [first, *_] = callwright.load_tasks(folder)
    program, *words = command(folder, "--task", first.key)
    parameters = StdioServerParameters(command=program, args=words, env=dict(os.environ))
    async with Client(stdio_client(parameters)) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            tool["name"] for tool in first.tools
        ]
        assert (await client.call_tool("episode_reward", {})).is_error
        answers = [await client.call_tool(call.tool, dict(call.arguments)) for call in first.gold]
        assert not any(answer.is_error for answer in answers)


def test_what_has_no_tasks_is_told(tmp_path: Path) -> None:
    done = subprocess.run(command(tmp_path), capture_output=True, text=True, check=False)
    assert (done.returncode, "has 0 files named worlds.json" in done.stderr) == (2, True)


RECIPE = """\
name: shop
tools:
  - {environment: simulated, name: workshop, import: openapi, path: DOCUMENTS/workshop.yaml}
  - {environment: simulated, name: depot, import: openapi, path: DOCUMENTS/depot.yaml}
samples: {task: 2}
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """A recipe with two worlds."""
    path = tmp_path / "shop.yaml"
    documents = Path(__file__).parents[3] / "recipes" / "documents"
    path.write_text(RECIPE.replace("DOCUMENTS", str(documents)), encoding="utf-8")
    return path


async def test_the_worlds_of_a_recipe_are_served_as_one_by_a_seed(recipe: Path) -> None:
    found = {}
    for seed in (4, 5):
        program, *words = command(recipe, "--seed", seed, "--controls")
        parameters = StdioServerParameters(
            command=program, args=words, env={**os.environ, "CALLWRIGHT_HOME": str(recipe.parent)}
        )
        async with Client(stdio_client(parameters)) as client:
            shown = [tool.name for tool in (await client.list_tools()).tools]
            assert {"list_bicycles", "delete_parcel", "reset_episode"} <= {*shown}
            assert "episode_reward" not in shown, "nothing is asked for"
            parcels = await asked(client, "list_parcels")
            await client.call_tool("delete_parcel", {"parcel_id": parcels[0]["id"]})
            assert (await client.call_tool("get_parcel", {"parcel_id": parcels[0]["id"]})).is_error
            assert (await asked(client, "reset_episode"))["messages"] == []
            assert await asked(client, "list_parcels") == parcels
            found[seed] = parcels
    assert found[4] != found[5]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("v1", "--seed", 3), "--seed works with a recipe only"),
        slow(("plain.yaml",), "has no simulated world"),
    ],
)
def test_what_can_not_be_served_is_told(
    words: tuple[object, ...], told: str, tmp_path: Path
) -> None:
    (tmp_path / "plain.yaml").write_text(
        "name: plain\ntools: [{seed: all}]\nsamples: {imperfect: 2}\n", encoding="utf-8"
    )
    environment = {**os.environ, "CALLWRIGHT_HOME": str(tmp_path)}
    done = subprocess.run(
        command(*words), capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
    )
    assert (done.returncode, told in done.stderr.replace("\n", " ")) == (2, True), done.stderr
