"""The last words of an assistant: what was done and what was asked, each of its thing."""

import pytest
from pydantic import JsonValue

from callwright.generators.multi_step.answers import (
    Asked,
    answer_of,
    answer_problem,
    answer_sentence,
    deed_words,
    reported,
    telling_fields,
)
from callwright.warehouse.records import (
    AskedField,
    CallPlace,
    CallTurn,
    Condition,
    EntryRule,
    Evidence,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    UserTurn,
)

CHEAPEST = Condition(test="lowest", field="price")
DEAREST = Condition(test="highest", field="price")
KIT = Condition(test="equals", field="name", value="Kit Moon")
REQUEST = "Cancel the cheapest delivery of the waiting parcel for Kit Moon."


def call(tool: str, turn: int, at: int, where: Condition, **said: JsonValue) -> GoldCall:
    """A call about an entry of the list that a turn returned, told by a condition."""
    parameter = "parcel_id" if where == KIT else "delivery_id"
    evidence = Evidence(
        argument=parameter,
        kind="response",
        turn=turn,
        path=f"turns[{turn}].results[0][{at}].id",
        rule=EntryRule(entries="", field="id", where=(where,)),
    )
    return GoldCall(tool=tool, arguments={parameter: f"x{at}", **said}, evidence=(evidence,))


def sample(*last: GoldCall, asked: tuple[AskedField, ...] = (), language: str = "en") -> Sample:
    deliveries = [
        {"id": "x0", "window": "morning", "price": 3},
        {"id": "x1", "window": "evening", "price": 9},
    ]
    return Sample(
        kind="task",
        language=language,
        category="depot",
        candidates=(),
        turns=(
            UserTurn(text=REQUEST),
            CallTurn(calls=(GoldCall(tool="list_parcels"),), executed=True),
            ResultTurn(results=([{"id": "x0", "name": "Kit Moon"}],)),
            CallTurn(calls=(call("list_deliveries", 2, 0, KIT),), executed=True),
            ResultTurn(results=(deliveries,)),
            CallTurn(calls=last, executed=True),
            ResultTurn(results=tuple(deliveries[1] for _ in last)),
            ReplyTurn(text="It is done."),
        ),
        facts=SampleFacts(wanted=tuple(CallPlace(2, at) for at in range(len(last))), asked=asked),
    )


def answer(one: Sample) -> str:
    return answer_of(reported(one), one.language)


def test_what_was_done_is_confirmed_as_the_user_named_it() -> None:
    told = answer(sample(call("cancel_delivery", 4, 0, CHEAPEST)))
    assert "he cheapest delivery of the waiting parcel for Kit Moon" in told
    assert "cancelled" in told
    told = answer(sample(call("update_delivery", 4, 0, CHEAPEST, window="evening")))
    assert (
        told
        == "The window of the cheapest delivery of the waiting parcel for Kit Moon is now evening."
    )
    told = answer(sample(call("delete_parcel", 2, 0, KIT)))
    assert "the waiting parcel for Kit Moon" in told.replace("The w", "the w")
    told = answer(sample(call("create_delivery", 2, 0, KIT, window="morning")))
    assert all(
        one in told
        for one in ("elivery for the waiting parcel for Kit Moon", "created", "(morning)")
    )


def test_only_what_was_asked_is_told_and_of_its_thing() -> None:
    asked = (AskedField(2, 0, "window"), AskedField(2, 0, "price"))
    told = answer(sample(call("get_delivery", 4, 1, DEAREST), asked=asked))
    assert all(
        one in told
        for one in ("most expensive delivery of the waiting parcel for Kit Moon", "evening", "9")
    )
    assert not any(one in told for one in ("x1", "morning", "3"))


def test_a_list_is_told_entry_by_entry() -> None:
    listed = sample(call("get_delivery", 4, 1, DEAREST)).with_changes(
        facts=SampleFacts(
            wanted=(CallPlace(1, 0),),
            asked=(AskedField(1, 0, "[].window"), AskedField(1, 0, "[].price")),
        )
    )
    assert "morning (price 3) and evening (price 9)" in answer(listed)


@pytest.mark.parametrize("language", ["es", "zh"])
def test_every_language_says_what_was_done(language: str) -> None:
    done = sample(call("update_delivery", 4, 0, CHEAPEST, window="evening"), language=language)
    assert all(one in answer(done) for one in ("Kit Moon", "evening"))


def test_a_thing_without_evidence_is_called_by_its_id() -> None:
    order = GoldCall(tool="update_parcel", arguments={"parcel_id": "p7", "status": "held"})
    assert deed_words(order, sample()) == "change the status of parcel p7 to held"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("The dearest one of Kit Moon goes out in the evening.", ""),
        ("The dearest one of Kit Moon goes out.", "it does not tell 'evening'."),
        ("The dearest one goes out in the evening.", "it does not name 'Kit'."),
        (
            "That of Kit Moon goes out in the evening, not in the morning.",
            "it tells 'morning', which was not asked for.",
        ),
        (
            "That of Kit Moon goes out in the evening at 7.",
            "it tells '7', which was not asked for.",
        ),
        ("", "the answer has 0 characters; 1 to 4000 are allowed."),
    ],
)
def test_a_models_words_tell_each_fact_and_no_other(text: str, problem: str) -> None:
    one = sample(call("get_delivery", 4, 1, DEAREST), asked=(AskedField(2, 0, "window"),))
    assert answer_problem(text, one, reported(one), answer(one)) == problem
    assert answer_problem(answer(one), one, reported(one), answer(one)) == ""


def test_nobody_asks_for_an_id() -> None:
    assert telling_fields({"id": "x1", "window": "evening", "price": 9}) == ("window", "price")


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ("silver Garden", "The page: silver Garden."),
        (False, "The page: no."),
        ({"success": True}, "Done: book page, the page."),
        ({"results": [], "more": True}, "The page: nothing was found."),
        ({}, "The page: nothing was found."),
    ],
)
def test_nothing_was_found_only_if_nothing_came_back(response: JsonValue, said: str) -> None:
    asked = Asked("get_book_page", response, (), thing="the page")
    assert answer_sentence(asked, "en") == said
