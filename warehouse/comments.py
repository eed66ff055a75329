"""What every table, view and column is; DuckDB stores it as comments, which tools show."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict

from callwright.warehouse.yaml_text import read_yaml

FILE = "vocabulary.yaml"
INTERNAL = "Internal:"  # begins the comment of a view that is for other views and the product
_HEAD = re.compile(r"((?:^--[^\n]*\n)+)create or replace view (\w+)", re.MULTILINE)


class SchemaComments(BaseModel):
    """Comments of tables, of columns by name, and of columns in one table or view only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tables: dict[str, str]
    columns: dict[str, str]
    only: dict[str, dict[str, str]]


@cache
def read_vocabulary() -> SchemaComments:
    """Return the comments file beside the SQL."""
    return SchemaComments.model_validate(read_yaml(vocabulary_text()))


def vocabulary_text() -> str:
    """Return the file's text, so that what is derived from it can be renewed when it changes."""
    return files("callwright.warehouse").joinpath(FILE).read_text(encoding="utf-8")


def list_views(purpose: Literal["parquet", "answered_ahead", "internal"]) -> list[str]:
    """Return the views that `published.yaml` lists for this treatment."""
    text = files("callwright.warehouse").joinpath("published.yaml").read_text(encoding="utf-8")
    listed: dict[str, list[str]] = read_yaml(text)
    return listed[purpose]


def view_comments(scripts: Iterable[str]) -> dict[str, str]:
    """Return the description of each view in some scripts, from the comment above it.

    Those of internal views say so.
    """
    heads = (found for script in scripts for found in _HEAD.findall(script))
    texts = ((name, head.strip().splitlines()) for head, name in heads)
    told = {name: " ".join(line[2:].strip() for line in rows).strip() for name, rows in texts}
    internal = list_views("internal")
    return {name: f"{INTERNAL} {text}" if name in internal else text for name, text in told.items()}


def comment_script(columns: Iterable[tuple[str, str]], views: Mapping[str, str]) -> str:
    """Return the SQL that writes all comments.

    They are for these columns, each with its table or view, for these views, and for all tables.
    """
    vocabulary = read_vocabulary()
    statements: list[str] = []
    for relation, column in columns:
        comment = vocabulary.only.get(relation, {}).get(column) or vocabulary.columns.get(column)
        if comment:
            statements.append(f'comment on column "{relation}"."{column}" is {literal(comment)}')
    for sort, told in (("table", vocabulary.tables), ("view", views)):
        statements += (f'comment on {sort} "{one}" is {literal(told[one])}' for one in told)
    return "; ".join(statements)


def table_comments(table: str, comment: str, columns: Iterable[tuple[str, str]]) -> str:
    """Return the SQL that writes the comments of one table and its columns."""
    of_columns = (
        f'comment on column "{table}"."{column}" is {literal(text)}' for column, text in columns
    )
    return "; ".join((f'comment on table "{table}" is {literal(comment)}', *of_columns))


def literal(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
