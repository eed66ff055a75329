"""The reference part of docs/sql.md, made from the comments in the database.

Write it with `python -m callwright.warehouse.reference docs/sql.md`.
"""

import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from callwright.warehouse.comments import list_views
from callwright.warehouse.store import Warehouse

TITLE = "## Reference"
_RELATIONS = """
    select c.table_name as name, v.view_name is not null as is_view, coalesce(v.comment, t.comment, '') as comment,
        list({'name': c.column_name, 'type': c.data_type, 'comment': coalesce(c.comment, '')} order by c.column_index) as columns
    from duckdb_columns() c
    left join duckdb_views() v on v.view_name = c.table_name and v.database_name = c.database_name
    left join duckdb_tables() t on t.table_name = c.table_name and t.database_name = c.database_name
    where not c.internal and c.database_name = current_database() group by all order by is_view, name
"""  # noqa: E501


class Relation(NamedTuple):
    """A table or view as the reference shows it: columns with name, type and description."""

    name: str
    is_view: bool
    comment: str
    columns: tuple[tuple[str, str, str], ...]


def main(path: Path) -> None:
    """Write the reference into a page, replacing the one it has."""
    with tempfile.TemporaryDirectory(prefix="callwright-") as folder:
        relations = read_relations(Warehouse(Path(folder) / "warehouse.duckdb"))
    before = path.read_text(encoding="utf-8").partition(f"{TITLE}\n")[0].rstrip()
    path.write_text(f"{before}\n\n{reference(relations)}", encoding="utf-8")


def read_relations(warehouse: Warehouse) -> list[Relation]:
    """Return every table and view of a warehouse with its comments, tables first."""
    found: list[Relation] = []
    for row in warehouse.rows(_RELATIONS):
        columns = ((one["name"], one["type"].lower(), one["comment"]) for one in row["columns"])
        found.append(Relation(row["name"], row["is_view"], row["comment"], tuple(columns)))
    return found


def reference(relations: Iterable[Relation]) -> str:
    """Return the reference part of docs/sql.md, without internal views."""
    lines = [TITLE, "", "Made from the comments in the database (`make docs`)."]
    titles, internal = {False: "### Tables", True: "### Views"}, list_views("internal")
    for relation in relations:
        if relation.name in internal:
            continue
        if relation.is_view in titles:
            lines += ["", titles.pop(relation.is_view)]
        lines += ["", f"#### `{relation.name}`", "", _plain(relation.comment), ""]
        lines += ["| column | type | |", "|---|---|---|"]
        for name, type_, comment in relation.columns:
            lines.append(f"| `{name}` | {type_} | {_plain(comment)} |")
    return "\n".join([*lines, ""])


def _plain(text: str) -> str:
    """Return a comment as Markdown, with special characters escaped."""
    return re.sub(r"([|*_])", r"\\\1", text).replace("<", "&lt;")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
