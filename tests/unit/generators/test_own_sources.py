"""Readers that somebody else wrote: what they raise costs a row, or stops with the author's file
and line; never a bug of ours.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from callwright.generators.catalogs import FORMATS, read_catalog
from callwright.generators.catalogs.catalog import CatalogFormat
from callwright.generators.imports.chats import ChatRow, reader_of_rows
from callwright.generators.imports.reading import SOURCES, ImportedRecord, SampleFormat, read_source
from callwright.warehouse.errors import ConfigurationError
from tests.unit.generators.test_sources import ROWS, written


def rows_read(folder: Path, find: Any, *rows: Any) -> list[ImportedRecord]:
    form = SampleFormat("mine", "my log", reader_of_rows("mine", find))
    return list(read_source(form, written(folder / "rows.jsonl", *rows)))


def test_a_row_on_which_the_function_of_its_author_raises_costs_itself_alone(
    tmp_path: Path,
) -> None:
    good = {"chat": ROWS["toucan"]["messages"]}
    first, wrong, last = rows_read(
        tmp_path, lambda row: ChatRow(row["chat"]), good, {"talk": 1}, good
    )
    assert first.sample == last.sample is not None
    assert wrong.where.endswith(":2")
    assert re.search(
        r"Your source 'mine' \(.*test_own_sources\.py:\d+\) raised KeyError: 'chat'",
        wrong.problems[0].message,
    )


@pytest.mark.parametrize(
    "given", [3, "words", [], ("a", None), ChatRow([], system=3), ChatRow([], signals=None)]
)  # type: ignore[arg-type]
def test_a_row_for_which_the_function_gives_something_else_costs_itself_alone(
    given: Any, tmp_path: Path
) -> None:
    [record] = rows_read(tmp_path, lambda _row: given, {})
    assert record.sample is None
    assert re.search(
        r"Your source 'mine' \(.*\) gives .*; it gives a ChatRow, or None",
        record.problems[0].message,
    )


def raising(_path: Path) -> Iterator[ImportedRecord]:
    yield ImportedRecord("1")
    raise ZeroDivisionError("by zero")


def test_a_reader_that_raises_as_a_whole_is_told_with_its_line(tmp_path: Path) -> None:
    records = read_source(SampleFormat("mine", "my log", raising), tmp_path)
    assert next(records).where == "1"
    with pytest.raises(
        ConfigurationError,
        match=r"Your source 'mine' \(.*test_own_sources\.py:\d+\) raised ZeroDiv",
    ):
        next(records)


@pytest.mark.parametrize(
    "given", [3, {"where": "x"}, ImportedRecord(3), ImportedRecord("x", "no sample")]
)  # type: ignore[arg-type]
def test_what_is_no_record_stands_as_a_problem_in_its_place(given: Any, tmp_path: Path) -> None:
    good = ImportedRecord("2")
    wrong, record = read_source(
        SampleFormat("mine", "my log", lambda _path: [given, good]), tmp_path
    )
    assert wrong.sample is None
    assert "it gives an ImportedRecord" in wrong.problems[0].message
    assert record is good


def test_a_record_larger_than_can_be_kept_is_left_out_and_the_good_one_beside_it_read(
    tmp_path: Path,
) -> None:
    long = {
        "messages": [
            {"role": "user", "content": "x" * (20 * 2**20)},
            {"role": "assistant", "content": "No."},
        ]
    }
    some = {
        "messages": [
            {"role": "user", "content": "x" * (5 * 2**20)},
            {"role": "assistant", "content": "No."},
        ]
    }
    path = tmp_path / "rows.json"
    path.write_text(
        f"[{','.join(map(json.dumps, (ROWS['openai'], long, some, ROWS['openai'])))}]",
        encoding="utf-8",
    )
    records = list(read_source(SOURCES.named("openai"), path))
    assert [one.sample is None for one in records] == [False, True, True, False]
    assert [one.where.rpartition("/")[2] for one in records] == list("0123")
    assert "16 MiB" in records[1].problems[0].message
    assert "4 MiB" in records[2].problems[0].message


@pytest.mark.parametrize(
    ("read", "files", "wrong"),
    [
        (lambda _path: 1 / 1, 1, "gives 1.0; it gives a Catalog"),
        (lambda _path: None, 1, "gives None"),
        (lambda _path: {}["tools"], 2, "raised KeyError: 'tools'"),
    ],
)
def test_a_catalog_format_of_somebody_else_that_raises_or_gives_something_else_is_told(
    read: Callable[[Path], Any], files: int, wrong: str, tmp_path: Path
) -> None:
    told = rf"Your catalog format 'mine' \(.*\.py:\d+\) {wrong}"
    with (
        FORMATS.including(CatalogFormat("mine", read)),
        pytest.raises(ConfigurationError, match=told),
    ):
        read_catalog("mine", tmp_path if files == 1 else [tmp_path] * files)
