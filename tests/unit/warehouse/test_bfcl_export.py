"""BFCL's shapes: what its public checker needs to accept the gold and to refuse all else."""

from callwright.warehouse.records import CallTurn, GoldCall, ReplyTurn, ResultTurn, UserTurn
from callwright.warehouse.releases import ReleaseContent
from tests.support.warehouse.exported import bfcl_files

TRIP = "Travel_Desk_book_trip"
TRIP_TOOL, RIDE = "Travel.Desk.book_trip", "出行.打车/now!"


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
