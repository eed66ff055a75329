"""Whoever reads what is published, again and again, meets no error and no half state while it is
replaced a hundred times.
"""

import subprocess
import sys
from pathlib import Path

from callwright.warehouse.publish import publish
from callwright.warehouse.store import Warehouse
from tests.support.warehouse.fixtures import make_tool

TIMES = 100
READING = """
import sys, time, duckdb
from pathlib import Path

folder, reads, most = Path(sys.argv[1]), 0, 0
while not (folder.parent / "over").exists():
    with duckdb.connect(str(folder / "warehouse.duckdb"), read_only=True) as published:
        seen = published.execute("select (select count(*) from tools), (select count(distinct name) from tools)").fetchall()[0]
    files = (folder / "parquet").resolve()
    rows = duckdb.sql(f"select count(*), count(distinct name) from '{files}/tools.parquet'").fetchall()[0]
    assert seen[0] == seen[1] and rows[0] == rows[1], (seen, rows)
    assert seen[0] >= most, "an older state after a newer one"
    most, reads = seen[0], reads + 1
print(reads, most)
"""


def test_a_hundred_publications_under_a_reader(tmp_path: Path) -> None:
    warehouse, folder = Warehouse(tmp_path / "warehouse.duckdb"), tmp_path / "published"
    publish(warehouse, folder)
    with subprocess.Popen(
        [sys.executable, "-c", READING, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as reader:
        for number in range(TIMES):
            warehouse.put([make_tool(f"tool {number}")])
            publish(warehouse, folder)
        (tmp_path / "over").touch()
        printed, errors = reader.communicate(timeout=60)
    assert reader.returncode == 0, errors.decode()
    reads, most = map(int, printed.split())
    assert reads > TIMES / 2
    assert 0 < most <= TIMES
