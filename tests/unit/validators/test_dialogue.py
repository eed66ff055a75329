"""The dialogue check: each snapshot follows from the turns before it, and nothing else does."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.imports.papers import read_hammerbench
from callwright.validators.checks.dialogue import replay
from callwright.warehouse.records import (
    Arguments,
    CallTurn,
    Decision,
    GoldCall,
    Language,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
    Verdict,
)

# Records whose labels are wrong, by file: one start time is misspelt at first and set right in the
# next snapshot.
WRONG = {("zh", "Based", 20), ("zh", "SO_case1", 20), ("zh", "SO_case2", 14), ("zh", "mSv", 20)}
KINDS = ("Based", "mQmA", "mQsA", "sQmA", "SO_case1", "SO_case2", "mSv", "External", "IS")


def tool(name: str, description: str, **parameters: Any) -> Tool:
    properties = {
        key: told if isinstance(told, dict) else {"type": "string", "description": told}
        for key, told in parameters.items()
    }
    return Tool(
        name=name,
        description=description,
        category="x",
        parameters={"type": "object", "properties": properties},
    )


HOTEL = tool(
    "bookRoom",
    "Book a hotel room.",
    city="City of the hotel",
    hotel="Name of the hotel",
    guests={"type": "integer", "description": "Number of guests"},
    arrival={"type": "string", "format": "date", "description": "Arrival date"},
)
TICKETS = tool(
    "refundTicket",
    "Give a train ticket back for a refund.",
    ticket="Ticket number",
    reason="Reason",
)
PLACES = tool(
    "planRoute",
    "规划路线。",
    departure="出发地",
    destination="目的地",
    mode="出行方式，如驾车、步行",
)
WEATHER = tool("getWeather", "Tell the weather.", city="City")
TOOLS = (HOTEL, TICKETS, PLACES, WEATHER)


def call(tool: str = "bookRoom", /, **arguments: Any) -> CallTurn:
    return CallTurn(calls=(GoldCall(tool=tool, arguments=arguments),))


def conversation(*turns: Turn | str, language: Language = "en") -> Sample:
    """Turns in order; a text after a call is the assistant's, any other the user's."""
    told: list[Turn] = []
    for turn in turns:
        if isinstance(turn, str):
            after_call = bool(told) and isinstance(told[-1], CallTurn)
            told.append(ReplyTurn(text=turn) if after_call else UserTurn(text=turn))
        else:
            told.append(turn)
    return Sample(
        kind="sQsA",
        language=language,
        category="x",
        candidates=tuple(one.key for one in TOOLS),
        turns=tuple(told),
    )


def judge(*turns: Turn | str, language: Language = "en") -> Verdict:
    return replay(conversation(*turns, language=language), TOOLS)


ASKED = ("Book a hotel room.", call(), "Which city?", "Rome, please.")
ASKED_TWICE = (*ASKED, call(city="Rome"), "What is the name of the hotel?", "The Blue Star.")


def test_a_conversation_in_which_each_answer_gives_an_argument_is_proved_with_the_places_in_the_text() -> (
    None
):
    verdict = judge(*ASKED_TWICE, call(city="Rome", hotel="Blue Star"))
    assert (verdict.decision, verdict.score) == ("proved", 1.0)
    assert [(one.argument, one.turn, one.quote) for one in verdict.evidence] == [
        ("city", 3, "Rome"),
        ("hotel", 6, "Blue Star"),
    ]


def test_an_argument_that_is_said_only_later_contradicts() -> None:
    verdict = judge(
        *ASKED,
        call(city="Rome", hotel="Blue Star"),
        *ASKED_TWICE[5:],
        call(city="Rome", hotel="Blue Star"),
    )
    assert verdict.decision == "contradicted"
    assert "'hotel' = 'Blue Star' at turn 4 is said only at turn 6" in verdict.reason


def test_an_argument_that_comes_later_than_it_was_said_is_not_proved() -> None:
    verdict = judge(
        *ASKED, call(), "Which hotel?", "The Blue Star.", call(city="Rome", hotel="Blue Star")
    )
    assert verdict.decision == "unproved"
    assert "'city' = 'Rome' at turn 7 was said at turn 3" in verdict.reason


def test_another_tool_in_between_is_not_proved() -> None:
    verdict = judge(*ASKED, call("getWeather", city="Rome"))
    assert verdict.decision == "unproved"
    assert "The tool was 'bookRoom' and is 'getWeather'" in verdict.reason


def test_an_undeclared_argument_and_an_unknown_tool_contradict() -> None:
    assert judge(*ASKED, call(town="Rome")).decision == "contradicted"
    assert (
        judge("Fly.", call("fly"), "Where?", "Rome.", call("fly", city="Rome")).decision
        == "contradicted"
    )


@pytest.mark.parametrize(
    ("after", "decision"), [({"city": "Oslo"}, "proved"), ({"city": "Rome"}, "unproved")]
)
def test_a_value_that_is_changed_after_the_call_takes_the_place_of_the_old_one(
    after: Arguments, decision: Decision
) -> None:
    change = ("Done.", "The same again, but the city is Oslo.")
    assert judge(*ASKED, call(city="Rome"), *change, call(**after)).decision == decision


def test_a_list_may_grow_by_what_is_said_now() -> None:
    shop = tool(
        "buy",
        "Buy groceries.",
        items={"type": "array", "items": {"type": "string"}, "description": "Groceries"},
    )
    turns = (
        "Buy groceries: tea.",
        call("buy", items=["tea"]),
        "Which groceries else?",
        "And milk.",
    )
    grown = conversation(*turns, call("buy", items=["tea", "milk"])).with_changes(
        candidates=(shop.key,)
    )
    assert replay(grown, [shop]).decision == "proved"
    other = conversation(*turns, call("buy", items=["tea", "salt"])).with_changes(
        candidates=(shop.key,)
    )
    assert replay(other, [shop]).decision != "proved"


def test_a_call_after_the_user_has_turned_away_is_not_proved() -> None:
    away = "Oh no, give my train ticket back for a refund."
    assert (
        judge(*ASKED, call(city="Rome"), "Which hotel?", away, call(city="Rome")).decision
        == "unproved"
    )


def test_what_was_carried_out_may_be_used_later_in_any_turn() -> None:
    done = CallTurn(calls=(GoldCall(tool="getWeather", arguments={"city": "Rome"}),), executed=True)
    result = ResultTurn(results=({"weather": "sunny", "hotel": "Blue Star"},))
    turns = (
        "The weather in Rome?",
        done,
        result,
        ReplyTurn(text="Sunny."),
        UserTurn(text="Then book me in there."),
    )
    assert judge(*turns, call(city="Rome", hotel="Blue Star")).decision == "proved"
    assert judge(*turns, call(city="Rome", hotel="Red Star")).decision == "unproved"


VALUES = {
    "city": ("Rome", "Oslo", "Lima"),
    "hotel": ("Blue Star", "Old Mill", "Grand Palace"),
    "guests": (2, 7, 31),
    "arrival": ("2027-03-05", "2027-11-28"),
}
QUESTIONS = {
    "city": "Which city?",
    "hotel": "What is the name of the hotel?",
    "guests": "How many guests?",
    "arrival": "What is the arrival date?",
}


@given(data=st.data())
def test_any_order_of_questions_is_proved_and_none_with_a_snapshot_ahead(
    data: st.DataObject,
) -> None:
    order = data.draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=2, unique=True))
    chosen = {name: data.draw(st.sampled_from(VALUES[name])) for name in order}
    turns: list[Turn | str] = ["Book a hotel room.", call()]
    known: dict[str, Any] = {}
    for name in order:
        known[name] = chosen[name]
        turns += [QUESTIONS[name], f"{chosen[name]}.", call(**known)]
    assert judge(*turns).decision == "proved"
    ahead = data.draw(st.integers(0, len(order) - 2))
    place = 1 + 3 * ahead
    early = call(**{name: chosen[name] for name in order[: ahead + 1]})
    assert judge(*turns[:place], early, *turns[place + 1 :]).decision != "proved"


@cache
def records(
    shared: Path, language: Language
) -> tuple[tuple[str, int, Sample, tuple[Tool, ...], Verdict], ...]:
    """All conversations of the published files, each with its verdict."""
    return tuple(_records(shared, language))


def _records(
    shared: Path, language: Language
) -> Iterator[tuple[str, int, Sample, tuple[Tool, ...], Verdict]]:
    for kind in KINDS:
        path = shared / f"data/hammerbench/sample100/{language}/multi-turn/HammerBench_{kind}.json"
        for position, record in enumerate(read_hammerbench(path)):
            assert record.sample is not None
            yield kind, position, record.sample, record.tools, replay(record.sample, record.tools)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_only_wrong_labels_are_contradicted(shared: Path, language: Language) -> None:
    broken = {
        (language, kind, at)
        for kind, at, *_, verdict in records(shared, language)
        if verdict.decision == "contradicted"
    }
    assert broken == {one for one in WRONG if one[0] == language}
