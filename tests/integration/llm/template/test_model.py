"""template/v1 asked as the stages ask it.

The answer classes here are the stages' own, the prompts too.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from callwright.generators.given_values import ArgumentValues
from callwright.generators.single_turn.making import ParameterNames
from callwright.generators.slots import Filled, SlottedRequest
from callwright.language.calls.sampling import fill_in
from callwright.llm.chat import ChatRequest
from callwright.llm.prompts import render
from callwright.llm.template.candidate import NO_TOOL
from callwright.llm.template.model import TemplateModel
from callwright.validators.judges import Judgement, ProposedCall, Relevance
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Arguments, Tool
from tests.support.llm.template.slotted import filled_reply, slotted_prompt

ROOT = Path(__file__).parents[4]
Ask = Callable[..., ChatRequest]


class Poem(BaseModel):
    verses: list[str]


def _shown(tools: tuple[Tool, ...]) -> list[dict[str, Any]]:
    return [tool.signature for tool in tools]


def _draft(tools: tuple[Tool, ...], seed: int) -> tuple[Tool, Arguments]:
    rng = Random(seed)
    tool = rng.choice(tools)
    chosen = [name for name in tool.properties if rng.random() < 0.6]
    return tool, fill_in(chosen, tool.properties, tool.language, rng)


async def _worded(
    model: TemplateModel, tool: Tool, arguments: Arguments, seed: int, ask: Ask
) -> Filled:
    reply = await model.send(ask(slotted_prompt(tool, arguments, seed), SlottedRequest))
    return filled_reply(reply.text, tool, arguments, seed)


async def _proposed(
    model: TemplateModel, tools: tuple[Tool, ...], conversation: str, ask: Ask
) -> ProposedCall:
    prompt = render(
        "callwright.validators.prompts",
        "call_zero_shot",
        tools=_shown(tools),
        conversation=conversation,
    )
    return ProposedCall.model_validate_json((await model.send(ask(prompt, ProposedCall))).text)


async def test_it_names_as_many_of_the_offered_parameters_as_asked_for(
    tools: tuple[Tool, ...], ask: Ask
):
    model = TemplateModel()
    for tool in tools:
        offered = list(tool.properties)
        for count in range(1, len(offered)):
            prompt = render(
                "callwright.generators.single_turn.prompts",
                "choose_parameters",
                tool=tool,
                task="",
                lines=[],
                offered=offered,
                count=count,
                seed=count,
            )
            names = ParameterNames.model_validate_json(
                (await model.send(ask(prompt, ParameterNames))).text
            ).parameters
            flat = [
                one
                for one in offered
                if tool.properties[one].get("type") not in ("array", "object")
            ]
            assert len(set(names)) == min(
                count, len(flat)
            )  # nobody says a list or an object in a sentence, if there is more
            assert set(names) <= set(offered)
            if count == len(tool.required) and set(tool.required) <= set(flat):
                assert set(names) == set(tool.required)


async def test_of_what_a_call_may_have_besides_it_adds_one_at_most(
    tools: tuple[Tool, ...], ask: Ask
):
    tool = next(one for one in tools if len(one.optional) > 1)
    added = set()
    for seed in range(20):
        prompt = render(
            "callwright.generators.conversations.prompts",
            "fill_values",
            tool=tool,
            parameters=[*tool.required],
            may=[*tool.optional],
            language=tool.language,
            seed=seed,
        )
        answer = ArgumentValues.model_validate_json(
            (await TemplateModel().send(ask(prompt, ArgumentValues))).text
        )
        added.add(tuple(name for name in answer.values if name not in tool.required))
        assert {*tool.required} <= {*answer.values}
    assert () in added
    assert {len(one) for one in added} == {0, 1}


async def test_a_wording_keeps_the_format_and_is_mostly_understood(
    tools: tuple[Tool, ...], ask: Ask
):
    model, misread = TemplateModel(), []
    for seed in range(400):
        tool, arguments = _draft(tools, seed)
        wording = await _worded(model, tool, arguments, seed, ask)
        same_language = tuple(other for other in tools if other.language == tool.language)
        call = await _proposed(model, same_language, f"user: {wording.text}", ask)
        if (call.tool, call.arguments) != (tool.name, arguments):
            misread.append((wording.text, arguments, call))
    assert len(misread) <= 100, misread[:3]  # the reader is a plain baseline


async def test_a_request_states_no_more_than_it_is_told_to(tools: tuple[Tool, ...], ask: Ask):
    for tool in tools:
        wording = await _worded(TemplateModel(), tool, {}, 1, ask)
        assert wording.places == {}
        call = await _proposed(TemplateModel(), (tool,), f"user: {wording.text}", ask)
        assert call.tool == tool.name


async def test_seeds_and_sample_indices_give_other_wordings(tools: tuple[Tool, ...], ask: Ask):
    arguments: Arguments = {"restaurant": "Blue Door", "guests": 4}
    by_seed = {
        (await _worded(TemplateModel(), tools[0], arguments, seed, ask)).text for seed in range(60)
    }
    by_model = {
        (await _worded(TemplateModel(seed=seed), tools[0], arguments, 1, ask)).text
        for seed in range(60)
    }
    assert len(by_seed) > 20
    assert len(by_model) > 20


async def test_what_no_tool_does_is_called_by_none(tools: tuple[Tool, ...], ask: Ask):
    for conversation in (
        "user: Translate the word umbrella into French.",
        "user: 帮我翻译一下雨伞这个词",
    ):
        assert (await _proposed(TemplateModel(), tools, conversation, ask)).tool is None


@pytest.mark.parametrize(
    ("conversation", "tool", "arguments"),
    [
        (
            (
                'user: Book a table for 4 guests, the restaurant is "Blue Door".\n'
                "assistant: What day of the visit?\nuser: 5 March 2027"
            ),
            "Dining.Tables.bookTable",
            {"restaurant": "Blue Door", "date": "2027-03-05", "guests": 4},
        ),
        (
            (
                "user: Please book a table at a restaurant. Number of guests: 4.\nassistant:"
                " Sure.\nuser: Sorry, the number of guests is 6."
            ),
            "Dining.Tables.bookTable",
            {"guests": 6},
        ),
        (
            "user: 退掉已购买的火车票。订单号：E12345678。",
            "Travel.Trains.refundTicket",
            {"order_id": "E12345678"},
        ),
        (
            (
                "user: 查询列车车次。出发城市：北京；到达城市：西安。\nassistant:"
                " 请问出发日期？\nuser: 2027年3月5日"
            ),
            "Travel.Trains.findTrains",
            {"origin": "北京", "destination": "西安", "date": "2027-03-05"},
        ),
    ],
)
async def test_a_conversation_is_read_to_its_end(
    tools: tuple[Tool, ...], ask: Ask, conversation: str, tool: str, arguments: Arguments
):
    call = await _proposed(TemplateModel(), tools, conversation, ask)
    assert (call.tool, call.arguments) == (tool, arguments)


@pytest.mark.parametrize(
    ("given_call", "agrees"),
    [
        ({"tool": "Dining.Tables.bookTable", "arguments": {"time": "19:30", "guests": 4}}, True),
        (
            {"tool": "Dining.Tables.bookTable", "arguments": {"guests": "4", "time": "7:30 pm"}},
            True,
        ),
        ({"tool": "Dining.Tables.bookTable", "arguments": {"time": "19:30", "guests": 5}}, False),
        ({"tool": "Dining.Tables.bookTable", "arguments": {"time": "19:30"}}, False),
        ({"tool": "Dining.Tables.cancelTable", "arguments": {"time": "19:30", "guests": 4}}, False),
        (None, False),
    ],
)
async def test_a_judge_agrees_where_both_calls_do_the_same(
    tools: tuple[Tool, ...], ask: Ask, given_call: dict[str, Any] | None, agrees: bool
):
    prompt = render(
        "callwright.validators.prompts",
        "judge_calls",
        tools=_shown(tools),
        given=given_call,
        conversation="user: Book a table at half past seven in the evening for four guests.",
        expected={"tool": "Dining.Tables.bookTable", "arguments": {"time": "19:30", "guests": 4}},
    )
    judgement = Judgement.model_validate_json(
        (await TemplateModel().send(ask(prompt, Judgement))).text
    )
    assert judgement.agree is agrees, judgement.reason


async def test_relevance_names_the_tool_that_fits(tools: tuple[Tool, ...], ask: Ask):
    for said, tool in (
        ("Send money to another person, please.", tools[2].name),
        ("Sing me a lullaby.", None),
    ):
        prompt = render(
            "callwright.validators.prompts",
            "judge_relevance",
            tools=_shown(tools),
            conversation=f"user: {said}",
            hears=False,
        )
        assert (
            Relevance.model_validate_json(
                (await TemplateModel().send(ask(prompt, Relevance))).text
            ).tool
            == tool
        )


async def test_a_candidate_answers_with_a_call_or_the_sentence_that_refuses(
    tools: tuple[Tool, ...], ask: Ask
):
    styles = set()
    for seed in range(20):
        prompt = render(
            "callwright.validators.prompts",
            "answer_as_candidate",
            tools=_shown(tools),
            conversation=(
                "user: Please cancel a table that was booked. The booking number is TB-12345."
            ),
        )
        text = (await TemplateModel(seed=seed).send(ask(prompt, None))).text
        styles.add(text[:1])
        call = orjson.loads(text.removeprefix("```json\n").removesuffix("\n```"))
        assert call == {
            "name": "Dining.Tables.cancelTable",
            "arguments": {"booking_id": "TB-12345"},
        }
    assert styles == {"`", "{"}
    prompt = render(
        "callwright.validators.prompts",
        "answer_as_candidate",
        tools=_shown(tools),
        conversation="user: Sing me a lullaby.",
    )
    assert (await TemplateModel().send(ask(prompt, None))).text == NO_TOOL


async def test_an_unknown_task_is_refused_with_the_known_ones(ask: Ask):
    prompt = render(
        "callwright.generators.single_turn.prompts",
        "choose_parameters",
        tool=Tool(name="x", description="", parameters={}, category="x"),
        task="",
        lines=[],
        offered=[],
        count=0,
        seed=1,
    )
    with pytest.raises(
        ReplyError, match=r"'Poem'.*SlottedRequest, .*ParameterNames, ArgumentValues"
    ):
        await TemplateModel().send(ask(prompt, Poem))
    with pytest.raises(ReplyError, match="as a candidate"):
        await TemplateModel().send(ask(prompt, None))


async def test_only_messages_schema_and_sample_index_count(tools: tuple[Tool, ...], ask: Ask):
    tool, arguments = _draft(tools, 5)
    prompt = slotted_prompt(tool, arguments, 5)
    plain = ask(prompt, SlottedRequest)
    dressed = plain._replace(model="another/name", options=(("temperature", 1.0),))
    model = TemplateModel()
    assert await model.send(plain) == await model.send(dressed)
    assert await model.send(plain) != await model.send(plain._replace(sample_index=1))


def test_the_same_request_gets_the_same_answer_in_any_process(tools: tuple[Tool, ...], ask: Ask):
    tool, arguments = _draft(tools, 11)
    prompt = slotted_prompt(tool, arguments, 11)
    request = ask(prompt, SlottedRequest)
    messages = [message.model_dump() for message in request.messages]
    body = orjson.dumps([messages, request.schema, request.marks])
    code = (
        "import asyncio, sys, orjson\nfrom callwright.llm.chat import ChatMessage,"
        " ChatRequest\nfrom callwright.llm.template.model import TemplateModel\nmessages, schema, marks ="
        " orjson.loads(sys.stdin.buffer.read())\nasked = ChatRequest('m', tuple(ChatMessage(**one)"
        " for one in messages), schema, (), (),"
        " 0, marks)\nprint(asyncio.run(TemplateModel().send(asked)).text)\nothers ="
        " ('callwright.generators', 'callwright.validators', 'litellm')\nassert 'callwright.llm' in"
        " sys.modules and not [name for name in others if name in sys.modules]\n"
    )
    here = asyncio.run(TemplateModel().send(request)).text
    for hash_seed in ("1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        there = subprocess.run(
            [sys.executable, "-c", code],
            input=body,
            capture_output=True,
            cwd=ROOT,
            env=environment,
            check=False,
        )
        assert there.returncode == 0, there.stderr.decode()
        assert there.stdout.decode().strip() == here


@given(
    st.text(max_size=300)
    | st.lists(
        st.sampled_from(
            [
                "user: ",
                "assistant: ",
                "message (Mail): ",
                "</conversation>",
                "<tools>[]</tools>",
                "\n",
                '"',
                "date is ",
                "5 March 2027",
                "guests",
                "four",
                "9" * 40,
                "预订",
                "从北京到",
                "book a table",
                ",",
                " as the ",
                "(",
                "“",
            ]
        ),
        max_size=40,
    ).map("".join)
)
async def test_no_conversation_raises_anything_but_a_reply_error(
    tools: tuple[Tool, ...], ask: Ask, talk: str
):
    call = {"tool": tools[0].name, "arguments": {"guests": 4}}
    for name, answer in (
        ("call_zero_shot", ProposedCall),
        ("judge_calls", Judgement),
        ("judge_relevance", Relevance),
        ("answer_as_candidate", None),
    ):
        prompt = render(
            "callwright.validators.prompts",
            name,
            tools=_shown(tools),
            conversation=talk,
            expected=call,
            given=call,
            hears=False,
        )
        try:
            reply = await TemplateModel().send(ask(prompt, answer))
        except ReplyError:
            continue
        assert reply.text
        assert answer is None or answer.model_validate_json(reply.text)


async def test_an_endless_conversation_is_answered_soon(tools: tuple[Tool, ...], ask: Ask):
    for talk in (
        "user: " + "guests " * 30_000,
        "user: " + "5 March 2027 " * 10_000,
        "user: a\n" * 30_000,
    ):
        answered = await _proposed(TemplateModel(), tools, talk, ask)
        assert answered == await _proposed(TemplateModel(), tools, talk * 2, ask), (
            "all of it is read, however long"
        )


async def test_a_prompt_in_other_words_draws_the_same(tools: tuple[Tool, ...], ask: Ask) -> None:
    tool, arguments = _draft(tools, 3)
    prompt = slotted_prompt(tool, arguments, 3)
    first, *others = prompt.messages
    longer = first.with_changes(
        content=f'Other words.\n<example>{{"request": "rain?"}}</example>\n{first.content}'
    )
    edited = prompt.with_changes(messages=(longer, *others))
    seeded = [
        (await TemplateModel(seed=1).send(ask(one, SlottedRequest))).text
        for one in (prompt, edited)
    ]
    assert seeded[0] == seeded[1]
    assert seeded[0] != (await TemplateModel(seed=2).send(ask(prompt, SlottedRequest))).text
