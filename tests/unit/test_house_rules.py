"""The rules of the house that a linter does not know: one name for one class, sizes of files and folders, the field's words."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

TOP = Path(__file__).parents[2]
PRODUCT = ("annotation", "flows", "generators", "language", "llm", "validators", "warehouse")
# Words that stood for a term of the field; the glossary has the term.
BANNED = frozenset(
    [
        "atlas",
        "beat",
        "courier",
        "desk",
        "drum",
        "ear",
        "fate",
        "heard",
        "keeper",
        "manner",
        "manners",
        "news",
        "office",
        "outpost",
        "parcel",
        "said",
        "shelf",
        "standing",
        "talk",
        "told",
        "twins",
        "unsaid",
    ]
)
SHORTEST = 40
# Tables of rows, of a family's stages or of a language's words; the root of all records.
SHORT = frozenset(
    [
        "actions.py",
        "base.py",
        "making.py",
        "sentences.py",
    ]
)
MOST_SIBLINGS = 20


def _modules(folders: tuple[str, ...]) -> list[Path]:
    return [path for folder in folders for path in sorted((TOP / folder).rglob("*.py"))]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _names(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(_tree(path)):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case _:
                pass
    return found


def _parts(name: str) -> list[str]:
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def test_a_class_name_stands_once_in_the_whole_tree() -> None:
    names = Counter(
        node.name
        for path in _modules((*PRODUCT, "bench", "tests"))
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_identifiers_use_the_words_of_the_field() -> None:
    found = {
        f"{path.relative_to(TOP)}: {name}"
        for path in _modules(PRODUCT)
        for name in _names(path)
        if BANNED.intersection(_parts(name))
    }
    assert sorted(found) == []


def test_a_file_is_no_shorter_than_a_capability() -> None:
    short = [
        str(path.relative_to(TOP))
        for path in _modules(PRODUCT)
        if path.name not in {"__init__.py", "__main__.py"} | SHORT
        and len(path.read_text(encoding="utf-8").splitlines()) < SHORTEST
    ]
    assert short == []


def test_a_folder_has_no_more_siblings_than_one_idea_has() -> None:
    counts = Counter(path.parent.relative_to(TOP) for path in _modules(PRODUCT) if path.name != "__init__.py")
    assert {str(folder): count for folder, count in counts.items() if count > MOST_SIBLINGS} == {}


def test_each_word_of_the_glossary_is_in_the_code_or_the_sql() -> None:
    glossary = (TOP / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| ([a-z_]+) \|", glossary, re.MULTILINE)
    code = " ".join(name for path in _modules(PRODUCT) for name in _names(path))
    sql = " ".join(path.read_text(encoding="utf-8") for path in sorted((TOP / "warehouse").rglob("*.sql")))
    known = f"{code} {sql}".replace("_", "").lower()
    assert len(words) >= 40
    assert [word for word in words if word.replace("_", "") not in known] == []
