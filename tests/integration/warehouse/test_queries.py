"""SQL of our own in files: code asks for each statement, for no other, and DuckDB understands it
on today's tables.
"""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from callwright.warehouse.queries import sql, statements
from callwright.warehouse.store import Warehouse

ROOT = Path(__file__).parents[3]
FOLDERS = ("annotation", "flows", "generators", "llm", "validators", "warehouse")
TOPICS = sorted(
    file.name.removesuffix(".sql")
    for file in files("callwright.warehouse.queries").iterdir()
    if file.name.endswith(".sql")
)
KNOWN = {name: body for topic in TOPICS for name, body in statements(topic).items()}
# What callers put in, where a statement has room for it.
PARTS: dict[str, object] = {
    "releases": "true",
    "condition": "true",
    "places": "''",
    "split": "''",
    "canary": "''",
    "table": "made_tools",
    "build": "toolset",
    "key": "tool",
    "keys": "select key from samples",
    "severity": "[]",
    "order": "1",
    "due": "''",
    "called": "''",
} | dict.fromkeys(("size", "start", "most", "read", "days", "page_size"), 1)
# Conditions, what stands on a table that another statement has just made, and that table itself.
APART = re.compile(
    r"^s\.|^sample, turn|^coalesce\(verdict|^prediction in|^not \(|^\(|create temp table|"
    r"\b(from|join) (worth|chosen|named)\b|set answer = ",
    re.MULTILINE,
)


def part_names() -> set[str]:
    """The statements that are parts of others."""
    found = (
        (name, part)
        for name, body in KNOWN.items()
        for part in re.findall(r"@(\w+(?:\.\w+)?)", body)
    )
    return {part if "." in part else f"{name.partition('.')[0]}.{part}" for name, part in found}


def test_code_asks_for_every_statement_and_for_no_other() -> None:
    code = "\n".join(
        file.read_text() for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")
    )
    assert set(re.findall(r'\bsql\("(\w+\.\w+)"', code)) <= KNOWN.keys()
    named = re.findall(r'\bsql\(\s*f?"([^"]+)"|"(\w+\.\w+)" if ', code)
    asked = re.compile(
        "|".join(re.sub(r"\{[^}]*\}", r"\\w+", one or other) for one, other in named)
    )
    assert [name for name in KNOWN.keys() - part_names() if not asked.fullmatch(name)] == []


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return Warehouse(tmp_path_factory.mktemp("home") / "warehouse.duckdb")


@pytest.mark.parametrize("topic", TOPICS)
def test_duckdb_understands_each_statement(warehouse: Warehouse, topic: str) -> None:
    understood = 0
    for name in statements(topic).keys() - part_names():
        columns = {"answers.grades": "g.key", "path_runs.results": "success"}.get(name, "key")
        whole = sql(name, **PARTS, columns=columns)
        if not APART.search(whole):
            with warehouse.writing() as connection:
                connection.execute(f"prepare one as {whole}")
            understood += 1
    assert understood
