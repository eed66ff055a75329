"""Names that mean something to SQL or JSON paths: every view and named query runs where tools,
parameters and answers have them.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import duckdb
import pytest

from callwright.warehouse.outcomes import outcome_row
from callwright.warehouse.queries import sql, statements
from callwright.warehouse.records import Call, CallTurn, GoldCall, Outcome, Sample, Tool, UserTurn
from callwright.warehouse.store import Warehouse
from tests.integration.warehouse.test_queries import APART, PARTS, TOPICS, part_names
from tests.support.flows.answer_boards import NOW, Board

NAMES = (
    "$",
    "$ref",
    "$filter",
    "$.a",
    "$[*]",
    "/",
    "/a",
    "~",
    "~1",
    "*",
    "a.b",
    "a[0]",
    "[0]",
    "]",
    "{}",
    "'",
    '"',
    "`",
    "''",
    '\\"',
    "\\",
    "\\u0024",
    "",
    " ",
    "\t",
    "line\nline",
    "\r",
    "名字",
    "\u202eevil",
    "--",
    "; drop table tools",
    "?",
    "%",
    "_",
    "x" * 2_000,
)
# JSON functions whose path is no constant; a number within a constant is none of anybody's names.
PATH = re.compile(
    r"(?:json_(?:extract|extract_string|value|exists|keys|type|array_length)\(\s*[\w.]+(?:\s*->>?\s*'[^']*')?,\s*|->>?\s*)([^\s,)}]+)"
)
NUMBERED = re.compile(r"->> \('\$\.(turns\[|checks\.largest_)' \|\|")


def call_of(tool: str, value: object) -> dict[str, object]:
    return {"tool": tool, "arguments": dict.fromkeys(NAMES, value) | {"value": "'$ref'"}}


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    """A landed build and its release, evaluated: whatever has a name has a hostile one."""
    board = Board(tmp_path_factory.mktemp("hostile"))
    schema = {name: {"type": "string", "description": name} for name in NAMES}
    tools = [
        Tool(
            name=name,
            description=f"It is {name}.",
            category=name or "$",
            parameters={"type": "object", "properties": schema, "required": list(NAMES)},
        )
        for name in NAMES[:-1]
        if name.strip()
    ]
    samples = [
        Sample(
            kind="perfect",
            language="en",
            category=tool.category,
            candidates=tuple(one.key for one in tools),
            turns=(
                UserTurn(text=f"Use {tool.name}"),
                CallTurn(calls=(GoldCall.model_validate(call_of(tool.name, 1)),)),
            ),
        )
        for tool in tools
    ]
    board.warehouse.put(tools)
    build = {
        "key": "b",
        "recipe": "r",
        "body": '{"samples": {"perfect": 9, "$kind": 3}, "models": {}}',
        "started_at": NOW,
        "finished_at": datetime.now(UTC),
        "is_trial": False,
    }
    board.warehouse.put_rows(
        {
            "builds": [build],
            "build_tools": [{"build": "b", "tool": tool.key} for tool in tools],
            "build_samples": [
                {"build": "b", "sample": sample.key, "draft": sample.key} for sample in samples
            ],
        }
    )
    with board.warehouse.together():
        board.release(*samples)
        landed = [
            Outcome(build="b", stage="land", subject=one.key, outcome="passed") for one in samples
        ]
        board.warehouse.put_rows({"outcomes": [outcome_row(one, NOW) for one in landed]})
        for sample, tool in zip(samples, tools, strict=True):
            wrong = (Call.model_validate(call_of(tool.name, "$ref")),)
            board.answer(sample, wrong, wrong, (Call.model_validate(call_of("$", "'")),))
        yield board


def views() -> list[str]:
    folder = files("callwright.warehouse").joinpath("views")
    scripts = [
        file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".sql")
    ]
    return sorted(
        name for script in scripts for name in re.findall(r"create or replace view (\w+)", script)
    )


@pytest.mark.parametrize("view", views())
def test_every_view_runs(board: Board, view: str) -> None:
    columns = {row["column_name"] for row in board.warehouse.rows(f"describe {view}")}
    assert all(row.keys() == columns for row in board.warehouse.rows(f"select * from {view}"))


def test_views_count_by_the_names_as_they_are(board: Board) -> None:
    found = board.warehouse.rows(
        "select distinct parameter from parameter_coverage where n_given = n_calls and n_calls > 0"
    )
    assert {row["parameter"] for row in found} == {*NAMES}
    suspects = board.warehouse.rows("select n_agreeing, answer from suspects")
    assert len(suspects) == len(NAMES[:-1]) - 4  # four are blank
    assert {row["n_agreeing"] for row in suspects} == {2}
    assert all(f"{name}=$ref" in row["answer"] for row in suspects for name in NAMES)
    assert board.suspects()


def values_for(statement: str, keys: list[str]) -> dict[str, object]:
    """A value for each parameter, lists of samples where it is a list."""
    known = duckdb.extract_statements(statement)[0].named_parameters
    bare = re.sub(r"--[^\n]*|'[^']*'", "", statement)
    marks = re.findall(r"(?:\?|\$(\w+))(::\w+\[\])?", bare)
    values = {
        name or str(place): keys if is_list else "v1"
        for place, (name, is_list) in enumerate(marks, 1)
    }
    return {name: values[name] for name in known}


def run_query(warehouse: Warehouse, statement: str, values: dict[str, object]) -> bool:
    """Run a statement and take back what it did, and tell whether it ran; what is no text there
    is null.
    """
    has_run = False
    for given in (values, dict.fromkeys(values)):
        with suppress(InterruptedError), warehouse.writing() as connection:
            try:
                in_order = [
                    given[name] for name in sorted(given, key=lambda name: (len(name), name))
                ]
                connection.execute(
                    statement, given if re.search(r"\$\w", statement) else in_order
                ).fetchall()
            except (
                duckdb.ConversionException,
                duckdb.BinderException,
                duckdb.InvalidInputException,
                duckdb.ConstraintException,
            ):
                assert given is values
            else:
                has_run = True
            raise InterruptedError
        if has_run:
            break
    return has_run


@pytest.mark.parametrize("topic", TOPICS)
def test_every_named_query_runs(board: Board, topic: str) -> None:
    keys = [row["key"] for row in board.warehouse.rows("select key from samples")]
    for name in statements(topic).keys() - part_names():
        columns = {"answers.grades": "g.key", "path_runs.results": "success"}.get(name, "key")
        whole = sql(name, **PARTS, columns=columns)
        if not APART.search(whole):
            assert run_query(board.warehouse, whole, values_for(whole, keys)), name


def test_no_sql_has_a_name_in_a_json_path() -> None:
    root = Path(str(files("callwright.warehouse")))
    found = [
        (file.name, path)
        for file in [*root.glob("views/*.sql"), *root.glob("queries/*.sql")]
        for path in PATH.findall(
            NUMBERED.sub("", re.sub(r"--[^\n]*", "", file.read_text(encoding="utf-8")))
        )
        if not re.fullmatch(r"'[^']*'(?:::\w+)?", path)
    ]
    assert found == []
