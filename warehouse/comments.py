"""What every table, view and column is; DuckDB stores it as comments, which tools show."""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from callwright.warehouse.yaml_text import read_yaml

FILE = "vocabulary.yaml"
INTERNAL = "Internal:"  # begins the comment of a view that is for other views and the product
_HEAD = re.compile(r"((?:^--[^\n]*\n)+)create (?:or replace )?(table|view) (\w+)", re.MULTILINE)


class SchemaComments(BaseModel):
    """Comments of columns by name, and of columns in one table or view only."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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


class Described(NamedTuple):
    """A table or view with its comment."""

    sort: str  # table or view
    name: str
    comment: str


def described_in(scripts: Iterable[str]) -> list[Described]:
    """Return the tables and views that some scripts create, described by the comments above them.

    Those of internal views say so.
    """
    internal = list_views("internal")
    found: list[Described] = []
    for head, sort, name in (match for script in scripts for match in _HEAD.findall(script)):
        text = " ".join(line[2:].strip() for line in head.strip().splitlines()).strip()
        found.append(Described(sort, name, f"{INTERNAL} {text}" if name in internal else text))
    return found


def comment_script(columns: Iterable[tuple[str, str]], described: Iterable[Described]) -> str:
    """Return the SQL that writes the comments of columns, tables and views.

    Each column is given with its table or view.
    """
    vocabulary = read_vocabulary()
    statements: list[str] = []
    for relation, column in columns:
        comment = vocabulary.only.get(relation, {}).get(column) or vocabulary.columns.get(column)
        if comment:
            statements.append(f'comment on column "{relation}"."{column}" is {literal(comment)}')
    for sort, name, comment in described:
        statements.append(f'comment on {sort} "{name}" is {literal(comment)}')
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
