"""The checks that ask a model: consistency, meaning, relevance."""

from itertools import product

import pytest

from callwright.testing import ScriptedModel, context_of
from callwright.validators.judges import Judgement, ProposedCall
from callwright.validators.reading.one_call import (
    Relevance,
    check_consistency,
    check_meaning,
    check_relevance,
    judge_readings,
)
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import CallTurn, GoldCall, ReplyTurn, Sample, Tool, UserTurn

GOLD = {"restaurant": "Lindenhof", "party_size": 4, "time": "19:30"}
RIGHT = ProposedCall(tool="book_table", arguments=GOLD)
NOTHING = ProposedCall(tool=None)


def made(**changes) -> ProposedCall:
    return ProposedCall(tool="book_table", arguments={**GOLD, **changes})


def readings(zero_shot: ProposedCall, one_shot: ProposedCall) -> ScriptedModel:
    return ScriptedModel({"call_zero_shot": [zero_shot], "call_one_shot": [one_shot]})


async def consistency_of(
    sample: Sample, tools: dict[str, Tool], *, zero: ProposedCall, one: ProposedCall
):
    chat = readings(zero, one)
    [verdict] = await check_consistency(sample, context_of(tools, chat))
    assert (verdict.subject, verdict.check) == (sample.key, "consistency")
    assert chat.left in ({}, {"call_one_shot": 1}), (
        "the second reading is left out where it could change nothing"
    )
    return verdict


async def test_two_right_readings_prove_a_call(perfect: Sample, tools) -> None:
    verdict = await consistency_of(perfect, tools, zero=made(time="7:30 pm"), one=RIGHT)
    assert (verdict.decision, verdict.score) == ("proved", 1.0)


async def test_two_readings_that_the_text_bears_out_contradict_the_gold(
    perfect: Sample, tools
) -> None:
    wrong = perfect.with_changes(
        turns=(
            perfect.turns[0],
            CallTurn(
                calls=(GoldCall(tool="book_table", arguments={**GOLD, "restaurant": "Zum Adler"}),)
            ),
        )
    )
    verdict = await consistency_of(wrong, tools, zero=RIGHT, one=RIGHT)
    assert verdict.decision == "contradicted"
    assert "'Lindenhof', not 'Zum Adler'" in verdict.reason


async def test_free_text_beside_the_gold_is_an_opinion_and_a_number_is_not(
    perfect: Sample, tools
) -> None:
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


def talk(sample: Sample, *golds: dict[str, object]) -> Sample:
    """A conversation with three call turns, the gold of each as told."""
    said = ("A table at Lindenhof.", "For 4.", "At 19:30.")
    turns = [
        turn
        for text, gold in zip(said, golds, strict=True)
        for turn in (
            UserTurn(text=text),
            CallTurn(calls=(GoldCall(tool="book_table", arguments=gold),)),
            ReplyTurn(text="And?"),
        )
    ]
    return sample.with_changes(kind="sQsA", turns=tuple(turns[:-1]))


GOLDS = tuple({name: GOLD[name] for name in list(GOLD)[:count]} for count in (1, 2, 3))
READ = [ProposedCall(tool="book_table", arguments=gold) for gold in GOLDS]


async def test_every_snapshot_of_a_conversation_is_read(perfect: Sample, tools) -> None:
    chat = ScriptedModel({"call_zero_shot": READ, "call_one_shot": [*READ[:2], made(time="09:30")]})
    [verdict] = await check_consistency(talk(perfect, *GOLDS), context_of(tools, chat))
    assert (verdict.decision, chat.left) == ("unproved", {})
    assert verdict.reason.startswith("At snapshot 2 the one-shot reading gives 'time'")


POSSIBLE = (
    RIGHT,
    NOTHING,
    made(time="08:00"),
    made(restaurant="Zum Adler"),
    ProposedCall(tool="order_taxi"),
)


@pytest.mark.parametrize(
    "gold", [GOLD, {**GOLD, "time": "08:00"}, {**GOLD, "restaurant": "Zum Adler"}]
)
async def test_asking_less_comes_to_the_same_decision_as_asking_all(
    perfect: Sample, table, tools, gold
) -> None:
    sample = perfect.with_changes(
        turns=(perfect.turns[0], CallTurn(calls=(GoldCall(tool="book_table", arguments=gold),)))
    )
    [snapshot] = sample.snapshots()
    for zero, one in product(POSSIBLE, repeat=2):
        asked_both = judge_readings(snapshot, zero.call, one.call, table.properties)
        verdict = await consistency_of(sample, tools, zero=zero, one=one)
        assert verdict.decision == asked_both.decision, (zero, one)


async def test_a_model_that_answers_unusably_is_an_error_not_a_verdict(
    perfect: Sample, tools
) -> None:
    chat = ScriptedModel({"call_zero_shot": [ReplyError("The reply is no JSON.")]})
    with pytest.raises(ReplyError):
        await check_consistency(perfect, context_of(tools, chat))


@pytest.mark.parametrize(("agree", "decision"), [(True, "proved"), (False, "unproved")])
async def test_a_judge_who_writes_it_otherwise_says_whether_it_means_the_same(
    perfect: Sample, tools, agree, decision
) -> None:
    judgement = Judgement(agree=agree, reason="It is the same house.")
    chat = ScriptedModel(
        {"call_zero_shot": [made(restaurant="Lindenhof inn")], "judge_calls": [judgement]}
    )
    [verdict] = await check_meaning(perfect, context_of(tools, chat))
    assert verdict.decision == decision
    assert "It is the same house." in verdict.reason
    shown = chat.asked[-1].messages[-1].content
    assert '<expected>{"tool":"book_table"' in shown
    assert '"restaurant":"Lindenhof inn"' in shown


@pytest.mark.parametrize(("tool", "decision"), [(None, "proved"), ("order_taxi", "unproved")])
async def test_the_judge_says_whether_any_candidate_fits(
    irrelevant: Sample, tools, tool, decision
) -> None:
    chat = ScriptedModel(
        {"judge_relevance": [Relevance(tool=tool, reason="Taxis book no tables.")]}
    )
    [verdict] = await check_relevance(irrelevant, context_of(tools, chat))
    assert (verdict.check, verdict.decision) == ("relevance", decision)
    assert "Taxis book no tables." in verdict.reason


async def test_a_twin_of_the_withheld_tool_contradicts_without_a_model(
    irrelevant: Sample, table: Tool, tools
) -> None:
    twin = table.with_changes(name="reserve_table")
    sample = irrelevant.with_changes(candidates=(*irrelevant.candidates, twin.key))
    [verdict] = await check_relevance(sample, context_of({**tools, twin.key: twin}))
    assert verdict.decision == "contradicted"
    assert "'reserve_table' serves what 'book_table' serves" in verdict.reason
