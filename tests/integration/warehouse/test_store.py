"""The DuckDB file: what is kept, what is refused, and who waits for whom."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Timer

import pytest

from callwright.warehouse.engine import DatabaseLimits
from callwright.warehouse.errors import ConfigurationError, RecordError, StoreError
from callwright.warehouse.outcomes import outcome_row
from callwright.warehouse.publish import publish
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    Outcome,
    Sample,
    Tool,
    UserTurn,
    Verdict,
)
from callwright.warehouse.store import Warehouse
from callwright.warehouse.tables import ALL, tables

VIEWS = (
    "accepted_samples",
    "check_precision",
    "costs",
    "decisions",
    "error_types",
    "funnel",
    "latest_builds",
    "leaderboard",
    "lineage",
)


def make_tool(name: str = "weather") -> Tool:
    return Tool(
        name=name,
        description="Tell the weather.",
        parameters={"type": "object"},
        category="Weather",
    )


def make_sample(text: str = "Rain?") -> Sample:
    gold = GoldCall(tool="weather", arguments={"city": "Oslo"})
    turns = (UserTurn(text=text), CallTurn(calls=(gold,)))
    return Sample(
        kind="perfect",
        language="en",
        category="Weather",
        candidates=(make_tool().key,),
        turns=turns,
    )


def test_the_same_record_twice_is_kept_once(warehouse: Warehouse) -> None:
    warehouse.put([make_tool(), make_tool(), make_sample()])
    warehouse.put([make_tool(), make_sample()])
    assert warehouse.rows("select count(*) as n from tools") == [{"n": 1}]
    assert warehouse.rows("select count(*) as n from samples") == [{"n": 1}]


def test_a_sample_comes_back_as_it_was_put(warehouse: Warehouse) -> None:
    sample = make_sample("Wird's regnen? 会下雨吗？ \U0001f327")
    warehouse.put([sample])
    [row] = warehouse.rows("select body, key from samples")
    assert Sample.model_validate_json(row["body"]) == sample
    assert row["key"] == sample.key


@pytest.mark.parametrize(
    "text",
    [
        "''; drop table samples; --",
        "\u202eright to left",
        "\t\n\r",
        "\x00",
        "\ufffd\U0010ffff",
        "$1 ? :a",
    ],
)
def test_any_text_survives_the_bulk_insert(warehouse: Warehouse, text: str) -> None:
    warehouse.put([make_sample(text)])
    assert (
        Sample.model_validate_json(warehouse.rows("select body from samples")[0]["body"]).request
        == text
    )
    assert warehouse.rows("select request from samples") == [{"request": text}]


def test_every_table_of_the_file_has_rules_and_the_columns_that_they_name(
    warehouse: Warehouse,
) -> None:
    rows = warehouse.rows(
        "select table_name, column_name from duckdb_columns() join duckdb_tables() using"
        " (table_name)"
    )
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row["table_name"], set()).add(row["column_name"])
    assert found.keys() - {"migrations"} == tables().keys()
    for name, table in tables().items():
        assert {*table.key, *table.updated, *table.replaced} - {*ALL} <= found[name]


def test_every_table_of_the_code_has_the_key_of_the_file_or_compares_it(
    warehouse: Warehouse,
) -> None:
    rows = warehouse.rows(
        "select table_name as name, constraint_column_names as key from duckdb_constraints() where"
        " constraint_type = 'PRIMARY KEY'"
    )
    found = {row["name"]: tuple(row["key"]) for row in rows}
    keyed = {
        name: table.key for name, table in tables().items() if table.key and not table.is_compared
    }
    assert {name: found.get(name) for name in keyed} == keyed
    assert not any(tables()[name].is_compared for name in found if name in tables())


def test_threads_of_one_process_take_turns(warehouse: Warehouse) -> None:
    def work(side: int) -> None:
        for number in range(6):
            warehouse.put_rows({"build_tools": [{"build": str(side), "tool": str(number)}]})
            warehouse.rows("select count(*) from build_tools")

    with ThreadPoolExecutor(4) as sides:
        list(sides.map(work, range(4)))
    assert warehouse.rows("select count(*) as n from build_tools") == [{"n": 24}]


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_answers_on_an_empty_warehouse(warehouse: Warehouse, view: str) -> None:
    assert warehouse.rows(f"select * from {view}") == []


def test_a_transaction_that_fails_leaves_nothing(warehouse: Warehouse) -> None:
    row = outcome_row(Outcome(build="b", stage="format", subject="s", outcome="passed")) | {
        "outcome": "lost"
    }
    with pytest.raises(StoreError, match="refused"):
        warehouse.put_rows({"build_tools": [{"build": "b", "tool": "t"}], "outcomes": [row]})
    assert warehouse.rows("select * from build_tools") == []


@pytest.mark.parametrize(
    "sql",
    [
        "delete from samples",
        "create table mine (a int)",
        "copy samples to '/tmp/stolen.csv'",
        "select * from read_csv('/etc/passwd')",
        "attach ':memory:' as other; create table other.t (a int)",
        "install httpfs",
        "set enable_external_access = true",
        "selec",
    ],
)
def test_a_query_can_change_nothing_and_read_no_other_file(warehouse: Warehouse, sql: str) -> None:
    warehouse.put([make_sample()])
    with pytest.raises(ConfigurationError, match="can't be run"):
        warehouse.query(sql)
    assert warehouse.rows("select count(*) as n from samples") == [{"n": 1}]


ENDLESS = "select count(*) from range(10000000000) a, range(10000000000) b"


def test_a_query_that_takes_too_long_is_stopped(warehouse: Warehouse) -> None:
    with pytest.raises(StoreError, match=r"The query took longer than 0\.2 s"):
        warehouse.query(ENDLESS, 0.2)
    assert warehouse.query("select 1")[1] == [(1,)]


def test_ctrl_c_ends_a_query_and_is_ctrl_c(warehouse: Warehouse) -> None:
    timer = Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        warehouse.query(ENDLESS)
    assert warehouse.query("select 1")[1] == [(1,)]


def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "warehouse.duckdb"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError, match="can't be opened"):
        Warehouse(path).put([make_tool()])
    assert path.read_bytes().startswith(b"not a database")


HOLD = """
import sys, time, duckdb
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
time.sleep(float(sys.argv[2]))
"""


def test_a_writer_waits_for_another_process_and_then_goes_on(warehouse: Warehouse) -> None:
    warehouse.put([make_tool()])
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, warehouse.path, "1"], stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        warehouse.put([make_tool("second")])
    assert len(warehouse.rows("select * from tools")) == 2


def test_a_writer_gives_up_after_its_patience_and_says_what_to_do(warehouse: Warehouse) -> None:
    warehouse.put([make_tool()])
    impatient = Warehouse(warehouse.path, patience=0.3)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, warehouse.path, "30"], stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(StoreError, match=rf"stayed locked by process {holder.pid} \(.*python"):
            impatient.put([make_tool("second")])
        assert holder.poll() is None
        holder.kill()


def test_the_newest_evidence_of_an_accepted_sample_is_shown(warehouse: Warehouse) -> None:
    sample = make_sample()
    verdict = Verdict(subject=sample.key, check="grounding", decision="proved", score=1.0)
    warehouse.put([sample, verdict])
    acceptance = {
        "subject": sample.key,
        "build": "b",
        "recipe": "r",
        "grade": "proved",
        "judged_by": [],
        "accepted_by": "machine",
        "accepted_at": datetime.now(UTC),
        "withdrawn_at": None,
    }
    warehouse.put_rows({"acceptances": [acceptance]})
    [row] = warehouse.rows("select * from accepted_samples")
    assert row["grade"] == "proved"
    assert row["gold"] == '[{"tool":"weather","arguments":{"city":"Oslo"}}]'
    warehouse.execute("update acceptances set withdrawn_at = now()")
    assert warehouse.rows("select * from accepted_samples") == []


def test_a_record_that_duckdb_would_not_take_is_refused_by_its_size(warehouse: Warehouse) -> None:
    most = [
        make_sample("x" * 8_000_000),
        make_sample("\x01" * 600_000),
        make_sample("雨" * 2_500_000),
    ]
    warehouse.put(most)  # its text stands in two columns
    assert warehouse.rows("select count(*) as n from samples") == [{"n": 3}]
    for text in ("x" * 8_500_000, "\x01" * 1_600_000, "雨" * 3_000_000):
        with pytest.raises(
            RecordError,
            match=r"A Sample takes 1\d\.\d MiB in the table samples, which takes 16 MiB at most",
        ):
            warehouse.put([make_tool(), make_sample(text)])


def test_transactions_that_go_together_open_the_file_once_and_let_readers_writers_and_copies_of_the_process_in(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    impatient = Warehouse(warehouse.path, patience=0.1)
    with warehouse.together():
        warehouse.put([make_tool("one")])
        with warehouse.together():
            for (name,) in warehouse.stream("select name from tools"):
                warehouse.put([make_tool(f"{name} more")])  # who reads sees the file as it was
        assert warehouse.rows("select count(*) as n from tools") == [{"n": 2}]
        with ThreadPoolExecutor(1) as aside:
            assert aside.submit(impatient.rows, "select count(*) as n from tools").result() == [
                {"n": 2}
            ]
            aside.submit(impatient.put, [make_tool("aside")]).result()
            aside.submit(impatient.copy_to, tmp_path / "copy.duckdb").result()
        assert Warehouse(tmp_path / "copy.duckdb").rows("select count(*) as n from tools") == [
            {"n": 3}
        ]
    assert impatient.rows("select count(*) as n from tools") == [{"n": 3}]


@pytest.mark.parametrize("is_another", [False, True])
def test_what_a_thread_holds_open_is_copied_and_published_by_it(
    warehouse: Warehouse, tmp_path: Path, *, is_another: bool
) -> None:
    other = Warehouse(warehouse.path, limits=DatabaseLimits(threads=1)) if is_another else warehouse
    with warehouse.together():
        warehouse.put([make_tool()])
        found = publish(other, tmp_path / "published").database
        assert Warehouse(found).rows("select name from tools") == [{"name": "weather"}]
        assert Warehouse(found).is_copy_of(warehouse)
    assert Warehouse(found).is_copy_of(warehouse)
    with warehouse.reading_together():
        publish(other, tmp_path / "published")


def test_a_copy_that_a_transaction_makes_is_the_file_before_it(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    with warehouse.together():
        warehouse.put([make_tool()])
        with warehouse.writing() as connection:
            connection.execute("delete from tools")
            warehouse.copy_to(tmp_path / "copy.duckdb")
        assert warehouse.rows("from tools") == []
    assert Warehouse(tmp_path / "copy.duckdb").rows("select name from tools") == [
        {"name": "weather"}
    ]


def wait_for_itself(warehouse: Warehouse, what: str) -> None:
    other = Warehouse(warehouse.path)
    match what:
        case "write while it reads":
            with other.reading_together():
                warehouse.put([make_tool("second")])
        case "write while it streams":
            for _ in other.stream("select name from tools"):
                warehouse.put([make_tool("second")])
        case "a query while it writes":
            with warehouse.together():
                other.query("from tools")


@pytest.mark.parametrize(
    "what", ["write while it reads", "write while it streams", "a query while it writes"]
)
def test_who_would_wait_for_itself_is_refused_at_once(warehouse: Warehouse, what: str) -> None:
    warehouse.put([make_tool()])
    with pytest.raises(StoreError, match="wait for itself"):
        wait_for_itself(warehouse, what)
    assert warehouse.rows("select name from tools") == [{"name": "weather"}]


def test_transactions_that_read_together_open_the_file_once_as_others_may_and_write_nothing(
    warehouse: Warehouse,
) -> None:
    warehouse.put([make_tool()])
    with warehouse.reading_together(), ThreadPoolExecutor(1) as aside:
        assert warehouse.rows("select name from tools") == [{"name": "weather"}]
        with warehouse.reading_together():
            assert list(warehouse.stream("select name from tools")) == [("weather",)]
        impatient = Warehouse(warehouse.path, patience=0.1)

        def read() -> list[dict[str, object]]:
            with impatient.reading_together():
                return impatient.rows("select name from tools")

        assert aside.submit(read).result() == [{"name": "weather"}]
        with pytest.raises(StoreError, match="wait for itself"):
            warehouse.put([make_tool("second")])
    warehouse.put([make_tool("third")])
    assert len(warehouse.rows("select name from tools")) == 2


def test_a_view_that_is_worked_out_once_gives_what_it_gives_and_is_gone_afterwards(
    warehouse: Warehouse,
) -> None:
    warehouse.put([make_tool()])
    asked = {
        "twice": ("select count(*) as n from latest_builds", ()),
        "again": ("from latest_builds", ()),
    }
    row = {
        "key": "b",
        "recipe": "r",
        "body": "{}",
        "started_at": datetime.now(UTC),
        "finished_at": None,
    }
    for known in (0, 1):
        found = warehouse.rows_by_name(asked, worked_out=["latest_builds"])
        assert found == warehouse.rows_by_name(asked)
        assert found["twice"] == [{"n": known}]
        warehouse.put_rows({"builds": [row]})


def test_a_failure_among_transactions_that_go_together_leaves_what_was_done_and_lets_others_in(
    warehouse: Warehouse,
) -> None:
    with warehouse.together():
        warehouse.put([make_tool("one")])
        with pytest.raises(StoreError, match="refused"):
            warehouse.execute("insert into tools (key) values ('half a row')")
    assert Warehouse(warehouse.path, patience=0.1).rows("select name from tools") == [
        {"name": "one"}
    ]
