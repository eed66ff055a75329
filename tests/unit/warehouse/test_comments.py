"""Everything in the database says what it is, in one vocabulary, and the reference is made of
that.
"""

from pathlib import Path

import pytest

from callwright.warehouse.comments import read_vocabulary
from callwright.warehouse.reference import TITLE, Relation, main, read_relations
from callwright.warehouse.store import Warehouse

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return Warehouse(tmp_path_factory.mktemp("comments") / "warehouse.duckdb", patience=5)


@pytest.fixture(scope="module")
def relations(warehouse: Warehouse) -> list[Relation]:
    return read_relations(warehouse)


def test_every_table_view_and_column_has_a_comment(relations: list[Relation]) -> None:
    assert len(relations) > 90
    assert [one.name for one in relations if not one.comment] == []
    assert [
        f"{one.name}.{name}" for one in relations for name, _, comment in one.columns if not comment
    ] == []


def test_the_vocabulary_has_no_word_that_nothing_uses(relations: list[Relation]) -> None:
    vocabulary = read_vocabulary()
    columns = {one.name: {name for name, *_ in one.columns} for one in relations}
    assert vocabulary.columns.keys() - set().union(*columns.values()) == set()
    assert vocabulary.tables.keys() == {one.name for one in relations if not one.is_view}
    strange = {
        f"{name}.{column}"
        for name, only in vocabulary.only.items()
        for column in only
        if column not in columns.get(name, ())
    }
    assert strange == set()


def test_the_reference_is_the_one_that_the_database_gives(tmp_path: Path) -> None:
    page = tmp_path / "sql.md"
    page.write_text(
        DOCS.joinpath("sql.md").read_text(encoding="utf-8").partition(f"{TITLE}\n")[0],
        encoding="utf-8",
    )
    main(page)
    assert page.read_text(encoding="utf-8") == DOCS.joinpath("sql.md").read_text(
        encoding="utf-8"
    ), "make docs"
