import json

import orjson
import pytest

from callwright.annotation.multi_step_review import (
    GONE,
    NEW,
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

MOST_BYTES = 60_000
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
    ("language", "place", "hotel"),
    [
        ("zh", '第 1 步 · data 中的 id：name 等于 "Lyon"', "data.hotels 中的 hotel_id：price 最低"),
        ("es", 'paso 1 · id de data: name es "Lyon"', "hotel_id de data.hotels: price más bajo"),
    ],
)
def test_rules_of_picks_are_told_in_the_language_of_the_screen(language, place, hotel):
    sample = path_sample()
    shown = _task(sample, language=language).calls_shown
    assert place in shown
    assert hotel in shown
    assert hotel in disambiguation_task(sample, [], reason="-", language=language).picked
    after = [
        line.text
        for line in correction_task(goal_path(), TOOLS, [], reason="-", language=language).after
    ]
    assert any(hotel in text for text in after)


def test_a_failed_check_of_the_path_is_told_with_its_reason():
    task = _task(path_sample())
    assert task.details == f"UNSURE · path: {doubt(path_sample()).reason}"
    assert doubt(path_sample()).reason in task.failed


@pytest.mark.parametrize("language", interface_languages())
def test_the_task_of_a_response_of_400_kilobytes_stays_small(language):
    found = hotels(900, tuple(range(3, 60)), prose=30)
    assert len(orjson.dumps(found)) > 400_000
    sample = path_sample(found)
    tasks = [
        _task(sample, language=language),
        disambiguation_task(sample, [doubt(sample)], reason="-", language=language),
        correction_task(goal_path(found), TOOLS, [], reason="-", language=language),
    ]
    for task in tasks:
        assert len(json.dumps(task.data()).encode()) < MOST_BYTES / 4


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


def test_both_paths_stand_side_by_side_with_what_sets_them_apart():
    task = correction_task(goal_path(), TOOLS, [], reason="Drawn.")
    before, after = ("\n".join(line.text for line in lines) for lines in (task.before, task.after))
    assert before.count(GONE) == 2
    assert f"{GONE} Find_Place(query = Old Lyon)" in before
    assert (
        f"{NEW} Hotel_Reviews\n     hotel_id = h2   ← step 2 · hotel_id of data.hotels: lowest"
        " price" in after
    )
    assert "guests = 2   ← default value" in after
    assert f"{PICKED} [2] price: 70" in after
    assert task.corrections.split("\n") == [
        "other value · step 2: Search_Hotels.guests = 1 → Search_Hotels.guests = 2",
        'call needless · step 3: Find_Place(query="Old Lyon")',
        'other order: step 4: Hotel_Details(hotel_id="h2") → step 3: Hotel_Details(hotel_id="h2")',
        'call missing · step 3: Hotel_Reviews(hotel_id="h2")',
        "request reworded",
    ]
    assert [line.author for line in task.request] == [
        "The request before it was corrected",
        "Request",
    ]


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
