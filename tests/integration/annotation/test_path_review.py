from callwright.annotation.edits import strike
from callwright.annotation.multi_step_review import (
    offered_strikes,
    parse_correction_review,
    parse_disambiguation,
)
from callwright.annotation.picks import contests_of
from callwright.annotation.sample_review import parse_review, review_task
from callwright.annotation.studio.records import PulledAnnotation
from callwright.generators.environments.picking import value_at
from callwright.warehouse.records import CallPlace, CallTurn, ResultTurn, SampleFacts, Strike
from tests.support.annotation.editing import as_sent, named
from tests.support.annotation.paths import TOOLS, answered, goal_path, hotels, path_sample

KEY = goal_path().key


def _annotation(subject: str, verdict: str = "", **controls: list[str]) -> PulledAnnotation:
    held = {"verdict": [verdict] if verdict else [], **controls}
    return PulledAnnotation.model_validate(
        {
            "server": "here",
            "task_id": 7,
            "annotation_id": 70,
            "kind": "-",
            "subject": subject,
            "version": 1,
            "reviewer": "reviewer@localhost",
            "reviewed_at": "2026-11-21T10:00:00Z",
            "seconds": 12.5,
            "result": [
                {
                    "from_name": name,
                    "value": {
                        "text" if name.startswith(("line", "text", "words")) else "choices": values
                    },
                }
                for name, values in held.items()
                if values
            ],
        }
    )


def _strike(entry: int, step: int = 1, entries: str = "data.hotels") -> Strike:
    return Strike(step=step, call=0, entries=entries, entry=entry, reason="-")


def _names(sample, turn: int = 4) -> list[str]:
    return [one["hotel_id"] for one in sample.turns[turn].results[0]["data"]["hotels"]]


def test_a_correction_is_accepted_or_rejected_with_reasons():
    accepted = parse_correction_review(_annotation(KEY, "accept"), KEY).review
    rejected = parse_correction_review(
        _annotation(KEY, "reject", reasons=["incomplete"]), KEY
    ).review
    assert (accepted.decision, accepted.subject) == ("accept", KEY)
    assert (rejected.decision, rejected.reasons) == ("reject", ("incomplete",))


def test_what_is_ticked_is_struck_in_a_new_version_of_the_sample():
    sample = path_sample(hotels(8, (1, 4)))
    parsed = parse_disambiguation(
        _annotation(sample.key, "edit", strikes=["1.0.1:data.hotels", "1.0.4:data.hotels"]), sample
    )
    assert [(one.step, one.call, one.entries, one.entry) for one in parsed.strikes] == [
        (1, 0, "data.hotels", 1),
        (1, 0, "data.hotels", 4),
    ]
    assert _names(parsed.edited) == ["h0", "h2", "h3", "h5", "h6", "h7"]
    assert parsed.edited.origin.parents == (sample.key,)
    assert (parsed.review.decision, parsed.review.result) == ("edit", parsed.edited.key)
    assert parsed.edited.facts == sample.facts


def test_when_all_that_competes_is_struck_nothing_is_left_to_ask():
    sample = path_sample(hotels(30, (1, 4, 9, 20), prose=5))
    edited = strike(sample, [*offered_strikes(sample).values()])
    assert not offered_strikes(edited)
    assert [contest.rivals for contest in contests_of(edited)] == [(), ()]
    for turn in edited.turns:
        if isinstance(turn, CallTurn):
            for call in turn.calls:
                for evidence in call.evidence:
                    if evidence.path:
                        held = edited.turns[evidence.turn]
                        assert isinstance(held, ResultTurn)
                        path = evidence.path.split("results[0].")[1]
                        assert value_at(held.results[0], path) == call.arguments[evidence.argument]


def test_the_answer_follows_the_responses_that_it_tells_of():
    sample = path_sample(hotels(8, (0, 4)))
    retold = sample.with_changes(facts=SampleFacts(environment="town", wanted=(CallPlace(1, 0),)))
    retold = answered(retold)
    assert "House 0" in retold.turns[-1].text
    assert "House 1" in strike(retold, [_strike(0)]).turns[-1].text
    worded = retold.with_changes(
        turns=(*retold.turns[:-1], retold.turns[-1].with_changes(text="By a person."))
    )
    assert strike(worded, [_strike(0)]).turns[-1].text == "By a person."


def test_boxes_and_verdict_must_agree():
    sample = path_sample()
    nothing = parse_disambiguation(_annotation(sample.key, "edit"), sample)
    in_vain = parse_disambiguation(
        _annotation(sample.key, "accept", strikes=["1.0.4:data.hotels"]), sample
    )
    assert nothing.returned.problem == "The verdict is to strike entries, but none is ticked."
    assert "clear as it is" in in_vain.returned.problem
    assert in_vain.returned.calls == "1.0.4:data.hotels"
    assert nothing.review is in_vain.review is None


def test_an_argument_of_a_step_is_edited_and_rests_on_the_reviewer():
    sample = path_sample()
    rows = review_task(sample, TOOLS, [], reason="-").data()["rows"]
    typed = as_sent(rows) | {named(rows, "guests"): "3"}
    controls = {control: [text] for control, text in typed.items()}
    parsed = parse_review(_annotation(sample.key, "edit", **controls), sample, TOOLS)
    call = parsed.edited.turns[3].calls[0]
    assert call.arguments["guests"] == 3
    assert {one.argument: one.kind for one in call.evidence} == {
        "place_id": "response",
        "arrival": "normalised",
        "guests": "person",
    }
    assert parsed.edited.turns[4] == sample.turns[4]
