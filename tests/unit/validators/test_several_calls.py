"""Calls that are due at once, step after step or over a catalog, read by models that do not see the gold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from callwright.generators.routing import ROUTING_HARD, ROUTING_MEDIUM
from callwright.generators.routing.tool_graph import UNKNOWN
from callwright.generators.stages import StageContext
from callwright.testing import ScriptedModel, context_of
from callwright.validators.blind import several_calls
from callwright.validators.blind.several_calls import (
    acting_points,
    check_due_calls,
    check_due_meaning,
    how_read,
    shown_catalog,
)
from callwright.validators.checks.table import all_checks, has_rest, settled_claims
from callwright.validators.judges import CallsDue, CallsPlanned, Judgement, ProposedCall, ProposedCalls, calls_listed
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import CallTurn, ReplyTurn, Sample, UserTurn, Verdict
from tests.support.conversational import TOOLS, converse, template_context
from tests.support.generators.routing.asking import context_of as catalog_context
from tests.support.generators.routing.asking import questions
from tests.unit.validators.test_path import context as path_context
from tests.unit.validators.test_path import goal, sample_of

DUE = next(stage for stage in all_checks() if stage.name == "due_calls")


def proposed(calls) -> list[ProposedCall]:
    return [ProposedCall(tool=call.tool, arguments=call.arguments) for call in calls]


def right_readings(sample: Sample) -> list[CallsDue]:
    return [CallsDue(calls=proposed(point.due)) for point in acting_points(sample)]


async def read(sample: Sample, readings: list[CallsDue], context: StageContext) -> tuple[str, str]:
    chat = ScriptedModel({"call_due": readings})
    (verdict,) = await check_due_calls(sample, context._replace(chat=chat))
    return verdict.decision, verdict.reason


async def test_a_conversation_is_read_wherever_the_assistant_acts() -> None:
    sample = await converse("no_target_complexity")
    asked = [point.turn for point in acting_points(sample)]
    assert asked == [at for at, turn in enumerate(sample.turns) if isinstance(turn, CallTurn | ReplyTurn)]
    decision, reason = await read(sample, right_readings(sample), template_context())
    assert (decision, reason.endswith("and no other.")) == ("proved", True)


async def test_a_path_is_read_step_after_step_beside_its_results() -> None:
    sample, context = await sample_of(goal()), path_context()
    assert how_read(sample) == "steps"
    chat = ScriptedModel({"call_due": right_readings(sample)})
    (verdict,) = await check_due_calls(sample, context._replace(chat=chat))
    assert verdict.decision == "proved"
    first, second, *_ = (prompt.messages[-1].content for prompt in chat.asked)
    assert "result: " not in first
    assert "result: " in second
    assert chat.left == {}


async def test_a_call_that_no_one_reads_leaves_a_path_unproved_and_ends_the_reading() -> None:
    sample = await sample_of(goal())
    decision, reason = await read(sample, [CallsDue(calls=[])], path_context())
    assert (decision, reason.startswith("Before turn 1 the checker does not read the call of ")) == ("unproved", True)


async def test_a_call_read_where_the_assistant_only_speaks_leaves_it_unproved() -> None:
    sample = await sample_of(goal())
    readings = right_readings(sample)
    other = ProposedCall(tool="search_hotels", arguments={"query": "Rome"})
    decision, reason = await read(sample, [*readings[:-1], CallsDue(calls=[other])], path_context())
    assert (decision, "reads a call of search_hotels" in reason) == ("unproved", True)


async def test_a_call_that_is_made_later_may_be_read_where_the_assistant_asks_for_leave() -> None:
    sample = await converse("confirmation")
    readings = right_readings(sample)
    asks, point = next((at, one) for at, one in enumerate(acting_points(sample)) if not one.due and one.later)
    readings[asks] = CallsDue(calls=proposed(point.later[:1]))
    assert (await read(sample, readings, template_context()))[0] == "proved"


async def test_an_answer_that_can_not_be_read_leaves_a_sample_to_people_instead_of_losing_it() -> None:
    sample = await sample_of(goal())
    chat = ScriptedModel({"call_due": [ReplyError("It begins: 'Well'."), ReplyError("It begins: 'Well'.")]})
    context = path_context()._replace(chat=chat)
    for check in (check_due_calls, check_due_meaning):
        (verdict,) = await check(sample, context)
        assert (verdict.decision, "gave no answer that can be read" in verdict.reason) == ("unproved", True)


async def questions_of(kind: str, calls: int) -> tuple[Sample, StageContext]:
    sample = next(one for one in await questions(kind, count=40) if len(one.gold) == calls)
    return sample, catalog_context("Bank")


@pytest.mark.parametrize("sign", [UNKNOWN, "$", "$$"])
async def test_a_plan_over_a_catalog_is_read_with_what_only_a_result_tells(sign: str) -> None:
    sample, context = await questions_of(ROUTING_HARD, 2)
    calls = [
        ProposedCall(tool=one.tool, arguments={k: sign if v == UNKNOWN else v for k, v in one.arguments.items()})
        for one in sample.gold
    ]
    chat = ScriptedModel({"call_plan": [CallsPlanned(calls=calls)]})
    (verdict,) = await check_due_calls(sample, context._replace(chat=chat))
    assert verdict.decision == "proved"
    assert '"returns"' in chat.asked[0].messages[-1].content


async def test_order_counts_where_a_call_needs_another_one_and_only_there() -> None:
    for kind, decision in ((ROUTING_HARD, "unproved"), (ROUTING_MEDIUM, "proved")):
        sample, context = await questions_of(kind, 2)
        chat = ScriptedModel({"call_plan": [CallsPlanned(calls=proposed(reversed(sample.gold)))]})
        (verdict,) = await check_due_calls(sample, context._replace(chat=chat))
        assert verdict.decision == decision, verdict.reason


async def test_the_judge_may_find_that_a_call_written_otherwise_means_the_same() -> None:
    sample, context = await questions_of(ROUTING_MEDIUM, 2)
    first, second = sample.gold
    name = next(iter(second.arguments))
    written = ProposedCall(tool=second.tool, arguments={**second.arguments, name: "the same, in words"})
    for agree, decision in ((True, "proved"), (False, "unproved")):
        chat = ScriptedModel({
            "call_plan": [CallsPlanned(calls=[*proposed([first]), written])],
            "judge_calls": [Judgement(agree=agree, reason="It is.")],
        })  # fmt: skip
        (verdict,) = await check_due_meaning(sample, context._replace(chat=chat))
        assert verdict.decision == decision


async def test_a_set_is_read_by_the_judge_too(table, taxi, tools) -> None:
    calls = (
        {"tool": "book_table", "arguments": {"restaurant": "Lindenhof", "party_size": 4, "time": "19:30"}},
        {"tool": "order_taxi", "arguments": {"destination": "Lindenhof"}},
    )
    sample = Sample(
        kind="parallel", language="en", category="Town", candidates=(table.key, taxi.key),
        turns=(UserTurn(text="A table for 4 at Lindenhof at 19:30, and a taxi there."), CallTurn.model_validate({"calls": calls})),
    )  # fmt: skip
    chat = ScriptedModel({"call_each": [ProposedCalls(calls=proposed(reversed(sample.gold)))]})
    (verdict,) = await check_due_meaning(sample, context_of(tools, chat))
    assert verdict.decision == "proved"


def test_of_a_catalog_that_does_not_fit_the_tools_that_the_words_speak_of_are_shown(monkeypatch) -> None:
    tools = list(TOOLS.values())
    weather = next(tool for tool in tools if "weather" in tool.name.lower() or "forecast" in tool.name.lower())
    monkeypatch.setattr(several_calls, "LONGEST_CATALOG", 6_000)
    shown = shown_catalog(tools, weather.description, with_returns=False)
    assert 1 <= len(shown) < len(tools)
    assert weather.name in [tool["name"] for tool in shown]


async def test_the_template_model_reads_what_it_worded_and_nothing_that_it_passes_over() -> None:
    sample = await sample_of(goal())
    for kind, calls in ((ROUTING_MEDIUM, 2), (ROUTING_HARD, 2)):
        question, context = await questions_of(kind, calls)
        (verdict,) = await check_due_calls(question, context._replace(chat=template_context().chat))
        assert verdict.decision == "proved", verdict.reason
        broken = question.with_changes(
            turns=(UserTurn(text=f"{question.request} Or rather the other one."), *question.turns[1:])
        )
        (verdict,) = await check_due_calls(broken, context._replace(chat=template_context().chat))
        assert verdict.decision == "unproved"
    assert how_read(sample) == "steps"


async def test_a_model_is_asked_only_about_what_rules_leave_open_and_it_may_settle() -> None:
    sample, context = await questions_of(ROUTING_MEDIUM, 2)
    assert not await has_rest(DUE, sample, context, [])
    other = sample.with_changes(turns=(UserTurn(text=f"{sample.request} You know me."), *sample.turns[1:]))
    assert await has_rest(DUE, other, context, [])
    doubted = Verdict(subject=other.key, check="format", decision="contradicted")
    assert not await has_rest(DUE, other, context, [doubted])


def test_a_claim_counts_where_a_check_speaks_of_it() -> None:
    assert settled_claims([]).open == {"arguments", "deed", "nothing_else", "no_call_missing"}


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        ({"calls": [{"tool": "a", "arguments": {"x": 1}}]}, [("a", {"x": 1})]),
        ([{"name": "a", "parameters": {"x": 1}}], [("a", {"x": 1})]),
        ({"tool_calls": [{"function": {"name": "a", "arguments": '{"x": 1}'}}]}, [("a", {"x": 1})]),
        ({"name": "a", "arguments": {}}, [("a", {})]),
        ({"calls": None}, []),
        ({"calls": [{"tool": None, "arguments": {}}]}, []),
        ([], []),
    ],
)
def test_calls_are_read_however_a_model_wraps_them(reply, calls) -> None:
    read_calls = CallsDue.model_validate(reply).calls
    assert [(one.tool, one.arguments) for one in read_calls] == calls


@pytest.mark.parametrize("reply", [{}, {"calls": ["book_table"]}, {"calls": [{"arguments": {}}]}, "no calls", 3])
def test_what_is_no_list_of_calls_is_not_taken_for_an_empty_one(reply) -> None:
    with pytest.raises(ValidationError):
        CallsDue.model_validate(reply)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["tool", "calls", "$$$"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["calls", "tool", "name", "arguments", "function", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(json_values)
def test_any_reply_is_read_or_refused(value) -> None:
    try:
        calls = calls_listed(value)
    except ValueError:
        return
    assert all(set(one) == {"tool", "arguments"} for one in calls)
