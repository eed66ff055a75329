"""The conversation with the change in it: what is said, and what every snapshot holds from then
on.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from callwright.generators.shifts.making import OverridingText, override_values
from callwright.generators.shifts.turns import stock_phrases
from callwright.testing import ScriptedModel
from callwright.validators.checks.format import check_format
from callwright.validators.checks.grounding import check_grounding
from callwright.warehouse.errors import RecordError, ReplyError
from callwright.warehouse.records import (
    CallTurn,
    Derivation,
    PaperId,
    ReplyTurn,
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


def scripted(*said: tuple[str, str], argument: str = "destination") -> ScriptedModel:
    """A model that says these sentences, with the words of each in the argument's slot."""
    slotted = [sentence.replace(words, f"[{argument}: {words}]") for sentence, words in said]
    return ScriptedModel({PROMPT: [OverridingText(sentence=one) for one in slotted]})


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
    [sample] = await override_values(
        change, context_for(1, scripted((said, "2027-03-11"), argument="date"))
    )
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
        ("不对，目的地是Seattle。", "Seattle", "in English"),
        ("The destination is wrong.", "Seattle", r"Missing: \[destination\]"),
        ("Make the destination Seattle instead of Boston.", "Seattle", "after the new one"),
    ],
)
async def test_three_bad_wordings_fail_the_record_with_the_reason(
    sentence: str, words: str, reason: str, conversations: Made, context_for: Any
) -> None:
    change = changed(conversations["asked"](), "SO_case1", "destination", "Seattle", turn=4)
    with pytest.raises(ReplyError, match=reason):
        await override_values(change, context_for(1, scripted(*[(sentence, words)] * 3)))


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
    with pytest.raises(ReplyError, match="several things could be"):
        await override_values(
            change, context_for(1, scripted(*[(sentence, new)] * 3, argument=argument))
        )
    named = f"{sentence} That is for the {'origin' if argument == 'origin' else 'destination'}."
    [sample] = await override_values(
        change, context_for(1, scripted((named, new), argument=argument))
    )
    assert sample.gold[0].arguments[argument] == new


@pytest.mark.parametrize("change", [{"old": "Lima"}, {"argument": "cabin"}, {"turn": 7}])
async def test_a_change_that_does_not_fit_its_source_is_a_record_error(
    change: dict[str, Any], conversations: Made, context_for: Any
) -> None:
    planned = changed(
        conversations["asked"](), "SO_case1", "destination", "Seattle", turn=4
    ).with_changes(**change)
    with pytest.raises(RecordError, match="can't be made"):
        await override_values(planned, context_for(1, scripted()))


def test_facts_of_the_source_give_way_to_those_that_are_true(conversations: Made) -> None:
    from callwright.generators.shifts.turns import shifted_facts

    source = conversations["asked"]().with_changes(
        facts=SampleFacts(paper_id=PaperId("hammerbench", 4), shifts=(0,), labels=("seed",))
    )
    assert shifted_facts(source, 2) == SampleFacts(shifts=(2,), labels=("seed",))
