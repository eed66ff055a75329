"""Results that are not what a call returns, and replies that say what no result holds."""

import pytest
from pydantic import JsonValue

from callwright.generators.conversations.making import DialogueActs
from callwright.generators.taken import CONVERSATION
from callwright.testing import ScriptedModel
from callwright.validators.checks.facts import check_facts, check_faithfulness, check_replies
from callwright.validators.judges import ReplyScore
from callwright.warehouse.records import (
    CallTurn,
    Decision,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    UserTurn,
)
from tests.support.conversational import converse, template_context


async def judged(sample: Sample) -> tuple[Decision, str]:
    """The graver verdict of the two checks by rule."""
    found = [
        *(await check_facts(sample, template_context())),
        *(await check_replies(sample, template_context())),
    ]
    verdict = min(found, key=lambda one: ("contradicted", "unproved", "proved").index(one.decision))
    return verdict.decision, " ".join(
        one.reason for one in found if one.decision == verdict.decision
    )


async def read(
    sample: Sample, script: dict[str, list[object]]
) -> tuple[Decision, str, ScriptedModel]:
    """What a judge finds who answers by a script."""
    chat = ScriptedModel(script)
    (verdict,) = await check_faithfulness(sample, template_context()._replace(chat=chat))
    return verdict.decision, verdict.reason, chat


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
    "complexity",
    ["no_target_complexity", "exception_in_execution", "confirmation", "goal_not_supported"],
)
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_conversation_as_it_was_made_is_proved(complexity, language):
    assert await judged(await converse(complexity, language)) == (
        "proved",
        "Results come back as recorded. Replies state the results, and nothing else.",
    )


async def test_a_result_that_was_altered_is_contradicted():
    sample = await converse("no_target_complexity")
    at = next(i for i, turn in enumerate(sample.turns) if isinstance(turn, ResultTurn))
    turns = (
        *sample.turns[:at],
        ResultTurn(results=({"done": "altered"},)),
        *sample.turns[at + 1 :],
    )
    decision, reason = await judged(sample.with_changes(turns=turns))
    assert decision == "contradicted"
    assert "is not what the call returns" in reason


async def test_a_call_with_arguments_of_any_form_is_answered_with_a_verdict():
    sample = await converse("no_target_complexity")
    stated = (
        i
        for i, turn in enumerate(sample.turns)
        if isinstance(turn, ResultTurn) and "true" not in str(turn.results).lower()
    )
    at = next(stated) - 1  # a result that the arguments decide
    calls = tuple(
        call.with_changes(arguments={"x": [{"y": None}]}) for call in sample.turns[at].calls
    )
    turns = (
        *sample.turns[:at],
        sample.turns[at].with_changes(calls=calls),
        *sample.turns[at + 1 :],
    )
    assert (await judged(sample.with_changes(turns=turns)))[0] == "contradicted"


async def test_an_error_told_as_success_is_unproved():
    sample = await converse("exception_in_execution")
    at = next(
        i
        for i, turn in enumerate(sample.turns)
        if isinstance(turn, ReplyTurn)
        and isinstance(sample.turns[i - 1], ResultTurn)
        and "error" in str(sample.turns[i - 1])
    )
    told = ReplyTurn(text="Done.", acts=("inform",))
    assert (
        await judged(sample.with_changes(turns=(*sample.turns[:at], told, *sample.turns[at + 1 :])))
    )[0] == "unproved"


async def test_a_label_that_a_reply_does_not_bear_out_is_contradicted():
    decision, reason = await judged(
        with_reply(await converse("no_target_complexity"), acts=("reject",))
    )
    assert (decision, "is labelled reject" in reason) == ("contradicted", True)


IN_OTHER_WORDS = "Sure thing, it is taken care of."


async def test_a_reply_that_no_rule_reads_is_left_to_a_judge_who_sees_the_results():
    sample = with_reply(await converse("no_target_complexity"), IN_OTHER_WORDS, acts=("inform",))
    assert (await judged(sample))[0] == "unproved"
    score = ReplyScore(reason="It says what was done.", score=4)
    decision, _, chat = await read(
        sample, {"judge_reply": [score], "judge_acts": [DialogueActs(acts=["inform"])]}
    )
    assert (decision, chat.left) == ("proved", {})
    shown, label = (prompt.messages[-1].content for prompt in chat.asked)
    assert "result: " in shown
    assert '"description"' in shown
    assert '"parameters"' not in shown
    assert IN_OTHER_WORDS not in shown.partition("<reply>")[0]
    assert label == f'<reply>"{IN_OTHER_WORDS}"</reply>'


