"""Files of JSON lines are read line by line: what stands in one line ends nothing but that line."""

import tracemalloc
from pathlib import Path

import pytest

from callwright.generators.catalogs import documents
from callwright.generators.catalogs.catalog import Problem
from callwright.generators.catalogs.documents import DocumentItem, read_rows


def test_a_line_past_the_bound_is_a_problem_with_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "LONGEST_LINE", 100)
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": 1}\n\n["' + "x" * 1000 + '"]\n{"a": 2}\n', encoding="utf-8")
    first, long, last = read_rows(file)
    assert first == DocumentItem(f"{file}:1", {"a": 1}, 1)
    assert isinstance(long, Problem)
    assert (long.where, long.line) == (f"{file}:3", 3)
    assert last == DocumentItem(f"{file}:4", {"a": 2}, 4)


def test_bytes_that_are_no_text_and_a_byte_order_mark_are_looked_at_line_by_line(
    tmp_path: Path,
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"a": 1}\n"\xff"\n[]\n')
    first, broken, last = read_rows(file)
    assert first == DocumentItem(f"{file}:1", {"a": 1}, 1)
    assert isinstance(broken, Problem)
    assert "not UTF-8" in broken.message
    assert last == DocumentItem(f"{file}:3", [], 3)


@pytest.mark.parametrize("at_once", [7, 2**20])
def test_each_item_of_a_list_has_the_line_where_it_begins(
    at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_SOME", at_once)
    file = tmp_path / "rows.json"
    text = '\n[\n  {"a":\n 1},\n\n  {"a": 2}, {"a": 3},\n {"a": NaN}, {"a": 5}, broken]\n'
    file.write_text(text, encoding="utf-8")
    rows = [*read_rows(file)]
    assert [row.line for row in rows] == [3, 6, 6, 7, 7, 7]
    assert [isinstance(row, Problem) for row in rows] == [False] * 3 + [True, False, True]


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    with file.open("wb") as written:
        for number in range(20_000):
            written.write(b'{"number": %d, "text": "%s"}\n' % (number, b"x" * 200))
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_rows(file)) == 20_000
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < file.stat().st_size / 4
