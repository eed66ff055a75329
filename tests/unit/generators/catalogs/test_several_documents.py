"""Several descriptions as one import: a folder, or a list of files; what is in both, and names
that clash.
"""

import json
from pathlib import Path
from typing import Any

from callwright.generators.catalogs import Catalog, read_catalog


def written(path: Path, *names: str, says: str = "Does it.", **more: Any) -> Path:
    paths = {f"/{name}": {"get": {"operationId": name, "description": says}} for name in names}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"openapi": "3.0.3", "paths": paths, **more}))
    return path


def told(catalog: Catalog) -> list[tuple[str, str]]:
    return [(problem.kind, problem.tool) for problem in catalog.problems]


def test_a_folder_is_one_import_of_all_its_descriptions(tmp_path: Path) -> None:
    written(tmp_path / "a.json", "find", "make")
    written(tmp_path / "deep" / "b.json", "drop")
    (tmp_path / "old.yml").write_text(
        "swagger: '2.0'\npaths:\n  /keep:\n    get: {operationId: keep, summary: Keeps.}\n"
    )
    catalog = read_catalog("openapi", tmp_path)
    assert [tool.name for tool in catalog.tools] == ["find", "make", "drop", "keep"]
    assert (catalog.entries, [origin.path for origin in catalog.origins]) == (
        4,
        ["/find", "/make", "/drop", "/keep"],
    )
    assert told(catalog) == []


def test_parts_of_a_description_are_none_and_other_files_are_told(tmp_path: Path) -> None:
    reference = {"/part": {"$ref": "part.json"}}
    written(tmp_path / "a.json", "find", paths=reference)
    (tmp_path / "part.json").write_text(
        json.dumps({"get": {"operationId": "part", "description": "Does it."}})
    )
    (tmp_path / "package.json").write_text("{}")
    catalog = read_catalog("openapi", tmp_path)
    assert [tool.name for tool in catalog.tools] == ["part"]
    assert [(one.kind, Path(one.where).name) for one in catalog.problems] == [
        ("other_format", "package.json")
    ]


def test_what_two_files_hold_is_kept_once_and_a_clash_is_told_with_both(tmp_path: Path) -> None:
    one = written(tmp_path / "a.json", "find", "make")
    other = written(tmp_path / "b.json", "find", "drop")
    clashing = written(tmp_path / "c.json", "make", says="Makes something else.")
    catalog = read_catalog("openapi", [one, other, clashing])
    assert [tool.name for tool in catalog.tools] == ["find", "make", "drop", "make"]
    assert told(catalog) == [("duplicate_name", "make")]
    assert "a.json" in catalog.problems[0].message
    assert "c.json" in catalog.problems[0].message
    assert catalog.files == (one, other, clashing)
