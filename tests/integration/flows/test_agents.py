"""The MCP server for agents: it reads unless writing is allowed, keeps below its folder, runs no
code of a recipe, and answers with what the command line says, short and by a schema.
"""

import asyncio
import hashlib
import json
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from mcp import Client

import callwright
from callwright.flows.agents.folder import AgentFolder
from callwright.flows.agents.serving import make_server
from callwright.flows.agents.tools import agent_tools
from tests.support.flows.scripted_agent import API, page, server_process, transcript
from tests.support.flows.small_builds import ONE_WORKER, TOP, run_here

READING = {tool.name for tool in agent_tools() if not tool.changes}
UNMEASURED_RECIPE = {
    "name": "shop",
    "tools": [{"import": "openapi", "path": "api.yaml"}],
    "samples": {"perfect": 3},
    "readers": {"planted": 0},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent's folder with an API's document and a recipe, in which this process stands."""
    place = tmp_path / "mine"
    place.mkdir()
    (place / "api.yaml").write_bytes(API.read_bytes())
    write(place / "recipe.yaml", **UNMEASURED_RECIPE)
    monkeypatch.chdir(place)
    monkeypatch.delenv("CALLWRIGHT_HOME", raising=False)
    for name, value in ONE_WORKER.items():
        monkeypatch.setenv(name, value)
    return place.resolve()


def write(path: Path, **recipe: Any) -> Path:
    path.write_text(yaml.safe_dump(recipe), encoding="utf-8")
    return path


@asynccontextmanager
async def served(folder: Path, *, may_write: bool = True) -> AsyncIterator[Client]:
    async with Client(make_server(AgentFolder(folder, may_write))) as client:
        yield client


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error, answer.content
    return str(answer.content[0].text)  # type: ignore[union-attr]


async def found(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return dict(answer.structured_content)


def contents(folder: Path) -> dict[str, str]:
    files = (one for one in folder.rglob("*") if one.is_file())
    return {str(one): hashlib.sha256(one.read_bytes()).hexdigest() for one in files}


async def test_what_changes_nothing_is_offered_and_changes_nothing(folder: Path) -> None:
    callwright.build(folder / "recipe.yaml", workers=1)
    callwright.create_release("v1")
    before = contents(folder)
    async with served(folder, may_write=False) as client:
        listed = (await client.list_tools()).tools
        assert {tool.name for tool in listed} == READING
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed)
        assert (await found(client, "check_tools", files=["api.yaml"], try_samples=False))["tools"]
        assert (await found(client, "check_recipe", recipe="recipe.yaml"))["is_valid"]
        assert (await found(client, "estimate", recipe="recipe.yaml", limit=1))["planned"] == 1
        assert (await found(client, "funnel"))["rows"]
        [sample] = (await found(client, "samples", limit=1))["samples"]
        assert sample["calls"]
        assert sample["grade"] == "judged"
        [[name, *_]] = (await found(client, "releases"))["rows"]
        assert name == "v1"
        counted = await found(client, "query", sql="select count(*) as n from accepted_samples")
        assert (counted["columns"], counted["rows"]) == (["n"], [[3]])
        told = await refusal(client, "build", recipe="recipe.yaml")
        assert "--allow-writes" in told
    assert contents(folder) == before


async def test_what_a_model_reads_of_a_tool_says_what_it_takes_and_gives(folder: Path) -> None:
    async with served(folder) as client:
        listed = (await client.list_tools()).tools
    assert {tool.name for tool in listed} == {tool.name for tool in agent_tools()}
    for tool in listed:
        assert 40 < len(tool.description or "") < 1200, tool.name
        assert tool.output_schema is not None
        for schema in (tool.input_schema, tool.output_schema):
            jsonschema.Draft202012Validator.check_schema(schema)
        inputs = tool.input_schema["properties"]
        assert all(one.get("description") for one in inputs.values()), tool.name
    [told] = [tool.description or "" for tool in listed if tool.name == "query"]
    views = " ".join(told.split()).partition("Useful views: ")[2].rstrip(".").split(", ")
    async with served(folder) as client:
        shown = await found(client, "query", sql="show tables", limit=1000)
    assert {*views} <= {name for (name,) in shown["rows"]}
    assert len(views) > 5


async def test_a_transcript_of_the_page_is_what_an_agent_sees(tmp_path: Path) -> None:
    made = await transcript(tmp_path)
    async with Client(server_process(tmp_path)) as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
    assert {tool for tool, *_ in made} > READING - {"check_recipe", "releases"}
    for tool, _, answer, told in made:
        if tool in schemas:
            jsonschema.validate(answer, schemas[tool])
        assert tool not in ("build", "evaluate") or told, "long work tells how far it is"
    by_tool = {tool: answer for tool, _, answer, _ in made}
    assert by_tool["create_release"]["samples"] == by_tool["build"]["accepted"] > 9
    assert (tmp_path / "exports" / "v1-records" / "train.jsonl").is_file()
    text = (TOP / "docs" / "agents.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```text\n(> .*?)```", text, re.DOTALL)
    assert shape(block) == shape(page(made)), "python -m tests.support.flows.scripted_agent"


def shape(text: str) -> list[str]:
    """The lines of a transcript without what another build may change: numbers, keys and words."""
    lines = [re.sub(r'"[^"]*"(?!:)|\d+(\.\d+)?|…[^\]]*', "", line) for line in text.splitlines()]
    return [
        line if line.startswith(">") else line.partition(":")[0] for line in lines if line.strip()
    ]


ELSEWHERE = [
    "../api.yaml",
    "/etc/hostname",
    "sub/../../mine/../secret.yaml",
    "linked.yaml",
    "links",
]


@pytest.fixture
def outside(folder: Path) -> Path:
    """A file beside the folder, and links to it within."""
    secret = write(folder.parent / "secret.yaml", **UNMEASURED_RECIPE)
    (folder / "linked.yaml").symlink_to(secret)
    (folder / "links").mkdir()
    (folder / "links" / "data.jsonl").symlink_to(secret)
    return secret


@pytest.mark.parametrize("stated", ELSEWHERE)
@pytest.mark.usefixtures("outside")
async def test_no_path_leads_out_of_the_folder(stated: str, folder: Path) -> None:
    before = contents(folder.parent)
    async with served(folder) as client:
        for tool, arguments in (
            ("check_recipe", {"recipe": stated}),
            ("estimate", {"recipe": stated}),
            ("write_recipe", {"recipe": stated, "text": "name: x"}),
            ("audit", {"files": [stated]}),
            ("check_tools", {"files": [stated]}),
            ("export", {"release": "v1", "to": "openai", "out": stated}),
        ):
            told = await refusal(client, tool, **arguments)
            assert "is not in the folder" in told, (tool, told)
    assert contents(folder.parent) == before


@pytest.mark.parametrize("stated", ["a\0b", "x" * 5000, "~/x.yaml", "nothing.yaml", "sub"])
async def test_a_name_that_names_no_file_is_told(stated: str, folder: Path) -> None:
    (folder / "sub").mkdir()
    async with served(folder) as client:
        for tool, arguments in (
            ("estimate", {"recipe": stated}),
            ("audit", {"files": [stated]}),
            ("check_tools", {"files": [stated]}),
        ):
            assert await refusal(client, tool, **arguments)


async def test_hidden_files_are_left_alone(folder: Path) -> None:
    (folder / ".github").mkdir()
    async with served(folder) as client:
        for name in (".env", ".github/run.yaml", ".callwright/x.yaml"):
            told = await refusal(client, "write_recipe", recipe=name, text="name: x")
            assert told == f"{name!r} is hidden. Name a file that is not."
    assert not (folder / ".env").exists()


async def test_what_a_recipe_names_elsewhere_is_not_read_and_nothing_is_written_there(
    folder: Path, outside: Path
) -> None:
    tools, vault = UNMEASURED_RECIPE["tools"], "../vault.jsonl"
    personal = {"mode": "on", "vault": vault}
    source = [{"from": "api.yaml", "format": "openai"}]
    recipes = {
        "absolute": {"tools": [{"import": "openapi", "path": str(outside)}]},
        "above": {"tools": [{"import": "openapi", "path": "../secret.yaml"}]},
        "linked": {"tools": [{"import": "openapi", "path": "linked.yaml"}]},
        "in a folder": {"tools": [{"import": "openapi", "path": "links"}]},
        "values": {"tools": tools, "values": {"genre": {"file": "../secret.yaml"}}},
        "prompt": {"tools": tools, "prompts": {"word_request": "../secret.yaml"}},
        "vault": {"tools": tools, "personal_data": personal, "samples": [{"perfect": 1}, *source]},
    }
    async with served(folder) as client:
        for name, changes in recipes.items():
            write(folder / "other.yaml", **UNMEASURED_RECIPE | changes)
            for tool in ("check_recipe", "estimate", "build"):
                told = await refusal(client, tool, recipe="other.yaml")
                assert "is not in the folder" in told, (name, told)
    assert not (folder.parent / "vault.jsonl").exists()


async def test_code_of_a_recipe_is_not_run_and_live_servers_only_where_writing_is_allowed(
    folder: Path,
) -> None:
    (folder / "own.py").write_text("open('ran', 'w').close()\ncheck = None\n", encoding="utf-8")
    mcp = {"environment": "mcp", "command": ["touch", "ran"]}
    http = {"environment": "http", "path": "api.yaml", "base_url": "http://127.0.0.1:9"}
    async with served(folder, may_write=True) as client:
        write(folder / "other.yaml", **UNMEASURED_RECIPE, extensions=["own.py:check"])
        for tool in ("check_recipe", "estimate", "build", "preview"):
            assert "runs Python files." in await refusal(client, tool, recipe="other.yaml")
        write(folder / "other.yaml", **UNMEASURED_RECIPE | {"tools": [mcp]})
        assert "by its command" in await refusal(client, "check_recipe", recipe="other.yaml")
        text = yaml.safe_dump(UNMEASURED_RECIPE | {"tools": [mcp]})
        assert "by its command" in await refusal(
            client, "write_recipe", recipe="new.yaml", text=text
        )
        told = await refusal(client, "evaluate", release="v1", model=["own.py:check"])
        assert told.startswith("'own.py:check' is a Python function.")
        assert "no export format" in await refusal(
            client, "export", release="v1", to="own.py:check"
        )
    async with served(folder, may_write=False) as client:
        write(folder / "other.yaml", **UNMEASURED_RECIPE | {"tools": [http]})
        assert "asks a live server" in await refusal(client, "check_recipe", recipe="other.yaml")
    assert not (folder / "ran").exists()
    assert not (folder / "new.yaml").exists()


async def test_errors_are_the_sentences_of_the_command_line(folder: Path) -> None:
    write(folder / "wrong.yaml", name="x", tols=[])
    async with served(folder) as client:
        checked = await found(client, "check_recipe", recipe="wrong.yaml")
        assert not checked["is_valid"]
        assert any("did you mean tools?" in one for one in checked["mistakes"])
        assert "wrong.yaml:" in await refusal(client, "build", recipe="wrong.yaml")
        assert (
            "no release"
            in (await refusal(client, "evaluate", release="v9", model=["template/v1"])).casefold()
        )
        assert "There is no export format 'x'" in await refusal(
            client, "export", release="v1", to="x"
        )
        assert "on accepted samples" in await refusal(client, "samples", where="nothing = 1")
        assert await refusal(client, "funnel") == "There is no build of any recipe yet."
        told = await refusal(client, "query", sql="select 1", rows=2)
        assert told == "'rows' is no parameter. The parameters are sql, limit, timeout."
        assert "less than or equal to 1000" in await refusal(client, "query", sql="x", limit=9999)
        assert "There is no tool 'drop'" in await refusal(client, "drop")


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("drop table samples", "can't be run"),
        ("select * from read_csv('/etc/passwd')", "can't be run"),
        ("copy (select 1) to 'out.csv'", "can't be run"),
        ("attach 'x.duckdb'", "can't be run"),
        ("select count(*) from range(100000000000) a, range(100000) b", "took longer"),
    ],
)
async def test_a_query_changes_nothing_reads_nothing_else_and_ends(
    sql: str, told: str, folder: Path
) -> None:
    async with served(folder) as client:
        assert re.search(told, await refusal(client, "query", sql=sql, timeout=0.5)), told
    assert not (folder / "out.csv").exists()


async def test_answers_are_short_and_say_what_is_missing(folder: Path) -> None:
    async with served(folder) as client:
        rows = await found(client, "query", sql="select range as n from range(5000)", limit=7)
        assert (len(rows["rows"]), rows["has_more"]) == (7, True)
        long = await found(client, "query", sql="select repeat('ab', 90000) as text", limit=1)
        assert long["rows"][0][0].endswith("… (180000 characters)")
        odd = "select (9223372036854775807::hugeint + 1) as a, 'nan'::double as b, date '2026-01-02' as c, map {1: 2} as d"
        [row] = (await found(client, "query", sql=odd))["rows"]
        assert row == [2**63, None, "2026-01-02", {"1": 2}]
        wide = "select repeat('ab', 500) as a, range as n from range(1000)"
        cut = await found(client, "query", sql=wide, limit=1000)
        assert len(json.dumps(cut)) < 50_000
        assert cut["shortened"] == [f"rows: {len(cut['rows'])} of 1,000 entries"]


def test_a_client_that_has_gone_ends_the_server_without_a_word(folder: Path) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a", "version": "1"},
    }
    asked = [
        {"jsonrpc": "2.0", "id": at, "method": "initialize", "params": hello} for at in (1, 2, 3)
    ]
    parameters = server_process(folder)
    with subprocess.Popen(
        [parameters.command, *parameters.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=parameters.env,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(f"{json.dumps(asked[0])}\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "callwright"
        process.stdout.close()
        for one in asked[1:]:
            process.stdin.write(f"{json.dumps(one)}\n")
        process.stdin.close()
        assert (process.wait(30), process.stderr.read()) == (0, "")


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = run_here("mcp", str(tmp_path / "nowhere"), home=tmp_path)
    assert (done.returncode, "There is no folder" in done.stderr) == (2, True)


async def test_work_that_is_cancelled_stops_and_goes_on_when_it_is_asked_again(
    folder: Path,
) -> None:
    write(
        folder / "large.yaml", **UNMEASURED_RECIPE | {"samples": {"perfect": 60}, "shard_size": 5}
    )
    begun = asyncio.Event()

    async def hear(_at: float, _of: float | None, message: str | None) -> None:
        if re.search(r": [1-9]\d* of", message or ""):
            begun.set()

    async with served(folder) as client:
        building = asyncio.create_task(
            client.call_tool("build", {"recipe": "large.yaml"}, progress_callback=hear)
        )
        await asyncio.wait_for(begun.wait(), 60)
        building.cancel()
        with pytest.raises(asyncio.CancelledError):
            await building
        asked = "select count(*) from builds where finished_at is null"
        assert (await found(client, "query", sql=asked))["rows"] == [[1]], (
            "another call is answered"
        )
        again = await found(client, "build", recipe="large.yaml")
        assert again["accepted"] > 50
        assert (await found(client, "query", sql=asked))["rows"] == [[0]]
