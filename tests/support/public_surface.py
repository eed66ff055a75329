"""What docs/stability.md promises, as text: commands with their options, Python names, environment
variables, recipe keys, views with their columns, entry points with the names of their rows.

`make surface` writes it to tests/unit/flows/public_surface.txt.
"""

import inspect
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, get_args

import typer
from pydantic import BaseModel

import callwright
from callwright import testing
from callwright.flows.cli.main import app
from callwright.flows.recipe.schema import settings_schema
from callwright.generators.catalogs import FORMATS
from callwright.generators.environments.protocol import WORLDS
from callwright.generators.imports.reading import SOURCES
from callwright.generators.kinds import FAMILIES
from callwright.llm.models import PROVIDERS
from callwright.validators.checks.table import CHECKS
from callwright.validators.metrics.table import METRICS
from callwright.warehouse.comments import list_views
from callwright.warehouse.exports.formats import EXPORTS
from callwright.warehouse.reference import read_relations
from callwright.warehouse.registry import Registry
from callwright.warehouse.store import Warehouse

RECORDED = Path(__file__).parents[1] / "unit" / "flows" / "public_surface.txt"
FLOWS = Path(__file__).parents[2] / "flows"
TABLES: tuple[Registry[Any], ...] = (
    *(FAMILIES, CHECKS, METRICS, EXPORTS, SOURCES, FORMATS, WORLDS, PROVIDERS),
)


def public_surface() -> str:
    """Return all that is promised, one thing a line, under a head for each sort."""
    sorts = {
        "commands": _commands(typer.main.get_command(app), "callwright"),
        "python": _names(callwright, callwright.__all__),
        "python: callwright.testing": _names(testing, _defined_in(testing)),
        "environment variables": _variables(),
        "recipe keys": _recipe_keys(),
        "views": _views(),
        "entry points": _entry_points(),
    }
    return "\n".join(line for head, lines in sorts.items() for line in (f"[{head}]", *lines, ""))


def _commands(command: Any, path: str) -> Iterator[str]:
    parts = [
        " | ".join([*one.opts, *one.secondary_opts])
        if one.param_type_name == "option"
        else str(one.name).upper()
        for one in command.params
        if one.name not in {"install_completion", "show_completion"}
    ]
    yield " ".join([path, *(f"[{part}]" for part in parts)])
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _commands(inner, f"{path} {name}")


def _defined_in(module: Any) -> list[str]:
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    )


def _names(module: Any, names: list[str]) -> Iterator[str]:
    for name in names:
        value = getattr(module, name)
        if inspect.isclass(value):
            yield f"{name}: {', '.join(_members(value))}".rstrip(": ")
        else:
            yield f"{name}({', '.join(_parameters(value))})"


def _parameters(function: Any) -> Iterator[str]:
    """The names of a function's parameters, with the keys of its options; optional ones with `=`."""
    for one in inspect.signature(function).parameters.values():
        if one.kind is one.VAR_KEYWORD:
            options = get_args(one.annotation)
            keys = getattr(options[0], "__annotations__", {}) if options else {}
            yield from (f"{key}=" for key in keys) if keys else [f"**{one.name}"]
        else:
            mark = "*" if one.kind is one.VAR_POSITIONAL else ""
            yield f"{mark}{one.name}" + ("" if one.default is one.empty else "=")


def _members(owner: Any) -> list[str]:
    """The fields of a record; the public fields, properties and methods of any other class."""
    if issubclass(owner, BaseModel):
        return sorted(owner.model_fields)
    inherited = {*dir(tuple), *dir(Exception)}
    return sorted({one for one in dir(owner) if not one.startswith("_")} - inherited)


def _recipe_keys() -> Iterator[str]:
    """The keys of a recipe, and those of each part by the name that the recipe's schema gives it."""
    schema = settings_schema()
    for owner, node in {"recipe": schema, **schema["$defs"]}.items():
        if "properties" in node:
            yield f"{owner}: {', '.join(sorted(node['properties']))}"


def _variables() -> list[str]:
    code = "".join(path.read_text(encoding="utf-8") for path in FLOWS.rglob("*.py"))
    return sorted(set(re.findall(r'"(CALLWRIGHT_[A-Z_]+)"', code)))


def _views() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="callwright-") as folder:
        relations = read_relations(Warehouse(Path(folder) / "warehouse.duckdb"))
    for one in relations:
        if one.is_view and one.name not in list_views("internal"):
            yield f"{one.name}: {', '.join(f'{name} {type_}' for name, type_, _ in one.columns)}"


def _entry_points() -> Iterator[str]:
    for table in TABLES:
        forms = table.form.__args__ if isinstance(table.form, UnionType) else (table.form,)
        for form in forms:
            yield f"callwright.{table.table}: {form.__name__}({', '.join(_members(form))})"
        yield f"callwright.{table.table} has {', '.join(sorted(table.names))}"


if __name__ == "__main__":
    RECORDED.write_text(public_surface(), encoding="utf-8")
    sys.stdout.write(f"{RECORDED}\n")
