"""Personal data is replaced alike in words, calls and results, so that what proved a value
proves it afterwards.
"""

from collections import Counter

import pytest
from pydantic import JsonValue

from callwright.generators.taken import CONVERSATION
from callwright.generators.taken.personal_data import without_personal_data
from callwright.validators.checks.grounding import ground
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    UserTurn,
)
from tests.support.generators.planted_personal_data import NOTE, plant, plant_chinese

PLANTED = [*plant(500, seed=1), *plant_chinese(200, seed=2)]
# Of what stands in words alone: a call that has a value under its own name is always found.
RECALL = {
    "name": 1.0,
    "strange name": 0.75,
    "address": 0.9,
    "mail": 1.0,
    "phone": 0.95,
    "card": 1.0,
    "iban": 1.0,
    "secret": 1.0,
    "Chinese name": 0.9,  # what is missed has no word before it that introduces a name
    "strange Chinese name": 0.75,
}


def said(*turns: object, language: str = "en") -> Sample:
    return Sample(
        kind=CONVERSATION, language=language, category="Notes", candidates=(NOTE.key,), turns=turns
    )


def text_of(sample: Sample) -> str:
    return sample.model_dump_json()


@pytest.fixture(scope="module")
def recall() -> dict[tuple[str, bool], float]:
    """By kind, and whether a call has the value too."""
    found, all_of = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()
    for number, one in enumerate(PLANTED):
        cleaned = without_personal_data(one.sample, [NOTE], str(number))
        all_of[one.kind, one.is_called] += 1
        found[one.kind, one.is_called] += one.value not in text_of(cleaned.sample)
    return {at: found[at] / count for at, count in all_of.items()}


@pytest.mark.parametrize("kind", RECALL)
def test_of_five_hundred_planted_items_these_shares_are_found(
    kind: str, recall: dict[tuple[str, bool], float]
) -> None:
    assert recall[kind, False] >= RECALL[kind]
    assert recall[kind, True] == 1.0


def test_evidence_holds_as_it_held_before() -> None:
    for number, one in enumerate(PLANTED):
        before = ground(one.sample, [NOTE])
        after = ground(without_personal_data(one.sample, [NOTE], str(number)).sample, [NOTE])
        assert after.decision == before.decision, one


def test_a_person_is_the_same_other_person_in_words_calls_and_results() -> None:
    call = GoldCall(
        tool=NOTE.name, arguments={"customer_name": "Anna Schmidt", "phone": "00491712345678"}
    )
    talk = said(
        UserTurn(text="My name is Anna Schmidt, write to anna.schmidt@web.de or +49 171 2345678."),
        CallTurn(calls=(call,), executed=True),
        ResultTurn(results=({"customerName": "ANNA SCHMIDT", "phone": 491712345678, "id": 7},)),
        ReplyTurn(text="Done, Ms Schmidt."),
    )
    found = without_personal_data(talk, [NOTE], "x")
    assert set(found.counts) == {"name", "mail", "phone"}
    plain = text_of(found.sample).casefold()
    assert all(word not in plain for word in ("anna", "schmidt", "web.de", "2345678"))
    name = found.sample.turns[1].calls[0].arguments["customer_name"]
    assert name in found.sample.turns[0].text
    assert name.split()[-1] in found.sample.turns[3].text
    assert found.sample.turns[2].results[0]["id"] == 7
    assert found.sample.turns[2].results[0]["phone"] != 491712345678


