"""Trajectories in ATIF: they keep its rules, and our own reader reads them back."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from callwright.generators.imports.traces import ATIF
from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.formats import export_release
from callwright.warehouse.exports.trajectories import atif_document
from callwright.warehouse.records import CallTurn, GoldCall, ReplyTurn, ResultTurn, Turn, UserTurn
from callwright.warehouse.releases import ReleaseContent
from tests.support.warehouse.exported import stream_of

RIDE = "出行.打车/now!"
RIDES = tuple(GoldCall(tool=RIDE, arguments={"place": place}) for place in ("Voss", "Oslo"))


@pytest.fixture
def ridden(content: ReleaseContent) -> ReleaseContent:
    turns = (
        UserTurn(text="Rides to Voss and Oslo."),
        CallTurn(calls=RIDES, executed=True),
        ResultTurn(results=({"id": 7}, ["full"])),
        ReplyTurn(text="Only Voss. Another one?"),
        UserTurn(text="Both again."),
        CallTurn(calls=RIDES, executed=False),
    )
    sample = content.samples[0].with_changes(turns=turns, system_message="Be brief.")
    return content._replace(samples=(sample,))


def calls_of(turns: Iterable[Turn]) -> list[CallTurn]:
    return [turn for turn in turns if isinstance(turn, CallTurn)]


def test_results_stand_in_the_steps_of_their_calls(ridden: ReleaseContent) -> None:
    document = atif_document(ridden.samples[0], stream_of(ridden))
    steps = document["steps"]
    assert [one["step_id"] for one in steps] == [*range(1, len(steps) + 1)]
    assert [one["source"] for one in steps] == ["system", "user", "agent", "agent", "user", "agent"]
    acting = steps[2]
    ids = [one["tool_call_id"] for one in acting["tool_calls"]]
    assert [one["source_call_id"] for one in acting["observation"]["results"]] == ids
    assert "observation" not in steps[-1]
    assert not any("tool_calls" in one for one in steps if one["source"] != "agent")


def test_several_calls_at_the_end_are_not_put_in_turn(ridden: ReleaseContent) -> None:
    source = stream_of(ridden)._replace(one_call_at_a_time=True)
    sample = ridden.samples[0]
    with pytest.raises(RecordError, match="due together"):
        atif_document(sample, source)
    steps = atif_document(sample.with_changes(turns=sample.turns[:4]), source)["steps"]
    assert [len(one.get("tool_calls", ())) for one in steps] == [0, 0, 1, 1, 0]


def test_what_goes_out_is_read_back(ridden: ReleaseContent, tmp_path: Path) -> None:
    [file] = [
        path
        for path in export_release(stream_of(ridden), "atif", tmp_path / "out").files
        if path.parent.name == "v1"
    ]
    assert json.loads(file.read_text(encoding="utf-8"))["schema_version"] == "ATIF-v1.7"
    [record] = ATIF.read(file)
    assert record.sample is not None
    told = [(turn.kind, getattr(turn, "text", "")) for turn in record.sample.turns]
    assert told == [(turn.kind, getattr(turn, "text", "")) for turn in ridden.samples[0].turns]
    made = [[call.arguments for call in turn.calls] for turn in calls_of(record.sample.turns)]
    assert made == [[call.arguments for call in RIDES]] * 2
    assert [turn.results for turn in record.sample.turns if isinstance(turn, ResultTurn)] == [
        ({"id": 7}, ["full"])
    ]
    assert record.sample.system_message == "Be brief."
