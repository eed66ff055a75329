"""Whether what the user says asks for just the calls that are made: read by rules, turn by turn."""

from typing import get_args

import pytest

from callwright.generators.shifts.overriding import override_values
from callwright.generators.shifts.values import change_values
from callwright.language.steps.reading import read_strictly
from callwright.language.steps.sources import read_toolbox
from callwright.validators.wishes.accounts import TurnAccount
from callwright.validators.wishes.catalogs import find_in_catalog
from callwright.validators.wishes.check import check_wishes
from callwright.warehouse.records import (
    CallTurn,
    Complexity,
    Decision,
    Derivation,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Transform,
    UserTurn,
)
from tests.support.conversational import converse, template_context


async def judged(sample: Sample) -> tuple[Decision, str]:
    (verdict,) = await check_wishes(sample, template_context())
    return verdict.decision, verdict.reason


def with_words(sample: Sample, before: str = "", after: str = "", *, turn: int = 0) -> Sample:
    """The sample in which the user says something more in a turn."""
    at = [i for i, one in enumerate(sample.turns) if isinstance(one, UserTurn)][turn]
    said = sample.turns[at].with_changes(text=f"{before}{sample.turns[at].text}{after}")
    return sample.with_changes(turns=(*sample.turns[:at], said, *sample.turns[at + 1 :]))


def call_turns(sample: Sample) -> list[int]:
    return [at for at, turn in enumerate(sample.turns) if isinstance(turn, CallTurn)]


@pytest.mark.parametrize("complexity", get_args(Complexity))
async def test_a_conversation_as_it_was_made_is_proved(complexity):
    assert await judged(await converse(complexity)) == ("proved", "The words ask for these calls and for nothing else.")


@pytest.mark.parametrize("complexity", ["no_target_complexity", "confirmation", "underfill", "goal_switching"])
async def test_a_conversation_in_chinese_is_proved(complexity):
    assert (await judged(await converse(complexity, "zh")))[0] == "proved"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Please don't do this: ", ""), ("", " Only if it is free."), ("", " And call my mother."), ("Yesterday I asked: ", ""),
        ("", " Or something similar."), ("", " I'm not sure yet."), ("", " On second thought, don't."),
    ],
)  # fmt: skip
async def test_words_that_belong_to_no_call_leave_it_unproved(before, after):
    decision, reason = await judged(with_words(await converse("no_target_complexity"), before, after))
    assert (decision, "belongs to no call" in reason) == ("unproved", True)


async def test_a_request_that_is_not_served_is_named():
    sample = await converse("goal_stacking")
    for at in call_turns(sample):
        less = sample.with_changes(turns=(*sample.turns[:at], *sample.turns[at + 2 :]))
        assert (await judged(less))[0] == "unproved"


async def test_a_call_that_nobody_asks_for_is_named():
    sample = await converse("goal_stacking")
    first, *_, last = call_turns(sample)
    more = sample.with_changes(
        turns=(*sample.turns[: last + 2], sample.turns[first], sample.turns[first + 1], *sample.turns[last + 2 :])
    )
    decision, reason = await judged(more)
    assert (decision, "nobody asks for the call" in reason) == ("unproved", True)


async def test_a_question_for_something_else_is_named():
    sample = await converse("underfill")
    at = next(i for i, turn in enumerate(sample.turns) if isinstance(turn, ReplyTurn) and "seek" in turn.acts)
    asked = sample.turns[at].with_changes(text="What is your date of birth?")
    decision, reason = await judged(sample.with_changes(turns=(*sample.turns[:at], asked, *sample.turns[at + 1 :])))
    assert (decision, "the question" in reason) == ("unproved", True)


async def test_a_value_that_the_words_give_to_another_parameter_is_named():
    sample = await converse("no_target_complexity", seed=3)
    for at in call_turns(sample):
        (call,) = sample.turns[at].calls
        words = [name for name, value in call.arguments.items() if isinstance(value, str)]
        if len(words) > 1:
            one, other = words[:2]
            swapped = call.with_changes(
                arguments=call.arguments | {one: call.arguments[other], other: call.arguments[one]}
            )
            turns = (*sample.turns[:at], sample.turns[at].with_changes(calls=(swapped,)), *sample.turns[at + 1 :])
            assert (await judged(sample.with_changes(turns=turns)))[0] == "unproved"


async def test_turns_in_any_order_get_a_verdict():
    sample = await converse("exception_in_execution")
    for turns in (sample.turns[::-1], sample.turns[1:], sample.turns[:1], ()):
        assert (await judged(sample.with_changes(turns=turns)))[0] in ("unproved", "proved")
    kept = tuple(turn for turn in sample.turns if not isinstance(turn, ResultTurn))
    assert (await judged(sample.with_changes(turns=kept)))[0] == "unproved"


