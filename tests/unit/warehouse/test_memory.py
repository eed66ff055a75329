"""What is asked of a warehouse fits the memory that DuckDB is given, with files beside the
warehouse where it must.
"""

from pathlib import Path

from bench.warehouse_size import fill
from callwright.flows.review.questions import set_priorities
from callwright.warehouse.engine import DatabaseLimits
from callwright.warehouse.publish import publish
from callwright.warehouse.store import Warehouse


def test_priorities_and_publishing_fit_in_256_mb_at_20_000_samples(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb", limits=DatabaseLimits(256, 2))
    fill(warehouse, 20_000, 20_000)
    set_priorities(warehouse)
    assert warehouse.rows("select count(*) as n from review_priority") == [{"n": 1000}]
    assert publish(warehouse, tmp_path / "published").database.is_file()


def test_the_lineage_of_20_000_samples_fits_in_64_mb(tmp_path: Path) -> None:
    path = tmp_path / "warehouse.duckdb"
    fill(Warehouse(path), 20_000, 0)
    warehouse = Warehouse(path, limits=DatabaseLimits(64, 2))
    assert warehouse.rows(
        "select count(ancestor) as ancestors, max(distance) as furthest from lineage"
    ) == [{"ancestors": 60_000, "furthest": 2}]


def test_a_query_may_use_files_beside_the_warehouse(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb", limits=DatabaseLimits(128, 2))
    sql = (
        "select count(*) from (select md5(range::varchar) as one, md5((range + 1)::varchar) from"
        " range(2000000) order by one)"
    )
    warehouse.execute("select 1")
    assert warehouse.query(sql)[1] == [(2000000,)]
    assert list(tmp_path.iterdir()) == [warehouse.path]
