"""OpenAI's fine-tuning rows: each teaches what the assistant should do at one place, as the
public rules want it written.
"""

import json
from typing import Any, NamedTuple

import pytest

from callwright.warehouse.exports.examples import (
    MOST_TOOLS,
    LeftOutRow,
    TrainingExample,
    examples_of,
    is_allowed,
)
from callwright.warehouse.exports.training import openai_row
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    Tool,
    UserTurn,
)
from callwright.warehouse.releases import AssistantWords, ReleaseContent
from tests.support.warehouse.exported import stream_of
from tests.support.warehouse.openai_rules import validate_openai_row

TRIP, RIDE = "Travel.Desk.book_trip", "出行.打车/now!"


def test_a_system_message_stands_before_the_conversation(content: ReleaseContent) -> None:
    led = content._replace(
        samples=tuple(one.with_changes(system_message="Be brief.") for one in content.samples)
    )
    for row, usual in zip(rows_of(led), rows_of(content), strict=True):
        assert row.row["messages"] == [
            {"role": "system", "content": "Be brief."},
            *usual.row["messages"],
        ]


def test_rows_without_a_system_message_begin_with_one_that_their_request_draws(
    content: ReleaseContent,
) -> None:
    told = ("Use your tools.", "Be kind.", "")
    source = stream_of(content)._replace(words={"en": AssistantWords((), told)})
    asked = [
        content.samples[0].with_changes(
            turns=(UserTurn(text=f"Two rides to {at}."), *content.samples[0].turns[1:])
        )
        for at in range(30)
    ]
    rows = [
        one.messages
        for sample in asked
        for one in examples_of(sample, source)
        if isinstance(one, TrainingExample)
    ]
    begun = [row[0]["content"] if row[0]["role"] == "system" else "" for row in rows]
    assert len(rows) == len(asked)
    assert set(begun) == {*told}
    again = asked[0].with_changes(kind="sQsA")
    assert next(examples_of(again, source)).messages == rows[0]
    own = asked[0].with_changes(system_message="You are Ada.")
    assert next(examples_of(own, source)).messages[0]["content"] == "You are Ada."


def test_a_code_of_more_than_a_thousand_characters_is_short_wherever_it_stands(
    content: ReleaseContent,
) -> None:
    long, letter = "k" * 40 + "Zx9_-" * 300, "Dear all, " * 200
    first = CallTurn(calls=(GoldCall(tool=RIDE, arguments={"place": "Voss"}),), executed=True)
    later = CallTurn(calls=(GoldCall(tool=RIDE, arguments={"place": long}),), executed=True)
    turns = (
        UserTurn(text="A ride."),
        first,
        ResultTurn(results=({"found": [{"key": long}, {"key": "short"}], "text": letter},)),
        later,
        ResultTurn(results=("ordered",)),
        ReplyTurn(text="Ordered."),
    )
    rows = rows_of(alone(content, "conversation", *turns))
    [result] = [
        json.loads(one["content"]) for one in rows[1].row["messages"] if one["role"] == "tool"
    ]
    [called] = rows[1].row["messages"][-1]["tool_calls"]
    place = json.loads(called["function"]["arguments"])["place"]
    assert result == {"found": [{"key": place}, {"key": "short"}], "text": letter}
    assert place.startswith("k" * 24)
    assert len(place) < 50


class Made(NamedTuple):
    row: dict[str, Any]
    origin: dict[str, Any]


def examples(content: ReleaseContent) -> list[TrainingExample | LeftOutRow]:
    source = stream_of(content)
    return [
        one
        for sample in content.samples
        for one in examples_of(sample, source, most_tools=MOST_TOOLS)
    ]


def rows_of(content: ReleaseContent) -> list[Made]:
    return [
        Made(openai_row(one), one.origin)
        for one in examples(content)
        if isinstance(one, TrainingExample)
    ]


def left_out(content: ReleaseContent) -> list[tuple[str, str]]:
    return [tuple(one) for one in examples(content) if isinstance(one, LeftOutRow)]


def alone(content: ReleaseContent, kind: str, *turns: Any, **more: Any) -> ReleaseContent:
    return content._replace(
        samples=(content.samples[0].with_changes(kind=kind, turns=turns, **more),)
    )


def ride(place: str = "Voss") -> GoldCall:
    return GoldCall(tool=RIDE, arguments={"place": place})


def said(row: Made) -> list[tuple[str, Any]]:
    return [
        (one["role"], one.get("content") or [call["id"] for call in one["tool_calls"]])
        for one in row.row["messages"]
    ]


