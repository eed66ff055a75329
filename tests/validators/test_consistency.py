"""The checks that ask a model: consistency, meaning, relevance."""

import pytest

from tests.scripted_model import ScriptedModel
from tests.validators.desks import desk_of
from validators.checks import consistency, judge, relevance
from validators.checks.consistency import check_consistency
from validators.checks.judge import Judgement, check_meaning
from validators.checks.relevance import Relevance, check_relevance
from validators.proposals import ProposedCall
from warehouse.errors import ReplyError
from warehouse.records import CallTurn, GoldCall, ReplyTurn, Sample, Tool, UserTurn

GOLD = {"restaurant": "Lindenhof", "party_size": 4, "time": "19:30"}
RIGHT = ProposedCall(tool="book_table", arguments=GOLD)
NOTHING = ProposedCall(tool=None)


def made(**changes) -> ProposedCall:
    return ProposedCall(tool="book_table", arguments={**GOLD, **changes})


def readings(zero_shot: ProposedCall, one_shot: ProposedCall) -> ScriptedModel:
    return ScriptedModel({"call_zero_shot": [zero_shot], "call_one_shot": [one_shot]})


async def consistency_of(sample: Sample, tools: dict[str, Tool], *, zero: ProposedCall, one: ProposedCall):
    chat = readings(zero, one)
    [verdict] = await check_consistency(sample, desk_of(tools, chat))
    assert (verdict.subject, verdict.check, chat.left) == (sample.key, "consistency", {})
    return verdict


async def test_two_right_readings_prove_a_call(perfect: Sample, tools) -> None:
    verdict = await consistency_of(perfect, tools, zero=made(time="7:30 pm"), one=RIGHT)
    assert (verdict.decision, verdict.score) == ("proved", 1.0)


async def test_the_model_sees_the_request_and_never_the_gold(perfect: Sample, tools) -> None:
    chat = readings(RIGHT, RIGHT)
    await check_consistency(perfect, desk_of(tools, chat))
    for prompt in chat.asked:
        shown = prompt.messages[-1].content
        assert "user: Book a table for 4 at Lindenhof at 19:30." in shown
        assert "order_taxi" in shown
        assert '"Lindenhof"' not in shown


async def test_one_right_reading_proves_nothing(perfect: Sample, tools) -> None:
    for zero, one in ((RIGHT, made(party_size=5)), (made(party_size=5), RIGHT)):
        verdict = await consistency_of(perfect, tools, zero=zero, one=one)
        assert verdict.decision == "unproved"
        assert "gives 'party_size' as 5, not 4" in verdict.reason


async def test_a_value_worded_quite_otherwise_is_unproved(perfect: Sample, tools) -> None:
    verdict = await consistency_of(perfect, tools, zero=made(restaurant="the inn"), one=made(restaurant="an inn"))
    assert verdict.decision == "unproved"
    assert verdict.score == pytest.approx(2 / 3, abs=1e-4)


async def test_two_readings_that_the_text_bears_out_contradict_the_gold(perfect: Sample, tools) -> None:
    wrong = perfect.with_changes(
        turns=(
            perfect.turns[0],
            CallTurn(calls=(GoldCall(tool="book_table", arguments={**GOLD, "restaurant": "Zum Adler"}),)),
        )
    )
    verdict = await consistency_of(wrong, tools, zero=RIGHT, one=RIGHT)
    assert verdict.decision == "contradicted"
    assert "'Lindenhof', not 'Zum Adler'" in verdict.reason


async def test_two_readings_that_the_text_does_not_bear_out_are_only_opinions(perfect: Sample, tools) -> None:
    for proposal in (made(restaurant="Zum Adler"), ProposedCall(tool="order_taxi"), NOTHING):
        verdict = await consistency_of(perfect, tools, zero=proposal, one=proposal)
        assert verdict.decision == "unproved"


async def test_a_call_is_missed_where_the_gold_names_what_was_said(perfect: Sample, tools) -> None:
    shorter = ProposedCall(tool="book_table", arguments={"restaurant": "Lindenhof", "party_size": 4})
    verdict = await consistency_of(perfect, tools, zero=shorter, one=shorter)
    assert (verdict.decision, "leaves out 'time'" in verdict.reason) == ("unproved", True)


async def test_two_readings_that_only_leave_something_out_are_no_word_against_the_gold(perfect: Sample, tools) -> None:
    gold = GoldCall(tool="book_table", arguments={**GOLD, "restaurant": "Zum Adler"})
    wrong = perfect.with_changes(turns=(perfect.turns[0], CallTurn(calls=(gold,))))
    silent = ProposedCall(tool="book_table", arguments={"party_size": 4, "time": "19:30"})
    verdict = await consistency_of(wrong, tools, zero=silent, one=silent)
    assert (verdict.decision, "leaves out 'restaurant'" in verdict.reason) == ("unproved", True)


async def test_free_text_beside_the_gold_is_an_opinion_and_a_number_is_not(perfect: Sample, tools) -> None:
    def without(name: str) -> Sample:
        left = {key: value for key, value in GOLD.items() if key != name}
        return perfect.with_changes(
            turns=(perfect.turns[0], CallTurn(calls=(GoldCall(tool="book_table", arguments=left),)))
        )

    texts = await consistency_of(without("restaurant"), tools, zero=RIGHT, one=RIGHT)
    number = await consistency_of(without("party_size"), tools, zero=RIGHT, one=RIGHT)
    assert (texts.decision, number.decision) == ("unproved", "contradicted")


