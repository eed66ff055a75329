"""Everything in the database says what it is, in one vocabulary, and the reference is made of
that.
"""

import re
from pathlib import Path

import pytest

from callwright.validators.metrics.table import METRICS
from callwright.warehouse.comments import list_views, read_vocabulary
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


PLACES = {"position", "run", "turn", "snapshot", "round", "version", "k", "distance", "seed"}
MEASURES = {
    *(f"{name}_tokens" for name in ("prompt", "completion")),
    *("precision", "recall", "kappa", "score", "p_value", "pass_all", "pass_any", "no_call"),
    *(
        "cost",
        "seconds",
        "active_hours",
        "difference",
        "deviation",
        "mean",
        "lowest",
        "highest",
        "low",
        "high",
    ),
    *("value", "value_before", "ratio", "expected_calls"),
    *("priority", "probability", "expected", "stakes", "rarity", "reach", "chance"),
    *("prior", "weight"),
    *("request_characters", "request_characters_p90", "body_characters"),
}
NAMES = {
    "BOOLEAN": r"(is|has)_\w+",
    "TIMESTAMP WITH TIME ZONE": r"\w+_at",
    "BIGINT": r"n_\w+",
    "INTEGER": r"n_\w+",
    "DOUBLE": r"\w+_(share|low|high|per_accepted|per_hour)|(mean|median|n)_\w+",
}


def figures_of_metrics() -> set[str]:
    named = {one.replace("/", "_per_") for row in METRICS.rows() for one in row.figures}
    return named | {f"{one}_macro" for one in named}


def test_columns_of_views_are_named_by_one_rule(relations: list[Relation]) -> None:
    free = PLACES | MEASURES | figures_of_metrics()
    odd = [
        f"{one.name}.{name}: {type_}"
        for one in relations
        if one.is_view and one.name not in list_views("internal")
        for name, type_, _ in one.columns
        if name not in free and not re.fullmatch(NAMES.get(type_.upper(), ".*"), name)
    ]
    assert odd == []


def test_what_is_told_to_be_a_share_is_called_so(relations: list[Relation]) -> None:
    odd = [
        f"{one.name}.{name}"
        for one in relations
        if one.is_view and one.name not in list_views("internal")
        for name, _, comment in one.columns
        if re.match("(In which share|Their share|Share|How often people)", comment)
        if not name.endswith("_share") and name not in {*figures_of_metrics(), *MEASURES}
    ]
    assert odd == []


def test_internal_views_are_read_by_others_and_all_others_are_few(
    relations: list[Relation],
) -> None:
    names = {one.name for one in relations if one.is_view}
    assert set(list_views("internal")) <= names
    assert len(names - {*list_views("internal")}) <= 60
    folder = Path(__file__).parents[3]
    sources = [*folder.glob("warehouse/*/*.sql"), *folder.glob("flows/**/*.py")]
    texts = [path.read_text(encoding="utf-8") for path in sources]
    for name in list_views("internal"):
        assert sum(len(re.findall(rf"\b{name}\b", text)) for text in texts) > 1, name
