"""Simulated results: one about another thing, or at odds with its call, is proved by no code."""

from typing import Any

import pytest
from pydantic import JsonValue

from callwright.generators.environments.travel import open_travel
from callwright.testing import ScriptedModel, context_of, make_sample, make_tool
from callwright.validators.checks.results import check_results
from callwright.validators.judges import ResultsScore
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import (
    Arguments,
    CallTurn,
    Decision,
    GoldCall,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
)

ANY = {"type": "object", "properties": {"id": {"type": "integer"}}}
OTHER: JsonValue = {"id": 8, "name": "Red Swan"}


def tool_of(name: str) -> Tool:
    return make_tool(name, f"{name}.", kite_id="integer").with_changes(returns=ANY)


def answered(*answers: tuple[Tool, Arguments, JsonValue], environment: str = "") -> Sample:
    turns: list[Any] = ["See to my kites."]
    for tool, given, result in answers:
        call = GoldCall(tool=tool.name, arguments=given)
        turns += [CallTurn(calls=(call,), executed=True), ResultTurn(results=(result,))]
    tools = [*{tool.key: tool for tool, _, _ in answers}.values()]
    sample = make_sample(tools, *turns, ReplyTurn(text="All set."), kind="conversation")
    facts = sample.facts.with_changes(simulation=1, environment=environment)
    return sample.with_changes(turns=sample.turns[:-1], facts=facts)


async def decided(
    sample: Sample, tools: list[Tool], line: object = None, *, model: str = "template/v1"
) -> tuple[Decision, list[str]]:
    lines = {} if line is None else {"judge_results": [line]}
    [verdict] = await check_results(sample, context_of(tools, ScriptedModel(lines, name=model)))
    return verdict.decision, [doubt.kind for doubt in verdict.doubts]


@pytest.mark.parametrize(
    ("name", "given", "result"),
    [
        ("get_kite", {"kite_id": 7}, {"id": 7, "name": "Red Swan", "status": "mended"}),
        ("get_kite", {"kite_id": 7}, {"kite": {"id": "7", "name": "Red Swan"}}),
        ("list_kites", {"colour": "red"}, [{"id": 1, "colour": "red"}, {"id": 2, "colour": "Red"}]),
        ("list_kites", {"max_price": 20}, {"total": 2, "kites": [{"price": 20}, {"price": 9}]}),
        ("list_kites", {"colour": "red"}, []),
        ("create_kite", {"name": "Red Swan"}, {"id": 9, "name": "Red Swan", "disabled": False}),
        ("delete_kite", {"kite_id": 7}, {"deleted": True}),
        ("cancel_flight", {"kite_id": 7}, {"id": 7, "status": "cancelled"}),
        ("mend_kite", {"kite_id": 7}, {"success": True, "reference": "AB12"}),
        ("get_kite", {"kite_id": 7}, {"created_at": "2026-01-02", "updated_at": "2026-01-03"}),
    ],
)
async def test_a_small_result_that_repeats_what_was_asked_is_proved(
    name: str, given: Arguments, result: JsonValue
) -> None:
    tool = tool_of(name)
    assert await decided(answered((tool, given, result)), [tool]) == ("proved", [])


