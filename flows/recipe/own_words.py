"""What a recipe brings of its own: parameter values and request examples.

They come from files, lists and queries, are read with the recipe and kept in it, so a build does
not need the files, and other content makes another build.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from callwright.generators.tools import argument_problems, mended
from callwright.warehouse.errors import ConfigurationError, StoreError, first_problem
from callwright.warehouse.plain_words import keep_words
from callwright.warehouse.records import Tool
from callwright.warehouse.yaml_text import compose_yaml

MOST_VALUES = 10_000
MOST_EXAMPLES = 1000
_TABLES = {".csv": ",", ".tsv": "\t"}
Scalar = str | int | float | bool


class RecipePart(BaseModel):
    """A part of a recipe: unknown words are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class OwnValueList(RecipePart):
    """Values of a parameter: a list, a file, or a query on a DuckDB file.

    A file has a value per line, or a column of a CSV file.
    """

    given: tuple[Scalar, ...] = Field(
        default=(), max_length=MOST_VALUES, description="The values themselves."
    )
    file: Path | None = Field(
        default=None,
        description=(
            "A text file with one value per line, a CSV file, or a JSON or YAML list,"
            " relative to the recipe."
        ),
    )
    column: str = Field(
        default="",
        description="The column of the CSV file. Default: the column named like the parameter.",
    )
    query: str = Field(default="", description="A query whose first column holds the values.")
    database: Path | None = Field(
        default=None, description="The DuckDB file that the query reads, relative to the recipe."
    )
    read: tuple[Scalar, ...] = Field(
        default=(), repr=False, description="The values that were read; set by callwright."
    )
    lines: tuple[int, ...] = Field(
        default=(), repr=False, description="The line of each value; set by callwright."
    )

    @model_validator(mode="after")
    def _is_one_source(self) -> Self:
        if [bool(self.given), self.file is not None, bool(self.query)].count(True) != 1:
            problem = "values must be a list, the name of a file, or a query with its database"
            raise ValueError(problem)
        if bool(self.query) != (self.database is not None):
            raise ValueError(
                "a query needs a database, and a database a query, as in"
                " {query: select name from city, database: my.duckdb}"
            )
        return self

    @property
    def entries(self) -> tuple[Scalar, ...]:
        """All values."""
        return self.given or self.read

    def place(self, name: str, at: int) -> str:
        """Return where a value is, as people look it up."""
        if self.file is not None:
            return f"{self.file}:{self.lines[at]}: values.{name}"
        return f"values.{name}: row {at + 1} of the query" if self.query else f"values.{name}[{at}]"


def value_source(stated: object) -> object:
    """Return the settings of a source of values: a list, a file's name, or settings as they are."""
    if isinstance(stated, str):
        return {"file": stated}
    return {"given": stated} if isinstance(stated, list | tuple) else stated


class OwnExample(RecipePart):
    """A request of the user's own domain with the call that it leads to."""

    request: str = Field(min_length=1, max_length=4000, description="What the person says.")
    tool: str = Field(default="", description="The tool that is called.")
    arguments: dict[str, JsonValue] = Field(
        default_factory=dict, description="The arguments of the call."
    )


class ExampleFile(RecipePart):
    """Examples in a file: JSON lines, or a JSON or YAML list, of request, tool and arguments."""

    file: Path = Field(description="The file, relative to the recipe.")
    read: tuple[OwnExample, ...] = Field(
        default=(), repr=False, description="The examples that were read; set by callwright."
    )


class _Entry(NamedTuple):
    value: Any  # what a file holds
    line: int


def read_values(name: str, source: OwnValueList, folder: Path) -> OwnValueList:
    """Return a source with its values.

    Raises ValueError that says what is wrong, with the line if there is one.
    """
    if source.file is not None:
        path = (folder / source.file).absolute()
        if path.suffix.lower() in _TABLES:
            entries = [*_from_table(name, source, path)]
        else:
            entries = [*_from_list(path)]
        source = source.model_copy(update={"file": path})
    elif source.database is not None:
        path = (folder / source.database).absolute()
        entries = [*_from_query(source.query, path)]
        source = source.model_copy(update={"database": path})
    else:
        return source
    if not entries:
        raise ValueError(f"{str(path)!r} has no values")
    if len(entries) > MOST_VALUES:
        problem = f"{str(path)!r} has {len(entries)} values; at most {MOST_VALUES} are allowed"
        raise ValueError(problem)
    for value, line in entries:
        if not isinstance(value, Scalar):
            raise ValueError(f"{path}:{line}: {value!r} is not text, a number, true or false")
    read_entries = {
        "read": tuple(one.value for one in entries),
        "lines": tuple(one.line for one in entries),
    }
    return source.model_copy(update=read_entries)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f"{str(path)!r} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        problem = f"{str(path)!r} is not in UTF-8: {error.reason} at byte {error.start}"
        raise ValueError(problem) from error


