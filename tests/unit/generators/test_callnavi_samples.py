"""CallNavi's questions as samples and back: placeholders with their sources, and what is odd is
told.
"""

import json
from pathlib import Path

import orjson
import pytest

from callwright.generators.imports.papers import read_callnavi_samples
from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.formats import export_release
from callwright.warehouse.records import CallTurn, FeedRule, ResultTurn
from tests.support.warehouse.exported import exported, release_of, stream_of

PORTS = [
    {
        "name": "findGuest",
        "parameters": {"name": "string"},
        "description": "Finds one.",
        "returnParameter": {"guestID": "string"},
    },
    {
        "name": "bookSauna",
        "parameters": {"guestID": "string", "hour": "number"},
        "description": "Books the sauna.",
    },
]
NESTED = {
    "id": "spa001",
    "question": [{"role": "user", "content": "Book the sauna at 7 for Ida Berg."}],
    "ground_truth": {
        "API": ["findGuest", "bookSauna"],
        "parameters": [{"name": "Ida Berg"}, {"guestID": "$$$", "hour": 7}],
    },
    "difficulty": "hard",
}


def write(folder: Path, *questions: object) -> Path:
    for name, value in (("Questions", list(questions)), ("APIs", {"api_ports": PORTS})):
        (folder / name).mkdir()
        (folder / name / "spa.json").write_bytes(orjson.dumps(value))
    return folder


def test_a_question_is_a_sample_over_the_whole_catalog_of_its_domain(tmp_path: Path) -> None:
    [record] = read_callnavi_samples(write(tmp_path, NESTED))
    sample = record.sample
    assert sample is not None
    assert record.item == NESTED["id"]
    assert (sample.kind, sample.category, sample.language, len(sample.candidates)) == (
        "routing_hard",
        "spa",
        "en",
        2,
    )
    assert sample.facts.difficulty == "hard"
    assert [(call.tool, call.arguments) for call in sample.gold] == [
        ("findGuest", {"name": "Ida Berg"}),
        ("bookSauna", {"guestID": "$$$", "hour": 7}),
    ]
    [evidence] = sample.gold[1].evidence
    assert (evidence.argument, evidence.rule) == ("guestID", FeedRule(call=0, field="guestID"))


def test_what_is_exported_is_the_question_that_was_imported(tmp_path: Path) -> None:
    [record] = read_callnavi_samples(write(tmp_path, NESTED))
    assert record.sample is not None
    files = exported(
        release_of([record.sample], {tool.key: tool for tool in record.tools}), "callnavi"
    )
    assert files["Questions/spa.json"] == [NESTED]
    [apis] = files["APIs/spa.json"]
    assert [port["name"] for port in apis["api_ports"]] == ["bookSauna", "findGuest"]


def test_a_question_that_can_not_be_read_says_why_and_stops_nobody(tmp_path: Path) -> None:
    broken = [
        3,
        {**NESTED, "difficulty": "odd"},
        {**NESTED, "question": []},
        {**NESTED, "ground_truth": {"API": ["findGuest"], "parameters": [{}, {}]}},
        {**NESTED, "ground_truth": None},
    ]
    records = list(read_callnavi_samples(write(tmp_path, *broken, NESTED)))
    assert [record.sample is None for record in records] == [True] * len(broken) + [False]
    assert all(record.problems for record in records[:-1])


def test_calls_that_were_carried_out_have_no_place_there(tmp_path: Path) -> None:
    [record] = read_callnavi_samples(write(tmp_path, NESTED))
    assert record.sample is not None
    asked, due = record.sample.turns
    made = (
        asked,
        CallTurn(calls=record.sample.gold, executed=True),
        ResultTurn(results=({}, {})),
        due,
    )
    with pytest.raises(RecordError, match="carried out"):
        exported(release_of([record.sample.with_changes(turns=made)], {}), "callnavi")


def test_the_published_questions_come_back_as_they_were(shared: Path, tmp_path: Path) -> None:
    records = list(read_callnavi_samples(shared / "data" / "callnavi"))
    assert len(records) == 729
    samples = tuple(record.sample for record in records if record.sample is not None)
    assert len(samples) == 729
    tools = {tool.key: tool for record in records for tool in record.tools}
    export_release(stream_of(release_of(samples, tools)), "callnavi", tmp_path)
    other = 0
    for file in (shared / "data" / "callnavi" / "Questions").glob("*.json"):
        published = json.loads(file.read_text(encoding="utf-8"))
        ours = json.loads((tmp_path / "Questions" / file.name).read_text(encoding="utf-8"))
        other += sum(one != back for one, back in zip(published, ours, strict=True))
    assert other == 6, "six questions state no parameters at all beside their call"
