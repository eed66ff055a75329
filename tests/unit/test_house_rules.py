"""The rules of the house that a linter does not know: one name for one class, sizes of files and folders, the field's words."""

import ast
from collections import Counter
from pathlib import Path

TOP = Path(__file__).parents[2]
PRODUCT = ("annotation", "flows", "generators", "language", "llm", "validators", "warehouse")


def _modules() -> list[Path]:
    return [path for folder in (*PRODUCT, "bench", "tests") for path in sorted((TOP / folder).rglob("*.py"))]


def test_a_class_name_stands_once_in_the_whole_tree() -> None:
    names = Counter(
        node.name
        for path in _modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []
