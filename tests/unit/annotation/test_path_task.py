import pytest

from callwright.annotation.multi_step_review import (
    HOTKEYS,
    MOST_OFFERED,
    correction_task,
    disambiguation_task,
    offered_strikes,
)
from callwright.annotation.picks import PICKED, render_result
from callwright.annotation.sample_review import review_task
from callwright.annotation.screens import REVIEW_KINDS, interface_languages, screen_for, words_in
from callwright.warehouse.records import CallTurn, Condition, EntryRule, Evidence, GoldCall, Sample
from tests.support.annotation.paths import TOOLS, details, doubt, goal_path, hotels, path_sample
from tests.unit.annotation.test_screens import SAFE_TAGS, _tree

WORDS = words_in("en")


def _task(sample: Sample, **changes):
    return review_task(sample, TOOLS, [doubt(sample)], reason="-", **changes)


def _lines(task, author: str) -> list[str]:
    return [line.text for line in task.conversation if line.author == author]


def test_each_step_has_a_line_and_each_response_a_short_one():
    task = _task(path_sample())
    assert [line.author for line in task.conversation] == [
        "User",
        *["→", "API result"] * 3,
        "Assistant",
    ]
    assert (
        _lines(task, "→")[1]
        == "step 2: Search_Hotels(place_id = c7, arrival = 2026-12-05, guests = 2)"
    )
    assert (
        _lines(task, "→")[2]
        == "step 3:\nHotel_Details(hotel_id = h2)\nHotel_Reviews(hotel_id = h2)"
    )


@pytest.mark.parametrize(
    "path", ["turns[4].results[7].data", "turns[99].results[0].data", "turns[1].results[0].x", "?"]
)
def test_evidence_that_leads_nowhere_is_shown_as_it_stands(path):
    sample = path_sample()
    call = GoldCall(
        tool="Hotel_Details",
        arguments={"hotel_id": "h2"},
        evidence=(
            Evidence(
                argument="hotel_id",
                kind="response",
                turn=4,
                path=path,
                rule=EntryRule(
                    entries="data",
                    field="hotel_id",
                    where=(Condition(test="lowest", field="price"),),
                ),
            ),
        ),
    )
    broken = sample.with_changes(turns=(*sample.turns[:5], CallTurn(calls=(call,), executed=True)))
    assert (
        "← step 2 · hotel_id of data: lowest price"
        in review_task(broken, TOOLS, [], reason="-").calls_shown
    )


def test_the_entries_that_fit_as_well_are_boxes_with_keys_of_their_own():
    sample = path_sample(hotels(12, (4, 9)))
    task = disambiguation_task(sample, [doubt(sample)], reason="-")
    assert [(box.alias, box.hotkey) for box in task.strikes] == [
        ("0.0.1:data", "q"),
        ("0.0.2:data", "w"),
        ("1.0.4:data.hotels", "e"),
        ("1.0.9:data.hotels", "t"),
    ]
    assert task.strikes[2].value.startswith("step 2 · [4] price: 70 · hotel_id: h4")
    assert f"{PICKED} [2] price: 70" in task.picked
    assert (
        "step 2 · Hotel_Details.hotel_id, Hotel_Reviews.hotel_id ← hotel_id of data.hotels: lowest"
        " price" in task.picked
    )
    assert set(offered_strikes(sample)) == {box.alias for box in task.strikes}


def test_no_box_shares_its_key_with_a_verdict_or_a_reason():
    assert len(set(HOTKEYS)) == MOST_OFFERED
    for language in interface_languages():
        tree = _tree(screen_for("disambiguation", language))
        assert not set(HOTKEYS) & {element.get("hotkey") for element in tree.iter("Choice")}


def test_a_value_that_stands_alone_in_a_response_is_told_without_a_list():
    sample = path_sample({"data": {"key": "k1", "hotels": []}})
    rule = Evidence(
        argument="hotel_id",
        kind="response",
        turn=4,
        path="turns[4].results[0].data.key",
        rule=EntryRule(entries="", field="data.key"),
    )
    call = GoldCall(tool="Hotel_Details", arguments={"hotel_id": "k1"}, evidence=(rule,))
    alone = sample.with_changes(turns=(*sample.turns[:5], CallTurn(calls=(call,), executed=True)))
    assert _lines(_task(alone), "API result")[1] == f"{PICKED} data.key: k1 · data.hotels[]: 0"


def test_a_path_whose_rules_lead_nowhere_is_still_shown():
    path = goal_path()
    empty = [
        exchange.with_changes(responses=tuple({} for _ in exchange.responses))
        for exchange in path.path
    ]
    task = correction_task(path.with_changes(path=tuple(empty)), TOOLS, [], reason="-")
    assert any("Search_Hotels" in line.text for line in task.after)


@pytest.mark.parametrize("language", interface_languages())
@pytest.mark.parametrize("kind", ["correction", "disambiguation"])
def test_whatever_a_screen_shows_is_in_its_task(kind, language):
    task = (
        correction_task(goal_path(), TOOLS, [], reason="-")
        if kind == "correction"
        else disambiguation_task(path_sample(), [], reason="-")
    )
    tree = _tree(screen_for(kind, language))
    shown = {
        value[1:] for element in tree.iter() if (value := element.get("value", "")).startswith("$")
    }
    assert shown
    assert shown <= set(task.data())
    assert {element.tag for element in tree.iter()} <= SAFE_TAGS


@pytest.mark.parametrize("kind", REVIEW_KINDS)
def test_the_verdict_comes_first_and_answers_mean_the_same_in_both_languages(kind):
    told = []
    for language in interface_languages():
        tree = _tree(screen_for(kind, language))
        assert (
            next(element for element in tree.iter() if element.get("toName")).get("name")
            == "verdict"
        )
        told.append([(one.get("alias"), one.get("hotkey")) for one in tree.iter("Choice")])
    assert told[0] == told[1]
    keys = [key for _, key in told[0] if key != "0"]  # which takes a reading, where there is one
    assert keys == [str(number) for number in range(1, len(keys) + 1)]


def test_a_hostile_response_is_told_as_text():
    told = render_result({**details(), "note": "<script>alert(1)</script>\n{{7*7}}"}, [], WORDS)
    assert "<script>alert(1)</script>\\n{{7*7}}" in told