@pytest.fixture
def travelled(content: ReleaseContent) -> ReleaseContent:
    return alone(
        content,
        "conversation",
        UserTurn(text="Two rides."),
        ReplyTurn(text="Where to?"),
        UserTurn(text="Voss and Oslo."),
        CallTurn(calls=(ride(), ride("Oslo")), executed=True),
        ResultTurn(results=("ordered", {"id": 7})),
        ReplyTurn(text="Both are ordered."),
    )


def test_every_row_is_one_that_the_public_rules_allow(
    content: ReleaseContent, travelled: ReleaseContent
) -> None:
    rows = [*rows_of(content), *rows_of(travelled)]
    assert {row.origin["kind"] for row in rows} >= {"sQsA", "conversation"}
    for row in rows:
        validate_openai_row(row.row)


def test_a_dialogue_asks_while_an_argument_is_missing_and_then_calls(
    content: ReleaseContent,
) -> None:
    asking, calling = (row for row in rows_of(content) if row.origin["kind"] == "sQsA")
    assert said(asking) == [("user", "A taxi."), ("assistant", "Where to?")]
    assert said(calling) == [
        ("user", "A taxi."),
        ("assistant", "Where to?"),
        ("user", "Voss."),
        ("assistant", ["call_4_0"]),
    ]
    assert [message.get("weight") for message in calling.row["messages"]] == [None, 0, None, None]


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (GoldCall(tool=RIDE, arguments={"place": "$$$"}), "earlier call"),
        (
            GoldCall(tool=TRIP, arguments={"city": "Oslo", "guests": [{"name": "$$$"}]}),
            "earlier call",
        ),
        (GoldCall(tool="sing", arguments={}), "no candidate"),
        (GoldCall(tool=RIDE, arguments={"place": "Voss", "speed": 3}), "does not declare"),
        (GoldCall(tool=RIDE, arguments={"place": ["Voss"]}), "schema"),
    ],
)
def test_what_can_not_be_called_is_left_out_and_said(
    content: ReleaseContent, call: GoldCall, reason: str
) -> None:
    [(kind, told)] = left_out(
        alone(content, "routing_hard", UserTurn(text="Go."), CallTurn(calls=(call,)))
    )
    assert kind == "routing_hard"
    assert reason in told


def test_nothing_is_taught_after_words_that_take_a_call_for_made(content: ReleaseContent) -> None:
    again = (UserTurn(text="And one more."), CallTurn(calls=(ride("Oslo"),)))
    said_done = alone(
        content,
        "mSv",
        UserTurn(text="To Voss."),
        CallTurn(calls=(ride(),)),
        ReplyTurn(text="Done."),
        *again,
    )
    assert [said(row)[-1] for row in rows_of(said_done)] == [("assistant", ["call_1_0"])]
    assert [
        (kind, "as if a call had been made" in reason) for kind, reason in left_out(said_done)
    ] == [("mSv", True)]


def test_when_it_is_stands_before_a_conversation_that_has_a_time(content: ReleaseContent) -> None:
    timed = alone(
        content,
        "conversation",
        UserTurn(text="Tomorrow to Voss."),
        CallTurn(calls=(ride(),)),
        facts=SampleFacts(reference_time="2026-05-04 09:30"),
    )
    [row] = rows_of(timed)
    assert row.row["messages"][0] == {
        "role": "system",
        "content": "Current date and time: 2026-05-04 09:30",
    }


def test_of_many_tools_128_are_shown_and_the_called_ones_are_among_them(
    content: ReleaseContent,
) -> None:
    others = [
        Tool(name=f"other_{at}", description="", parameters={"type": "object"}, category="")
        for at in range(200)
    ]
    sample: Sample = content.samples[0]
    crowded = content._replace(
        samples=(
            sample.with_changes(candidates=(*(tool.key for tool in others), *sample.candidates)),
        ),
        tools={**content.tools, **{tool.key: tool for tool in others}},
    )
    [row] = rows_of(crowded)
    validate_openai_row(row.row)
    assert len(row.row["tools"]) == 128
    assert len(row.origin["tools_left_out"]) == 202 - 128
    assert TRIP not in row.origin["tools_left_out"]


def test_a_schema_that_refers_to_what_is_not_in_it_allows_all_and_nobody_is_asked_for_it() -> None:
    schema = '{"type": "object", "properties": {"city": {"$ref": "http://127.0.0.1:1/city.json"}}}'
    assert is_allowed(schema, '{"city": "Ulm"}')
    assert not is_allowed(schema, '["Ulm"]')