@pytest.mark.parametrize(
    ("request_text", "left"),
    [
        ("Hello! Look for a hotel in Naples.", []),
        ("My dog is called Rex. Look for a hotel in Naples.", ["My dog is called Rex"]),
        ("Don't look for a hotel in Naples.", ["Don't"]),
    ],
)
def test_words_of_a_request_in_steps_that_no_tool_takes_are_left_over(request_text, left):
    shown = [
        {
            "name": "Search_Hotels",
            "description": "",
            "parameters": {"type": "object", "properties": {"dest_id": {"type": "string"}}},
        }
    ]
    assert read_strictly(request_text, read_toolbox(shown)).unread == left


SUSPEND = Tool(
    name="suspendPhoneLine", description="Suspend a phone line", category="telecom",
    parameters={"type": "object", "required": ["phoneLineNumber"], "properties": {
        "phoneLineNumber": {"type": "string", "description": "number of the phone line"},
        "resumeDate": {"type": "string", "format": "date", "description": "resume date"}}},
)  # fmt: skip


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("Could you suspend the phone line PL-27, using resume date 3 May 2027?", ""),
        ("Could you suspend the phone line PL-27 or PL-28, using resume date 3 May 2027?", "'or PL-28' belongs to no call"),
        ("Could you resume the phone line PL-27, using resume date 3 May 2027?", "does not ask to"),
        ("Could you suspend the phone line PL-27, using resume date 3 May 2027? Also, call my mother.", "things are asked for"),
    ],
)  # fmt: skip
def test_a_question_over_a_catalog_is_read_clause_by_clause(words, reason):
    call = GoldCall(tool=SUSPEND.name, arguments={"phoneLineNumber": "PL-27", "resumeDate": "2027-05-03"})
    sample = Sample(
        kind="routing_easy", language="en", category="telecom", candidates=(SUSPEND.key,),
        turns=(UserTurn(text=words), CallTurn(calls=(call,))),
    )  # fmt: skip
    found = " ".join(one.reason for one in find_in_catalog(sample, {SUSPEND.name: SUSPEND}))
    assert (reason in found) if reason else not found


async def overridden(transform: Transform, seed: int = 1) -> Sample:
    """A conversation in which the user takes a value back, or wants the call again with another value."""
    source = await converse("underfill", seed=seed)
    derivation = Derivation(transform=transform, source=source, seed=seed)
    (change,) = await change_values(derivation, template_context(seed))
    (sample,) = await override_values(change, template_context(seed))
    return sample


@pytest.mark.parametrize("transform", ["SO_case1", "SO_case2", "mSv"])
async def test_a_value_that_is_overridden_in_a_conversation_is_read(transform):
    assert (await judged(await overridden(transform)))[0] == "proved"


@pytest.mark.parametrize("transform", ["SO_case1", "SO_case2", "mSv"])
async def test_what_else_is_said_where_a_value_is_overridden_is_named(transform):
    sample = await overridden(transform)
    spoken = [at for at, turn in enumerate(sample.turns) if isinstance(turn, UserTurn)]
    added = {"SO_case1": -1, "SO_case2": -2, "mSv": -1}[transform]
    more = with_words(sample, after=" Only if it is free.", turn=len(spoken) + added)
    assert (await judged(more))[0] == "unproved"


@pytest.mark.parametrize("transform", ["SO_case1", "mSv"])
async def test_a_value_that_was_taken_back_must_not_stay_in_the_call(transform):
    sample = await overridden(transform)
    source = (await converse("underfill")).gold[0]
    kept = sample.turns[-1].with_changes(calls=(sample.gold[0].with_changes(arguments=source.arguments),))
    assert (await judged(sample.with_changes(turns=(*sample.turns[:-1], kept))))[0] == "unproved"


async def test_words_of_an_overriding_belong_to_no_call_of_a_conversation_as_it_was_made():
    sample = await converse("no_target_complexity")
    assert (await judged(with_words(sample, after=" Scratch that, use it instead.")))[0] == "unproved"


@pytest.mark.parametrize(
    ("said", "left"), [("Tuesday, December 8, 2026", False), ("the 8th", False), ("Boston, book 3 seats", True)]
)
def test_an_aside_may_name_a_day_but_no_wish(said: str, left: bool):
    account = TurnAccount(f"Somebody mentioned {said} to me this morning, not that it matters.", "en")
    account.take_asides()
    assert bool(account.left_over()) == left
