"""The conversation with the change in it: what is said, and what every snapshot holds from then
on.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from callwright.generators.shifts.making import OverridingText, change_values, override_values
from callwright.generators.shifts.turns import is_question, moved, stock_phrases
from callwright.language.packs import known
from callwright.language.pages import shapes_in
from callwright.testing import ScriptedModel
from callwright.validators.checks.format import check_format
from callwright.validators.checks.grounding import check_grounding
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import (
    CallTurn,
    Derivation,
    Evidence,
    GoldCall,
    PaperId,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    UserTurn,
    ValueChange,
)

Made = Mapping[str, Callable[[], Sample]]
PROMPT = "word_correction"


def changed(
    source: Sample, transform: Any, argument: str, new: Any, *, turn: int = 1
) -> ValueChange:
    snapshots = {snapshot.turn: snapshot.calls for snapshot in source.snapshots()}
    call = next(at for at, one in enumerate(snapshots[turn]) if argument in one.arguments)
    old = snapshots[turn][call].arguments[argument]
    derivation = Derivation(transform=transform, source=source, seed=1)
    return ValueChange(
        derivation=derivation, turn=turn, call=call, argument=argument, old=old, new=new
    )


def scripted(*said: tuple[str, str]) -> ScriptedModel:
    return ScriptedModel(
        {PROMPT: [OverridingText(sentence=sentence, words=words) for sentence, words in said]}
    )


def values(sample: Sample, argument: str) -> list[Any]:
    return [
        snapshot.calls[0].arguments.get(argument)
        for snapshot in sample.snapshots()
        if snapshot.calls
    ]


async def is_proved(sample: Sample, context: Any) -> bool:
    [form] = await check_format(sample, context)
    [grounds] = await check_grounding(sample, context)
    return form.decision == "proved" and grounds.decision == "proved"


async def test_in_the_same_turn_the_correction_follows_the_value(
    conversations: Made, context_for: Any
) -> None:
    source = conversations["asked"]()
    change = changed(source, "SO_case1", "destination", "Seattle", turn=4)
    [sample] = await override_values(
        change, context_for(1, scripted(("Sorry, make that Seattle.", "Seattle")))
    )
    assert sample.turns[3] == UserTurn(text="To Boston. Sorry, make that Seattle.")
    assert values(sample, "destination") == [None, "Seattle", "Seattle"]
    assert sample.kind == "SO_case1"
    assert sample.facts == SampleFacts(shifts=(1,))
    assert len(sample.turns) == len(source.turns)
    [said] = [one for one in sample.gold[0].evidence if one.argument == "destination"]
    assert (said.turn, said.quote) == (3, "Seattle")
    assert said.start == len("To Boston. Sorry, make that ")
    assert await is_proved(sample, context_for())


async def test_in_a_turn_of_its_own_the_question_is_asked_again(
    conversations: Made, context_for: Any
) -> None:
    source = conversations["asked"]()
    change = changed(source, "SO_case2", "destination", "Seattle", turn=4)
    said = "I was wrong before: the destination should be Seattle."
    [sample] = await override_values(change, context_for(1, scripted((said, "Seattle"))))
    assert [turn.kind for turn in sample.turns[5:]] == [
        "reply",
        "user",
        "calls",
        "reply",
        "user",
        "calls",
    ]
    assert sample.turns[5] == sample.turns[8] == ReplyTurn(text="Which day?")
    assert sample.turns[6] == UserTurn(text=said)
    assert sample.turns[9] == UserTurn(text="On 2027-03-04.")
    assert values(sample, "destination") == [None, "Boston", "Seattle", "Seattle"]
    assert values(sample, "date") == [None, None, None, "2027-03-04"]
    assert sample.facts == SampleFacts(shifts=(2,))
    assert {one.argument: one.turn for one in sample.gold[0].evidence} == {
        "origin": 0,
        "destination": 6,
        "date": 9,
    }
    assert await is_proved(sample, context_for())


async def test_after_the_call_one_value_changes_and_the_others_stay(
    conversations: Made, context_for: Any
) -> None:
    source = conversations["asked"]()
    change = changed(source, "mSv", "date", "2027-03-11", turn=7)
    said = "Do the same for 2027-03-11, please."
    [sample] = await override_values(change, context_for(1, scripted((said, "2027-03-11"))))
    assert sample.turns[:8] == source.turns
    done, again, calls = sample.turns[8:]
    assert isinstance(done, ReplyTurn)
    assert done.text in stock_phrases("en", "done")
    assert again == UserTurn(text=said)
    assert isinstance(calls, CallTurn)
    assert calls.calls == sample.gold
    assert sample.gold[0].arguments == {**source.gold[0].arguments, "date": "2027-03-11"}
    assert sample.facts == SampleFacts(shifts=(3,))
    assert sample.kind == "mSv"
    assert await is_proved(sample, context_for())


async def test_after_executed_calls_nothing_that_is_kept_becomes_untrue(
    conversations: Made, context_for: Any
) -> None:
    source = conversations["executed"]()
    change = changed(source, "mSv", "city", "Lisbon", turn=3)
    [sample] = await override_values(
        change, context_for(1, scripted(("And the forecast for Lisbon?", "Lisbon")))
    )
    assert sample.turns[: len(source.turns)] == source.turns  # the assistant has answered already
    assert [turn.kind for turn in sample.turns[len(source.turns) :]] == ["user", "calls"]
    assert sample.gold == (sample.gold[0],)
    assert sample.gold[0].arguments == {"city": "Lisbon", "date": "2027-03-04"}
    assert sample.kind == "multi_step_mSv"
    assert await is_proved(sample, context_for())


async def test_without_snapshots_a_correction_brings_none(
    conversations: Made, context_for: Any
) -> None:
    source = conversations["asked_without_snapshots"]()
    change = changed(source, "SO_case2", "destination", "Seattle", turn=3)
    said = "Wait, not Boston: Seattle."
    [sample] = await override_values(change, context_for(1, scripted((said, "Seattle"))))
    assert [turn.kind for turn in sample.turns] == [
        "user",
        "reply",
        "user",
        "reply",
        "user",
        "calls",
    ]
    assert values(sample, "destination") == ["Seattle"]
    assert sample.facts == SampleFacts(shifts=(0,))


async def test_a_value_that_two_calls_share_changes_in_both(
    conversations: Made, context_for: Any
) -> None:
    source = conversations["parallel"]()
    change = changed(source, "SO_case1", "date", "2027-03-11")
    [sample] = await override_values(
        change, context_for(1, scripted(("No, the day is 2027-03-11.", "2027-03-11")))
    )
    assert [call.arguments["date"] for call in sample.gold] == ["2027-03-11", "2027-03-11"]
    assert [call.arguments["city"] for call in sample.gold] == ["Rome", "Oslo"]


async def test_of_several_calls_only_the_one_that_is_meant_changes(
    conversations: Made, context_for: Any
) -> None:
    source = conversations["several"]()
    change = changed(source, "mSv", "prescription_number", "RX99999")
    chat = scripted(("And another prescription: RX99999.", "RX99999"))
    [sample] = await override_values(change, context_for(1, chat))
    assert [call.tool for call in sample.gold] == ["Pharmacy.Orders.refillPrescription"]


async def test_a_wording_is_asked_for_again_until_it_does(
    conversations: Made, context_for: Any
) -> None:
    source = conversations["asked"]()
    change = changed(source, "SO_case2", "destination", "Seattle", turn=4)
    good = "Sorry, the destination is Seattle."
    chat = scripted(
        ("Actually, Seattle.", "Seattle"),
        ("Seattle as destination, not Boston.", "Seattle"),
        (good, "Seattle"),
    )
    [sample] = await override_values(change, context_for(1, chat))
    assert any(turn == UserTurn(text=good) for turn in sample.turns)
    assert not chat.left


@pytest.mark.parametrize(
    ("sentence", "words", "reason"),
    [
        ("", "Seattle", "0 characters"),
        ("不对，目的地是Seattle。", "Seattle", "not in the language"),
        ("Make it Lima.", "Lima", "say 'Lima'"),
        ("The destination is wrong.", "wrong", "say 'wrong'"),
        ("Make the destination Seattle instead of Boston.", "Seattle", "after the new one"),
    ],
)
async def test_three_bad_wordings_fail_the_record_with_the_reason(
    sentence: str, words: str, reason: str, conversations: Made, context_for: Any
) -> None:
    change = changed(conversations["asked"](), "SO_case1", "destination", "Seattle", turn=4)
    with pytest.raises(ReplyError, match=reason):
        await override_values(change, context_for(1, scripted(*[(sentence, words)] * 3)))


@pytest.mark.parametrize("words", ["", "seattle.", "the destination", "Seattle please"])
async def test_a_quote_that_is_forgotten_or_mangled_is_no_reason_to_ask_again(
    words: str, conversations: Made, context_for: Any
) -> None:
    change = changed(conversations["asked"](), "SO_case1", "destination", "Seattle", turn=4)
    sentence = "Sorry, make the destination Seattle."
    [sample] = await override_values(change, context_for(1, scripted((sentence, words))))
    [told] = {one.quote for one in sample.gold[0].evidence if one.argument == "destination"}
    assert told == "Seattle"


@pytest.mark.parametrize(
    ("transform", "argument", "new", "sentence"),
    [
        (
            "SO_case1",
            "destination",
            "Seattle",
            "Sorry, Seattle.",
        ),  # Rome and Boston were said with it
        ("SO_case2", "origin", "Oslo", "I meant Oslo."),  # the question is where to go
        ("mSv", "destination", "Seattle", "And now Seattle?"),
    ],
)
async def test_a_value_that_two_arguments_could_take_must_be_named(
    transform: Any, argument: str, new: str, sentence: str, conversations: Made, context_for: Any
) -> None:
    source = conversations["asked" if transform == "SO_case2" else "single"]()
    change = changed(source, transform, argument, new)
    with pytest.raises(ReplyError, match="another argument could take"):
        await override_values(change, context_for(1, scripted(*[(sentence, new)] * 3)))
    named = f"{sentence} That is for the {'origin' if argument == 'origin' else 'destination'}."
    [sample] = await override_values(change, context_for(1, scripted((named, new))))
    assert sample.gold[0].arguments[argument] == new


async def test_the_only_value_so_far_needs_no_name(conversations: Made, context_for: Any) -> None:
    change = changed(conversations["asked"](), "SO_case1", "origin", "Oslo")
    [sample] = await override_values(change, context_for(1, scripted(("No, Oslo.", "Oslo"))))
    assert values(sample, "origin") == ["Oslo"] * 3


@pytest.mark.parametrize("change", [{"old": "Lima"}, {"argument": "cabin"}, {"turn": 7}])
async def test_a_change_that_does_not_fit_its_source_is_a_record_error(
    change: dict[str, Any], conversations: Made, context_for: Any
) -> None:
    planned = changed(
        conversations["asked"](), "SO_case1", "destination", "Seattle", turn=4
    ).with_changes(**change)
    with pytest.raises(RecordError, match="can't be made"):
        await override_values(planned, context_for(1, scripted()))


@pytest.mark.parametrize("transform", ["SO_case1", "SO_case2", "mSv"])
@pytest.mark.parametrize("name", ["asked", "asked_in_chinese"])
async def test_what_the_template_model_words_is_proved_and_varies(
    name: str, transform: Any, conversations: Made, context_for: Any
) -> None:
    source, spoken = conversations[name](), set()
    for seed in range(8):
        derivation = Derivation(transform=transform, source=source, seed=seed)
        [change] = await change_values(derivation, context_for(derivation.key))
        [sample] = await override_values(change, context_for(change.key))
        assert await is_proved(sample, context_for()), sample.turns
        spoken.add(tuple(turn.text for turn in sample.turns if isinstance(turn, UserTurn)))
    assert len(spoken) >= 7


def test_facts_of_the_source_give_way_to_those_that_are_true(conversations: Made) -> None:
    from callwright.generators.shifts.turns import shifted_facts

    source = conversations["asked"]().with_changes(
        facts=SampleFacts(paper_id=PaperId("hammerbench", 4), shifts=(0,), labels=("seed",))
    )
    assert shifted_facts(source, 2) == SampleFacts(shifts=(2,), labels=("seed",))


def test_turns_that_move_take_their_evidence_along() -> None:
    evidence = (
        Evidence(argument="a", kind="span", turn=0, start=0, end=1, quote="x"),
        Evidence(argument="b", kind="response", turn=4, path="turns[4].results[0].id"),
    )
    turn = CallTurn(calls=(GoldCall(tool="t", arguments={"a": 1, "b": 2}, evidence=evidence),))
    first, second = moved(turn, 2, 3).calls[0].evidence  # type: ignore[union-attr]
    assert first == evidence[0]
    assert (second.turn, second.path) == (7, "turns[7].results[0].id")
    assert moved(ResultTurn(results=(1,)), 0, 3) == ResultTurn(results=(1,))


def test_no_done_sounds_like_a_question() -> None:
    assert not [
        text for code in ("en", "zh") for text in stock_phrases(code, "done") if is_question(text)
    ]
    assert all(
        is_question(text)
        for text in ("Which day?", "Please tell me the city.", "请提供车牌号", "违章所在城市是哪个")
    )


def test_no_shape_says_the_old_value_after_the_new_one() -> None:
    for shape in (one for code in known() for one in shapes_in(code, "corrections")):
        said = max(map(shape.find, ("{value}", "{phrase}", "{answer}")))
        assert shape.find("{old}") < said, shape
