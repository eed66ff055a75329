"""Tables of rows from entry points: what is named, what is loaded when, and what becomes of rows
that can't be used.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.registry import Registry, Source, digest_of, file_of, row_in_file


class Dish(NamedTuple):
    name: str
    price: float = 1.0


def dishes() -> Registry[Dish]:
    return Registry("dishes", Dish, "dish", "dishes")


def install(site: Path, package: str, code: str, *names: str) -> None:
    """A package of one module that says of each name `name = module:NAME`, as an installer
    leaves it.
    """
    module = package.replace("-", "_")
    (site / f"{module}.py").write_text(code)
    folder = site / f"{module}-1.2.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
    lines = [f"{name} = {module}:{name.upper()}" for name in names]
    (folder / "entry_points.txt").write_text("\n".join(["[callwright.dishes]", *lines, ""]))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


HEAD = "from tests.unit.warehouse.test_registry import Dish\n"


def test_names_are_read_without_importing_anything(site: Path) -> None:
    install(site, "kitchen-one", "raise RuntimeError", "soup")
    assert list(dishes()) == ["soup"]
    assert "soup" in dishes()
    assert "kitchen_one" not in sys.modules


def test_an_unknown_row_is_answered_with_the_known_ones(site: Path) -> None:
    install(site, "kitchen-three", "", "salad", "bread")
    with pytest.raises(
        ConfigurationError, match=r"There is no dish 'cake'; the dishes are bread, salad\."
    ):
        dishes().named("cake")


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("", "there is no 'PIE' in the module 'kitchen_MODULE'"),
        (
            "PIE = {}",
            "it is a dict, and must be an object of tests.unit.warehouse.test_registry.Dish",
        ),
        (f"{HEAD}PIE = Dish", "it is the class Dish itself, and must be an object of"),
        (
            f"{HEAD}PIE = Dish('cake')",
            "it calls itself 'cake', and must bear the name of its entry point",
        ),
        (
            "PIE = 1 / 0",
            (
                r"importing 'kitchen_MODULE' raised ZeroDivisionError: division by zero"
                r" \(.*MODULE.py:1\)"
            ),
        ),
        ("\nPIE = (", r"importing 'kitchen_MODULE' raised SyntaxError: .* \(.*MODULE.py:2\)"),
        ("import sys; sys.exit(3)", r"raised SystemExit: 3"),
        ("import flour_mill", "raised ModuleNotFoundError: No module named 'flour_mill'"),
    ],
    ids=[
        "no name",
        "a dict",
        "a class",
        "another name",
        "raises",
        "no Python",
        "exits",
        "lacks a module",
    ],
)
def test_a_row_that_can_not_be_used_is_named_with_its_package_and_passed_over(
    site: Path, request: pytest.FixtureRequest, code: str, wrong: str
) -> None:
    label = "".join(request.node.callspec.id.split())
    install(site, f"kitchen-{label}", code, "pie")
    install(site, f"bakery-{label}", f"{HEAD}BUN = Dish('bun')", "bun")
    table = dishes()
    assert [row.name for row in table.rows()] == ["bun"]
    assert list(table) == ["bun"]
    sound, broken = table.plugins()
    assert sound == ("dishes", "bun", f"bakery-{label} 1.2", "")
    assert broken[:3] == ("dishes", "pie", f"kitchen-{label} 1.2")
    with pytest.raises(ConfigurationError, match=wrong.replace("MODULE", label)) as raised:
        table.named("pie")
    assert str(raised.value) == broken.problem
    assert broken.problem.endswith("Update or remove that package; callwright goes on without it.")


def test_a_module_that_is_gone_is_told_by_its_name(site: Path) -> None:
    install(site, "kitchen-gone", "", "pie")
    (site / "kitchen_gone.py").unlink()
    with pytest.raises(
        ConfigurationError, match="there is no module 'kitchen_gone' for `kitchen_gone:PIE`"
    ):
        dishes().named("pie")


def test_of_two_rows_of_one_name_the_first_stays_and_the_other_is_told_of(site: Path) -> None:
    install(site, "a-kitchen", f"{HEAD}RICE = Dish('rice', 1)", "rice")
    install(site, "b-kitchen", f"{HEAD}RICE = Dish('rice', 2)", "rice")
    table = dishes()
    assert table.named("rice").price == 1
    assert [(one.package, bool(one.problem)) for one in table.plugins()] == [
        ("a-kitchen 1.2", False),
        ("b-kitchen 1.2", True),
    ]
    assert "a-kitchen 1.2 has one of this name" in table.plugins()[1].problem


def test_a_row_of_a_file_is_in_the_table_until_the_process_ends(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(f"{HEAD}\nTEA = Dish('tea', 2)\n")
    table = dishes()
    found = row_in_file(*file_of("own.py:TEA", tmp_path))
    assert (found.source.place, found.line) == (f"{tmp_path / 'own.py'}:TEA", 3)
    assert isinstance(found.row, Dish)
    table.add(found.row, found.source)
    table.add(found.row, found.source)
    table.add(found.row, Source("a copy of it", found.source.digest))
    table.add(found.row, found.source)
    assert [row.price for row in table.rows()] == [2]
    with pytest.raises(
        ConfigurationError,
        match=r"other.py:A: its name 'tea' is taken: there is the dish of .*own.py:TEA\.",
    ):
        table.add(Dish("tea"), Source("other.py:A", "1"))
    with table.including(Dish("tea", 3)):
        assert table.named("tea").price == 3
    assert table.named("tea").price == 2


def test_a_row_that_can_not_stand_beside_others_is_refused(site: Path) -> None:
    install(site, "kitchen-dear", f"{HEAD}CAVIAR = Dish('caviar', 900)", "caviar")
    table = Registry(
        "dishes",
        Dish,
        "dish",
        "dishes",
        problem_of=lambda row, others: "too dear" if row.price > 9 else "",
    )
    with pytest.raises(
        ConfigurationError, match=r"own.py:A: the dish 'truffle' can't be used: too dear\."
    ):
        table.add(Dish("truffle", 10), Source("own.py:A", "1"))
    assert table.rows() == ()
    assert "`kitchen_dear:CAVIAR`: too dear. Update or remove" in table.plugins()[0].problem


def test_a_file_is_run_once_while_its_content_stays_the_same(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text("ROW = object()\n")
    before, digest = row_in_file(path, "ROW").row, digest_of(path)
    assert row_in_file(path, "ROW").row is before
    path.write_text("ROW = 'other'\n")
    assert row_in_file(path, "ROW").row == "other"
    assert digest_of(path) != digest
    assert str(tmp_path) not in sys.path
    assert [one.name for one in tmp_path.iterdir()] == ["own.py"]


@pytest.mark.parametrize(
    ("reference", "content", "wrong"),
    [
        ("own.py", "", r"'own.py' must be a file and a name in it, such as 'my_kind.py:FAMILY'"),
        ("own.txt:ROW", "", r"must be a file and a name in it"),
        ("absent.py:ROW", "", r"absent.py' can't be read: No such file or directory"),
        (
            "own.py:ROW",
            "COLUMN = 1",
            r"own.py: there is no 'ROW' in this file; the names in capitals there are COLUMN",
        ),
        (
            "own.py:ROW",
            "\n\nROW = 1 / 0",
            r"own.py: running this file raised ZeroDivisionError: .* \(.*own.py:3\)",
        ),
        (
            "own.py:ROW",
            "\nROW = (",
            r"own.py: running this file raised SyntaxError: .* \(.*own.py:2\)",
        ),
        (
            "own.py:ROW",
            "import json\njson.loads('{')",
            r"raised JSONDecodeError: .* \(.*own.py:2\)",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_line(
    tmp_path: Path, reference: str, content: str, wrong: str
) -> None:
    (tmp_path / "own.py").write_text(content)
    with pytest.raises(ConfigurationError, match=wrong):
        row_in_file(*file_of(reference, tmp_path))