async def test_where_no_call_is_due_silence_is_right(irrelevant: Sample, tools) -> None:
    assert (await consistency_of(irrelevant, tools, zero=NOTHING, one=NOTHING)).decision == "proved"
    taxi = ProposedCall(tool="order_taxi", arguments={"address": "Lindenhof"})
    assert (await consistency_of(irrelevant, tools, zero=taxi, one=taxi)).decision == "unproved"


async def test_every_snapshot_of_a_conversation_is_read(perfect: Sample, tools) -> None:
    first = GoldCall(tool="book_table", arguments={"restaurant": "Lindenhof"})
    turns = (
        UserTurn(text="A table at Lindenhof."),
        CallTurn(calls=(first,)),
        ReplyTurn(text="For how many?"),
        UserTurn(text="For 4, at 19:30."),
        CallTurn(calls=(GoldCall(tool="book_table", arguments=GOLD),)),
    )
    opening = ProposedCall(tool="book_table", arguments={"restaurant": "Lindenhof"})
    chat = ScriptedModel({"call_zero_shot": [opening, RIGHT], "call_one_shot": [opening, made(time="09:30")]})
    [verdict] = await check_consistency(perfect.with_changes(kind="sQsA", turns=turns), desk_of(tools, chat))
    assert verdict.decision == "unproved"
    assert verdict.reason.startswith("At snapshot 1 the one-shot reading gives 'time'")


async def test_several_calls_at_once_are_not_for_this_check(perfect: Sample, tools) -> None:
    parallel = perfect.with_changes(turns=(perfect.turns[0], CallTurn(calls=perfect.gold * 2)))
    assert not consistency.applies_to(parallel)
    assert not judge.applies_to(parallel)
    for check in (check_consistency, check_meaning):
        [verdict] = await check(parallel, desk_of(tools))
        assert verdict.decision == "unproved"


async def test_a_model_that_answers_unusably_is_an_error_not_a_verdict(perfect: Sample, tools) -> None:
    chat = ScriptedModel({"call_zero_shot": [ReplyError("The reply is no JSON.")]})
    with pytest.raises(ReplyError):
        await check_consistency(perfect, desk_of(tools, chat))


async def test_a_judge_who_makes_the_gold_call_is_asked_no_more(perfect: Sample, tools) -> None:
    chat = ScriptedModel({"call_zero_shot": [made(time="7:30 pm")]})
    [verdict] = await check_meaning(perfect, desk_of(tools, chat))
    assert (verdict.decision, verdict.score, len(chat.asked)) == ("proved", 1.0, 1)


@pytest.mark.parametrize(("agree", "decision"), [(True, "proved"), (False, "unproved")])
async def test_a_judge_who_writes_it_otherwise_says_whether_it_means_the_same(
    perfect: Sample, tools, agree, decision
) -> None:
    judgement = Judgement(agree=agree, reason="It is the same house.")
    chat = ScriptedModel({"call_zero_shot": [made(restaurant="Lindenhof inn")], "judge_calls": [judgement]})
    [verdict] = await check_meaning(perfect, desk_of(tools, chat))
    assert verdict.decision == decision
    assert "It is the same house." in verdict.reason
    shown = chat.asked[-1].messages[-1].content
    assert '<expected>{"tool":"book_table"' in shown
    assert '"restaurant":"Lindenhof inn"' in shown


async def test_a_judge_who_calls_another_tool_or_none_leaves_it_unproved(
    perfect: Sample, irrelevant: Sample, tools
) -> None:
    for sample, proposal in ((perfect, NOTHING), (perfect, ProposedCall(tool="order_taxi")), (irrelevant, RIGHT)):
        [verdict] = await check_meaning(sample, desk_of(tools, ScriptedModel({"call_zero_shot": [proposal]})))
        assert verdict.decision == "unproved"


@pytest.mark.parametrize(("tool", "decision"), [(None, "proved"), ("order_taxi", "unproved")])
async def test_the_judge_says_whether_any_candidate_fits(irrelevant: Sample, tools, tool, decision) -> None:
    chat = ScriptedModel({"judge_relevance": [Relevance(tool=tool, reason="Taxis book no tables.")]})
    [verdict] = await check_relevance(irrelevant, desk_of(tools, chat))
    assert (verdict.check, verdict.decision) == ("relevance", decision)
    assert "Taxis book no tables." in verdict.reason


async def test_a_twin_of_the_withheld_tool_contradicts_without_a_model(irrelevant: Sample, table: Tool, tools) -> None:
    twin = table.with_changes(name="reserve_table")
    sample = irrelevant.with_changes(candidates=(*irrelevant.candidates, twin.key))
    [verdict] = await check_relevance(sample, desk_of({**tools, twin.key: twin}))
    assert verdict.decision == "contradicted"
    assert "'reserve_table' serves what 'book_table' serves" in verdict.reason


async def test_relevance_is_asked_only_where_no_call_is_due(perfect: Sample, irrelevant: Sample, tools) -> None:
    assert relevance.applies_to(irrelevant)
    assert not relevance.applies_to(perfect)
    [verdict] = await check_relevance(perfect, desk_of(tools))
    assert verdict.decision == "proved"
