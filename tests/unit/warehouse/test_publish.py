"""Publishing: what stays in the folder when it goes wrong."""

import os
import random
import resource
import time
from pathlib import Path

import duckdb
import pytest

from bench.warehouse_size import fill
from callwright.warehouse import publish as publishing
from callwright.warehouse.comments import list_views
from callwright.warehouse.errors import StoreError
from callwright.warehouse.publish import (
    build_under_way,
    is_build_under_way,
    publish,
    publish_when_due,
    published_or_copied,
)
from callwright.warehouse.store import Warehouse
from tests.support.warehouse.fixtures import make_tool


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.is_symlink()}


def test_a_publish_that_fails_leaves_no_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    published = publish(warehouse, tmp_path / "published")
    before = names(tmp_path / "published")
    tables = published.parquet.resolve()
    monkeypatch.setattr(publishing, "list_views", lambda _: ["no_such_view"])
    with pytest.raises(StoreError, match="no_such_view"):
        publish(warehouse, tmp_path / "published")
    assert names(tmp_path / "published") == before
    assert published.parquet.resolve() == tables


def test_what_a_killed_publish_left_is_removed_by_the_next(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    folder = tmp_path / "published"
    left = folder / ".unfinished-.parquet-20260101T000000000000"
    (left / "parquet").mkdir(parents=True)
    (left / "parquet" / "tools.parquet").write_bytes(b"half")
    (left / "warehouse.duckdb").write_bytes(b"half")
    published = publish(warehouse, folder)
    assert names(folder) == {"warehouse.duckdb", ".lock", published.parquet.resolve().name}
    assert (published.parquet / "tools.parquet").is_file()


def test_whoever_found_the_files_of_the_last_publication_goes_on_reading_them(
    tmp_path: Path,
) -> None:
    warehouse, folder = Warehouse(tmp_path / "warehouse.duckdb"), tmp_path / "published"
    found = [publish(warehouse, folder).parquet.resolve() for _ in range(3)]
    assert [(one / "tools.parquet").is_file() for one in found] == [False, True, True]


def test_publishing_is_due_when_its_minutes_have_passed_since_the_beginning_or_the_last_time(
    tmp_path: Path,
) -> None:
    warehouse, folder = Warehouse(tmp_path / "warehouse.duckdb"), tmp_path / "published"
    began, long_ago = time.time(), time.time() - 601
    publish_when_due(warehouse, folder, 10.0, began)
    assert not folder.exists()
    publish_when_due(warehouse, folder, 10.0, long_ago)
    link = folder / "parquet"
    first = link.readlink()
    publish_when_due(warehouse, folder, 10.0, long_ago)
    assert link.readlink() == first
    os.utime(link, (long_ago, long_ago), follow_symlinks=False)
    publish_when_due(warehouse, folder, 10.0, began)
    assert link.readlink() != first


@pytest.mark.parametrize(
    "room", [100_000, 4_000_000]
)  # not enough for the database, or for it alone
def test_a_publish_without_room_says_so_and_the_last_one_stays(tmp_path: Path, room: int) -> None:
    warehouse, folder = Warehouse(tmp_path / "warehouse.duckdb"), tmp_path / "published"
    shown = publish(warehouse, folder)
    warehouse.put([make_tool("one")])
    warehouse.put(
        [
            make_tool(f"{number}", description=f"{random.Random(number).randbytes(9000).hex()}")
            for number in range(300)
        ]
    )
    before, database = names(folder), shown.database.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        with pytest.raises(StoreError):
            publish(warehouse, folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (names(folder), shown.database.read_bytes()) == (before, database)
    assert publish(warehouse, folder).database.read_bytes() != database


def test_what_was_published_is_read_as_long_as_nothing_is_written(tmp_path: Path) -> None:
    warehouse, folder = Warehouse(tmp_path / "warehouse.duckdb"), tmp_path / "published"
    publish(warehouse, folder)
    with published_or_copied(warehouse, folder) as read:
        assert read.warehouse.path.parent == folder
    warehouse.put([make_tool("new")])
    with published_or_copied(warehouse, folder) as read:
        assert read.warehouse.rows("select name from tools") == [{"name": "new"}]
        assert read.warehouse.path.parent not in {folder, tmp_path}
        warehouse.put([make_tool("newer")])  # nobody waits for who reads
    with published_or_copied(warehouse, folder, may_be_older=True) as read:
        assert read.warehouse.rows("select name from tools") == []
    assert names(tmp_path) == {"warehouse.duckdb", "published"}


def test_a_copy_that_a_killed_reader_left_is_removed_by_the_next(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    warehouse.put([make_tool("one")])
    (tmp_path / ".reading-left").mkdir()
    (tmp_path / ".reading-left" / "warehouse.duckdb").write_bytes(b"half")
    with published_or_copied(warehouse, tmp_path / "published"):
        assert not (tmp_path / ".reading-left").exists()


def test_a_published_file_is_written_for_older_clients(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    warehouse.put([make_tool("one")])
    database = publish(warehouse, tmp_path / "published").database
    with duckdb.connect(str(database), read_only=True) as read:
        version = (
            "select tags['storage_version'] from duckdb_databases() where database_name ="
            " current_database()"
        )
        assert read.execute(version).fetchall() == [("v1.4.0+",)]
    assert database.stat().st_mtime_ns == warehouse.path.stat().st_mtime_ns


def test_a_copy_of_many_samples_holds_the_rows_of_the_views_that_scan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse, folder = Warehouse(tmp_path / "warehouse.duckdb"), tmp_path / "published"
    fill(warehouse, 200, 200)
    monkeypatch.setattr(publishing, "MANY", 100)
    scanning = list_views("answered_ahead")
    with duckdb.connect(str(publish(warehouse, folder).database), read_only=True) as read:
        for view in scanning:
            found = f"select * from {view} order by all"
            assert read.execute(found).fetchall() == [
                tuple(row.values()) for row in warehouse.rows(found)
            ], view
        there = (
            "select count(*), count(comment) from duckdb_tables() where list_contains(?,"
            " table_name)"
        )
        assert read.execute(there, [scanning]).fetchall() == [(len(scanning), len(scanning))]
        assert read.execute(
            "select count(*) from duckdb_columns() where not internal and comment is null"
        ).fetchall() == [(0,)]
    with published_or_copied(warehouse, folder) as reading:
        assert reading.warehouse.path.parent == folder


def test_a_build_is_known_to_be_under_way(tmp_path: Path) -> None:
    assert not is_build_under_way(tmp_path)
    with build_under_way(tmp_path), build_under_way(tmp_path):
        assert is_build_under_way(tmp_path)
    assert not is_build_under_way(tmp_path)
