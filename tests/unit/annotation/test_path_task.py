import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.annotation.multi_step_review import (
    GONE,
    HOTKEYS,
    MOST_OFFERED,
    NEW,
    correction_task,
    disambiguation_task,
    offered_strikes,
)
from callwright.annotation.picks import (
    MOST_RESULT,
    PICKED,
    RIVAL,
    contests_of,
    render_response,
    render_result,
    without_long_words,
)
from callwright.annotation.reviews import Returned
from callwright.annotation.sample_review import review_task
from callwright.annotation.screens import REVIEW_KINDS, interface_languages, screen_for, words_in
from callwright.generators.environments.travel import open_travel
from callwright.generators.shifts.turns import is_path
from callwright.validators.checks.table import told_in_english
from callwright.warehouse.records import (
    CallTurn,
    DoubtedFact,
    Evidence,
    GoldCall,
    ResultTurn,
    Sample,
    UserTurn,
)
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


def test_the_picked_entry_stands_first_and_those_that_fit_as_well_after_it():
    lines = _lines(_task(path_sample()), "API result")[1].split("\n")
    assert lines[0] == "data.hotels (entries: 6)"
    assert lines[1].startswith(f"{PICKED} [2] price: 70 · hotel_id: h2 · name: House 2")
    assert lines[2].startswith(f"{RIVAL} [4] price: 70 · hotel_id: h4")
    assert lines[-1].strip() == "… 2 more"


def test_where_each_value_comes_from_is_told_step_by_step():
    shown = _task(path_sample()).calls_shown
    assert "    query = Lyon   ← “Lyon” (said)" in shown
    assert '    place_id = c7   ← step 1 · id of data: name equals "Lyon"' in shown
    assert "    guests = 2   ← default value" in shown
    assert shown.count("    hotel_id = h2   ← step 2 · hotel_id of data.hotels: lowest price") == 2
    assert "step 3\n  Hotel_Details\n" in shown


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


def test_a_value_put_together_of_others_has_a_line_for_each_part():
    parts = tuple(
        Evidence(
            argument=f"legs[{index}].from", kind="span", turn=0, start=0, end=1, quote="I", rule=""
        )
        for index in (0, 1)
    )
    call = GoldCall(
        tool="Search_Hotels", arguments={"legs": [{"from": "I"}, {"from": "I"}]}, evidence=parts
    )
    sample = Sample(
        kind="multi_step",
        language="en",
        category="Hotels",
        candidates=(),
        turns=(
            UserTurn(text="I am off."),
            CallTurn(calls=(call,), executed=True),
            ResultTurn(results=(1,)),
        ),
        tags=("environment=town",),
    )
    shown = review_task(sample, TOOLS, [], reason="-").calls_shown
    assert "      legs[0].from   ← “I” (said)\n      legs[1].from   ← “I” (said)" in shown


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


def test_all_tools_of_a_whole_world_leave_the_task_small():
    tools = open_travel().tools
    sample = path_sample().with_changes(candidates=tuple(tool.key for tool in tools))
    task = review_task(sample, [*TOOLS, *tools], [], reason="-")
    assert len(json.dumps(task.data()).encode()) < MOST_BYTES
    assert tools[-1].name in task.other_tools


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=40,
)


@given(_JSON)
def test_whatever_comes_back_is_told_in_a_few_characters(response):
    assert len(render_result(response, [], WORDS)) <= MOST_RESULT + 1
    assert render_response(response)


def test_a_sample_without_an_environment_is_told_as_a_conversation(sample):
    assert not is_path(sample)
    assert contests_of(sample) == []
    assert not offered_strikes(sample)


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
                rule="hotel_id of data: lowest price",
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


def test_what_finds_no_box_is_counted():
    task = disambiguation_task(path_sample(hotels(40, tuple(range(3, 33)))), [], reason="-")
    assert len(task.strikes) == MOST_OFFERED
    assert f"{2 + 30 - MOST_OFFERED} more fit as well" in task.picked


def test_a_token_that_nobody_reads_is_told_by_its_ends():
    assert without_long_words(f"key = {'a' * 50}{'z' * 50}, n") == f"key = {'a' * 14}…{'z' * 10}, n"
    assert without_long_words("a sentence of many words that is not a token at all").endswith(
        "at all"
    )


def test_a_value_that_stands_alone_in_a_response_is_told_without_a_list():
    sample = path_sample({"data": {"key": "k1", "hotels": []}})
    rule = Evidence(
        argument="hotel_id",
        kind="response",
        turn=4,
        path="turns[4].results[0].data.key",
        rule='data.key of ""',
    )
    call = GoldCall(tool="Hotel_Details", arguments={"hotel_id": "k1"}, evidence=(rule,))
    alone = sample.with_changes(turns=(*sample.turns[:5], CallTurn(calls=(call,), executed=True)))
    assert _lines(_task(alone), "API result")[1] == f"{PICKED} data.key: k1 · data.hotels[]: 0"


def test_nothing_competes_where_only_one_entry_fits():
    clear = path_sample(hotels(twins=()))
    offered = offered_strikes(clear)
    assert {strike.step for strike in offered.values()} == {
        0
    }  # the airport has the name of the town in it


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


def test_the_steps_that_an_order_names_are_in_the_words_of_the_screen():
    assert (
        "顺序不同: 第 4 步: Hotel_Details"
        in correction_task(goal_path(), TOOLS, [], reason="-", language="zh").corrections
    )


def test_a_trace_that_got_no_further_says_why():
    path = goal_path()
    stopped = path.with_changes(
        traced=path.traced.with_changes(problem="It called the same twice.")
    )
    assert (
        correction_task(stopped, TOOLS, [], reason="-").before[-1].text
        == "The model got no further: It called the same twice."
    )


def test_a_path_whose_rules_lead_nowhere_is_still_shown():
    path = goal_path()
    empty = [
        exchange.with_changes(responses=tuple({} for _ in exchange.responses))
        for exchange in path.path
    ]
    task = correction_task(path.with_changes(path=tuple(empty)), TOOLS, [], reason="-")
    assert any("Search_Hotels" in line.text for line in task.after)


def test_the_tools_of_the_two_paths_stand_before_the_other_ones():
    unused = TOOLS[0].with_changes(name="A_Tool_Of_None")
    told = correction_task(goal_path(), [unused, *TOOLS], [], reason="-").tools.splitlines()
    assert len(told) == len(TOOLS) + 1
    assert told[-1].startswith("A_Tool_Of_None (")


def test_the_doubt_about_a_sample_of_the_template_is_why_people_see_it():
    fact = DoubtedFact(kind="entries_compete", tool="Search_Hotels", argument="hotel_id")
    [found] = told_in_english([doubt(path_sample()).with_changes(doubts=(fact,))])
    told = "For hotel_id another entry of what Search_Hotels returns fits as well."
    assert correction_task(goal_path(), TOOLS, [found], reason="Drawn.").why == told
    assert disambiguation_task(path_sample(), [found], reason="Drawn.").why == told
    assert correction_task(goal_path(), TOOLS, [], reason="Drawn.").why == "Drawn."


def test_an_answer_that_came_back_is_the_next_version_with_the_problem():
    returned = Returned(request="", calls="", problem="Nothing is ticked.", version=3)
    for task in (
        correction_task(goal_path(), TOOLS, [], reason="-", returned=returned),
        disambiguation_task(path_sample(), [], reason="-", returned=returned),
    ):
        assert task.version == 4
        assert task.callwright_key.endswith(":4")
        assert "Nothing is ticked." in task.why.split("\n")[0]


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
