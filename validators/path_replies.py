"""A candidate's replies on its way through a multi-step sample: asked for, read, and shown back to it."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import orjson
from pydantic import JsonValue

from generators.multi_step.tracing import TEMPLATE, NextCalls, next_calls_prompt
from generators.multi_step.wording import PROMPTS
from llm.chat import ChatModel
from llm.prompts import prompt_version, render
from validators.metrics.complexeval.calls import MadeCall
from validators.metrics.complexeval.turns import JudgedCall
from validators.proposals import PROMPTS as OWN_PROMPTS
from validators.replies.reading import parse_completion
from warehouse.errors import ReplyError
from warehouse.records import Call, Exchange, Language, RunCall, RunTurn, Tool

NATIVELY = "call_next_natively"
Strategy = Literal["direct", "native"]


class NextReply(NamedTuple):
    """What a candidate wants next: calls, or to answer. `problem` says why its reply can't be read as either."""

    calls: tuple[MadeCall, ...] = ()
    answer: str = ""
    problem: str = ""


class Asking(NamedTuple):
    """What all prompts of a run have in common; `number` is the run's, so that several runs are several answers."""

    request: str
    tools: Sequence[Tool]
    language: Language
    number: int = 0


def next_prompt_version(strategy: Strategy) -> str:
    """The version of the prompt that candidates see."""
    return prompt_version(PROMPTS, TEMPLATE) if strategy == "direct" else prompt_version(OWN_PROMPTS, NATIVELY)


async def ask_next(asking: Asking, history: Sequence[Exchange], chat: ChatModel, strategy: Strategy) -> NextReply:
    """The candidate's next reply: JSON in a form that is asked for ("direct"), or its provider's own calls ("native").

    One that can't be read is a call of nothing.
    """
    try:
        reply = await (_ask_directly if strategy == "direct" else _ask_natively)(asking, history, chat)
        orjson.dumps([call.arguments for call in reply.calls])
    except ReplyError as error:  # a mistake of the candidate, or of its provider: it counts against it
        return _unreadable(str(error))
    except TypeError as error:
        return _unreadable(f"A call has a value that can't be kept: {error}.")
    return reply


async def _ask_directly(asking: Asking, history: Sequence[Exchange], chat: ChatModel) -> NextReply:
    prompt = next_calls_prompt(asking.request, asking.tools, history, asking.language)
    reply = await chat.ask(prompt, NextCalls, sample_index=asking.number)
    return NextReply(tuple(MadeCall(call.name, call.arguments) for call in reply.calls), reply.answer)


async def _ask_natively(asking: Asking, history: Sequence[Exchange], chat: ChatModel) -> NextReply:
    past = [
        {
            "calls": [{"name": call.tool, "arguments": call.arguments} for call in exchange.calls],
            "responses": exchange.responses,
        }
        for exchange in history
    ]
    prompt = render(OWN_PROMPTS, NATIVELY, request=asking.request, history=past, language=asking.language)
    completion = await chat.complete(prompt, asking.tools, sample_index=asking.number)
    parsed = parse_completion(completion)
    if parsed.calls is None:
        return _unreadable(parsed.problem)
    calls = tuple(MadeCall(str(call.tool), call.arguments) for call in parsed.calls)
    return NextReply(calls, "" if calls else completion.text.strip())


def _unreadable(problem: str) -> NextReply:
    return NextReply(calls=(MadeCall("", ""),), problem=problem)


def as_exchange(reply: NextReply, judged: Sequence[JudgedCall]) -> Exchange:
    """A turn as the candidate is shown it later: its calls, and what it is told of each.

    What was recorded was checked when it was made, and may be long: it is not checked again, and not copied.
    """
    if reply.problem:
        return Exchange.model_construct(calls=(), responses=({"error": reply.problem},))
    calls = tuple(_shown(made, one) for made, one in zip(reply.calls, judged, strict=True))
    return Exchange.model_construct(calls=calls, responses=tuple(one.observation for one in judged))


def as_turn(reply: NextReply, judged: Sequence[JudgedCall]) -> RunTurn:
    """A turn as it is kept: a response that the sample has recorded is named by its place there."""
    if reply.problem:
        return RunTurn(problem=_storable(reply.problem))
    known = [*judged, *[JudgedCall(None)] * (len(reply.calls) - len(judged))]  # a run that ends at once judges nothing
    calls = tuple(_kept(_shown(made, one), one) for made, one in zip(reply.calls, known, strict=True))
    return RunTurn(text=_storable(reply.answer), calls=calls)


def _kept(call: Call, judged: JudgedCall) -> RunCall:
    golden = judged.golden if judged.matched else None
    return RunCall(
        tool=_storable(call.tool),
        arguments=call.arguments,
        matched=judged.matched,
        step=golden.step if golden else None,
        place=golden.place if golden else None,
        observation=judged.observation if judged.mistake and not golden else None,
    )


def _shown(made: MadeCall, judged: JudgedCall) -> Call:
    if judged.call is not None:
        return judged.call
    given: JsonValue = made.arguments
    return Call.model_construct(tool=made.tool, arguments=given if isinstance(given, dict) else {})


def _storable(text: str) -> str:
    """The text without halves of broken emoji, which no database takes."""
    return text.encode("utf-8", "replace").decode("utf-8")
