"""The reference part of docs/sql.md, made from the comments in the database.

Write it with `python -m callwright.warehouse.reference docs/sql.md`.
"""

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from callwright.warehouse.comments import INTERNAL, list_views
from callwright.warehouse.store import Warehouse

TITLE = "## Reference"
_SHARED = "Shared columns"
_ANCHOR = _SHARED.lower().replace(" ", "-")
_ABOUT = f"""
Made from the comments in the database (`make docs`). A column that means the same in several views
is described [below](#{_ANCHOR}). Types: `callwright query "describe leaderboard"`.
""".strip()
_ABOUT_TABLES = """
Views read these, and they may change in any version. Columns of a table: `callwright query "select
column_name, data_type, comment from duckdb_columns() where table_name = 'samples'"`.
""".strip()
_ABOUT_INTERNAL = "Other views and callwright itself read these. They may change in any version."
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
    """Return the reference part of docs/sql.md.

    Public views are shown with their columns; what a column means in several of them is said
    once. Of tables and internal views there is a line each.
    """
    relations, internal = [*relations], list_views("internal")
    views = [one for one in relations if one.is_view and one.name not in internal]
    uses = Counter((name, text) for view in views for name, _, text in view.columns)
    shared = {name: text for (name, text), times in sorted(uses.items()) if times > 1}
    lines = [TITLE, "", _ABOUT, "", "### Views"]
    for view in views:
        lines += _view_lines(view, shared)
    lines += ["", f"### {_SHARED}", "", "| column | |", "|---|---|"]
    lines += [f"| `{name}` | {_plain(text)} |" for name, text in shared.items()]
    lines += ["", "### Tables", "", _ABOUT_TABLES, ""]
    lines += [f"- `{one.name}`: {_plain(one.comment)}" for one in relations if not one.is_view]
    lines += ["", "### Internal views", "", _ABOUT_INTERNAL, ""]
    for one in (one for one in relations if one.name in internal):
        text, _, _ = one.comment.removeprefix(INTERNAL).strip().replace(":", ".").partition(". ")
        lines.append(f"- `{one.name}`: {_plain(text.rstrip('.'))}.")
    return "\n".join([*lines, ""])


def _view_lines(view: Relation, shared: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of one view: what it is, and its columns."""
    yield from ("", f"#### `{view.name}`", "", _plain(view.comment))
    known = [name for name, _, text in view.columns if shared.get(name) == text]
    if known:
        listed = ", ".join(f"`{name}`" for name in known)
        yield from ("", f"[Shared columns](#{_ANCHOR}): {listed}.")
    own = [(name, text) for name, _, text in view.columns if name not in known]
    if own:
        yield ""
    yield from (f"- `{name}`: {_plain(text)}" for name, text in own)


def _plain(text: str) -> str:
    """Return a comment as Markdown, with special characters escaped."""
    return re.sub(r"([|*_])", r"\\\1", text).replace("<", "&lt;")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
