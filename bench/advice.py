"""Prints places in the sources that deserve a second look: `make advice`.

Nothing here fails a build. The few checks that do are elsewhere: the order of imports, circles,
second clients of a vendor (`make check`).
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

TOP = Path(__file__).parents[1]
PRODUCT = (
    "annotation",
    "callwright",
    "flows",
    "generators",
    "language",
    "llm",
    "validators",
    "warehouse",
)
# Words that once stood for a term of the field; docs/glossary.md has the term.
UNLIKE_THE_FIELD = frozenset(
    ["atlas", "courier", "desk", "fate", "keeper", "manner", "outpost", "shelf", "twins", "unsaid"]
)
LONGEST_FILE, LONGEST_FUNCTION, MOST_SIBLINGS, WIDEST = 400, 40, 25, 100


def main() -> None:
    """Print advice about the product's sources, and their size."""
    paths = [path for folder in PRODUCT for path in sorted((TOP / folder).rglob("*.py"))]
    for line in advice(paths):
        print(line)
    texts = [path.read_text(encoding="utf-8") for path in paths]
    lines = [line for text in texts for line in text.splitlines()]
    wide = sum(len(line) > WIDEST for line in lines)
    print(f"{len(paths)} files, {len(lines)} lines, {wide} of them wider than {WIDEST}")


def advice(paths: list[Path]) -> Iterator[str]:
    """Yield a line for each place that may deserve a look."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    yield from _of_files(paths)
    yield from _of_folders(paths)
    yield from _of_names(trees)
    yield from _of_words(trees)


def _of_files(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > LONGEST_FILE:
            yield f"{_name(path)}: {len(lines)} lines; is it still one idea?"


def _of_folders(paths: list[Path]) -> Iterator[str]:
    counts = Counter(path.parent for path in paths if path.name != "__init__.py")
    for folder, count in counts.items():
        if count > MOST_SIBLINGS:
            yield f"{_name(folder)}: {count} modules; do they fall into groups?"


def _of_names(trees: dict[Path, ast.Module]) -> Iterator[str]:
    places: dict[str, list[str]] = {}
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(_name(path))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    yield f"{_name(path)}:{node.lineno}: {node.name} has {length} lines"
    for name, found in places.items():
        if len(found) > 1:
            yield f"the class name {name} stands in {', '.join(found)}"


def _of_words(trees: dict[Path, ast.Module]) -> Iterator[str]:
    for path, tree in trees.items():
        for name in sorted(set(_identifiers(tree))):
            found = UNLIKE_THE_FIELD.intersection(re.findall(r"[a-z]+", name.lower()))
            if found:
                yield (
                    f"{_name(path)}: {name} uses {', '.join(found)}; the glossary has the field's"
                    " word"
                )


def _identifiers(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
                yield name
            case (
                ast.ClassDef(name=name)
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
            ):
                yield name
            case _:
                pass


def _name(path: Path) -> str:
    return path.relative_to(TOP).as_posix()


if __name__ == "__main__":
    main()
