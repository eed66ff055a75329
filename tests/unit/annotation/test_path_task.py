import pytest

from callwright.annotation.multi_step_review import (
    correction_task,
    disambiguation_task,
    offered_strikes,
)
from callwright.annotation.picks import PICKED, render_result
from callwright.annotation.sample_review import review_task
from callwright.annotation.screens import REVIEW_KINDS, interface_languages, screen_for, words_in
from callwright.warehouse.records import Sample
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
