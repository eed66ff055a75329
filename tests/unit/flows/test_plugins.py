"""Rows of files of one's own: added to the table of their class, or refused with their place."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from callwright.flows.plugins import add_from_file, tables
from callwright.warehouse.errors import ConfigurationError

IMPORTER = """
from callwright.generators.catalogs.catalog import Catalog, CatalogFormat

NOTHING = CatalogFormat("nothing", lambda path: Catalog(tools=(), entries=0, distinct=0))
NUMBER = 3
"""


@pytest.fixture(autouse=True)
def as_they_were() -> Iterator[None]:
    """Rows stay until the process ends: other tests of this one must not meet them."""
    yield
    for table in tables():
        table.clear()


def test_what_is_no_row_of_any_table_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(IMPORTER)
    wrong = (
        r"own.py:5: 'NUMBER' is a int; it must be one of Family, Check, Format, TableFormat,"
        r" SampleFormat, CatalogFormat"
    )
    with pytest.raises(ConfigurationError, match=wrong):
        add_from_file(tmp_path / "own.py", "NUMBER")
