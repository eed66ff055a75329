"""Publishing: what stays in the folder when it goes wrong."""

from pathlib import Path

import pytest

from warehouse import publish as publishing
from warehouse.errors import StoreError
from warehouse.publish import publish
from warehouse.store import Warehouse


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.is_symlink()}


def test_a_publish_that_fails_leaves_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    published = publish(warehouse, tmp_path / "published")
    before = names(tmp_path / "published")
    tables = published.parquet.resolve()
    monkeypatch.setattr(publishing, "VIEWS", (*publishing.VIEWS, "no_such_view"))
    with pytest.raises(StoreError, match="no_such_view"):
        publish(warehouse, tmp_path / "published")
    assert names(tmp_path / "published") == before
    assert published.parquet.resolve() == tables


def test_what_a_killed_publish_left_is_removed_by_the_next(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    folder = tmp_path / "published"
    left = folder / ".parquet-20260101T000000000000"
    left.mkdir(parents=True)
    (left / "tools.parquet").write_bytes(b"half")
    (folder / ".warehouse-20260101T000000000000.duckdb").write_bytes(b"half")
    (folder / ".parquet-20260101T000000000000.link").symlink_to(left.name)
    published = publish(warehouse, folder)
    assert names(folder) == {"warehouse.duckdb", ".lock", published.parquet.resolve().name}
    assert (published.parquet / "tools.parquet").is_file()
