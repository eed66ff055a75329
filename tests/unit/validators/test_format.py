"""The check of form."""

import pytest

from callwright.testing import context_of
from callwright.validators.checks.format import check_format
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    Message,
    Origin,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    UserTurn,
)


async def verdict_on(sample: Sample, tools: dict[str, Tool]):
    [verdict] = await check_format(sample, context_of(tools))
    assert verdict.subject == sample.key
    return verdict


def with_gold(sample: Sample, **arguments) -> Sample:
    call = GoldCall(tool=sample.gold[0].tool, arguments=arguments)
    return sample.with_changes(turns=(sample.turns[0], CallTurn(calls=(call,))))


def saying(sample: Sample, text: str) -> Sample:
    call = sample.gold[0].with_changes(evidence=())
    return sample.with_changes(turns=(UserTurn(text=text), CallTurn(calls=(call,))))


async def test_a_sound_sample_is_proved_with_its_figures(
    perfect: Sample, irrelevant: Sample, tools
) -> None:
    verdict = await verdict_on(perfect, tools)
    assert verdict.decision == "proved"
    assert "1 call due with 3 valid arguments, and 3 quotes" in verdict.reason
    assert (await verdict_on(irrelevant, tools)).decision == "proved"


async def test_candidates_must_be_known_distinct_and_not_withheld(
    perfect: Sample, tools, table: Tool, taxi: Tool
) -> None:
    unknown = await verdict_on(perfect.with_changes(candidates=(table.key, "beef")), tools)
    assert "no tool with the key 'beef'" in unknown.reason
    doubled = await verdict_on(perfect.with_changes(candidates=(table.key, table.key)), tools)
    assert "there 2 times" in doubled.reason
    withheld = await verdict_on(perfect.with_changes(withheld=(taxi.key,)), tools)
    assert "'order_taxi' is among the offered tools" in withheld.reason
    empty = await verdict_on(perfect.with_changes(candidates=()), tools)
    assert "no offered tools" in empty.reason
    assert {verdict.decision for verdict in (unknown, doubled, withheld, empty)} == {"contradicted"}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"restaurant": "Lindenhof"}, "'party_size' is required"),
        ({"restaurant": "Lindenhof", "party_size": "four"}, "'four'"),
        ({"restaurant": "Lindenhof", "party_size": 4, "colour": "red"}, "no parameter 'colour'"),
        ({"restaurant": "Lindenhof", "party_size": 4, "time": "half past"}, "'half past'"),
        ({"restaurant": "", "party_size": 4}, "'restaurant' is empty"),
    ],
)
async def test_a_perfect_request_has_full_and_valid_arguments(
    perfect: Sample, tools, arguments, reason: str
) -> None:
    verdict = await verdict_on(with_gold(perfect, **arguments), tools)
    assert verdict.decision == "contradicted"
    assert reason in verdict.reason


async def test_an_imperfect_request_lacks_a_required_argument(perfect: Sample, tools) -> None:
    partial = with_gold(perfect, restaurant="Lindenhof").with_changes(kind="imperfect")
    assert (await verdict_on(partial, tools)).decision == "proved"
    full = await verdict_on(perfect.with_changes(kind="imperfect"), tools)
    assert "every required parameter" in full.reason


async def test_imperfection_of_a_tool_that_requires_nothing_can_not_be_told(
    perfect: Sample, table: Tool, tools
) -> None:
    lenient = table.with_changes(parameters={**table.parameters, "required": []})
    sample = perfect.with_changes(kind="imperfect", candidates=(lenient.key,))
    assert (await verdict_on(sample, {**tools, lenient.key: lenient})).decision == "unproved"


async def test_the_kind_says_whether_a_call_is_due(
    perfect: Sample, irrelevant: Sample, tools
) -> None:
    assert (
        await verdict_on(perfect.with_changes(kind="irrelevant"), tools)
    ).decision == "contradicted"
    assert (
        await verdict_on(irrelevant.with_changes(kind="perfect"), tools)
    ).decision == "contradicted"


@pytest.mark.parametrize(
    "changes",
    [
        {"quote": "Adler"},
        {"start": 5},
        {"turn": 1},
        {"turn": 9},
        {"in_message": True},
        {"argument": "seatingArea"},
        {"quote": ""},
    ],
)
async def test_evidence_must_stand_where_it_says(perfect: Sample, tools, changes) -> None:
    call = perfect.gold[0]
    moved = call.evidence[0].with_changes(**changes)
    sample = perfect.with_changes(
        turns=(perfect.turns[0], CallTurn(calls=(call.with_changes(evidence=(moved,)),)))
    )
    verdict = await verdict_on(sample, tools)
    assert verdict.decision == "contradicted"
    assert "evidence for" in verdict.reason


USER, ASKED, DUE = UserTurn(text="Book it."), ReplyTurn(text="For how many?"), CallTurn()
DONE, RESULT = (
    CallTurn(calls=(GoldCall(tool="order_taxi"),), executed=True),
    ResultTurn(results=(1,)),
)


@pytest.mark.parametrize(
    "turns",
    [
        (),
        (ASKED, USER, DUE),
        (USER,),
        (USER, USER, DUE),
        (USER, DUE, DUE),
        (USER, DUE, RESULT),
        (USER, DONE, ASKED),
        (USER, DONE, ResultTurn(results=(1, 2))),
        (UserTurn(text="  "), DUE),
        (USER, DUE, ReplyTurn(text="")),
        (UserTurn(text="Book it.", external=Message(app="Mail", text=" ")), DUE),
    ],
)
async def test_turns_out_of_order_or_blank_are_contradicted(perfect: Sample, tools, turns) -> None:
    assert (
        await verdict_on(perfect.with_changes(kind="dialogue", turns=turns), tools)
    ).decision == "contradicted"


@pytest.mark.parametrize(
    ("language", "text", "decision"),
    [
        ("zh", "今晚七点半在 Lindenhof 订四人桌", "proved"),
        ("zh", "Book a table.", "contradicted"),
        ("en", "今晚在Lindenhof订四人桌，谢谢你们的帮助", "contradicted"),
        ("en", "Book a table at 林登霍夫.", "unproved"),
        ("en", "19:30, 4", "unproved"),
    ],
)
async def test_the_request_is_in_its_language(
    perfect: Sample, tools, language, text: str, decision
) -> None:
    assert (
        await verdict_on(saying(perfect, text).with_changes(language=language), tools)
    ).decision == decision


async def test_names_as_code_has_them_are_not_what_people_say(perfect: Sample, tools) -> None:
    raw = saying(perfect, "Set party_size to 4 at Lindenhof, please.")
    verdict = await verdict_on(raw, tools)
    assert (verdict.decision, "'party_size'" in verdict.reason) == ("contradicted", True)
    by_a_person = raw.with_changes(origin=Origin(stage="import"))
    assert (await verdict_on(by_a_person, tools)).decision == "unproved"
    assert (
        await verdict_on(saying(perfect, "A table with seatingArea terrace"), tools)
    ).decision == "contradicted"
    assert (
        await verdict_on(saying(perfect, "A table for a party, what size and time you like"), tools)
    ).decision == "proved"
