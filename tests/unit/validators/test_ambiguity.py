"""Ambiguity: what is said last holds, so nothing else may be said for an argument after its gold value."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.imports.hammerbench import read_hammerbench
from callwright.testing import context_of
from callwright.validators.checks.ambiguity import applies_to, check_ambiguity, find_ambiguity
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    JsonSchema,
    Language,
    Message,
    ReplyTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
    Verdict,
)

CITY = {"city": {"type": "string", "description": "shooting city"}}
CITY_ZH = {"city": {"type": "string", "description": "拍摄城市"}}
GUESTS = {"guests": {"type": "integer", "description": "number of guests"}}
SOUND = {"preset": {"enum": ["bass boost", "balanced", "night"], "description": "sound preset"}}
LANGUAGES_ZH = {
    "source": {"enum": ["俄语", "日语", "西班牙语"], "description": "我说的语言"},
    "target": {"enum": ["俄语", "日语", "西班牙语"], "description": "对方的语言"},
}
TIME = {"at": {"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$", "description": "pickup time"}}
DAY = {"day": {"type": "string", "format": "date", "description": "travel date"}}
SEAT = {"seat": {"type": "boolean", "default": False, "description": "child seat"}}
ROOMS = {"rooms": {"type": "integer", "description": "number of rooms"}}
PEOPLE = {"people": {"type": "array", "items": {"type": "string"}, "description": "people"}}


def judge(
    properties: dict[str, JsonSchema], arguments: dict[str, Any], *turns: Turn | str, language: Language = "en"
) -> Verdict:
    tool = Tool(
        name="order", description="Order it.", category="x", language=language, parameters={"properties": properties}
    )
    said = tuple(UserTurn(text=turn) if isinstance(turn, str) else turn for turn in turns)
    due = CallTurn(calls=(GoldCall(tool="order", arguments=arguments),))
    sample = Sample(kind="perfect", language=language, category="x", candidates=(tool.key,), turns=(*said, due))
    return find_ambiguity(sample, [tool])


@pytest.mark.parametrize(
    ("properties", "arguments", "text", "rival"),
    [
        (SOUND, {"preset": "night"}, 'Set the sound preset to night. It is for the sound preset "balanced", I think.', "balanced"),
        (CITY, {"city": "Oslo"}, "The shooting city is Oslo. By the way, the shooting city is Rome.", "Rome"),
        (GUESTS, {"guests": 4}, "The number of guests is 4. By the way, the number of guests 6.", "6"),
        (GUESTS, {"guests": 4}, "A table for 4, I mean 6.", "6"),
        (GUESTS, {"guests": 4}, "A table for four people. Make it six.", "six"),
        (TIME, {"at": "19:30"}, "Come at 7:30 pm. No, 8 pm.", "8 pm"),
        (DAY, {"day": "2027-03-05"}, "On March 5, 2027. It's for the travel date 7 April 2027.", "7 April 2027"),
        (CITY, {"city": "Oslo"}, "We go to Oslo, sorry, Rome.", "Rome"),
        (SEAT, {"seat": False}, "A taxi without child seat. By the way, the child seat: yes.", "yes"),
        (SEAT, {"seat": True}, "A taxi with child seat. Oh, and the child seat: without child seat.", "without child seat"),
        (PEOPLE, {"people": ["Ann"]}, "The people are Ann. By the way, the people are Bob and Eve.", "Bob and Eve"),
    ],
)  # fmt: skip
def test_another_value_said_later_is_found(
    properties: dict[str, JsonSchema], arguments: dict[str, Any], text: str, rival: str
) -> None:
    verdict = judge(properties, arguments, text)
    assert verdict.decision != "proved"
    assert rival in verdict.reason


@pytest.mark.parametrize(
    ("properties", "arguments", "text"),
    [
        (CITY_ZH, {"city": "成都"}, "拍摄城市填成都。辛苦了！哦，拍摄城市是“昆明”。"),
        (CITY_ZH, {"city": "成都"}, "拍摄城市是成都。不对，拍摄城市应该是昆明。"),
        (LANGUAGES_ZH, {"source": "俄语", "target": "日语"}, "我说的语言填俄语。对方的语言是日语。哦，对方的语言是“西班牙语”。"),
        (CITY_ZH, {"city": "成都"}, "去成都，不对，昆明。"),
        ({"guests": {"type": "integer", "description": "用餐人数"}}, {"guests": 4}, "四个人吃饭。对了，用餐人数六。"),
    ],
)  # fmt: skip
def test_another_value_said_later_is_found_in_chinese(
    properties: dict[str, JsonSchema], arguments: dict[str, Any], text: str
) -> None:
    assert judge(properties, arguments, text, language="zh").decision != "proved"


def test_what_the_user_takes_back_contradicts_and_a_second_mention_is_for_people() -> None:
    first = "The shooting city is Oslo."
    assert judge(CITY, {"city": "Oslo"}, f"{first} Sorry, the shooting city is Rome.").decision == "contradicted"
    assert judge(CITY, {"city": "Oslo"}, f"{first} I think the shooting city is Rome.").decision == "unproved"


@pytest.mark.parametrize(
    ("properties", "arguments", "text"),
    [
        (CITY, {"city": "Rome"}, "The shooting city is Oslo. Sorry, the shooting city is Rome."),
        (CITY, {"city": "Rome"}, "We shoot in Rome. The shooting city is Rome, Italy."),
        (CITY, {"city": "Rome"}, "The shooting city is Rome. Sorry for the trouble."),
        (CITY, {"city": "Rome"}, "We shoot in Rome, sorry, I forgot to say."),
        (CITY, {"city": "Rome"}, 'The shooting city is Rome. Write "the shooting city is Oslo" on it.'),
        (GUESTS | ROOMS, {"guests": 4, "rooms": 2}, "4 guests, and the number of rooms is 2."),
        (GUESTS | TIME, {"guests": 4, "at": "19:00"}, "Number of guests: 4. Actually at 7 pm."),
        (SEAT, {"seat": True}, "A taxi with child seat, please. The child seat: yes."),
        (DAY, {"day": "2027-03-05"}, "The travel date is March 5, 2027. The travel date is at 3 pm."),
        (GUESTS, {"guests": 4}, "Number of guests: 4. The new number of guests is 6."),
    ],
)
def test_nothing_is_found_where_the_gold_holds(
    properties: dict[str, JsonSchema], arguments: dict[str, Any], text: str
) -> None:
    verdict = judge(properties, arguments, text)
    assert (verdict.decision, verdict.reason) == (
        "proved",
        "Nothing else is said for an argument after its gold value.",
    )


def test_a_value_that_the_gold_call_leaves_out_is_found_where_it_is_said_outright() -> None:
    verdict = judge(
        CITY | GUESTS, {"city": "Rome"}, "The shooting city is Rome. By the way, the number of guests is 4."
    )
    assert verdict.decision == "unproved"
    assert "'guests'" in verdict.reason
    assert judge(CITY | GUESTS, {"city": "Rome"}, "The shooting city is Rome, for my guests.").decision == "proved"


def test_a_date_or_time_that_no_argument_has_is_found_without_a_name() -> None:
    schemas = CITY | TIME | DAY
    assert "'at'" in judge(schemas, {"city": "Rome"}, "The shooting city is Rome, at 7 pm.").reason
    assert "'day'" in judge(schemas, {"city": "Rome"}, "The shooting city is Rome, on March 5, 2027.").reason
    assert judge(schemas, {"city": "Rome", "at": "19:00"}, "The shooting city is Rome, at 7 pm.").decision == "proved"


def test_a_default_does_not_hold_against_what_is_said() -> None:
    assert judge(SEAT, {"seat": False}, "A taxi, child seat: yes.").decision == "unproved"


def test_a_value_that_another_argument_has_is_explained_unless_that_is_said_elsewhere() -> None:
    schemas = GUESTS | ROOMS
    assert (
        judge(schemas, {"guests": 4, "rooms": 6}, "For 4. The number of guests in rooms, sorry, 6.").decision
        == "proved"
    )
    text = "The number of guests is 4. The number of rooms is 6. Sorry, the number of guests is 6."
    assert judge(schemas, {"guests": 4, "rooms": 6}, text).decision == "contradicted"


def test_a_later_turn_counts_and_the_assistants_words_do_not() -> None:
    asked = ReplyTurn(text="So the shooting city is Bergen?")
    assert judge(CITY, {"city": "Oslo"}, "The shooting city is Oslo.", asked, "Yes.").decision == "proved"
    override = "It was wrong before. Shooting city should be Rome"
    verdict = judge(CITY, {"city": "Oslo"}, "The shooting city is Oslo.", asked, override)
    assert verdict.decision == "contradicted"
    assert "'Rome'" in verdict.reason
    assert judge(CITY, {"city": "Rome"}, "The shooting city is Oslo.", asked, override).decision == "proved"


def test_each_snapshot_is_judged_by_what_was_said_before_it() -> None:
    tool = Tool(name="order", description="Order it.", category="x", parameters={"properties": CITY})
    first, second = (CallTurn(calls=(GoldCall(tool="order", arguments={"city": city}),)) for city in ("Oslo", "Rome"))
    turns = (UserTurn(text="The shooting city is Oslo."), first, UserTurn(text="The shooting city is Rome."), second)
    sample = Sample(kind="msv", language="en", category="x", candidates=(tool.key,), turns=turns)
    assert find_ambiguity(sample, [tool]).decision == "proved"
    assert find_ambiguity(sample.with_changes(turns=(*turns[:3], first)), [tool]).decision == "unproved"


def test_a_value_out_of_a_message_is_not_held_against_the_words_that_point_there() -> None:
    message = Message(app="mail", text="We meet in Rome.")
    turn = UserTurn(text="The shooting city is the one mentioned in the mail.", external=message)
    assert judge(CITY, {"city": "Rome"}, turn).decision == "proved"


def test_empty_values_are_as_good_as_none() -> None:
    assert judge(CITY, {"city": ""}, "Order it.").decision == "proved"
    assert judge(CITY, {"city": ""}, "Order it. The shooting city is Rome.").decision == "unproved"


async def test_the_stage_answers_once_about_the_sample(
    perfect: Sample, irrelevant: Sample, tools: dict[str, Tool]
) -> None:
    (verdict,) = await check_ambiguity(perfect, context_of(tools))
    assert (verdict.subject, verdict.check, verdict.decision) == (perfect.key, "ambiguity", "proved")
    assert applies_to(perfect)
    assert not applies_to(irrelevant)


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_gets_an_answer(before: str, after: str) -> None:
    verdict = judge(CITY | GUESTS | SEAT | TIME, {"city": "Rome"}, f"{before} the shooting city is Rome {after}")
    assert verdict.decision in ("proved", "unproved", "contradicted")


def records(shared: Path, language: Language, kind: str) -> Iterator[tuple[Sample, list[Tool]]]:
    folder = "single-turn" if kind.startswith("ST_") else "multi-turn"
    name = kind if kind.startswith("ST_") else f"HammerBench_{kind}"
    for record in read_hammerbench(shared / f"data/hammerbench/sample100/{language}/{folder}/{name}.json"):
        if record.sample is not None:
            yield record.sample, list(record.tools)


KINDS = ("ST_Perfect", "ST_Imperfect", "Based", "SO_case1", "SO_case2", "mSv")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_it_raises_no_false_alarm_about_conversations_that_people_made(shared: Path, language: Language) -> None:
    verdicts = [find_ambiguity(*pair) for kind in KINDS for pair in records(shared, language, kind)]
    alarms = [verdict.reason for verdict in verdicts if verdict.decision != "proved"]
    assert len(verdicts) > 500
    assert len(alarms) / len(verdicts) < 0.005, alarms


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ["SO_case2", "mSv"])
def test_a_gold_value_that_the_user_has_replaced_is_found(shared: Path, language: Language, kind: str) -> None:
    stale = [
        find_ambiguity(outdated, tools)
        for sample, tools in records(shared, language, kind)
        if (outdated := _outdated(sample)) is not None
    ]
    assert len(stale) > 80
    assert sum(verdict.decision != "proved" for verdict in stale) / len(stale) > 0.85


def _outdated(sample: Sample) -> Sample | None:
    """The sample up to the first call that replaces a value, with the value before it; None where none is replaced."""
    before: dict[str, Any] = {}
    for snapshot in sample.snapshots():
        call = snapshot.calls[0]
        replaced = {name: before[name] for name, value in call.arguments.items() if before.get(name, value) != value}
        if replaced:
            old = call.with_changes(arguments={**call.arguments, **replaced})
            return sample.with_changes(turns=(*snapshot.prefix, CallTurn(calls=(old,))))
        before = call.arguments
    return None
