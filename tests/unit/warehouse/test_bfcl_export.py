"""BFCL's shapes: what its public checker needs to accept the gold and to refuse all else."""

from typing import Any

import pytest

from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import CallTurn, GoldCall, ReplyTurn, ResultTurn, UserTurn
from callwright.warehouse.releases import ReleaseContent
from tests.support.warehouse.exported import bfcl_files

TYPES = {"string", "integer", "float", "boolean", "array", "tuple", "dict", "any"}
TRIP = "Travel_Desk_book_trip"
TRIP_TOOL, RIDE = "Travel.Desk.book_trip", "出行.打车/now!"


def typed(schema: dict[str, Any]) -> list[str]:
    inner = [schema["items"]] if "items" in schema else []
    return [
        schema["type"],
        *(name for one in (*inner, *schema.get("properties", {}).values()) for name in typed(one)),
    ]


def test_every_type_is_one_that_the_checker_knows(content: ReleaseContent) -> None:
    for question in bfcl_files(content).questions:
        for function in question["function"]:
            assert set(typed(function["parameters"])) <= TYPES
            assert function["parameters"]["required"] == []


def test_the_type_is_the_schemas_else_the_gold_values(content: ReleaseContent) -> None:
    properties = bfcl_files(content).questions[0]["function"][0]["parameters"]["properties"]
    kinds = {name: schema["type"] for name, schema in properties.items()}
    assert kinds == {
        "city": "string",
        "nights": "integer",
        "price": "float",
        "insured": "boolean",
        "board": "string",
        "stops": "array",
        "points": "array",
        "guests": "array",
        "room": "dict",
        "note": "integer",
        "anything": "array",
    }
    assert properties["anything"]["items"]["type"] == "integer"
    assert properties["board"]["enum"] == ["none", "half"]


def test_each_argument_is_a_list_of_the_values_that_are_right(content: ReleaseContent) -> None:
    answer = bfcl_files(content).answers[0]["ground_truth"][0][TRIP]
    assert answer["city"] == ["Oslo"]
    assert answer["stops"] == [["Bergen", "Voss"]]
    assert answer["insured"] == [False]


def test_objects_are_opened_one_level_and_no_deeper(content: ReleaseContent) -> None:
    answer = bfcl_files(content).answers[0]["ground_truth"][0][TRIP]
    assert answer["room"] == [{"beds": [2], "view": [{"side": "sea"}]}]
    assert answer["guests"] == [[{"name": ["Ida"]}]]


def test_numbers_of_one_list_are_of_one_type(content: ReleaseContent) -> None:
    [points] = bfcl_files(content).answers[0]["ground_truth"][0][TRIP]["points"]
    assert [(type(one), one) for one in points] == [(float, 1.5), (float, 2.0)]


def test_what_the_gold_leaves_out_may_be_left_out(content: ReleaseContent) -> None:
    answer = bfcl_files(content).answers[1]["ground_truth"][0][TRIP]
    assert set(map(tuple, answer.values())) == {("",)}


def test_a_question_ends_where_the_last_call_is_due(content: ReleaseContent) -> None:
    questions = bfcl_files(content).questions
    assert questions[3]["question"] == [
        [
            {"role": "user", "content": "A taxi."},
            {"role": "assistant", "content": "Where to?"},
            {"role": "user", "content": "Voss."},
        ]
    ]
    assert questions[2]["question"][0][0]["content"] == "Book it.\n[Mail] Oslo, three nights."


def test_samples_without_a_due_call_are_questions_of_their_own(content: ReleaseContent) -> None:
    files = bfcl_files(content)
    assert [question["id"] for question in files.irrelevant] == ["irrelevance_0"]
    assert [question["id"] for question in files.questions] == [
        answer["id"] for answer in files.answers
    ]
    assert len(files.questions) == 4


def test_several_calls_that_are_due_are_parallel_ones_and_unknown_values_stay_open(
    content: ReleaseContent,
) -> None:
    calls = (
        GoldCall(tool=RIDE, arguments={"place": "Voss"}),
        GoldCall(tool=TRIP_TOOL, arguments={"city": "$$$"}),
    )
    plan = content.samples[0].with_changes(
        kind="routing_hard", turns=(UserTurn(text="Both."), CallTurn(calls=calls))
    )
    files = bfcl_files(content._replace(samples=(plan,)))
    assert (files.questions, files.irrelevant) == ([], [])
    assert [row["id"] for row in files.parallel_questions] == ["parallel_multiple_0"]
    [answer] = files.parallel_answers
    assert answer["ground_truth"][1][TRIP]["city"] == ["$$$", ""]
    assert list(answer["ground_truth"][0].values()) == [{"place": ["Voss"]}]


def test_every_step_that_was_carried_out_is_a_question_after_what_came_before(
    content: ReleaseContent,
) -> None:
    ride = GoldCall(tool=RIDE, arguments={"place": "Voss"})
    trip = GoldCall(tool=TRIP_TOOL, arguments={"city": "Oslo", "nights": 2})
    turns = (
        UserTurn(text="A taxi, then a trip."),
        CallTurn(calls=(ride,), executed=True),
        ResultTurn(results=({"taxi": 1},)),
        CallTurn(calls=(trip, ride), executed=True),
        ResultTurn(results=(1, 2)),
        ReplyTurn(text="Done."),
    )
    path = content.samples[0].with_changes(kind="multi_step", turns=turns)
    files = bfcl_files(content._replace(samples=(path,)))
    assert [len(row["question"][0]) for row in (*files.questions, *files.parallel_questions)] == [
        1,
        3,
    ]
    assert [row["callwright_turn"] for row in (*files.questions, *files.parallel_questions)] == [
        1,
        3,
    ]
    called, returned = files.parallel_questions[0]["question"][0][1:]
    assert called["content"].endswith("(place='Voss')]")
    assert returned == {"role": "tool", "content": '{"taxi":1}'}


def test_a_gold_value_that_its_schema_does_not_allow_keeps_its_own_type(
    content: ReleaseContent,
) -> None:
    odd = GoldCall(tool=RIDE, arguments={"place": {"street": "Vik 3"}})
    sample = content.samples[0].with_changes(
        turns=(UserTurn(text="A taxi."), CallTurn(calls=(odd,)))
    )
    [question] = bfcl_files(content._replace(samples=(sample,))).questions
    assert question["function"][1]["parameters"]["properties"]["place"]["type"] == "dict"


def test_a_call_that_no_candidate_answers_is_refused(content: ReleaseContent) -> None:
    strange = content.samples[0].with_changes(
        turns=(UserTurn(text="Sing."), CallTurn(calls=(GoldCall(tool="sing"),)))
    )
    with pytest.raises(RecordError, match="no candidate has this name"):
        bfcl_files(content._replace(samples=(strange,)))