def test_a_system_message_tells_nobodys_data() -> None:
    talk = said(UserTurn(text="Go."), ReplyTurn(text="Done."))
    briefed = talk.with_changes(system_message="The customer is Anna Schmidt, anna@web.de.")
    found = without_personal_data(briefed, [NOTE], "x")
    assert found.counts == {"name": 1, "mail": 1}
    assert found.sample.system_message == "The customer is {}, {}.".format(
        *(found.values[one] for one in ("Anna Schmidt", "anna@web.de"))
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Charge 4111 1111 1111 1111 now.", "card"),
        ("Send it to DE89 3704 0044 0532 0130 00.", "iban"),
    ],
)
def test_numbers_that_check_themselves_still_do(text: str, kind: str) -> None:
    found = without_personal_data(said(UserTurn(text=text), ReplyTurn(text="Done.")), [], "x")
    [made] = found.values.values()
    assert found.counts == {kind: 1}
    plain = made.replace(" ", "")
    if kind == "card":
        doubled = [sum(map(int, str(2 * int(one)))) for one in plain[-2::-2]]
        assert (sum(map(int, plain[-1::-2])) + sum(doubled)) % 10 == 0
    else:
        assert (plain[:2], len(plain)) == ("DE", 22)
        assert int("".join(str(int(one, 36)) for one in plain[4:] + plain[:4])) % 97 == 1
    assert [len(one) for one in made.split(" ")] == [4] * (len(plain) // 4) + [2] * (kind == "iban")


@pytest.mark.parametrize(
    "text",
    [
        "Book room 12 for 2026-05-06 at 14:30.",
        "Order 100234567 costs 37.4224764 euros.",
        "It is at 37.4224764, -122.0842499.",
        "Play Bohemian Rhapsody by Queen.",
        "Convert 1500 dollars to yen.",
        "Is the museum open on 03.04.2026?",
        "Where is parcel 4111111111111112?",  # a wrong check digit: no card
    ],
)
def test_what_is_nobodys_stays(text: str) -> None:
    found = without_personal_data(said(UserTurn(text=text), ReplyTurn(text="Done.")), [], "x")
    assert found.values == {}


def test_a_chinese_person_is_the_same_other_person_in_words_calls_and_results() -> None:
    call = GoldCall(
        tool=NOTE.name, arguments={"customer_name": "王梓涵", "text": "王梓涵想改到周三。"}
    )
    talk = said(
        UserTurn(text="请帮王梓涵订一张桌子，他想改到周三。"),
        CallTurn(calls=(call,), executed=True),
        ResultTurn(results=({"customerName": "王梓涵"},)),
        ReplyTurn(text="好的，已经帮王梓涵订好了。"),
        language="zh",
    )
    found = without_personal_data(talk, [NOTE], "x")
    assert found.counts == {"name": 1}
    assert "王梓涵" not in text_of(found.sample)
    assert text_of(found.sample).count(found.values["王梓涵"]) == 5


@pytest.mark.parametrize(
    "text",
    [
        "东方明珠在哪里？",
        "和时间有关的项目经理培训",
        "我是来自上海的",
        "尊敬的车主您好",
        "查询经理的电话",
    ],
)
def test_what_reads_like_a_chinese_name_stays(text: str) -> None:
    found = without_personal_data(
        said(UserTurn(text=text), ReplyTurn(text="好的。"), language="zh"), [], "x"
    )
    assert found.values == {}


@pytest.mark.parametrize("value", ["x", 4, None, [1, {"a": "b"}], {"name": "Concert Hall"}])
def test_values_without_any_come_back_as_they_are(value: JsonValue) -> None:
    talk = said(
        UserTurn(text="Go."),
        CallTurn(calls=(GoldCall(tool=NOTE.name),), executed=True),
        ResultTurn(results=(value,)),
    )
    assert without_personal_data(talk, [NOTE], "x").sample == talk


ADDRESS = {"type": "object", "properties": {"street": {}, "city": {}, "postcode": {}}}
MOVE = Tool(
    name="report_move",
    description="Report a move.",
    category="Moves",
    parameters={
        "type": "object",
        "properties": {
            "residents": {"type": "array", "description": "Full names", "items": {}},
            "lead": {"type": "string", "description": "Name of the tenant"},
            "mobile": {"type": "string", "pattern": r"^\+\d+$", "description": "E.164"},
            "old_address": ADDRESS,
            "new_address": ADDRESS,
            "office_id": {"type": "string"},
        },
    },
)


def test_people_and_parts_of_addresses_are_known_by_what_stands_beside_them() -> None:
    said_text = (
        "we are Imogen Farrelly and dolores whitacre, from Flat 2, 14 Wexcombe Terrace, Bristol"
        " BS5 7QN to Flat 2, 91 Harrowgate Road, Bath BA1 4LD. office BR-2, 07700 900482"
    )
    call = GoldCall(
        tool=MOVE.name,
        arguments={
            "residents": ["Imogen Farrelly", "Dolores Whitacre"],
            "lead": "Imogen Farrelly",
            "mobile": "+447700900482",
            "old_address": {
                "street": "Flat 2, 14 Wexcombe Terrace",
                "city": "Bristol",
                "postcode": "BS5 7QN",
            },
            "new_address": {
                "street": "Flat 2, 91 Harrowgate Road",
                "city": "Bath",
                "postcode": "BA1 4LD",
            },
            "office_id": "BR-2",
        },
    )
    office = ResultTurn(results=({"offices": [{"office_id": "BR-2", "name": "Old Town Office"}]},))
    talk = said(UserTurn(text=said_text), CallTurn(calls=(call,), executed=True), office)
    cleaned = without_personal_data(talk, [MOVE], "x").sample
    plain = text_of(cleaned).casefold()
    for personal in ("imogen", "farrelly", "dolores", "whitacre", "wexcombe", "7qn", "900482"):
        assert personal not in plain
    [after] = cleaned.all_calls
    assert after.arguments.keys() == call.arguments.keys()
    assert cleaned.turns[2] == office
    assert str(after.arguments["old_address"]["postcode"]).startswith("BS5 ")
    words = cleaned.turns[0].text
    for moved in (after.arguments["old_address"], after.arguments["new_address"]):
        assert f"{moved['street']}, {moved['city']} {moved['postcode']}" in words
