"""Nobody asks for a kind by its name: outside the families' folders no code and no SQL compares
one.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from callwright.generators.kinds import FAMILIES, all_kinds

TOP = Path(__file__).parents[3]
PACKAGES = ("annotation", "flows", "generators", "llm", "validators", "warehouse")
FOLDERS = {TOP / "generators" / family for family in FAMILIES}
NAMED = {"kind", "kinds", "transform"}
CUTTING = {
    "startswith",
    "endswith",
    "removeprefix",
    "removesuffix",
    "partition",
    "rpartition",
    "split",
}
IN_SQL = re.compile(
    r"\bkind\s*(?:=|<>|!=|in\b|like\b|not\s+in\b|not\s+like\b)\s*\(?\s*'(\w+)%?'", re.IGNORECASE
)


def sources(suffix: str) -> Iterator[Path]:
    for package in PACKAGES:
        for path in sorted((TOP / package).rglob(f"*{suffix}")):
            if not FOLDERS.intersection(path.parents):
                yield path


def words(node: ast.AST) -> set[str]:
    return {
        one.value
        for one in ast.walk(node)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }


def is_kind(node: ast.AST) -> bool:
    return (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) in NAMED


@cache
def worth_reading() -> re.Pattern[str]:
    """What code holds that names a kind or takes one apart: the rest is not parsed."""
    names = "|".join(map(re.escape, all_kinds()))
    return re.compile(rf"""["'](?:{names})%?["']|(?:sample|source|plan)\.kind""")


def names_compared(code: str) -> Iterator[str]:
    """The names of kinds that the code compares with a kind, cuts out of one, or matches one by:
    no examples in docstrings.
    """
    if not worth_reading().search(code):
        return
    tree = ast.parse(code)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(map(is_kind, (node.left, *node.comparators))):
            yield from words(node) & all_kinds().keys()
        if isinstance(node, ast.Match) and is_kind(node.subject):
            yield from (
                set().union(*(words(case.pattern) for case in node.cases)) & all_kinds().keys()
            )
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in CUTTING
        ):
            of_sample = ast.unparse(node.func.value).endswith(
                ("sample.kind", "source.kind", "plan.kind")
            )
            yield from words(node) if of_sample else ()
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield from set(IN_SQL.findall(node.value)) & all_kinds().keys()


@pytest.mark.parametrize(
    "code",
    [
        'if sample.kind == "perfect": pass',
        'if kind in ("IS", "mSv"): pass',
        'sample.kind.startswith("routing_")',
        'match derivation.transform:\n    case "mQmA": pass',
        "sql = \"select * from samples s where s.kind like 'conversation%'\"",
        "sql = \"where s.kind in ('multi_step', 'multi_step_cross')\"",
    ],
)
def test_a_kind_that_is_asked_for_by_its_name_is_found(code: str) -> None:
    assert list(names_compared(code))


def test_no_code_asks_for_a_kind_by_its_name() -> None:
    found = {
        str(path.relative_to(TOP)): sorted(set(names_compared(path.read_text("utf-8"))))
        for path in sources(".py")
    }
    assert {path: names for path, names in found.items() if names} == {}


def test_no_view_asks_for_a_kind_by_its_name() -> None:
    found = {path.name: IN_SQL.findall(path.read_text("utf-8")) for path in sources(".sql")}
    assert {path: names for path, names in found.items() if all_kinds().keys() & set(names)} == {}
