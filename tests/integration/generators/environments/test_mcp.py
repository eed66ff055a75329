"""MCP servers: their lists of tools page by page, what is called of them and what is not, and
that no process stays behind.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from callwright.generators.environments.exploring import explore_environment
from callwright.generators.environments.mcp import read_server
from callwright.generators.environments.mcp_server import McpAddress, close_servers, list_mcp_tools
from callwright.generators.environments.opening import open_environment
from callwright.generators.environments.protocol import EnvironmentSettings, McpSettings
from callwright.generators.environments.stored import StoredEnvironment
from callwright.warehouse.errors import ConfigurationError, TransientError
from callwright.warehouse.records import Call

SERVERS = Path(__file__).parents[3] / "support" / "generators" / "environments"
SHOP = (sys.executable, str(SERVERS / "mcp_shop.py"))
PAGED = (sys.executable, str(SERVERS / "mcp_paged.py"))
SETTINGS: TypeAdapter[EnvironmentSettings] = TypeAdapter(EnvironmentSettings)


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    yield
    close_servers()


def shop_settings(**more: Any) -> McpSettings:
    choice = {
        "constants": {"tenant": "acme"},
        "exclude": ["wait", "leave"],
        "secrets": {"SHOP_LOG": "LOG"},
    }
    read = SETTINGS.validate_python(
        {"environment": "mcp", "name": "shop", "command": [*SHOP], **choice, **more}
    )
    assert isinstance(read, McpSettings)
    return read


def opened(settings: McpSettings, folder: Path) -> StoredEnvironment:
    environment = open_environment(
        settings, store=folder / "responses.sqlite", secret=lambda _: str(folder / "asked.log")
    )
    assert isinstance(environment, StoredEnvironment)
    return environment


def asked(folder: Path) -> list[tuple[int, str]]:
    """What the shop was asked, each with the process that was asked."""
    rows = (line.partition(" ") for line in (folder / "asked.log").read_text().splitlines())
    return [(int(process), line) for process, _, line in rows]


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def ends(process: int) -> bool:
    """Whether a process ends within some seconds."""
    return any(not is_running(process) or time.sleep(0.05) for _ in range(200))


async def test_an_environment_calls_what_only_reads_and_finds_what_gives_which_value(
    tmp_path: Path,
) -> None:
    settings = shop_settings(rename={"read_order": "get_order"})
    environment = opened(settings, tmp_path)
    assert environment.tools == ()
    await explore_environment(settings, environment)
    tools = {tool.name: tool for tool in environment.tools}
    assert set(tools) == {"list_customers", "read_customer", "list_orders", "get_order"}
    assert tools["get_order"].required == ("order_id",)
    links = {
        (one.tool, one.parameter, one.source, one.entries, one.field) for one in environment.links
    }
    assert ("read_customer", "customer_id", "list_customers", "result", "customer_id") in links
    assert ("get_order", "order_id", "list_orders", "result", "order_id") in links
    assert Call(tool="get_order", arguments={"order_id": 9}) in environment.known_calls
    lines = [line for _, line in asked(tmp_path)]
    assert "read_order 9 acme" in lines
    assert len(lines) == len(set(lines)), "each call is made once"
    assert not [line for line in lines if line.split()[0] in ("delete_customer", "wait", "leave")]
    assert (
        "parameter 'tenant'"
        in (
            await environment.answer(
                Call(tool="get_order", arguments={"order_id": 9, "tenant": "x"})
            )
        ).problem
    )
    environment.close()


async def test_one_process_answers_all_that_one_process_asks_and_then_the_store_does(
    tmp_path: Path,
) -> None:
    settings = shop_settings()
    first, second = opened(settings, tmp_path), opened(settings, tmp_path)
    await explore_environment(settings, first)
    second.close()
    second = opened(settings, tmp_path)
    new = Call(tool="read_customer", arguments={"customer_id": "nobody"})
    answer = await second.answer(new)
    assert "The tool failed" in answer.problem
    processes = {process for process, _ in asked(tmp_path)}
    assert len(processes) == 1
    close_servers()
    assert ends(processes.pop())

    before = len(asked(tmp_path))
    replay = opened(settings, tmp_path)
    assert await replay.answer(new) == answer
    assert (replay.tools, replay.known_calls) == (first.tools, first.known_calls)
    assert len(asked(tmp_path)) == before, "nothing is started to replay"
    for one in (first, second, replay):
        one.close()


async def test_a_tool_that_takes_what_nobody_knows_is_offered_and_is_on_no_path(
    tmp_path: Path,
) -> None:
    settings = shop_settings(allow=["send_note"])
    environment = opened(settings, tmp_path)
    await explore_environment(settings, environment)
    again = opened(settings, tmp_path)
    for one in (environment, again):
        assert "send_note" not in {tool.name for tool in one.tools}
        (beside,) = [tool for tool in one.offered if tool not in one.tools]
        assert (beside.name, beside.required) == ("send_note", ("text",))
        assert not beside.source.startswith("environment:")
        one.close()
    assert not [line for _, line in asked(tmp_path) if "send_note" in line]


async def test_a_server_that_ends_in_the_middle_of_its_list_is_not_explored(tmp_path: Path) -> None:
    settings = shop_settings(command=[*PAGED, "break"], constants={}, exclude=[], allow=["*"])
    environment = opened(settings, tmp_path)
    with pytest.raises(
        TransientError, match=r"ended while it was asked\. Its list of tools is not whole"
    ):
        await explore_environment(settings, environment)
    assert environment.store.description("shop") is None
    environment.close()


async def test_a_server_that_marks_nothing_is_not_called(tmp_path: Path) -> None:
    settings = shop_settings(command=[*PAGED], constants={}, exclude=[])
    environment = opened(settings, tmp_path)
    with pytest.raises(
        ConfigurationError, match=r"none of its tools as read-only.* Its tools are read_first, read"
    ):
        await explore_environment(settings, environment)
    environment.close()


async def test_every_page_is_read_and_a_circle_is_told() -> None:
    catalog = await read_server(McpAddress(PAGED), 30)
    assert [tool.name for tool in catalog.tools] == ["read_first", "read_second", "read_third"]
    assert {tool.category for tool in catalog.tools} == {"paged"}
    assert not [one for one in catalog.problems if one.kind == "incomplete_listing"]
    circle = await read_server(McpAddress((*PAGED, "circle")), 30)
    assert [tool.name for tool in circle.tools] == ["read_first", "read_second"]
    assert [one.kind for one in circle.problems if one.kind == "incomplete_listing"] == [
        "incomplete_listing"
    ]


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (McpAddress(("nonesuch",)), "there is no command 'nonesuch'"),
        (McpAddress((sys.executable, "-c", "import sys; sys.exit('no key')")), "It wrote: no key"),
        (McpAddress((*PAGED, "silent")), "did not answer within 0.5 seconds"),
    ],
)
async def test_a_server_that_can_not_be_asked_is_one_sentence(
    address: McpAddress, told: str
) -> None:
    with pytest.raises(ConfigurationError, match=told):
        await list_mcp_tools(address, 0.5)


async def test_a_server_that_leaves_is_started_again_but_not_for_ever() -> None:
    for told in (
        *["ended while it was asked"] * 3,
        "ended while .* After 3 tries it is not started again",
    ):
        with pytest.raises(ConfigurationError, match=told):
            await list_mcp_tools(McpAddress((*PAGED, "leave")), 30)


async def test_a_server_is_asked_over_http(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path / "asked.log"
    server = await asyncio.create_subprocess_exec(
        *SHOP, str(port), env={**os.environ, "SHOP_LOG": str(log)}
    )
    try:
        settings = shop_settings(
            command=[], url=f"http://127.0.0.1:{port}/mcp", secrets={"X-Key": "KEY"}
        )
        for _ in range(200):
            if log.exists():
                break
            await asyncio.sleep(0.05)
        await _listens(port)
        environment = opened(settings, tmp_path)
        await explore_environment(settings, environment)
        assert {"list_customers", "read_order"} <= {tool.name for tool in environment.tools}
        environment.close()
        close_servers()
    finally:
        server.terminate()
        await server.wait()


async def _listens(port: int) -> None:
    for _ in range(200):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            await writer.wait_closed()
            return


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux ends children of a process that was killed"
)
def test_a_kill_leaves_no_server_behind(tmp_path: Path) -> None:
    code = f"""
import asyncio, os, sys, time
from callwright.generators.environments.mcp_server import McpAddress, list_mcp_tools
asyncio.run(list_mcp_tools(McpAddress({(*PAGED, "stay")!r}), 30))
found = [one for task in os.listdir("/proc/self/task") for one in open(f"/proc/self/task/{{task}}/children").read().split()]
print(*found, flush=True)
time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    server = int(process.stdout.readline())
    assert is_running(server)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert ends(server)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({}, "one of command, url, catalog says which server it is; 0 are given"),
        ({"command": ["a"], "url": "http://h"}, "2 are given"),
        ({"url": "ftp://h"}, "url"),
        ({"command": ["a"], "tools": ["x"]}, "tools"),
    ],
)
def test_a_wrong_setting_of_a_server_is_named(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        SETTINGS.validate_python({"environment": "mcp", **wrong})
