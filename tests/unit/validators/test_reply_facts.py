"""Results that are not what a call returns, and replies that say what no result holds."""

import pytest

from language.calls.frames import Stretch, glue_of, left_over
from tests.support.conversational import converse, template_context
from validators.checks.facts import check_facts
from warehouse.records import CallTurn, Decision, ReplyTurn, ResultTurn, Sample


async def judged(sample: Sample) -> tuple[Decision, str]:
    (verdict,) = await check_facts(sample, template_context())
    return verdict.decision, verdict.reason


def with_reply(sample: Sample, text: str = "", **changes: object) -> Sample:
    """The sample whose first reply after a result is another one."""
    at = next(
        i
        for i, turn in enumerate(sample.turns)
        if isinstance(turn, ReplyTurn) and i and isinstance(sample.turns[i - 1], ResultTurn)
    )
    reply = sample.turns[at]
    assert isinstance(reply, ReplyTurn)
    other = reply.with_changes(text=text or reply.text, **changes)
    return sample.with_changes(turns=(*sample.turns[:at], other, *sample.turns[at + 1 :]))


@pytest.mark.parametrize(
    "complexity", ["no_target_complexity", "exception_in_execution", "confirmation", "goal_not_supported"]
)
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_conversation_as_it_was_made_is_proved(complexity, language):
    assert await judged(await converse(complexity, language)) == (
        "proved", "Results come back as recorded, and replies state them.",
    )  # fmt: skip


async def test_a_result_that_was_altered_is_contradicted():
    sample = await converse("no_target_complexity")
    at = next(i for i, turn in enumerate(sample.turns) if isinstance(turn, ResultTurn))
    turns = (*sample.turns[:at], ResultTurn(results=({"done": "altered"},)), *sample.turns[at + 1 :])
    decision, reason = await judged(sample.with_changes(turns=turns))
    assert decision == "contradicted"
    assert "is not what the call returns" in reason


async def test_a_call_with_arguments_of_any_form_is_answered_with_a_verdict():
    sample = await converse("no_target_complexity")
    at = next(i for i, turn in enumerate(sample.turns) if isinstance(turn, CallTurn))
    calls = tuple(call.with_changes(arguments={"x": [{"y": None}]}) for call in sample.turns[at].calls)
    turns = (*sample.turns[:at], sample.turns[at].with_changes(calls=calls), *sample.turns[at + 1 :])
    assert (await judged(sample.with_changes(turns=turns)))[0] == "contradicted"


@pytest.mark.parametrize("addition", [" I also sent a letter to your office.", " Its number is 4711."])
async def test_what_no_result_holds_leaves_a_reply_unproved(addition):
    sample = await converse("no_target_complexity")
    reply = next(
        turn.text
        for at, turn in enumerate(sample.turns)
        if isinstance(turn, ReplyTurn) and isinstance(sample.turns[at - 1], ResultTurn)
    )
    assert (await judged(with_reply(sample, reply + addition)))[0] == "unproved"


async def test_a_reply_that_tells_nothing_of_a_result_is_unproved():
    decision, reason = await judged(with_reply(await converse("no_target_complexity"), "Done."))
    assert (decision, "does not tell what" in reason) == ("unproved", True)


async def test_an_error_told_as_success_is_unproved():
    sample = await converse("exception_in_execution")
    at = next(
        i for i, turn in enumerate(sample.turns)
        if isinstance(turn, ReplyTurn) and isinstance(sample.turns[i - 1], ResultTurn) and "error" in str(sample.turns[i - 1])
    )  # fmt: skip
    told = ReplyTurn(text="Done.", acts=("inform",))
    assert (await judged(sample.with_changes(turns=(*sample.turns[:at], told, *sample.turns[at + 1 :]))))[
        0
    ] == "unproved"


async def test_a_label_that_a_reply_does_not_bear_out_is_contradicted():
    decision, reason = await judged(with_reply(await converse("no_target_complexity"), acts=("reject",)))
    assert (decision, "is labelled reject" in reason) == ("contradicted", True)


def test_what_neither_phrases_nor_stretches_cover_is_left_over():
    text = "I was hoping you could lock a bank card, or throw it away. The card is 9052."
    known = ["lock a bank card", "card", *glue_of("en", "requests")]
    assert left_over(text, known, [Stretch(text.index("9052"), len(text))]) == ["or throw it away"]
    assert left_over("请锁定银行卡，别锁门。", ["锁定银行卡", *glue_of("zh", "requests")], []) == ["别锁门"]


def test_no_phrase_covers_a_part_of_a_word():
    assert left_over("lockers", ["lock"], []) == ["lockers"]
