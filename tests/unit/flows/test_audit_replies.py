"""The differential: what strong models answer alike and otherwise than the gold."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from callwright.flows.data_audit.replies import find_in_replies
from callwright.generators.imports.reading import AcceptedValues, ImportedRecord
from callwright.testing import make_sample, make_tool
from callwright.warehouse.errors import ConfigurationError

PAY = make_tool("pay.back", payee="string", amount="integer")
RIGHT = "[pay.back(payee='Tom', amount=20)]"
OTHER = "[pay.back(payee='Tom', amount=2000)]"
NATIVE = [{"pay_back": '{"payee": "Tom", "amount": 2000}'}]


def record(number: int) -> ImportedRecord:
    gold = {"pay.back": {"payee": "Tom", "amount": 20}}
    sample = make_sample([PAY], "I owe Tom $20, settle that.", gold)
    accepted = (AcceptedValues(1, 0, "payee", ("Tom", "Thomas")),)
    return ImportedRecord(
        f"pay.json:{number}", sample, (PAY,), item=f"simple_python_{number}", accepted=accepted
    )


def write(folder: Path, replies: Mapping[str, list[object]]) -> Path:
    for model, given in replies.items():
        (folder / model).mkdir(parents=True)
        lines = [json.dumps({"id": f"simple_{at}", "result": one}) for at, one in enumerate(given)]
        (folder / model / "BFCL_v3_simple_result.json").write_text("\n".join(lines))
    return folder


def test_what_most_strong_models_answer_alike_is_a_warning_with_how_many(tmp_path: Path) -> None:
    thomas = RIGHT.replace("Tom", "Thomas")
    strong = {
        "a": [RIGHT, RIGHT, thomas, OTHER],
        "b": [RIGHT, RIGHT, RIGHT, NATIVE],
        "c": [RIGHT, RIGHT, RIGHT, OTHER.replace(", ", ",")],
        "d": [thomas, RIGHT, RIGHT, RIGHT],
    }
    weak = {"e": [OTHER] * 4, "f": [OTHER] * 4, "g": [OTHER] * 4}
    folder = write(tmp_path, strong | weak)
    [finding] = find_in_replies(map(record, range(4)), [folder])
    assert (finding.item, finding.severity, finding.sort) == (
        "simple_python_3",
        "warning",
        "replies_differ",
    )
    assert (finding.argument, finding.gold, finding.expected) == ("amount", 20, 2000)
    assert finding.support == 3
    assert finding.reason == (
        "3 of 4 models that write most golds of this data wrote: amount = 2000."
    )


def test_records_whose_results_are_unknown_are_left_out(tmp_path: Path) -> None:
    replies = {model: [RIGHT, RIGHT, RIGHT, OTHER] for model in "abc"}
    records = [record(at)._replace(lacks_results=at == 3) for at in range(4)]
    assert [*find_in_replies(records, [write(tmp_path, replies)])] == []


@pytest.mark.parametrize("others", [2, 3])
def test_no_fewer_than_two_thirds_of_strong_models_and_three_count(
    tmp_path: Path, others: int
) -> None:
    replies = {
        f"m{at}": [RIGHT] * 3 + [OTHER if at < others else RIGHT] for at in range(others + 2)
    }
    assert [*find_in_replies(map(record, range(4)), [write(tmp_path, replies)])] == []


def test_a_folder_without_replies_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(ConfigurationError):
            next(find_in_replies(iter(()), [folder]))
