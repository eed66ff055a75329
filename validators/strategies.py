"""Asking a candidate for the calls that are due: at once, tools before arguments, or from the goal backwards (CallNavi)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from llm.prompts import render
from validators.manners import BEFORE, CALLS, LAST, NAMES, ONE_CALL, Manner, Setting
from validators.proposals import PROMPTS
from validators.replies.formats import join_replies, parse_calls, read_names
from validators.replies.parsed import ParsedReply, ReplyCall
from validators.replies.reading import Style, parse_completion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from llm.chat import ChatModel, Completion, Prompt

    ShownTool = dict[str, JsonValue]

MOST_ROUNDS = 5  # so often CallNavi asks what comes before
MOST_CALLS = 64  # who plans more than this before a call plans without end


class Question(NamedTuple):
    """What a candidate is asked at a snapshot; `number` tells runs apart."""

    tools: Sequence[ShownTool]
    conversation: str
    setting: Setting = "call"
    number: int = 0


class Reply(NamedTuple):
    """What was replied, all replies that it took, and the calls in it."""

    text: str
    parsed: ParsedReply


class Models(NamedTuple):
    """The candidate, and who chooses the tools for it, None where it does so itself."""

    candidate: ChatModel
    router: ChatModel | None = None


async def ask_candidate(question: Question, models: Models, manner: Manner, style: Style = "lenient") -> Reply:
    """The candidate's answer by a strategy. `style` is that of direct answers in JSON, one call each.

    Raises ReplyError where a model answers unusably.
    """
    if manner.strategy == "route_then_fill":
        return await _route_then_fill(question, models, manner, style)
    if manner.strategy == "backward":
        return await _think_backwards(question, models.candidate, manner)
    return await _ask_at_once(question, models.candidate, manner, style)


async def _ask_at_once(question: Question, chat: ChatModel, manner: Manner, style: Style) -> Reply:
    if question.setting == "call" and manner.format == "json":
        prompt = render(PROMPTS, ONE_CALL, tools=question.tools, conversation=question.conversation)
        completion = await chat.complete(prompt, sample_index=question.number)
        return Reply(completion.text, parse_completion(completion, style))
    completion = await chat.complete(_prompt(CALLS, question, manner), sample_index=question.number)
    return Reply(completion.text, parse_calls(completion, manner.format))


async def _route_then_fill(question: Question, models: Models, manner: Manner, style: Style) -> Reply:
    """Who names no tool calls nothing; one that no candidate has is not shown to the filler, and calls of it alone stand."""
    router = models.router or models.candidate
    routed = await router.complete(_prompt(NAMES, question, manner), sample_index=question.number)
    known = {str(tool["name"]) for tool in question.tools}
    named = read_names(routed.text, known, manner.format)
    if not named and question.setting == "conversation":  # then the candidate speaks
        return await _ask_at_once(question._replace(tools=[]), models.candidate, manner, style)
    if not known.intersection(named):
        return Reply(routed.text, ParsedReply(tuple(ReplyCall(name, {}) for name in named)))
    tools = [tool for tool in question.tools if tool["name"] in named]
    return await _ask_at_once(question._replace(tools=tools), models.candidate, manner, style)


async def _think_backwards(question: Question, chat: ChatModel, manner: Manner) -> Reply:
    """The last call first, then what must come before it, until nothing is missing; the gold is never shown."""
    completion = await chat.complete(_prompt(LAST, question, manner), sample_index=question.number)
    texts, parsed = [completion.text], parse_calls(completion, manner.format)
    if not parsed.calls:
        return Reply(completion.text, parsed)
    plan = list(parsed.calls)
    for _ in range(MOST_ROUNDS):
        completion = await _ask_what_comes_before(question, plan, chat, manner)
        texts.append(completion.text)
        parsed = parse_calls(completion, manner.format)
        if parsed.calls is None:
            return Reply(join_replies(texts), parsed)
        new = [call for call in parsed.calls if call not in plan]
        if not new or len(plan) + len(new) > MOST_CALLS:
            break
        plan = new + plan
    return Reply(join_replies(texts), ParsedReply(tuple(plan)))


async def _ask_what_comes_before(
    question: Question, plan: Sequence[ReplyCall], chat: ChatModel, manner: Manner
) -> Completion:
    calls: list[JsonValue] = [{"name": call.tool, "arguments": call.arguments} for call in plan]
    return await chat.complete(_prompt(BEFORE, question, manner, calls=calls), sample_index=question.number)


def _prompt(template: str, question: Question, manner: Manner, **more: list[JsonValue]) -> Prompt:
    listing = _as_yaml(question.tools) if manner.format == "yaml" else ""
    return render(
        PROMPTS, template, tools=question.tools, listing=listing, format=manner.format, setting=question.setting,
        conversation=question.conversation, **more,
    )  # fmt: skip


def _as_yaml(tools: Sequence[ShownTool]) -> str:
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(yaml.dump(list(tools), Dumper=dumper, allow_unicode=True, sort_keys=False)).rstrip()
