"""Audits of data sets: what is kept, where an interrupted one goes on, and what is odd in files."""

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import callwright
from callwright.flows.api.surroundings import settings_of
from callwright.flows.data_audit import running
from callwright.flows.data_audit.running import audit_data, audited_files, look_by_code
from callwright.flows.settings import open_warehouse
from callwright.flows.sources import import_release
from callwright.generators.imports.reading import ImportedRecord
from callwright.validators.audit.findings import Finding
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.store import Warehouse

TOOL = {
    "name": "book_table",
    "description": "Book a table.",
    "parameters": {
        "type": "dict",
        "properties": {"guests": {"type": "integer", "description": "How many guests come."}},
        "required": ["guests"],
    },
}


def bfcl_file(
    folder: Path,
    golds: Sequence[object],
    name: str = "BFCL_v4_mine.json",
    said: str = "Book a table for 5 guests as client A{}.",
) -> Path:
    """Write a question for five guests for each gold number of guests, as BFCL has them."""
    (folder / "possible_answer").mkdir(parents=True, exist_ok=True)
    questions = [
        {
            "id": f"mine_{at}",
            "question": [[{"role": "user", "content": said.format(at)}]],
            "function": [TOOL],
        }
        for at in range(len(golds))
    ]
    answers = [
        {"id": f"mine_{at}", "ground_truth": [{"book_table": {"guests": [gold]}}]}
        for at, gold in enumerate(golds)
    ]
    for path, rows in ((folder / name, questions), (folder / "possible_answer" / name, answers)):
        path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return folder / name


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "home" / "warehouse.duckdb", patience=5)


async def test_an_audit_keeps_what_it_finds_the_gravest_first(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    path = bfcl_file(tmp_path, [5, "five", 5])
    audit = await audit_data(warehouse, audited_files([path], "bfcl"))
    assert (audit.records, audit.unreadable) == (3, 0)
    [found] = audit.findings()
    assert (found.item, found.severity, found.tool) == ("mine_1", "error", "book_table")
    assert sum(audit.counts.values()) == 1
    assert audit.failed
    assert not replace(audit, fail_on="never").failed


def interrupted_after_two() -> tuple[
    Callable[[Sequence[ImportedRecord]], Awaitable[Iterable[Finding]]], list[str]
]:
    """A look by code that is interrupted after two records, and the items that it saw."""
    looked: list[str] = []

    async def look(records: Sequence[ImportedRecord]) -> Iterable[Finding]:
        if len(looked) == 2:
            raise KeyboardInterrupt
        looked.extend(one.item for one in records)
        return await look_by_code(records)

    return look, looked


async def test_an_interrupted_audit_goes_on_and_a_finished_one_is_not_made_twice(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_AT_ONCE", 2)
    data = audited_files([bfcl_file(tmp_path, ["five"] * 5)], "bfcl")
    look, looked = interrupted_after_two()
    with pytest.raises(KeyboardInterrupt):
        await audit_data(warehouse, data, look=look)
    looked.append("")
    audit = await audit_data(warehouse, data, look=look)
    assert looked == ["mine_0", "mine_1", "", "mine_2", "mine_3", "mine_4"]
    assert audit.records == len([*audit.findings()]) == 5
    assert (await audit_data(warehouse, data)).key == audit.key
    assert (await audit_data(warehouse, data, again=True)).key != audit.key


async def test_the_same_words_with_another_gold_are_found_across_an_interruption(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_AT_ONCE", 2)
    data = audited_files([bfcl_file(tmp_path, [5, 5, 5, 6], said="A table for us")], "bfcl")
    look, _ = interrupted_after_two()
    with pytest.raises(KeyboardInterrupt):
        await audit_data(warehouse, data, look=look)
    audit = await audit_data(warehouse, data)
    assert [(one.item, one.sort) for one in audit.findings()] == [("mine_3", "duplicate")]


async def test_the_newest_judgement_of_a_finding_counts_once_for_all_audits_of_the_same_files(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    data = audited_files([bfcl_file(tmp_path, ["five", "fünf", "cinq"])], "bfcl")
    first = await audit_data(warehouse, data)
    keys = [one.key for one in first.findings()]
    said = [(0, "refused", 1), (0, "confirmed", 2), (1, "refused", 1), (2, "noted", 1)]
    row = {"audit": first.key, "person": "Ada", "note": ""}
    warehouse.put_rows(
        {
            "finding_judgements": [
                row | {"finding": keys[at], "verdict": verdict, "judged_at": f"2026-01-0{day}"}
                for at, verdict, day in said
            ]
        }
    )
    second = await audit_data(warehouse, data, again=True)
    assert [one.verdict for one in second.findings()] == ["confirmed", "refused", "noted"]
    [precision] = warehouse.rows("from finding_precision")
    assert (precision["n_judged"], precision["n_confirmed"], precision["precision"]) == (2, 1, 0.5)


async def test_data_without_records_are_no_audit(warehouse: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "nothing.json"
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="holds no records"):
        await audit_data(warehouse, audited_files([path], "openai"))


@pytest.mark.parametrize("options", [{"paths": "v1"}, {"release": "v1"}])
def test_a_release_is_audited_by_its_name(tmp_path: Path, options: dict[str, str]) -> None:
    warehouse = open_warehouse(settings_of(tmp_path))
    import_release(warehouse, "v1", "bfcl", bfcl_file(tmp_path / "data", [5, "five", 5]))
    made = callwright.audit(**options, home=tmp_path)
    assert (made.records, made.form) == (3, "release")
    assert [(one.severity, one.sort, one.gold) for one in made] == [("error", "type", "five")]
