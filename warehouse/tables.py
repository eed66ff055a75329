"""The tables: what happens to a second row with the same key.

Migrations create them, and a bulk insert reads their columns from the file.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import orjson
from pydantic import TypeAdapter

from callwright.warehouse.engine import Connection, quoted
from callwright.warehouse.rows import LONGEST_ROW, Row
from callwright.warehouse.yaml_text import read_yaml

SMALL = 1 << 21  # bytes of a batch for which it need not
_PIECE = 1 << 23  # bytes of long rows that DuckDB takes at once within its memory limit
ALL = ("*",)  # columns: all but the key


class Table(NamedTuple):
    """What happens to the second of two rows with the same `key`.

    The first is kept, but its columns `updated` take the newer value, and so do those in
    `replaced` if the caller asks to replace. `is_compared`: there are many such rows per sample,
    and DuckDB would hold an index of them in memory whenever it writes (docs/decisions/0012). So
    they have none; each insert compares the keys instead, and of rows that come together the
    first in the `order` counts.
    """

    key: tuple[str, ...]
    updated: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    is_compared: bool = False
    order: str = ""


@cache
def tables() -> dict[str, Table]:
    """The tables by name, as tables.yaml lists them."""
    listed = read_yaml(files("callwright.warehouse").joinpath("tables.yaml").read_text("utf-8"))
    return TypeAdapter(dict[str, Table]).validate_python(listed)


def write_batch(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as a batch: a file of JSON lines, which DuckDB reads in bulk.

    No Arrow or data frame is involved: pyarrow would load pandas into every worker, 100 MB for
    nothing.
    """
    with path.open("wb") as file:
        for row in rows:
            file.write(orjson.dumps(row) + b"\n")


def pieces(path: Path) -> Iterator[Path]:
    """Yield a batch in files small enough to insert; each is gone when the next one comes."""
    if path.stat().st_size <= _PIECE:
        yield path
        return
    piece = path.with_suffix(".piece")
    with path.open("rb") as batch:
        while lines := batch.readlines(_PIECE):
            piece.write_bytes(b"".join(lines))
            yield piece
    piece.unlink(missing_ok=True)


def insert_statement(
    connection: Connection, name: str, batch: Path, *, replacing: bool = False
) -> str:
    """Return the statement that lands a batch by the table's rules, without unknown fields."""
    if name not in _known_columns:
        found = connection.execute("select name, type from pragma_table_info(?)", [name]).fetchall()
        columns = {column: "varchar" if type_ == "JSON" else type_ for column, type_ in found}
        _known_columns[name] = columns
    table, columns = tables()[name], _known_columns[name]
    typed = ", ".join(f"{column}: '{type_}'" for column, type_ in columns.items())
    longest = min(LONGEST_ROW, max(SMALL, batch.stat().st_size))  # no row is longer than its batch
    how = f"format = 'newline_delimited', columns = {{{typed}}}, maximum_object_size = {longest}"
    source = f"read_json('{quoted(batch)}', {how})"
    changed = (*table.updated, *(table.replaced if replacing else ()))
    if changed == ALL:
        changed = tuple(column for column in columns if column not in table.key)
    if table.is_compared:
        return _merge(name, source, list(columns), changed)
    listed = ", ".join(columns)
    statement = f"insert into {name} ({listed}) select {listed} from {source}"  # noqa: S608 - our own names
    if not changed:
        return f"{statement} on conflict do nothing"
    updates = ", ".join(f"{column} = excluded.{column}" for column in changed)
    return f"{statement} on conflict ({', '.join(table.key)}) do update set {updates}"


# by table, the same in every file: who writes has brought it forward
_known_columns: dict[str, dict[str, str]] = {}


def _merge(name: str, source: str, columns: list[str], changed: tuple[str, ...]) -> str:
    table, listed = tables()[name], ", ".join(columns)
    order = f" order by {table.order}" if table.order else ""
    first = f"partition by {', '.join(table.key)}{order}"
    updates = ", ".join(f"{column} = fresh.{column}" for column in changed)
    return f"""
        merge into {name} using (
            select {listed} from {source} qualify row_number() over ({first}) = 1
        ) fresh on ({" and ".join(f"{name}.{column} = fresh.{column}" for column in table.key)})
        {f"when matched then update set {updates}" if updates else ""}
        when not matched then insert ({listed}) values ({", ".join(f"fresh.{column}" for column in columns)})
    """  # noqa: E501, S608
