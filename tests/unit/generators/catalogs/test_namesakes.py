"""What a document tells of a parameter only at another operation that takes one of its name."""

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.generators.catalogs import read_catalog

TOLD = "Only of one language. Should be the 3 character language code."


def taking(**parameters: dict[str, Any]) -> dict[str, Any]:
    listed = [
        {"name": name, "in": "query", "schema": {"type": "string"}, **one}
        for name, one in parameters.items()
    ]
    return {"get": {"description": f"Get by {', '.join(parameters)}.", "parameters": listed}}


def read(folder: Path, *operations: dict[str, Any]) -> Any:
    paths = {f"/p{at}": operation for at, operation in enumerate(operations)}
    path = folder / "api.json"
    path.write_text(json.dumps({"openapi": "3.1.0", "info": {}, "paths": paths}))
    return read_catalog("openapi", path)


def test_the_form_of_a_text_is_told_where_another_operation_tells_it(tmp_path: Path) -> None:
    catalog = read(
        tmp_path,
        taking(language={"description": TOLD}),
        taking(language={"description": "language"}),
    )
    described = catalog.tools[1].properties["language"]["description"]
    assert described == "Language. Should be the 3 character language code."
    assert [one.kind for one in catalog.problems].count("told_elsewhere") == 1


@pytest.mark.parametrize(
    "other",
    [
        {"description": "The language of the film."},
        {"schema": {"type": "string", "enum": ["eng", "deu"]}},
        {"schema": {"type": "integer"}},
    ],
)
def test_what_tells_something_by_itself_stays(tmp_path: Path, other: dict[str, Any]) -> None:
    catalog = read(tmp_path, taking(language={"description": TOLD}), taking(language=other))
    assert "told_elsewhere" not in [one.kind for one in catalog.problems]


def test_two_forms_and_the_names_of_things_tell_nothing(tmp_path: Path) -> None:
    catalog = read(
        tmp_path,
        taking(language={"description": TOLD}, name={"description": "In the format a.b."}),
        taking(language={"description": "An ISO 639-1 code."}),
        taking(language={}, name={}),
    )
    assert "told_elsewhere" not in [one.kind for one in catalog.problems]
