"""Servers that others wrote, from npm and PyPI: written to in a copy of a folder, and replayed
when they are gone.
"""

import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pydantic import TypeAdapter

from callwright.generators.environments.episodes import START, diff, world_of
from callwright.generators.environments.exploring import explore_environment
from callwright.generators.environments.mcp_server import close_servers
from callwright.generators.environments.opening import open_environment
from callwright.generators.environments.protocol import EnvironmentSettings, located
from callwright.generators.environments.stored import StoredEnvironment
from callwright.warehouse.records import Call
from tests.support.environments import new_environment

pytestmark = pytest.mark.slow
SETTINGS: TypeAdapter[EnvironmentSettings] = TypeAdapter(EnvironmentSettings)
ADA = '{"type": "entity", "name": "Ada", "entityType": "person", "observations": ["likes chess"]}\n'


class Played(NamedTuple):
    """What is called of a server, what the last call's answer holds, and the changes that tools
    or files tell after all.
    """

    settings: dict[str, Any]
    calls: list[Call]
    last: str
    changed: set[tuple[str, str, str]]


def call(tool: str, **arguments: Any) -> Call:
    return Call(tool=tool, arguments=arguments)


def memory(folder: Path) -> Played:
    programs = npm_installed(folder, "@modelcontextprotocol/server-memory@2026.8.31")
    (folder / "seed" / "memory.jsonl").write_text(ADA)
    alan = {"name": "Alan", "entityType": "person", "observations": ["runs"]}
    values = {
        "create_entities.entities": [[alan]],
        "add_observations.observations": [[{"entityName": "Ada", "contents": ["sings"]}]],
        "open_nodes.names": [["Ada"]],
    }
    include = ["read_graph", "create_entities", "add_observations", "open_nodes"]
    command = ["env", "MEMORY_FILE_PATH={folder}/memory.jsonl", str(programs / "mcp-server-memory")]
    calls = [
        call("create_entities", entities=[alan]),
        call(
            "add_observations",
            observations=[{"entityName": "Alan", "contents": ["plays the piano"]}],
        ),
        call("open_nodes", names=["Alan"]),
    ]
    settings = {"command": command, "state": ["read_graph"], "values": values, "include": include}
    return Played(settings, calls, "plays the piano", {("created", "entity", "Alan")})


def files(folder: Path) -> Played:
    programs = npm_installed(folder, "@modelcontextprotocol/server-filesystem@2026.8.31")
    (folder / "seed" / "milk.txt").write_text("Buy milk.\n")
    values = {
        "path": ["milk.txt"],
        "content": ["Hello."],
        "source": ["milk.txt"],
        "destination": ["bread.txt"],
    }
    settings = {
        "command": [str(programs / "mcp-server-filesystem"), "{folder}"],
        "include": ["write_file", "move_file", "read_text_file", "list_allowed_directories"],
        "values": values,
    }
    calls = [
        call("move_file", source="milk.txt", destination="list.txt"),
        call("write_file", path="/workspace/new.txt", content="Hello."),
        call("read_text_file", path="list.txt"),
        call("list_allowed_directories"),
    ]
    changed = {
        ("deleted", "file", "milk.txt"),
        ("created", "file", "list.txt"),
        ("created", "file", "new.txt"),
    }
    return Played(settings, calls, "/workspace", changed)


def database(folder: Path) -> Played:
    programs = new_environment(folder / "sqlite", "mcp-server-sqlite==2025.4.25", "mcp<2")
    with closing(sqlite3.connect(folder / "seed" / "shop.db")) as shop, shop:
        shop.execute("create table orders (id integer primary key, item text)")
        shop.execute("insert into orders values (1, 'lamp')")
    query = "select * from orders"
    settings = {
        "command": [str(programs / "mcp-server-sqlite"), "--db-path", "{folder}/shop.db"],
        "reads": ["read_query"],
        "state": [{"tool": "read_query", "arguments": {"query": query}}],
        "include": ["read_query", "write_query"],
        "values": {
            "read_query.query": [query],
            "write_query.query": ["delete from orders where id = 1"],
        },
    }
    calls = [
        call("write_query", query="insert into orders values (2, 'sofa')"),
        call("read_query", query=query),
    ]
    return Played(settings, calls, "sofa", {("updated", "read_query", "")})


def npm_installed(folder: Path, package: str) -> Path:
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    subprocess.run(["npm", "install", *quiet, "--prefix", str(folder), package], check=True)
    return folder / "node_modules" / ".bin"


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    yield
    close_servers()


@pytest.mark.skipif(shutil.which("npm") is None, reason="two of them come from npm")
@pytest.mark.parametrize("server", [memory, files, database])
async def test_a_server_is_written_to_and_replayed(server: Any, tmp_path: Path) -> None:
    (tmp_path / "seed").mkdir()
    played: Played = server(tmp_path)
    stated = {"environment": "mcp", "name": "real", "reset": {"folder": "seed"}, **played.settings}
    settings = located(SETTINGS.validate_python(stated), tmp_path)

    def opened() -> StoredEnvironment:
        found = open_environment(settings, store=tmp_path / "r.sqlite", secret=str)
        assert isinstance(found, StoredEnvironment)
        return found

    environment = opened()
    await explore_environment(settings, environment)
    assert {tool.name for tool in environment.tools} == {*played.settings["include"]}
    episode = world_of(environment).begin()
    answers = [episode.answer(one) for one in played.calls]
    assert [one.problem for one in answers] == [""] * len(answers)
    assert played.last in str(answers[-1].response)
    assert {(one.sort, one.kind, one.id) for one in diff(START, episode.state)} == played.changed
    assert diff(START, world_of(environment).begin().state) == ()
    environment.close()
    close_servers()
    for name in ("node_modules", "sqlite", "seed"):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
    replay = opened()
    again = world_of(replay).begin()
    assert [again.answer(one) for one in played.calls] == answers
    assert diff(START, again.state) == diff(START, episode.state)
    replay.close()