def _from_table(name: str, source: OwnValueList, path: Path) -> Iterator[_Entry]:
    """Yield a column of a table; a table of one column may have no header line."""
    reader = csv.reader(_text_of(path).splitlines(), delimiter=_TABLES[path.suffix.lower()])
    rows = [_Entry(row, reader.line_num) for row in reader if any(map(str.strip, row))]
    if not rows:
        return
    header = [cell.strip().casefold() for cell in rows[0].value]
    wanted = (source.column or name.rpartition(".")[2]).casefold()
    if wanted in header:
        at, rows = header.index(wanted), rows[1:]
    elif len(header) == 1 and not source.column:
        at = 0
    else:
        raise ValueError(
            f"{path}:{rows[0].line}: there is no column {wanted!r}; the columns are"
            f" {', '.join(header)}"
        )
    for row, line in rows:
        if at >= len(row) or not row[at].strip():
            raise ValueError(f"{path}:{line}: the column {wanted!r} is empty")
        yield _Entry(row[at].strip(), line)


def _from_list(path: Path) -> Iterator[_Entry]:
    """Yield the lines of a text, or the items of a JSON or YAML list."""
    text = _text_of(path)
    if path.suffix.lower() in (".json", ".yaml", ".yml"):
        yield from _items(text, path)
    else:
        yield from (
            _Entry(line.strip(), at)
            for at, line in enumerate(text.splitlines(), start=1)
            if line.strip()
        )


def _items(text: str, path: Path) -> Iterator[_Entry]:
    """Yield the items of a JSON or YAML list with their lines."""
    try:
        node, loader = compose_yaml(text)
        keep_words(node)
        loaded = loader.construct_document(node) if node else None
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or " ".join(str(error).split())
        raise ValueError(
            f"{path}:{mark.line + 1 if mark else 1}: the list can't be read ({reason})"
        ) from error
    if not isinstance(node, yaml.SequenceNode) or not isinstance(loaded, list):
        raise ValueError(f"{path}:1: the file must contain a list")
    yield from (
        _Entry(value, item.start_mark.line + 1)
        for value, item in zip(loaded, node.value, strict=True)
    )


def _from_query(query: str, path: Path) -> Iterator[_Entry]:
    from callwright.warehouse.engine import (
        query_file,
    )  # not above: who queries nothing starts without DuckDB

    try:
        _, rows = query_file(path, query)
    except (ConfigurationError, StoreError) as error:
        raise ValueError(str(error).rstrip(".")) from error
    for at, (value, *_) in enumerate(rows, start=1):
        if value is not None:
            # a date, a decimal
            yield _Entry(value if isinstance(value, Scalar) else str(value), at)


def read_examples(source: ExampleFile, folder: Path) -> ExampleFile:
    """Read the examples of a file. Raises ValueError that says what is wrong, with its line."""
    path = (folder / source.file).absolute()
    text = _text_of(path)
    if path.suffix.lower() == ".jsonl":
        lines = [(line, at) for at, line in enumerate(text.splitlines(), start=1) if line.strip()]
        entries = [_Entry(next(_items(f"[{line}]", path)).value, at) for line, at in lines]
    else:
        entries = [*_items(text, path)]
    if not 0 < len(entries) <= MOST_EXAMPLES:
        problem = f"{str(path)!r} has {len(entries)} examples; it may have 1 to {MOST_EXAMPLES}"
        raise ValueError(problem)
    return source.model_copy(
        update={"file": path, "read": tuple(_example(one, path) for one in entries)}
    )


def _example(entry: _Entry, path: Path) -> OwnExample:
    try:
        return OwnExample.model_validate(entry.value)
    except ValidationError as error:
        raise ValueError(f"{path}:{entry.line}: {first_problem(error)}") from error


def validate_own_words(
    values: Mapping[str, OwnValueList], examples: Sequence[OwnExample], tools: Sequence[Tool]
) -> None:
    """Raise ConfigurationError for values of an unknown parameter, or ones that do not fit it."""
    for name, source in values.items():
        both = ((tool, parameter) for tool in tools for parameter in tool.properties)
        parameters = [(tool, one) for tool, one in both if name in (one, f"{tool.name}.{one}")]
        if not parameters:
            known = sorted({one for tool in tools for one in tool.properties})
            raise ConfigurationError(
                f"values.{name}: no tool has this parameter. The parameters are"
                f" {', '.join(known) or 'none'}."
            )
        for tool, parameter in parameters:
            for at, value in enumerate(source.entries):
                problems = argument_problems(
                    tool, {parameter: mended(value, tool.properties[parameter])}, partial=True
                )
                if problems:
                    problem = f"{source.place(name, at)}: for the tool {tool.name!r}: {problems[0]}"
                    raise ConfigurationError(problem)
    known_tools = {tool.name for tool in tools}
    for number, example in enumerate(examples, start=1):
        if example.tool and example.tool not in known_tools:
            raise ConfigurationError(
                f"examples: example {number} calls {example.tool!r}, which is not a tool of the"
                " recipe."
            )