@pytest.mark.parametrize(
    ("name", "given", "result"),
    [
        ("get_kite", {"kite_id": 7}, OTHER),
        ("get_kite", {"kite_id": 7}, {"id": 7, "kite_id": 8}),
        ("get_kite", {"kite_id": 7}, {"kite": {"id": 8}}),
        ("get_kite", {"kite_id": 7}, "quiet Garden"),
        (
            "get_kite",
            {"kite_id": 7},
            {"id": 7, "owner": {"name": "Ann", "address": {"city": "Rome"}}},
        ),
        ("get_kite", {"kite_id": 7}, {"id": 7, "status": 2, "status_text": "success"}),
        ("get_kite", {"kite_id": 7}, {"id": 7, "min_hours": 80, "max_hours": 45}),
        ("get_kite", {"kite_id": 7}, {"created_at": "2026-01-03", "updated_at": "2026-01-02"}),
        ("get_kite", {"kite_id": 7}, {"seen_at": "2026-01-03", "lent_at": "2026-01-02"}),
        ("get_kite", {"kite_id": 7}, {"id": 7, "deleted_at": "2026-01-03"}),
        ("get_kite", {"kite_id": 7}, dict.fromkeys("abcdefghij", 1)),
        ("list_flights", {"kite_id": 7}, [{"day": 1, "kite_id": 7}, {"day": 2, "kite_id": 8}]),
        ("list_flights", {"kite_id": 7}, {"kite": {"id": 8}}),
        ("list_flights", {"created_at_max": "2026-01-01"}, [{"created_at": "2026-02-01"}]),
        ("list_flights", {"min_price": 20}, [{"price": 9}]),
        ("recover", {"since": "2026-05-01"}, {"updated_at": "2026-02-01"}),
        ("list_flights", {}, {"total": 1, "flights": [{"day": 1}, {"day": 2}]}),
        ("delete_kite", {"kite_id": 7}, False),
        ("delete_kite", {"kite_id": 7}, {"success": False}),
        ("create_kite", {"name": "Red Swan"}, {"id": 9, "name": "Blue Gull"}),
        ("create_kite", {"name": "Red Swan"}, {"id": 9, "disabled": True}),
        ("disable_kite", {"kite_id": 7}, {"id": 7, "status": "active"}),
        ("send_kite", {"kite_id": 7}, {"sent": True, "valid": True}),
    ],
)
async def test_a_result_at_odds_with_its_call_or_itself_waits_for_people(
    name: str, given: Arguments, result: JsonValue
) -> None:
    tool = tool_of(name)
    sample = answered((tool, given, result))
    assert await decided(sample, [tool]) == ("unproved", ["result_unclear"])


async def test_a_tool_that_does_not_say_what_it_returns_is_not_read_by_code() -> None:
    tool = tool_of("get_kite").with_changes(returns=None)
    sample = answered((tool, {"kite_id": 7}, {"results": [{"title": "Red Swan"}]}))
    assert (await decided(sample, [tool]))[0] == "unproved"


async def test_a_thing_is_the_same_in_later_results_unless_a_call_has_changed_it() -> None:
    get, update = tool_of("get_kite"), tool_of("update_kite")
    red, blue = (get, {"kite_id": 7}, {"id": 7, "colour": "red"}), {"id": 7, "colour": "blue"}
    painted = (update, {"kite_id": 7, "colour": "blue"}, blue)
    again = (get, {"kite_id": 7}, blue)
    assert (await decided(answered(red, again), [get, update]))[0] == "unproved"
    assert (await decided(answered(red, painted, again), [get, update]))[0] == "proved"


@pytest.mark.parametrize(
    ("line", "decision", "kinds"),
    [
        (ResultsScore(reason="So.", score=5), "proved", []),
        (ResultsScore(reason="It is kite 8.", score=1), "unproved", ["judged_results"]),
        (ReplyError("Nothing."), "unproved", ["result_unclear", "unread"]),
    ],
)
async def test_a_judge_who_reads_language_decides_on_what_code_leaves(
    line: object, decision: Decision, kinds: list[str]
) -> None:
    tool = tool_of("get_kite")
    sample = answered((tool, {"kite_id": 7}, OTHER))
    assert await decided(sample, [tool], line, model="judge/x") == (decision, kinds)


async def test_no_judge_is_asked_about_what_code_proves() -> None:
    tool = tool_of("get_kite")
    sample = answered((tool, {"kite_id": 7}, {"id": 7}))
    assert (await decided(sample, [tool], model="judge/x"))[0] == "proved"


async def test_a_world_that_people_wrote_is_no_invention_and_an_unknown_one_may_be() -> None:
    tool, world = tool_of("get_kite"), open_travel(seed=1)
    for name, decision in (("travel", "proved"), ("kites", "unproved")):
        sample = answered((tool, {"kite_id": 7}, OTHER), environment=name)
        chat = ScriptedModel({}, name="template/v1")
        context = context_of([tool], chat, environments=[world])
        [verdict] = await check_results(sample, context)
        assert verdict.decision == decision


def test_samples_from_files_and_samples_without_results_are_not_looked_at() -> None:
    tool = tool_of("get_kite")
    sample = answered((tool, {"kite_id": 7}, OTHER))
    assert check_results.applies(sample)
    assert not check_results.applies(sample.with_changes(turns=sample.turns[:2]))
    assert not check_results.applies(sample.with_changes(kind="taken_conversation"))
