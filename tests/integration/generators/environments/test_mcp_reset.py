"""MCP servers that are reset: what calls have changed is there for the calls after them, kept
with them, and replayed alone.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from callwright.flows.recipe import parse_recipe
from callwright.generators.environments.episodes import START, diff, world_of
from callwright.generators.environments.exploring import explore_environment
from callwright.generators.environments.mcp_server import close_servers
from callwright.generators.environments.opening import open_environment
from callwright.generators.environments.protocol import EnvironmentSettings, McpSettings, located
from callwright.generators.environments.response_store import (
    ResponseStore,
    merge_responses,
    pack_responses,
    response_rows,
)
from callwright.generators.environments.stored import ServerWorld, StoredEnvironment
from callwright.warehouse.errors import ConfigurationError, RecordError, TransientError
from callwright.warehouse.records import Call, Sample
from tests.support.flows.small_builds import build, run_here, settings_of, warehouse_of
from tests.support.sampling import sampled

SERVER = Path(__file__).parents[3] / "support" / "generators" / "environments" / "mcp_board.py"
BOARD = (sys.executable, str(SERVER))
SETTINGS: TypeAdapter[EnvironmentSettings] = TypeAdapter(EnvironmentSettings)
STATED: dict[str, Any] = {
    "environment": "mcp",
    "name": "board",
    "command": [*BOARD],
    "folder": ".",
    "exclude": ["clear_board", "list_all"],
    "values": {"create_note.title": ["Feed the cat", "Buy milk"]},
}
WAYS: dict[str, dict[str, Any]] = {
    "folder": {"reset": {"folder": "seed"}, "state": ["list_all"]},
    "command": {
        "reset": {"command": ["rm", "-f", "board.json"]},
        "state": [{"tool": "list_all", "arguments": {}}],
    },
    "tool": {"reset": {"tool": "clear_board"}, "command": [*BOARD, "memory"]},
}
CREATE = Call(tool="create_note", arguments={"board_id": "b-7f3", "title": "Feed the cat"})
ARCHIVE = Call(tool="archive_note", arguments={"note_id": "n-11a"})
LIST = Call(tool="list_notes", arguments={"board_id": "b-7f3"})


@pytest.fixture(autouse=True)
def _ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("LOG", str(tmp_path / "asked.log"))
    (tmp_path / "seed").mkdir()
    yield
    close_servers()


def stated(folder: Path, **more: Any) -> McpSettings:
    read = SETTINGS.validate_python({**STATED, "secrets": {"BOARD_LOG": "LOG"}, **more})
    assert isinstance(read, McpSettings)
    found = located(read, folder)
    assert isinstance(found, McpSettings)
    return found


def opened(settings: McpSettings, folder: Path) -> StoredEnvironment:
    environment = open_environment(
        settings, store=folder / "r.sqlite", secret=lambda _: str(folder / "asked.log")
    )
    assert isinstance(environment, StoredEnvironment)
    return environment


def titles(environment: ServerWorld, *calls: Call) -> list[str]:
    """The notes of a board after these calls."""
    episode = environment.begin()
    for call in calls:
        assert not episode.answer(call).problem
    listed = episode.answer(LIST).response
    assert isinstance(listed, dict)
    return [f"{one['title']} {one['status']}" for one in listed["notes"]]  # type: ignore[union-attr,call-overload,index]


def server_world(environment: StoredEnvironment) -> ServerWorld:
    world = world_of(environment)
    assert isinstance(world, ServerWorld)
    return world


def started(folder: Path) -> int:
    """How many processes the server has had."""
    return len({line.split()[0] for line in (folder / "asked.log").read_text().splitlines()})


@pytest.mark.parametrize("way", sampled(WAYS, ("folder", "tool")))
async def test_what_a_call_changes_is_there_for_the_next_and_for_no_other_episode(
    way: str, tmp_path: Path
) -> None:
    settings = stated(tmp_path, **WAYS[way])
    environment = opened(settings, tmp_path)
    await explore_environment(settings, environment)
    assert {tool.name for tool in environment.tools} == {
        "list_boards",
        "list_notes",
        "read_note",
        "create_note",
        "archive_note",
        "delete_note",
    }
    world = server_world(environment)
    assert [world.writes(name) for name in ("list_notes", "create_note")] == [False, True]
    before = ["Water the roses open", "Cut the hedge open"]
    assert titles(world) == before
    assert titles(world, CREATE) == [*before, "Feed the cat open"]
    assert titles(world, CREATE, ARCHIVE) == [
        "Water the roses archived",
        before[1],
        "Feed the cat open",
    ]

    one, other = world.begin(), world.begin()  # by turns, of one server
    one.answer(CREATE)
    other.answer(ARCHIVE)
    (made,) = [change for change in diff(START, one.state) if change.kind == "note"]
    assert (made.sort, made.after and made.after["title"]) == ("created", "Feed the cat")
    (changed,) = [change for change in diff(START, other.state) if change.kind == "note"]
    assert (changed.sort, changed.id, changed.field, changed.after) == (
        "updated",
        "n-11a",
        "status",
        "archived",
    )
    assert diff(START, world.begin().state) == ()
    middle = one.snapshot()
    one.answer(ARCHIVE)
    one.restore(middle)
    assert one.state == middle
    with pytest.raises(RecordError, match="nobody knows how to reach it"):
        one.restore(middle._replace(clock=99))

    lines = (tmp_path / "asked.log").read_text()
    assert started(tmp_path) > 1 or way == "tool"
    environment.close()
    close_servers()
    replay = opened(stated(tmp_path, **WAYS[way]), tmp_path)
    assert titles(server_world(replay), CREATE, ARCHIVE) == [
        "Water the roses archived",
        before[1],
        "Feed the cat open",
    ]
    assert diff(START, middle) == diff(START, one.state)
    assert (tmp_path / "asked.log").read_text() == lines, "nothing is started to replay"
    replay.close()


async def test_what_is_kept_goes_to_other_stores_and_into_the_warehouse_with_what_came_before(
    tmp_path: Path,
) -> None:
    settings = stated(tmp_path, **WAYS["tool"])
    environment = opened(settings, tmp_path)
    await explore_environment(settings, environment)
    expected = titles(server_world(environment), CREATE)
    environment.close()
    other = tmp_path / "other" / "r.sqlite"
    merge_responses(other, pack_responses(tmp_path / "r.sqlite", ["board"]))
    with closing(ResponseStore(other)) as store:
        rows = [row["call"] for row in response_rows(store, "board")]
        description = store.description("board")
    assert len([row for row in rows if '"after":[{"tool":"create_note"' in row]) == 1
    assert description is not None
    alone = ServerWorld("board", description, other, None)
    assert titles(alone, CREATE) == expected
    refused = alone.begin()
    refused.answer(CREATE)
    answer = refused.answer(Call(tool="list_notes", arguments={"board_id": "b-2c9"}))
    assert answer.problem == "No response is recorded for this call of list_notes after 1 others."
    assert answer.passing


@pytest.mark.parametrize(
    ("reset", "told"),
    [
        (
            {"command": ["true"]},
            "holds something else after it was reset than at first, so that `reset` of 'board'",
        ),
        (
            {"command": ["sh", "-c", "echo no such seed >&2; exit 3"]},
            "ended with 3. It wrote: no such seed",
        ),
        ({"command": ["nonesuch"]}, "'nonesuch' can't be run"),
        ({"command": ["sleep", "30"]}, "'sleep 30' did not end within 2 seconds"),
        ({"tool": "nonesuch"}, "was not reset by its tool 'nonesuch'"),
        ({"folder": "elsewhere"}, "elsewhere' can't be copied"),
    ],
)
async def test_a_reset_that_fails_is_one_sentence_with_the_server(
    reset: dict[str, Any], told: str, tmp_path: Path
) -> None:
    settings = stated(tmp_path, reset=reset, timeout=2, state=["list_all"])
    environment = opened(settings, tmp_path)
    with pytest.raises(ConfigurationError) as raised:
        await explore_environment(settings, environment)
    environment.close()
    assert told in str(raised.value)
    assert "mcp_board.py" in str(raised.value)


async def test_a_reset_that_is_late_is_told(tmp_path: Path) -> None:
    settings = stated(tmp_path, **WAYS["tool"] | {"command": [*BOARD, "silent"]}, timeout=0.5)
    environment = opened(settings, tmp_path)
    with pytest.raises(
        ConfigurationError, match=r"not reset by its tool 'clear_board': .* within 0\.5 seconds"
    ):
        await explore_environment(settings, environment)
    environment.close()


async def test_a_server_that_is_gone_in_the_middle_is_a_lapse_and_no_answer(tmp_path: Path) -> None:
    settings = stated(tmp_path, **WAYS["folder"])
    environment = opened(settings, tmp_path)
    await explore_environment(settings, environment)
    (tmp_path / "seed").rmdir()
    episode = server_world(environment).begin()
    assert not episode.answer(CREATE).problem, "explored"
    assert not episode.answer(LIST).problem, "the server is as it was after the last reset"
    episode = server_world(environment).begin()
    assert not episode.answer(ARCHIVE).problem, "explored"
    late = episode.answer(LIST)
    assert late.passing
    assert "was not reset" in late.problem
    with pytest.raises(TransientError, match="What 'board' holds is not told"):
        _ = episode.state
    assert "was not reset" in environment.store.lapses(environment.kept_as)[0].problem
    environment.close()


async def test_without_a_reset_what_writes_is_refused_and_told_how_it_could_be(
    tmp_path: Path,
) -> None:
    settings = stated(tmp_path, exclude=["list_all"], values={})
    environment = opened(settings, tmp_path)
    await explore_environment(settings, environment)
    assert {tool.name for tool in environment.tools} == {"list_boards", "list_notes", "read_note"}
    answer = await environment.inner.answer(CREATE)
    assert "no tool 'create_note' that may be called" in answer.problem
    assert "`reset`" in answer.problem
    with pytest.raises(ConfigurationError, match="so it has no episodes"):
        world_of(environment)
    environment.close()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"reset": {}}, "it says none of folder, command and tool"),
        ({"reset": {"tool": "a", "command": ["b"]}}, "it says command and tool of folder"),
        ({"reset": {"command": ["a"], "arguments": {"b": 1}}}, "`arguments` are those of a `tool`"),
        ({"state": ["a"]}, "`state` tells what calls have made of a server, which takes a `reset`"),
        (
            {"command": [], "url": "http://h", "reset": {"folder": "seed"}},
            "a server with a `url` runs elsewhere",
        ),
    ],
)
def test_a_wrong_reset_is_named(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        SETTINGS.validate_python({**STATED, **wrong})


def test_tasks_and_paths_are_made_of_a_server_and_evaluated_without_it(tmp_path: Path) -> None:
    server = tmp_path / "board.py"
    server.write_text(SERVER.read_text())
    source = {
        **STATED,
        **WAYS["tool"],
        "command": [sys.executable, str(server), "memory"],
        "folder": str(tmp_path),
    }
    asked = {
        "name": "board",
        "tools": [source],
        "samples": {"multi_step": 2, "task": 3},
        "languages": ["en"],
        "seed": 3,
    }
    settings = settings_of(tmp_path)
    recipe = parse_recipe({**asked, "variants": 1, "review": {"spot_checks": 0}}, tmp_path, "board")
    build(recipe, settings)
    tasks = [
        Sample.model_validate_json(row["body"])
        for row in warehouse_of(settings).rows("select body from samples where kind = 'task'")
    ]
    assert len(tasks) == 3
    assert {change.kind for task in tasks for change in task.changes} == {"note"}
    close_servers()
    server.unlink()
    assert run_here("release", "create", "v1", "--recipe", "board", home=tmp_path).returncode == 0
    found = run_here("evaluate", "v1", "--model", "template/v1", "--json", home=tmp_path)
    assert found.returncode == 0, found.stderr
    (whole,) = json.loads(found.stdout)
    assert (whole["success_rate"], whole["end_state"]) == (1.0, 1.0)
    assert whole["n_multi_step_runs"] >= 4
    told = run_here(
        "export",
        "v1",
        "--to",
        "verifiers",
        "--with-template",
        "--out",
        str(tmp_path / "out"),
        home=tmp_path,
    )
    assert told.returncode == 2
    assert "The world 'board' is a server, which can't be taken along" in told.stderr
