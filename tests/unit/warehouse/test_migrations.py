"""What this version makes of a file: one that it wrote, an older one, a newer one, a foreign one."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from callwright.warehouse import store
from callwright.warehouse.errors import StoreError
from callwright.warehouse.publish import published_or_copied
from callwright.warehouse.store import Warehouse

ADDED = """
-- Notes of people on builds.
create table build_notes (build varchar primary key, note varchar not null);
alter table builds add column owner varchar default 'nobody';
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A warehouse of this version with one build, closed."""
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    warehouse.put_rows(
        {"builds": [{"key": "b", "recipe": "r", "body": "{}", "started_at": "2026-03-01"}]}
    )
    return warehouse.path


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A version with one migration after the baseline, and with one view less."""
    read = store._read_scripts

    def with_one_more(folder: str) -> dict[str, str]:
        scripts = read(folder)
        if folder == "migrations":
            return scripts | {"0002_notes.sql": ADDED}
        return {name: sql for name, sql in scripts.items() if "_lineage" not in name}

    monkeypatch.setattr(store, "_read_scripts", with_one_more)
    store._latest.cache_clear()
    yield
    store._latest.cache_clear()


def names(warehouse: Warehouse, sql: str) -> set[str]:
    return {row["name"] for row in warehouse.rows(sql)}


@pytest.mark.usefixtures("path", "next_version")
def test_a_later_migration_is_applied_once_and_what_is_there_stays(path: Path) -> None:
    assert not Warehouse(path).is_current()
    assert Warehouse(path).rows("select key, owner from builds") == [
        {"key": "b", "owner": "nobody"}
    ]
    warehouse = Warehouse(path)
    assert warehouse.is_current()
    done = names(warehouse, "select name from migrations where not starts_with(name, 'views ')")
    assert done == {"0001_baseline.sql", "0002_notes.sql"}
    told = "select comment from duckdb_tables() where table_name = 'build_notes'"
    assert warehouse.rows(told) == [{"comment": "Notes of people on builds."}]
    views = names(warehouse, "select view_name as name from duckdb_views() where not internal")
    assert "leaderboard" in views
    assert "lineage" not in views


def old(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("delete from migrations")
    connection.execute("insert into migrations (name) values ('0001_spine.sql'), ('views x')")


def newer(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("insert into migrations (name) values ('9999_future.sql')")


def foreign(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("drop table migrations")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (old, "before 1.0.*callwright export RELEASE --to records.*build again"),
        (newer, "newer version of callwright.*9999_future.*Update callwright"),
        (foreign, "not a warehouse of callwright. Move it away"),
    ],
)
def test_a_file_that_this_version_cannot_read_is_refused_and_left_as_it_is(
    path: Path, change, told: str
) -> None:
    with duckdb.connect(str(path)) as connection:
        change(connection)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=told) as refused:
        Warehouse(path).rows("select 1")
    assert str(path) in str(refused.value)
    with pytest.raises(StoreError, match=told):
        Warehouse(path).put_rows({"build_tools": [{"build": "b", "tool": "t"}]})
    with (
        pytest.raises(StoreError, match=f"{path} .*{told}"),
        published_or_copied(Warehouse(path), path.parent / "published"),
    ):
        pass
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]
