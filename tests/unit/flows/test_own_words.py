"""What a recipe brings of its own is read from files, lists and queries, and held against its
tools; errors name file and line.
"""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from callwright.flows.recipe import Recipe, read_recipe, read_recipe_file
from callwright.flows.recipe.own_words import validate_own_words
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Tool

GOOD = "name: x\ntools: [{seed: all}]\nsamples: {perfect: 2}\n"
WEATHER = Tool(
    name="get_weather",
    description="Tell the weather.",
    category="Weather",
    parameters={
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 6}, "days": {"type": "integer"}},
    },
)


def read(folder: Path, more: str) -> Recipe:
    path = folder / "recipe.yaml"
    path.write_text(GOOD + more, encoding="utf-8")
    return read_recipe(path)


def wrong(folder: Path, more: str) -> str:
    path = folder / "recipe.yaml"
    path.write_text(GOOD + more, encoding="utf-8")
    [problem] = read_recipe_file(path, with_files=True).problems
    return str(problem)


@pytest.mark.parametrize(
    ("file", "text", "more", "values"),
    [
        ("cities.csv", "id,city\n1,Ulm\n2,Kiel\n", "cities.csv", ["Ulm", "Kiel"]),
        ("cities.csv", "Ulm\nKiel\n", "cities.csv", ["Ulm", "Kiel"]),
        ("cities.csv", "id,name\n1,Ulm\n", "{file: cities.csv, column: name}", ["Ulm"]),
        ("cities.txt", "Ulm\n\nKiel\n", "cities.txt", ["Ulm", "Kiel"]),
        ("cities.json", '["Ulm", 3]', "cities.json", ["Ulm", 3]),
        ("cities.yaml", "- Ulm\n- true\n", "cities.yaml", ["Ulm", True]),
        ("none", "", "[Ulm, 4]", ["Ulm", 4]),
    ],
)
def test_values_come_from_files_and_lists(
    tmp_path: Path, file: str, text: str, more: str, values: list[Any]
) -> None:
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert read(tmp_path, f"values: {{city: {more}}}\n").own_values == {"city": values}


def test_values_come_from_a_query_that_can_change_nothing(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "my.duckdb")) as connection:
        connection.execute("create table city as select unnest(['Ulm', 'Kiel', null]) as name")
    source = (
        "values: {city: {query: select name from city where name <> 'Bonn', database: my.duckdb}}\n"
    )
    assert read(tmp_path, source).own_values == {"city": ["Ulm", "Kiel"]}
    assert "can't be run" in wrong(
        tmp_path, "values: {city: {query: drop table city, database: my.duckdb}}\n"
    )
    assert "There is no DuckDB file" in wrong(
        tmp_path, "values: {city: {query: select 1, database: other.duckdb}}\n"
    )
    other = (
        "values: {city: {query: \"select * from read_text('/etc/hostname')\", database:"
        " my.duckdb}}\n"
    )
    assert "can't be run" in wrong(tmp_path, other), "no other file is read"


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        (
            "id,name\n1,Ulm\n",
            "cities.csv",
            "cities.csv:1: there is no column 'city'; the columns are id, name",
        ),
        ("id,city\n1,Ulm\n2,\n", "cities.csv", "cities.csv:3: the column 'city' is empty"),
        ("", "cities.csv", "has no values"),
        ("x", "other.csv", "other.csv' can't be read: No such file or directory"),
        ("x", "{query: select 1}", "a query needs a database, and a database a query"),
        (
            "x",
            "{column: name}",
            "values must be a list, the name of a file, or a query with its database",
        ),
    ],
)
def test_what_is_wrong_with_values_has_its_line(
    tmp_path: Path, text: str, more: str, message: str
) -> None:
    (tmp_path / "cities.csv").write_text(text, encoding="utf-8")
    found = wrong(tmp_path, f"values: {{city: {more}}}\n")
    assert message in found
    assert f"{tmp_path}/recipe.yaml:4:" in found


def test_a_value_that_does_not_fit_its_parameter_is_named_with_file_and_line(
    tmp_path: Path,
) -> None:
    (tmp_path / "cities.csv").write_text("id,city\n1,Ulm\n2,Tauberbischofsheim\n", encoding="utf-8")
    values = read(tmp_path, "values: {city: cities.csv}\n").values
    with pytest.raises(
        ConfigurationError,
        match=r"cities\.csv:3: values\.city: for the tool 'get_weather': .*Tauberbischofsheim",
    ):
        validate_own_words(values, (), [WEATHER])
    validate_own_words(
        read(tmp_path, "values: {get_weather.days: ['3', 4]}\n").values, (), [WEATHER]
    )
    with pytest.raises(
        ConfigurationError, match=r"values\.days\[1\]: for the tool 'get_weather': .*'many'"
    ):
        validate_own_words(read(tmp_path, "values: {days: [3, many]}\n").values, (), [WEATHER])
    with pytest.raises(
        ConfigurationError,
        match=r"values\.town: no tool has this parameter\. The parameters are city, days",
    ):
        validate_own_words(read(tmp_path, "values: {town: [Ulm]}\n").values, (), [WEATHER])


def test_examples_are_read_and_kept_in_the_recipe(tmp_path: Path) -> None:
    line = '{"request": "Rain in Ulm?", "tool": "get_weather", "arguments": {"city": "Ulm"}}\n'
    (tmp_path / "examples.jsonl").write_text(line * 2, encoding="utf-8")
    more = "examples: examples.jsonl\nmodels: {generator: openai/a-model}\n"
    recipe = read(tmp_path, more)
    assert (
        recipe.shown_examples
        == [{"request": "Rain in Ulm?", "tool": "get_weather", "arguments": {"city": "Ulm"}}] * 2
    )
    assert read(tmp_path, "examples: examples.jsonl\n").shown_examples == [], (
        "the template model learns nothing"
    )
    (tmp_path / "examples.jsonl").write_text(line + '{"tool": "get_weather"}\n', encoding="utf-8")
    assert "examples.jsonl:2: request: Field required" in wrong(tmp_path, more)
    assert recipe.examples is not None
    with pytest.raises(
        ConfigurationError, match="example 1 calls 'get_weather', which is not a tool of the recipe"
    ):
        validate_own_words({}, recipe.examples.read, [])
