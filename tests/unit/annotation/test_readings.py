"""Both readings side by side: what is shown, and what comes of taking the reader's with one key."""

from datetime import UTC, datetime

import pytest

from callwright.annotation.readings import take_readings
from callwright.annotation.sample_review import parse_review, review_task
from callwright.annotation.studio.records import PulledAnnotation
from callwright.testing import make_sample, make_tool
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import Call, CallTurn, Reading, UserTurn, Verdict

BOOK = make_tool(
    "book", "Book a table.", place="string", guests="integer", terrace="boolean", required=["place"]
)
TOOLS = [BOOK]
SAMPLE = make_sample(
    TOOLS, "A table for 4 at Kora, terrace.", {"book": {"place": "Kora", "guests": 3}}
)
WRITTEN = Call(tool="book", arguments={"terrace": True, "guests": 4, "place": "Kora"})


def reading(
    *calls: Call, votes: tuple[str, ...] = ("written", "written"), turn: int = 1
) -> Reading:
    return Reading(
        turn=turn, calls=calls, instead=None if calls else "none", votes=votes, settled_by="judge"
    )  # type: ignore[arg-type]


def shown(*readings: Reading) -> str:
    verdict = Verdict(subject=SAMPLE.key, check="reading", decision="unproved", readings=readings)
    return review_task(SAMPLE, TOOLS, [verdict], reason="-").readings


def annotation(verdict: str) -> PulledAnnotation:
    result = {"from_name": "verdict", "value": {"choices": [verdict]}}
    return PulledAnnotation(
        server="local",
        task_id=1,
        annotation_id=2,
        kind="sample_review",
        subject=SAMPLE.key,
        version=1,
        reviewer="ana",
        reviewed_at=datetime(2026, 11, 28, tzinfo=UTC),
        seconds=3.0,
        result=(result,),
    )


def test_the_calls_shown_and_those_written_stand_below_each_other_with_marks_where_they_differ() -> (
    None
):
    assert shown(reading(WRITTEN)).splitlines() == [
        "Gold: book(place = Kora, ⟦guests = 3⟧)",
        "Reader: book(place = Kora, ⟦guests = 4⟧, ⟦terrace = true⟧)",
    ]
    assert "Reader: ⟦no call is due⟧" in shown(reading())


def test_one_key_takes_what_the_reader_wrote_as_an_edit() -> None:
    parsed = parse_review(annotation("reading"), SAMPLE, TOOLS, [reading(WRITTEN)])
    assert parsed.review is not None
    assert parsed.review.decision == "edit"
    assert parsed.edited is not None
    assert [call.bare for call in parsed.edited.gold] == [WRITTEN]  # type: ignore[union-attr]
    assert parsed.edited.origin.parents == (SAMPLE.key,)  # type: ignore[union-attr]


def test_a_call_that_was_carried_out_is_not_replaced() -> None:
    turns = (UserTurn(text=SAMPLE.request), CallTurn(calls=SAMPLE.gold, executed=True))
    with pytest.raises(RecordError, match="results that follow"):
        take_readings(SAMPLE.with_changes(turns=turns), [reading(WRITTEN)])
