"""The checks that ask a model: consistency, meaning, relevance."""

from itertools import product

import pytest

from callwright.testing import ScriptedModel, context_of
from callwright.validators.judges import Judgement, ProposedCall
from callwright.validators.reading import one_call
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


async def test_the_model_sees_the_request_and_never_the_gold(perfect: Sample, tools) -> None:
    chat = readings(RIGHT, RIGHT)
    await check_consistency(perfect, context_of(tools, chat))
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
    verdict = await consistency_of(
        perfect, tools, zero=made(restaurant="the inn"), one=made(restaurant="an inn")
    )
    assert verdict.decision == "unproved"
    assert verdict.score == pytest.approx(2 / 3, abs=1e-4)


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


async def test_two_readings_that_the_text_does_not_bear_out_are_only_opinions(
    perfect: Sample, tools
) -> None:
    for proposal in (made(restaurant="Zum Adler"), ProposedCall(tool="order_taxi"), NOTHING):
        verdict = await consistency_of(perfect, tools, zero=proposal, one=proposal)
        assert verdict.decision == "unproved"


async def test_a_call_is_missed_where_the_gold_names_what_was_said(perfect: Sample, tools) -> None:
    shorter = ProposedCall(
        tool="book_table", arguments={"restaurant": "Lindenhof", "party_size": 4}
    )
    verdict = await consistency_of(perfect, tools, zero=shorter, one=shorter)
    assert (verdict.decision, "leaves out 'time'" in verdict.reason) == ("unproved", True)


async def test_two_readings_that_only_leave_something_out_are_no_word_against_the_gold(
    perfect: Sample, tools
) -> None:
    gold = GoldCall(tool="book_table", arguments={**GOLD, "restaurant": "Zum Adler"})
    wrong = perfect.with_changes(turns=(perfect.turns[0], CallTurn(calls=(gold,))))
    silent = ProposedCall(tool="book_table", arguments={"party_size": 4, "time": "19:30"})
    verdict = await consistency_of(wrong, tools, zero=silent, one=silent)
    assert (verdict.decision, "leaves out 'restaurant'" in verdict.reason) == ("unproved", True)


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


OPENING = ProposedCall(tool="book_table", arguments={"restaurant": "Lindenhof"})


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


async def test_a_wrong_reading_that_nothing_bears_out_is_not_asked_for_twice(
    perfect: Sample, tools
) -> None:
    chat = readings(made(restaurant="Zum Adler"), RIGHT)
    [verdict] = await check_consistency(perfect, context_of(tools, chat))
    assert (verdict.decision, [prompt.name for prompt in chat.asked]) == (
        "unproved",
        ["call_zero_shot"],
    )


async def test_an_unproved_sample_is_asked_once_a_snapshot_for_a_contradiction(
    perfect: Sample, tools
) -> None:
    chat = ScriptedModel({"call_zero_shot": [NOTHING, *READ[1:]], "call_one_shot": []})
    [verdict] = await check_consistency(talk(perfect, *GOLDS), context_of(tools, chat))
    assert (verdict.decision, len(chat.asked)) == ("unproved", 3)

    against = {**GOLDS[2], "time": "08:00"}
    chat = ScriptedModel({"call_zero_shot": [NOTHING, *READ[1:]], "call_one_shot": [READ[2]]})
    [verdict] = await check_consistency(talk(perfect, *GOLDS[:2], against), context_of(tools, chat))
    assert (verdict.decision, len(chat.asked)) == ("contradicted", 4)


async def test_a_contradiction_ends_the_asking(perfect: Sample, tools) -> None:
    chat = ScriptedModel({"call_zero_shot": [OPENING], "call_one_shot": [OPENING]})
    wrong = talk(perfect, {"restaurant": "Zum Adler"}, *GOLDS[1:])
    [verdict] = await check_consistency(wrong, context_of(tools, chat))
    assert (verdict.decision, len(chat.asked)) == ("contradicted", 2)


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


async def test_several_calls_at_once_are_not_for_this_check(perfect: Sample, tools) -> None:
    parallel = perfect.with_changes(turns=(perfect.turns[0], CallTurn(calls=perfect.gold * 2)))
    assert not one_call.applies_to(parallel)
    for check in (check_consistency, check_meaning):
        [verdict] = await check(parallel, context_of(tools))
        assert verdict.decision == "unproved"


async def test_a_model_that_answers_unusably_is_an_error_not_a_verdict(
    perfect: Sample, tools
) -> None:
    chat = ScriptedModel({"call_zero_shot": [ReplyError("The reply is no JSON.")]})
    with pytest.raises(ReplyError):
        await check_consistency(perfect, context_of(tools, chat))


async def test_a_judge_who_makes_the_gold_call_is_asked_no_more(perfect: Sample, tools) -> None:
    chat = ScriptedModel({"call_zero_shot": [made(time="7:30 pm")]})
    [verdict] = await check_meaning(perfect, context_of(tools, chat))
    assert (verdict.decision, verdict.score, len(chat.asked)) == ("proved", 1.0, 1)


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


async def test_a_judge_who_calls_another_tool_or_none_leaves_it_unproved(
    perfect: Sample, irrelevant: Sample, tools
) -> None:
    for sample, proposal in (
        (perfect, NOTHING),
        (perfect, ProposedCall(tool="order_taxi")),
        (irrelevant, RIGHT),
    ):
        [verdict] = await check_meaning(
            sample, context_of(tools, ScriptedModel({"call_zero_shot": [proposal]}))
        )
        assert verdict.decision == "unproved"


async def test_the_judge_is_asked_no_more_after_a_snapshot_that_stays_unproved(
    perfect: Sample, tools
) -> None:
    chat = ScriptedModel({"call_zero_shot": [READ[0], NOTHING]})
    [verdict] = await check_meaning(talk(perfect, *GOLDS), context_of(tools, chat))
    assert (verdict.decision, verdict.score, len(chat.asked)) == ("unproved", 0.5, 2)


async def test_the_first_tool_that_the_judge_names_is_enough(perfect: Sample, tools) -> None:
    idle = [
        turn
        for text in ("Sing to me.", "Please.")
        for turn in (UserTurn(text=text), CallTurn(calls=()))
    ]
    sample = perfect.with_changes(turns=tuple(idle))
    chat = ScriptedModel(
        {"judge_relevance": [Relevance(tool="order_taxi", reason="It has a radio.")]}
    )
    [verdict] = await check_relevance(sample, context_of(tools, chat))
    assert (verdict.decision, len(chat.asked)) == ("unproved", 1)


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


async def test_relevance_is_asked_only_where_no_call_is_due(
    perfect: Sample, irrelevant: Sample, tools
) -> None:
    assert one_call.has_idle_turn(irrelevant)
    assert not one_call.has_idle_turn(perfect)
    [verdict] = await check_relevance(perfect, context_of(tools))
    assert verdict.decision == "proved"
