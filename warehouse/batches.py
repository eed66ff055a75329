"""Batches: rows of a table as a file of JSON lines, which DuckDB reads in bulk by itself.

No Arrow and no data frame on the way: pyarrow would bring pandas into every worker, 100 MB for nothing.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson

from warehouse.rows import Row
from warehouse.tables import TABLES, Column

_TYPES: dict[Column, str] = {
    "text": "varchar",
    "json": "varchar",
    "whole": "bigint",
    "real": "double",
    "flag": "boolean",
    "texts": "varchar[]",
    "moment": "timestamptz",
}
_LONGEST_ROW = 1 << 24  # bytes; DuckDB's own limit, and it sets aside twice as much
_PIECE = 1 << 23  # bytes of long rows that DuckDB takes at once within its memory limit


def write_batch(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as JSON lines."""
    with path.open("wb") as file:
        for row in rows:
            file.write(orjson.dumps(row) + b"\n")


def pieces(path: Path) -> Iterator[Path]:
    """A batch in files that are small enough to be inserted one after the other; each is gone when the next one comes."""
    if path.stat().st_size <= _PIECE:
        yield path
        return
    piece = path.with_suffix(".piece")
    with path.open("rb") as batch:
        while lines := batch.readlines(_PIECE):
            piece.write_bytes(b"".join(lines))
            yield piece
    piece.unlink(missing_ok=True)


def batch_source(table: str, path: Path) -> str:
    """A batch as what an insert selects from."""
    columns = ", ".join(f"{name}: '{_TYPES[column]}'" for name, column in TABLES[table].items())
    file = str(path).replace("'", "''")
    return f"read_json('{file}', format = 'newline_delimited', columns = {{{columns}}}, maximum_object_size = {_LONGEST_ROW})"
