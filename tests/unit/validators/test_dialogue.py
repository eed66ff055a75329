"""The dialogue check: each snapshot follows from the turns before it, and nothing else does."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.imports.hammerbench import read_hammerbench
from callwright.testing import context_of
from callwright.validators.checks.dialogue import applies_to, check_dialogue, replay
from callwright.warehouse.records import (
    Arguments,
    CallTurn,
    Decision,
    GoldCall,
    Language,
    Message,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
    Verdict,
)
from tests.support.validators.breaking import FURTHER, KNOWN, BreakableSample, Breaker, subjects_of

Pair = tuple[Sample, tuple[Tool, ...]]
# Records whose labels are wrong, by file: one start time is misspelt at first and set right in the next snapshot.
WRONG = {("zh", "Based", 20), ("zh", "SO_case1", 20), ("zh", "SO_case2", 14), ("zh", "mSv", 20)}
KINDS = ("Based", "mQmA", "mQsA", "sQmA", "SO_case1", "SO_case2", "mSv", "External", "IS")


def tool(name: str, description: str, **parameters: Any) -> Tool:
    properties = {
        key: told if isinstance(told, dict) else {"type": "string", "description": told}
        for key, told in parameters.items()
    }
    return Tool(
        name=name, description=description, category="x", parameters={"type": "object", "properties": properties}
    )


HOTEL = tool(
    "bookRoom",
    "Book a hotel room.",
    city="City of the hotel",
    hotel="Name of the hotel",
    guests={"type": "integer", "description": "Number of guests"},
    arrival={"type": "string", "format": "date", "description": "Arrival date"},
)
TICKETS = tool("refundTicket", "Give a train ticket back for a refund.", ticket="Ticket number", reason="Reason")
PLACES = tool("planRoute", "规划路线。", departure="出发地", destination="目的地", mode="出行方式，如驾车、步行")
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
        kind="sQsA", language=language, category="x", candidates=tuple(one.key for one in TOOLS), turns=tuple(told)
    )


def judge(*turns: Turn | str, language: Language = "en") -> Verdict:
    return replay(conversation(*turns, language=language), TOOLS)


ASKED = ("Book a hotel room.", call(), "Which city?", "Rome, please.")
ASKED_TWICE = (*ASKED, call(city="Rome"), "What is the name of the hotel?", "The Blue Star.")


def test_a_conversation_in_which_each_answer_gives_an_argument_is_proved_with_the_places_in_the_text() -> None:
    verdict = judge(*ASKED_TWICE, call(city="Rome", hotel="Blue Star"))
    assert (verdict.decision, verdict.score) == ("proved", 1.0)
    assert [(one.argument, one.turn, one.quote) for one in verdict.evidence] == [
        ("city", 3, "Rome"),
        ("hotel", 6, "Blue Star"),
    ]


def test_an_argument_that_is_said_only_later_contradicts() -> None:
    verdict = judge(
        *ASKED, call(city="Rome", hotel="Blue Star"), *ASKED_TWICE[5:], call(city="Rome", hotel="Blue Star")
    )
    assert verdict.decision == "contradicted"
    assert "'hotel' = 'Blue Star' at turn 4 is said only at turn 6" in verdict.reason


def test_an_argument_that_is_lost_again_contradicts() -> None:
    verdict = judge(*ASKED_TWICE, call(hotel="Blue Star"))
    assert verdict.decision == "contradicted"
    assert "'city' was 'Rome' and is lost at turn 7" in verdict.reason


def test_an_argument_that_comes_later_than_it_was_said_is_not_proved() -> None:
    verdict = judge(*ASKED, call(), "Which hotel?", "The Blue Star.", call(city="Rome", hotel="Blue Star"))
    assert verdict.decision == "unproved"
    assert "At turn 3 'Rome, please.' gives no argument." in verdict.reason
    assert "'city' = 'Rome' at turn 7 was said at turn 3" in verdict.reason


def test_an_answer_that_gives_nothing_is_fine_where_the_user_leaves_it_open() -> None:
    opened = ("What is the name of the hotel?", "I don't care, any will do.")
    assert judge(*ASKED, call(city="Rome"), *opened, call(city="Rome")).decision == "proved"
    closed = ("What is the name of the hotel?", "It is the Blue Star.")
    assert judge(*ASKED, call(city="Rome"), *closed, call(city="Rome")).decision == "unproved"


def test_another_tool_in_between_is_not_proved() -> None:
    verdict = judge(*ASKED, call("getWeather", city="Rome"))
    assert verdict.decision == "unproved"
    assert "The tool was 'bookRoom' and is 'getWeather'" in verdict.reason


def test_an_undeclared_argument_and_an_unknown_tool_contradict() -> None:
    assert judge(*ASKED, call(town="Rome")).decision == "contradicted"
    assert judge("Fly.", call("fly"), "Where?", "Rome.", call("fly", city="Rome")).decision == "contradicted"


def test_request_and_questions_tell_a_tool_that_was_not_meant() -> None:
    turns = ("What will the weather be like?", call(city="Rome"), "Which city?", "Rome.")
    verdict = judge("What will the weather be like?", call(), *turns[2:], call(city="Rome"))
    assert verdict.decision == "unproved"
    assert "speak of 'getWeather' rather than of 'bookRoom'" in verdict.reason


@pytest.mark.parametrize(
    ("text", "arguments", "decision"),
    [
        ("Rome. Sorry, the city is Oslo.", {"city": "Oslo"}, "proved"),
        ("Rome. Sorry, the city is Oslo.", {"city": "Rome"}, "unproved"),
        ("Rome. No wait, make that Oslo.", {"city": "Oslo"}, "proved"),
        ("Rome. No wait, make that Oslo.", {"city": "Rome"}, "unproved"),
        ("Rome. Sorry, not Rome: the city is Oslo.", {"city": "Rome"}, "unproved"),
        ("Rome. The hotel is the Blue Star.", {"city": "Rome", "hotel": "Blue Star"}, "proved"),
        ("Rome. The hotel is the Blue Star.", {"city": "Rome"}, "unproved"),
        ("Rome. The hotel is the Blue Star.", {"city": "Blue Star", "hotel": "Rome"}, "unproved"),
        ("Rome. Thank you very much!", {"city": "Rome"}, "proved"),
    ],
)
def test_what_a_turn_says_last_holds_and_each_of_its_sentences_counts(
    text: str, arguments: Arguments, decision: Decision
) -> None:
    assert judge(*ASKED[:3], text, call(**arguments)).decision == decision


@pytest.mark.parametrize(
    ("text", "arguments", "decision"),
    [
        ("上海。抱歉，目的地是北京。", {"destination": "北京"}, "proved"),
        ("上海。抱歉，目的地是北京。", {"destination": "上海"}, "unproved"),
        ("上海。等等，目的地改为北京。", {"destination": "北京"}, "proved"),
        ("上海 出发地是天津。", {"destination": "上海", "departure": "天津"}, "proved"),
        ("上海 出发地是天津。", {"destination": "上海"}, "unproved"),
        ("上海 出发地是天津。", {"destination": "天津", "departure": "上海"}, "unproved"),
        ("好的，上海，谢谢。", {"destination": "上海"}, "proved"),
        ("好的，上海，谢谢。", {"departure": "上海"}, "unproved"),
    ],
)
def test_the_same_holds_in_chinese(text: str, arguments: Arguments, decision: Decision) -> None:
    turns = ("规划一下路线", call("planRoute"), "目的地是哪里", text, call("planRoute", **arguments))
    assert judge(*turns, language="zh").decision == decision


@pytest.mark.parametrize(
    ("after", "decision"),
    [({"city": "Oslo"}, "proved"), ({"city": "Rome"}, "unproved"), ({"city": "Rome", "hotel": "Oslo"}, "unproved")],
)
def test_a_value_that_is_changed_after_the_call_takes_the_place_of_the_old_one(
    after: Arguments, decision: Decision
) -> None:
    change = ("Done.", "The same again, but the city is Oslo.")
    assert judge(*ASKED, call(city="Rome"), *change, call(**after)).decision == decision


def test_a_value_that_nobody_said_and_that_is_set_right_later_contradicts() -> None:
    wrong = judge(*ASKED, call(city="Romme"), *ASKED_TWICE[5:], call(city="Rome", hotel="Blue Star"))
    assert wrong.decision == "contradicted"
    assert "'city' was 'Romme', which nobody says" in wrong.reason


def test_a_list_may_grow_by_what_is_said_now() -> None:
    shop = tool(
        "buy", "Buy groceries.", items={"type": "array", "items": {"type": "string"}, "description": "Groceries"}
    )
    turns = ("Buy groceries: tea.", call("buy", items=["tea"]), "Which groceries else?", "And milk.")
    grown = conversation(*turns, call("buy", items=["tea", "milk"])).with_changes(candidates=(shop.key,))
    assert replay(grown, [shop]).decision == "proved"
    other = conversation(*turns, call("buy", items=["tea", "salt"])).with_changes(candidates=(shop.key,))
    assert replay(other, [shop]).decision != "proved"


def test_a_message_that_the_user_points_to_counts_as_said() -> None:
    pointing = UserTurn(
        text="The place in the mail.", external=Message(app="mail", text="Hi! We meet in Rome. Bring tea.")
    )
    assert judge(*ASKED[:3], pointing, call(city="Rome")).decision == "proved"
    assert judge(*ASKED[:3], pointing, call(city="Oslo")).decision == "unproved"
    assert judge(*ASKED[:3], pointing, call(hotel="Rome")).decision == "unproved"


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("Oh no, give my train ticket back for a refund.", "proved"),
        ("Never mind that. Could you tell me the weather?", "proved"),
        ("Rome, please.", "unproved"),
        ("The city of the hotel is Rome.", "unproved"),
    ],
)
def test_no_call_is_due_where_the_user_has_turned_to_something_else(text: str, decision: Decision) -> None:
    refusal = ReplyTurn(text="Sorry, I have no tool for that.")
    assert judge(*ASKED[:3], text, CallTurn(), refusal).decision == decision


def test_a_call_after_the_user_has_turned_away_is_not_proved() -> None:
    away = "Oh no, give my train ticket back for a refund."
    assert judge(*ASKED, call(city="Rome"), "Which hotel?", away, call(city="Rome")).decision == "unproved"


@pytest.mark.parametrize(
    ("text", "arguments", "decision"),
    [
        ("Oslo. Sorry, the city is the one in the mail.", {"city": "Rome"}, "proved"),
        ("Oslo. Sorry, the city is the one in the mail.", {"city": "Oslo"}, "unproved"),
        ("The place in the mail. The hotel is the Blue Star.", {"city": "Rome", "hotel": "Blue Star"}, "proved"),
        ("The place in the mail. The hotel is the Blue Star.", {"city": "Rome"}, "unproved"),
        ("The place in the mail. The hotel is the Blue Star.", {"hotel": "Blue Star"}, "unproved"),
    ],
)
def test_a_sentence_that_points_to_a_message_gives_what_the_message_says(
    text: str, arguments: Arguments, decision: Decision
) -> None:
    pointing = UserTurn(text=text, external=Message(app="mail", text="Hi! We meet in Rome. Bring tea."))
    assert judge(*ASKED[:3], pointing, call(**arguments)).decision == decision


def test_a_number_given_for_somebody_and_a_choice_that_another_parameter_lists_are_not_proved() -> None:
    trip = tool(
        "getRules", "Look up rules.", airline="Airline", kind="Flight type e.g. domestic, international", code="No."
    )
    for turns, right, wrong in (
        (
            ("Is it domestic or international?", "International."),
            {"kind": "International"},
            {"airline": "International"},
        ),
        (("What is the number?", "The number is 789012."), {"code": "789012"}, {"airline": "789012"}),
    ):
        for arguments, decision in ((right, "proved"), (wrong, "unproved")):
            sample = conversation("Look up the rules.", call("getRules"), *turns, call("getRules", **arguments))
            assert replay(sample.with_changes(candidates=(trip.key,)), [trip]).decision == decision


def test_nobody_leaves_a_value_open_by_asking_for_something_else() -> None:
    away = "Oh no, I don't know how to give my train ticket back for a refund, can you show me?"
    assert judge(*ASKED, call(city="Rome"), "Which hotel?", away, call(city="Rome")).decision == "unproved"


def test_what_was_carried_out_may_be_used_later_in_any_turn() -> None:
    done = CallTurn(calls=(GoldCall(tool="getWeather", arguments={"city": "Rome"}),), executed=True)
    result = ResultTurn(results=({"weather": "sunny", "hotel": "Blue Star"},))
    turns = ("The weather in Rome?", done, result, ReplyTurn(text="Sunny."), UserTurn(text="Then book me in there."))
    assert judge(*turns, call(city="Rome", hotel="Blue Star")).decision == "proved"
    assert judge(*turns, call(city="Rome", hotel="Red Star")).decision == "unproved"


def test_the_check_is_for_conversations_only() -> None:
    assert applies_to(conversation(*ASKED, call(city="Rome")))
    assert not applies_to(conversation("Book a room in Rome.", call(city="Rome")))


async def test_the_stage_judges_by_the_candidates_alone() -> None:
    sample = conversation(*ASKED, call(city="Rome"))
    tools = {one.key: one for one in TOOLS}
    (verdict,) = await check_dialogue(sample, context_of(tools))
    assert (verdict.subject, verdict.check, verdict.decision) == (sample.key, "dialogue", "proved")
    stranger = sample.with_changes(candidates=(WEATHER.key,))
    assert (await check_dialogue(stranger, context_of(tools)))[0].decision == "contradicted"


VALUES = {
    "city": ("Rome", "Oslo", "Lima"),
    "hotel": ("Blue Star", "Old Mill", "Grand Palace"),
    "guests": (2, 7, 31),
    "arrival": ("2027-03-05", "2027-11-28"),
}
QUESTIONS = {
    "city": "Which city?", "hotel": "What is the name of the hotel?", "guests": "How many guests?",
    "arrival": "What is the arrival date?",
}  # fmt: skip


@given(data=st.data())
def test_any_order_of_questions_is_proved_and_none_with_a_snapshot_ahead(data: st.DataObject) -> None:
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
def records(shared: Path, language: Language) -> tuple[tuple[str, int, Sample, tuple[Tool, ...], Verdict], ...]:
    """All conversations of the published files, each with its verdict."""
    return tuple(_records(shared, language))


def _records(shared: Path, language: Language) -> Iterator[tuple[str, int, Sample, tuple[Tool, ...], Verdict]]:
    for kind in KINDS:
        path = shared / f"data/hammerbench/sample100/{language}/multi-turn/HammerBench_{kind}.json"
        for position, record in enumerate(read_hammerbench(path)):
            assert record.sample is not None
            yield kind, position, record.sample, record.tools, replay(record.sample, record.tools)


@pytest.mark.parametrize(("language", "least"), [("zh", 0.983), ("en", 0.86)])
def test_rules_alone_prove_most_published_conversations(shared: Path, language: Language, least: float) -> None:
    found = records(shared, language)
    assert len(found) == 900
    assert sum(verdict.decision == "proved" for *_, verdict in found) / len(found) >= least


@pytest.mark.parametrize("language", ["zh", "en"])
def test_only_wrong_labels_are_contradicted(shared: Path, language: Language) -> None:
    broken = {
        (language, kind, at)
        for kind, at, *_, verdict in records(shared, language)
        if verdict.decision == "contradicted"
    }
    assert broken == {one for one in WRONG if one[0] == language}


@cache
def subjects(shared: Path, language: Language) -> tuple[BreakableSample, ...]:
    good = [
        (sample, tools) for _, _, sample, tools, verdict in records(shared, language) if verdict.decision == "proved"
    ]
    return tuple(subjects_of(good))


def broken_samples(breaker: Breaker, chosen: tuple[BreakableSample, ...], count: int) -> list[Pair]:
    rng = Random(17)
    found: list[Pair] = []
    for _ in range(40 * count):
        subject = rng.choice(chosen)
        broken = breaker(subject, rng)
        if broken is not None and broken != subject.sample:
            found.append((broken, tuple(subject.tools)))
        if len(found) == count:
            break
    return found


@pytest.mark.parametrize("language", ["zh", "en"])
def test_hardly_any_conversation_that_was_broken_is_proved(shared: Path, language: Language) -> None:
    broken = [pair for breaker in KNOWN for pair in broken_samples(breaker, subjects(shared, language), 80)]
    assert len(broken) == 400
    assert sum(replay(*pair).decision == "proved" for pair in broken) / len(broken) <= 0.01


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("breaker", FURTHER, ids=lambda breaker: breaker.__name__)
def test_nor_one_that_was_broken_in_another_way(shared: Path, language: Language, breaker: Breaker) -> None:
    broken = broken_samples(breaker, subjects(shared, language), 40)
    assert len(broken) == 40
    # a value under the name of another parameter that fits its words as well can't be told apart by rules
    allowed = 4 if breaker.__name__ == "renamed" else 2
    assert sum(replay(*pair).decision == "proved" for pair in broken) <= allowed