async def test_a_low_score_and_other_acts_leave_it_unproved():
    sample = with_reply(await converse("no_target_complexity"), IN_OTHER_WORDS, acts=("inform",))
    for score, acts, words in (
        (3, [], "3 of 5: Why."),
        (5, ["seek"], "as seek, and it is labelled inform"),
    ):
        script = {"judge_reply": [ReplyScore(reason="Why.", score=score)]}
        script |= {"judge_acts": [DialogueActs(acts=acts)]} if acts else {}
        decision, reason, _ = await read(sample, script)
        assert (decision, words in reason) == ("unproved", True)


WEATHER = Tool(
    name="get_weather",
    description="Get the weather of a city.",
    category="Weather",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}},
)


async def read_plain(result: JsonValue, reply: str) -> Decision:
    call = GoldCall(tool=WEATHER.name, arguments={"city": "Turin"})
    sample = Sample(
        kind=CONVERSATION,
        language="en",
        category="Weather",
        candidates=(WEATHER.key,),
        turns=(
            UserTurn(text="Is it rainy in Turin, or warm?"),
            CallTurn(calls=(call,), executed=True),
            ResultTurn(results=(result,)),
            ReplyTurn(text=reply),
        ),
    )
    context = template_context()._replace(tools={WEATHER.key: WEATHER})
    [verdict] = await check_replies(sample, context)
    return verdict.decision


@pytest.mark.parametrize(
    ("result", "reply"),
    [
        ("sunny", "It is sunny in Turin."),
        ("sunny", "Sunny."),
        ("Sunny, 21 degrees", "It's sunny in Turin, with 21 degrees."),
        (21, "It is 21 in Turin."),
        ("-3", "It is -3."),
        ({"sky": "sunny"}, "It is sunny in Turin."),
        ({"degrees": 7}, "7 degrees."),
    ],
)
async def test_a_reply_that_tells_a_plain_result_is_proved(result: JsonValue, reply: str) -> None:
    assert await read_plain(result, reply) == "proved"


@pytest.mark.parametrize(
    ("result", "reply"),
    [
        ("sunny", "It is rainy in Turin."),
        ("sunny", "It is not sunny in Turin."),
        ("sunny", "It isn't sunny in Turin."),
        ("sunny", "It is hardly sunny in Turin."),
        ("sunny", "It is sunny and warm in Turin."),
        ("sunny", "It is sunny in Rome."),
        ("sunny", "Is it sunny in Turin?"),
        ("sunny", "It is in Turin."),
        ("Sunny, 21 degrees", "It is sunny in Turin."),
        ("Sunny, -21 degrees", "It is sunny in Turin, with 21 degrees."),
        ("sunny in Rome, rainy in Turin", "It is rainy in Rome, sunny in Turin."),
        (21, "It is -21 in Turin."),
        (21, "It is 21.5 in Turin."),
        ({"sky": "sunny", "wind": "weak"}, "It is sunny in Turin."),
        (["sunny", "rainy"], "It is sunny in Turin."),
        ("", "It is in Turin."),
        (True, "It is true."),
    ],
)
async def test_a_reply_that_says_more_or_less_than_a_plain_result_is_left_to_readers(
    result: JsonValue, reply: str
) -> None:
    assert await read_plain(result, reply) == "unproved"


async def test_results_of_two_calls_may_be_mixed_up_so_that_they_are_left_to_readers() -> None:
    calls = tuple(GoldCall(tool=WEATHER.name, arguments={"city": one}) for one in ("Turin", "Rome"))
    reply = ReplyTurn(text="It is rainy in Turin, sunny in Rome.")
    turns = (
        UserTurn(text="How is it in Turin, and in Rome?"),
        CallTurn(calls=calls, executed=True),
        ResultTurn(results=("sunny", "rainy")),
        reply,
    )
    sample = Sample(
        kind=CONVERSATION, language="en", category="Weather", candidates=(WEATHER.key,), turns=turns
    )
    context = template_context()._replace(tools={WEATHER.key: WEATHER})
    [verdict] = await check_replies(sample, context)
    assert verdict.decision == "unproved"
